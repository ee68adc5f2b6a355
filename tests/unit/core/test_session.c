/* Leases that are sessions, and leases that are bound to one. */
#include "config.h"

#include "desk.h"

static void session(struct desk *d)
{
	desk_set_up(d);
	d->l.record.is_session = true;
	d->l.policy.usage = LEASE_USAGE_HYBRID;
}

/* It has no workload: never hibernated, killed or moved. */
static void a_session_is_never_hibernated_and_its_cpu_never_read(void **state)
{
	struct desk d;

	(void)state;
	session(&d);
	d.l.leader_alive = true;
	desk_run(&d, DESK_T0 + 90 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	desk_run(&d, DESK_T0 + 3 * D);
	assert_int_equal(d.l.state, ST_IDLE);
	assert_int_equal(d.readings, 0);
	assert_int_equal(d.acts, 0);
}

static void a_session_is_as_long_as_it_is(void **state)
{
	struct desk d;

	(void)state;
	session(&d);
	d.l.leader_alive = true;
	desk_run(&d, DESK_T0 + 30 * D);
	assert_int_equal(d.l.state, ST_IDLE);
	d.l.leader_alive = false;
	desk_take(&d, EV_LEADER_DIED);
	assert_int_equal(d.l.state, ST_EXPIRED);
}

static void a_session_without_a_leader_ends_by_silence(void **state)
{
	struct desk d;

	(void)state;
	session(&d);
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 5 * M + LEASE_TICK);
}

static void a_sessions_life_renews_what_is_bound_and_is_no_use_of_it(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.session_alive = true;
	assert_int_equal(lease_expires(&d.l), LEASE_NEVER);
	assert_string_equal(lease_renewed_by(&d.l), "session alive");
	comes_exactly_at(&d, EV_IDLE_DUE, DESK_T0 + 90 * S);
	desk_run(&d, DESK_T0 + 90 * S + 30 * M);
	assert_int_equal(d.l.state, ST_HIBERNATING);
	desk_take(&d, EV_HIBERNATED);
	desk_run(&d, DESK_T0 + 6 * D);
	assert_int_equal(d.l.state, ST_HIBERNATED);
	assert_int_equal(d.warnings, 0);
}

static void what_is_bound_is_bounded_by_its_lifetime_and_no_zombie_until_then(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.session_alive = true;
	d.l.policy.max_lifetime = D;
	d.l.policy.hibernate_after = LEASE_NEVER;
	comes_exactly_at(&d, EV_LIFETIME_DUE, DESK_T0 + D);
	assert_int_equal(d.l.work_ended, DESK_T0 + D);
}

/* Section 17: a bound lease outlives its session's end only by linger. */
static void while_it_lingers_no_sessions_life_keeps_it(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.session_alive = true;
	d.l.policy.linger = H;
	desk_take(&d, EV_SESSION_CLOSED);
	assert_int_equal(lease_expires(&d.l), DESK_T0 + 5 * M + LEASE_TICK);
	assert_string_equal(lease_renewed_by(&d.l), "admission");
	comes_exactly_at(&d, EV_EXPIRY_DUE, DESK_T0 + 5 * M + LEASE_TICK);
	assert_int_equal(d.l.work_ended, DESK_T0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_is_never_hibernated_and_its_cpu_never_read),
		cmocka_unit_test(a_session_is_as_long_as_it_is),
		cmocka_unit_test(a_session_without_a_leader_ends_by_silence),
		cmocka_unit_test(a_sessions_life_renews_what_is_bound_and_is_no_use_of_it),
		cmocka_unit_test(what_is_bound_is_bounded_by_its_lifetime_and_no_zombie_until_then),
		cmocka_unit_test(while_it_lingers_no_sessions_life_keeps_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
