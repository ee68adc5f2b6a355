/*
 * Nothing waits for ever: whatever state a lease is in, with nobody beating it and no runtime answering, something ends
 * it at a time that can be told. A request's is queue_timeout (leasewatch/admit.c; tests/session/t0210-every-state.sh).
 */
#include "config.h"

#include "desk.h"

#define ACT_TIME (70 * S) /* desk.c */

static void put(struct desk *d, enum state s)
{
	desk_set_up(d);
	d->l.state = s;
	d->l.since = d->now;
	d->l.policy.linger = 5 * M;
	if (s == ST_STARTING || s == ST_HIBERNATING || s == ST_RESUMING || s == ST_REAPING)
		d->l.act_deadline = d->now + ACT_TIME;
	if (s == ST_EXPIRED || s == ST_ROLLBACK)
		d->l.retry_at = d->now;
}

/* Lets time pass until its end is committed. False: nothing would ever come, or not within so long. */
static bool ends_within(struct desk *d, int64_t by)
{
	int64_t until = d->now + by;

	for (;;) {
		int64_t next = desk_look(d);
		if (!state_living(d->l.state))
			return true;
		if (next == LEASE_NEVER || next > until)
			return false;
		desk_sleep(d, next - d->now);
	}
}

static void every_living_state_ends_within_its_ttl_though_no_runtime_answers(void **state)
{
	(void)state;
	for (enum state s = ST_STARTING; s <= ST_LINGERING; s++) {
		struct desk d;
		put(&d, s);
		if (!ends_within(&d, s == ST_STARTING ? ACT_TIME : d.l.policy.ttl + LEASE_TICK))
			fail_msg("%s does not end", state_name(s));
	}
}

static void a_start_that_beats_and_never_answers_ends_as_well(void **state)
{
	struct desk d;

	(void)state;
	put(&d, ST_STARTING);
	for (int i = 0; i < 7 && d.l.state == ST_STARTING; i++) {
		desk_beat(&d);
		desk_run(&d, d.now + 10 * S);
	}
	assert_int_equal(d.l.state, ST_ROLLBACK);
}

static void the_ttl_ends_what_every_limit_is_never_for(void **state)
{
	(void)state;
	for (enum state s = ST_ACTIVE; s <= ST_LINGERING; s++) {
		struct desk d;
		put(&d, s);
		d.l.policy.hibernate_after = d.l.policy.max_lifetime = d.l.policy.hibernated_retention = LEASE_NEVER;
		d.l.policy.linger = LEASE_NEVER;
		if (!ends_within(&d, d.l.policy.ttl + LEASE_TICK))
			fail_msg("%s does not end", state_name(s));
		assert_int_equal(d.n[EV_EXPIRY_DUE], 1);
	}
}

static void max_lifetime_ends_what_a_life_renews(void **state)
{
	(void)state;
	for (enum state s = ST_ACTIVE; s <= ST_LINGERING; s++) {
		struct desk d;
		put(&d, s);
		d.l.leader_alive = true;
		d.l.policy.linger = d.l.policy.hibernated_retention = LEASE_NEVER;
		if (!ends_within(&d, d.l.policy.max_lifetime))
			fail_msg("%s does not end", state_name(s));
		assert_int_equal(d.n[EV_LIFETIME_DUE], 1);
	}
}

/* What has no limit at all is the administrator's wish: then only an event ends it, and each of them does. */
static void what_has_no_limit_ends_by_its_release_and_by_every_proven_death(void **state)
{
	const enum event ends[] = { EV_RELEASED, EV_LEADER_DIED, EV_STOPPED, EV_BOOT };

	(void)state;
	for (enum state s = ST_STARTING; s <= ST_LINGERING; s++) {
		for (size_t i = 0; i < N_OF(ends); i++) {
			const struct cell *c = &state_table[s][ends[i]];
			if (c->next != ST_EXPIRED && c->next != ST_ROLLBACK)
				fail_msg("%s, %s: stays %s", state_name(s), event_name(ends[i]), state_name(c->next));
			assert_true(c->actions & AC_TAKE);
		}
	}
}

/* With a runtime that never answers: destroys are asked for again and again, and never later than this after the last one. */
static void a_committed_end_is_tried_again_at_least_every_five_minutes_for_ever(void **state)
{
	const enum state over[] = { ST_EXPIRED, ST_REAPING, ST_ROLLBACK };

	(void)state;
	for (size_t i = 0; i < N_OF(over); i++) {
		struct desk d;
		int64_t last;
		put(&d, over[i]);
		last = d.now;
		while (d.now < DESK_T0 + 7 * D) {
			int tried = d.n[EV_RETRY_DUE];
			int64_t next = desk_look(&d);
			if (d.n[EV_RETRY_DUE] > tried)
				last = d.now;
			if (next == LEASE_NEVER || next - last > ACT_TIME + LEASE_BACKOFF_MAX)
				fail_msg("%s: no destroy after %lld s", state_name(over[i]), (long long)((d.now - last) / S));
			desk_sleep(&d, next - d.now);
		}
		assert_true(d.n[EV_RETRY_DUE] > 7 * D / (ACT_TIME + LEASE_BACKOFF_MAX) - 1);
		assert_int_equal(d.ends, 0); /* nobody has said that it is absent */
		desk_take(&d, EV_DESTROYED);
		assert_int_equal(d.l.state, ST_REAPED);
		assert_int_equal(d.ends, 1);
	}
}

static void an_act_whose_answer_is_lost_is_given_up_at_its_deadline(void **state)
{
	const enum state acts[] = { ST_STARTING, ST_HIBERNATING, ST_RESUMING, ST_REAPING };

	(void)state;
	for (size_t i = 0; i < N_OF(acts); i++) {
		struct desk d;
		put(&d, acts[i]);
		comes_exactly_at(&d, EV_DEADLINE, DESK_T0 + ACT_TIME);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_living_state_ends_within_its_ttl_though_no_runtime_answers),
		cmocka_unit_test(a_start_that_beats_and_never_answers_ends_as_well),
		cmocka_unit_test(the_ttl_ends_what_every_limit_is_never_for),
		cmocka_unit_test(max_lifetime_ends_what_a_life_renews),
		cmocka_unit_test(what_has_no_limit_ends_by_its_release_and_by_every_proven_death),
		cmocka_unit_test(a_committed_end_is_tried_again_at_least_every_five_minutes_for_ever),
		cmocka_unit_test(an_act_whose_answer_is_lost_is_given_up_at_its_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
