/*
 * tests/sim/check.c: the invariants that hold after every step. Each is asked of the truth (truth.c) when the daemon
 * does something that could break it.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"

static const char *const publics[P_MAX] = {
	[P_NONE] = "-",		  [P_REQUESTED] = "requested",	 [P_ADMITTED] = "admitted", [P_ACTIVE] = "active",
	[P_IDLE] = "idle",	  [P_HIBERNATED] = "hibernated", [P_EXPIRED] = "expired",   [P_FAILED] = "failed",
	[P_REAPED] = "reaped",	  [P_DENIED] = "denied",
};

/* notices(5)'s drawing, by hand: from -> to. */
static const bool legal[P_MAX][P_MAX] = {
	[P_NONE] = { [P_REQUESTED] = true },
	[P_REQUESTED] = { [P_ADMITTED] = true, [P_DENIED] = true },
	[P_ADMITTED] = { [P_ACTIVE] = true, [P_EXPIRED] = true, [P_FAILED] = true },
	[P_ACTIVE] = { [P_IDLE] = true, [P_EXPIRED] = true },
	[P_IDLE] = { [P_ACTIVE] = true, [P_HIBERNATED] = true, [P_EXPIRED] = true },
	[P_HIBERNATED] = { [P_ACTIVE] = true, [P_IDLE] = true, [P_EXPIRED] = true },
	[P_EXPIRED] = { [P_REAPED] = true },
	[P_FAILED] = { [P_REAPED] = true },
};

const char *public_name(enum public p)
{
	return publics[p];
}

static enum public public_of(const char *word)
{
	for (int i = 0; i < P_MAX; i++)
		if (strcmp(publics[i], word) == 0)
			return (enum public)i;
	broken("I4", "no public state: %s", word);
}

/* --- I1 --- */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool session_renews(const struct truth *t)
{
	const struct truth *s = t->session;

	return s && t->session_over == NEVER && (s->state == P_ACTIVE || s->state == P_IDLE) && s->released == NEVER &&
	       s->booted == NEVER && s->leader_died == NEVER && truth_session_alive(s);
}

/* Until when nobody's silence can be its end. */
static int64_t kept_until(const struct truth *t)
{
	const struct truth *s = t->session;
	int64_t beat = t->unsure ? -DAY : t->beat;

	if (t->booted != NEVER || t->ghost || (t->strange && (world.o.faults & F_TREE)))
		return -DAY;
	if ((t->leader_pid > 0 && t->leader_died == NEVER && kernel_process_alive(t->leader_pid)) || session_renews(t))
		return NEVER;
	if (t->record.is_session && t->leader_died == NEVER && truth_session_alive(t))
		return NEVER;
	/* Nobody touched a session's lock in vain, but for what came before it was bound to it. */
	if (s && !s->unsure && s->state != P_NONE && s->beat >= t->made)
		beat = later(beat, s->beat);
	if (!t->unsure && t->leader_died != NEVER)
		beat = later(beat, t->leader_died);
	return beat + t->ttl_low;
}

/* What the daemon does is dated by when its turn began. */
static int64_t turn(void)
{
	return world.o.faults & F_STALL ? 10 * SEC : SEC / 10;
}

static bool linger_over(const struct truth *t, int64_t when)
{
	bool run = t->record.run;

	if (t->record.is_session)
		return t->leader_died <= when;
	if (t->leader_died <= when && (run || t->state == P_ADMITTED || t->leader_died + t->linger_low - turn() <= when))
		return true;
	return t->session_over <= when + turn() &&
	       (t->by_hand || t->state == P_ADMITTED || t->session_over + t->linger_low - turn() <= when);
}

static bool proven(const struct truth *t, int64_t when)
{
	if (t->released <= when || t->stopped <= when || t->booted <= when || t->withdrawn <= when || t->rubbish <= when)
		return true;
	if (t->state == P_ADMITTED &&
	    (t->start_failed <= when || (t->create_asked != NEVER && t->create_asked + 125 * SEC <= when)))
		return true;
	return linger_over(t, when) || (!t->record.is_session && t->made + LIFE_LOW <= when) ||
	       (t->state == P_HIBERNATED && t->since + RETENTION_LOW - turn() <= when);
}

void check_may_end(struct truth *t, int64_t when, const char *by)
{
	if (proven(t, when))
		return;
	if (world.hold_sure > when && world.hold_from < when - turn())
		broken("hold", "%s was ended (%s) while a hold is in force for %.3f s more", t->id, by,
		       (double)(world.hold_sure - when) / SEC);
	if (world.slept <= when - turn() && when < world.slept + GRACE_LOW)
		broken("grace", "%s was ended (%s) %.3f s after the host had slept", t->id, by,
		       (double)(when - world.slept) / SEC);
	int64_t until = kept_until(t);
	if (until == NEVER)
		broken("I1", "%s was ended (%s) though it is held by a life", t->id, by);
	if (when < until)
		broken("I1", "%s was ended (%s) at %.6f though it was beaten at %.6f (ttl %.3f s): %.6f s too early", t->id, by,
		       (double)when / SEC, (double)(until - t->ttl_low) / SEC, (double)t->ttl_low / SEC,
		       (double)(until - when) / SEC);
}

void check_destroy(struct truth *t)
{
	if (t->state != P_EXPIRED && t->state != P_FAILED)
		broken("I1", "%s is to be destroyed and is %s", t->id, publics[t->state]);
	if (now() < world.hold_sure)
		broken("hold", "%s is to be destroyed while a hold is in force for %.3f s more", t->id,
		       (double)(world.hold_sure - now()) / SEC);
}

/* --- the ledger, a line that is committed --- */

static uint64_t last_generation;

void check_begin(void)
{
	last_generation = 0;
}

static void session_is_over(struct truth *s, int64_t when)
{
	struct truth *b;

	truth_session_over(s, s->released != NEVER && !s->pam_closed);
	LIST_FOREACH(b, &s->bound, of_session) {
		truth_renewed(b); /* by that life, which was in doubt until now; how long it may be has a bound of its own */
		if (b->session_over > when)
			b->session_over = when;
	}
}

static void check_generation(struct truth *t, const struct ledger_row *row)
{
	if (t->state == P_ADMITTED) {
		if (row->generation <= last_generation)
			broken("I5", "%s was admitted with generation %llu after one with %llu", t->id,
			       (unsigned long long)row->generation, (unsigned long long)last_generation);
		last_generation = t->generation = row->generation;
	} else if (row->generation != t->generation) {
		broken("I5", "%s: generation %llu after %llu", t->id, (unsigned long long)row->generation,
		       (unsigned long long)t->generation);
	}
}

static void hash(const char *s)
{
	for (; *s; s++)
		world.hash = (world.hash ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
}

void check_line(const struct ledger_row *row, int64_t when)
{
	struct truth *t = truth_find(row->id);
	enum public from = public_of(row->from), to = public_of(row->to);

	world.lines++;
	hash(row->id);
	hash(row->to);
	world.hash = (world.hash ^ (uint64_t)row->at) * UINT64_C(0x100000001b3);
	if (!t)
		broken("I3", "a line about %s (%s -> %s), which is over or which nobody made", row->id, row->from, row->to);
	kernel_note("ledger: %s %s -> %s gen %llu: %s", row->id, row->from, row->to, (unsigned long long)row->generation,
		    row->why);
	if (from != t->state)
		broken("I6", "%s goes from %s to %s in the ledger, and was %s", row->id, row->from, row->to, publics[t->state]);
	if (!legal[from][to])
		broken("I4", "%s goes from %s to %s", row->id, row->from, row->to);
	if (row->requester != t->uid)
		broken("I9", "%s is of uid %u, the ledger says %u", row->id, t->uid, row->requester);
	/* What an end is asked of is how it was before. */
	if (to == P_EXPIRED || to == P_FAILED)
		check_may_end(t, t->taken != NEVER ? t->taken : when, row->why);
	t->state = to;
	t->since = now();
	check_generation(t, row);
	if (to == P_ADMITTED)
		t->admitted = now();
	/* Admission and start renew it. */
	if (to == P_ADMITTED || (to == P_ACTIVE && from == P_ADMITTED)) {
		t->renewed = later(t->renewed, now());
		t->beat = later(t->beat, when - turn());
		t->credit = world.credit;
	}
	if (t->record.is_session && (to == P_EXPIRED || to == P_FAILED || to == P_DENIED))
		session_is_over(t, t->taken != NEVER ? t->taken : when);
	if (to == P_REAPED && t->work != WORK_ABSENT)
		broken("I2", "%s is reaped and its workload is there", t->id);
	if (to == P_REAPED || to == P_DENIED) {
		world.reaps++;
		truth_free(t);
		return;
	}
	t->credit_since = world.credit;
	if (!t->changed)
		LIST_INSERT_HEAD(&world.changed, t, quiet);
	t->changed = true;
	bound_changed(t);
}

/* A row as committed: a session may have taken it over. */
void check_bound(const char *id, const char *session)
{
	struct truth *t = truth_find(id), *s = session[0] ? truth_find(session) : NULL;

	if (!t || !t->session_id[0] || strcmp(t->session_id, session) == 0)
		return;
	if (!s || !s->record.is_session || s->uid != t->uid || strcmp(s->record.surface, t->session_surface) != 0)
		broken("I9", "%s was taken over by %s, which is no session of its user and surface", id, session);
	kernel_note("%s is bound to %s now", id, session);
	truth_bind(t, s);
	t->session_over = t->leader_died = NEVER;
	t->by_hand = false;
	if (s->state >= P_EXPIRED) { /* in the same turn it ended too */
		t->session_over = now();
		t->by_hand = s->released != NEVER && !s->pam_closed;
	}
	t->renewed = now();
	t->credit = world.credit;
	bound_changed(t);
}

/* --- the tree --- */

/* A folder by its own name; that of a day lies in the archive. */
static enum where where_of(const char *dir)
{
	static const char *const names[] = { [W_QUEUE] = "queue", [W_ACTIVE] = "active", [W_REAP] = ".reap",
					     [W_ARCHIVE] = "archive" };

	for (size_t i = W_QUEUE; dir && i <= W_ARCHIVE; i++)
		if (strcmp(dir, names[i]) == 0)
			return (enum where)i;
	return dir && strncmp(dir, "20", 2) == 0 ? W_ARCHIVE : W_NOWHERE;
}

void check_moved(void *arg, const char *from_dir, const char *name, const char *to_dir, const char *to_name)
{
	struct truth *t = truth_of_name(name);
	enum where from = where_of(from_dir), to = to_name ? where_of(to_dir) : W_NOWHERE;

	(void)arg;
	happens();
	if (!t || strcmp(t->name, name) != 0 || t->where != from)
		return;
	kernel_note("the lock of %s: %s -> %s", t->id, from_dir, to_name ? to_dir : "removed");
	t->where = to;
	if (from == W_ACTIVE && to == W_REAP) {
		t->taken = now();
	} else if (from == W_REAP && to == W_ACTIVE) {
		t->taken = NEVER;
		t->renewed = now();
		t->credit = world.credit;
		bound_changed(t);
	} else if (to == W_NOWHERE && from != W_REAP && t->holder && (t->holder->half || t->state == P_NONE) &&
		   (now() - t->made >= SEC || (world.o.faults & (F_TRICKS | F_CALLS)))) {
		t->rubbish = now(); /* who makes it empty has a second to fill it, but not one who makes many */
	} else if (to == W_NOWHERE && (from == W_QUEUE || from == W_ACTIVE) && t->rubbish == NEVER && !t->unsure && !t->strange &&
		   t->saved < 0 && t->state < P_EXPIRED) {
		broken("I9", "the lock of %s (%s) was taken away: %s", t->id, publics[t->state], to_dir ? to_dir : "removed");
	}
}

/* --- the log, and the end of a turn --- */

void check_logged(void *arg, int level, const char *line)
{
	(void)arg;
	(void)level;
	/* Mass silence is held, for one ttl of [defaults] at most. */
	if (strstr(line, "BREAKER:") || strstr(line, "the breaker has tripped"))
		world.breaker_until = now() + TTL_HIGH + GRACE_HIGH;
	/* Its end is by the wall clock: one that was set back brings it back, for as long as it was to be at most. */
	if (strstr(line, "is in force: nothing is destroyed"))
		world.hold_until = later(world.hold_until, now() + HOLD_HIGH);
	/* A daemon that was held up reads them later than it was told to. */
	if (strstr(line, "the new settings would have ended")) {
		struct truth *t;

		world.last_reload = now();
		LIST_FOREACH(t, &world.all, all)
			truth_renewed(t);
	}
	if (strstr(line, "cannot happen") || strstr(line, "please report"))
		broken("I4", "%s", line);
}

static void check_state_file(struct truth *t)
{
	static char buf[LEASE_STATE_FILE_MAX];
	char path[PATH_SIZE];
	struct lease_error err;
	struct view v;

	(void)snprintf(path, sizeof(path), STATE "%s", t->id);
	int n = kernel_read(path, buf, sizeof(buf));
	if (n < 0 || view_parse(buf, (size_t)n, &v, &err) < 0)
		broken("I6", "the state file of %s cannot be read (%d)", t->id, n);
	if (strcmp(v.state, publics[t->state]) != 0)
		broken("I6", "state/%s says %s, the ledger %s", t->id, v.state, publics[t->state]);
}

/* The daemon is about to rename something: of a lease that is just over, its lock. Its holder is back at that moment. */
static void beaten_at_the_last_moment(void)
{
	struct lease_stat before, st;
	char path[PATH_SIZE];
	struct truth *t;

	LIST_FOREACH(t, &world.all, all) {
		/* Its own beat alone keeps it for so long; asked first, since all are asked at each rename. */
		if (t->beat + t->ttl_low > now() || t->where != W_ACTIVE)
			continue;
		if (!t->holder || t->holder->half || t->record.is_session || t->unsure || t->ghost)
			continue;
		int64_t until = kept_until(t);
		if (until > now() || until < now() - SEC)
			continue;
		kernel_as(t->uid);
		truth_path(t, path);
		if (kernel_stat(path, &before) == 0 && kernel_beat(path) == 0 && kernel_stat(path, &st) == 0 &&
		    st.mtime != before.mtime)
			truth_beat(t);
		return;
	}
}

void check_called(void *arg, const char *call)
{
	struct truth *t;

	(void)arg;
	if (world.o.faults & F_TRICKS && strcmp(call, "renameat2") == 0 && one_in(3))
		beaten_at_the_last_moment();
	/*
	 * With so much to do on so slow a host it is late by half a renew_grace, and gives one, as it says. Its start is
	 * one such piece of work, with everybody's ends behind it.
	 */
	if (world.o.faults & F_STALL && kernel_busy() > GRACE_LOW / 2)
		world.grace_until = later(world.grace_until, now() + 2 * GRACE_HIGH);
	world.waiting = strcmp(call, "epoll_wait") == 0;
	if (!world.waiting)
		return;
	/* A piece of work that is done in slices is one wake-up. */
	world.wakes += now() - world.waited > SEC;
	world.waited = now();
	world.turns++;
	while ((t = LIST_FIRST(&world.changed)) != NULL) {
		LIST_REMOVE(t, quiet);
		t->changed = false;
		if (!(world.o.faults & F_CALLS))
			check_state_file(t);
	}
}
