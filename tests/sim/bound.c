/*
 * tests/sim/bound.c: the invariants that have a time: nothing waits for ever (I7), and no workload outlives its
 * lease by more than is said (I2). What may come on top of a ttl is added up in world.credit by whoever causes it.
 *
 * A lease has a time by which it must have gone on; it is looked at then, and most often has a later one.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"

#define ACT_LONGEST (2 * 60 * SEC + 10 * SEC) /* behind another act on the same lease, both with their deadline */
#define BACKOFF_LONGEST (300 * SEC)
#define STAT_LONGEST (4 * ACT_LONGEST) /* whether a session lives may be asked more than once, once an act is free */

/* How late the loop may be: its own retries are a second apart. */
static int64_t slack(void)
{
	if (world.o.faults & F_CALLS)
		return 5 * MINUTE;
	return world.o.faults & (F_STALL | F_ENGINE | F_TREE) ? 60 * SEC : 5 * SEC;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t add(int64_t when, int64_t by)
{
	return when == NEVER ? NEVER : when + by;
}

/* Where an event was lost, what its holder did may be seen only when its time comes; its session's, too. */
static bool deaf(const struct truth *t)
{
	return t->deaf || t->session_deaf;
}

static bool lives(const struct truth *t)
{
	const struct truth *s = t->session;

	if (t->leader_died == NEVER && t->leader_pid > 0)
		return true;
	if (t->record.is_session)
		return t->leader_died == NEVER && truth_session_alive(t);
	return s && t->session_over == NEVER && truth_session_alive(s);
}

/* Of its session's life, which renews it, or its own: when it was over. NEVER: it is not, or the daemon knows. */
static int64_t life_over(const struct truth *t)
{
	const struct truth *s = t->record.is_session ? t : t->session;

	return !s || s->state >= P_EXPIRED ? NEVER : t->record.is_session ? t->leader_died : t->session_over;
}

/* By when its runtime, which knows of such lives, has said so: it cannot be asked while all acts are taken. */
static int64_t asked(const struct truth *t)
{
	return add(latest(life_over(t), world.last_full), STAT_LONGEST);
}

static int64_t by_silence(const struct truth *t)
{
	const struct truth *s = t->session;
	int64_t from = t->renewed, credit = t->credit, more = 0;

	if (lives(t))
		return NEVER;
	if (s && s->renewed > from) {
		from = s->renewed;
		credit = s->credit;
	}
	/* Its stamp may say nothing by now, and is credited when it is looked at: one ttl later at most. */
	if (t->tricky || (s && s->tricky) || world.last_step + 2 * t->ttl_high + 10 * MINUTE > from)
		more = t->ttl_high;
	if (more > 0 && world.held_until > from) /* and it was stopped until then */
		from = world.held_until;
	int64_t end = from + t->ttl_high + more + (world.credit - credit);
	/*
	 * A daemon that has begun anew knows no more of what the wall clock gained than since this state began: then the
	 * last beat is credited when it is looked at, which is at the start or when it is due. And so by no later daemon.
	 */
	if (world.last_gain > t->since && world.up_since > from) {
		bool before = t->taken_up > from;
		int64_t up = before ? t->taken_up : world.up_since;
		int64_t since = before ? t->credit_taken_up : world.credit;

		end = latest(end, from + 2 * t->ttl_high + (world.credit - credit));
		end = latest(end, up + t->ttl_high + (world.credit - since));
	}
	if (world.last_full > life_over(t))
		end = latest(end, asked(t));
	return end;
}

static int64_t by_reason(const struct truth *t)
{
	int64_t lingers = latest(t->leader_died, world.last_reload);
	int64_t end = t->record.is_session ? asked(t) : add(lingers, t->linger_high);

	/* One that was over before it was admitted, or goes unheard, has bound nothing. */
	if (t->session_over != NEVER && t->session_over > t->admitted && !deaf(t))
		end = sooner(end, latest(latest(t->session_over, world.last_reload), world.last_full) +
					  (t->by_hand ? 0 : t->linger_high) + STAT_LONGEST);
	if (t->record.runtime[0] == '\0' || strcmp(t->record.runtime, "process") == 0)
		end = sooner(end, add(t->stopped, t->acts > 0 ? ACT_LONGEST : 0)); /* on its way to rest or back */
	/* It may have come back before anybody looked, or been released under a name that nobody had heard of. */
	if (!deaf(t) && t->where == W_ARCHIVE && !t->strange)
		end = sooner(end, t->released);
	if (!t->survived)
		end = sooner(end, t->booted);
	return add(end, world.credit - t->credit_made);
}

static int64_t living(const struct truth *t)
{
	int64_t end = sooner(by_silence(t), by_reason(t));

	if (!t->record.is_session)
		end = sooner(end, latest(t->made, world.last_reload) + LIFE_HIGH + (world.credit - t->credit_made));
	return end;
}

/* When it must have gone on. */
static int64_t due(const struct truth *t)
{
	int64_t since = t->since + (world.credit - t->credit_since);
	int64_t asked = t->destroy_asked == NEVER ? -DAY : t->destroy_asked;
	int64_t full = world.acts >= ACTS_FULL ? now() : world.last_full;
	int64_t end = NEVER;

	switch ((int)t->state) {
	case P_NONE:
		end = since + (deaf(t) ? DAY : QUEUE_TIMEOUT_HIGH);
		break;
	case P_REQUESTED:
		end = since + QUEUE_TIMEOUT_HIGH;
		break;
	case P_ADMITTED:
		end = latest(since, full) + ACT_LONGEST;
		break;
	case P_ACTIVE:
	case P_IDLE:
	case P_HIBERNATED:
		end = latest(latest(living(t), world.hold_until), world.breaker_until);
		break;
	case P_EXPIRED:
	case P_FAILED:
		end = latest(latest(latest(since, asked), full), world.hold_until) + BACKOFF_LONGEST + ACT_LONGEST;
		break;
	default:
		break;
	}
	return add(latest(end, world.grace_until), slack());
}

/* A request that was never heard of, and has gone. */
static bool unheard(const struct truth *t)
{
	return t->state == P_NONE && (t->where == W_NOWHERE || t->where == W_ARCHIVE || t->where == W_REAP);
}

static void look(void *arg, uint64_t birth)
{
	struct truth *t = truth_is(arg, birth);

	if (!t || t->watch_at > now())
		return;
	happens();
	t->watch_at = NEVER;
	int64_t end = due(t);
	bool up = world.down_since == NEVER && now() - world.up_since > 10 * SEC;
	bool gone = unheard(t) && up;
	/* A turn in the middle of which it has gone may have read it before, and tells of it at its end. */
	if (gone && (world.waiting || (t->gone_in > 0 && world.turns >= t->gone_in))) {
		truth_free(t);
		return;
	}
	if (!gone || t->gone_in == 0)
		t->gone_in = gone ? world.turns + 1 : 0;
	if (now() >= end && up && !gone) {
		char path[PATH_SIZE], buf[1200] = "";
		(void)snprintf(path, sizeof(path), STATE "%s", t->id);
		(void)kernel_read(path, buf, sizeof(buf) - 1);
		fprintf(stderr, "%s says:\n%s\n", path, buf);
		broken(t->state == P_EXPIRED || t->state >= P_FAILED ? "I7" : "I2",
		       "%s has been %s for %.1f s, last renewed %.1f s ago (ttl %.1f s), its end not under way; work %d, "
		       "lock at %d, released %d, stopped %d, leader dead %d, session over %d",
		       t->id, public_name(t->state), (double)(now() - t->since) / SEC, (double)(now() - t->renewed) / SEC,
		       (double)t->ttl_high / SEC, t->work, t->where, t->released != NEVER, t->stopped != NEVER,
		       t->leader_died != NEVER, t->session_over != NEVER);
	}
	bound_watch(t);
}

/* The next look at it: when it is due, and once an hour. */
void bound_watch(struct truth *t)
{
	int64_t end = sooner(due(t), now() + HOUR);

	if (end <= now())
		end = now() + 10 * SEC; /* no daemon, or one that has just begun */
	if (unheard(t))
		end = sooner(end, now() + MINUTE);
	if (end >= t->watch_at)
		return;
	t->watch_at = end;
	at(end, look, t, t->birth);
}

void bound_changed(struct truth *t)
{
	bound_watch(t);
}
