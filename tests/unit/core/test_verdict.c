/* lease_verdict: when a lease goes idle, hibernates and ends, to the nanosecond. `now` is a number: nothing waits. */
#include "config.h"

#include <string.h>

#include "desk.h"

static void idle_comes_at_renew_grace_and_not_before(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	comes_exactly_at(&d, EV_IDLE_DUE, DESK_T0 + 90 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	assert_string_equal(d.l.why, "no use for 90s");
}

static void a_beat_puts_idle_off_from_its_own_instant(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 20 * S);
	desk_beat(&d);
	/* Nobody was told: the look at the old deadline finds it. */
	comes_exactly_at(&d, EV_IDLE_DUE, DESK_T0 + 110 * S);
}

static void idle_ends_by_a_beat_at_once(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 100 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	desk_beat(&d);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_ACTIVE);
	assert_int_equal(d.l.renewed, d.now);
}

static void hibernation_comes_hibernate_after_idle(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.ttl = D;
	comes_exactly_at(&d, EV_HIBERNATE_DUE, DESK_T0 + 90 * S + 30 * M);
	assert_int_equal(d.l.state, ST_HIBERNATING);
	assert_int_equal(d.acts, AC_HIBERNATE);
	assert_string_equal(d.l.why, "idle for hibernate_after 30m");
}

static void a_hibernate_after_of_never_leaves_it_idle(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.ttl = 5 * D;
	d.l.policy.hibernate_after = LEASE_NEVER;
	desk_run(&d, DESK_T0 + 4 * D);
	assert_int_equal(d.l.state, ST_IDLE);
	assert_int_equal(d.acts, 0);
}

static void expiry_comes_at_the_last_beat_plus_ttl_plus_a_tick(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 40 * S);
	desk_beat(&d);
	assert_int_equal(lease_expires(&d.l), DESK_T0 + 5 * M + LEASE_TICK);
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 40 * S + 5 * M + LEASE_TICK);
	assert_int_equal(d.l.state, ST_REAPING);
	assert_string_equal(d.l.why, "no renewal for 5m (ttl 5m)");
}

/* A20: the look comes before the verdict, so what was beaten since is never judged by an old value. */
static void a_beat_in_the_last_nanosecond_keeps_it(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 90 * S);
	desk_sleep(&d, 5 * M + LEASE_TICK - 90 * S);
	desk_beat(&d);
	desk_run(&d, d.now + 1);
	assert_int_equal(d.l.state, ST_ACTIVE);
	assert_int_equal(lease_expires(&d.l), d.now - 1 + 5 * M + LEASE_TICK);
}

/* C13: the ttl runs on while it is hibernated; only renewal keeps it. */
static void the_ttl_runs_on_while_it_sleeps(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_take(&d, EV_ASK_HIBERNATE);
	desk_take(&d, EV_HIBERNATED);
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 5 * M + LEASE_TICK);
}

static void a_live_leader_keeps_it_from_expiry_but_not_from_idle(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.leader_alive = true;
	assert_int_equal(lease_expires(&d.l), LEASE_NEVER);
	assert_string_equal(lease_renewed_by(&d.l), "leader alive");
	desk_run(&d, DESK_T0 + 100 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	desk_run(&d, DESK_T0 + 6 * H);
	assert_int_equal(d.n[EV_EXPIRY_DUE], 0);
	assert_int_equal(d.warnings, 0);
}

/* Rule 10. */
static void the_commands_life_is_use_and_renewal(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.leader_alive = d.l.record.run = true;
	assert_string_equal(lease_renewed_by(&d.l), "command alive");
	desk_run(&d, DESK_T0 + 6 * D);
	assert_int_equal(d.l.state, ST_ACTIVE);
	assert_int_equal(d.n[EV_IDLE_DUE], 0);
	assert_int_equal(d.readings, 0);
}

static void an_exec_is_use_and_no_renewal(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.execs = 1;
	desk_run(&d, DESK_T0 + 5 * M);
	assert_int_equal(d.l.state, ST_ACTIVE);
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 5 * M + LEASE_TICK);
}

/* Rule 4: the leader's death is no silence, it ends or lingers at once. */
static void a_leaders_death_ends_it_at_once(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.leader_alive = true;
	desk_run(&d, DESK_T0 + 10 * M);
	d.l.leader_alive = false;
	desk_take(&d, EV_LEADER_DIED);
	assert_int_equal(d.l.state, ST_EXPIRED);
	assert_int_equal(d.l.work_ended, d.now);
	(void)desk_look(&d);
	assert_int_equal(d.l.state, ST_REAPING);
	assert_int_equal(d.acts, AC_DESTROY);
}

/* Rule 8: from the very field that reaps, once. */
static void the_warning_comes_once_and_again_after_a_renewal(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 4 * M + LEASE_TICK - 1);
	assert_int_equal(d.warnings, 0);
	desk_run(&d, DESK_T0 + 4 * M + LEASE_TICK);
	assert_int_equal(d.warnings, 1);
	desk_run(&d, d.now + 30 * S);
	assert_int_equal(d.warnings, 1);
	desk_beat(&d);
	(void)desk_look(&d);
	assert_false(d.l.warned);
	desk_run(&d, d.now + 4 * M + LEASE_TICK - 1);
	assert_int_equal(d.warnings, 1);
	desk_run(&d, d.now + 1);
	assert_int_equal(d.warnings, 2);
}

static void a_warn_before_of_zero_warns_nobody(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.warn_before = 0;
	desk_run(&d, DESK_T0 + 5 * M);
	assert_int_equal(d.warnings, 0);
}

/* A18: what starts is not idle, and its start has a deadline of its own. */
static void what_starts_is_judged_by_its_deadline_alone(void **state)
{
	struct desk d;

	(void)state;
	desk_request(&d);
	d.l.policy.ttl = d.l.policy.max_lifetime = S;
	desk_take(&d, EV_ADMIT);
	comes_exactly_at(&d, EV_DEADLINE, DESK_T0 + 70 * S);
	assert_int_equal(d.l.state, ST_ROLLBACK);
	assert_int_equal(d.n[EV_EXPIRY_DUE] + d.n[EV_LIFETIME_DUE] + d.n[EV_IDLE_DUE], 0);
}

static void a_request_is_not_judged_here(void **state)
{
	struct desk d;

	(void)state;
	desk_request(&d);
	assert_int_equal(desk_look(&d), LEASE_NEVER);
	desk_take(&d, EV_DENY);
	assert_int_equal(desk_look(&d), LEASE_NEVER);
	assert_int_equal(d.ends, 1);
}

/* C08: nothing but `now` is a clock. */
static void the_wall_clock_ends_nothing_and_keeps_nothing(void **state)
{
	static const int64_t steps[] = { -10 * 365 * D, -H, 10 * 365 * D };

	for (size_t i = 0; i < N_OF(steps); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		d.skew += steps[i];
		comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 5 * M + LEASE_TICK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_comes_at_renew_grace_and_not_before),
		cmocka_unit_test(a_beat_puts_idle_off_from_its_own_instant),
		cmocka_unit_test(idle_ends_by_a_beat_at_once),
		cmocka_unit_test(hibernation_comes_hibernate_after_idle),
		cmocka_unit_test(a_hibernate_after_of_never_leaves_it_idle),
		cmocka_unit_test(expiry_comes_at_the_last_beat_plus_ttl_plus_a_tick),
		cmocka_unit_test(a_beat_in_the_last_nanosecond_keeps_it),
		cmocka_unit_test(the_ttl_runs_on_while_it_sleeps),
		cmocka_unit_test(a_live_leader_keeps_it_from_expiry_but_not_from_idle),
		cmocka_unit_test(the_commands_life_is_use_and_renewal),
		cmocka_unit_test(an_exec_is_use_and_no_renewal),
		cmocka_unit_test(a_leaders_death_ends_it_at_once),
		cmocka_unit_test(the_warning_comes_once_and_again_after_a_renewal),
		cmocka_unit_test(a_warn_before_of_zero_warns_nobody),
		cmocka_unit_test(what_starts_is_judged_by_its_deadline_alone),
		cmocka_unit_test(a_request_is_not_judged_here),
		cmocka_unit_test(the_wall_clock_ends_nothing_and_keeps_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
