/* tests/sim/asks.c: queue/ask-ID, and that each is answered. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/world.h"

struct asked {
	char id[LEASE_ID_SIZE];
	struct ask ask;
	struct truth *t; /* NULL: of no lease that is known */
	uint64_t birth, n;
	uint32_t uid;
	int64_t made, credit, until; /* until: a hold's end, by world time */
	int32_t pid;
	bool crossed; /* another hold was asked for or lifted before it was answered: which of them counts is not known */
	SLIST_ENTRY(asked) free;
};

static struct asked *pool;
static SLIST_HEAD(, asked) unused;
static uint64_t asks;
static size_t n_asked;

void asks_init(size_t n)
{
	pool = calloc(n, sizeof(*pool));
	SLIST_INIT(&unused);
	for (size_t i = n; i > 0; i--)
		SLIST_INSERT_HEAD(&unused, &pool[i - 1], free);
	asks = 0;
	n_asked = n;
}

void asks_exit(void)
{
	free(pool);
}

static void over(struct asked *q)
{
	truth_killed(&q->pid);
	q->n = 0;
	SLIST_INSERT_HEAD(&unused, q, free);
}

/* False: none yet. */
static bool answer(const struct asked *q, struct ask_answer *ret)
{
	char path[PATH_SIZE], buf[LEASE_STATE_FILE_MAX];
	struct lease_error err;

	(void)snprintf(path, sizeof(path), STATE "ask-%s", q->id);
	int n = kernel_read(path, buf, sizeof(buf));
	return n >= 0 && ask_answer_parse(buf, (size_t)n, ret, &err) == 0;
}

/* What was promised by the word "done". */
static void taken(struct asked *q, struct truth *t)
{
	switch ((int)q->ask.verb) {
	case ASK_HOLD:
		world.hold_sure = q->crossed ? -DAY : q->until;
		world.hold_from = now();
		world.hold_until = now() + q->ask.ttl;
		break;
	case ASK_UNHOLD:
		world.hold_sure = -DAY;
		break;
	case ASK_RENEW:
		if (!t)
			break;
		/* The last one counts, however late its answer is read; where events get lost nobody knows which that is. */
		if (q->ask.ttl && q->made >= t->ttl_asked && !(world.o.faults & (F_TREE | F_CALLS))) {
			t->ttl_low = t->ttl_high = q->ask.ttl;
			t->ttl_asked = q->made;
		}
		truth_renewed(t);
		t->beat = q->made > t->beat ? q->made : t->beat;
		break;
	default:
		break;
	}
}

/* The question is taken back, unless who asked was killed; a hold that was in time may be in force. */
static void withdraw(struct asked *q)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), QUEUE "ask-%s", q->id);
	kernel_as(q->uid);
	if (one_in(2) || q->ask.verb == ASK_HOLD)
		(void)kernel_unlink(path);
	if (q->ask.verb == ASK_HOLD)
		world.hold_until = now() + q->ask.ttl;
	over(q);
}

static bool exec_waits(const struct asked *q, const struct truth *t)
{
	/* Its lease has to be active first, which has bounds of its own. */
	return q->ask.verb == ASK_EXEC && t && t->state != P_EXPIRED && t->state != P_FAILED;
}

static void ask_look(void *arg, uint64_t n)
{
	struct asked *q = arg;
	struct ask_answer a;

	if (q->n != n)
		return;
	happens();
	struct truth *t = q->t ? truth_is(q->t, q->birth) : NULL;
	if (q->ask.verb == ASK_NONE) {
		over(q);
		return;
	}
	if (answer(q, &a)) {
		kernel_note("ask %s (%s) is answered: %s: %s", q->id, ask_verb_name(q->ask.verb), a.result, a.what);
		if (strcmp(a.result, "done") == 0)
			taken(q, t);
		if (strcmp(a.result, "done") != 0 || q->pid == 0 || one_in(2)) {
			over(q);
			return;
		}
		q->n = ++asks;
		q->ask.verb = ASK_NONE; /* its command lives for a while */
		after(between(SEC, 20 * MINUTE), ask_look, q, q->n);
		return;
	}
	int64_t waited = now() - q->made - (world.credit - q->credit);
	bool strict = !(world.o.faults & (F_TREE | F_CALLS)) && world.down_since == NEVER &&
		      now() - world.up_since > 10 * SEC;
	if (strict && waited > 30 * SEC && now() > world.grace_until && !exec_waits(q, t))
		broken("I7", "ask %s (%s) has not been answered for %.1f s", q->id, ask_verb_name(q->ask.verb),
		       (double)waited / SEC);
	if (now() - q->made > 30 * MINUTE) {
		withdraw(q);
		return;
	}
	after(between(SEC, 30 * SEC), ask_look, q, q->n);
}

static void put(struct asked *q, bool whole)
{
	char path[PATH_SIZE], buf[LEASE_FILE_MAX];
	size_t len;

	(void)snprintf(path, sizeof(path), QUEUE "ask-%s", q->id);
	if (ask_format(&q->ask, buf, sizeof(buf), &len) < 0)
		broken("the simulation", "an ask that cannot be written");
	kernel_as(q->uid);
	if ((whole ? kernel_create(path, buf, len) : kernel_create(path, "rubbish\n", 8)) < 0) {
		over(q);
		return;
	}
	kernel_note("ask %s: %s of %s by uid %u", q->id, ask_verb_name(q->ask.verb), q->ask.lease, q->uid);
	after(between(LEASE_NS_PER_MS, 3 * SEC), ask_look, q, q->n);
}

static struct asked *ask_new(struct truth *t, uint32_t uid)
{
	struct asked *q = SLIST_FIRST(&unused);

	if (!q)
		return NULL;
	SLIST_REMOVE_HEAD(&unused, free);
	*q = (struct asked){ .t = t, .birth = t ? t->birth : 0, .uid = uid, .made = now(), .credit = world.credit, .n = ++asks };
	truth_make_id(q->id);
	if (t)
		memcpy(q->ask.lease, t->id, sizeof(t->id));
	return q;
}

static void ask_renew(struct asked *q, struct truth *t)
{
	q->ask.verb = ASK_RENEW;
	if (one_in(2) || q->uid != t->uid) /* the bounds are its owner's business */
		return;
	q->ask.ttl = between(30, 900) * SEC;
	t->ttl_low = q->ask.ttl < t->ttl_low ? q->ask.ttl : t->ttl_low;
	t->ttl_high = q->ask.ttl > t->ttl_high ? q->ask.ttl : t->ttl_high;
}

static void ask_exec(struct asked *q)
{
	struct lease_process p = kernel_spawn(q->uid);

	q->ask.verb = ASK_EXEC;
	q->ask.process = p;
	q->pid = p.pid;
	(void)snprintf(q->ask.boot, sizeof(q->ask.boot), "%s", kernel_boot_id());
	if (one_in(10))
		q->ask.process.start++; /* a lie, or a number that is another's by now */
}

static bool holds(const struct asked *q)
{
	return q->n != 0 && (q->ask.verb == ASK_HOLD || q->ask.verb == ASK_UNHOLD);
}

/* Root's alone; nobody's end by time comes while it lasts. */
static void ask_hold(struct asked *q)
{
	bool crossed = false;

	q->uid = 0;
	q->t = NULL;
	q->ask.lease[0] = '\0';
	q->ask.verb = one_in(3) ? ASK_UNHOLD : one_in(3) ? ASK_BREAKER_RELEASE : ASK_HOLD;
	q->ask.ttl = q->ask.verb == ASK_HOLD ? between(1, HOLD_HIGH / MINUTE) * MINUTE : 0;
	q->until = now() + q->ask.ttl;
	if (q->ask.verb == ASK_BREAKER_RELEASE)
		return;
	for (struct asked *o = pool; o < pool + n_asked; o++)
		if (o != q && holds(o))
			o->crossed = crossed = true;
	q->crossed = crossed;
	world.hold_sure = -DAY; /* until the answer says so */
	if (q->ask.verb == ASK_HOLD)
		world.hold_until = now() + DAY; /* until its answer says when */
}

void ask_something(struct holder *h)
{
	struct truth *t = h->lease;
	/* klease asks no daemon that is not there. */
	struct asked *q = world.down_since != NEVER ? NULL : ask_new(t, one_in(20) ? 0 : one_in(20) ? h->uid + 1 : h->uid);

	if (!q)
		return;
	if (one_in(60)) {
		ask_hold(q);
	} else {
		switch (between(0, 4)) {
		case 0:
			ask_renew(q, t);
			break;
		case 1:
			q->ask.verb = ASK_HIBERNATE;
			break;
		case 2:
			q->ask.verb = ASK_RESUME;
			break;
		default:
			ask_exec(q);
			break;
		}
		if (q->ask.verb == ASK_RENEW && (q->uid == t->uid || q->uid == 0))
			truth_renewed(t); /* if it comes in time: promised with its answer */
	}
	put(q, !one_in(40));
}

void asks_end(void)
{
	struct asked *q = ask_new(NULL, 0);

	if (!q)
		return;
	world.hold_sure = -DAY;
	q->ask.verb = ASK_UNHOLD;
	put(q, true);
}

/*
 * Who waits for an answer sees that the daemon has gone, and takes the ask back; some are killed before that. After
 * a boot there is neither process nor queue/.
 */
void asks_daemon_gone(bool boot)
{
	for (struct asked *q = pool; q < pool + n_asked; q++) {
		struct ask_answer a;
		if (q->n == 0 || (!boot && answer(q, &a)))
			continue;
		if (boot)
			q->pid = 0;
		withdraw(q);
	}
	if (boot)
		world.hold_sure = -DAY; /* it is by the wall clock, which went on */
}
