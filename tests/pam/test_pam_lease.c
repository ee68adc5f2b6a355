/*
 * The module, as libpam loads it, by whoever runs the tests. What only root can see is in tests/session/t0300-pam.sh.
 */
#include "config.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lease/process.h"
#include "tests/pam/session.h"

static void open_makes_a_whole_lock_and_close_archives_it(void **state)
{
	struct lease_record r;
	struct lease_stat st;
	char prefix[128], name[LEASE_NAME_SIZE];
	pam_handle_t *pamh;

	(void)state;
	stack_write(&dir, "sshd", "% ttl=90s linger=0s");
	pamh = opened("sshd");
	snprintf(name, sizeof(name), "%s", only(tree.active));
	snprintf(prefix, sizeof(prefix), "lock-sshd-%s-kls-", stack_user());
	assert_memory_equal(name, prefix, strlen(prefix));
	assert_int_equal(lease_stat(tree.active, name, &st), 0);
	assert_int_equal(st.mode, S_IFREG | 0644);
	assert_int_equal(st.uid, geteuid());
	assert_int_equal(st.nlink, 1);
	read_record(name, &r);
	assert_true(r.is_session);
	assert_string_equal(r.id, lease_name_lock_id(name));
	assert_string_equal(r.surface, "sshd");
	assert_int_equal(r.ttl, 90000000000);
	assert_int_equal(r.linger, 0);
	assert_int_equal(r.runtime[0], 0);
	/* The process is the user's own here, so that the lock may claim it. */
	assert_int_equal(r.leader.pid, getpid());
	closed(pamh);
	assert_int_equal(scratch_count(tree.active), 0);
	assert_string_equal(only(tree.archive), name);
	assert_string_equal(stack_log(), "");
}

static void the_session_learns_its_lease(void **state)
{
	char want[PATH_MAX + LEASE_NAME_SIZE + 32];
	pam_handle_t *pamh;
	const char *name;

	(void)state;
	make_house(0755);
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	name = only(tree.active);
	assert_string_equal(pam_getenv(pamh, "KLEASE_SESSION"), lease_name_lock_id(name));
	snprintf(want, sizeof(want), "%s/active/%s", dir.path, name);
	assert_string_equal(pam_getenv(pamh, "KLEASE_LOCK"), want);
	snprintf(want, sizeof(want), "%s/state/notice-%s", dir.path, lease_name_lock_id(name));
	assert_string_equal(pam_getenv(pamh, "KLEASE_NOTICE"), want);
	closed(pamh);
}

static void the_twin_is_there_with_the_lock_and_learns_of_the_close(void **state)
{
	struct lease_twin t;
	struct lease_process self;
	struct timespec now;
	pam_handle_t *pamh;

	(void)state;
	make_house(0755);
	stack_write(&dir, "sshd-lw1", "%");
	pamh = opened("sshd-lw1");
	read_twin(&t);
	assert_string_equal(t.id, lease_name_lock_id(only(tree.active)));
	assert_string_equal(t.surface, "sshd");
	assert_string_equal(t.service, "sshd-lw1");
	assert_int_equal(t.uid, geteuid());
	assert_int_equal(lease_process_self(&self), 0);
	assert_int_equal(t.leader.pid, self.pid);
	assert_true(t.leader.start == self.start);
	assert_int_equal(strlen(t.boot), LEASE_BOOT_SIZE - 1);
	assert_int_equal(t.closed, 0);
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
	closed(pamh);
	read_twin(&t);
	assert_true(t.closed >= (int64_t)now.tv_sec * 1000);
	assert_true(t.closed <= ((int64_t)now.tv_sec + 60) * 1000);
	assert_int_equal(t.leader.pid, self.pid);
	assert_int_equal(scratch_count(tree.archive), 1);
}

static void the_environment_names_no_tree(void **state)
{
	static const char *const names[] = {"KLEASE_NOTICES", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"};

	(void)state;
	stack_write(&dir, "sshd", "%");
	for (size_t i = 0; i < N_OF(names); i++)
		assert_int_equal(setenv(names[i], "/nowhere", 1), 0);
	assert_int_equal(locks_of("sshd", "%"), 1);
	for (size_t i = 0; i < N_OF(names); i++)
		assert_int_equal(unsetenv(names[i]), 0);
}

static void the_stack_goes_well_alone_beside_others_and_twice(void **state)
{
	(void)state;
	assert_int_equal(locks_of("sshd", "%"), 1);
	assert_int_equal(locks_of("sshd", "session required pam_permit.so\n%"), 1);
	assert_int_equal(locks_of("sshd", "%\nsession required pam_permit.so"), 1);
	/* su-l includes su: one handle, the module twice. */
	assert_int_equal(locks_of("sshd", "%\n%"), 1);
	assert_int_equal(locks_of("sshd", "% surfaces=ci\n%"), 1);
	assert_int_equal(scratch_count(tree.archive), 5);
	assert_string_equal(stack_log(), "");
}

static void twice_opened_is_closed_by_the_last_close(void **state)
{
	pam_handle_t *pamh;

	(void)state;
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	assert_int_equal(pam_open_session(pamh, 0), PAM_SUCCESS);
	assert_int_equal(pam_close_session(pamh, 0), PAM_SUCCESS);
	assert_int_equal(scratch_count(tree.active), 1);
	assert_int_equal(pam_close_session(pamh, 0), PAM_SUCCESS);
	assert_int_equal(scratch_count(tree.active), 0);
	closed(pamh);
	assert_int_equal(scratch_count(tree.archive), 1);
}

static void other_services_get_none(void **state)
{
	static const char *const others[] = {"cron", "su", "su-l", "sudo", "systemd-user", "sshdx", "runuser"};

	(void)state;
	for (size_t i = 0; i < N_OF(others); i++)
		assert_int_equal(locks_of(others[i], "%"), 0);
	assert_int_equal(locks_of("login", "%"), 1);
	assert_int_equal(locks_of("su-l", "% surfaces=sshd,su-l"), 1);
	assert_string_equal(stack_log(), "");
}

static void what_a_hand_archived_is_left_alone(void **state)
{
	struct lease_twin t;
	pam_handle_t *pamh;
	char name[LEASE_NAME_SIZE];

	(void)state;
	make_house(0755);
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	snprintf(name, sizeof(name), "%s", only(tree.active));
	assert_int_equal(lease_move(tree.active, name, tree.archive, name), 0);
	closed(pamh);
	read_twin(&t);
	assert_int_equal(t.closed, 0);
	assert_string_equal(stack_log(), "");
}

static void a_twin_that_the_daemon_removed_is_not_made_again(void **state)
{
	pam_handle_t *pamh;

	(void)state;
	make_house(0755);
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	assert_int_equal(unlinkat(sessions, only(sessions), 0), 0);
	assert_int_equal(unlinkat(tree.active, only(tree.active), 0), 0);
	closed(pamh);
	assert_int_equal(scratch_count(sessions), 0);
	assert_int_equal(scratch_count(tree.archive), 0);
	assert_string_equal(stack_log(), "");
}

/* sshd's child drops its handle so, as the user. */
static void a_forked_childs_end_of_pam_touches_nothing(void **state)
{
	pam_handle_t *pamh;
	int status;
	pid_t pid;

	(void)state;
	make_house(0755);
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(pam_end(pamh, PAM_SUCCESS | PAM_DATA_SILENT) == PAM_SUCCESS ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(scratch_count(tree.active), 1);
	assert_int_equal(scratch_count(sessions), 1);
	closed(pamh);
	assert_int_equal(scratch_count(tree.active), 0);
}

static void an_end_without_a_close_leaves_the_lock(void **state)
{
	(void)state;
	stack_write(&dir, "sshd", "%");
	assert_int_equal(pam_end(opened("sshd"), PAM_SUCCESS), PAM_SUCCESS);
	assert_int_equal(scratch_count(tree.active), 1);
}

static void the_process_is_left_as_it_was(void **state)
{
	struct sigaction action;
	char before[PATH_MAX], after[PATH_MAX];
	mode_t mask = umask(0137);

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(locks_of("sshd", "%"), 1);
	assert_int_equal(umask(mask), 0137);
	assert_non_null(getcwd(after, sizeof(after)));
	assert_string_equal(before, after);
	assert_null(getenv("KLEASE_SESSION"));
	assert_int_equal(sigaction(SIGXFSZ, NULL, &action), 0);
	assert_true(action.sa_handler == SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SESSION_TEST(open_makes_a_whole_lock_and_close_archives_it),
	    SESSION_TEST(the_session_learns_its_lease),
	    SESSION_TEST(the_twin_is_there_with_the_lock_and_learns_of_the_close),
	    SESSION_TEST(the_environment_names_no_tree),
	    SESSION_TEST(the_stack_goes_well_alone_beside_others_and_twice),
	    SESSION_TEST(twice_opened_is_closed_by_the_last_close),
	    SESSION_TEST(other_services_get_none),
	    SESSION_TEST(what_a_hand_archived_is_left_alone),
	    SESSION_TEST(a_twin_that_the_daemon_removed_is_not_made_again),
	    SESSION_TEST(a_forked_childs_end_of_pam_touches_nothing),
	    SESSION_TEST(an_end_without_a_close_leaves_the_lock),
	    SESSION_TEST(the_process_is_left_as_it_was),
	};

	return cmocka_run_group_tests_name("pam_lease", tests, NULL, NULL);
}
