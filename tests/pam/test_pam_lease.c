/*
 * The module, as libpam loads it, by whoever runs the tests. What only root can see is in tests/session/pam.sh.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lease/beacon.h"
#include "lease/process.h"
#include "lease/record.h"
#include "lease/tree.h"
#include "lease/twin.h"
#include "tests/pam/stack.h"
#include "tests/unit/lease/test.h"

static struct scratch dir;
static struct lease_tree tree;
static int sessions = -1;
static int fds_before;

static int setup(void **state)
{
	(void)state;
	fds_before = scratch_open_fds();
	stack_log_clear();
	scratch_make(&dir);
	scratch_make_tree(&dir);
	assert_int_equal(lease_tree_open(&tree, dir.path), 0);
	return 0;
}

/* No test may leave a descriptor behind, the module's in it. */
static int teardown(void **state)
{
	(void)state;
	if (sessions >= 0)
		(void)close(sessions);
	sessions = -1;
	lease_tree_close(&tree);
	scratch_remove(&dir);
	return scratch_open_fds() == fds_before ? 0 : -1;
}

/* As the daemon does it: a folder for twins, and the beacon that names it. */
static void make_house(mode_t mode)
{
	struct lease_beacon b = {0};
	char buf[LEASE_FILE_MAX];
	size_t len;

	assert_int_equal(mkdirat(dir.fd, "sessions", 0700), 0);
	assert_int_equal(fchmodat(dir.fd, "sessions", mode, 0), 0);
	sessions = openat(dir.fd, "sessions", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(sessions >= 0);
	assert_true((size_t)snprintf(b.sessions, sizeof(b.sessions), "%s/sessions", dir.path) < sizeof(b.sessions));
	assert_true((size_t)snprintf(b.state, sizeof(b.state), "%s/state", dir.path) < sizeof(b.state));
	assert_int_equal(lease_beacon_format(&b, buf, sizeof(buf), &len), 0);
	assert_int_equal(lease_create(tree.root, LEASE_BEACON_NAME, buf, len), 0);
}

static int first(void *arg, const char *name)
{
	memcpy(arg, name, strlen(name) + 1);
	return 1;
}

/* The one file in a folder. */
static const char *only(int dirfd)
{
	static char name[NAME_MAX + 1];

	assert_int_equal(scratch_count(dirfd), 1);
	assert_int_equal(lease_list(dirfd, first, name), 1);
	return name;
}

static void read_record(const char *name, struct lease_record *r)
{
	char buf[LEASE_FILE_MAX];
	struct lease_error err;
	size_t len;

	assert_int_equal(lease_read(tree.active, name, geteuid(), buf, sizeof(buf), &len, NULL), 0);
	assert_int_equal(lease_record_parse(buf, len, r, &err), 0);
}

static void read_twin(struct lease_twin *t)
{
	char buf[LEASE_FILE_MAX];
	struct lease_error err;
	struct lease_stat st;
	size_t len;

	assert_int_equal(lease_read(sessions, only(sessions), geteuid(), buf, sizeof(buf), &len, &st), 0);
	assert_int_equal(st.mode & 07777, 0644);
	assert_int_equal(lease_twin_parse(buf, len, t, &err), 0);
}

static pam_handle_t *opened(const char *service)
{
	pam_handle_t *pamh = stack_start(&dir, service, stack_user());

	assert_int_equal(pam_open_session(pamh, 0), PAM_SUCCESS);
	return pamh;
}

static void closed(pam_handle_t *pamh)
{
	assert_int_equal(pam_close_session(pamh, 0), PAM_SUCCESS);
	assert_int_equal(pam_end(pamh, PAM_SUCCESS), PAM_SUCCESS);
}

/* A whole session with a stack of these lines, which has to go well; how many locks it had. */
static int locks_of(const char *service, const char *lines)
{
	pam_handle_t *pamh;
	int n;

	stack_write(&dir, service, lines);
	pamh = opened(service);
	n = scratch_count(tree.active);
	closed(pamh);
	assert_int_equal(scratch_count(tree.active), 0);
	return n;
}

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

static void nobody_by_that_name_is_a_line_and_no_lease(void **state)
{
	pam_handle_t *pamh;

	(void)state;
	stack_write(&dir, "sshd", "%");
	pamh = stack_start(&dir, "sshd", "no-such-user-here");
	assert_int_equal(pam_open_session(pamh, 0), PAM_SUCCESS);
	closed(pamh);
	/* A session without a name: nobody is asked (the conversation aborts). */
	pamh = stack_start(&dir, "sshd", NULL);
	assert_int_equal(pam_open_session(pamh, 0), PAM_SUCCESS);
	closed(pamh);
	assert_int_equal(scratch_count(tree.active), 0);
	assert_int_equal(stack_log_lines(), 2);
}

static void a_missing_tree_costs_one_line(void **state)
{
	(void)state;
	assert_int_equal(locks_of("sshd", "% notices=/nowhere/notices"), 0);
	assert_int_equal(stack_log_lines(), 1);
	assert_non_null(strstr(stack_log(), "/nowhere/notices"));
}

static void a_tree_that_cannot_be_written_costs_one_line_and_leaves_no_twin(void **state)
{
	(void)state;
	if (geteuid() == 0)
		skip();
	make_house(0755);
	assert_int_equal(fchmod(tree.active, 0500), 0);
	assert_int_equal(locks_of("sshd", "%"), 0);
	assert_int_equal(fchmod(tree.active, 0700), 0);
	assert_int_equal(stack_log_lines(), 1);
	assert_int_equal(scratch_count(sessions), 0);
}

static rlim_t set_soft(__rlimit_resource_t what, rlim_t to)
{
	struct rlimit l;
	rlim_t old;

	assert_int_equal(getrlimit(what, &l), 0);
	old = l.rlim_cur;
	l.rlim_cur = to;
	assert_int_equal(setrlimit(what, &l), 0);
	return old;
}

/* Not SIGXFSZ, which would end the test. */
static void a_file_size_limit_of_0_costs_a_line(void **state)
{
	pam_handle_t *pamh;
	rlim_t old;

	(void)state;
	make_house(0755);
	stack_write(&dir, "sshd", "%");
	pamh = stack_start(&dir, "sshd", stack_user());
	old = set_soft(RLIMIT_FSIZE, 0);
	assert_int_equal(pam_open_session(pamh, 0), PAM_SUCCESS);
	set_soft(RLIMIT_FSIZE, old);
	closed(pamh);
	assert_int_equal(stack_log_lines(), 1);
	assert_int_equal(scratch_count(tree.active) + scratch_count(tree.archive) + scratch_count(sessions), 0);
}

/* A move without a word in the twin would end all that is bound to it at once. */
static void a_close_that_cannot_be_said_leaves_the_lock_to_the_daemon(void **state)
{
	struct lease_twin t;
	pam_handle_t *pamh;
	rlim_t old;

	(void)state;
	make_house(0755);
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	old = set_soft(RLIMIT_FSIZE, 0);
	closed(pamh);
	set_soft(RLIMIT_FSIZE, old);
	read_twin(&t);
	assert_int_equal(t.closed, 0);
	assert_int_equal(scratch_count(tree.active), 1);
	assert_int_equal(stack_log_lines(), 1);
}

/* One descriptor is left: libpam itself needs it. */
static void no_descriptors_to_be_had_costs_a_line(void **state)
{
	pam_handle_t *pamh;
	rlim_t old;
	int next;

	(void)state;
	stack_write(&dir, "sshd", "%");
	pamh = stack_start(&dir, "sshd", stack_user());
	next = dup(tree.root);
	assert_true(next >= 0);
	(void)close(next);
	old = set_soft(RLIMIT_NOFILE, (rlim_t)next + 1);
	assert_int_equal(pam_open_session(pamh, 0), PAM_SUCCESS);
	set_soft(RLIMIT_NOFILE, old);
	closed(pamh);
	assert_int_equal(scratch_count(tree.active), 0);
	assert_int_equal(stack_log_lines(), 1);
}

static void wrong_options_are_named_and_ignored(void **state)
{
	pam_handle_t *pamh;
	struct lease_record r;

	(void)state;
	stack_write(&dir, "sshd", "% ttl=0s ttl=soon linger=-1s notices=relative surfaces= surfaces=a,, surface=a/b colour=red ttl");
	pamh = opened("sshd");
	read_record(only(tree.active), &r);
	assert_int_equal(r.ttl, 0);
	assert_int_equal(r.linger, -1);
	closed(pamh);
	assert_int_equal(stack_log_lines(), 9);
	assert_non_null(strstr(stack_log(), "option ttl=0s is ignored"));
	assert_non_null(strstr(stack_log(), "option surfaces=a,, is ignored"));
	assert_non_null(strstr(stack_log(), "option colour=red is ignored"));
}

static void a_sessions_folder_of_others_is_not_believed(void **state)
{
	(void)state;
	make_house(0777);
	stack_write(&dir, "sshd", "%");
	closed(opened("sshd"));
	assert_int_equal(scratch_count(sessions), 0);
	/* Nor is its close said, so that the lock is not moved. */
	assert_int_equal(scratch_count(tree.active), 1);
}

static void a_beacon_that_others_can_write_is_not_believed(void **state)
{
	pam_handle_t *pamh;

	(void)state;
	make_house(0755);
	assert_int_equal(fchmodat(tree.root, LEASE_BEACON_NAME, 0666, 0), 0);
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	assert_int_equal(scratch_count(sessions), 0);
	assert_null(pam_getenv(pamh, "KLEASE_NOTICE"));
	closed(pamh);
	assert_int_equal(scratch_count(tree.archive), 1);
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

static void a_tree_that_went_meanwhile_is_nothing_to_close(void **state)
{
	pam_handle_t *pamh;

	(void)state;
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	assert_int_equal(renameat(dir.fd, "active", dir.fd, "gone"), 0);
	closed(pamh);
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

static void ten_thousand_sessions_leave_no_descriptor_and_no_memory(void **state)
{
	size_t memory = 0;

	(void)state;
	make_house(0755);
	stack_write(&dir, "sshd", "%");
	for (int i = 0; i < 1000; i++) {
		pam_handle_t *pamh = stack_start(&dir, "sshd", stack_user());

		for (int j = 0; j < 10; j++) {
			char id[LEASE_ID_SIZE], name[LEASE_NAME_SIZE];

			assert_int_equal(pam_open_session(pamh, 0), PAM_SUCCESS);
			snprintf(id, sizeof(id), "%s", pam_getenv(pamh, "KLEASE_SESSION"));
			assert_int_equal(pam_close_session(pamh, 0), PAM_SUCCESS);
			assert_int_equal(lease_find(tree.archive, id, name), 0);
			assert_int_equal(unlinkat(tree.archive, name, 0), 0);
			assert_int_equal(unlinkat(sessions, id, 0), 0);
		}
		assert_int_equal(pam_end(pamh, PAM_SUCCESS), PAM_SUCCESS);
		if (i == 100)
			memory = mallinfo2().uordblks;
	}
	assert_true(mallinfo2().uordblks <= memory + 4096);
	assert_string_equal(stack_log(), "");
	/* Descriptors: teardown counts them. */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(open_makes_a_whole_lock_and_close_archives_it),
	    T(the_session_learns_its_lease),
	    T(the_twin_is_there_with_the_lock_and_learns_of_the_close),
	    T(the_environment_names_no_tree),
	    T(the_stack_goes_well_alone_beside_others_and_twice),
	    T(twice_opened_is_closed_by_the_last_close),
	    T(other_services_get_none),
	    T(nobody_by_that_name_is_a_line_and_no_lease),
	    T(a_missing_tree_costs_one_line),
	    T(a_tree_that_cannot_be_written_costs_one_line_and_leaves_no_twin),
	    T(a_file_size_limit_of_0_costs_a_line),
	    T(a_close_that_cannot_be_said_leaves_the_lock_to_the_daemon),
	    T(no_descriptors_to_be_had_costs_a_line),
	    T(wrong_options_are_named_and_ignored),
	    T(a_sessions_folder_of_others_is_not_believed),
	    T(a_beacon_that_others_can_write_is_not_believed),
	    T(what_a_hand_archived_is_left_alone),
	    T(a_twin_that_the_daemon_removed_is_not_made_again),
	    T(a_tree_that_went_meanwhile_is_nothing_to_close),
	    T(a_forked_childs_end_of_pam_touches_nothing),
	    T(an_end_without_a_close_leaves_the_lock),
	    T(the_process_is_left_as_it_was),
	    T(ten_thousand_sessions_leave_no_descriptor_and_no_memory),
	};

	return cmocka_run_group_tests_name("pam_lease", tests, NULL, NULL);
}
