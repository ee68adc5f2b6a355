/* lease_saw_cpu: what CPU use says, and what it does not. */
#include "config.h"

#include <string.h>

#include "desk.h"

static void set_up(struct desk *d, enum lease_usage usage)
{
	desk_set_up(d);
	d->l.policy.usage = usage;
	d->l.policy.ttl = D;
	d->l.policy.hibernate_after = H;
}

static void explicit_usage_reads_no_cpu(void **state)
{
	struct desk d;

	(void)state;
	set_up(&d, LEASE_USAGE_EXPLICIT);
	d.cpu_ppm = 1000000;
	desk_run(&d, DESK_T0 + 90 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	assert_int_equal(d.readings, 0);
}

/* A09: a build with nobody at it. */
static void cpu_at_the_floor_is_use(void **state)
{
	static const enum lease_usage usages[] = { LEASE_USAGE_HYBRID, LEASE_USAGE_OBSERVED };

	for (size_t i = 0; i < N_OF(usages); i++) {
		struct desk d;

		(void)state;
		set_up(&d, usages[i]);
		d.cpu_ppm = 10100; /* what a reading's window rounds away is far less than this */
		desk_run(&d, DESK_T0 + 3 * H);
		assert_int_equal(d.l.state, ST_ACTIVE);
		assert_int_equal(d.n[EV_IDLE_DUE], 0);
	}
}

static void cpu_below_the_floor_is_none(void **state)
{
	static const int64_t ppm[] = { 0, 100, 9900 };

	for (size_t i = 0; i < N_OF(ppm); i++) {
		struct desk d;

		(void)state;
		set_up(&d, LEASE_USAGE_HYBRID);
		d.cpu_ppm = ppm[i];
		desk_run(&d, DESK_T0 + 90 * S);
		assert_int_equal(d.l.state, ST_IDLE);
		assert_int_equal(d.at[EV_IDLE_DUE], DESK_T0 + 90 * S);
		assert_string_equal(d.l.why, "no use for 90s, cpu below its floor");
		assert_true(d.readings <= 3);
		desk_run(&d, DESK_T0 + 90 * S + H);
		assert_int_equal(d.at[EV_HIBERNATE_DUE], DESK_T0 + 90 * S + H);
	}
}

/* Section 5: an active lease that beats costs nothing. */
static void beats_that_come_in_time_need_no_reading(void **state)
{
	struct desk d;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	while (d.now < DESK_T0 + H) {
		desk_beat(&d);
		desk_run(&d, d.now + 29 * S);
	}
	assert_int_equal(d.readings, 0);
	assert_int_equal(d.l.state, ST_ACTIVE);
}

/* Rule 1: a runaway loop is no holder. */
static void cpu_use_never_renews(void **state)
{
	struct desk d;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	d.l.policy.ttl = 5 * M;
	d.cpu_ppm = 4000000;
	desk_run(&d, DESK_T0 + H);
	assert_int_equal(d.at[EV_EXPIRY_DUE], DESK_T0 + 5 * M + LEASE_TICK);
}

/* Rule 2, A16: a signal that cannot be read counts as use, and is shown as broken. */
static void unreadable_cpu_counts_as_use(void **state)
{
	struct desk d;
	char signals[LEASE_WHY_SIZE];

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	d.cpu_unreadable = true;
	desk_run(&d, DESK_T0 + 3 * H);
	assert_int_equal(d.l.state, ST_ACTIVE);
	assert_int_equal(d.n[EV_IDLE_DUE], 0);
	lease_signals(&d.l, d.now, signals);
	assert_non_null(strstr(signals, "cpu cannot be read, which counts as use"));
	/* Once it can be read again it says what it said. */
	d.cpu_unreadable = false;
	desk_run(&d, d.now + 180 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	lease_signals(&d.l, d.now, signals);
	assert_null(strstr(signals, "cannot"));
}

static void cpu_that_becomes_unreadable_while_idle_wakes_it(void **state)
{
	struct desk d;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	desk_run(&d, DESK_T0 + 90 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	d.cpu_unreadable = true;
	desk_run(&d, d.now + 31 * S);
	assert_int_equal(d.l.state, ST_ACTIVE);
}

static void use_that_comes_back_while_idle_is_seen_within_two_readings(void **state)
{
	struct desk d;

	(void)state;
	set_up(&d, LEASE_USAGE_OBSERVED);
	desk_run(&d, DESK_T0 + 100 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	d.cpu_ppm = 1000000;
	desk_run(&d, d.now + 61 * S);
	assert_int_equal(d.l.state, ST_ACTIVE);
	assert_int_equal(d.l.renewed, DESK_T0);
}

/* Processes die, cgroups are made anew: the counter begins again. */
static void a_counter_that_steps_back_is_no_use(void **state)
{
	struct desk d;
	int64_t t = DESK_T0;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	assert_false(lease_saw_cpu(&d.l, &d.j, t, 500 * S));
	assert_false(lease_saw_cpu(&d.l, &d.j, t + 30 * S, 10 * S));
	assert_int_equal(d.l.used, DESK_T0);
	assert_int_equal(d.l.cpu_quiet_at, t + 30 * S);
	/* What it does from then on counts from then on. */
	assert_true(lease_saw_cpu(&d.l, &d.j, t + 60 * S, 11 * S));
}

static void a_window_shorter_than_every_is_not_judged(void **state)
{
	struct desk d;
	int64_t t = DESK_T0;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	assert_false(lease_saw_cpu(&d.l, &d.j, t, 0));
	assert_false(lease_saw_cpu(&d.l, &d.j, t + 30 * S - 1, 20 * S)); /* flat out, and no verdict yet */
	assert_int_equal(d.l.cpu_quiet_at, 0);
	assert_int_equal(d.l.used, DESK_T0);
	assert_true(lease_saw_cpu(&d.l, &d.j, t + 30 * S, 20 * S));
	assert_int_equal(d.l.used, t + 30 * S);
}

static void a_grace_shorter_than_every_has_a_window_of_its_own(void **state)
{
	struct desk d;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	d.l.policy.renew_grace = 800 * MS;
	desk_beat(&d);
	desk_run(&d, DESK_T0 + 2 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	assert_true(d.readings < 10);
}

/* The one burst of work that ended in a beat does not count twice. */
static void a_window_from_before_the_last_use_is_begun_anew(void **state)
{
	struct desk d;
	int64_t t = DESK_T0;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	assert_false(lease_saw_cpu(&d.l, &d.j, t, 0));
	d.now = t + 20 * S;
	desk_take(&d, EV_USE);
	assert_false(lease_saw_cpu(&d.l, &d.j, t + 40 * S, 30 * S)); /* begins */
	assert_false(lease_saw_cpu(&d.l, &d.j, t + 70 * S, 30 * S)); /* and was quiet */
	assert_int_equal(d.l.cpu_quiet_at, t + 70 * S);
}

static void floor_and_cores_are_counted_right(void **state)
{
	static const struct {
		int64_t floor, step, window;
		bool use;
	} cases[] = {
		/* millionths of one core x the window; a window counts as up to a thousandth of a second longer than it is */
		{ 10000, 301 * MS, 30 * S, true },   { 10000, 299 * MS, 30 * S, false },
		{ 1000000, 301 * S / 10, 30 * S, true }, { 1000000, 29 * S, 30 * S, false },
		{ 1, 1, 30 * S, false },	     { 500000, 46 * S, 90 * S, true },
		{ 10000, 64 * INT64_C(86400) * S, D, true },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct desk d;

		set_up(&d, LEASE_USAGE_HYBRID);
		d.l.policy.cpu_floor_ppm = cases[i].floor;
		assert_false(lease_saw_cpu(&d.l, &d.j, DESK_T0, 7));
		assert_int_equal(lease_saw_cpu(&d.l, &d.j, DESK_T0 + cases[i].window, 7 + cases[i].step), cases[i].use);
	}
}

/* Quiet is what was found within the last window, not once. */
static void an_old_finding_of_quiet_makes_nobody_idle(void **state)
{
	struct desk d;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	desk_run(&d, DESK_T0 + 90 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	desk_beat(&d);
	desk_run(&d, d.now + S);
	d.cpu_ppm = 1000000;
	desk_run(&d, d.now + 40 * S);
	desk_take(&d, EV_LOCK_LOST); /* takes its use back to before that finding */
	desk_run(&d, d.now + H);
	assert_int_equal(d.n[EV_IDLE_DUE], 1);
	assert_int_equal(d.l.state, ST_ACTIVE);
}

/* I12: with nothing that could change the verdict there is nothing to read. */
static void cpu_is_read_only_while_it_can_change_the_verdict(void **state)
{
	struct desk d;

	(void)state;
	set_up(&d, LEASE_USAGE_HYBRID);
	desk_take(&d, EV_ASK_HIBERNATE);
	desk_take(&d, EV_HIBERNATED);
	desk_run(&d, DESK_T0 + 12 * H);
	assert_int_equal(d.readings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explicit_usage_reads_no_cpu),
		cmocka_unit_test(cpu_at_the_floor_is_use),
		cmocka_unit_test(cpu_below_the_floor_is_none),
		cmocka_unit_test(beats_that_come_in_time_need_no_reading),
		cmocka_unit_test(cpu_use_never_renews),
		cmocka_unit_test(unreadable_cpu_counts_as_use),
		cmocka_unit_test(cpu_that_becomes_unreadable_while_idle_wakes_it),
		cmocka_unit_test(use_that_comes_back_while_idle_is_seen_within_two_readings),
		cmocka_unit_test(a_counter_that_steps_back_is_no_use),
		cmocka_unit_test(a_window_shorter_than_every_is_not_judged),
		cmocka_unit_test(a_grace_shorter_than_every_has_a_window_of_its_own),
		cmocka_unit_test(a_window_from_before_the_last_use_is_begun_anew),
		cmocka_unit_test(floor_and_cores_are_counted_right),
		cmocka_unit_test(cpu_is_read_only_while_it_can_change_the_verdict),
		cmocka_unit_test(an_old_finding_of_quiet_makes_nobody_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
