/* What store/locks.h promises of the commit of an end, one order at a time; test_commit_races.c has them all at once. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lease/test.h"
#include "tests/unit/store/yard.h"

static int commit(struct yard *y)
{
	return locks_commit(&y->h, &y->ref, YARD_WALL);
}

static enum place place(struct yard *y)
{
	struct lease_stat st;

	return locks_place(&y->h, &y->ref, &st);
}

static void a_lock_that_nobody_touched_is_taken(void **state)
{
	struct yard *y = *state;

	assert_int_equal(commit(y), 1);
	assert_int_equal(place(y), AT_REAP);
	assert_int_equal(lease_touch(y->h.tree.active, YARD_NAME, NULL), -ENOENT);
}

static void a_touch_since_the_last_look_puts_it_back(void **state)
{
	struct yard *y = *state;

	assert_int_equal(lease_touch(y->h.tree.active, YARD_NAME, NULL), 0);
	assert_int_equal(commit(y), 0);
	assert_int_equal(place(y), AT_ACTIVE);
	assert_int_equal(scratch_count(y->h.reap), 0);
	assert_int_equal(lease_touch(y->h.tree.active, YARD_NAME, NULL), 0);
}

static void a_touch_with_a_stamp_of_long_ago_counts_as_well(void **state)
{
	struct yard *y = *state;
	const struct timespec ts[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	assert_int_equal(utimensat(y->h.tree.active, YARD_NAME, ts, 0), 0);
	assert_int_equal(commit(y), 0);
	assert_int_equal(place(y), AT_ACTIVE);
}

static void chmod_is_no_beat(void **state)
{
	struct yard *y = *state;

	assert_int_equal(fchmodat(y->h.tree.active, YARD_NAME, 0600, 0), 0);
	assert_int_equal(commit(y), 1);
}

static void one_more_link_is_no_beat(void **state)
{
	struct yard *y = *state;

	assert_int_equal(linkat(y->h.tree.active, YARD_NAME, y->h.tree.archive, "other", 0), 0);
	assert_int_equal(commit(y), 1);
}

static void what_is_not_there_is_said_to_be_not_there(void **state)
{
	struct yard *y = *state;

	assert_int_equal(lease_move(y->h.tree.active, YARD_NAME, y->h.tree.active, "lock-cli-other-kls-abcdefghij"), 0);
	assert_int_equal(commit(y), -ENOENT);
	assert_int_equal(scratch_count(y->h.reap), 0);
}

static void another_file_in_its_place_is_put_back(void **state)
{
	struct yard *y = *state;

	/* Kept elsewhere, so that its inode's number is not given out again. */
	assert_int_equal(lease_move(y->h.tree.active, YARD_NAME, y->h.tree.queue, ".tmp-x"), 0);
	scratch_write(y->h.tree.active, YARD_NAME, "#", 1);
	assert_int_equal(commit(y), 0);
	assert_true(scratch_holds(y->h.tree.active, YARD_NAME, "#", 1));
}

static void utime_by_a_held_descriptor_after_the_commit_changes_nothing(void **state)
{
	struct yard *y = *state;
	int fd = openat(y->h.tree.active, YARD_NAME, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(commit(y), 1);
	assert_int_equal(futimens(fd, NULL), 0);
	close(fd);
	assert_int_equal(place(y), AT_REAP);
	assert_false(scratch_exists(y->h.tree.active, YARD_NAME));
}

static void a_leftover_of_a_crash_is_in_nobodys_way(void **state)
{
	struct yard *y = *state;

	scratch_write(y->h.reap, YARD_NAME, "old", 3);
	assert_int_equal(commit(y), 1);
	assert_true(scratch_holds(y->h.reap, YARD_NAME, YARD_RECORD, strlen(YARD_RECORD)));
}

static void what_squats_its_name_makes_room_when_it_is_put_back(void **state)
{
	struct yard *y = *state;

	assert_int_equal(commit(y), 1);
	scratch_write(y->h.tree.active, YARD_NAME, "#", 1);
	assert_int_equal(locks_put_back(&y->h, YARD_NAME, YARD_WALL), 0);
	assert_int_equal(place(y), AT_ACTIVE);
	assert_true(scratch_holds(y->h.tree.active, YARD_NAME, YARD_RECORD, strlen(YARD_RECORD)));
	assert_int_equal(scratch_count(y->h.quarantine), 1);
}

static void beside_a_ghost_a_released_lock_is_released(void **state)
{
	struct yard *y = *state;

	assert_int_equal(lease_move(y->h.tree.active, YARD_NAME, y->h.tree.archive, YARD_NAME), 0);
	scratch_write(y->h.tree.active, YARD_NAME, "#", 1);
	assert_int_equal(place(y), AT_ARCHIVE);
}

static void beside_a_ghost_a_lock_that_a_crash_left_in_reap_is_found_there(void **state)
{
	struct yard *y = *state;

	assert_int_equal(commit(y), 1);
	scratch_write(y->h.tree.active, YARD_NAME, "#", 1);
	assert_int_equal(place(y), AT_REAP);
}

static void in_active_and_in_the_archive_is_live(void **state)
{
	struct yard *y = *state;

	assert_int_equal(linkat(y->h.tree.active, YARD_NAME, y->h.tree.archive, YARD_NAME, 0), 0);
	assert_int_equal(place(y), AT_ACTIVE);
}

static void an_editors_save_is_still_the_owners_lock(void **state)
{
	struct yard *y = *state;

	scratch_write(y->h.tree.active, "save", "new", 3);
	assert_int_equal(renameat(y->h.tree.active, "save", y->h.tree.active, YARD_NAME), 0);
	assert_int_equal(place(y), AT_ACTIVE);
}

/* Saved and released, and nobody has looked between the two. */
static void an_editors_save_is_released_as_well(void **state)
{
	struct yard *y = *state;

	scratch_write(y->h.tree.active, "save", "new", 3);
	assert_int_equal(renameat(y->h.tree.active, "save", y->h.tree.active, YARD_NAME), 0);
	assert_int_equal(lease_move(y->h.tree.active, YARD_NAME, y->h.tree.archive, YARD_NAME), 0);
	assert_int_equal(place(y), AT_ARCHIVE);
}

static void another_file_in_the_archive_releases_no_lock_that_stands(void **state)
{
	struct yard *y = *state;

	scratch_write(y->h.tree.archive, YARD_NAME, "new", 3);
	assert_int_equal(place(y), AT_ACTIVE);
	assert_int_equal(lease_move(y->h.tree.active, YARD_NAME, y->h.tree.queue, YARD_NAME), 0);
	assert_int_equal(place(y), AT_QUEUE);
}

/* What others can make under the name: a link to a file of the owner's that lies elsewhere, and what is no file. */
static void a_link_in_the_archive_is_no_release(void **state)
{
	struct yard *y = *state;

	assert_int_equal(lease_move(y->h.tree.active, YARD_NAME, y->h.tree.queue, ".tmp-x"), 0);
	scratch_write(y->h.tree.queue, "other", "new", 3);
	assert_int_equal(linkat(y->h.tree.queue, "other", y->h.tree.archive, YARD_NAME, 0), 0);
	assert_int_equal(place(y), AT_NOWHERE);
	assert_int_equal(unlinkat(y->h.tree.archive, YARD_NAME, 0), 0);
	assert_int_equal(mkdirat(y->h.tree.archive, YARD_NAME, 0700), 0);
	assert_int_equal(place(y), AT_NOWHERE);
}

static void a_look_that_fails_does_not_say_that_a_lock_is_gone(void **state)
{
	struct yard *y = *state;
	int active = y->h.tree.active;

	y->h.tree.active = -1; /* EBADF, which stands for no memory and a server that does not answer */
	assert_int_equal(place(y), AT_UNSEEN);
	assert_int_equal(renameat(active, YARD_NAME, y->h.tree.archive, YARD_NAME), 0);
	assert_int_equal(place(y), AT_UNSEEN); /* in both it would be live */
	y->h.tree.active = active;
	assert_int_equal(place(y), AT_ARCHIVE);
	assert_int_equal(unlinkat(y->h.tree.archive, YARD_NAME, 0), 0);
	assert_int_equal(place(y), AT_NOWHERE);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, yard_setup, yard_teardown)
	const struct CMUnitTest tests[] = {
		T(a_look_that_fails_does_not_say_that_a_lock_is_gone),
		T(a_lock_that_nobody_touched_is_taken),
		T(a_touch_since_the_last_look_puts_it_back),
		T(a_touch_with_a_stamp_of_long_ago_counts_as_well),
		T(chmod_is_no_beat),
		T(one_more_link_is_no_beat),
		T(what_is_not_there_is_said_to_be_not_there),
		T(another_file_in_its_place_is_put_back),
		T(utime_by_a_held_descriptor_after_the_commit_changes_nothing),
		T(a_leftover_of_a_crash_is_in_nobodys_way),
		T(what_squats_its_name_makes_room_when_it_is_put_back),
		T(beside_a_ghost_a_released_lock_is_released),
		T(beside_a_ghost_a_lock_that_a_crash_left_in_reap_is_found_there),
		T(in_active_and_in_the_archive_is_live),
		T(an_editors_save_is_still_the_owners_lock),
		T(an_editors_save_is_released_as_well),
		T(another_file_in_the_archive_releases_no_lock_that_stands),
		T(a_link_in_the_archive_is_no_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
