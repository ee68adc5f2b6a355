#include "core/lease.h"

#include <string.h>

#include "core/renew.h"
#include "lease/duration.h"
#include "lease/text.h"

/* `at` is below zero where it was before the host booted. */
static int64_t later(int64_t at, int64_t by)
{
	int64_t sum;

	return by == LEASE_NEVER || __builtin_add_overflow(at, by, &sum) ? LEASE_NEVER : sum;
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t latest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add_duration(struct lease_text *t, int64_t ns)
{
	char buf[LEASE_DURATION_SIZE];

	/* Below ten seconds people want the milliseconds, above they don't. */
	if (ns >= 10 * LEASE_NS_PER_S && ns != LEASE_NEVER)
		ns -= ns % LEASE_NS_PER_S;
	lease_duration_format(buf, ns);
	lease_text_add(t, buf);
}

/* Whether CPU use can count as use for this lease: a command that lives is use already. */
static bool observes_cpu(const struct lease *l)
{
	return l->policy.usage != LEASE_USAGE_EXPLICIT && !l->record.is_session;
}

static bool held_by_life(const struct lease *l)
{
	return l->execs > 0 || (l->record.run && l->leader_alive);
}

int64_t lease_stamp(int64_t mtime, const struct lease_clock *c)
{
	if (mtime <= 0)
		return 0;
	return mtime > c->wall ? LEASE_NEVER : c->now - (c->wall - mtime);
}

int64_t lease_looked(struct lease *l, int64_t mtime, const struct lease_clock *c)
{
	int64_t last = l->looked, skew = c->wall - c->now, stamp = lease_stamp(mtime, c);
	/*
	 * A wall clock that went on while the host slept makes a stamp seem older than it is: by at most as much as it
	 * has gained since the last look. One that was set back makes a stamp seem younger, and `now` is the bound.
	 */
	int64_t gained = l->skew != 0 && skew > l->skew ? skew - l->skew : 0;

	l->looked = c->now;
	l->skew = skew;
	if (mtime == l->mtime)
		return 0;
	l->mtime = mtime;
	if (mtime <= 0 || mtime > c->wall)
		return c->now;
	/* Set back before a beat and forward after it: what it gained tells neither. */
	if (stamp < c->even && last < c->set)
		return c->now;
	/* But one that was made since then is of the clock as it runs now; or made before then, and seems younger. */
	if (stamp < c->even || c->even <= last)
		stamp = later(stamp, gained);
	/* A beat just after the last look may be stamped just before it. */
	if (stamp < last && last - stamp <= LEASE_TICK)
		stamp = last;
	return stamp >= last && stamp <= c->now ? stamp : c->now;
}

/* The shortest window of CPU use that is judged. */
static int64_t cpu_window(const struct lease *l, const struct judge *j)
{
	return sooner(j->observe_every, l->policy.renew_grace);
}

bool lease_saw_cpu(struct lease *l, const struct judge *j, int64_t now, int64_t usage)
{
	int64_t window = now - l->cpu_from, step = usage - l->cpu_base;
	/* A window that began before the last use measures that use too: begin another. */
	bool begin = l->cpu_from == 0 || l->cpu_broken || (l->state == ST_ACTIVE && l->cpu_from < l->used);

	l->cpu_at = now;
	l->cpu_broken = usage < 0;
	if (l->cpu_broken) {
		l->used = now;
		return true;
	}
	if (!begin && window < cpu_window(l, j))
		return false;
	l->cpu_from = now;
	l->cpu_base = usage;
	if (begin)
		return false;
	/*
	 * A counter that stepped back (a process that died between, a restore) says nothing about use: never a
	 * negative step.
	 */
	if (step > 0 && step / (window / 1000000 + 1) >= l->policy.cpu_floor_ppm) {
		l->used = now;
		return true;
	}
	l->cpu_quiet_at = now;
	return false;
}

int64_t lease_expires(const struct lease *l)
{
	if (l->leader_alive || (l->session_alive && l->state != ST_LINGERING))
		return LEASE_NEVER;
	return later(later(later(l->renewed, l->policy.ttl), l->restart_credit), LEASE_TICK);
}

const char *lease_renewed_by(const struct lease *l)
{
	if (l->leader_alive)
		return l->record.run ? "command alive" : "leader alive";
	if (l->session_alive && l->state != ST_LINGERING)
		return "session alive";
	return l->last_beat_wall != 0 ? "own beat" : "admission";
}

void lease_signals(const struct lease *l, int64_t now, char buf[LEASE_WHY_SIZE])
{
	struct lease_text t;

	lease_text_begin(&t, buf, LEASE_WHY_SIZE);
	if (held_by_life(l)) {
		lease_text_add(&t, l->execs > 0 ? "an exec lives in it" : "its command lives");
	} else {
		lease_text_add(&t, "last use ");
		add_duration(&t, now - l->used);
		lease_text_add(&t, " ago");
	}
	if (l->cpu_broken)
		lease_text_add(&t, "; cpu cannot be read, which counts as use");
	else if (l->cpu_at != 0)
		lease_text_add(&t, "; cpu read");
	if (l->lock_lost)
		lease_text_add(&t, "; lock lost");
}

/* Something ends now. Sets event and why; a hold or a grace moves it instead. True when it is due. */
static bool ends(struct verdict *v, const struct judge *j, int64_t now, int64_t due, bool by_silence, enum event e)
{
	if (due == LEASE_NEVER)
		return false;
	due = latest(due, j->hold_until);
	if (by_silence)
		due = latest(due, j->grace_until);
	if (now < due) {
		v->look_at = sooner(v->look_at, due);
		return false;
	}
	v->event = e;
	return true;
}

static void why_silence(struct lease_text *t, const struct lease *l, int64_t now)
{
	lease_text_add(t, "no renewal for ");
	add_duration(t, now - l->renewed);
	lease_text_add(t, " (ttl ");
	add_duration(t, l->policy.ttl);
	lease_text_add(t, l->lock_lost ? "), lock lost" : ")");
}

static void why_held(struct lease_text *t, const struct breaker *b)
{
	char words[BREAKER_WORDS];

	breaker_words(b, words);
	lease_text_add(t, "; held by the breaker, ");
	lease_text_add(t, words);
	if (b->by < 0)
		return;
	lease_text_add(t, ", let go by uid ");
	lease_text_add_number(t, (uint64_t)b->by);
}

/*
 * Due by silence, but so are most others: it is put off until the breaker lets go, and hibernated meanwhile, once.
 * True when that is to be done now.
 */
static bool held_by_breaker(const struct lease *l, const struct judge *j, int64_t now, struct verdict *v,
			    struct lease_text *t)
{
	int64_t due = latest(latest(lease_expires(l), j->hold_until), j->grace_until);

	if (now < due) {
		v->look_at = sooner(v->look_at, due);
		return false;
	}
	v->held = true;
	v->look_at = sooner(v->look_at, j->breaker.until);
	if (l->spared || l->record.is_session || (l->state != ST_ACTIVE && l->state != ST_IDLE))
		return false;
	v->event = EV_BREAKER;
	why_silence(t, l, now);
	why_held(t, &j->breaker);
	lease_text_add(t, ": hibernated, not reaped");
	return true;
}

/* Whoever lingers is silent because its session or leader is over. */
static bool ends_by_silence(const struct lease *l, const struct judge *j, int64_t now, struct verdict *v,
			    struct lease_text *t)
{
	int64_t expires = lease_expires(l);

	if (l->state != ST_LINGERING && breaker_holds(&j->breaker, expires, now))
		return held_by_breaker(l, j, now, v, t);
	if (!ends(v, j, now, expires, true, EV_EXPIRY_DUE))
		return false;
	why_silence(t, l, now);
	if (l->state != ST_LINGERING && breaker_held(&j->breaker, expires))
		why_held(t, &j->breaker);
	return true;
}

/* The limits that end a living lease, the strongest first. */
static bool ends_by_time(const struct lease *l, const struct judge *j, int64_t now, struct verdict *v, struct lease_text *t)
{
	const struct policy *p = &l->policy;

	/* A session is as long as it is: it ends by its close, its death or (without a leader) by silence. */
	if (!l->record.is_session && ends(v, j, now, later(l->created, p->max_lifetime), false, EV_LIFETIME_DUE)) {
		lease_text_add(t, "older than max_lifetime ");
		add_duration(t, p->max_lifetime);
		return true;
	}
	if (l->state == ST_LINGERING && ends(v, j, now, later(l->since, p->linger), false, EV_LINGER_DUE)) {
		lease_text_add(t, "lingered ");
		add_duration(t, p->linger);
		return true;
	}
	if (ends_by_silence(l, j, now, v, t))
		return true;
	if (l->state == ST_HIBERNATED &&
	    ends(v, j, now, later(l->since, p->hibernated_retention), false, EV_RETENTION_DUE)) {
		lease_text_add(t, "hibernated for hibernated_retention ");
		add_duration(t, p->hibernated_retention);
		return true;
	}
	return false;
}

/*
 * Idleness needs every signal read and silent: CPU was judged quiet within the last window, or the reading is
 * asked for.
 */
static bool cpu_quiet(const struct lease *l, const struct judge *j, int64_t now, struct verdict *v)
{
	if (!observes_cpu(l))
		return true;
	if (l->cpu_quiet_at != 0 && l->cpu_quiet_at >= l->used && now - l->cpu_quiet_at < cpu_window(l, j))
		return true;
	if (l->cpu_at != now)
		v->want_cpu = true;
	else
		v->look_at = sooner(v->look_at, l->cpu_from + cpu_window(l, j));
	return false;
}

/* A window of CPU use that can be judged at `due` is under way, or is not wanted yet, or its reading is asked for. */
static void begin_window(const struct lease *l, const struct judge *j, int64_t now, int64_t due, struct verdict *v)
{
	int64_t begin = due == LEASE_NEVER ? LEASE_NEVER : due - cpu_window(l, j);

	if (l->cpu_from != 0 && l->cpu_from >= l->used && !l->cpu_broken)
		return;
	if (now < begin)
		v->look_at = sooner(v->look_at, begin);
	else
		v->want_cpu = l->cpu_at != now;
}

static void judge_active(const struct lease *l, const struct judge *j, int64_t now, struct verdict *v,
			 struct lease_text *t)
{
	int64_t due = later(l->used, l->policy.renew_grace);

	if (held_by_life(l))
		return; /* what could end that is an event of its own */
	if (now < due) {
		v->look_at = sooner(v->look_at, due);
		if (observes_cpu(l))
			begin_window(l, j, now, due, v);
		return;
	}
	if (!cpu_quiet(l, j, now, v))
		return;
	v->event = EV_IDLE_DUE;
	lease_text_add(t, l->lock_lost ? "lock lost; no use for " : "no use for ");
	add_duration(t, now - l->used);
	lease_text_add(t, observes_cpu(l) ? ", cpu below its floor" : "");
}

static void judge_idle(const struct lease *l, const struct judge *j, int64_t now, struct verdict *v,
		       struct lease_text *t)
{
	int64_t due = later(l->since, l->policy.hibernate_after);

	if (l->record.is_session)
		return; /* it has no workload: never hibernated, never moved */
	/* It came here by a hibernation that failed, while it was held or wanted. */
	if (held_by_life(l) || l->wanted) {
		v->event = EV_USE;
		lease_text_add(t, l->wanted ? "used while it was being hibernated" : "a command lives in it");
		return;
	}
	/* Use that comes back while it is idle is seen at the next reading. */
	if (observes_cpu(l) && due != LEASE_NEVER) {
		int64_t next = l->cpu_at + cpu_window(l, j);
		if (now >= next)
			v->want_cpu = true;
		else
			v->look_at = sooner(v->look_at, next);
	}
	if (now < due) {
		v->look_at = sooner(v->look_at, due);
		return;
	}
	if (v->want_cpu || !cpu_quiet(l, j, now, v))
		return;
	v->event = EV_HIBERNATE_DUE;
	lease_text_add(t, "idle for hibernate_after ");
	add_duration(t, l->policy.hibernate_after);
}

static void judge_retry(const struct lease *l, int64_t not_before, int64_t now, struct verdict *v)
{
	int64_t due = latest(l->retry_at, not_before);

	if (now >= due)
		v->event = EV_RETRY_DUE;
	else
		v->look_at = sooner(v->look_at, due);
}

void lease_verdict(const struct lease *l, const struct judge *j, int64_t now, struct verdict *v)
{
	struct lease_text t;

	*v = (struct verdict){ .event = EV_NONE, .look_at = LEASE_NEVER };
	lease_text_begin(&t, v->why, sizeof(v->why));
	if (state_ended(l->state) || l->state == ST_REQUESTED)
		return; /* admission and its timeout are decided over the whole queue, not here */

	if (l->act_deadline != 0) {
		if (now >= l->act_deadline) {
			v->event = EV_DEADLINE;
			lease_text_add(&t, "no answer from the runtime within its deadline");
			return;
		}
		v->look_at = l->act_deadline;
	}
	if (l->state == ST_EXPIRED || (l->state == ST_ROLLBACK && l->act_deadline == 0)) {
		judge_retry(l, j->hold_until, now, v);
		return;
	}
	if (!state_living(l->state) || l->state == ST_STARTING)
		return;
	if (ends_by_time(l, j, now, v, &t))
		return;
	if (!l->warned && lease_expires(l) != LEASE_NEVER && l->policy.warn_before > 0) {
		int64_t due = latest(later(lease_expires(l), -l->policy.warn_before), j->hold_until);
		v->warn = now >= due;
		if (!v->warn)
			v->look_at = sooner(v->look_at, due);
	}
	if (l->state == ST_ACTIVE)
		judge_active(l, j, now, v, &t);
	else if (l->state == ST_IDLE)
		judge_idle(l, j, now, v, &t);
	else if (l->state == ST_HIBERNATED && l->wanted)
		judge_retry(l, 0, now, v);
}

static void credit_renewal(struct lease *l, int64_t at)
{
	struct renewable r = { .living = state_living(l->state), .in_active = true };

	/* One that came in order: an older stamp than the last credited one moves nothing back. */
	if (renew(&r, l->policy.ttl, at).outcome != RENEW_OK || at < l->renewed)
		return;
	l->renewed = at;
	l->restart_credit = 0;
	l->warned = l->spared = false;
}

void lease_apply(struct lease *l, enum event e, int64_t at, int64_t now, int64_t wall, const char *why)
{
	const struct cell *c = &state_table[l->state][e];
	enum state from = l->state;
	bool alive = l->leader_alive || l->execs > 0 || (l->session_alive && from != ST_LINGERING);

	if (c->actions & AC_NEVER)
		return;
	l->state = (enum state)c->next;
	if (e == EV_DEADLINE)
		l->act_deadline = 0;
	if (c->actions & AC_RENEW)
		credit_renewal(l, at);
	if (c->actions & AC_USE)
		l->used = latest(l->used, at);
	if (c->actions & AC_WANT)
		l->wanted = true;
	if (e == EV_BEAT)
		l->last_beat_wall = wall - (now - at);
	if (e == EV_LOCK_LOST && !l->lock_lost) {
		l->lock_lost = true;
		/* What a vanished lock says about use is nothing: idle next, unless something else uses it. */
		l->used = sooner(l->used, now - l->policy.renew_grace);
	}
	if (e == EV_LOCK_FOUND)
		l->lock_lost = false;
	if (e == EV_BREAKER)
		l->spared = true;
	if (e == EV_LEADER_DIED || e == EV_STOPPED || e == EV_RELEASED)
		l->work_ended = l->work_ended != 0 ? l->work_ended : at;
	if (c->actions & AC_BACKOFF) {
		int64_t wait = LEASE_BACKOFF_FIRST << (l->attempts < 20 ? l->attempts : 20);
		l->attempts++;
		l->retry_at = now + sooner(wait, LEASE_BACKOFF_MAX);
	}
	if (e == EV_RETRY_DUE)
		l->retry_at = LEASE_NEVER; /* under way: its failure says when the next one is */
	if (l->state == from)
		return;

	l->act_deadline = 0;
	l->since = now;
	l->since_wall = wall;
	if (l->state == ST_ACTIVE) {
		l->wanted = false;
		l->attempts = 0;
	}
	/* What is to come next is due at once: the destroy, or the resume of what was wanted meanwhile. */
	if ((l->state == ST_EXPIRED || l->state == ST_HIBERNATED) && !(c->actions & AC_BACKOFF))
		l->retry_at = now;
	if (l->state == ST_EXPIRED && from != ST_REAPING) {
		l->attempts = 0;
		if (l->work_ended == 0)
			l->work_ended = alive ? now : sooner(latest(l->renewed, l->used), now);
	}
	if (l->state == ST_ROLLBACK) {
		l->attempts = 0;
		l->retry_at = now;
	}
	/* A retry is no reason: why it ends stays said. */
	struct lease_text t;
	if (e == EV_RETRY_DUE || e == EV_RESTART)
		return;
	lease_text_begin(&t, l->why, sizeof(l->why));
	lease_text_add(&t, why && *why ? why : event_name(e));
}

void lease_credit_restart(struct lease *l, int64_t from, int64_t now)
{
	int64_t away = now > from ? now - from : 0;

	l->restart_credit = sooner(l->restart_credit + away, latest(l->restart_credit, l->policy.renew_grace));
	l->used = sooner(later(l->used, away), now); /* idleness isn't counted while nobody looked either */
	/*
	 * When its lock was last looked at is not stored, for an active lease that was long before `from`: but
	 * it was when it came into its state, and the distance of the clocks then is known too.
	 */
	l->looked = sooner(l->since, from);
	l->skew = l->since_wall - l->since;
}
