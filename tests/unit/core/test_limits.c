/* lease_verdict: limits that end a lease whatever it does, and what puts an end off: a grace, a hold. */
#include "config.h"

#include "desk.h"

/* B25: whatever beats. */
static void max_lifetime_ends_it_regardless_of_beats_and_lives(void **state)
{
	for (int alive = 0; alive < 2; alive++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		d.l.policy.max_lifetime = H;
		d.l.leader_alive = alive;
		while (d.now < DESK_T0 + H - 30 * S) {
			desk_beat(&d);
			desk_run(&d, d.now + 30 * S);
		}
		desk_beat(&d);
		comes_exactly_at(&d, EV_LIFETIME_DUE, DESK_T0 + H);
		assert_int_equal(d.l.state, ST_REAPING);
		assert_string_equal(d.l.why, "older than max_lifetime 1h");
	}
}

static void retention_ends_what_sleeps_for_long_though_it_is_renewed(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.leader_alive = true;
	d.l.policy.hibernated_retention = D;
	desk_run(&d, DESK_T0 + 10 * S);
	desk_take(&d, EV_ASK_HIBERNATE);
	desk_take(&d, EV_HIBERNATED);
	comes_exactly_at(&d, EV_RETENTION_DUE, DESK_T0 + 10 * S + D);
	assert_int_equal(d.l.state, ST_REAPING);
}

static void linger_counts_from_the_sessions_end(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.linger = 3 * M;
	desk_run(&d, DESK_T0 + 20 * S);
	desk_take(&d, EV_SESSION_CLOSED);
	desk_run(&d, d.now + M);
	desk_beat(&d); /* and its own beats do not outlast the session */
	comes_exactly_at(&d, EV_LINGER_DUE, DESK_T0 + 20 * S + 3 * M);
	assert_string_equal(d.l.why, "lingered 3m");
}

static void linger_or_ttl_whichever_is_first(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.linger = H;
	desk_take(&d, EV_SESSION_ORPHANED);
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 5 * M + LEASE_TICK);
}

static void what_is_taken_over_within_linger_lives_on(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.linger = 3 * M;
	desk_take(&d, EV_SESSION_CLOSED);
	desk_run(&d, d.now + 2 * M);
	desk_take(&d, EV_TAKEN_OVER);
	desk_take(&d, EV_RESUMED);
	desk_run(&d, d.now + M);
	assert_int_equal(d.l.state, ST_ACTIVE);
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 2 * M + 5 * M + LEASE_TICK);
}

/* Section 4: a suspend puts off expiry by silence, not the limits that count a life. */
static void a_grace_puts_off_silence(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.j.grace_until = DESK_T0 + 7 * M;
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 7 * M);
}

static void a_grace_that_is_over_changes_nothing(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.j.grace_until = DESK_T0 + 4 * M;
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 5 * M + LEASE_TICK);
}

static void a_grace_puts_off_no_limit(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.max_lifetime = 3 * M;
	d.j.grace_until = DESK_T0 + 7 * M;
	comes_exactly_at(&d, EV_LIFETIME_DUE, DESK_T0 + 3 * M);

	desk_set_up(&d);
	d.l.policy.linger = 2 * M;
	d.j.grace_until = DESK_T0 + 7 * M;
	desk_take(&d, EV_SESSION_CLOSED);
	comes_exactly_at(&d, EV_LINGER_DUE, DESK_T0 + 2 * M);
}

static void a_hold_puts_off_every_end_and_every_destroy(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.j.hold_until = DESK_T0 + 8 * D;
	comes_exactly_at(&d, EV_LIFETIME_DUE, DESK_T0 + 8 * D); /* the strongest of what is due then */

	desk_set_up(&d);
	d.j.hold_until = DESK_T0 + H;
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + H);

	desk_set_up(&d);
	d.l.policy.linger = M;
	d.j.hold_until = DESK_T0 + H;
	desk_take(&d, EV_SESSION_CLOSED);
	desk_run(&d, DESK_T0 + H - 1);
	assert_int_equal(d.l.state, ST_LINGERING);

	/* A release ends it now; what it held is destroyed when the hold is over. */
	desk_set_up(&d);
	d.j.hold_until = DESK_T0 + H;
	desk_take(&d, EV_RELEASED);
	assert_int_equal(d.l.state, ST_EXPIRED);
	comes_exactly_at(&d, EV_RETRY_DUE, DESK_T0 + H);
	assert_int_equal(d.acts, AC_DESTROY);

	/* The parts of a failed start too. */
	desk_request(&d);
	d.j.hold_until = DESK_T0 + H;
	desk_take(&d, EV_ADMIT);
	desk_take(&d, EV_START_FAILED);
	comes_exactly_at(&d, EV_RETRY_DUE, DESK_T0 + H);
}

static void a_hold_survives_the_daemon(void **state)
{
	static const enum event ends[] = { EV_RELEASED, EV_START_FAILED };

	for (size_t i = 0; i < N_OF(ends); i++) {
		struct desk d;

		(void)state;
		desk_request(&d);
		desk_take(&d, EV_ADMIT);
		desk_take(&d, ends[i]);
		(void)desk_look(&d);
		assert_true(d.acts & AC_DESTROY);
		d.j.hold_until = DESK_T0 + H;
		d.acts = d.n[EV_RETRY_DUE] = 0;
		desk_restart(&d, S, S);
		assert_int_equal(d.acts, 0);
		comes_exactly_at(&d, EV_RETRY_DUE, DESK_T0 + H);
		assert_int_equal(d.acts, AC_DESTROY);
	}
}

static void a_hold_stops_neither_idle_nor_hibernation_nor_waking(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.j.hold_until = DESK_T0 + D;
	desk_run(&d, DESK_T0 + 90 * S + 30 * M);
	assert_int_equal(d.l.state, ST_HIBERNATING);
	desk_take(&d, EV_HIBERNATED);
	desk_beat(&d);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_RESUMING);
}

/* What lies before the boot is below zero on this boot's clock. */
static void marks_of_before_the_boot_come_due(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.max_lifetime = D;
	d.l.created = DESK_T0 - 2 * D;
	(void)desk_look(&d);
	assert_int_equal(d.n[EV_LIFETIME_DUE], 1);

	desk_set_up(&d);
	d.l.policy.ttl = D;
	d.l.renewed = DESK_T0 - D + M;
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + M + LEASE_TICK);
}

/* D12: limits are read anew at each verdict, so that a reload counts; giving a fresh period is the caller's. */
static void a_new_policy_counts_from_the_next_verdict(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 30 * S);
	d.l.policy.ttl = M;
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + M + LEASE_TICK);
}

static void every_limit_may_be_never(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.ttl = d.l.policy.max_lifetime = d.l.policy.hibernate_after = LEASE_NEVER;
	d.l.policy.hibernated_retention = d.l.policy.linger = LEASE_NEVER;
	desk_run(&d, DESK_T0 + 90 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	assert_int_equal(desk_look(&d), LEASE_NEVER);
	desk_take(&d, EV_ASK_HIBERNATE);
	desk_take(&d, EV_HIBERNATED);
	assert_int_equal(desk_look(&d), LEASE_NEVER);
	desk_take(&d, EV_SESSION_CLOSED);
	assert_int_equal(desk_look(&d), LEASE_NEVER);
	assert_int_equal(d.warnings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(max_lifetime_ends_it_regardless_of_beats_and_lives),
		cmocka_unit_test(retention_ends_what_sleeps_for_long_though_it_is_renewed),
		cmocka_unit_test(linger_counts_from_the_sessions_end),
		cmocka_unit_test(linger_or_ttl_whichever_is_first),
		cmocka_unit_test(what_is_taken_over_within_linger_lives_on),
		cmocka_unit_test(a_grace_puts_off_silence),
		cmocka_unit_test(a_grace_that_is_over_changes_nothing),
		cmocka_unit_test(a_grace_puts_off_no_limit),
		cmocka_unit_test(a_hold_puts_off_every_end_and_every_destroy),
		cmocka_unit_test(a_hold_survives_the_daemon),
		cmocka_unit_test(a_hold_stops_neither_idle_nor_hibernation_nor_waking),
		cmocka_unit_test(marks_of_before_the_boot_come_due),
		cmocka_unit_test(a_new_policy_counts_from_the_next_verdict),
		cmocka_unit_test(every_limit_may_be_never),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
