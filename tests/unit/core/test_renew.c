/* core/renew.h: what a renewal is worth. It looks at its arguments and at nothing else. */
#include "config.h"

#include "core/renew.h"
#include "desk.h"

static const struct renewable held = { .living = true, .in_active = true };

static void a_renewal_is_worth_a_ttl_from_now(void **state)
{
	struct renewal r = renew(&held, 5 * M, DESK_T0);

	(void)state;
	assert_int_equal(r.outcome, RENEW_OK);
	assert_int_equal(r.expires, DESK_T0 + 5 * M);
}

/* C15: refused, never "renewed" and then reaped. */
static void what_has_ended_is_not_renewed(void **state)
{
	struct renewable l = { .living = false, .in_active = true };

	(void)state;
	assert_int_equal(renew(&l, 5 * M, DESK_T0).outcome, RENEW_EXPIRED);
	l.in_active = false;
	assert_int_equal(renew(&l, 5 * M, DESK_T0).outcome, RENEW_EXPIRED);
}

/* Rule 5: it answers only after its lock was seen in active/. */
static void who_has_no_lock_in_active_holds_nothing(void **state)
{
	struct renewable l = { .living = true, .in_active = false };

	(void)state;
	assert_int_equal(renew(&l, 5 * M, DESK_T0).outcome, RENEW_LOST);
}

static void a_ttl_of_nothing_is_refused(void **state)
{
	(void)state;
	assert_int_equal(renew(&held, 0, DESK_T0).outcome, RENEW_REFUSED);
	assert_int_equal(renew(&held, -1, DESK_T0).outcome, RENEW_REFUSED);
	assert_int_equal(renew(&held, INT64_MIN, DESK_T0).outcome, RENEW_REFUSED);
}

static void the_longest_ttl_overflows_nothing(void **state)
{
	(void)state;
	assert_int_equal(renew(&held, LEASE_NEVER, DESK_T0).expires, INT64_MAX);
	assert_int_equal(renew(&held, LEASE_NEVER - DESK_T0, DESK_T0).expires, INT64_MAX);
	assert_int_equal(renew(&held, LEASE_NEVER - DESK_T0 - 1, DESK_T0).expires, INT64_MAX - 1);
	assert_int_equal(renew(&held, LEASE_NEVER, -5).expires, INT64_MAX - 5);
	assert_int_equal(renew(&held, 10, -5).expires, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_renewal_is_worth_a_ttl_from_now),
		cmocka_unit_test(what_has_ended_is_not_renewed),
		cmocka_unit_test(who_has_no_lock_in_active_holds_nothing),
		cmocka_unit_test(a_ttl_of_nothing_is_refused),
		cmocka_unit_test(the_longest_ttl_overflows_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
