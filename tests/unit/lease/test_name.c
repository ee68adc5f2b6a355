#include "config.h"

#include <errno.h>
#include <string.h>

#include "lease/name.h"
#include "tests/unit/lease/test.h"

#define ID "kls-abcdefghij"
#define S32 "s2345678901234567890123456789012"

static void a_surface_is_1_to_32_plain_characters(void **state)
{
	static const struct {
		const char *s;
		bool valid;
	} cases[] = {
	    {"sshd", true}, {"k-go", true},   {"9p", true},         {"A.b_c-d", true},
	    {S32, true},    {S32 "3", false}, {"", false},          {"-x", false},
	    {".x", false},  {"_x", false},    {"a b", false},       {"a/b", false},
	    {"a\n", false}, {"a%20", false},  {"b\xc3\xa4", false}, {"a=b", false},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		if (lease_surface_valid(cases[i].s) != cases[i].valid)
			fail_msg("\"%s\" should be %s", cases[i].s, cases[i].valid ? "valid" : "refused");
}

static void odd_bytes_of_a_user_are_encoded(void **state)
{
	static const struct {
		const char *user, *name;
	} cases[] = {
	    {"anna", "lock-sshd-anna-" ID},
	    {"a.b_c-d", "lock-sshd-a.b_c-d-" ID},
	    {"anna@example.org", "lock-sshd-anna@example.org-" ID},
	    {"DOM\\anna", "lock-sshd-DOM%5Canna-" ID},
	    {"host$", "lock-sshd-host%24-" ID},
	    {"../../etc/passwd", "lock-sshd-..%2F..%2Fetc%2Fpasswd-" ID},
	    {"a b\n", "lock-sshd-a%20b%0A-" ID},
	    {"100%", "lock-sshd-100%25-" ID},
	    {"j\xc3\xb6rg\x7f\x01", "lock-sshd-j%C3%B6rg%7F%01-" ID},
	    {"", "lock-sshd--" ID},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char name[LEASE_NAME_SIZE];

		assert_int_equal(lease_name_make(name, "sshd", cases[i].user, ID), 0);
		assert_string_equal(name, cases[i].name);
		assert_string_equal(lease_name_lock_id(name), ID);
	}
}

static void a_long_user_is_cut_and_never_in_the_middle_of_an_encoded_byte(void **state)
{
	char user[1001], name[LEASE_NAME_SIZE];

	(void)state;
	for (size_t len = 60; len < sizeof(user); len++) {
		const char *end;

		memset(user, '/', len);
		user[len] = '\0';
		assert_int_equal(lease_name_make(name, S32, user, ID), 0);
		assert_true(strlen(name) < LEASE_NAME_SIZE);
		end = lease_name_lock_id(name);
		assert_non_null(end);
		assert_memory_equal(end - 4, "%2F-", 4);
	}
	/* 255 bytes less "lock-", the surface, two dashes and the id leave room for 67 times three. */
	assert_int_equal(strlen(name), 5 + 32 + 1 + 67 * 3 + 1 + 14);
	memset(user, 'u', sizeof(user) - 1);
	user[sizeof(user) - 1] = '\0';
	assert_int_equal(lease_name_make(name, S32, user, ID), 0);
	assert_int_equal(strlen(name), LEASE_NAME_SIZE - 1);
}

static void a_bad_surface_or_id_makes_no_name(void **state)
{
	char name[LEASE_NAME_SIZE] = "untouched";

	(void)state;
	assert_int_equal(lease_name_make(name, "a/b", "anna", ID), -EINVAL);
	assert_int_equal(lease_name_make(name, "", "anna", ID), -EINVAL);
	assert_int_equal(lease_name_make(name, "sshd", "anna", "kls-short"), -EINVAL);
	assert_string_equal(name, "untouched");
}

static void only_the_trailing_id_of_a_lock_is_read(void **state)
{
	static const struct {
		const char *name;
		bool valid;
	} cases[] = {
	    {"lock-sshd-anna-" ID, true},
	    {"lock-x-y-" ID, true},
	    {"lock-x-" ID, true},
	    {"lock-k-go-anna-kls-bbbbbbbbbb-" ID, true},
	    {"lock-%2F..-" ID, true},
	    {"", false},
	    {"lock-", false},
	    {ID, false},
	    {"lock-" ID, false},
	    {"lock--" ID, false},
	    {"lock-x-y-" ID "-", false},
	    {"lock-x-y-" ID ".bak", false},
	    {"lock-x-y" ID, false},
	    {"lock-x-y_" ID, false},
	    {"lock-x-y-kls-ABCDEFGHIJ", false},
	    {"Lock-x-y-" ID, false},
	    {".lock-x-y-" ID, false},
	    {"ask-" ID, false},
	    {"lock-a b-" ID, false},
	    {"lock-a\n-" ID, false},
	    {"lock-a/b-" ID, false},
	    {"lock-\x1b[2J-" ID, false},
	    {"lock-\x7f-" ID, false},
	    {"lock-\xc3\xb6-" ID, false},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *id = lease_name_lock_id(cases[i].name);

		if ((id != NULL) != cases[i].valid)
			fail_msg("\"%s\" should be %s", cases[i].name, cases[i].valid ? "a lock" : "no lock");
		if (id) {
			assert_ptr_equal(id, cases[i].name + strlen(cases[i].name) - strlen(ID));
			assert_string_equal(id, ID);
		}
	}
}

static void a_name_longer_than_a_file_name_is_none(void **state)
{
	char name[400];

	(void)state;
	memset(name, 'x', sizeof(name));
	memcpy(name, "lock-", 5);
	memcpy(name + sizeof(name) - sizeof("-" ID), "-" ID, sizeof("-" ID));
	assert_null(lease_name_lock_id(name));
}

static void an_ask_is_its_id_and_nothing_else(void **state)
{
	(void)state;
	assert_string_equal(lease_name_ask_id("ask-" ID), ID);
	assert_null(lease_name_ask_id("ask-x-" ID));
	assert_null(lease_name_ask_id("ask-" ID "x"));
	assert_null(lease_name_ask_id("ask-"));
	assert_null(lease_name_ask_id(ID));
	assert_null(lease_name_ask_id("lock-x-y-" ID));
}

static void the_user_of_a_name_is_told_where_it_can_be(void **state)
{
	static const struct {
		const char *name, *surface, *user;
	} cases[] = {
	    {"lock-sshd-anna-" ID, "sshd", "anna"}, {"lock-k-go-a-b-" ID, "k-go", "a-b"},
	    {"lock-sshd-anna-" ID, "ss", ""},	    {"lock-sshd-anna-" ID, "unknown", ""},
	    {"lock-sshd-" ID, "sshd", ""},	    {"lock-sshd-anna-" ID, "", ""},
	    {"lock-" ID, "sshd", ""},
	};
	char user[LEASE_USER_SIZE];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		lease_name_user(user, cases[i].name, cases[i].surface);
		assert_string_equal(user, cases[i].user);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_surface_is_1_to_32_plain_characters),
	    cmocka_unit_test(odd_bytes_of_a_user_are_encoded),
	    cmocka_unit_test(a_long_user_is_cut_and_never_in_the_middle_of_an_encoded_byte),
	    cmocka_unit_test(a_bad_surface_or_id_makes_no_name),
	    cmocka_unit_test(only_the_trailing_id_of_a_lock_is_read),
	    cmocka_unit_test(a_name_longer_than_a_file_name_is_none),
	    cmocka_unit_test(the_user_of_a_name_is_told_where_it_can_be),
	    cmocka_unit_test(an_ask_is_its_id_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
