/* What a lease is booked for, and what is said of its signals. */
#include "config.h"

#include "desk.h"

static void zombie_time_runs_from_the_proven_end(void **state)
{
	static const enum event ends[] = { EV_RELEASED, EV_LEADER_DIED, EV_STOPPED };

	for (size_t i = 0; i < N_OF(ends); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		desk_sleep(&d, 40 * S);
		lease_apply(&d.l, ends[i], d.now - S, d.now, desk_wall(&d), NULL);
		assert_int_equal(d.l.work_ended, d.now - S);
		/* What comes after it moves it no more. */
		desk_sleep(&d, 40 * S);
		desk_take(&d, EV_STOPPED);
		assert_int_equal(d.l.work_ended, DESK_T0 + 39 * S);
	}
}

static void zombie_time_of_a_silence_runs_from_the_last_sign_of_life(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 20 * S);
	desk_beat(&d);
	desk_run(&d, DESK_T0 + H);
	assert_int_equal(d.l.work_ended, DESK_T0 + 20 * S);

	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 2 * M);
	desk_take(&d, EV_USE);
	desk_run(&d, DESK_T0 + H);
	assert_int_equal(d.l.work_ended, DESK_T0 + 2 * M);
}

static void a_limit_that_ends_what_lives_makes_no_zombie_of_the_time_before(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.leader_alive = true;
	desk_run(&d, DESK_T0 + 7 * D);
	assert_int_equal(d.n[EV_LIFETIME_DUE], 1);
	assert_int_equal(d.l.work_ended, DESK_T0 + 7 * D);
}

static void what_lives_has_no_zombie_time(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 4 * M);
	desk_take(&d, EV_SESSION_CLOSED);
	assert_int_equal(d.l.work_ended, 0);
}

static void signals_are_said_in_words(void **state)
{
	struct desk d;
	char s[LEASE_WHY_SIZE];

	(void)state;
	desk_set_up(&d);
	desk_sleep(&d, 12 * S + 345 * MS);
	lease_signals(&d.l, d.now, s);
	assert_string_equal(s, "last use 12s ago");
	d.l.cpu_at = d.now;
	d.l.lock_lost = true;
	lease_signals(&d.l, d.now, s);
	assert_string_equal(s, "last use 12s ago; cpu read; lock lost");
	d.l.lock_lost = false;
	d.l.cpu_at = 0;
	d.l.execs = 1;
	lease_signals(&d.l, d.now, s);
	assert_string_equal(s, "an exec lives in it");
	d.l.execs = 0;
	d.l.leader_alive = d.l.record.run = true;
	lease_signals(&d.l, d.now, s);
	assert_string_equal(s, "its command lives");
	d.l.record.run = false;
	d.now = DESK_T0 + 800 * MS;
	lease_signals(&d.l, d.now, s);
	assert_string_equal(s, "last use 800ms ago");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zombie_time_runs_from_the_proven_end),
		cmocka_unit_test(zombie_time_of_a_silence_runs_from_the_last_sign_of_life),
		cmocka_unit_test(a_limit_that_ends_what_lives_makes_no_zombie_of_the_time_before),
		cmocka_unit_test(what_lives_has_no_zombie_time),
		cmocka_unit_test(signals_are_said_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
