/* What store/watch.h promises of the canary: silence is told from deafness. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lease/test.h"
#include "tests/unit/store/listener.h"

static void a_canary_is_heard_in_each_folder_and_told_to_nobody(void **state)
{
	struct pollfd p = { .events = POLLIN };
	struct listener *w = *state;
	struct heard h;

	assert_true(watch_proven(w->w));
	assert_int_equal(watch_prove(w->w, &w->t), 0);
	assert_false(watch_proven(w->w));
	h = listen_all(w);
	assert_int_equal(total(&h), 0);
	assert_true(watch_proven(w->w));
	p.fd = w->fd;
	assert_int_equal(poll(&p, 1, 0), 0); /* it wakes nobody afterwards */
	assert_true(scratch_count(w->t.queue) == 0 && scratch_count(w->t.active) == 1 && scratch_count(w->t.archive) == 0);
}

static void a_queue_that_tells_nothing_is_found_out(void **state)
{
	struct listener *w = *state;
	struct heard h;
	int deaf = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	assert_true(deaf >= 0);
	assert_int_equal(dup3(deaf, w->fd, O_CLOEXEC), w->fd);
	close(deaf);
	assert_int_equal(watch_prove(w->w, &w->t), 0);
	h = listen_all(w);
	assert_true(total(&h) == 0 && !watch_proven(w->w));
}

static void one_deaf_folder_is_found_out(void **state)
{
	struct listener *w = *state;
	struct lease_tree other = w->t;
	struct heard h;

	/* As if the watch of the archive were another folder's. */
	other.archive = w->t.root;
	assert_int_equal(watch_prove(w->w, &other), 0);
	h = listen_all(w);
	assert_true(total(&h) == 0 && !watch_proven(w->w));
	assert_int_equal(watch_prove(w->w, &w->t), 0);
	(void)listen_all(w);
	assert_true(watch_proven(w->w));
}

static void a_canary_that_is_behind_much_else_is_heard_in_its_turn(void **state)
{
	struct listener *w = *state;
	struct heard h = { 0 };

	for (int i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		assert_int_equal(mkfifoat(w->t.queue, name, 0644), 0);
	}
	assert_int_equal(watch_prove(w->w, &w->t), 0);
	assert_int_equal(watch_read(w->w, 4, hear, &h), 1);
	assert_false(watch_proven(w->w));
	while (watch_read(w->w, 4, hear, &h) == 1)
		;
	assert_true(h.n[WATCH_QUEUE] == 5 && total(&h) == 5 && watch_proven(w->w));
}

static void a_canary_that_was_lost_with_others_is_no_silence(void **state)
{
	struct listener *w = *state;
	struct heard h = { 0 };
	int limit = queue_limit();

	if (limit < 1 || limit > 200000)
		skip();
	for (int i = 0; i < limit / 2 + 10; i++)
		assert_int_equal(renameat(w->t.active, i % 2 ? "other" : LOCK, w->t.active, i % 2 ? LOCK : "other"), 0);
	assert_int_equal(watch_prove(w->w, &w->t), 0);
	while (watch_read(w->w, 1000, hear, &h) == 1)
		;
	assert_true(h.n[WATCH_RESCAN] == 1 && watch_proven(w->w));
}

static void where_no_canary_can_be_made_the_error_says_so(void **state)
{
	struct listener *w = *state;

	if (geteuid() == 0)
		skip();
	assert_int_equal(fchmod(w->t.queue, 0500), 0);
	assert_int_equal(watch_prove(w->w, &w->t), -EACCES);
	(void)listen_all(w);
	assert_true(watch_proven(w->w)); /* of what could be tried */
	assert_int_equal(fchmod(w->t.queue, 0700), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, listener_setup, listener_teardown)
	const struct CMUnitTest tests[] = {
		T(a_canary_is_heard_in_each_folder_and_told_to_nobody),
		T(a_queue_that_tells_nothing_is_found_out),
		T(one_deaf_folder_is_found_out),
		T(a_canary_that_is_behind_much_else_is_heard_in_its_turn),
		T(a_canary_that_was_lost_with_others_is_no_silence),
		T(where_no_canary_can_be_made_the_error_says_so),
	};

	return cmocka_run_group_tests_name("canary", tests, NULL, NULL);
}
