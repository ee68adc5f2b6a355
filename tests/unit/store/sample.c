#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lease/duration.h"
#include "tests/unit/store/sample.h"

static void sample_record(struct lease *l)
{
	lease_record_init(&l->record);
	memcpy(l->record.id, l->id, sizeof(l->id));
	(void)snprintf(l->record.surface, sizeof(l->record.surface), "%s", "k-go");
	(void)snprintf(l->record.session, sizeof(l->record.session), "%s", "kls-abcdefghij");
	(void)snprintf(l->record.runtime, sizeof(l->record.runtime), "%s", "process");
	l->record.ttl = 300 * LEASE_NS_PER_S;
	l->record.priority = 7;
	l->record.leader = (struct lease_process){ .pid = 4711, .start = 123456 };
	(void)snprintf(l->record.boot, sizeof(l->record.boot), "%s", "01234567-89ab-cdef-0123-456789abcdef");
	l->record.n_labels = 2;
	(void)snprintf(l->record.labels[0], sizeof(l->record.labels[0]), "%s", "project=kruze");
	(void)snprintf(l->record.labels[1], sizeof(l->record.labels[1]), "%s", "note=it's \"quoted\" = so");
}

void sample_lease(struct lease *l, int n)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";

	memset(l, 0, sizeof(*l));
	memcpy(l->id, "kls-aaaaaaaaaa", sizeof(l->id));
	for (int at = 13; n > 0 && at > 3; at--, n /= 32)
		l->id[at] = digits[n % 32];
	(void)lease_name_make(l->name, "k-go", "rosa", l->id);
	memcpy(l->user, "rosa", sizeof("rosa"));
	l->uid = 4294967294u;
	sample_record(l);
	l->policy = (struct policy){ .ttl = 300 * LEASE_NS_PER_S, .renew_grace = 90 * LEASE_NS_PER_S,
				     .hibernate_after = LEASE_NEVER, .warn_before = 1, .linger = 0, .min_ttl = 2,
				     .max_ttl = LEASE_NEVER, .max_lifetime = 3, .hibernated_retention = 4,
				     .cpu_floor_ppm = 10000, .priority = 7, .max_priority = 8, .usage = LEASE_USAGE_HYBRID,
				     .runtime = "process" };
	l->state = ST_ACTIVE;
	l->generation = 41;
	l->dev = 5;
	l->ino = UINT64_MAX - 1;
	l->mtime = -1;
	l->created = 10, l->since = 11, l->renewed = 12, l->used = 13, l->restart_credit = 14;
	l->created_wall = 15, l->since_wall = 16, l->last_beat_wall = 17, l->work_ended = 18;
	l->attempts = 3;
	l->disk = l->wanted = l->lock_lost = l->leader_alive = l->warned = true;
	memcpy(l->why, "own beat; 100% \xc3\xa9", sizeof("own beat; 100% \xc3\xa9"));
}

static bool same_record(const struct lease_record *a, const struct lease_record *b)
{
	char text_a[LEASE_FILE_MAX], text_b[LEASE_FILE_MAX];
	size_t len_a, len_b;

	return lease_record_format(a, text_a, sizeof(text_a), &len_a) == 0 &&
	       lease_record_format(b, text_b, sizeof(text_b), &len_b) == 0 && len_a == len_b &&
	       memcmp(text_a, text_b, len_a) == 0;
}

static bool same_policy(const struct policy *a, const struct policy *b)
{
	return a->ttl == b->ttl && a->renew_grace == b->renew_grace && a->hibernate_after == b->hibernate_after &&
	       a->warn_before == b->warn_before && a->linger == b->linger && a->min_ttl == b->min_ttl &&
	       a->max_ttl == b->max_ttl && a->max_lifetime == b->max_lifetime &&
	       a->hibernated_retention == b->hibernated_retention && a->cpu_floor_ppm == b->cpu_floor_ppm &&
	       a->priority == b->priority && a->max_priority == b->max_priority && a->usage == b->usage &&
	       strcmp(a->runtime, b->runtime) == 0;
}

bool sample_same(const struct lease *a, const struct lease *b)
{
	return strcmp(a->id, b->id) == 0 && strcmp(a->name, b->name) == 0 && strcmp(a->user, b->user) == 0 &&
	       a->uid == b->uid && same_record(&a->record, &b->record) && same_policy(&a->policy, &b->policy) &&
	       a->state == b->state && a->generation == b->generation && a->dev == b->dev && a->ino == b->ino &&
	       a->mtime == b->mtime && a->created == b->created && a->since == b->since && a->renewed == b->renewed &&
	       a->used == b->used && a->restart_credit == b->restart_credit && a->created_wall == b->created_wall &&
	       a->since_wall == b->since_wall && a->last_beat_wall == b->last_beat_wall && a->work_ended == b->work_ended &&
	       a->attempts == b->attempts && a->disk == b->disk && a->wanted == b->wanted && a->lock_lost == b->lock_lost &&
	       a->leader_alive == b->leader_alive && a->warned == b->warned && strcmp(a->why, b->why) == 0;
}

void sample_line(struct ledger_row *row, const struct lease *l, const char *from)
{
	*row = (struct ledger_row){ .at = 1700000000123, .generation = l->generation, .requester = l->uid, .user = "rosa",
				    .surface = "k-go", .runtime = "process", .profile = "small",
				    .session = "kls-abcdefghij", .labels = "project=kruze\nnote=x", .zombie_ms = -1,
				    .lateness_ms = -1, .why = "so" };
	memcpy(row->id, l->id, sizeof(row->id));
	(void)snprintf(row->from, sizeof(row->from), "%s", from);
	(void)snprintf(row->to, sizeof(row->to), "%s", state_public(l->state));
}
