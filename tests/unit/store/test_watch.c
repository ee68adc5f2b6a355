/* What store/watch.h promises: which acts are told, which are not, and what is told when events are lost. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lease/test.h"
#include "tests/unit/store/listener.h"

static void touch(int dirfd, const char *name)
{
	assert_int_equal(utimensat(dirfd, name, NULL, 0), 0);
}

static void comings_and_goings_are_told_by_folder_and_name(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(lease_create(w->t.queue, "lock-a-b-" ID, "x", 1), 0);
	h = listen_all(w);
	assert_true(h.n[WATCH_QUEUE] > 0);
	assert_string_equal(h.last, "lock-a-b-" ID);
	assert_int_equal(total(&h), h.n[WATCH_QUEUE]);
	assert_int_equal(renameat(w->t.active, LOCK, w->t.archive, LOCK), 0);
	h = listen_all(w);
	assert_true(h.n[WATCH_ACTIVE] == 1 && h.n[WATCH_ARCHIVE] == 1 && total(&h) == 2);
	assert_int_equal(unlinkat(w->t.archive, LOCK, 0), 0);
	h = listen_all(w);
	assert_true(h.n[WATCH_ARCHIVE] == 1 && total(&h) == 1);
}

static void a_beat_on_a_lock_that_is_not_watched_costs_nothing(void **state)
{
	struct pollfd p = { .events = POLLIN };
	struct listener *w = *state;
	int fd;

	touch(w->t.active, LOCK);
	fd = openat(w->t.active, LOCK, O_RDWR | O_CLOEXEC);
	assert_int_equal(write(fd, "#", 1), 1);
	close(fd);
	p.fd = w->fd;
	assert_int_equal(poll(&p, 1, 0), 0);
}

static void the_daemons_own_line_in_the_root_wakes_nobody(void **state)
{
	struct pollfd p = { .events = POLLIN };
	struct listener *w = *state;

	scratch_write(w->t.root, ".tmp-x", "x", 1);
	assert_int_equal(renameat(w->t.root, ".tmp-x", w->t.root, ".leasewatch"), 0);
	p.fd = w->fd;
	assert_int_equal(poll(&p, 1, 0), 0);
}

static void a_touch_of_a_watched_lock_is_told_with_its_id(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	touch(w->t.active, LOCK);
	h = listen_all(w);
	assert_true(h.n[WATCH_LOCK] > 0 && total(&h) == h.n[WATCH_LOCK]);
	assert_string_equal(h.last, ID);
}

static void a_shells_beat_and_a_chmod_are_told_too(void **state)
{
	struct listener *w = *state;
	struct heard h;
	int fd;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	/* What `printf '#' 1<>lock` does. */
	fd = openat(w->t.active, LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "#", 1), 1);
	close(fd);
	h = listen_all(w);
	assert_true(h.n[WATCH_LOCK] > 0);
	assert_int_equal(fchmodat(w->t.active, LOCK, 0600, 0), 0);
	h = listen_all(w);
	assert_true(h.n[WATCH_LOCK] > 0);
}

static void reading_a_watched_lock_is_not_told(void **state)
{
	struct listener *w = *state;
	struct heard h;
	char c;
	int fd;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	fd = openat(w->t.active, LOCK, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, &c, 1), 1);
	close(fd);
	h = listen_all(w);
	assert_int_equal(total(&h), 0);
}

static void arming_twice_is_arming_once(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	touch(w->t.active, LOCK);
	h = listen_all(w);
	assert_int_equal(h.n[WATCH_LOCK], 1);
	watch_unlock(w->w, ID);
	watch_unlock(w->w, ID);
	(void)listen_all(w);
	touch(w->t.active, LOCK);
	h = listen_all(w);
	assert_int_equal(total(&h), 0);
}

static void a_lock_that_was_renamed_over_is_watched_when_armed_again(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	scratch_write(w->t.root, "new", "x", 1);
	assert_int_equal(renameat(w->t.root, "new", w->t.active, LOCK), 0);
	h = listen_all(w);
	assert_true(h.n[WATCH_LOCK] > 0 && h.n[WATCH_ACTIVE] > 0);
	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	(void)listen_all(w);
	touch(w->t.active, LOCK);
	h = listen_all(w);
	assert_int_equal(h.n[WATCH_LOCK], 1);
}

/* As above, but the old file lives on under another name, so that its watch must be taken away. */
static void the_watch_moves_with_the_name(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	assert_int_equal(renameat(w->t.active, LOCK, w->t.root, "old"), 0);
	scratch_write(w->t.active, LOCK, "x", 1);
	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	(void)listen_all(w);
	touch(w->t.root, "old");
	h = listen_all(w);
	assert_int_equal(total(&h), 0);
	touch(w->t.active, LOCK);
	h = listen_all(w);
	assert_int_equal(h.n[WATCH_LOCK], 1);
}

static void a_watched_lock_that_is_removed_is_told_and_can_be_armed_anew(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	assert_int_equal(unlinkat(w->t.active, LOCK, 0), 0);
	h = listen_all(w);
	assert_true(h.n[WATCH_LOCK] > 0 && h.n[WATCH_ACTIVE] == 1);
	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), -ENOENT);
	scratch_write(w->t.active, LOCK, "x", 1);
	(void)listen_all(w);
	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	touch(w->t.active, LOCK);
	h = listen_all(w);
	assert_int_equal(h.n[WATCH_LOCK], 1);
}

static void what_is_no_plain_file_is_not_watched(void **state)
{
	struct listener *w = *state;

	assert_int_equal(symlinkat(LOCK, w->t.active, "link"), 0);
	assert_int_equal(mkfifoat(w->t.active, "fifo", 0644), 0);
	assert_int_equal(watch_lock(w->w, w->t.active, "link", ID), -EINVAL);
	assert_int_equal(watch_lock(w->w, w->t.active, "fifo", ID), -EINVAL);
	assert_int_equal(watch_lock(w->w, w->t.root, "active", ID), -EINVAL);
}

static void a_hard_link_takes_no_watch_away(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	assert_int_equal(linkat(w->t.active, LOCK, w->t.active, "lock-x-y-kls-bbbbbbbbbb", 0), 0);
	assert_int_equal(watch_lock(w->w, w->t.active, "lock-x-y-kls-bbbbbbbbbb", "kls-bbbbbbbbbb"), -EMLINK);
	watch_unlock(w->w, "kls-bbbbbbbbbb");
	(void)listen_all(w);
	touch(w->t.active, LOCK);
	h = listen_all(w);
	assert_int_equal(h.n[WATCH_LOCK], 1);
	assert_string_equal(h.last, ID);
}

static void it_may_be_disarmed_while_it_is_told(void **state)
{
	struct listener *w = *state;
	struct heard h = { .unlock = w->w };
	int fd;

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	fd = openat(w->t.active, LOCK, O_RDWR | O_CLOEXEC);
	assert_int_equal(write(fd, "#", 1), 1);
	close(fd);
	assert_int_equal(watch_read(w->w, ALL, hear, &h), 0);
	assert_int_equal(h.n[WATCH_LOCK], 1);
}

static void a_thousand_watched_locks_are_told_apart(void **state)
{
	struct listener *w = *state;
	char name[64], id[LEASE_ID_SIZE];

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < 1000; i++) {
			struct heard h;

			snprintf(id, sizeof(id), "kls-aaaaaaa%c%c%c", 'a' + i / 100, 'a' + i / 10 % 10, 'a' + i % 10);
			snprintf(name, sizeof(name), "lock-x-y-%s", id);
			if (pass == 0) {
				scratch_write(w->t.active, name, "x", 1);
				assert_int_equal(watch_lock(w->w, w->t.active, name, id), 0);
				continue;
			}
			(void)listen_all(w);
			touch(w->t.active, name);
			h = listen_all(w);
			assert_int_equal(h.n[WATCH_LOCK], 1);
			assert_string_equal(h.last, id);
			if (i % 2)
				watch_unlock(w->w, id);
		}
}

static void a_budget_leaves_the_rest_for_the_next_time(void **state)
{
	struct listener *w = *state;
	struct heard h = { 0 };

	for (int i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(mkfifoat(w->t.queue, name, 0644), 0);
	}
	assert_int_equal(watch_read(w->w, 2, hear, &h), 1);
	assert_int_equal(h.n[WATCH_QUEUE], 2);
	assert_int_equal(watch_read(w->w, 2, hear, &h), 1);
	assert_int_equal(watch_read(w->w, 2, hear, &h), 0);
	assert_int_equal(h.n[WATCH_QUEUE], 5);
	assert_string_equal(h.last, "n4");
}

static void lost_events_mean_look_at_everything(void **state)
{
	struct listener *w = *state;
	struct heard h = { 0 };
	int limit = queue_limit();

	if (limit < 1 || limit > 200000)
		skip_because("the queue of inotify (max_queued_events) is too long to be filled in a test");
	/* Two names in turn: equal neighbours would be merged. */
	for (int i = 0; i < limit / 2 + 10; i++)
		assert_int_equal(renameat(w->t.active, i % 2 ? "other" : LOCK, w->t.active, i % 2 ? LOCK : "other"), 0);
	while (watch_read(w->w, 1000, hear, &h) == 1)
		;
	assert_int_equal(h.n[WATCH_RESCAN], 1);
	assert_true(h.n[WATCH_ACTIVE] <= limit);
	/* And it goes on. */
	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID) == 0 ||
			 watch_lock(w->w, w->t.active, "other", ID) == 0, 1);
	assert_int_equal(mkfifoat(w->t.queue, "after", 0644), 0);
	h = listen_all(w);
	assert_int_equal(h.n[WATCH_QUEUE], 1);
}

static void a_folder_that_is_moved_away_is_told_once_and_not_listened_to_any_more(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(renameat(w->t.root, "active", w->t.root, "old"), 0);
	assert_int_equal(mkdirat(w->t.root, "active", 0700), 0);
	h = listen_all(w);
	assert_true(h.n[WATCH_RESCAN] == 1 && total(&h) == 1);
	assert_int_equal(mkfifoat(w->t.active, "x", 0644), 0); /* the descriptor has moved along */
	h = listen_all(w);
	assert_int_equal(total(&h), 0);
	assert_int_equal(mkfifoat(w->t.queue, "y", 0644), 0);
	h = listen_all(w);
	assert_int_equal(h.n[WATCH_QUEUE], 1);
}

static void a_folder_that_is_removed_is_told(void **state)
{
	struct listener *w = *state;
	struct heard h;

	assert_int_equal(unlinkat(w->t.root, "queue", AT_REMOVEDIR), 0);
	close(w->t.queue); /* the last reference: the kernel tells of the end of the folder itself now */
	w->t.queue = -1;
	h = listen_all(w);
	assert_true(h.n[WATCH_RESCAN] == 1 && total(&h) == 1);
}

static void a_tree_that_is_moved_is_told(void **state)
{
	char moved[PATH_MAX + 16];
	struct listener *w = *state;
	struct heard h;

	snprintf(moved, sizeof(moved), "%s-moved", w->s.path);
	assert_int_equal(rename(w->s.path, moved), 0);
	h = listen_all(w);
	assert_int_equal(h.n[WATCH_RESCAN], 1);
	assert_int_equal(rename(moved, w->s.path), 0);
}

static void no_descriptor_is_left_open(void **state)
{
	struct listener *w = *state;
	int before = scratch_open_fds();

	assert_int_equal(watch_lock(w->w, w->t.active, LOCK, ID), 0);
	assert_int_equal(watch_lock(w->w, w->t.active, "nothing", ID), -ENOENT);
	assert_int_equal(watch_lock(w->w, w->t.root, "active", ID), -EINVAL);
	assert_int_equal(watch_prove(w->w, &w->t), 0);
	assert_int_equal(scratch_open_fds(), before);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, listener_setup, listener_teardown)
	const struct CMUnitTest tests[] = {
		T(comings_and_goings_are_told_by_folder_and_name),
		T(a_beat_on_a_lock_that_is_not_watched_costs_nothing),
		T(the_daemons_own_line_in_the_root_wakes_nobody),
		T(a_touch_of_a_watched_lock_is_told_with_its_id),
		T(a_shells_beat_and_a_chmod_are_told_too),
		T(reading_a_watched_lock_is_not_told),
		T(arming_twice_is_arming_once),
		T(a_lock_that_was_renamed_over_is_watched_when_armed_again),
		T(the_watch_moves_with_the_name),
		T(a_watched_lock_that_is_removed_is_told_and_can_be_armed_anew),
		T(what_is_no_plain_file_is_not_watched),
		T(a_hard_link_takes_no_watch_away),
		T(it_may_be_disarmed_while_it_is_told),
		T(a_thousand_watched_locks_are_told_apart),
		T(a_budget_leaves_the_rest_for_the_next_time),
		T(lost_events_mean_look_at_everything),
		T(a_folder_that_is_moved_away_is_told_once_and_not_listened_to_any_more),
		T(a_folder_that_is_removed_is_told),
		T(a_tree_that_is_moved_is_told),
		T(no_descriptor_is_left_open),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
