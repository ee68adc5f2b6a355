#include "config.h"

#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 16
#define ACT_TIME (70 * S)

#define HOLDS(ok)                                                                                            \
	do {                                                                                                 \
		if (!(ok))                                                                                   \
			broken(m, s, #ok);                                                                   \
	} while (0)

static void broken(const struct sim *m, const struct subject *s, const char *what)
{
	fail_msg("seed %llu, %lld ns, lease %d, %s (%s): not %s", (unsigned long long)m->seed, (long long)m->now,
		 (int)(s - m->s), state_name(s->l.state), s->l.why, what);
}

/* xorshift64*, Vigna 2014. */
static uint64_t draw(struct sim *m)
{
	m->random ^= m->random >> 12;
	m->random ^= m->random << 25;
	m->random ^= m->random >> 27;
	return m->random * UINT64_C(2685821657736338717);
}

static int64_t between(struct sim *m, int64_t low, int64_t high)
{
	return low + (int64_t)(draw(m) % (uint64_t)(high - low + 1));
}

static bool chance(struct sim *m, int percent)
{
	return between(m, 1, 100) <= percent;
}

static int64_t wall(const struct sim *m)
{
	return m->now + m->skew;
}

static bool renewable(const struct subject *s)
{
	return state_living(s->l.state) && s->l.state != ST_LINGERING;
}

/* --- the runtime --- */

static void request(struct sim *m, struct subject *s, uint32_t actions)
{
	static const struct {
		uint32_t act;
		enum event done, failed;
	} acts[] = {
		{ AC_CREATE, EV_STARTED, EV_START_FAILED },
		{ AC_HIBERNATE, EV_HIBERNATED, EV_HIBERNATE_FAILED },
		{ AC_RESUME, EV_RESUMED, EV_RESUME_FAILED },
		{ AC_DESTROY, EV_DESTROYED, EV_DESTROY_FAILED },
	};

	for (size_t i = 0; i < N_OF(acts); i++) {
		if (!(actions & acts[i].act))
			continue;
		int64_t takes = chance(m, 4) ? between(m, 60 * S, 300 * S) : between(m, MS, 5 * S);
		s->act++;
		s->l.act_deadline = m->now + ACT_TIME;
		if (chance(m, 2) || s->n_answers == SIM_ANSWERS)
			continue; /* never answered */
		s->act_ends = (s->act_ends > m->now ? s->act_ends : m->now) + takes;
		s->answers[s->n_answers].at = s->act_ends;
		s->answers[s->n_answers].e = chance(m, 85) ? acts[i].done : acts[i].failed;
		s->answers[s->n_answers++].act = s->act;
	}
}

/* --- the daemon --- */

static void take(struct sim *m, struct subject *s, enum event e, int64_t at, const char *why);

/* A beat between the last look and the rename: the commit finds it and is put back. */
static bool beaten_at_its_last_moment(struct sim *m, struct subject *s, const struct cell *c)
{
	if (!(c->actions & AC_COMMIT) || !s->there || !chance(m, 10))
		return false;
	s->lock = s->l.mtime = wall(m);
	s->touched = m->now;
	if (renewable(s))
		s->held_until = m->now + s->l.policy.ttl;
	take(m, s, EV_BEAT, m->now, "at its last moment");
	return true;
}

static void ended_rightly(struct sim *m, struct subject *s, enum event e, enum state from)
{
	/* I1 */
	if (e == EV_EXPIRY_DUE) {
		HOLDS(!s->leader);
		HOLDS(m->now >= s->held_until);
		HOLDS(m->now >= m->j.grace_until);
	}
	if (s->l.state == ST_EXPIRED && from != ST_REAPING && e >= EV_IDLE_DUE && e <= EV_DEADLINE)
		HOLDS(m->now >= m->j.hold_until);
	if (e == EV_RETRY_DUE && (from == ST_EXPIRED || from == ST_ROLLBACK))
		HOLDS(m->now >= m->j.hold_until);
	if (e == EV_IDLE_DUE) {
		HOLDS(m->now >= s->used + s->l.policy.renew_grace);
		HOLDS(!s->busy_since || s->l.policy.usage == LEASE_USAGE_EXPLICIT ||
		      m->now - s->busy_since < 2 * s->l.policy.renew_grace);
	}
}

static void take(struct sim *m, struct subject *s, enum event e, int64_t at, const char *why)
{
	enum state from = s->l.state;
	const struct cell *c = &state_table[from][e];

	if (c->actions == 0 || c->actions & AC_NEVER) /* I4 */
		broken(m, s, event_name(e));
	if (beaten_at_its_last_moment(m, s, c))
		return;
	if (c->actions & AC_USE && at > s->used)
		s->used = at;
	lease_apply(&s->l, e, at, m->now, wall(m), why);
	HOLDS(s->l.state == c->next);
	m->n[e]++;
	m->transitions[s->l.state] += s->l.state != from;
	ended_rightly(m, s, e, from);
	if (c->actions & (AC_COMMIT | AC_TAKE))
		s->there = false;
	if (c->actions & AC_RENEW && e != EV_BEAT && at == m->now)
		s->held_until = m->now + s->l.policy.ttl;
	request(m, s, c->actions);
	s->ends += (c->actions & AC_END) != 0;
	HOLDS(s->ends == state_ended(s->l.state)); /* I3 */
	HOLDS(s->l.restart_credit <= s->l.policy.renew_grace);
	s->due = m->now;
	m->checkpoint = m->now;
}

static void look_at_lock(struct sim *m, struct subject *s)
{
	int64_t last = s->l.looked;

	if (!state_living(s->l.state))
		return;
	if (s->released) {
		take(m, s, EV_RELEASED, m->now, NULL);
		return;
	}
	if (!s->there) {
		if (!s->l.lock_lost)
			take(m, s, EV_LOCK_LOST, m->now, NULL);
		s->used = s->l.used; /* taken back */
		return;
	}
	if (s->l.lock_lost)
		take(m, s, EV_LOCK_FOUND, m->now, NULL);
	const struct lease_clock clock = { .now = m->now, .wall = wall(m), .even = m->even, .set = m->set };
	int64_t at = lease_looked(&s->l, s->lock, &clock);
	if (at == 0)
		return;
	m->beats++;
	/*
	 * Not credited later than it was seen, nor earlier than it was; but for a clock that was set back and then gained again,
	 * and a stamp that was set back by just about what it gained.
	 */
	HOLDS(at <= m->now);
	if (!s->odd || m->stamps_sure_from < last)
		HOLDS(at >= s->touched - LEASE_TICK);
	else if (at + s->l.policy.ttl < s->held_until)
		s->held_until = at + s->l.policy.ttl;
	if (!s->odd && m->stamps_sure_from < last)
		HOLDS(at <= (s->touched > last ? s->touched : last));
	bool awake = s->l.state == ST_ACTIVE || s->l.state == ST_IDLE;
	take(m, s, awake && s->l.policy.usage == LEASE_USAGE_OBSERVED ? EV_RENEWED : EV_BEAT, at, NULL);
}

/* I2: whoever still lives at now was renewed within its ttl, or something that is named gives it time. */
static void within_its_bound(struct sim *m, struct subject *s)
{
	const struct lease *l = &s->l;

	if (!state_living(l->state) || l->state == ST_STARTING)
		return;
	if (!s->leader)
		HOLDS(m->now < l->renewed + l->policy.ttl + LEASE_TICK + l->restart_credit || m->now < m->j.grace_until ||
		      m->now < m->j.hold_until);
	HOLDS(l->renewed <= m->now && l->used <= m->now);
	if (l->policy.max_lifetime != LEASE_NEVER)
		HOLDS(m->now < l->created + l->policy.max_lifetime || m->now < m->j.hold_until);
	if (l->state == ST_LINGERING)
		HOLDS(m->now < l->since + l->policy.linger || m->now < m->j.hold_until);
}

static int64_t cpu(struct sim *m, struct subject *s)
{
	if (chance(m, 1))
		return -1;
	if (s->busy_since)
		s->cpu += m->now - s->cpu_at;
	s->cpu_at = m->now;
	return s->cpu;
}

static void judge(struct sim *m, struct subject *s)
{
	struct verdict v;
	int round = 0;

	for (; round < ROUNDS && !state_ended(s->l.state); round++) {
		lease_verdict(&s->l, &m->j, m->now, &v);
		if (v.want_cpu) {
			if (lease_saw_cpu(&s->l, &m->j, m->now, cpu(m, s)))
				take(m, s, EV_USE, m->now, NULL);
		} else if (v.warn) {
			s->l.warned = true;
		} else if (v.event == EV_NONE) {
			break;
		} else {
			take(m, s, v.event, m->now, v.why);
		}
	}
	HOLDS(round < ROUNDS); /* I7 */
	s->due = LEASE_NEVER;
	if (state_ended(s->l.state))
		return;
	HOLDS(v.look_at > m->now);
	if (v.look_at == LEASE_NEVER) /* nobody waits for ever, but by what a life holds */
		HOLDS(s->l.state == ST_REQUESTED || (s->leader && s->l.policy.max_lifetime == LEASE_NEVER));
	s->due = v.look_at;
	within_its_bound(m, s);
}

static void look(struct sim *m, struct subject *s)
{
	m->looks++;
	look_at_lock(m, s);
	judge(m, s);
}

static void leader_died(struct sim *m, struct subject *s)
{
	s->l.leader_alive = false;
	s->l.renewed = s->l.used = m->now;
	s->held_until = m->now + s->l.policy.ttl;
	take(m, s, s->l.record.run || s->l.policy.linger == 0 ? EV_LEADER_DIED : EV_SESSION_ORPHANED, m->now, NULL);
}

static void answer(struct sim *m, struct subject *s)
{
	enum event e = s->answers[0].e;

	if (s->answers[0].act == s->act)
		s->l.act_deadline = 0;
	memmove(&s->answers[0], &s->answers[1], sizeof(s->answers[0]) * (size_t)--s->n_answers);
	if (!state_ended(s->l.state))
		take(m, s, e, m->now, NULL);
}

/* --- the holders --- */

static void begin(struct sim *m, struct subject *s)
{
	static const enum lease_usage usages[] = { LEASE_USAGE_EXPLICIT, LEASE_USAGE_HYBRID, LEASE_USAGE_OBSERVED };
	int64_t ttl = chance(m, 20) ? between(m, S, M) : between(m, M, 2 * H);

	memset(s, 0, sizeof(*s));
	s->l = (struct lease){ .state = ST_REQUESTED, .created = m->now, .since = m->now, .renewed = m->now, .used = m->now,
			       .looked = m->now, .skew = m->skew };
	lease_record_init(&s->l.record);
	s->l.policy = (struct policy){
		.ttl = ttl,
		.renew_grace = chance(m, 10) ? between(m, S, 20 * S) : between(m, 20 * S, 5 * M),
		.hibernate_after = chance(m, 20) ? LEASE_NEVER : between(m, S, 2 * H),
		.warn_before = ttl / between(m, 2, 10),
		.linger = chance(m, 50) ? 0 : between(m, S, 2 * ttl),
		.max_lifetime = chance(m, 10) ? LEASE_NEVER : between(m, H, 7 * D),
		.hibernated_retention = between(m, M, 2 * D),
		.cpu_floor_ppm = 10000,
		.usage = usages[between(m, 0, 2)],
	};
	s->lock = s->l.mtime = wall(m);
	s->there = true;
	s->touched = s->used = s->cpu_at = m->now;
	s->rhythm = between(m, ttl / 4, ttl + ttl / 4);
	s->leader = s->l.leader_alive = chance(m, 30);
	s->l.record.run = s->leader && chance(m, 50);
	s->moves = m->now + between(m, 0, s->rhythm);
	take(m, s, EV_ADMIT, m->now, NULL);
}

static void touch(struct sim *m, struct subject *s)
{
	static const int64_t odd[] = { -3 * D, -70 * 365 * D, 1, H, 70 * 365 * D };

	s->touched = m->now;
	s->odd = chance(m, 3);
	/* UTIME_NOW is the last timer tick's. */
	s->lock = wall(m) + (s->odd ? odd[between(m, 0, N_OF(odd) - 1)] : -between(m, 0, 4 * MS));
	if (renewable(s) && s->there && !s->released)
		s->held_until = m->now + s->l.policy.ttl;
	/* Where a beat matters now, the lock's own watch tells. */
	if (s->l.state != ST_ACTIVE || s->l.warned)
		s->due = m->now;
}

static void asks_and_choices(struct sim *m, struct subject *s)
{
	static const enum event events[] = { EV_ASK_HIBERNATE, EV_ASK_HIBERNATE, EV_ASK_RESUME, EV_PRESSURE, EV_PRESSURE,
					     EV_EVICT, EV_BREAKER, EV_USE, EV_RENEWED, EV_TAKEN_OVER, EV_SESSION_CLOSED };

	look_at_lock(m, s); /* what was beaten before counts before */
	if (!state_ended(s->l.state))
		take(m, s, events[between(m, 0, N_OF(events) - 1)], m->now, NULL);
}

/* What a holder does next; the daemon may be there to see it or not. */
static void move(struct sim *m, struct subject *s)
{
	bool up = m->down_until == 0;
	int64_t what = between(m, 1, 1000);

	s->moves = s->rhythm ? m->now + between(m, s->rhythm / 2, s->rhythm) : m->now + 6 * H;
	if (state_ended(s->l.state)) {
		if (up)
			begin(m, s);
		return;
	}
	if (what <= 900) {
		if (s->rhythm && s->there)
			touch(m, s);
	} else if (what <= 915) {
		s->rhythm = 0; /* forgotten */
	} else if (what <= 920) {
		s->released = s->there && state_living(s->l.state);
		s->due = m->now;
	} else if (what <= 925) {
		s->there = !state_living(s->l.state) ? s->there : !s->there;
		if (!s->there) /* what was beaten just before is not to be known any more */
			s->held_until = s->l.mtime == s->lock ? s->held_until : 0;
		s->odd = true; /* what it was while it was away is not to be known */
		s->due = m->now;
	} else if (what <= 930 && s->leader) {
		s->leader = false;
		if (up)
			leader_died(m, s);
	} else if (what <= 950) {
		(void)cpu(m, s);
		s->busy_since = s->busy_since ? 0 : m->now;
	} else if (what <= 955 && state_living(s->l.state) && up) {
		s->l.execs = s->l.execs ? 0 : 1;
		s->due = m->now;
	} else if (what <= 957 && up) {
		take(m, s, EV_STOPPED, m->now, NULL);
	} else if (up) {
		asks_and_choices(m, s);
	}
}

/* --- the host and the daemon's own life --- */

static void come_back(struct sim *m)
{
	bool killed = m->killed;

	m->down_until = 0;
	m->killed = false;
	if (!killed && m->now - m->checkpoint > 45 * S)
		m->j.grace_until = m->now + 90 * S;
	for (struct subject *s = m->s; killed && s < m->s + SIM_LEASES; s++) {
		struct lease *l = &s->l;
		if (state_ended(l->state))
			continue;
		s->n_answers = 0;
		l->act_deadline = l->retry_at = l->cpu_at = l->cpu_from = l->cpu_base = l->cpu_quiet_at = 0;
		l->cpu_broken = false;
		l->execs = 0;
		l->looked = l->skew = 0;
	}
	int64_t checkpoint = m->checkpoint;
	for (struct subject *s = m->s; s < m->s + SIM_LEASES; s++) {
		if (killed && !state_ended(s->l.state)) {
			lease_credit_restart(&s->l, checkpoint, m->now);
			s->used = s->l.used;
			take(m, s, EV_RESTART, m->now, NULL);
		}
		if (s->l.leader_alive && !s->leader && !state_ended(s->l.state))
			leader_died(m, s);
	}
}

static void mishap(struct sim *m)
{
	int64_t what = between(m, 1, 100);

	m->next_mishap = m->now + between(m, M, H);
	if (m->down_until)
		return;
	if (what <= 40) {
		m->killed = what <= 25;
		m->down_until = m->now + (chance(m, 80) ? between(m, MS, 20 * S) : between(m, S, H));
		m->restarts += m->killed;
	} else if (what <= 60) { /* asleep: the monotonic clock stands */
		m->skew += between(m, S, 12 * H);
		m->j.grace_until = m->now + 90 * S;
		m->stamps_sure_from = m->even = m->now;
		m->sleeps++;
	} else if (what <= 80) {
		int64_t step = chance(m, 80) ? between(m, -M, M) : between(m, -400 * D, 400 * D);
		m->skew += step;
		m->stamps_sure_from = m->even = m->set = m->now;
	} else if (what <= 85) {
		m->j.hold_until = m->now + between(m, S, 6 * H);
	}
}

/* --- time --- */

static void set_next(struct sim *m, struct subject *s)
{
	int64_t at = s->moves;
	size_t i = (size_t)(s - m->s) + SIM_LEASES;

	if (m->down_until == 0 && s->due < at)
		at = s->due;
	if (m->down_until == 0 && s->n_answers > 0 && s->answers[0].at < at)
		at = s->answers[0].at;
	m->next[i] = at;
	for (i /= 2; i > 0; i /= 2)
		m->next[i] = m->next[2 * i] < m->next[2 * i + 1] ? m->next[2 * i] : m->next[2 * i + 1];
}

static void set_all(struct sim *m)
{
	for (struct subject *s = m->s; s < m->s + SIM_LEASES; s++)
		set_next(m, s);
}

static void turn_of(struct sim *m, struct subject *s)
{
	if (m->down_until == 0 && s->n_answers > 0 && s->answers[0].at <= m->now)
		answer(m, s);
	else if (s->moves <= m->now)
		move(m, s);
	else if (m->down_until == 0 && s->due <= m->now)
		look(m, s);
	set_next(m, s);
}

static int64_t earliest(const struct sim *m)
{
	int64_t at = m->next[1] < m->next_mishap ? m->next[1] : m->next_mishap;

	return m->down_until && m->down_until < at ? m->down_until : at;
}

void sim_run(struct sim *m, uint64_t seed, int64_t duration)
{
	memset(m, 0, sizeof(*m));
	m->seed = seed;
	m->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	m->now = m->checkpoint = DESK_T0;
	m->skew = DESK_WALL0;
	m->j.observe_every = 30 * S;
	m->next_mishap = m->now + H;
	for (struct subject *s = m->s; s < m->s + SIM_LEASES; s++)
		begin(m, s);
	set_all(m);
	while (m->now < DESK_T0 + duration) {
		int64_t at = earliest(m);
		if (at > m->now)
			m->now = at;
		if (m->down_until == 0 && m->now - m->checkpoint > 60 * S)
			m->checkpoint = m->now;
		if (m->next_mishap <= m->now || (m->down_until && m->down_until <= m->now)) {
			if (m->down_until && m->down_until <= m->now)
				come_back(m);
			else
				mishap(m);
			set_all(m);
			continue;
		}
		size_t i = 1;
		while (i < SIM_LEASES)
			i = m->next[2 * i] <= m->next[2 * i + 1] ? 2 * i : 2 * i + 1;
		turn_of(m, &m->s[i - SIM_LEASES]);
	}
}
