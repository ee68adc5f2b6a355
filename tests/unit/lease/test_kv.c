#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "lease/kv.h"
#include "tests/unit/lease/test.h"

#define H LEASE_HEADER
#define K31 "k234567890123456789012345678901"

static int count_pairs(const char *buf, size_t len, struct lease_error *err)
{
	struct lease_pair pair;
	struct lease_kv kv;
	int n = 0, e;

	memset(err, 'x', sizeof(*err));
	e = lease_kv_begin(&kv, buf, len, LEASE_FILE_MAX, err);
	if (e < 0)
		return e;
	while ((e = lease_kv_next(&kv, &pair, err)) > 0)
		n++;
	return e < 0 ? e : n;
}

static void pairs_come_in_order_with_their_lines(void **state)
{
	static const char text[] = H "ttl=5m\nlabel=project=kruze\nlabel=\na.b-c_9= x = y \n";
	static const struct lease_pair want[] = {
	    {"ttl", "5m", 2},
	    {"label", "project=kruze", 3},
	    {"label", "", 4},
	    {"a.b-c_9", " x = y ", 5},
	};
	struct lease_pair pair;
	struct lease_error err;
	struct lease_kv kv;

	(void)state;
	assert_int_equal(lease_kv_begin(&kv, text, strlen(text), LEASE_FILE_MAX, &err), 0);
	for (size_t i = 0; i < N_OF(want); i++) {
		assert_int_equal(lease_kv_next(&kv, &pair, &err), 1);
		assert_string_equal(pair.key, want[i].key);
		assert_string_equal(pair.value, want[i].value);
		assert_int_equal(pair.line, want[i].line);
	}
	assert_int_equal(lease_kv_next(&kv, &pair, &err), 0);
	assert_int_equal(lease_kv_next(&kv, &pair, &err), 0);
}

/* The string is given with its length, so that a NUL can stand in it. */
#define TEXT(s) s, sizeof(s) - 1

static void a_wrong_file_is_refused_with_its_line_and_what_is_right(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		int ret, line;
		const char *what;
	} cases[] = {
	    {TEXT(H), 0, 0, ""},
	    {TEXT(H K31 "=x\n"), 1, 0, ""},
	    {TEXT(H "a=\xc3\xb6\n"), 1, 0, ""},
	    {TEXT(""), -ENODATA, 1, "the first line must be"},
	    {TEXT("#"), -ENODATA, 1, "the first line must be"},
	    {TEXT("#leasewatch"), -ENODATA, 1, "the first line must be"},
	    {TEXT("\177ELF"), -ENODATA, 1, "the first line must be"},
	    {TEXT("ttl=5m\n"), -ENODATA, 1, "the first line must be"},
	    {TEXT("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), -ENODATA, 1, "the first line must be"},
	    {TEXT("#leasewatch 1"), -EINVAL, 1, "another format"},
	    {TEXT("#leasewatch 2\n"), -EPROTO, 1, "another format, a newer"},
	    {TEXT("#leasewatch 2\nkey=of a later time\n"), -EPROTO, 1, "another format, a newer"},
	    {TEXT("#leasewatch 12\n"), -EPROTO, 1, "another format, a newer"},
	    {TEXT("#leasewatch 2"), -EINVAL, 1, "another format"},
	    {TEXT("#leasewatch \n"), -EINVAL, 1, "another format"},
	    {TEXT("#leasewatch 1\r\n"), -EINVAL, 1, "another format"},
	    {TEXT("#leasewatch 1 \n"), -EINVAL, 1, "another format"},
	    {TEXT(H "\0"), -EINVAL, 2, "NUL"},
	    {TEXT(H "a=b\nc=d\0e\n"), -EINVAL, 3, "NUL"},
	    {TEXT(H "a=b\n\0"), -EINVAL, 3, "NUL"},
	    {TEXT(H "a=b"), -EINVAL, 2, "newline"},
	    {TEXT(H "a=b\nc=d\ne"), -EINVAL, 4, "newline"},
	    {TEXT(H "\n"), -EINVAL, 2, "empty line"},
	    {TEXT(H "a=b\n\nc=d\n"), -EINVAL, 3, "empty line"},
	    {TEXT(H "a\n"), -EINVAL, 2, "not key=value"},
	    {TEXT(H "=b\n"), -EINVAL, 2, "key"},
	    {TEXT(H "# remark\n"), -EINVAL, 2, "not key=value"},
	    {TEXT(H " a=b\n"), -EINVAL, 2, "not key=value"},
	    {TEXT(H "a =b\n"), -EINVAL, 2, "not key=value"},
	    {TEXT(H "A=b\n"), -EINVAL, 2, "not key=value"},
	    {TEXT(H "9=b\n"), -EINVAL, 2, "not key=value"},
	    {TEXT(H K31 "2=x\n"), -EINVAL, 2, "not key=value"},
	    {TEXT(H "a\x1b=b\n"), -EINVAL, 2, "not key=value"},
	    {TEXT(H "a=b\r\n"), -EINVAL, 2, "control byte"},
	    {TEXT(H "a=\tb\n"), -EINVAL, 2, "control byte"},
	    {TEXT(H "a=\x1b[31m\n"), -EINVAL, 2, "control byte"},
	    {TEXT(H "a=\x7f\n"), -EINVAL, 2, "control byte"},
	};
	struct lease_error err;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		int ret = count_pairs(cases[i].text, cases[i].len, &err);

		if (ret != cases[i].ret)
			fail_msg("case %zu \"%s\" gives %d", i, cases[i].text, ret);
		if (ret >= 0)
			continue;
		if (err.line != cases[i].line || !strstr(err.what, cases[i].what))
			fail_msg("case %zu says line %d: %s", i, err.line, err.what);
	}
}

static void a_value_may_have_1000_bytes_and_no_more(void **state)
{
	char text[2048] = H "a=";
	size_t at = strlen(text);
	struct lease_error err;

	(void)state;
	memset(text + at, 'v', 1000);
	text[at + 1000] = '\n';
	assert_int_equal(count_pairs(text, at + 1001, &err), 1);
	text[at + 1000] = 'v';
	text[at + 1001] = '\n';
	assert_int_equal(count_pairs(text, at + 1002, &err), -EINVAL);
	assert_int_equal(err.line, 2);
	assert_non_null(strstr(err.what, "1000"));
}

static void a_file_of_4096_bytes_is_read_and_one_of_4097_is_not(void **state)
{
	char text[LEASE_FILE_MAX + 1] = H;
	struct lease_error err;

	(void)state;
	for (size_t i = strlen(text); i + 6 < LEASE_FILE_MAX; i += 4)
		memcpy(text + i, "a=b\n", 4);
	memcpy(text + LEASE_FILE_MAX - 6, "a=bbb\n\n", 7);
	assert_true(count_pairs(text, LEASE_FILE_MAX, &err) > 0);
	assert_int_equal(count_pairs(text, LEASE_FILE_MAX + 1, &err), -EINVAL);
	assert_int_equal(err.line, 0);
	assert_non_null(strstr(err.what, "4096"));
}

static void what_is_written_reads_back(void **state)
{
	static const struct {
		const char *key;
		long long value;
		const char *text;
	} numbers[] = {
	    {"zero", 0, "0"},
	    {"minus", -1, "-1"},
	    {"min", LLONG_MIN, "-9223372036854775808"},
	    {"max", LLONG_MAX, "9223372036854775807"},
	};
	char buf[LEASE_FILE_MAX];
	struct lease_kv_out o;
	struct lease_pair pair;
	struct lease_error err;
	struct lease_kv kv;
	size_t len;

	(void)state;
	lease_kv_out_begin(&o, buf, sizeof(buf));
	lease_kv_out_str(&o, "label", "a=b c");
	for (size_t i = 0; i < N_OF(numbers); i++)
		lease_kv_out_int(&o, numbers[i].key, numbers[i].value);
	assert_int_equal(lease_kv_out_end(&o, &len), 0);
	assert_int_equal(lease_kv_begin(&kv, buf, len, sizeof(buf), &err), 0);
	assert_int_equal(lease_kv_next(&kv, &pair, &err), 1);
	assert_string_equal(pair.value, "a=b c");
	for (size_t i = 0; i < N_OF(numbers); i++) {
		assert_int_equal(lease_kv_next(&kv, &pair, &err), 1);
		assert_string_equal(pair.key, numbers[i].key);
		assert_string_equal(pair.value, numbers[i].text);
	}
	assert_int_equal(lease_kv_next(&kv, &pair, &err), 0);
}

static void a_writer_refuses_what_a_reader_would(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {
	    {"a", "x\ny=z"}, {"a", "\x1b"}, {"a", "\x7f"}, {"", "x"},      {"A", "x"},
	    {"a b", "x"},    {"a=b", "x"},  {"9", "x"},    {K31 "2", "x"},
	};
	char buf[4096], big[1002];
	struct lease_kv_out o;
	size_t len = 77;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		lease_kv_out_begin(&o, buf, sizeof(buf));
		lease_kv_out_str(&o, cases[i].key, cases[i].value);
		lease_kv_out_str(&o, "good", "value");
		assert_int_equal(lease_kv_out_end(&o, &len), -EINVAL);
	}
	memset(big, 'v', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	lease_kv_out_begin(&o, buf, sizeof(buf));
	lease_kv_out_str(&o, "a", big);
	assert_int_equal(lease_kv_out_end(&o, &len), -EINVAL);
	assert_int_equal(len, 77);
}

static void a_full_buffer_is_said_at_the_end_and_never_overrun(void **state)
{
	static const char whole[] = H "key=value\n";
	char buf[sizeof(whole) + 8];
	struct lease_kv_out o;

	(void)state;
	for (size_t size = 0; size < sizeof(whole) + 4; size++) {
		size_t len = 77;
		int e;

		memset(buf, '!', sizeof(buf));
		lease_kv_out_begin(&o, buf, size);
		lease_kv_out_str(&o, "key", "value");
		e = lease_kv_out_end(&o, &len);
		assert_int_equal(e, size < strlen(whole) ? -ENOSPC : 0);
		assert_int_equal(len, e ? 77 : strlen(whole));
		for (size_t i = size; i < sizeof(buf); i++)
			assert_int_equal(buf[i], '!');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pairs_come_in_order_with_their_lines),
	    cmocka_unit_test(a_wrong_file_is_refused_with_its_line_and_what_is_right),
	    cmocka_unit_test(a_value_may_have_1000_bytes_and_no_more),
	    cmocka_unit_test(a_file_of_4096_bytes_is_read_and_one_of_4097_is_not),
	    cmocka_unit_test(what_is_written_reads_back),
	    cmocka_unit_test(a_writer_refuses_what_a_reader_would),
	    cmocka_unit_test(a_full_buffer_is_said_at_the_end_and_never_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
