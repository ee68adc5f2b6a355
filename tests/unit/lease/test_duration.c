#include "config.h"

#include <errno.h>

#include "lease/duration.h"
#include "tests/unit/lease/test.h"

#define MS LEASE_NS_PER_MS
#define S LEASE_NS_PER_S

static void durations_are_digits_and_a_unit(void **state)
{
	static const struct {
		const char *s;
		int error;
		int64_t ns;
	} cases[] = {
	    {"500ms", 0, 500 * MS},
	    {"90s", 0, 90 * S},
	    {"5m", 0, 300 * S},
	    {"2h", 0, 7200 * S},
	    {"7d", 0, 7 * 86400 * S},
	    {"0s", 0, 0},
	    {"0d", 0, 0},
	    {"007s", 0, 7 * S},
	    {"3650d", 0, LEASE_DURATION_MAX},
	    {"315360000s", 0, LEASE_DURATION_MAX},
	    {"315360000001ms", -ERANGE, 0},
	    {"315360001s", -ERANGE, 0},
	    {"3651d", -ERANGE, 0},
	    {"9223372036854775807ms", -ERANGE, 0},
	    {"18446744073709551617s", -ERANGE, 0},
	    {"99999999999999999999999999999999999999d", -ERANGE, 0},
	    {"99999999999999999999999999999999999999", -EINVAL, 0},
	    {"", -EINVAL, 0},
	    {"s", -EINVAL, 0},
	    {"ms", -EINVAL, 0},
	    {"5", -EINVAL, 0},
	    {"0", -EINVAL, 0},
	    {"-5s", -EINVAL, 0},
	    {"+5s", -EINVAL, 0},
	    {" 5s", -EINVAL, 0},
	    {"5s ", -EINVAL, 0},
	    {"5 s", -EINVAL, 0},
	    {"5s\n", -EINVAL, 0},
	    {"1.5s", -EINVAL, 0},
	    {"1h30m", -EINVAL, 0},
	    {"5S", -EINVAL, 0},
	    {"5M", -EINVAL, 0},
	    {"5min", -EINVAL, 0},
	    {"5w", -EINVAL, 0},
	    {"5us", -EINVAL, 0},
	    {"0x5s", -EINVAL, 0},
	    {"never", -EINVAL, 0},
	    {"\xd9\xa5s", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		int64_t ns = -77;
		int e = lease_duration_parse(cases[i].s, &ns);

		if (e != cases[i].error || ns != (e ? -77 : cases[i].ns))
			fail_msg("\"%s\" gives %d, %lld", cases[i].s, e, (long long)ns);
	}
}

static void a_duration_is_written_in_the_shortest_exact_way(void **state)
{
	static const struct {
		int64_t ns;
		const char *s;
	} cases[] = {
	    {90 * S, "90s"},
	    {300 * S, "5m"},
	    {800 * MS, "800ms"},
	    {1500 * MS, "1500ms"},
	    {3600 * S, "1h"},
	    {5400 * S, "90m"},
	    {86400 * S, "1d"},
	    {90000 * S, "25h"},
	    {LEASE_DURATION_MAX, "3650d"},
	    {0, "0s"},
	    {-1, "0s"},
	    {INT64_MIN, "0s"},
	    {1, "1ms"},
	    {MS - 1, "1ms"},
	    {MS + 1, "2ms"},
	    {S - 1, "1s"},
	    {60 * S - 1, "1m"},
	    {LEASE_NEVER, "never"},
	    {LEASE_NEVER - 1, "9223372036855ms"},
	};
	char buf[LEASE_DURATION_SIZE];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		lease_duration_format(buf, cases[i].ns);
		assert_string_equal(buf, cases[i].s);
	}
}

static void what_is_written_reads_back(void **state)
{
	char buf[LEASE_DURATION_SIZE];

	(void)state;
	for (int64_t ms = 1; ms <= LEASE_DURATION_MAX / MS; ms += ms / 7 + 1) {
		int64_t back = 0;

		lease_duration_format(buf, ms * MS);
		assert_int_equal(lease_duration_parse(buf, &back), 0);
		assert_true(back == ms * MS);
	}
}

static void people_read_a_whole_number_and_a_unit(void **state)
{
	static const struct {
		int64_t ns;
		const char *s;
	} cases[] = {
	    {287 * S, "287 s"},
	    {287 * S + S - 1, "287 s"},
	    {800 * MS, "800 ms"},
	    {720 * S, "12 m"},
	    {3 * 3600 * S, "3 h"},
	    {2 * 86400 * S, "2 d"},
	    {1, "0 ms"},
	    {S - 1, "999 ms"},
	    {S, "1 s"},
	    {600 * S - 1, "599 s"},
	    {600 * S, "10 m"},
	    {7200 * S - 1, "119 m"},
	    {7200 * S, "2 h"},
	    {2 * 86400 * S - 1, "47 h"},
	    {0, "0 s"},
	    {-5 * S, "0 s"},
	    {INT64_MIN, "0 s"},
	    {LEASE_NEVER, "never"},
	    {LEASE_NEVER - 1, "106751 d"},
	};
	char buf[LEASE_DURATION_SIZE];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		lease_duration_human(buf, cases[i].ns);
		assert_string_equal(buf, cases[i].s);
	}
}

static void a_ttl_is_checked_once_for_every_way_in(void **state)
{
	static const struct {
		int64_t ttl, min, max;
		enum lease_ttl_verdict verdict;
		int64_t ret;
	} cases[] = {
	    {300 * S, 0, LEASE_NEVER, LEASE_TTL_OK, 300 * S},
	    {1, 0, LEASE_NEVER, LEASE_TTL_OK, 1},
	    {LEASE_NEVER, 0, LEASE_NEVER, LEASE_TTL_OK, LEASE_NEVER},
	    {LEASE_NEVER, 0, 60 * S, LEASE_TTL_CAPPED, 60 * S},
	    {60 * S, 60 * S, 60 * S, LEASE_TTL_OK, 60 * S},
	    {60 * S + 1, 0, 60 * S, LEASE_TTL_CAPPED, 60 * S},
	    {60 * S - 1, 60 * S, LEASE_NEVER, LEASE_TTL_RAISED, 60 * S},
	    {1 * S, 90 * S, 60 * S, LEASE_TTL_RAISED, 60 * S},
	    {80 * S, 90 * S, 60 * S, LEASE_TTL_CAPPED, 60 * S},
	    {0, 0, LEASE_NEVER, LEASE_TTL_ZERO, -77},
	    {0, 60 * S, LEASE_NEVER, LEASE_TTL_ZERO, -77},
	    {-1, 0, LEASE_NEVER, LEASE_TTL_ZERO, -77},
	    {INT64_MIN, 0, LEASE_NEVER, LEASE_TTL_ZERO, -77},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		int64_t ret = -77;

		assert_int_equal(lease_ttl_check(cases[i].ttl, cases[i].min, cases[i].max, &ret),
				 cases[i].verdict);
		assert_true(ret == cases[i].ret);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(durations_are_digits_and_a_unit),
	    cmocka_unit_test(a_duration_is_written_in_the_shortest_exact_way),
	    cmocka_unit_test(what_is_written_reads_back),
	    cmocka_unit_test(people_read_a_whole_number_and_a_unit),
	    cmocka_unit_test(a_ttl_is_checked_once_for_every_way_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
