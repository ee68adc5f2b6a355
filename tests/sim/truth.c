/* tests/sim/truth.c: leases as they are, whatever the daemon holds of them. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/world.h"

#define BUCKETS 4096

static struct truth *pool;
static SLIST_HEAD(, truth) unused;
static LIST_HEAD(, truth) buckets[BUCKETS];

static unsigned bucket(const char *id)
{
	unsigned h = 5381;

	while (*id)
		h = h * 33 + (unsigned char)*id++;
	return h % BUCKETS;
}

void truth_init(size_t n)
{
	pool = calloc(n, sizeof(*pool));
	SLIST_INIT(&unused);
	for (size_t i = 0; i < BUCKETS; i++)
		LIST_INIT(&buckets[i]);
	for (size_t i = n; i > 0; i--)
		SLIST_INSERT_HEAD(&unused, &pool[i - 1], free);
}

void truth_exit(void)
{
	free(pool);
}

void truth_make_id(char id[LEASE_ID_SIZE])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint64_t r = draw(STREAM_WORLD);

	memcpy(id, "kls-", 4);
	for (int i = 4; i < LEASE_ID_SIZE - 1; i++, r >>= 5)
		id[i] = letters[r & 31];
	id[LEASE_ID_SIZE - 1] = '\0';
}

struct truth *truth_new(uint32_t uid)
{
	struct truth *t = SLIST_FIRST(&unused);

	if (!t)
		broken("the simulation", "more leases live than there is room for");
	SLIST_REMOVE_HEAD(&unused, free);
	*t = (struct truth){ .uid = uid, .birth = ++world.births, .beat = -DAY, .made = now(), .renewed = now(),
			     .credit = world.credit, .credit_made = world.credit,
			     .credit_since = world.credit, .since = now(), .watch_at = NEVER };
	t->released = t->stopped = t->leader_died = t->withdrawn = t->session_over = t->booted = t->start_failed = NEVER;
	t->saved = t->taken_up = -DAY;
	t->rubbish = t->taken = t->create_asked = t->destroy_asked = NEVER;
	t->deaf = world.deaf;
	LIST_INIT(&t->bound);
	lease_record_init(&t->record);
	truth_make_id(t->id);
	LIST_INSERT_HEAD(&world.all, t, all);
	LIST_INSERT_HEAD(&buckets[bucket(t->id)], t, hash);
	return t;
}

static void unbind(struct truth *t)
{
	if (t->session)
		LIST_REMOVE(t, of_session);
	t->session = NULL;
}

void truth_free(struct truth *t)
{
	struct person *u = &world.users[t->uid >= FIRST_UID ? t->uid - FIRST_UID : 0];
	struct truth *b;

	unbind(t);
	while ((b = LIST_FIRST(&t->bound)) != NULL)
		unbind(b);
	for (int i = 0; i < USER_SESSIONS; i++)
		if (u->session[i] == t)
			u->session[i] = NULL;
	if (t->holder && t->holder->lease == t)
		holder_over(t->holder);
	if (t->changed)
		LIST_REMOVE(t, quiet);
	truth_killed(&t->work_pid);
	truth_killed(&t->leader_pid);
	truth_killed(&t->second.pid);
	truth_killed(&t->waiter_pid);
	LIST_REMOVE(t, all);
	LIST_REMOVE(t, hash);
	t->birth = 0;
	SLIST_INSERT_HEAD(&unused, t, free);
}

struct truth *truth_find(const char *id)
{
	struct truth *t;

	LIST_FOREACH(t, &buckets[bucket(id)], hash)
		if (strcmp(t->id, id) == 0)
			return t;
	return NULL;
}

struct truth *truth_of_name(const char *name)
{
	const char *id = lease_name_lock_id(name);

	return id ? truth_find(id) : NULL;
}

struct truth *truth_is(void *arg, uint64_t birth)
{
	struct truth *t = arg;

	return t->birth == birth ? t : NULL;
}

void truth_path(const struct truth *t, char path[PATH_SIZE])
{
	(void)snprintf(path, PATH_SIZE, "%s%s", t->where == W_QUEUE ? QUEUE : ACTIVE, t->name);
}

/* --- what renews it --- */

void truth_renewed(struct truth *t)
{
	t->renewed = now();
	t->credit = world.credit;
}

void truth_beat(struct truth *t)
{
	struct truth *b;

	/* Who lingers is renewed no more. */
	if (t->session_over == NEVER && (t->record.is_session || t->leader_died == NEVER))
		t->beat = now();
	t->unsure = false;
	t->tricky = false;
	truth_renewed(t);
	LIST_FOREACH(b, &t->bound, of_session)
		truth_renewed(b);
}

void truth_stamped(struct truth *t)
{
	struct truth *b;

	t->unsure = true;
	t->tricky = true;
	truth_renewed(t);
	LIST_FOREACH(b, &t->bound, of_session) {
		b->tricky = true;
		truth_renewed(b);
	}
}

void truth_ttl(struct truth *t, int64_t asked)
{
	t->ttl_low = asked < TTL_CAP ? asked : TTL_CAP;
	t->ttl_high = asked > TTL_FLOOR ? asked : TTL_FLOOR;
}

void truth_bind(struct truth *t, struct truth *session)
{
	unbind(t);
	t->session = session;
	t->session_deaf = session->deaf;
	memcpy(t->session_id, session->id, sizeof(t->session_id));
	memcpy(t->session_surface, session->record.surface, sizeof(t->session_surface));
	LIST_INSERT_HEAD(&session->bound, t, of_session);
}

/* --- why it may end --- */

static void first(int64_t *when)
{
	if (*when == NEVER)
		*when = now();
}

bool truth_session_alive(const struct truth *s)
{
	return (s->leader_pid > 0 && kernel_process_alive(s->leader_pid)) ||
	 (s->second.pid > 0 && kernel_process_alive(s->second.pid));
}

void truth_session_over(struct truth *s, bool by_hand)
{
	struct truth *b;

	LIST_FOREACH(b, &s->bound, of_session) {
		if (b->session_over == NEVER)
			truth_renewed(b); /* it may have been renewed by that life until now */
		first(&b->session_over);
		b->by_hand = b->by_hand || by_hand;
		bound_changed(b);
	}
}

void truth_released(struct truth *t)
{
	first(&t->released);
	t->where = W_ARCHIVE;
	if (t->record.is_session)
		truth_session_over(t, !t->pam_closed);
	bound_changed(t);
}

void truth_killed(int32_t *pid)
{
	if (*pid > 0 && kernel_process_alive(*pid))
		kernel_end_process(*pid);
	*pid = 0;
}

void truth_leader_died(struct truth *t)
{
	truth_killed(&t->leader_pid);
	if (t->record.is_session && truth_session_alive(t))
		return;
	first(&t->leader_died);
	truth_renewed(t);
	if (t->record.is_session)
		truth_session_over(t, false);
	bound_changed(t);
}

void truth_stopped(struct truth *t)
{
	truth_killed(&t->work_pid);
	if (t->work == WORK_RUNNING || t->work == WORK_FROZEN)
		t->work = WORK_ABSENT;
	first(&t->stopped);
	bound_changed(t);
}

void truth_unheard(void)
{
	struct truth *t;

	LIST_FOREACH(t, &world.all, all)
		t->deaf = t->session_deaf = true;
}

/* Of a boot before: no process, no lock, no promise; images stay. */
void truth_taken_up(void)
{
	struct truth *t;

	if (now() - world.up_since < MINUTE)
		return;
	LIST_FOREACH(t, &world.all, all) {
		if (t->taken_up > t->renewed || world.up_since <= t->renewed)
			continue;
		t->taken_up = world.up_since;
		t->credit_taken_up = world.credit;
	}
}

void truth_booted(void)
{
	struct truth *t;

	LIST_FOREACH(t, &world.all, all) {
		t->work_pid = t->leader_pid = t->second.pid = t->waiter_pid = 0;
		t->booted = now();
		t->survived = t->work == WORK_DISK;
		t->where = W_NOWHERE;
		t->taken = NEVER;
		t->unsure = true;
		truth_renewed(t);
		if (t->work != WORK_DISK)
			t->work = WORK_ABSENT;
		bound_changed(t);
	}
}
