/* The table against itself, and against leasewatch.conf(5). */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/value.h"
#include "help.h"

static void every_default_is_a_value_of_its_key(void **state)
{
	const struct option_row *row;
	char what[VALUE_WHAT_SIZE];
	int64_t num;

	(void)state;
	for (row = option_table; row->section; row++)
		if (row->deflt && value_parse(row, row->deflt, &num, what) < 0)
			fail_msg("[%s] %s = %s: %s", row->section, row->name, row->deflt, what);
}

static void every_key_has_a_default_a_range_and_a_sentence(void **state)
{
	const struct option_row *row;

	(void)state;
	for (row = option_table; row->section; row++) {
		bool inherits = !strcmp(row->section, "surface") || !strcmp(row->section, "profile");

		/* notices depends on the mode, hold on the ttl; the manual says so. */
		if (strcmp(row->name, "notices") != 0 && strcmp(row->name, "hold") != 0)
			assert_int_equal(inherits, row->deflt == NULL);
		assert_true(strlen(row->range) > 1);
		assert_true(strlen(row->sentence) > 20);
		assert_int_equal(row->sentence[strlen(row->sentence) - 1], '.');
		assert_true(row->min <= row->max);
	}
}

static void the_rows_of_a_section_stand_together_and_are_not_too_many(void **state)
{
	const struct section_kind *k;
	size_t n, all = 0, sum = 0;

	(void)state;
	while (option_table[all].section)
		all++;
	for (k = section_kinds; k->word; k++) {
		(void)option_rows(k->word, &n);
		assert_in_range(n, k->free ? 0 : 1, OPTIONS_PER_SECTION);
		sum += n;
	}
	assert_int_equal(sum, all);
}

static void no_key_is_twice_in_a_section(void **state)
{
	const struct option_row *row;

	(void)state;
	for (row = option_table; row->section; row++)
		assert_ptr_equal(option_find(row->section, row->name), row);
}

static void what_was_meant_is_found(void **state)
{
	static const char *const cases[][3] = {
	    {"defaults", "tll", "ttl"},
	    {"defaults", "hibernate-after", "hibernate_after"},
	    {"surface", "priorty", "priority"},
	    {"observe", "cpufloor", "cpu_floor"},
	    {"admission", "quota", "quota_leases"},
	    {"daemon", "", "user"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(option_nearest(cases[i][0], cases[i][1])->name, cases[i][2]);
	assert_string_equal(section_kind_nearest("default")->word, "defaults");
	assert_string_equal(section_kind_nearest("Surface")->word, "surface");
}

/* The part of the manual whose heading names this section: from one .Ss to the next. */
static bool manual_has(const char *manual, const char *section, const char *line)
{
	const char *p = strstr(manual, "\n.Ss "), *heading_end, *next, *at;
	char word[40];

	snprintf(word, sizeof(word), "[%s", section);
	for (; p; p = next) {
		heading_end = strchr(p + 1, '\n');
		next = strstr(heading_end, "\n.Ss ");
		at = strstr(p, word);
		if (!at || at > heading_end)
			continue;
		at = strstr(heading_end, line);
		if (at && (!next || at < next))
			return true;
	}
	return false;
}

static void every_key_is_in_the_manual_with_its_default(void **state)
{
	char *manual = source_file("man/leasewatch.conf.5"), line[200];
	const struct option_row *row, *deflt;

	(void)state;
	for (row = option_table; row->section; row++) {
		deflt = row->deflt ? row : option_find("defaults", row->name);
		if (deflt && deflt->deflt)
			snprintf(line, sizeof(line), "\n.It Cm %s Pq Li %s\n", row->name, deflt->deflt);
		else
			snprintf(line, sizeof(line), "\n.It Cm %s\n", row->name);
		if (!manual_has(manual, row->section, line))
			fail_msg("leasewatch.conf(5): no '%s' under a heading with [%s]", line + 1,
				 row->section);
	}
	free(manual);
}

static void every_key_in_the_manual_is_in_the_table(void **state)
{
	char *manual = source_file("man/leasewatch.conf.5"), key[64];
	const char *p;
	int n = 0;

	(void)state;
	for (p = strstr(manual, "\n.It Cm "); p; p = strstr(p + 1, "\n.It Cm ")) {
		assert_int_equal(sscanf(p, "\n.It Cm %63s", key), 1);
		if (!option_elsewhere(key))
			fail_msg("leasewatch.conf(5) has %s, the table has not", key);
		n++;
	}
	assert_true(n > 10);
	free(manual);
}

static void every_sentence_opens_its_text_in_the_manual(void **state)
{
	char *manual = source_file("man/leasewatch.conf.5"), *c;
	const struct option_row *row;
	char start[20]; /* further on there may be markup */

	(void)state;
	for (c = manual; *c; c++)
		if (*c == '\n')
			*c = ' ';
	for (row = option_table; row->section; row++) {
		snprintf(start, sizeof(start), "%s", row->sentence);
		if (strcmp(row->section, "profile") != 0 && !strstr(manual, start))
			fail_msg("leasewatch.conf(5): %s is not told by '%s'", row->name, row->sentence);
	}
	free(manual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_default_is_a_value_of_its_key),
	    cmocka_unit_test(every_key_has_a_default_a_range_and_a_sentence),
	    cmocka_unit_test(the_rows_of_a_section_stand_together_and_are_not_too_many),
	    cmocka_unit_test(no_key_is_twice_in_a_section),
	    cmocka_unit_test(what_was_meant_is_found),
	    cmocka_unit_test(every_key_is_in_the_manual_with_its_default),
	    cmocka_unit_test(every_key_in_the_manual_is_in_the_table),
	    cmocka_unit_test(every_sentence_opens_its_text_in_the_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
