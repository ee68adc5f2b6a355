/* core/breaker: when it trips, for whom, and whom it holds. What a crowd of leases sees of it: test_breaker_crowd.c. */
#include "config.h"

#include <string.h>

#include "desk.h"

static void more_than_the_share_and_at_least_the_minimum_trips_it(void **state)
{
	static const struct {
		int silent, living;
		bool trips;
	} cases[] = { { 6, 10, true },	{ 5, 10, false }, { 5, 9, true },     { 5, 5, true },
		      { 4, 4, false },	{ 2, 2, false },  { 1, 1, false },    { 0, 0, false },
		      { 50, 100, false }, { 51, 100, true }, { 50001, 100000, true } };
	const struct breaker_rule r = { .share = 500000, .minimum = 5, .window = M, .hold = H };
	struct breaker b = { 0 };

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct breaker_count n = { cases[i].silent, cases[i].living };
		if (breaker_trips(&b, &r, &n, S) != cases[i].trips)
			fail_msg("%d of %d", cases[i].silent, cases[i].living);
	}
}

/* I9: nobody delays another's end. */
static void no_user_alone_can_trip_it_for_all(void **state)
{
	static const struct {
		struct breaker_count all, most;
		bool trips;
	} cases[] = {
		{ { 40, 41 }, { 40, 40 }, false }, /* one user's agents; another's single lease is judged as ever */
		{ { 44, 45 }, { 40, 40 }, false }, /* the others are too few */
		{ { 46, 60 }, { 40, 40 }, false }, /* the others are heard, but for six of twenty */
		{ { 45, 45 }, { 40, 40 }, true },
		{ { 8, 8 }, { 1, 1 }, true }, /* eight users */
		{ { 6, 6 }, { 6, 6 }, false }, /* all are one user's: it is that user's own that trips */
	};
	const struct breaker_rule r = { .share = 500000, .minimum = 5, .window = M, .hold = H };
	struct breaker b = { 0 };

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		if (breaker_trips_for_all(&b, &r, &cases[i].all, &cases[i].most, S) != cases[i].trips)
			fail_msg("case %zu", i);
}

static void of_the_users_trip_and_that_for_all_whichever_ends_first_ends_the_hold(void **state)
{
	const struct breaker_rule r = { .share = 500000, .minimum = 5, .window = S, .hold = 5 * M };
	struct breaker users = { 0 }, all = { 0 };
	const struct breaker_count n = { 8, 8 };
	struct breaker b;

	(void)state;
	breaker_trip(&users, &r, &n, 1000 * S);
	users.of = 1000;
	breaker_trip(&all, &r, &n, 1100 * S);
	b = breaker_over_both(&users, &all, 1200 * S);
	assert_true(breaker_holds(&b, 1000 * S, 1200 * S));
	assert_int_equal(b.until, 1300 * S);
	assert_true(breaker_over(&users, &r, 1300 * S));
	b = breaker_over_both(&users, &all, 1300 * S);
	assert_false(breaker_holds(&b, 1000 * S, 1300 * S)); /* it has had its hold */
	assert_true(breaker_holds(&b, 1350 * S, 1360 * S));
	assert_true(breaker_over(&all, &r, 1400 * S));
	b = breaker_over_both(&users, &all, 1400 * S);
	assert_false(breaker_holds(&b, 1350 * S, 1400 * S));
}

static void it_says_how_many_of_how_many_and_whose(void **state)
{
	struct breaker b = { .count = { 8, 9 }, .of = -1 };
	char words[BREAKER_WORDS];

	(void)state;
	breaker_words(&b, words);
	assert_string_equal(words, "8 of 9 sessions silent");
	b = (struct breaker){ .count = { 1000000, 1000000 }, .of = 4294967294 };
	breaker_words(&b, words);
	assert_string_equal(words, "1000000 of 1000000 sessions of uid 4294967294 silent");
}

/* After a start, when a hundred thousand are still to be looked at. */
static void a_sample_is_believed_where_it_is_large_and_plain(void **state)
{
	const struct breaker_rule r = { .share = 500000, .minimum = 5, .window = M, .hold = H };

	(void)state;
	assert_false(breaker_plainly_not(&r, 0, 0));
	assert_false(breaker_plainly_not(&r, 0, 999));
	assert_true(breaker_plainly_not(&r, 0, 1000));
	assert_true(breaker_plainly_not(&r, 249, 1000));
	assert_false(breaker_plainly_not(&r, 250, 1000));
	assert_false(breaker_plainly_not(&r, 1000, 1000));
}

static void a_share_of_one_turns_it_off(void **state)
{
	const struct breaker_rule r = { .share = 1000000, .minimum = 1, .window = M, .hold = H };
	struct breaker_count all = { 100000, 100000 };
	struct breaker b = { 0 };

	(void)state;
	assert_false(breaker_trips(&b, &r, &all, S));
}

static void who_had_its_hold_is_not_held_by_the_next_trip(void **state)
{
	const struct breaker b = { .at = 120 * S, .until = 200 * S, .spent = 100 * S };

	(void)state;
	assert_false(breaker_holds(&b, 100 * S, 150 * S));
	assert_true(breaker_holds(&b, 100 * S + 1, 150 * S));
	assert_true(breaker_holds(&b, 100 * S + 1, 200 * S - 1));
	assert_false(breaker_holds(&b, 100 * S + 1, 200 * S));
}

static void who_is_renewed_by_a_life_or_lingers_is_not_silent(void **state)
{
	const struct breaker_rule r = { .share = 500000, .minimum = 5, .window = M, .hold = H };
	struct desk d;
	struct lease *l = &d.l;

	(void)state;
	desk_set_up(&d);
	assert_int_equal(breaker_silent_from(&r, l), d.now + 4 * M + LEASE_TICK);
	l->leader_alive = true;
	assert_int_equal(breaker_silent_from(&r, l), LEASE_NEVER);
	l->leader_alive = false;
	l->session_alive = true;
	assert_int_equal(breaker_silent_from(&r, l), LEASE_NEVER);
	l->session_alive = false;
	for (enum state s = ST_REQUESTED; s < ST_MAX; s++) {
		bool may = s == ST_ACTIVE || s == ST_IDLE || s == ST_HIBERNATING || s == ST_HIBERNATED || s == ST_RESUMING;
		l->state = s;
		assert_int_equal(breaker_silent_from(&r, l) != LEASE_NEVER, may);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_than_the_share_and_at_least_the_minimum_trips_it),
		cmocka_unit_test(no_user_alone_can_trip_it_for_all),
		cmocka_unit_test(of_the_users_trip_and_that_for_all_whichever_ends_first_ends_the_hold),
		cmocka_unit_test(it_says_how_many_of_how_many_and_whose),
		cmocka_unit_test(a_sample_is_believed_where_it_is_large_and_plain),
		cmocka_unit_test(a_share_of_one_turns_it_off),
		cmocka_unit_test(who_had_its_hold_is_not_held_by_the_next_trip),
		cmocka_unit_test(who_is_renewed_by_a_life_or_lingers_is_not_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
