/*
 * What store/house.h promises. System mode is tried as whoever runs this: it then is root and daemon in one;
 * what needs two users is tried where the whole daemon is (tests/session).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/house.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

/* Asking again, with another environment, is for tests only: the library leaks a little each time. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:xdgUpdateData";
}

struct world {
	struct scratch s;
	struct house_paths p;
	struct house h;
	char err[256];
};

static void below(const struct world *w, char path[512], const char *name)
{
	assert_true(snprintf(path, 512, "%s/%s", w->s.path, name) < 512);
}

static void prepare(struct world *w, bool user_mode)
{
	char notices[512], state[512];

	below(w, notices, "notices");
	below(w, state, "st");
	w->p = (struct house_paths){ .user_mode = user_mode, .uid = geteuid(), .gid = getegid() };
	assert_int_equal(house_paths(&w->p, notices, state, w->err), 0);
}

static int setup(void **state)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	scratch_make(&w.s);
	w.h = (struct house){ LEASE_TREE_CLOSED, -1, -1, -1, -1, -1, { FS_LOCAL, "" } };
	prepare(&w, true);
	*state = &w;
	return 0;
}

static int setup_system(void **state)
{
	setup(state);
	prepare(*state, false);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	house_close(&w->h);
	scratch_remove(&w->s);
	return 0;
}

static void open_it(struct world *w)
{
	int r = house_open(&w->p, 0, &w->h, w->err);

	if (r < 0)
		fail_msg("house_open: %d: %s", r, w->err);
	assert_string_equal(w->err, "");
}

static void refuses(struct world *w, int error, const char *word)
{
	int fds = scratch_open_fds();

	assert_int_equal(house_open(&w->p, 0, &w->h, w->err), error);
	if (!strstr(w->err, word))
		fail_msg("no '%s' in: %s", word, w->err);
	assert_int_equal(scratch_open_fds(), fds);
}

static mode_t mode_of(const struct world *w, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(w->s.fd, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_mode & 07777;
}

static void set_mode(const struct world *w, const char *name, mode_t mode)
{
	assert_int_equal(fchmodat(w->s.fd, name, mode, 0), 0);
}

static void in_user_mode_all_is_made_for_the_user_alone(void **state)
{
	static const char *const names[] = {
		"notices", "notices/queue", "notices/active", "notices/archive", "notices/.reap", "notices/.quarantine",
		"st", "st/state", "st/tokens", "st/sessions", "st/work",
	};
	struct world *w = *state;
	mode_t old = umask(0);

	open_it(w);
	umask(old);
	for (size_t i = 0; i < N_OF(names); i++)
		assert_int_equal(mode_of(w, names[i]), 0700);
	assert_int_equal(mode_of(w, "notices/.leasewatch.lock"), 0600);
	assert_true(w->h.tree.root >= 0 && w->h.tree.queue >= 0 && w->h.tree.active >= 0 && w->h.tree.archive >= 0);
	assert_true(w->h.reap >= 0 && w->h.quarantine >= 0 && w->h.state >= 0 && w->h.sessions >= 0 && w->h.lock >= 0);
}

static void in_system_mode_each_folder_is_for_those_who_need_it(void **state)
{
	static const struct {
		const char *name;
		mode_t mode;
	} want[] = {
		{ "notices", 0755 },	       { "notices/queue", 01777 },     { "notices/active", 01777 },
		{ "notices/archive", 01777 },  { "notices/.reap", 0700 },      { "notices/.quarantine", 0700 },
		{ "st", 01775 },	       { "st/state", 0755 },	       { "st/tokens", 0711 },
		{ "st/sessions", 0711 },       { "st/work", 0700 },
	};
	struct world *w = *state;
	mode_t old = umask(077);

	open_it(w);
	umask(old);
	for (size_t i = 0; i < N_OF(want); i++)
		if (mode_of(w, want[i].name) != want[i].mode)
			fail_msg("%s has mode %04o", want[i].name, mode_of(w, want[i].name));
}

static void what_is_there_is_taken_as_it_is(void **state)
{
	struct world *w = *state;

	open_it(w);
	house_close(&w->h);
	scratch_write(w->s.fd, "notices/active/lock-x", "x", 1);
	set_mode(w, "notices/queue", 01770);
	open_it(w);
	assert_int_equal(mode_of(w, "notices/queue"), 01770);
	assert_true(scratch_exists(w->s.fd, "notices/active/lock-x"));
}

static void a_wrong_mode_is_told_and_never_repaired(void **state)
{
	static const struct {
		const char *name;
		mode_t mode;
	} wrong[] = {
		{ "notices", 0777 },	  { "notices/queue", 0777 },  { "notices/active", 01755 },
		{ "notices/.reap", 0711 }, { "st", 0755 },	       { "st", 01777 },
		{ "st/state", 0775 },	  { "st/tokens", 0733 },      { "st/sessions", 0777 },
		{ "st/work", 0755 },	  { "notices/.leasewatch.lock", 0644 },
	};
	struct world *w = *state;

	open_it(w);
	house_close(&w->h);
	for (size_t i = 0; i < N_OF(wrong); i++) {
		mode_t right = mode_of(w, wrong[i].name);
		char path[512];

		set_mode(w, wrong[i].name, wrong[i].mode);
		refuses(w, -EPERM, "mode");
		below(w, path, strstr(wrong[i].name, ".lock") ? "notices" : wrong[i].name);
		if (strncmp(w->err, path, strlen(path)) != 0)
			fail_msg("%s is not named: %s", path, w->err);
		assert_int_equal(mode_of(w, wrong[i].name), wrong[i].mode);
		set_mode(w, wrong[i].name, right);
	}
	open_it(w);
}

static void a_users_folder_that_others_can_write_is_refused(void **state)
{
	struct world *w = *state;

	assert_int_equal(mkdirat(w->s.fd, "notices", 0700), 0);
	set_mode(w, "notices", 0770);
	refuses(w, -EPERM, "0770");
	set_mode(w, "notices", 0755);
	open_it(w);
	assert_int_equal(mode_of(w, "notices"), 0755);
}

static void a_link_in_the_place_of_a_folder_is_not_followed(void **state)
{
	static const char *const names[] = { "notices", "notices/active", "notices/.reap", "st/state", "st/work" };
	struct world *w = *state;

	for (size_t i = 0; i < N_OF(names); i++) {
		assert_true(mkdirat(w->s.fd, "notices", 0700) == 0 || i > 0);
		assert_true(mkdirat(w->s.fd, "st", 0700) == 0 || i > 0);
		assert_true(mkdirat(w->s.fd, "elsewhere", 0700) == 0 || i > 0);
		(void)unlinkat(w->s.fd, names[i], AT_REMOVEDIR);
		assert_int_equal(symlinkat(i == 0 ? "elsewhere" : "../elsewhere", w->s.fd, names[i]), 0);
		assert_true(house_open(&w->p, 0, &w->h, w->err) < 0);
		assert_non_null(strstr(w->err, "link"));
		assert_int_equal(unlinkat(w->s.fd, names[i], 0), 0);
		if (i == 0)
			assert_int_equal(mkdirat(w->s.fd, "notices", 0700), 0);
	}
	assert_true(scratch_exists(w->s.fd, "elsewhere"));
	assert_int_equal(unlinkat(w->s.fd, "elsewhere", AT_REMOVEDIR), 0); /* nothing was put there */
}

static void a_file_in_the_place_of_a_folder_is_told(void **state)
{
	struct world *w = *state;

	scratch_write(w->s.fd, "notices", "x", 1);
	refuses(w, -ENOTDIR, "no folder");
	assert_true(scratch_holds(w->s.fd, "notices", "x", 1));
}

static void a_user_may_have_links_above_a_system_may_not(void **state)
{
	struct world *w = *state;
	char notices[512], st[512];

	assert_int_equal(mkdirat(w->s.fd, "real", 0700), 0);
	assert_int_equal(symlinkat("real", w->s.fd, "home"), 0);
	below(w, notices, "home/data/notices");
	below(w, st, "st");
	assert_int_equal(house_paths(&w->p, notices, st, w->err), 0);
	open_it(w);
	assert_int_equal(mode_of(w, "real/data/notices/active"), 0700);
	house_close(&w->h);
	w->p.user_mode = false;
	refuses(w, -ENOTDIR, "link");
}

static void a_system_tree_below_a_folder_that_others_can_write_is_refused(void **state)
{
	struct world *w = *state;
	char notices[512], st[512];

	assert_int_equal(mkdirat(w->s.fd, "open", 0700), 0);
	below(w, notices, "open/notices");
	below(w, st, "st");
	assert_int_equal(house_paths(&w->p, notices, st, w->err), 0);
	set_mode(w, "open", 0777);
	refuses(w, -EPERM, "/open: has mode 0777");
	assert_false(scratch_exists(w->s.fd, "open/notices"));
	/* A sticky one will do, as /tmp does. */
	set_mode(w, "open", 01777);
	open_it(w);
	house_close(&w->h);
	/* The same holds for what is root's. */
	below(w, notices, "notices");
	below(w, st, "open/st");
	assert_int_equal(house_paths(&w->p, notices, st, w->err), 0);
	set_mode(w, "open", 0777);
	refuses(w, -EPERM, "/open: has mode 0777");
}

static void what_has_a_folders_name_is_looked_at(void **state)
{
	static const char *const names[] = { "queue", "active", "archive" };
	struct world *w = *state;
	int tree;

	open_it(w);
	tree = w->h.tree.root;
	assert_true(house_stands(&w->p, &w->h));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(renameat(tree, names[i], tree, "away"), 0);
		assert_false(house_stands(&w->p, &w->h));
		assert_int_equal(mkdirat(tree, names[i], 0700), 0);
		assert_false(house_stands(&w->p, &w->h));
		assert_int_equal(renameat(tree, "away", tree, names[i]), 0);
		assert_true(house_stands(&w->p, &w->h));
	}
	w->p.notices[strlen(w->s.path)] = '\0'; /* as if another stood under the name */
	assert_false(house_stands(&w->p, &w->h));
}

static void one_daemon_a_tree(void **state)
{
	struct world *w = *state;
	struct house second;
	int fds;

	open_it(w);
	fds = scratch_open_fds();
	assert_int_equal(house_open(&w->p, 0, &second, w->err), -EBUSY);
	assert_non_null(strstr(w->err, "another leasewatch"));
	assert_int_equal(scratch_open_fds(), fds);
	house_close(&w->h);
	open_it(w);
}

static void it_waits_for_a_predecessor_on_its_way_out(void **state)
{
	struct world *w = *state;
	int fds[2], status;
	pid_t pid;
	char c;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct house h;
		char err[256];

		if (house_open(&w->p, 0, &h, err) < 0 || write(fds[1], "x", 1) != 1)
			_exit(1);
		(void)poll(NULL, 0, 50);
		_exit(0);
	}
	assert_int_equal(read(fds[0], &c, 1), 1);
	assert_int_equal(house_open(&w->p, 10000, &w->h, w->err), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(fds[0]);
	close(fds[1]);
}

static void a_child_that_lives_on_keeps_the_lock(void **state)
{
	struct world *w = *state;
	int fds[2], status;
	pid_t pid;
	char c;

	open_it(w);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[1]);
		_exit(read(fds[0], &c, 1) == 0 ? 0 : 1);
	}
	house_close(&w->h);
	refuses(w, -EBUSY, "another leasewatch");
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	open_it(w);
}

static void the_lock_is_no_link_and_nobody_elses_file(void **state)
{
	struct world *w = *state;

	assert_int_equal(mkdirat(w->s.fd, "notices", 0700), 0);
	assert_int_equal(symlinkat("/tmp/nothing-there", w->s.fd, "notices/.leasewatch.lock"), 0);
	refuses(w, -ELOOP, ".leasewatch.lock");
	assert_int_equal(unlinkat(w->s.fd, "notices/.leasewatch.lock", 0), 0);
	assert_int_equal(mkfifoat(w->s.fd, "notices/.leasewatch.lock", 0600), 0);
	refuses(w, -EPERM, "plain file");
}

static void set_xdg(const char *home, const char *data, const char *state, const char *runtime)
{
	home ? setenv("HOME", home, 1) : unsetenv("HOME");
	data ? setenv("XDG_DATA_HOME", data, 1) : unsetenv("XDG_DATA_HOME");
	state ? setenv("XDG_STATE_HOME", state, 1) : unsetenv("XDG_STATE_HOME");
	runtime ? setenv("XDG_RUNTIME_DIR", runtime, 1) : unsetenv("XDG_RUNTIME_DIR");
}

static void a_users_paths_follow_the_base_directories(void **state)
{
	struct house_paths p = { .user_mode = true };
	char err[256];

	(void)state;
	set_xdg("/home/rosa", NULL, NULL, NULL);
	assert_int_equal(house_paths(&p, NULL, NULL, err), 0);
	assert_string_equal(p.notices, "/home/rosa/.local/share/leasewatch/notices");
	assert_string_equal(p.db, "/home/rosa/.local/state/leasewatch/lease.db");
	assert_string_equal(p.state, "/home/rosa/.local/state/leasewatch/state");
	assert_int_equal(p.uid, geteuid());
	set_xdg("/home/rosa", "/d", "/s", "/r");
	assert_int_equal(house_paths(&p, NULL, NULL, err), 0);
	assert_string_equal(p.notices, "/d/leasewatch/notices");
	assert_string_equal(p.db, "/s/leasewatch/lease.db");
	assert_string_equal(p.state, "/r/leasewatch/state");
	assert_string_equal(p.tokens, "/r/leasewatch/tokens");
	assert_string_equal(p.sessions, "/r/leasewatch/sessions");
	assert_string_equal(p.work, "/r/leasewatch/work");
	/* What is not absolute is as if it were not set. */
	set_xdg("/home/rosa", "d", "", "r");
	assert_int_equal(house_paths(&p, NULL, NULL, err), 0);
	assert_string_equal(p.notices, "/home/rosa/.local/share/leasewatch/notices");
	assert_string_equal(p.state, "/home/rosa/.local/state/leasewatch/state");
	set_xdg(NULL, NULL, NULL, NULL);
	assert_int_equal(house_paths(&p, NULL, NULL, err), -EINVAL);
	assert_non_null(strstr(err, "HOME"));
	set_xdg(NULL, "/d", "/s", "/r");
	assert_int_equal(house_paths(&p, NULL, NULL, err), 0);
	assert_string_equal(p.notices, "/d/leasewatch/notices");
}

static void the_systems_paths_are_fixed_and_hear_no_environment(void **state)
{
	struct house_paths p = { .user_mode = false, .uid = 4711, .gid = 4712 };
	char err[256];

	(void)state;
	set_xdg("/home/rosa", "/d", "/s", "/r");
	assert_int_equal(house_paths(&p, NULL, NULL, err), 0);
	assert_string_equal(p.notices, "/run/leasewatch/notices");
	assert_string_equal(p.state, "/run/leasewatch/state");
	assert_string_equal(p.tokens, "/run/leasewatch/tokens");
	assert_string_equal(p.sessions, "/run/leasewatch/sessions");
	assert_string_equal(p.db, LOCALSTATEDIR "/lib/leasewatch/lease.db");
	assert_string_equal(p.work, LOCALSTATEDIR "/lib/leasewatch-work");
	assert_true(p.uid == 4711 && p.gid == 4712);
}

static void a_state_folder_that_is_named_takes_all_of_it(void **state)
{
	struct house_paths p = { .user_mode = false };
	char err[256], cwd[512], want[600];

	(void)state;
	assert_int_equal(house_paths(&p, "/n//", "/st/", err), 0);
	assert_string_equal(p.notices, "/n");
	assert_string_equal(p.db, "/st/lease.db");
	assert_string_equal(p.work, "/st/work");
	assert_string_equal(p.sessions, "/st/sessions");
	/* Told from where the daemon was started: it need not stay there, and others read the path. */
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	snprintf(want, sizeof(want), "%s/n/x", cwd);
	assert_int_equal(house_paths(&p, "n/x", NULL, err), 0);
	assert_string_equal(p.notices, want);
}

static void a_path_that_cannot_be_is_told(void **state)
{
	struct house_paths p = { .user_mode = false };
	char err[256], longest[600];

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(house_paths(&p, longest, NULL, err), -ENAMETOOLONG);
	assert_non_null(strstr(err, "too long"));
	longest[505] = '\0';
	assert_int_equal(house_paths(&p, NULL, longest, err), -ENAMETOOLONG);
	assert_int_equal(house_paths(&p, "/a\nb", NULL, err), -EINVAL);
	assert_non_null(strstr(err, "control byte"));
	assert_int_equal(house_paths(&p, "", NULL, err), -EINVAL);
	assert_int_equal(house_paths(&p, "/", NULL, err), -EINVAL);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define S(f) cmocka_unit_test_setup_teardown(f, setup_system, teardown)
	const struct CMUnitTest tests[] = {
		T(in_user_mode_all_is_made_for_the_user_alone),
		S(in_system_mode_each_folder_is_for_those_who_need_it),
		S(what_is_there_is_taken_as_it_is),
		S(a_wrong_mode_is_told_and_never_repaired),
		T(a_users_folder_that_others_can_write_is_refused),
		T(a_link_in_the_place_of_a_folder_is_not_followed),
		T(a_file_in_the_place_of_a_folder_is_told),
		T(a_user_may_have_links_above_a_system_may_not),
		S(a_system_tree_below_a_folder_that_others_can_write_is_refused),
		T(what_has_a_folders_name_is_looked_at),
		T(one_daemon_a_tree),
		T(it_waits_for_a_predecessor_on_its_way_out),
		T(a_child_that_lives_on_keeps_the_lock),
		T(the_lock_is_no_link_and_nobody_elses_file),
		cmocka_unit_test(a_users_paths_follow_the_base_directories),
		cmocka_unit_test(the_systems_paths_are_fixed_and_hear_no_environment),
		cmocka_unit_test(a_state_folder_that_is_named_takes_all_of_it),
		cmocka_unit_test(a_path_that_cannot_be_is_told),
	};

	return cmocka_run_group_tests_name("house", tests, NULL, NULL);
}
