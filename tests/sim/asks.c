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
	bool decides; /* a hold or an unhold whose answer nobody has read yet */
	SLIST_ENTRY(asked) free;
};

static struct asked *pool;
static SLIST_HEAD(, asked) unused;
static uint64_t asks;
static size_t n_asked;

/*
 * Holds and unholds that are under way side by side: what is in force is what the daemon did last, and their answers
 * are read in any order. So nothing is promised until all are read, and then it is what the one says that was written last.
 */
static struct {
	int n;		  /* not yet read */
	int64_t stamp;	  /* of the answer that was written last */
	int64_t promised; /* by it: until when */
} deciding;

void asks_init(size_t n)
{
	pool = calloc(n, sizeof(*pool));
	SLIST_INIT(&unused);
	for (size_t i = n; i > 0; i--)
		SLIST_INSERT_HEAD(&unused, &pool[i - 1], free);
	asks = 0;
	n_asked = n;
	deciding.n = 0;
}

void asks_exit(void)
{
	free(pool);
}

static void deciding_begins(struct asked *q)
{
	world.hold_sure = -DAY; /* until the answers say so */
	if (deciding.n++ == 0) {
		deciding.stamp = INT64_MIN;
		deciding.promised = -DAY;
	}
	q->decides = true;
}

void asks_doubt_hold(void)
{
	world.hold_sure = deciding.promised = -DAY;
	deciding.stamp = INT64_MAX;
}

/* stamp: when its answer was written; INT64_MAX = nobody knows whether it was obeyed. */
static void decided(struct asked *q, int64_t stamp, int64_t promised)
{
	if (!q->decides)
		return;
	q->decides = false;
	/* Of two with the same stamp nobody knows either. */
	if (stamp >= deciding.stamp)
		deciding.promised = stamp > deciding.stamp ? promised : -DAY;
	deciding.stamp = stamp > deciding.stamp ? stamp : deciding.stamp;
	if (--deciding.n > 0)
		return;
	world.hold_sure = deciding.promised;
	world.hold_from = now();
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

static int64_t written(const struct asked *q)
{
	struct lease_stat st;
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), STATE "ask-%s", q->id);
	kernel_as(0);
	return kernel_stat(path, &st) == 0 ? st.mtime : INT64_MAX;
}

/* What was promised by the word "done". */
static void taken(struct asked *q, struct truth *t)
{
	switch ((int)q->ask.verb) {
	case ASK_HOLD:
		world.hold_until = now() + q->ask.ttl;
		break;
	case ASK_RENEW:
		if (!t)
			break;
		/* The last one counts, however late its answer is read; where events get lost nobody knows which that is. */
		if (q->ask.ttl && q->made >= t->ttl_asked && !(world.o.faults & (F_TREE | F_CALLS))) {
			truth_ttl(t, q->ask.ttl);
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
	if (one_in(2) || q->decides)
		(void)kernel_unlink(path);
	if (q->ask.verb == ASK_HOLD)
		world.hold_until = now() + q->ask.ttl;
	decided(q, INT64_MAX, -DAY);
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
		bool done = strcmp(a.result, "done") == 0;
		if (done)
			taken(q, t);
		decided(q, written(q), done && q->ask.verb == ASK_HOLD ? q->until : -DAY);
		if (!done || q->pid == 0 || one_in(2)) {
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

/* What nobody can obey. */
static void misspell(char *buf, size_t *len, const char *lease)
{
	static const char *const bad[] = {
		"rubbish\n", "", "#leasewatch 2\nverb=unhold\n", "#leasewatch 1\n", "#leasewatch 1\nverb=dance\nlease=%s\n",
		"#leasewatch 1\nverb=renew\n", "#leasewatch 1\nverb=renew\nlease=me\n",
		"#leasewatch 1\nverb=renew\nlease=%s\nttl=0s\n", "#leasewatch 1\nverb=renew\nlease=%s\nttl=soon\n",
		"#leasewatch 1\nverb=exec\nlease=%s\npid=1\npid_start=1\nboot=b\n",
		"#leasewatch 1\nverb=exec\nlease=%s\npid=99999999999\n", "#leasewatch 1\nverb=exec\nlease=%s\npid=x\n",
		"#leasewatch 1\nverb=exec\nlease=%s\npid=20\nboot=b\n",
		"#leasewatch 1\nverb=exec\nlease=%s\npid=20\npid_start=1\n",
		"#leasewatch 1\nverb=exec\nlease=%s\n", "#leasewatch 1\nverb=hold\nttl=1m\ncolour=red\n",
	};
	const char *what = bad[between(0, sizeof(bad) / sizeof(bad[0]) - 1)], *here = strstr(what, "%s");

	*len = here ? (size_t)snprintf(buf, LEASE_FILE_MAX, "%.*s%s%s", (int)(here - what), what, lease, here + 2)
		    : (size_t)snprintf(buf, LEASE_FILE_MAX, "%s", what);
}

static void put(struct asked *q, bool whole)
{
	char path[PATH_SIZE], buf[LEASE_FILE_MAX];
	size_t len;

	(void)snprintf(path, sizeof(path), QUEUE "ask-%s", q->id);
	if (ask_format(&q->ask, buf, sizeof(buf), &len) < 0)
		broken("the simulation", "an ask that cannot be written");
	if (!whole)
		misspell(buf, &len, q->ask.lease[0] ? q->ask.lease : "kls-aaaaaaaaaa");
	kernel_as(q->uid);
	if (kernel_create(path, buf, len) < 0) {
		over(q);
		return;
	}
	if (whole && (q->ask.verb == ASK_HOLD || q->ask.verb == ASK_UNHOLD))
		deciding_begins(q);
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

/* Root's alone; nobody's end by time comes while it lasts. */
static void ask_hold(struct asked *q)
{
	q->uid = 0;
	q->t = NULL;
	q->ask.lease[0] = '\0';
	q->ask.verb = one_in(3) ? ASK_UNHOLD : one_in(3) ? ASK_BREAKER_RELEASE : ASK_HOLD;
	q->ask.ttl = q->ask.verb == ASK_HOLD ? between(1, HOLD_HIGH / MINUTE) * MINUTE : 0;
	q->until = now() + q->ask.ttl;
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
	put(q, !one_in(15));
}

void asks_end(void)
{
	struct asked *q = ask_new(NULL, 0);

	if (!q)
		return;
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
		asks_doubt_hold(); /* it is by the wall clock, which went on */
}
