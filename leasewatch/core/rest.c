#include "core/rest.h"

#include <string.h>

#include "lease/text.h"

#define ID_HEAD "kls-"
#define HEAD_LEN (sizeof(ID_HEAD) - 1)
#define KEY_CHARS (LEASE_ID_SIZE - 1 - HEAD_LEN)

static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";

bool rest_key(const char *id, uint64_t *ret)
{
	uint64_t key = 0;

	if (strncmp(id, ID_HEAD, HEAD_LEN) != 0)
		return false;
	for (size_t i = HEAD_LEN; i < LEASE_ID_SIZE - 1; i++) {
		if (lease_is_lower(id[i]))
			key = key << 5 | (uint64_t)(id[i] - 'a');
		else if (id[i] >= '2' && id[i] <= '7')
			key = key << 5 | (uint64_t)(id[i] - '2' + 26);
		else
			return false;
	}
	*ret = key;
	return id[LEASE_ID_SIZE - 1] == '\0';
}

static void id_of(uint64_t key, char id[LEASE_ID_SIZE])
{
	memcpy(id, ID_HEAD, HEAD_LEN);
	for (size_t i = KEY_CHARS; i > 0; i--, key >>= 5)
		id[HEAD_LEN + i - 1] = letters[key & 31];
	id[LEASE_ID_SIZE - 1] = '\0';
}

bool rest_may(const struct lease *l)
{
	const struct lease_record *rec = &l->record;

	if (l->state != ST_ACTIVE || l->lock_lost || l->warned || l->wanted || l->leader_alive || l->session_alive)
		return false;
	if (l->execs > 0 || l->act_deadline != 0)
		return false;
	/* What ends or renews these is an event of somebody else, and is looked for among those who are awake. */
	if (rec->is_session || rec->session[0] || rec->leader.pid != 0 || rec->workload.pid != 0)
		return false;
	/*
	 * A window of CPU use is state too, and where it is read is not kept: a lease whose CPU was needed once stays
	 * awake.
	 */
	return l->cpu_at == 0 || l->policy.usage == LEASE_USAGE_EXPLICIT;
}

void rest_pack(const struct lease *l, struct rest *r)
{
	uint64_t key = 0;

	(void)rest_key(l->id, &key);
	r->key = key & ((UINT64_C(1) << 50) - 1);
	r->uid = l->uid;
	r->ino = l->ino;
	r->mtime = l->mtime;
	r->created = l->created;
	r->renewed = l->renewed;
	r->used = l->used;
	r->restart_credit = l->restart_credit;
	r->looked = l->looked;
	r->skew = l->skew;
	r->last_beat_wall = l->last_beat_wall;
}

void rest_unpack(const struct rest *r, const struct rest_terms *t, const char *prefix, uint64_t dev, struct lease *l)
{
	struct lease_text name;

	id_of(r->key, l->id);
	lease_text_begin(&name, l->name, sizeof(l->name));
	lease_text_add(&name, prefix);
	lease_text_add(&name, l->id);
	l->uid = r->uid;
	l->policy.ttl = t->ttl;
	l->policy.renew_grace = t->renew_grace;
	l->policy.warn_before = t->warn_before;
	l->policy.max_lifetime = t->max_lifetime;
	l->policy.usage = (enum lease_usage)t->usage;
	l->state = ST_ACTIVE;
	l->dev = dev;
	l->ino = r->ino;
	l->mtime = r->mtime;
	l->created = r->created;
	l->renewed = r->renewed;
	l->used = r->used;
	l->restart_credit = r->restart_credit;
	l->looked = r->looked;
	l->skew = r->skew;
	l->last_beat_wall = r->last_beat_wall;
	l->leader_alive = l->session_alive = l->warned = l->lock_lost = false;
}

struct rest_terms rest_terms(const struct policy *p)
{
	return (struct rest_terms){ .ttl = p->ttl, .renew_grace = p->renew_grace, .warn_before = p->warn_before,
				    .max_lifetime = p->max_lifetime, .usage = p->usage };
}
