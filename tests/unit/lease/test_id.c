#include "config.h"

#include <string.h>

#include "lease/id.h"
#include "tests/unit/lease/test.h"

static void what_is_made_is_valid(void **state)
{
	char id[LEASE_ID_SIZE];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		memset(id, 'x', sizeof(id));
		lease_id_make(id);
		assert_int_equal(strlen(id), LEASE_ID_SIZE - 1);
		assert_true(lease_id_valid(id));
	}
}

/* 2000 draws of 50 bits clash once in 500 million runs of this test; an id with 20 bits or fewer would nearly
 * always. */
static void no_two_are_the_same(void **state)
{
	static char ids[2000][LEASE_ID_SIZE];

	(void)state;
	for (size_t i = 0; i < N_OF(ids); i++) {
		lease_id_make(ids[i]);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(ids[i], ids[j]);
	}
}

/* A letter that never came in 20000 draws of 32 would be one in 10^275. */
static void every_letter_of_the_alphabet_comes(void **state)
{
	char id[LEASE_ID_SIZE], seen[256] = {0};
	int letters = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		lease_id_make(id);
		for (const char *p = id + 4; *p; p++)
			seen[(unsigned char)*p] = 1;
	}
	for (size_t i = 0; i < sizeof(seen); i++)
		letters += seen[i];
	assert_int_equal(letters, 32);
}

static void only_an_id_is_an_id(void **state)
{
	static const struct {
		const char *s;
		bool valid;
	} cases[] = {
	    {"kls-aaaaaaaaaa", true},
	    {"kls-z234567abc", true},
	    {"", false},
	    {"kls-", false},
	    {"kls-aaaaaaaaa", false},
	    {"kls-aaaaaaaaaaa", false},
	    {"kls-aaaaaaaaa\n", false},
	    {"kls-aaaaaaaaaa\n", false},
	    {"kls-Aaaaaaaaaa", false},
	    {"kls-aaaaa1aaaa", false},
	    {"kls-aaaaa8aaaa", false},
	    {"kls-aaaa/aaaaa", false},
	    {"KLS-aaaaaaaaaa", false},
	    {"kls_aaaaaaaaaa", false},
	    {" kls-aaaaaaaaaa", false},
	    {"kls-aaaaaaaaa\xc3", false},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		if (lease_id_valid(cases[i].s) != cases[i].valid)
			fail_msg("\"%s\" should be %s", cases[i].s, cases[i].valid ? "valid" : "refused");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_made_is_valid),
	    cmocka_unit_test(no_two_are_the_same),
	    cmocka_unit_test(every_letter_of_the_alphabet_comes),
	    cmocka_unit_test(only_an_id_is_an_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
