/* lease_looked, lease_credit_restart: when a beat is credited, whatever the clocks say; what a restart gives. */
#include "config.h"

#include "desk.h"

static int64_t credited(struct desk *d, int64_t mtime, int64_t now, int64_t wall)
{
	return lease_looked(&d->l, mtime, &(struct lease_clock){ .now = now, .wall = wall, .even = d->even, .set = d->set });
}

static void a_beat_is_credited_at_its_own_stamp(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_sleep(&d, 7 * S);
	desk_beat(&d);
	desk_sleep(&d, 40 * S);
	assert_int_equal(credited(&d, d.lock, d.now, desk_wall(&d)), DESK_T0 + 7 * S);
	assert_int_equal(credited(&d, d.lock, d.now + S, desk_wall(&d) + S), 0);
}

/* Section 4: a machine costs at most one ttl after its last beat, however late that was seen. */
static void a_death_just_after_a_beat_just_after_a_look_costs_one_ttl(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	(void)desk_look(&d);
	desk_sleep(&d, 1);
	desk_beat(&d);
	desk_run(&d, DESK_T0 + H);
	assert_int_equal(d.at[EV_EXPIRY_DUE], DESK_T0 + 1 + 5 * M + LEASE_TICK);
}

/* UTIME_NOW is the time of the last timer tick: up to 10 ms ago. */
static void a_stamp_a_jiffy_before_the_look_is_no_second_ttl(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 20 * S);
	int64_t looked = d.now;
	desk_sleep(&d, MS);
	d.lock = desk_wall(&d) - LEASE_TICK;
	desk_run(&d, DESK_T0 + H);
	assert_int_equal(d.at[EV_EXPIRY_DUE], looked + 5 * M + LEASE_TICK);
}

/* C06: `touch -d 2100`, milliseconds taken for seconds, the clock set back. */
static void a_stamp_from_the_future_is_credited_when_it_is_seen(void **state)
{
	static const int64_t ahead[] = { 1, S, 70 * 365 * D };

	for (size_t i = 0; i < N_OF(ahead); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		desk_sleep(&d, 10 * S);
		d.lock = desk_wall(&d) + ahead[i];
		assert_int_equal(credited(&d, d.lock, d.now, desk_wall(&d)), d.now);
		/* And once only: it is a version, not a date. */
		desk_sleep(&d, 10 * S);
		assert_int_equal(credited(&d, d.lock, d.now, desk_wall(&d)), 0);
	}
}

static void a_stamp_of_before_the_last_look_is_credited_when_it_is_seen(void **state)
{
	static const int64_t stamps[] = { 1, 0, -1, INT64_MIN, DESK_WALL0 - D, DESK_WALL0 + 19 * S };

	for (size_t i = 0; i < N_OF(stamps); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		desk_run(&d, DESK_T0 + 20 * S);
		desk_sleep(&d, 10 * S);
		assert_int_equal(credited(&d, stamps[i], d.now, desk_wall(&d)), d.now);
	}
}

static void the_largest_stamp_there_is_overflows_nothing(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_sleep(&d, S);
	assert_int_equal(credited(&d, INT64_MAX, d.now, desk_wall(&d)), d.now);
	desk_sleep(&d, S);
	assert_int_equal(credited(&d, 1, d.now, INT64_MAX), d.now);
	desk_sleep(&d, S);
	assert_int_equal(credited(&d, INT64_MAX - 1, d.now, 1), d.now);
}

/* chmod changes ctime; the version is mtime. */
static void an_mtime_that_stays_is_no_beat(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + H);
	assert_int_equal(d.n[EV_BEAT], 0);
	assert_int_equal(d.at[EV_EXPIRY_DUE], DESK_T0 + 5 * M + LEASE_TICK);
}

/* C06, B-side: who touches into the future once, and dies, is over a ttl later. */
static void the_future_immortalises_nobody(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.lock = desk_wall(&d) + 1000 * D;
	desk_run(&d, DESK_T0 + H);
	assert_true(d.at[EV_EXPIRY_DUE] <= DESK_T0 + 5 * M + LEASE_TICK);
}

/* C08, C14: a beat, then the wall clock is set, then the look. */
static void a_step_of_the_wall_clock_reaps_nobody_early(void **state)
{
	static const int64_t steps[] = { -365 * D, -H, -30 * S, -1, 1, MS, 30 * S, 70 * S, H, 365 * D };

	for (size_t i = 0; i < N_OF(steps); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		desk_sleep(&d, 80 * S);
		desk_beat(&d);
		desk_sleep(&d, S);
		d.skew += steps[i];
		int64_t beat = DESK_T0 + 80 * S;
		desk_run(&d, beat + 5 * M);
		assert_int_equal(d.n[EV_EXPIRY_DUE], 0);
		/* Nor does it give more than until the look. */
		desk_run(&d, DESK_T0 + H);
		assert_in_range(d.at[EV_EXPIRY_DUE], beat + 5 * M, beat + 5 * M + 20 * S);
	}
}

/* While the host sleeps, CLOCK_MONOTONIC stands and the wall clock goes on. */
static void a_suspend_between_beat_and_look_makes_the_beat_no_older(void **state)
{
	static const int64_t slept[] = { 5 * S, M, 10 * M, 8 * H };

	for (size_t i = 0; i < N_OF(slept); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		desk_sleep(&d, 80 * S);
		desk_beat(&d);
		desk_sleep(&d, S);
		d.skew += slept[i];
		(void)desk_look(&d);
		assert_int_equal(d.l.renewed, DESK_T0 + 80 * S);
	}
}

/* C08: set back, a beat, and a gain that hides it: neither tells how old the beat is. */
static void a_gain_after_a_clock_that_was_set_back_makes_no_beat_older(void **state)
{
	static const struct {
		int64_t back, forward;
		bool slept;
	} steps[] = { { 91 * S, 828 * S, true }, { 91 * S, 91 * S, false }, { 5 * S, M, false }, { 70 * S, 70 * S, true } };

	for (size_t i = 0; i < N_OF(steps); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		desk_sleep(&d, 50 * S);
		desk_set_clock(&d, -steps[i].back);
		desk_sleep(&d, 30 * S);
		desk_beat(&d);
		desk_sleep(&d, S);
		if (steps[i].slept)
			desk_suspend(&d, steps[i].forward);
		else
			desk_set_clock(&d, steps[i].forward);
		desk_sleep(&d, S);
		(void)desk_look(&d);
		assert_int_equal(d.l.renewed, d.now); /* when it was received: what else is there to go by */
	}
}

/* What was set before the last look is over. */
static void a_clock_that_was_set_is_believed_again_after_a_look(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_set_clock(&d, -M);
	desk_sleep(&d, S);
	(void)desk_look(&d);
	desk_sleep(&d, 10 * S);
	desk_beat(&d);
	desk_sleep(&d, 30 * S);
	desk_suspend(&d, H);
	(void)desk_look(&d);
	assert_int_equal(d.l.renewed, DESK_T0 + 11 * S);
}

static void a_beat_after_the_clock_was_set_is_credited_at_its_own_stamp(void **state)
{
	static const int64_t steps[] = { -365 * D, -S, S, 365 * D };

	for (size_t i = 0; i < N_OF(steps); i++) {
		struct desk d;

		(void)state;
		desk_set_up(&d);
		desk_sleep(&d, 10 * S);
		desk_set_clock(&d, steps[i]);
		desk_sleep(&d, 10 * S);
		desk_beat(&d);
		desk_sleep(&d, 50 * S);
		(void)desk_look(&d);
		assert_int_equal(d.l.renewed, DESK_T0 + 20 * S);
	}
}

/* What was gained before it says nothing of it, and so no restart credits it anew. */
static void a_beat_after_a_suspend_is_credited_at_its_own_stamp_at_each_restart(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_sleep(&d, 10 * S);
	desk_suspend(&d, 60 * H);
	desk_sleep(&d, 10 * S);
	desk_beat(&d);
	const struct lease row = d.l;
	for (int i = 0; i < 8; i++) {
		desk_sleep(&d, 30 * S);
		d.l = row;
		desk_restart(&d, 0, S);
		(void)desk_look(&d);
		assert_int_equal(d.l.renewed, DESK_T0 + 20 * S);
	}
}

static void an_older_renewal_moves_nothing_back(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_sleep(&d, 50 * S);
	desk_take(&d, EV_RENEWED);
	lease_apply(&d.l, EV_BEAT, DESK_T0 + 20 * S, d.now, desk_wall(&d), NULL);
	assert_int_equal(d.l.renewed, DESK_T0 + 50 * S);
	assert_int_equal(d.l.used, DESK_T0 + 20 * S);
	lease_apply(&d.l, EV_BEAT, DESK_T0 + 10 * S, d.now, desk_wall(&d), NULL);
	assert_int_equal(d.l.used, DESK_T0 + 20 * S);
}

static void people_read_when_the_last_beat_was(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	assert_int_equal(d.l.last_beat_wall, 0);
	assert_string_equal(lease_renewed_by(&d.l), "admission");
	desk_sleep(&d, 50 * S);
	lease_apply(&d.l, EV_BEAT, d.now - 3 * S, d.now, desk_wall(&d), NULL);
	assert_int_equal(d.l.last_beat_wall, desk_wall(&d) - 3 * S);
	assert_string_equal(lease_renewed_by(&d.l), "own beat");
}

/* --- restarts --- */

/* C01: 4 s left; restart; not back to 60. */
static void a_restart_gives_back_its_own_time_and_no_more(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.ttl = M;
	d.l.policy.renew_grace = 20 * S;
	desk_run(&d, DESK_T0 + 56 * S);
	desk_restart(&d, 0, 3 * S);
	assert_int_equal(lease_expires(&d.l) - d.now, 4 * S + LEASE_TICK);
	desk_run(&d, DESK_T0 + H);
	assert_int_equal(d.at[EV_EXPIRY_DUE], DESK_T0 + M + 3 * S + LEASE_TICK);
}

/* C01: with frequent restarts it never ended. */
static void all_restarts_together_give_one_grace(void **state)
{
	struct desk d;
	int n = 0;

	(void)state;
	desk_set_up(&d);
	while (d.n[EV_EXPIRY_DUE] == 0 && n < 1000) {
		desk_run(&d, d.now + 5 * S);
		if (d.n[EV_EXPIRY_DUE] == 0)
			desk_restart(&d, 4 * S, S);
		n++;
	}
	assert_true(n < 1000);
	assert_true(d.at[EV_EXPIRY_DUE] >= DESK_T0 + 5 * M + LEASE_TICK);
	/* One look may come late by one restart. */
	assert_true(d.at[EV_EXPIRY_DUE] <= DESK_T0 + 5 * M + 90 * S + LEASE_TICK + S);
}

/* C03: the judge is away for longer than what is left; the holders live. */
static void downtime_is_not_charged_to_the_holder(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 5 * M - S);
	assert_int_equal(d.l.state, ST_IDLE);
	desk_restart(&d, 0, 80 * S);
	(void)desk_look(&d);
	assert_int_equal(d.n[EV_EXPIRY_DUE], 0);
	assert_int_equal(lease_expires(&d.l) - d.now, S + LEASE_TICK);
}

static void a_long_downtime_gives_one_grace(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_restart(&d, 0, D);
	assert_int_equal(lease_expires(&d.l), DESK_T0 + 5 * M + 90 * S + LEASE_TICK);
	(void)desk_look(&d);
	assert_int_equal(d.n[EV_EXPIRY_DUE], 1);
}

/* C03: what was beaten meanwhile counts, where it was. */
static void a_beat_while_the_daemon_was_away_is_found(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 10 * S);
	desk_sleep(&d, 4 * M);
	desk_beat(&d);
	desk_restart(&d, 4 * M, 2 * M);
	(void)desk_look(&d);
	assert_int_equal(d.l.renewed, DESK_T0 + 10 * S + 4 * M);
	assert_int_equal(d.l.restart_credit, 0);
}

/* An active lease is looked at when it is due; what was beaten between that look and the kill nobody has seen. */
static void a_beat_that_the_killed_daemon_had_not_seen_is_worth_one_ttl(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_sleep(&d, 40 * S);
	desk_beat(&d);
	desk_sleep(&d, 30 * S);
	desk_restart(&d, 5 * S, H);
	(void)desk_look(&d);
	assert_int_equal(d.n[EV_EXPIRY_DUE], 1);
	assert_int_equal(d.l.renewed, DESK_T0 + 40 * S);
}

/* The host slept meanwhile: then the stamp says less, and the holder has the benefit. */
static void a_beat_before_a_sleep_and_a_restart_is_credited_no_earlier_than_it_was(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_sleep(&d, 40 * S);
	desk_beat(&d);
	d.skew += 30 * S;
	desk_restart(&d, 0, 10 * S);
	(void)desk_look(&d);
	assert_in_range(d.l.renewed, DESK_T0 + 40 * S, d.now);
}

static void a_renewal_uses_the_credit_up(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 10 * S);
	desk_restart(&d, 0, 50 * S);
	assert_int_equal(d.l.restart_credit, 50 * S);
	desk_beat(&d);
	(void)desk_look(&d);
	assert_int_equal(d.l.restart_credit, 0);
	assert_int_equal(lease_expires(&d.l), d.now + 5 * M + LEASE_TICK);
}

static void idleness_is_not_counted_while_nobody_looked(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 60 * S);
	desk_restart(&d, 0, 60 * S);
	desk_run(&d, DESK_T0 + 150 * S - 1);
	assert_int_equal(d.l.state, ST_ACTIVE);
	desk_run(&d, DESK_T0 + 150 * S);
	assert_int_equal(d.l.state, ST_IDLE);
	/* But never into the future. */
	desk_beat(&d);
	(void)desk_look(&d);
	desk_restart(&d, 90 * S, S);
	assert_int_equal(d.l.used, d.now);
}

static void a_checkpoint_after_now_credits_nothing(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	lease_credit_restart(&d.l, d.now + H, d.now);
	assert_int_equal(d.l.restart_credit, 0);
	assert_int_equal(d.l.used, DESK_T0);
}

/* A grace that a reload made shorter takes back nothing that was given. */
static void a_shorter_grace_takes_no_credit_back(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	desk_restart(&d, 0, 80 * S);
	d.l.policy.renew_grace = 10 * S;
	desk_restart(&d, 0, 5 * S);
	assert_int_equal(d.l.restart_credit, 80 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_beat_is_credited_at_its_own_stamp),
		cmocka_unit_test(a_death_just_after_a_beat_just_after_a_look_costs_one_ttl),
		cmocka_unit_test(a_stamp_a_jiffy_before_the_look_is_no_second_ttl),
		cmocka_unit_test(a_stamp_from_the_future_is_credited_when_it_is_seen),
		cmocka_unit_test(a_stamp_of_before_the_last_look_is_credited_when_it_is_seen),
		cmocka_unit_test(the_largest_stamp_there_is_overflows_nothing),
		cmocka_unit_test(an_mtime_that_stays_is_no_beat),
		cmocka_unit_test(the_future_immortalises_nobody),
		cmocka_unit_test(a_step_of_the_wall_clock_reaps_nobody_early),
		cmocka_unit_test(a_suspend_between_beat_and_look_makes_the_beat_no_older),
		cmocka_unit_test(a_gain_after_a_clock_that_was_set_back_makes_no_beat_older),
		cmocka_unit_test(a_clock_that_was_set_is_believed_again_after_a_look),
		cmocka_unit_test(a_beat_after_the_clock_was_set_is_credited_at_its_own_stamp),
		cmocka_unit_test(a_beat_after_a_suspend_is_credited_at_its_own_stamp_at_each_restart),
		cmocka_unit_test(an_older_renewal_moves_nothing_back),
		cmocka_unit_test(people_read_when_the_last_beat_was),
		cmocka_unit_test(a_restart_gives_back_its_own_time_and_no_more),
		cmocka_unit_test(all_restarts_together_give_one_grace),
		cmocka_unit_test(downtime_is_not_charged_to_the_holder),
		cmocka_unit_test(a_long_downtime_gives_one_grace),
		cmocka_unit_test(a_beat_while_the_daemon_was_away_is_found),
		cmocka_unit_test(a_beat_that_the_killed_daemon_had_not_seen_is_worth_one_ttl),
		cmocka_unit_test(a_beat_before_a_sleep_and_a_restart_is_credited_no_earlier_than_it_was),
		cmocka_unit_test(a_renewal_uses_the_credit_up),
		cmocka_unit_test(idleness_is_not_counted_while_nobody_looked),
		cmocka_unit_test(a_checkpoint_after_now_credits_nothing),
		cmocka_unit_test(a_shorter_grace_takes_no_credit_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
