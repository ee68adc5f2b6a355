/* Changing: create, touch, move. See test_tree.c. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lease/kv.h"
#include "lease/record.h"
#include "lease/tree.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

#define NAME "lock-cli-anna-kls-abcdefghij"

static struct scratch dir;
static int fds_before;

static int setup(void **state)
{
	(void)state;
	fds_before = scratch_open_fds();
	scratch_make(&dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(&dir);
	return scratch_open_fds() == fds_before ? 0 : -1;
}

static void the_filter_bites_where_there_is_one(void **state)
{
	const char *filter = getenv("LEASE_TEST_FILTER");
	bool tmpfile_gone, renameat2_gone;
	int fd;

	(void)state;
	/* glibc makes EINVAL of ENOSYS; the call itself would say EBADF. */
	renameat2_gone = renameat2(-1, "x", -1, "y", RENAME_NOREPLACE) < 0 && errno == EINVAL;
	assert_int_equal(renameat2_gone, filter && strstr(filter, "renameat2"));
	if (filter && strstr(filter, "tmpfile")) {
		fd = openat(dir.fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
		tmpfile_gone = fd < 0 && errno == EOPNOTSUPP;
		assert_true(tmpfile_gone);
	}
}

static void a_create_makes_the_file_whole_readable_and_alone(void **state)
{
	char body[LEASE_FILE_MAX];
	struct lease_stat st;

	(void)state;
	memset(body, 'b', sizeof(body));
	assert_int_equal(lease_create(dir.fd, NAME, body, sizeof(body)), 0);
	assert_true(scratch_holds(dir.fd, NAME, body, sizeof(body)));
	assert_int_equal(lease_stat(dir.fd, NAME, &st), 0);
	assert_int_equal(st.mode, S_IFREG | 0644);
	assert_int_equal(st.nlink, 1);
	assert_int_equal(st.uid, geteuid());
	assert_int_equal(lease_create(dir.fd, "empty", "", 0), 0);
	assert_true(scratch_holds(dir.fd, "empty", "", 0));
	assert_int_equal(scratch_count(dir.fd), 2);
}

static void the_umask_neither_hides_a_lock_nor_is_changed(void **state)
{
	mode_t before = umask(0777);
	struct lease_stat st;
	mode_t after;
	int e;

	(void)state;
	e = lease_create(dir.fd, NAME, "x", 1);
	after = umask(before);
	assert_int_equal(e, 0);
	assert_int_equal(after, 0777);
	assert_int_equal(lease_stat(dir.fd, NAME, &st), 0);
	assert_int_equal(st.mode, S_IFREG | 0644);
}

static void what_has_the_name_already_stays_what_it_was(void **state)
{
	static const char *const names[] = {"file", "link", "dangling", "fifo", "folder"};

	(void)state;
	scratch_write(dir.fd, "file", "old", 3);
	assert_int_equal(symlinkat("file", dir.fd, "link"), 0);
	assert_int_equal(symlinkat("nowhere", dir.fd, "dangling"), 0);
	assert_int_equal(mkfifoat(dir.fd, "fifo", 0600), 0);
	assert_int_equal(mkdirat(dir.fd, "folder", 0700), 0);
	for (size_t i = 0; i < N_OF(names); i++) {
		struct lease_stat before, after;

		assert_int_equal(lease_stat(dir.fd, names[i], &before), 0);
		assert_int_equal(lease_create(dir.fd, names[i], "new", 3), -EEXIST);
		assert_int_equal(lease_stat(dir.fd, names[i], &after), 0);
		assert_int_equal(after.ino, before.ino);
	}
	assert_true(scratch_holds(dir.fd, "file", "old", 3));
	assert_int_equal(scratch_count(dir.fd), N_OF(names));
}

static void a_body_too_long_or_a_name_too_long_makes_nothing(void **state)
{
	char body[LEASE_FILE_MAX + 1] = "", name[300];

	(void)state;
	assert_int_equal(lease_create(dir.fd, NAME, body, sizeof(body)), -EFBIG);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(lease_create(dir.fd, name, "x", 1), -ENAMETOOLONG);
	assert_int_equal(scratch_count(dir.fd), 0);
}

/* In a child, whose SIGXFSZ would be seen. */
static void a_limit_on_file_size_is_an_error_and_no_death(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit limit = {.rlim_cur = 4, .rlim_max = RLIM_INFINITY};
		int e, f;

		signal(SIGXFSZ, SIG_DFL);
		getrlimit(RLIMIT_FSIZE, &limit);
		limit.rlim_cur = 4;
		setrlimit(RLIMIT_FSIZE, &limit);
		e = lease_create(dir.fd, NAME, "12345", 5);
		f = lease_create(dir.fd, "small", "1234", 4);
		_exit(e != -EFBIG ? 1 : f != 0 ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(scratch_count(dir.fd), 1);
	assert_true(scratch_holds(dir.fd, "small", "1234", 4));
}

/* Many at once for one name: one wins, and what stands there is one whole body. */
static void of_many_creators_of_one_name_one_wins(void **state)
{
	enum { N = 8 };
	pid_t pids[N];
	int go[2], won = 0, winner = -1;
	char body[2000];

	(void)state;
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0) {
			int e;

			close(go[1]);
			memset(body, '0' + i, sizeof(body));
			if (read(go[0], &e, 1) != 0)
				_exit(9);
			e = lease_create(dir.fd, NAME, body, sizeof(body));
			_exit(e == 0 ? 0 : e == -EEXIST ? 1 : 2);
		}
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < N; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
		if (WEXITSTATUS(status) == 0) {
			won++;
			winner = i;
		}
	}
	assert_int_equal(won, 1);
	memset(body, '0' + winner, sizeof(body));
	assert_true(scratch_holds(dir.fd, NAME, body, sizeof(body)));
	assert_int_equal(scratch_count(dir.fd), 1);
}

static void a_touch_moves_mtime_to_now_and_nothing_else(void **state)
{
	const struct timespec old[2] = {{1000, 0}, {1000, 0}};
	struct lease_stat before, after, look;
	struct timespec now;

	(void)state;
	scratch_write(dir.fd, NAME, "body", 4);
	assert_int_equal(utimensat(dir.fd, NAME, old, 0), 0);
	assert_int_equal(lease_stat(dir.fd, NAME, &before), 0);
	assert_int_equal(clock_gettime(CLOCK_REALTIME_COARSE, &now), 0);
	assert_int_equal(lease_touch(dir.fd, NAME, &after), 0);
	assert_true(after.mtime >= now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
	assert_true(after.mtime < (now.tv_sec + 60) * INT64_C(1000000000));
	assert_int_equal(after.ino, before.ino);
	assert_int_equal(after.mode, before.mode);
	assert_int_equal(lease_stat(dir.fd, NAME, &look), 0);
	assert_true(look.mtime == after.mtime && look.ctime == after.ctime && look.ino == after.ino);
	assert_true(scratch_holds(dir.fd, NAME, "body", 4));
	assert_int_equal(lease_touch(dir.fd, NAME, NULL), 0);
}

static void a_touch_never_creates_a_file(void **state)
{
	struct lease_stat st = {.ino = 77};

	(void)state;
	assert_int_equal(lease_touch(dir.fd, NAME, &st), -ENOENT);
	assert_int_equal(st.ino, 77);
	assert_int_equal(scratch_count(dir.fd), 0);
}

static void a_touch_follows_no_link_and_wants_a_regular_file(void **state)
{
	static const char *const names[] = {"link", "dangling", "fifo", "folder"};
	const struct timespec old[2] = {{1000, 0}, {1000, 0}};
	struct lease_stat st;

	(void)state;
	scratch_write(dir.fd, "target", "x", 1);
	assert_int_equal(utimensat(dir.fd, "target", old, 0), 0);
	assert_int_equal(symlinkat("target", dir.fd, "link"), 0);
	assert_int_equal(symlinkat("made-by-touch", dir.fd, "dangling"), 0);
	assert_int_equal(mkfifoat(dir.fd, "fifo", 0600), 0);
	assert_int_equal(mkdirat(dir.fd, "folder", 0700), 0);
	for (size_t i = 0; i < N_OF(names); i++)
		assert_int_equal(lease_touch(dir.fd, names[i], NULL), -EINVAL);
	assert_int_equal(lease_stat(dir.fd, "target", &st), 0);
	assert_true(st.mtime == INT64_C(1000000000000));
	assert_false(scratch_exists(dir.fd, "made-by-touch"));
}

/* Puts a new file of old mtime in the lock's place, again and again, until the pipe closes. */
static int replace_all_the_time(int stop)
{
	const struct timespec old[2] = {{1000, 0}, {1000, 0}};
	char byte;

	while (read(stop, &byte, 1) < 0) {
		scratch_write(dir.fd, "new", "x", 1);
		if (utimensat(dir.fd, "new", old, 0) < 0 || renameat(dir.fd, "new", dir.fd, NAME) < 0)
			return 1;
	}
	return 0;
}

/* With the look after the touch left out, or without the compare, this fails within a few rounds. */
static void a_touch_that_says_yes_has_touched_the_file_it_names(void **state)
{
	int stop[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(stop, O_CLOEXEC | O_NONBLOCK), 0);
	scratch_write(dir.fd, NAME, "x", 1);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(stop[1]);
		_exit(replace_all_the_time(stop[0]));
	}
	close(stop[0]);
	for (int i = 0; i < 5000; i++) {
		struct lease_stat st = {0};
		int e = lease_touch(dir.fd, NAME, &st);

		if (e == 0)
			assert_true(st.mtime > INT64_C(1000000000000));
		else
			assert_int_equal(e, -ENOENT);
	}
	close(stop[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* What bash and zsh do: `[ -f "$lock" ] && printf '#' 1<>"$lock"`. */
static void a_beat_of_one_byte_leaves_the_record_as_it_was(void **state)
{
	const struct timespec old[2] = {{1000, 0}, {1000, 0}};
	struct lease_record r, back;
	struct lease_error err;
	struct lease_stat st;
	char buf[LEASE_FILE_MAX];
	size_t len;
	int fd;

	(void)state;
	lease_record_init(&r);
	lease_id_make(r.id);
	r.ttl = INT64_C(300000000000);
	assert_int_equal(lease_record_format(&r, buf, sizeof(buf), &len), 0);
	assert_int_equal(lease_create(dir.fd, NAME, buf, len), 0);
	assert_int_equal(utimensat(dir.fd, NAME, old, 0), 0);
	fd = openat(dir.fd, NAME, O_RDWR | O_CLOEXEC);
	assert_int_equal(write(fd, "#", 1), 1);
	close(fd);
	assert_int_equal(lease_read(dir.fd, NAME, geteuid(), buf, sizeof(buf), &len, &st), 0);
	assert_true(st.mtime > INT64_C(1000000000000));
	assert_int_equal(lease_record_parse(buf, len, &back, &err), 0);
	assert_memory_equal(&r, &back, sizeof(r));
}

static void a_move_takes_the_same_file_to_the_other_folder(void **state)
{
	struct lease_stat before, after;
	struct lease_tree t;

	(void)state;
	scratch_make_tree(&dir);
	assert_int_equal(lease_tree_open(&t, dir.path), 0);
	assert_int_equal(lease_create(t.queue, NAME, "body", 4), 0);
	assert_int_equal(lease_stat(t.queue, NAME, &before), 0);
	assert_int_equal(lease_move(t.queue, NAME, t.active, NAME), 0);
	assert_false(scratch_exists(t.queue, NAME));
	assert_int_equal(lease_stat(t.active, NAME, &after), 0);
	assert_int_equal(after.ino, before.ino);
	assert_true(after.mtime == before.mtime);
	assert_int_equal(after.nlink, 1);
	assert_int_equal(lease_move(t.active, NAME, t.archive, "other"), 0);
	assert_true(scratch_holds(t.archive, "other", "body", 4));
	assert_int_equal(lease_move(t.active, NAME, t.archive, NAME), -ENOENT);
	lease_tree_close(&t);
}

static void a_move_never_replaces(void **state)
{
	(void)state;
	scratch_write(dir.fd, "a", "a", 1);
	scratch_write(dir.fd, "b", "b", 1);
	assert_int_equal(symlinkat("nowhere", dir.fd, "link"), 0);
	assert_int_equal(lease_move(dir.fd, "a", dir.fd, "b"), -EEXIST);
	assert_int_equal(lease_move(dir.fd, "a", dir.fd, "link"), -EEXIST);
	assert_true(scratch_holds(dir.fd, "a", "a", 1));
	assert_true(scratch_holds(dir.fd, "b", "b", 1));
	assert_int_equal(scratch_count(dir.fd), 3);
}

static void a_link_is_moved_as_a_link(void **state)
{
	struct lease_stat st;

	(void)state;
	scratch_write(dir.fd, "target", "x", 1);
	assert_int_equal(symlinkat("target", dir.fd, "link"), 0);
	assert_int_equal(lease_move(dir.fd, "link", dir.fd, "moved"), 0);
	assert_int_equal(lease_stat(dir.fd, "moved", &st), 0);
	assert_true(S_ISLNK(st.mode));
	assert_true(scratch_holds(dir.fd, "target", "x", 1));
}

/* As the daemon writes a state file: a reader finds the old one or the new one, never none. */
static void a_file_that_is_replaced_without_end_is_never_away(void **state)
{
	char buf[LEASE_FILE_MAX];
	size_t len;

	(void)state;
	scratch_write(dir.fd, "f", "one", 3);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (;;) {
			int fd = openat(dir.fd, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

			if (write(fd, "two", 3) != 3 || close(fd) < 0 || renameat(dir.fd, "new", dir.fd, "f") < 0)
				_exit(1);
		}
	}
	for (int i = 0; i < 20000; i++) {
		int r = lease_read(dir.fd, "f", getuid(), buf, sizeof(buf), &len, NULL);
		assert_true(r == 0 || r == -EAGAIN);
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void)unlinkat(dir.fd, "new", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_file_that_is_replaced_without_end_is_never_away, setup, teardown),
	    cmocka_unit_test_setup_teardown(the_filter_bites_where_there_is_one, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_create_makes_the_file_whole_readable_and_alone, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(the_umask_neither_hides_a_lock_nor_is_changed, setup, teardown),
	    cmocka_unit_test_setup_teardown(what_has_the_name_already_stays_what_it_was, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_body_too_long_or_a_name_too_long_makes_nothing, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(a_limit_on_file_size_is_an_error_and_no_death, setup, teardown),
	    cmocka_unit_test_setup_teardown(of_many_creators_of_one_name_one_wins, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_touch_moves_mtime_to_now_and_nothing_else, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_touch_never_creates_a_file, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_touch_follows_no_link_and_wants_a_regular_file, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(a_touch_that_says_yes_has_touched_the_file_it_names, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(a_beat_of_one_byte_leaves_the_record_as_it_was, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_move_takes_the_same_file_to_the_other_folder, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_move_never_replaces, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_link_is_moved_as_a_link, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
