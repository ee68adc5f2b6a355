/* What store/statefiles.h promises. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/duration.h"
#include "store/statefiles.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

static int setup(void **state)
{
	static struct scratch s;

	scratch_make(&s);
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	scratch_remove(*state);
	return 0;
}

static void it_is_written_whole_and_readable_for_all(void **state)
{
	const struct scratch *s = *state;
	mode_t old = umask(0777);
	struct stat st;

	assert_int_equal(statefile_write(s->fd, "kls-aaaaaaaaaa", "first", 5), 0);
	umask(old);
	assert_true(scratch_holds(s->fd, "kls-aaaaaaaaaa", "first", 5));
	assert_int_equal(fstatat(s->fd, "kls-aaaaaaaaaa", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(scratch_count(s->fd), 1);
}

static void who_reads_the_old_one_goes_on_reading_it(void **state)
{
	const struct scratch *s = *state;
	char buf[16];
	int fd;

	assert_int_equal(statefile_write(s->fd, "a", "first", 5), 0);
	fd = openat(s->fd, "a", O_RDONLY | O_CLOEXEC);
	assert_int_equal(statefile_write(s->fd, "a", "the second", 10), 0);
	assert_int_equal(read(fd, buf, sizeof(buf)), 5);
	close(fd);
	assert_true(scratch_holds(s->fd, "a", "the second", 10));
}

static void what_a_crash_left_half_written_is_in_nobodys_way(void **state)
{
	const struct scratch *s = *state;

	scratch_write(s->fd, ".tmp-a", "hal", 3);
	assert_int_equal(statefile_write(s->fd, "a", "whole", 5), 0);
	assert_true(scratch_holds(s->fd, "a", "whole", 5));
	assert_int_equal(scratch_count(s->fd), 1);
}

static void a_disk_that_takes_no_more_leaves_the_old_one(void **state)
{
	const struct scratch *s = *state;
	struct rlimit old, small;
	char big[8192];

	memset(big, 'x', sizeof(big));
	assert_int_equal(statefile_write(s->fd, "a", "old", 3), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(statefile_write(s->fd, "a", big, sizeof(big)), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_true(scratch_holds(s->fd, "a", "old", 3));
	assert_int_equal(scratch_count(s->fd), 1);
}

static void a_name_stays_in_the_folder(void **state)
{
	const struct scratch *s = *state;

	assert_int_equal(statefile_write(s->fd, "../x", "", 0), -EINVAL);
	assert_int_equal(statefile_write(s->fd, "", "", 0), -EINVAL);
}

static void a_view_reads_back_from_the_file_of_its_id(void **state)
{
	const struct scratch *s = *state;
	char buf[LEASE_STATE_FILE_MAX];
	struct lease_error err;
	struct view v, back;
	ssize_t n;
	int fd;

	memset(&v, 0, sizeof(v));
	memcpy(v.id, "kls-aaaaaaaaaa", sizeof(v.id));
	memcpy(v.state, "active", sizeof("active"));
	memcpy(v.surface, "cli", sizeof("cli"));
	v.generation = 7;
	assert_int_equal(statefile_put(s->fd, &v), 0);
	fd = openat(s->fd, v.id, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, buf, sizeof(buf));
	close(fd);
	assert_true(n > 0);
	assert_int_equal(view_parse(buf, (size_t)n, &back, &err), 0);
	assert_string_equal(back.id, v.id);
	assert_int_equal(back.generation, 7);
	memcpy(v.id, "../../../tmp/x", sizeof(v.id));
	assert_int_equal(statefile_put(s->fd, &v), -EINVAL);
}

static void an_answer_stands_under_the_asks_id(void **state)
{
	struct ask_answer a = { .result = "done", .what = "resumed" };
	const struct scratch *s = *state;

	assert_int_equal(statefile_answer(s->fd, "kls-aaaaaaaaaa", &a), 0);
	assert_true(scratch_exists(s->fd, "ask-kls-aaaaaaaaaa"));
	assert_int_equal(statefile_answer(s->fd, "x", &a), -EINVAL);
}

static void removing_is_done_when_it_is_gone(void **state)
{
	const struct scratch *s = *state;

	assert_int_equal(statefile_write(s->fd, "a", "", 0), 0);
	assert_int_equal(statefile_remove(s->fd, "a"), 0);
	assert_false(scratch_exists(s->fd, "a"));
	assert_int_equal(statefile_remove(s->fd, "a"), 0);
}

static bool keep_b(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "b") == 0;
}

static void pruning_takes_the_old_ones_that_nobody_wants(void **state)
{
	static const char *const names[] = { "a", "b", "c", ".hidden", ".tmp-d" };
	const struct scratch *s = *state;
	const int64_t now = 5000 * LEASE_NS_PER_S;

	for (size_t i = 0; i < N_OF(names); i++) {
		/* c is a second younger than the others */
		struct timespec times[2] = { { .tv_sec = i == 2 ? 4001 : 4000 }, { .tv_sec = i == 2 ? 4001 : 4000 } };

		scratch_write(s->fd, names[i], "x", 1);
		assert_int_equal(utimensat(s->fd, names[i], times, 0), 0);
	}
	assert_int_equal(mkdirat(s->fd, "folder", 0700), 0);
	assert_int_equal(statefile_prune(s->fd, now, 1000 * LEASE_NS_PER_S - LEASE_NS_PER_S / 2, keep_b, NULL), 2);
	assert_false(scratch_exists(s->fd, "a"));
	assert_false(scratch_exists(s->fd, ".tmp-d"));
	assert_true(scratch_exists(s->fd, "b") && scratch_exists(s->fd, "c") && scratch_exists(s->fd, ".hidden"));
	assert_true(scratch_exists(s->fd, "folder"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(it_is_written_whole_and_readable_for_all),
		T(who_reads_the_old_one_goes_on_reading_it),
		T(what_a_crash_left_half_written_is_in_nobodys_way),
		T(a_disk_that_takes_no_more_leaves_the_old_one),
		T(a_name_stays_in_the_folder),
		T(a_view_reads_back_from_the_file_of_its_id),
		T(an_answer_stands_under_the_asks_id),
		T(removing_is_done_when_it_is_gone),
		T(pruning_takes_the_old_ones_that_nobody_wants),
	};

	return cmocka_run_group_tests_name("state files", tests, NULL, NULL);
}
