/*
 * Looking: open, list, find, stat, read. Changing is in test_change.c. Both run again under
 * tests/tools/enosys, where what they promise has to hold by the fallbacks.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/kv.h"
#include "lease/tree.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

#define NAME "lock-cli-anna-kls-abcdefghij"
#define ANY ((uid_t)-1)

static struct scratch dir;
static int fds_before;

static int setup(void **state)
{
	(void)state;
	fds_before = scratch_open_fds();
	scratch_make(&dir);
	return 0;
}

/* No test may leave a descriptor behind: checked for every one of them. */
static int teardown(void **state)
{
	(void)state;
	scratch_remove(&dir);
	return scratch_open_fds() == fds_before ? 0 : -1;
}

/* The script says what it took away: a filter that does not bite would make these tests prove nothing. */
static void the_filter_bites_where_there_is_one(void **state)
{
	const char *filter = getenv("LEASE_TEST_FILTER");
	long e;

	(void)state;
	e = syscall(SYS_openat2, -1, "x", NULL, 0) < 0 ? errno : 0;
	assert_int_equal(e == ENOSYS, filter && strstr(filter, "openat2"));
}

static void a_tree_opens_whole_and_close_on_exec(void **state)
{
	struct lease_tree t = LEASE_TREE_CLOSED;
	const int *fds[] = {&t.root, &t.queue, &t.active, &t.archive};

	(void)state;
	scratch_make_tree(&dir);
	assert_int_equal(lease_tree_open(&t, dir.path), 0);
	for (size_t i = 0; i < N_OF(fds); i++)
		assert_int_equal(fcntl(*fds[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	scratch_write(t.active, "x", "", 0);
	assert_int_equal(faccessat(dir.fd, "active/x", F_OK, 0), 0);
	lease_tree_close(&t);
	for (size_t i = 0; i < N_OF(fds); i++)
		assert_int_equal(*fds[i], -1);
	lease_tree_close(&t);
}

static void opening_makes_nothing_and_leaves_the_result_alone(void **state)
{
	struct lease_tree t = {77, 77, 77, 77};

	(void)state;
	assert_int_equal(lease_tree_open(&t, dir.path), -ENOENT);
	assert_int_equal(mkdirat(dir.fd, "queue", 0700), 0);
	assert_int_equal(lease_tree_open(&t, dir.path), -ENOENT);
	assert_int_equal(scratch_count(dir.fd), 1);
	assert_int_equal(lease_tree_open(&t, ""), -ENOENT);
	assert_int_equal(lease_tree_open(&t, "/nowhere/at/all"), -ENOENT);
	assert_int_equal(t.root, 77);
	assert_int_equal(t.archive, 77);
}

static void a_link_anywhere_in_the_tree_is_refused(void **state)
{
	static const char *const endings[] = {"", "/", "//", "/.", "/./", "/././/"};
	static const char *const parts[] = {"queue", "active", "archive"};
	char path[PATH_MAX + 32];
	struct lease_tree t;

	(void)state;
	assert_int_equal(mkdirat(dir.fd, "real", 0700), 0);
	for (size_t i = 0; i < N_OF(parts); i++) {
		snprintf(path, sizeof(path), "real/%s", parts[i]);
		assert_int_equal(mkdirat(dir.fd, path, 0700), 0);
	}
	assert_int_equal(symlinkat("real", dir.fd, "root"), 0);
	for (size_t i = 0; i < N_OF(endings); i++) {
		snprintf(path, sizeof(path), "%s/root%s", dir.path, endings[i]);
		assert_int_equal(lease_tree_open(&t, path), -ELOOP);
		snprintf(path, sizeof(path), "%s/real%s", dir.path, endings[i]);
		assert_int_equal(lease_tree_open(&t, path), 0);
		lease_tree_close(&t);
	}
	snprintf(path, sizeof(path), "%s/real", dir.path);
	for (size_t i = 0; i < N_OF(parts); i++) {
		char part[64];

		snprintf(part, sizeof(part), "real/%s", parts[i]);
		assert_int_equal(renameat(dir.fd, part, dir.fd, "moved"), 0);
		assert_int_equal(symlinkat("../moved", dir.fd, part), 0);
		assert_int_equal(lease_tree_open(&t, path), -ELOOP);
		assert_int_equal(unlinkat(dir.fd, part, 0), 0);
		scratch_write(dir.fd, part, "", 0);
		assert_int_equal(lease_tree_open(&t, path), -ENOTDIR);
		assert_int_equal(unlinkat(dir.fd, part, 0), 0);
		assert_int_equal(mkfifoat(dir.fd, part, 0600), 0);
		assert_int_equal(lease_tree_open(&t, path), -ENOTDIR);
		assert_int_equal(unlinkat(dir.fd, part, 0), 0);
		assert_int_equal(renameat(dir.fd, "moved", dir.fd, part), 0);
	}
}

/* In namespaces of its own, where anybody may mount; 77 where they are not to be had. */
static int open_with_a_mount_on(const char *part)
{
	char path[PATH_MAX + 32];
	struct lease_tree t;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 && unshare(CLONE_NEWNS) < 0)
		return 77;
	snprintf(path, sizeof(path), "%s/%s", dir.path, part);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", path, "tmpfs", 0, NULL) < 0)
		return 77;
	return lease_tree_open(&t, dir.path) == -EXDEV ? 0 : 1;
}

static void a_mount_on_a_folder_of_the_tree_is_refused(void **state)
{
	static const char *const parts[] = {"queue", "active", "archive"};

	(void)state;
	scratch_make_tree(&dir);
	for (size_t i = 0; i < N_OF(parts); i++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (pid == 0)
			_exit(open_with_a_mount_on(parts[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			skip_because("no mount can be made here, not even in a namespace of one's own");
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static void a_file_as_root_is_no_directory_and_a_long_path_is_too_long(void **state)
{
	char path[PATH_MAX * 2];
	struct lease_tree t;

	(void)state;
	scratch_write(dir.fd, "file", "", 0);
	snprintf(path, sizeof(path), "%s/file", dir.path);
	assert_int_equal(lease_tree_open(&t, path), -ENOTDIR);
	memset(path, '/', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(lease_tree_open(&t, path), -ENAMETOOLONG);
}

struct seen {
	int n, stop_at;
	char names[16][LEASE_NAME_SIZE];
};

static int see(void *arg, const char *name)
{
	struct seen *s = arg;

	assert_true(s->n < 16);
	snprintf(s->names[s->n++], LEASE_NAME_SIZE, "%s", name);
	return s->n == s->stop_at ? -4711 : 0;
}

static void a_list_skips_dots_and_half_made_files_only(void **state)
{
	static const char *const made[] = {"a", ".hidden", NAME, "b\nc", "\xff", "..."};
	struct seen seen = {0};

	(void)state;
	assert_int_equal(lease_list(dir.fd, see, &seen), 0);
	assert_int_equal(seen.n, 0);
	for (size_t i = 0; i < N_OF(made); i++)
		scratch_write(dir.fd, made[i], "", 0);
	scratch_write(dir.fd, ".tmp-kls-abcdefghij", "", 0);
	scratch_write(dir.fd, ".tmp-", "", 0);
	assert_int_equal(lease_list(dir.fd, see, &seen), 0);
	assert_int_equal(seen.n, N_OF(made));
	for (size_t i = 0; i < N_OF(made); i++) {
		int found = 0;

		for (int j = 0; j < seen.n; j++)
			found += strcmp(seen.names[j], made[i]) == 0;
		assert_int_equal(found, 1);
	}
}

static void a_list_stops_when_told_and_starts_afresh_each_time(void **state)
{
	struct seen seen = {.stop_at = 2};

	(void)state;
	scratch_write(dir.fd, "a", "", 0);
	scratch_write(dir.fd, "b", "", 0);
	scratch_write(dir.fd, "c", "", 0);
	assert_int_equal(lease_list(dir.fd, see, &seen), -4711);
	assert_int_equal(seen.n, 2);
	seen = (struct seen){0};
	assert_int_equal(lease_list(dir.fd, see, &seen), 0);
	assert_int_equal(seen.n, 3);
}

static int count_inner(void *arg, const char *name)
{
	(void)name;
	++*(int *)arg;
	return 0;
}

static int count_all_again(void *arg, const char *name)
{
	(void)name;
	return lease_list(dir.fd, count_inner, arg);
}

/* More than one buffer of the kernel's, listed within a list of the same descriptor. */
static void lists_of_one_directory_do_not_disturb_each_other(void **state)
{
	char name[32];
	int n = 0;

	(void)state;
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "a-rather-long-name-%d", i);
		assert_int_equal(mknodat(dir.fd, name, S_IFREG | 0600, 0), 0);
	}
	assert_int_equal(lease_list(dir.fd, count_all_again, &n), 0);
	assert_int_equal(n, 500 * 500);
}

static void a_lock_is_found_by_the_id_at_its_end(void **state)
{
	char name[LEASE_NAME_SIZE] = "untouched";

	(void)state;
	scratch_write(dir.fd, "lock-x-kls-abcdefghij-kls-bbbbbbbbbb", "", 0);
	scratch_write(dir.fd, "ask-kls-abcdefghij", "", 0);
	scratch_write(dir.fd, "kls-abcdefghij", "", 0);
	scratch_write(dir.fd, ".tmp-kls-abcdefghij", "", 0);
	scratch_write(dir.fd, "lock-a b-kls-abcdefghij", "", 0);
	assert_int_equal(lease_find(dir.fd, "kls-abcdefghij", name), -ENOENT);
	assert_int_equal(lease_find(dir.fd, "", name), -ENOENT);
	assert_int_equal(lease_find(dir.fd, "-kls-bbbbbbbbbb", name), -ENOENT);
	assert_string_equal(name, "untouched");
	scratch_write(dir.fd, NAME, "", 0);
	assert_int_equal(lease_find(dir.fd, "kls-abcdefghij", name), 0);
	assert_string_equal(name, NAME);
	assert_int_equal(lease_find(dir.fd, "kls-bbbbbbbbbb", name), 0);
	assert_string_equal(name, "lock-x-kls-abcdefghij-kls-bbbbbbbbbb");
}

static void a_stat_says_what_the_kernel_says(void **state)
{
	const struct timespec times[2] = {{5, 6}, {1700000000, 123456789}};
	struct lease_stat st, by_fd;
	struct stat want;

	(void)state;
	scratch_write(dir.fd, "f", "12345", 5);
	assert_int_equal(utimensat(dir.fd, "f", times, 0), 0);
	assert_int_equal(fstatat(dir.fd, "f", &want, 0), 0);
	assert_int_equal(lease_stat(dir.fd, "f", &st), 0);
	assert_true(st.dev == want.st_dev && st.ino == want.st_ino);
	assert_true(st.mtime == INT64_C(1700000000123456789));
	assert_true(st.ctime == want.st_ctim.tv_sec * INT64_C(1000000000) + want.st_ctim.tv_nsec);
	assert_int_equal(st.uid, getuid());
	assert_int_equal(st.mode, want.st_mode);
	assert_int_equal(st.nlink, 1);
	assert_int_equal(st.size, 5);
	assert_int_equal(lease_stat(dir.fd, NULL, &by_fd), 0);
	assert_true(S_ISDIR(by_fd.mode));
	assert_int_equal(lease_stat(dir.fd, "gone", &st), -ENOENT);
	assert_int_equal(symlinkat("f", dir.fd, "link"), 0);
	assert_int_equal(lease_stat(dir.fd, "link", &st), 0);
	assert_true(S_ISLNK(st.mode));
}

/* Seconds that int64_t nanoseconds cannot hold come from anybody's touch(1); a filesystem may clamp them
 * first. */
static void a_stamp_out_of_range_sticks_to_its_end(void **state)
{
	struct timespec times[2] = {{0, 0}, {INT64_MAX / 1000, 999999999}};
	struct lease_stat st;
	struct stat got;

	(void)state;
	scratch_write(dir.fd, "f", "", 0);
	assert_int_equal(utimensat(dir.fd, "f", times, 0), 0);
	assert_int_equal(fstatat(dir.fd, "f", &got, 0), 0);
	assert_int_equal(lease_stat(dir.fd, "f", &st), 0);
	if (got.st_mtim.tv_sec > INT64_MAX / 1000000000)
		assert_true(st.mtime == INT64_MAX);
	else
		assert_true(st.mtime / 1000000000 == got.st_mtim.tv_sec);
	times[1].tv_sec = INT64_MIN / 1000;
	assert_int_equal(utimensat(dir.fd, "f", times, 0), 0);
	assert_int_equal(fstatat(dir.fd, "f", &got, 0), 0);
	assert_int_equal(lease_stat(dir.fd, "f", &st), 0);
	if (got.st_mtim.tv_sec < INT64_MIN / 1000000000)
		assert_true(st.mtime == INT64_MIN);
	else
		assert_true(st.mtime < 0);
}

static void a_name_is_one_part_of_a_path_everywhere(void **state)
{
	static const char *const names[] = {"", ".", "..", "/", "a/b", "../x", "/etc/passwd", "a/"};
	struct lease_stat st;
	char buf[16];
	size_t len;

	(void)state;
	assert_int_equal(mkdirat(dir.fd, "a", 0700), 0);
	scratch_write(dir.fd, "a/b", "x", 1);
	scratch_write(dir.fd, "ok", "x", 1);
	for (size_t i = 0; i < N_OF(names); i++) {
		assert_int_equal(lease_stat(dir.fd, names[i], &st), -EINVAL);
		assert_int_equal(lease_read(dir.fd, names[i], ANY, buf, sizeof(buf), &len, NULL), -EINVAL);
		assert_int_equal(lease_touch(dir.fd, names[i], NULL), -EINVAL);
		assert_int_equal(lease_create(dir.fd, names[i], "x", 1), -EINVAL);
		assert_int_equal(lease_move(dir.fd, names[i], dir.fd, "z"), -EINVAL);
		assert_int_equal(lease_move(dir.fd, "ok", dir.fd, names[i]), -EINVAL);
	}
	assert_int_equal(scratch_count(dir.fd), 2);
}

static void a_file_is_read_whole_with_its_stat(void **state)
{
	struct lease_stat st, want;
	char buf[LEASE_FILE_MAX];
	size_t len = 77;

	(void)state;
	scratch_write(dir.fd, "f", "hello\n", 6);
	assert_int_equal(lease_read(dir.fd, "f", getuid(), buf, sizeof(buf), &len, &st), 0);
	assert_int_equal(len, 6);
	assert_memory_equal(buf, "hello\n", 6);
	assert_int_equal(lease_stat(dir.fd, "f", &want), 0);
	assert_true(st.ino == want.ino && st.mtime == want.mtime && st.size == want.size &&
		    st.uid == want.uid);
	assert_int_equal(lease_read(dir.fd, "f", ANY, buf, 6, &len, NULL), 0);
	assert_int_equal(lease_read(dir.fd, "f", ANY, buf, 5, &len, NULL), -EFBIG);
	scratch_write(dir.fd, "empty", "", 0);
	assert_int_equal(lease_read(dir.fd, "empty", ANY, buf, sizeof(buf), &len, NULL), 0);
	assert_int_equal(len, 0);
}

static void a_socket(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", dir.fd, name);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
}

static void a_hostile_entry_is_refused_and_hangs_nobody(void **state)
{
	static const struct {
		const char *name;
		int error;
	} cases[] = {
	    {"gone", -ENOENT}, {"link", -ELOOP},    {"dangling", -ELOOP},
	    {"fifo", -EINVAL}, {"folder", -EINVAL}, {"socket", -ENXIO},
	    {"hard", -EMLINK}, {"4097", -EFBIG},    {"3000000", -EFBIG},
	};
	static char big[3000000];
	char buf[LEASE_FILE_MAX];

	(void)state;
	assert_int_equal(symlinkat("/etc/passwd", dir.fd, "link"), 0);
	assert_int_equal(symlinkat("nowhere", dir.fd, "dangling"), 0);
	assert_int_equal(mkfifoat(dir.fd, "fifo", 0600), 0);
	assert_int_equal(mkdirat(dir.fd, "folder", 0700), 0);
	a_socket("socket");
	scratch_write(dir.fd, "hard", "x", 1);
	assert_int_equal(linkat(dir.fd, "hard", dir.fd, "hard2", 0), 0);
	scratch_write(dir.fd, "4097", big, 4097);
	scratch_write(dir.fd, "3000000", big, sizeof(big));
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct lease_stat st = {.ino = 77};
		size_t len = 77;
		int e = lease_read(dir.fd, cases[i].name, ANY, buf, sizeof(buf), &len, &st);

		if (e != cases[i].error)
			fail_msg("%s gives %d, not %d", cases[i].name, e, cases[i].error);
		assert_int_equal(len, 77);
		assert_int_equal(st.ino, 77);
	}
	assert_int_equal(lease_read(dir.fd, "4097", getuid() + 1, buf, sizeof(buf), &(size_t){0}, NULL),
			 -EPERM);
}

/* F_SETLEASE makes a plain open wait until the holder answers, up to lease-break-time. */
static void a_file_lease_of_the_kernel_makes_nobody_wait(void **state)
{
	char buf[16];
	size_t len;
	int fd;

	(void)state;
	scratch_write(dir.fd, "f", "x", 1);
	fd = openat(dir.fd, "f", O_RDWR | O_CLOEXEC);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0) {
		close(fd);
		skip_because("this file system knows no F_SETLEASE");
	}
	assert_int_equal(fcntl(fd, F_SETSIG, SIGURG), 0);
	assert_int_equal(lease_read(dir.fd, "f", ANY, buf, sizeof(buf), &len, NULL), -EAGAIN);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_filter_bites_where_there_is_one),
	    cmocka_unit_test_setup_teardown(a_tree_opens_whole_and_close_on_exec, setup, teardown),
	    cmocka_unit_test_setup_teardown(opening_makes_nothing_and_leaves_the_result_alone, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(a_link_anywhere_in_the_tree_is_refused, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_mount_on_a_folder_of_the_tree_is_refused, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_file_as_root_is_no_directory_and_a_long_path_is_too_long, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(a_list_skips_dots_and_half_made_files_only, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_list_stops_when_told_and_starts_afresh_each_time, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(lists_of_one_directory_do_not_disturb_each_other, setup,
					    teardown),
	    cmocka_unit_test_setup_teardown(a_lock_is_found_by_the_id_at_its_end, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_stat_says_what_the_kernel_says, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_stamp_out_of_range_sticks_to_its_end, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_name_is_one_part_of_a_path_everywhere, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_file_is_read_whole_with_its_stat, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_hostile_entry_is_refused_and_hangs_nobody, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_file_lease_of_the_kernel_makes_nobody_wait, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
