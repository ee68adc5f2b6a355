/*
 * core/policy.c: the record's wishes over the settings', under the administrator's limits.
 *
 * Every wish that is a time without a heartbeat is cut by the same limit, max_ttl: a long linger would else
 * be a way round it.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/policy.h"
#include "lease/duration.h"
#include "lease/text.h"

#define TEXT 160

static void note_add(char note[TEXT], const char *key, const char *verb, int64_t ns, const char *by)
{
	char d[LEASE_DURATION_SIZE];
	size_t len = strlen(note);
	struct lease_text t;

	lease_duration_format(d, ns);
	lease_text_begin(&t, note + len, TEXT - len);
	if (len > 0)
		lease_text_add(&t, "; ");
	lease_text_add(&t, key);
	lease_text_add(&t, verb);
	lease_text_add(&t, d);
	lease_text_add(&t, by);
}

static int apply_ttl(struct policy *p, int64_t wish, char why[TEXT], char note[TEXT])
{
	struct lease_text t;

	switch (lease_ttl_check(wish, p->min_ttl, p->max_ttl, &p->ttl)) {
	case LEASE_TTL_OK:
		break;
	case LEASE_TTL_CAPPED:
		note_add(note, "ttl", " capped to ", p->ttl, " by max_ttl");
		break;
	case LEASE_TTL_RAISED:
		note_add(note, "ttl", " raised to ", p->ttl, " by min_ttl");
		break;
	case LEASE_TTL_ZERO:
		lease_text_begin(&t, why, TEXT);
		lease_text_add(&t, "a ttl must be longer than 0");
		return -EPERM;
	}
	return 0;
}

static int apply_priority(struct policy *p, int wish, char why[TEXT])
{
	/* What the administrator gives unasked may be asked for. */
	int most = p->priority > p->max_priority ? p->priority : p->max_priority;
	struct lease_text t;

	if (wish > most) {
		lease_text_begin(&t, why, TEXT);
		lease_text_add(&t, "priority ");
		lease_text_add_number(&t, (uint64_t)wish);
		lease_text_add(&t, " is above max_priority ");
		lease_text_add_number(&t, (uint64_t)p->max_priority);
		lease_text_add(&t, ": ask for ");
		lease_text_add_number(&t, (uint64_t)most);
		lease_text_add(&t, " or less");
		return -EPERM;
	}
	p->priority = wish;
	return 0;
}

int policy_apply_record(struct policy *p, const struct lease_record *r, char why[TEXT], char note[TEXT])
{
	struct policy q = *p;

	*why = *note = '\0';
	if (apply_ttl(&q, r->ttl != 0 ? r->ttl : q.ttl, why, note) < 0)
		return -EPERM;
	if (r->priority >= 0 && apply_priority(&q, r->priority, why) < 0)
		return -EPERM;
	if (r->linger >= 0)
		q.linger = r->linger;
	if (r->linger >= 0 && q.linger > q.max_ttl) {
		q.linger = q.max_ttl;
		note_add(note, "linger", " capped to ", q.linger, " by max_ttl");
	}
	if (r->usage != LEASE_USAGE_UNSET)
		q.usage = r->usage;
	if (*r->runtime)
		memcpy(q.runtime, r->runtime, sizeof(q.runtime));
	/* A short ttl keeps a warning: half way. */
	if (q.warn_before >= q.ttl)
		q.warn_before = q.ttl / 2;
	*p = q;
	return 0;
}

bool policy_equal(const struct policy *a, const struct policy *b)
{
	return a->ttl == b->ttl && a->renew_grace == b->renew_grace && a->hibernate_after == b->hibernate_after &&
	       a->warn_before == b->warn_before && a->linger == b->linger && a->min_ttl == b->min_ttl &&
	       a->max_ttl == b->max_ttl && a->max_lifetime == b->max_lifetime &&
	       a->hibernated_retention == b->hibernated_retention && a->cpu_floor_ppm == b->cpu_floor_ppm &&
	       a->priority == b->priority && a->max_priority == b->max_priority && a->usage == b->usage &&
	       strcmp(a->runtime, b->runtime) == 0;
}
