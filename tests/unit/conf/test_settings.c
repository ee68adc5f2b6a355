/* leasewatch.conf: what is read, what is refused and where, and that the dump reads back the same. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/value.h"
#include "help.h"
#include "lease/duration.h"

#define S LEASE_NS_PER_S
#define M (60 * S)
#define D (86400 * S)

static void without_a_file_the_defaults_hold(void **state)
{
	const struct settings_daemon *d;
	struct errors e = {0};
	struct settings *s;
	struct policy p;

	(void)state;
	assert_int_equal(settings_load(NULL, errors_add, &e, &s), 0);
	d = settings_daemon(s);
	assert_string_equal(d->user, "leasewatch");
	assert_int_equal(d->n_notices, 0);
	assert_int_equal(d->archive_keep, 30 * D);
	assert_int_equal(d->queue_timeout, 10 * M);
	assert_int_equal(d->quota_leases, 1000);
	assert_int_equal(d->observe_every, 30 * S);
	assert_int_equal(d->breaker.share, 500000);
	assert_int_equal(d->breaker.minimum, 5);
	assert_int_equal(d->breaker.window, M);
	assert_int_equal(d->breaker.hold, 5 * M);
	assert_int_equal(settings_policy(s, "cli", "", &p), 0);
	assert_int_equal(p.ttl, 5 * M);
	assert_int_equal(p.renew_grace, 90 * S);
	assert_int_equal(p.hibernate_after, 30 * M);
	assert_int_equal(p.warn_before, 60 * S);
	assert_int_equal(p.linger, 0);
	assert_int_equal(p.min_ttl, 0);
	assert_int_equal(p.max_ttl, 7 * D);
	assert_int_equal(p.max_lifetime, 7 * D);
	assert_int_equal(p.hibernated_retention, 7 * D);
	assert_int_equal(p.cpu_floor_ppm, 10000);
	assert_int_equal(p.priority, 5);
	assert_int_equal(p.max_priority, 7);
	assert_int_equal(p.usage, LEASE_USAGE_HYBRID);
	assert_string_equal(p.runtime, "process");
	settings_free(s);
}

static void a_good_file_is_read(void **state)
{
	static const char text[] = "\xef\xbb\xbf# a comment\r\n"
				   "[daemon]\r\n"
				   "user = watch.er ; who\r\n"
				   "notices = /srv/a b/notices\n"
				   "archive_keep=1d\n"
				   "; another\n\n"
				   "\t[ defaults ] ; all\n"
				   "  ttl = 800ms\n"
				   "  hibernate_after = never\n"
				   "usage: explicit\n"
				   "max_lifetime = never\n"
				   "[observe]\n"
				   "every = 200ms\n"
				   "cpu_floor = 0.5%\n"
				   "[admission]\n"
				   "quota_leases = none\n"
				   "queue_timeout = 2h"; /* no newline at the end */
	struct settings *s = read_text(text, NULL);
	const struct settings_daemon *d = settings_daemon(s);
	struct policy p;

	(void)state;
	assert_string_equal(d->user, "watch.er");
	assert_int_equal(d->n_notices, 1);
	assert_string_equal(d->notices[0], "/srv/a b/notices");
	assert_int_equal(d->archive_keep, D);
	assert_int_equal(d->quota_leases, -1);
	assert_int_equal(d->queue_timeout, 120 * M);
	assert_int_equal(d->observe_every, 200 * LEASE_NS_PER_MS);
	assert_int_equal(settings_policy(s, "", "", &p), 0);
	assert_int_equal(p.ttl, 800 * LEASE_NS_PER_MS);
	assert_int_equal(p.hibernate_after, LEASE_NEVER);
	assert_int_equal(p.max_lifetime, LEASE_NEVER);
	assert_int_equal(p.usage, LEASE_USAGE_EXPLICIT);
	assert_int_equal(p.cpu_floor_ppm, 5000);
	settings_free(s);
}

static void the_breakers_hold_is_one_ttl_where_it_is_not_said(void **state)
{
	struct settings *s = read_text("[defaults]\nttl = 20m\n[breaker]\nminimum = 9\nwindow = 10s\n", NULL);

	(void)state;
	assert_int_equal(settings_daemon(s)->breaker.hold, 20 * M);
	assert_int_equal(settings_daemon(s)->breaker.minimum, 9);
	assert_int_equal(settings_daemon(s)->breaker.window, 10 * S);
	settings_free(s);
	s = read_text("[breaker]\nhold = 90s\n[defaults]\nttl = 20m\n", NULL);
	assert_int_equal(settings_daemon(s)->breaker.hold, 90 * S);
	settings_free(s);
}

static void a_share_is_a_fraction_or_a_percentage(void **state)
{
	static const struct {
		const char *text;
		int64_t share;
	} good[] = { { "0.5", 500000 }, { "50%", 500000 }, { "1", 1000000 },	     { "1.0", 1000000 }, { "100%", 1000000 },
		     { "0.25", 250000 }, { "0.000001", 1 }, { "0.333333", 333333 }, { "0.5%", 5000 } };
	static const char *const bad[] = { "0",	  "0.0", "0%",	"2",  "1.1",	   "101%", "-0.5",  ".5",
					   "0.",  "half", "0,5", "",   "0.5.5",	   "5e-1", "0.5 %", "0.0000001",
					   "50 %", "nan", "never", "99999999999999999999" };
	const struct option_row *row = option_find("breaker", "share");
	char what[VALUE_WHAT_SIZE];
	int64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(value_parse(row, good[i].text, &n, what), 0);
		assert_int_equal(n, good[i].share);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (value_parse(row, bad[i], &n, what) == 0)
			fail_msg("share = %s was taken for %lld", bad[i], (long long)n);
}

static void a_profile_stands_over_a_surface_over_the_defaults(void **state)
{
	struct settings *s = read_text("[profile vm]\nttl = 20m\ncpu_floor = 20%\nruntime = qemu\n"
				       "[surface sshd]\nttl = 10m\nlinger = 5m\n"
				       "[defaults]\nrenew_grace = 1m\npriority = 2\n",
				       NULL);
	struct policy p;

	(void)state;
	assert_int_equal(settings_policy(s, "sshd", "vm", &p), 0);
	assert_int_equal(p.ttl, 20 * M);
	assert_int_equal(p.linger, 5 * M);
	assert_int_equal(p.renew_grace, M);
	assert_int_equal(p.priority, 2);
	assert_int_equal(p.cpu_floor_ppm, 200000);
	assert_string_equal(p.runtime, "qemu");
	assert_int_equal(settings_policy(s, "sshd", "", &p), 0);
	assert_int_equal(p.ttl, 10 * M);
	assert_int_equal(p.cpu_floor_ppm, 10000);
	assert_int_equal(settings_policy(s, "cli", "", &p), 0);
	assert_int_equal(p.ttl, 5 * M);
	assert_int_equal(settings_policy(s, "sshd", "mv", &p), -ENOENT);
	settings_free(s);
}

static void a_limit_cuts_off_the_ttl_of_a_more_general_section(void **state)
{
	struct settings *s = read_text(
	    "[defaults]\nttl = 10m\n[surface ci]\nmax_ttl = 2m\n[surface k-go]\nmin_ttl = 1h\n", NULL);
	struct policy p;

	(void)state;
	assert_int_equal(settings_policy(s, "ci", "", &p), 0);
	assert_int_equal(p.ttl, 2 * M);
	assert_int_equal(settings_policy(s, "k-go", "", &p), 0);
	assert_int_equal(p.ttl, 60 * M);
	settings_free(s);
}

static const struct {
	const char *text;
	int line;
	const char *what;
} wrong[] = {
    /* keys and sections */
    {"ttl = 5m\n", 1, "before the first section"},
    {"[defaults]\n\nttll = 5m\n", 3, "unknown key 'ttll' in [defaults]: the nearest is 'ttl'"},
    {"[defaults]\nevery = 5m\n", 2, "unknown key 'every' in [defaults]: its place is [observe]"},
    {"[surface x]\nruntime = process\n", 2, "unknown key 'runtime'"},
    {"[defaults]\ncpu_floor = 1%\n", 2, "unknown key 'cpu_floor'"},
    {"[defaults]\nttl = 5m\nttl = 5m\n", 3, "ttl is there twice in this section: line 2 has the first"},
    {"[defaults]\nttl = x\nttl = 5m\n", 3, "line 2 has the first"},
    {"[surface a]\n[daemon]\n[surface a]\n", 3, "section [surface a] is there twice: line 1 has the first"},
    {"[default]\n", 1, "unknown section [default]: the nearest is [defaults]"},
    {"[profil x]\n", 1, "the nearest is [profile NAME]"},
    {"[surface]\n", 1, "needs a name: [surface NAME]"},
    {"[surface  ]\n", 1, "needs a name"},
    {"[surface a b]\n", 1, "'a b' is no name of a surface"},
    {"[surface a/b]\n", 1, "is no name of a surface"},
    {"[profile A]\n", 1, "is no name of a profile"},
    {"[surface aaaaaaaaaabbbbbbbbbbccccccccccddd]\n", 1, "is no name of a surface"},
    {"[daemon x]\n", 1, "section [daemon] has no name"},
    {"[]\n", 1, "unknown section []"},
    {"\n[defaults\n", 2, "ends with ]"},
    {"[defaults] ttl = 5m\n", 1, "text after ]"},
    {"[defaults]\nttl\n", 2, "'ttl' is neither"},
    {"[defaults]\nttl ; = 5m", 2, "is neither"},
    {"[defaults]\n= 5m\n", 2, "no key before the ="},
    {"[defaults]\nttl =\n", 2, "ttl has no value: the default is 5m"},
    {"[surface x]\nttl = ; five\n", 2, "ttl has no value"},
    /* an indented line is a line, no continuation of a value */
    {"[defaults]\nttl = 5m\n  6m\n", 3, "'6m' is neither"},
    /* durations */
    {"[defaults]\nttl = 5\n", 2, "'5' has no unit"},
    {"[defaults]\nttl = 5 m\n", 2, "is no duration"},
    {"[defaults]\nttl = -5m\n", 2, "is no duration"},
    {"[defaults]\nttl = 1.5h\n", 2, "is no duration"},
    {"[defaults]\nttl = 99999d\n", 2, "longer than ten years"},
    {"[defaults]\nttl = 5m # five\n", 2, "a comment after a value begins with a blank and ;"},
    {"[defaults]\nttl = 0s\n", 2, "0 could mean never or at once: write a time longer than 0"},
    {"[defaults]\nttl = 0\n", 2, "0 could mean never or at once"},
    {"[defaults]\nhibernate_after = 0\n", 2,
     "0 could mean never or at once: write never, or a time longer than 0"},
    {"[defaults]\nmax_ttl = 0ms\n", 2, "write never, or a time longer than 0"},
    {"[defaults]\nmax_lifetime = 0d\n", 2, "write never, or a time longer than 0"},
    {"[defaults]\nhibernated_retention = 00h\n", 2, "write never, or a time longer than 0"},
    {"[defaults]\nmin_ttl = 0s\n", 2, "write none, or a time longer than 0"},
    {"[defaults]\nlinger = 0\n", 2, "'0' has no unit: write 0s"},
    {"[defaults]\nttl = never\n", 2, "never is not for this key"},
    {"[defaults]\nlinger = never\n", 2, "never is not for this key"},
    {"[defaults]\nrenew_grace = never\n", 2, "never is not for this key"},
    {"[defaults]\nmin_ttl = never\n", 2, "never is not for this key"},
    {"[observe]\nevery = never\n", 2, "never is not for this key"},
    {"[defaults]\nmax_ttl = none\n", 2, "is no duration"},
    {"[observe]\nevery = 9ms\n", 2, "out of range: it must be >= 10ms"},
    /* numbers */
    {"[defaults]\npriority = 10\n", 2, "out of range: it must be 0-9"},
    {"[defaults]\npriority = +5\n", 2, "is no whole number"},
    {"[defaults]\nmax_priority = 99999999999999999999\n", 2, "out of range"},
    {"[admission]\nquota_leases = 0\n", 2, "write none, or a number above 0"},
    {"[admission]\nquota_leases = never\n", 2, "is no whole number"},
    {"[observe]\ncpu_floor = 1\n", 2, "is no percentage"},
    {"[observe]\ncpu_floor = 1.%\n", 2, "is no percentage"},
    {"[observe]\ncpu_floor = .5%\n", 2, "is no percentage"},
    {"[observe]\ncpu_floor = 0%\n", 2, "out of range"},
    {"[observe]\ncpu_floor = 100000.1%\n", 2, "out of range"},
    {"[observe]\ncpu_floor = 99999999999999999999999%\n", 2, "out of range"},
    {"[observe]\ncpu_floor = 0.00001%\n", 2, "at most four digits"},
    /* words */
    {"[defaults]\nusage = Both\n", 2, "write explicit, observed or hybrid"},
    {"[defaults]\nruntime = ../sh\n", 2, "is no name"},
    {"[daemon]\nuser = a:b\n", 2, "is no user's name"},
    {"[daemon]\nuser = -x\n", 2, "is no user's name"},
    {"[daemon]\nnotices = tree\n", 2, "is not absolute"},
    {"[daemon]\nnotices = ~/tree\n", 2, "is not absolute"},
    {"[daemon]\nnotices = /a\nnotices = /b\n", 3, "more than one tree is not supported yet"},
    /* between keys */
    {"[defaults]\nmin_ttl = 10m\nttl = 5m\n", 3, "ttl = 5m (line 3) is shorter than min_ttl = 10m (line 2)"},
    {"[profile x]\nttl = 10m\n\nmax_ttl = 5m\n", 4,
     "ttl = 10m (line 2) is longer than max_ttl = 5m (line 4)"},
    {"[defaults]\nttl = 60s\nwarn_before = 1m\n", 3, "must be shorter than ttl"},
    {"[surface x]\nwarn_before = 2h\nttl = 1h\n", 3, "must be shorter than ttl"},
    {"[defaults]\nmin_ttl = 8d\n", 2, "min_ttl = 8d is longer than max_ttl = 7d, its default"},
    {"[defaults]\nmin_ttl = 1h\n[surface x]\nmax_ttl = 1m\n", 4,
     "min_ttl = 1h (line 2) is longer than max_ttl"},
    {"[profile a]\nmin_ttl = 1h\n[surface x]\nmax_ttl = 1m\n", 4,
     "min_ttl = 1h (line 2) is longer than max_ttl"},
    /* no text */
    {"[defaults]\n\x01ttl = 5m\n", 2, "control character"},
    {"[defaults]\rttl = 5m\r", 1, "control character"},
};

static void each_kind_of_error_gives_its_line(void **state)
{
	struct errors e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct settings *s = read_text(wrong[i].text, &e);

		if (s)
			fail_msg("taken for good: %s", wrong[i].text);
		if (error_line(&e, wrong[i].what) != wrong[i].line)
			fail_msg("%s: line %d and '%s' expected, line %d and '%s' found", wrong[i].text,
				 wrong[i].line, wrong[i].what, e.each[0].line, e.each[0].what);
	}
}

static void a_fault_is_reported_once(void **state)
{
	struct errors e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		(void)read_text(wrong[i].text, &e);
		/* A key twice with a wrong value the first time is two faults, and the old Mac's file is one
		 * long line. */
		if (e.n != 1 && !strstr(wrong[i].text, "ttl = x"))
			fail_msg("%s: %d errors, the second '%s'", wrong[i].text, e.n, e.each[1].what);
	}
}

static void all_errors_are_reported_at_once(void **state)
{
	struct errors e;

	(void)state;
	assert_null(
	    read_text("[defaults]\nttl = x\n[pressure]\nsettle = 5m\n[observe]\nfoo\nevery = 0\n", &e));
	assert_int_equal(e.n, 4);
	assert_int_equal(e.each[0].line, 2);
	assert_int_equal(e.each[1].line, 3);
	assert_int_equal(e.each[2].line, 6);
	assert_int_equal(e.each[3].line, 7);
}

static void a_file_of_rubbish_does_not_flood_the_log(void **state)
{
	char text[5 * 500 + 1];
	struct errors e;
	size_t i;

	(void)state;
	for (i = 0; i < 500; i++)
		memcpy(text + 5 * i, "junk\n", 6);
	assert_null(read_text(text, &e));
	assert_int_equal(e.n, ERRORS_MAX + 1);
	assert_string_equal(e.each[ERRORS_MAX].what, "and 400 more errors");
}

static void a_long_line_is_an_error_and_no_two_lines(void **state)
{
	char text[600] = "[defaults]\n";
	struct errors e;
	size_t n;

	(void)state;
	/* Debian's libinih takes 200 bytes, less 3. Were the rest a line of its own, it would set ttl. */
	for (n = 180; n < 400; n++) {
		struct settings *s;

		memset(text + 11, ' ', n);
		memcpy(text + 11, "renew_grace = 1m", 16);
		memcpy(text + 11 + n, "ttl = 1m\n", 10);
		s = read_text(text, &e);
		assert_null(s);
		assert_int_equal(e.each[0].line, 2);
		assert_int_equal(e.n, 1);
		assert_int_equal(
		    error_line(&e, n + 8 > 197 ? "too long: at most 197 bytes" : "is no duration"), 2);
	}
	/* A comment may be as long as it likes. */
	memset(text + 11, '#', 500);
	memcpy(text + 511, "\n", 2);
	settings_free(read_text(text, NULL));
}

static void a_nul_byte_is_an_error_with_its_line(void **state)
{
	static const char text[] = "[defaults]\n\nttl = 5m\0\n";
	struct errors e = {0};
	struct settings *s;

	(void)state;
	assert_int_equal(settings_parse("t", text, sizeof(text) - 1, errors_add, &e, &s), -EINVAL);
	assert_int_equal(e.n, 1);
	assert_int_equal(e.each[0].line, 3);
	assert_non_null(strstr(e.each[0].what, "NUL"));
}

static void the_dump_reads_back_the_same(void **state)
{
	static const char *const texts[] = {
	    "",
	    "[defaults]\nttl = 30s\n",
	    "[defaults]\nmax_ttl = 1m\n[surface sshd]\nlinger = 5m\nttl = 30m\n[profile vm]\n[profile "
	    "x-1]\ncpu_floor = 2%\n",
	    "[daemon]\nnotices = /a b/c\nuser = x\n[admission]\nquota_leases = none\n[defaults]\nmax_ttl = "
	    "never\nmin_ttl = 1ms\n",
	};
	size_t i, len;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct settings *s = read_text(texts[i], NULL), *again;
		struct policy a, b;
		char *first, *second;
		FILE *f;

		f = open_memstream(&first, &len);
		settings_dump(s, f);
		(void)fclose(f);
		again = read_text(first, NULL);
		f = open_memstream(&second, &len);
		settings_dump(again, f);
		(void)fclose(f);
		assert_string_equal(first, second);
		assert_memory_equal(settings_daemon(s), settings_daemon(again),
				    sizeof(struct settings_daemon));
		assert_int_equal(settings_policy(s, "sshd", "", &a), 0);
		assert_int_equal(settings_policy(again, "sshd", "", &b), 0);
		policies_are_equal(&a, &b);
		settings_free(s);
		settings_free(again);
		free(first);
		free(second);
	}
}

static void the_dump_shows_every_key_that_has_a_value(void **state)
{
	struct settings *s = read_text("[defaults]\nttl = 1h\n", NULL);
	const struct option_row *row;
	char *text, line[100];
	size_t len;
	FILE *f;

	(void)state;
	f = open_memstream(&text, &len);
	settings_dump(s, f);
	(void)fclose(f);
	assert_non_null(strstr(text, "\nttl = 1h\n"));
	for (row = option_table; row->section; row++) {
		snprintf(line, sizeof(line), "\n; %s = %s\n", row->name, row->deflt ? row->deflt : "");
		if (row->deflt && strcmp(row->name, "ttl") != 0 && !strstr(text, line))
			fail_msg("no %s", line);
	}
	settings_free(s);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_a_file_the_defaults_hold),
	    cmocka_unit_test(a_good_file_is_read),
	    cmocka_unit_test(the_breakers_hold_is_one_ttl_where_it_is_not_said),
	    cmocka_unit_test(a_share_is_a_fraction_or_a_percentage),
	    cmocka_unit_test(a_profile_stands_over_a_surface_over_the_defaults),
	    cmocka_unit_test(a_limit_cuts_off_the_ttl_of_a_more_general_section),
	    cmocka_unit_test(each_kind_of_error_gives_its_line),
	    cmocka_unit_test(a_fault_is_reported_once),
	    cmocka_unit_test(all_errors_are_reported_at_once),
	    cmocka_unit_test(a_file_of_rubbish_does_not_flood_the_log),
	    cmocka_unit_test(a_long_line_is_an_error_and_no_two_lines),
	    cmocka_unit_test(a_nul_byte_is_an_error_with_its_line),
	    cmocka_unit_test(the_dump_reads_back_the_same),
	    cmocka_unit_test(the_dump_shows_every_key_that_has_a_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
