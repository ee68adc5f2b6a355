/* core/policy.h: a record's wishes, the settings under them, the limits over both. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/policy.h"
#include "help.h"
#include "lease/duration.h"

#define M (60 * LEASE_NS_PER_S)
#define H (60 * M)

static const struct policy base = {
    .ttl = 5 * M,
    .renew_grace = 90 * LEASE_NS_PER_S,
    .hibernate_after = 30 * M,
    .warn_before = M,
    .linger = 3 * M,
    .min_ttl = 2 * M,
    .max_ttl = H,
    .max_lifetime = 24 * H,
    .hibernated_retention = 24 * H,
    .cpu_floor_ppm = 10000,
    .priority = 5,
    .max_priority = 7,
    .usage = LEASE_USAGE_HYBRID,
    .runtime = "process",
};

static void a_record_that_says_nothing_changes_nothing(void **state)
{
	struct policy p = base;
	struct lease_record r;
	char why[160], note[160];

	(void)state;
	lease_record_init(&r);
	assert_int_equal(policy_apply_record(&p, &r, why, note), 0);
	policies_are_equal(&p, &base);
	assert_string_equal(note, "");
}

static void a_record_stands_over_the_settings(void **state)
{
	struct policy p = base;
	struct lease_record r;
	char why[160], note[160];

	(void)state;
	lease_record_init(&r);
	r.ttl = 10 * M;
	r.linger = 0;
	r.priority = 7;
	r.usage = LEASE_USAGE_EXPLICIT;
	snprintf(r.runtime, sizeof(r.runtime), "podman");
	assert_int_equal(policy_apply_record(&p, &r, why, note), 0);
	assert_int_equal(p.ttl, 10 * M);
	assert_int_equal(p.linger, 0);
	assert_int_equal(p.priority, 7);
	assert_int_equal(p.usage, LEASE_USAGE_EXPLICIT);
	assert_string_equal(p.runtime, "podman");
	assert_string_equal(note, "");
}

static void wishes_end_at_the_limits_and_the_note_says_so(void **state)
{
	static const struct {
		int64_t ttl, linger, is_ttl, is_linger;
		const char *note;
	} cases[] = {
	    {H, -1, H, 3 * M, ""},
	    {H + 1, -1, H, 3 * M, "ttl capped to 1h by max_ttl"},
	    {2 * M, -1, 2 * M, 3 * M, ""},
	    {M, -1, 2 * M, 3 * M, "ttl raised to 2m by min_ttl"},
	    {1, -1, 2 * M, 3 * M, "ttl raised to 2m by min_ttl"},
	    {LEASE_NEVER, -1, H, 3 * M, "ttl capped to 1h by max_ttl"},
	    /* a long linger is no way round max_ttl */
	    {0, LEASE_DURATION_MAX, 5 * M, H, "linger capped to 1h by max_ttl"},
	    {2 * H, 2 * H, H, H, "ttl capped to 1h by max_ttl; linger capped to 1h by max_ttl"},
	};
	char why[160], note[160];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct policy p = base;
		struct lease_record r;

		lease_record_init(&r);
		r.ttl = cases[i].ttl;
		r.linger = cases[i].linger;
		assert_int_equal(policy_apply_record(&p, &r, why, note), 0);
		assert_int_equal(p.ttl, cases[i].is_ttl);
		assert_int_equal(p.linger, cases[i].is_linger);
		assert_string_equal(note, cases[i].note);
	}
}

static void a_ttl_that_is_not_longer_than_zero_is_refused(void **state)
{
	struct policy p = base;
	struct lease_record r;
	char why[160], note[160];

	(void)state;
	lease_record_init(&r);
	r.ttl = -1;
	assert_int_equal(policy_apply_record(&p, &r, why, note), -EPERM);
	assert_non_null(strstr(why, "longer than 0"));
	policies_are_equal(&p, &base);
}

static void a_priority_above_the_cap_is_refused(void **state)
{
	struct policy p = base;
	struct lease_record r;
	char why[160], note[160];

	(void)state;
	lease_record_init(&r);
	r.ttl = 9 * M;
	r.priority = 8;
	assert_int_equal(policy_apply_record(&p, &r, why, note), -EPERM);
	assert_string_equal(why, "priority 8 is above max_priority 7: ask for 7 or less");
	policies_are_equal(&p, &base);
}

static void what_the_settings_give_unasked_may_be_asked_for(void **state)
{
	struct policy p = base;
	struct lease_record r;
	char why[160], note[160];

	(void)state;
	p.priority = 8;
	lease_record_init(&r);
	r.priority = 8;
	assert_int_equal(policy_apply_record(&p, &r, why, note), 0);
	assert_int_equal(p.priority, 8);
	r.priority = 9;
	assert_int_equal(policy_apply_record(&p, &r, why, note), -EPERM);
}

static void a_short_ttl_keeps_its_warning(void **state)
{
	struct policy p = base;
	struct lease_record r;
	char why[160], note[160];

	(void)state;
	p.min_ttl = 0;
	lease_record_init(&r);
	r.ttl = M;
	assert_int_equal(policy_apply_record(&p, &r, why, note), 0);
	assert_int_equal(p.warn_before, M / 2);
	assert_string_equal(note, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_record_that_says_nothing_changes_nothing),
	    cmocka_unit_test(a_record_stands_over_the_settings),
	    cmocka_unit_test(wishes_end_at_the_limits_and_the_note_says_so),
	    cmocka_unit_test(a_ttl_that_is_not_longer_than_zero_is_refused),
	    cmocka_unit_test(a_priority_above_the_cap_is_refused),
	    cmocka_unit_test(what_the_settings_give_unasked_may_be_asked_for),
	    cmocka_unit_test(a_short_ttl_keeps_its_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
