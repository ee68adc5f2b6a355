#include "config.h"

#include "desk.h"

#include <string.h>

/* No verdict of one look may go on for longer: the watcher's own bound is 16. */
#define ROUNDS 16
/* What an act may take before the watcher gives it up. */
#define ACT_TIME (70 * S)

void desk_request(struct desk *d)
{
	*d = (struct desk){ .now = DESK_T0, .skew = DESK_WALL0 - DESK_T0 };
	struct lease *l = &d->l;

	memcpy(l->id, "kls-abcdefghij", LEASE_ID_SIZE);
	lease_record_init(&l->record);
	l->uid = 1000;
	l->policy = (struct policy){ .ttl = 5 * M, .renew_grace = 90 * S, .hibernate_after = 30 * M, .warn_before = 60 * S,
				     .max_ttl = 7 * D, .max_lifetime = 7 * D, .hibernated_retention = 7 * D,
				     .cpu_floor_ppm = 10000, .priority = 5, .max_priority = 7, .usage = LEASE_USAGE_EXPLICIT,
				     .runtime = "process" };
	l->state = ST_REQUESTED;
	d->lock = l->mtime = desk_wall(d);
	l->skew = d->skew;
	l->created = l->since = l->renewed = l->used = l->looked = d->now;
	l->created_wall = l->since_wall = desk_wall(d);
	d->j.observe_every = 30 * S;
}

void desk_set_up(struct desk *d)
{
	desk_request(d);
	desk_take(d, EV_ADMIT);
	desk_take(d, EV_STARTED);
	d->acts = 0;
	memset(d->n, 0, sizeof(d->n));
	assert_int_equal(d->l.state, ST_ACTIVE);
}

int64_t desk_wall(const struct desk *d)
{
	return d->now + d->skew;
}

void desk_beat(struct desk *d)
{
	d->lock = desk_wall(d);
}

static bool is_answer(enum event e)
{
	return e == EV_STARTED || e == EV_START_FAILED || (e >= EV_HIBERNATED && e <= EV_DESTROY_FAILED);
}

static void take_at(struct desk *d, enum event e, int64_t at, const char *why)
{
	const struct cell *c = &state_table[d->l.state][e];

	if (is_answer(e))
		d->l.act_deadline = 0;
	lease_apply(&d->l, e, at, d->now, desk_wall(d), why);
	if (c->actions & AC_NEVER)
		fail_msg("%s in state %s cannot happen", event_name(e), state_name(d->l.state));
	d->n[e]++;
	d->at[e] = d->now;
	uint32_t act = c->actions & (AC_CREATE | AC_HIBERNATE | AC_RESUME | AC_DESTROY);
	d->acts |= act;
	if (act)
		d->l.act_deadline = d->now + ACT_TIME;
	d->ends += (c->actions & AC_END) != 0;
}

void desk_take(struct desk *d, enum event e)
{
	take_at(d, e, d->now, NULL);
}

struct lease_clock desk_clock(const struct desk *d)
{
	return (struct lease_clock){ .now = d->now, .wall = desk_wall(d), .even = d->even, .set = d->set };
}

void desk_suspend(struct desk *d, int64_t by)
{
	d->skew += by;
	d->even = d->now;
}

void desk_set_clock(struct desk *d, int64_t by)
{
	desk_suspend(d, by);
	d->set = d->now;
}

int64_t desk_look(struct desk *d)
{
	struct verdict v;
	const struct lease_clock c = desk_clock(d);
	int64_t at = lease_looked(&d->l, d->lock, &c);

	if (at != 0)
		take_at(d, EV_BEAT, at, "a beat");
	for (int i = 0; i < ROUNDS; i++) {
		lease_verdict(&d->l, &d->j, d->now, &v);
		if (v.want_cpu) {
			d->readings++;
			if (lease_saw_cpu(&d->l, &d->j, d->now, d->cpu_unreadable ? -1 : d->cpu))
				take_at(d, EV_USE, d->now, "cpu");
		} else if (v.warn) {
			d->l.warned = true;
			d->warnings++;
		} else if (v.event != EV_NONE) {
			take_at(d, v.event, d->now, v.why);
		} else {
			if (v.look_at <= d->now)
				fail_msg("%s: nothing is due, but it wants to be asked again at once", state_name(d->l.state));
			return v.look_at;
		}
	}
	fail_msg("%s: the verdict never ends", state_name(d->l.state));
	return 0;
}

void desk_sleep(struct desk *d, int64_t by)
{
	d->now += by;
	d->cpu += by / 1000000 * d->cpu_ppm;
}

void desk_run(struct desk *d, int64_t until)
{
	while (d->now < until) {
		int64_t next = desk_look(d);
		desk_sleep(d, (next < until ? next : until) - d->now);
	}
	(void)desk_look(d);
}

void desk_restart(struct desk *d, int64_t before, int64_t away)
{
	struct lease *l = &d->l;
	int64_t checkpoint = d->now - before;

	desk_sleep(d, away);
	/* What the registry does not keep. */
	l->act_deadline = l->retry_at = l->cpu_at = l->cpu_from = l->cpu_base = l->cpu_quiet_at = 0;
	l->cpu_broken = false;
	l->execs = 0;
	l->looked = l->skew = 0;
	lease_credit_restart(l, checkpoint, d->now);
	desk_take(d, EV_RESTART);
}
