/* leasewatch.conf as a file: whose it may be, what it may be, and that the example and the manual's examples are good ones. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "help.h"
#include "lease/duration.h"

#define S LEASE_NS_PER_S
#define M (60 * S)
#define D (86400 * S)

/* Files. The folder is the test's own. */

struct folder {
	char path[64], file[80];
};

static int folder_make(void **state)
{
	static struct folder f;

	snprintf(f.path, sizeof(f.path), "/tmp/leasewatch-conf-XXXXXX");
	if (!mkdtemp(f.path))
		return -1;
	snprintf(f.file, sizeof(f.file), "%s/t.conf", f.path);
	*state = &f;
	return 0;
}

static int folder_remove(void **state)
{
	struct folder *f = *state;

	if (unlink(f->file) < 0)
		(void)rmdir(f->file);
	return rmdir(f->path);
}

static void write_file(const struct folder *f, const char *text, mode_t mode)
{
	int fd = open(f->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	(void)close(fd);
}

static int load(const struct folder *f, struct errors *e, struct settings **ret)
{
	e->n = 0;
	return settings_load(f->file, errors_add, e, ret);
}

static void a_file_is_loaded_and_its_name_is_in_the_errors(void **state)
{
	struct settings *s;
	struct errors e;
	struct policy p;

	write_file(*state, "[defaults]\nttl = 7s\n", 0644);
	assert_int_equal(load(*state, &e, &s), 0);
	assert_int_equal(settings_policy(s, "cli", "", &p), 0);
	assert_int_equal(p.ttl, 7 * S);
	settings_free(s);
}

static void a_bad_reload_leaves_the_old_settings(void **state)
{
	struct settings *old, *s;
	struct errors e;
	struct policy p;

	write_file(*state, "[defaults]\nttl = 7s\n", 0644);
	assert_int_equal(load(*state, &e, &old), 0);
	s = old;
	write_file(*state, "[defaults]\nttl = 9s\nlinger = 7\n", 0644);
	assert_int_equal(load(*state, &e, &s), -EINVAL);
	assert_int_equal(e.each[0].line, 3);
	assert_ptr_equal(s, old);
	assert_int_equal(settings_policy(s, "cli", "", &p), 0);
	assert_int_equal(p.ttl, 7 * S);
	settings_free(old);
}

static void a_missing_file_is_not_an_error_of_ours_to_report(void **state)
{
	struct settings *s;
	struct errors e;

	assert_int_equal(load(*state, &e, &s), -ENOENT);
	assert_int_equal(e.n, 0);
}

static void a_fifo_or_folder_is_refused_at_once(void **state)
{
	struct folder *f = *state;
	struct settings *s;
	struct errors e;

	assert_int_equal(mkfifo(f->file, 0600), 0);
	assert_int_equal(load(f, &e, &s), -EINVAL);
	assert_int_equal(error_line(&e, "not a regular file"), 0);
	(void)unlink(f->file);
	assert_int_equal(mkdir(f->file, 0700), 0);
	assert_int_equal(load(f, &e, &s), -EINVAL);
	assert_int_equal(error_line(&e, "not a regular file"), 0);
}

static void a_file_that_others_can_write_is_refused(void **state)
{
	struct folder *f = *state;
	struct settings *s;
	struct errors e;

	write_file(f, "", 0646);
	assert_int_equal(load(f, &e, &s), -EPERM);
	assert_int_equal(error_line(&e, "chmod go-w"), 0);
	/* A user's own group is the user's own matter; root's is not. */
	write_file(f, "", 0664);
	if (geteuid() == 0) {
		assert_int_equal(load(f, &e, &s), -EPERM);
		write_file(f, "", 0644);
		assert_int_equal(chown(f->file, 12345, 0), 0);
		assert_int_equal(load(f, &e, &s), -EPERM);
		assert_int_equal(error_line(&e, "belongs to uid 12345"), 0);
	} else {
		assert_int_equal(load(f, &e, &s), 0);
		settings_free(s);
	}
}

static void a_file_of_more_than_a_mebibyte_is_refused(void **state)
{
	struct folder *f = *state;
	struct settings *s;
	struct errors e;

	write_file(f, "#", 0600);
	assert_int_equal(truncate(f->file, 1024 * 1024 + 1), 0);
	assert_int_equal(load(f, &e, &s), -EFBIG);
	assert_int_equal(error_line(&e, "larger than 1 MiB"), 0);
}

static void the_example_file_is_good_and_shows_the_defaults(void **state)
{
	char *text = source_file("leasewatch/conf/leasewatch.conf.example"), line[100];
	const struct option_row *row;

	(void)state;
	settings_free(read_text(text, NULL));
	for (row = option_table; row->section; row++) {
		snprintf(line, sizeof(line), "\n; %s = %s\n", row->name, row->deflt ? row->deflt : "");
		if (row->deflt && !strstr(text, line))
			fail_msg("leasewatch.conf.example has no %s", line);
	}
	free(text);
}

static void the_manuals_examples_load(void **state)
{
	char *manual = source_file("man/leasewatch.conf.5"), *text;
	struct settings *s;
	struct policy p;
	int n;

	(void)state;
	for (n = 0; (text = manual_example(manual, n)); n++) {
		s = read_text(text, NULL);
		assert_int_equal(settings_policy(s, "ci", "", &p), 0);
		assert_int_equal(p.ttl, n == 0 ? 30 * M : 7 * S);
		settings_free(s);
		free(text);
	}
	assert_int_equal(n, 2);
	free(manual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_file_is_loaded_and_its_name_is_in_the_errors, folder_make,
					    folder_remove),
	    cmocka_unit_test_setup_teardown(a_bad_reload_leaves_the_old_settings, folder_make, folder_remove),
	    cmocka_unit_test_setup_teardown(a_fifo_or_folder_is_refused_at_once, folder_make, folder_remove),
	    cmocka_unit_test_setup_teardown(a_file_that_others_can_write_is_refused, folder_make,
					    folder_remove),
	    cmocka_unit_test_setup_teardown(a_file_of_more_than_a_mebibyte_is_refused, folder_make,
					    folder_remove),
	    cmocka_unit_test_setup_teardown(a_missing_file_is_not_an_error_of_ours_to_report, folder_make,
					    folder_remove),
	    cmocka_unit_test(the_example_file_is_good_and_shows_the_defaults),
	    cmocka_unit_test(the_manuals_examples_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
