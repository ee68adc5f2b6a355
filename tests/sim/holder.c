/*
 * tests/sim/holder.c: what holders do, and when. Each has one thing to come; what it does then is drawn by its
 * character, and clusters about the times at which it could be ended.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"

void holder_next(struct holder *h, int64_t by)
{
	at(now() + (by > 0 ? by : 1), holder_turn, h, ++h->turn);
}

/* Its lease is over, or it cares no more. */
void holder_over(struct holder *h)
{
	if (h->held >= 0)
		kernel_let_go(h->held);
	h->held = -1;
	if (h->half && h->lease)
		h->lease->rubbish = now(); /* nobody fills it any more */
	h->half = false;
	h->lease = NULL;
	holder_next(h, one_in(3) ? between(SEC, MINUTE) : between(MINUTE, 30 * MINUTE));
}

static void leave(struct holder *h)
{
	struct truth *t = h->lease;

	t->holder = NULL;
	holder_over(h);
}

/* --- beats --- */

static void by_editor(struct holder *h, struct truth *t, const char *path)
{
	char temp[PATH_SIZE], buf[LEASE_FILE_MAX];
	struct lease_stat st;
	int n = kernel_read(path, buf, sizeof(buf));

	(void)snprintf(temp, sizeof(temp), ACTIVE ".tmp-edit-%d", h->n);
	if (n < 0 || kernel_create(temp, buf, (size_t)n) < 0)
		return;
	if (kernel_rename(temp, path) < 0) {
		(void)kernel_unlink(temp);
		return;
	}
	if (t->where != W_ACTIVE || kernel_stat(path, &st) < 0)
		return;
	t->ino = st.ino;
	t->saved = now();
	if (h->held >= 0)
		kernel_let_go(h->held);
	h->held = -1;
	truth_beat(t);
}

static void beat(struct holder *h)
{
	struct truth *t = h->lease;
	char path[PATH_SIZE];
	int r, how = (int)between(0, 99);
	bool by_held = false;
	struct lease_stat st, before;

	truth_path(t, path);
	bool there = kernel_stat(path, &before) == 0;
	kernel_as(h->uid);
	/* klease renew says "lost". A session's ghost would make it unclear whether what is bound to it still is. */
	if (t->where != W_ACTIVE && (how < 60 || how >= 72 || t->record.is_session))
		return;
	if (how < 60) {
		r = kernel_beat(path);
	} else if (how < 72) {
		r = kernel_beat_byte(path);
	} else if (how < 76 && t->where == W_ACTIVE) {
		by_editor(h, t, path);
		return;
	} else if (how < 80) {
		kernel_as(0); /* an administrator's touch is one too */
		r = kernel_beat(path);
	} else if (h->held < 0 && t->where == W_ACTIVE) {
		h->held = kernel_hold_open(path);
		h->held_ino = t->ino;
		r = h->held < 0 ? h->held : kernel_beat_held(h->held);
	} else {
		r = h->held >= 0 ? kernel_beat_held(h->held) : kernel_beat(path);
		by_held = h->held >= 0;
	}
	/* A file that was its lock once, or never was. */
	if (r < 0 || (by_held && h->held_ino != t->ino))
		return;
	/* Within one tick of the clock, or after it was set back by just so much: the stamp is the same, and says nothing. */
	if (there && kernel_stat(path, &st) == 0 && st.ino == before.ino && st.mtime == before.mtime) {
		kernel_note("holder %d beats %s to the very stamp that it had", h->n, t->id);
		return;
	}
	if (t->where == W_ACTIVE) {
		if (world.o.trace != NEVER)
			kernel_note("holder %d beats %s (%d)", h->n, t->id, how);
		truth_beat(t);
	} else if (t->state < P_EXPIRED && t->where != W_QUEUE) {
		/*
		 * A ghost that came before anybody saw that the lock had gone, or before its end was written down (and
		 * never was): its owner's file of that name, so its lock.
		 */
		t->where = W_ACTIVE;
		t->saved = now();
		if (kernel_stat(path, &st) == 0)
			t->ino = st.ino;
		t->ghost = true;
		truth_stamped(t);
	}
}

/* --- ends --- */

static void release(struct holder *h)
{
	struct truth *t = h->lease;
	char from[PATH_SIZE], to[PATH_SIZE];

	if (t->record.is_session && strcmp(t->record.surface, "sshd") == 0 && t->leader_pid > 0 && one_in(2))
		holder_close_session(t);
	truth_path(t, from);
	(void)snprintf(to, sizeof(to), ARCHIVE "%s", t->name);
	kernel_as(one_in(10) ? 0 : h->uid);
	/* Where events are lost, a name that the daemon has not heard of is no release. */
	if ((t->where != W_ACTIVE && t->where != W_QUEUE) || (t->strange && (world.o.faults & F_TREE)))
		return;
	if (kernel_rename(from, to) == 0) {
		kernel_note("holder %d releases %s", h->n, t->id);
		truth_released(t);
	}
}

static void take_back(struct holder *h)
{
	struct truth *t = h->lease;
	char path[PATH_SIZE];

	truth_path(t, path);
	kernel_as(h->uid);
	if (t->waiter_pid > 0 && one_in(2)) {
		truth_killed(&t->waiter_pid);
		t->withdrawn = now();
	} else if (t->where == W_QUEUE && kernel_unlink(path) == 0) {
		t->where = W_NOWHERE;
		t->withdrawn = now();
	}
	bound_changed(t);
}

/* Of what runs already it is no end. */
static void waiter_gone(struct truth *t)
{
	if (t->waiter_pid > 0 && (t->state == P_NONE || t->state == P_REQUESTED || t->state == P_ADMITTED))
		t->withdrawn = now();
	truth_killed(&t->waiter_pid);
}

/* It crashes, is killed, forgets. */
static void crash(struct holder *h)
{
	struct truth *t = h->lease;

	kernel_note("holder %d is gone, of %s", h->n, t->id);
	if (t->leader_pid > 0)
		truth_leader_died(t);
	if (t->leader_died == NEVER && t->second.pid > 0) {
		truth_killed(&t->second.pid);
		truth_leader_died(t);
	}
	waiter_gone(t);
	if (t->work_pid > 0 && one_in(2))
		truth_stopped(t);
	leave(h);
}

/* Each as often as leases end so. */
static bool ends(struct holder *h)
{
	struct truth *t = h->lease;

	switch (between(0, 40)) {
	case 0:
	case 1:
		release(h);
		return false;
	case 2:
		crash(h);
		return true;
	case 3:
		if (t->leader_pid > 0) /* its own, or of a session: which may go on by another process */
			truth_leader_died(t);
		return false;
	case 4:
		if (t->work_pid > 0 && one_in(3))
			truth_stopped(t);
		return false;
	case 5:
		leave(h);
		return true;
	default:
		return false;
	}
}

/* --- a turn --- */

static int64_t ttl(const struct truth *t)
{
	return t->ttl_low;
}

static int64_t third(const struct truth *t)
{
	int64_t every = ttl(t) / 3;

	return every - between(0, every / 3);
}

/* The moment at which silence would end it, or as near to it as a race is. */
static int64_t edge(const struct truth *t)
{
	static const int64_t near[] = { 20000, 5 * LEASE_NS_PER_MS, 30 * LEASE_NS_PER_MS, 2 * SEC };
	int64_t by = near[between(0, 3)], when = t->beat + ttl(t) + 10 * LEASE_NS_PER_MS + between(-by, by);

	if (one_in(6)) /* just after it was looked at */
		when = t->beat + ttl(t) / 2;
	return when > now() ? when - now() : third(t);
}

static int64_t pause_of(const struct holder *h)
{
	const struct truth *t = h->lease;

	switch ((int)h->character) {
	case C_EDGE:
		return edge(t);
	case C_RUN:
	case C_LEADER:
	case C_SESSION:
	case C_SILENT:
		return between(MINUTE, 40 * MINUTE);
	case C_PAUSER:
		return one_in(5) ? between(ttl(t) / 2, 10 * ttl(t)) : one_in(3) ? edge(t) : third(t);
	case C_ASKER:
	case C_CHEAT:
		return one_in(4) ? between(SEC, 10 * SEC) : third(t);
	default:
		return one_in(20) ? edge(t) : third(t);
	}
}

static void work(struct truth *t)
{
	if (t->work_pid > 0 && t->work == WORK_RUNNING && one_in(3))
		kernel_use_cpu(t->work_pid, between(0, 30) * SEC);
}

static void live(struct holder *h)
{
	struct truth *t = h->lease;

	work(t);
	if (h->character != C_SILENT && !(h->character == C_RUN && one_in(2)) && !(h->character == C_SESSION && one_in(2)))
		beat(h);
	if (h->character == C_ASKER ? one_in(3) : one_in(40))
		ask_something(h);
	if ((world.o.faults & F_TRICKS) && (h->character == C_TRICKY ? one_in(4) : one_in(300)))
		holder_trick(h);
	if (h->character == C_CHEAT)
		holder_cheat(h);
}

void holder_turn(void *arg, uint64_t n)
{
	struct holder *h = arg;
	struct truth *t = h->lease;

	if (n != h->turn || world.ending)
		return;
	happens();
	if (!t) {
		holder_make(h);
		holder_next(h, h->half ? between(0, 3 * SEC) : between(LEASE_NS_PER_MS, 30 * SEC));
		return;
	}
	if (h->half) {
		holder_fill(h);
	} else if (t->state == P_NONE || t->state == P_REQUESTED || t->state == P_ADMITTED) {
		if (one_in(15))
			take_back(h);
		else if (one_in(40))
			release(h);
		if (t->state == P_ADMITTED && one_in(2))
			beat(h);
	} else {
		live(h);
		if (ends(h))
			return;
	}
	/* Over, or not heard of: whoever sees that goes on to another. */
	if (t->state == P_EXPIRED || t->state == P_FAILED || (t->where != W_QUEUE && t->where != W_ACTIVE && one_in(3))) {
		if (one_in(2))
			beat(h); /* a ghost */
		leave(h);
		return;
	}
	holder_next(h, pause_of(h));
}

void holder_init(void)
{
	for (int i = 0; i < world.o.holders; i++) {
		struct holder *h = &world.holders[i];

		*h = (struct holder){ .n = i, .uid = FIRST_UID + (uint32_t)(i % world.n_users), .held = -1 };
		holder_next(h, between(1, 20 * MINUTE));
	}
}

/* Nobody beats, nothing lives. Those that hold by a life or were told to stop are ended by their death. */
void holder_all_gone(void)
{
	struct truth *t;

	LIST_FOREACH(t, &world.all, all) {
		if (t->holder && t->holder->half)
			t->rubbish = now();
		t->holder = NULL;
		waiter_gone(t);
		bool led = t->leader_pid > 0 || t->second.pid > 0;
		truth_killed(&t->second.pid);
		if (led)
			truth_leader_died(t);
	}
	for (int i = 0; i < world.o.holders; i++) {
		if (world.holders[i].held >= 0)
			kernel_let_go(world.holders[i].held);
		world.holders[i].lease = NULL;
		world.holders[i].turn++;
	}
}

/* Everybody has lost all. */
void holder_boot(void)
{
	struct truth *t;

	LIST_FOREACH(t, &world.all, all)
		t->holder = NULL;
	for (int i = 0; i < world.o.holders; i++) {
		world.holders[i].held = -1;
		holder_over(&world.holders[i]);
	}
}
