/*
 * The module where something is wrong: the session is opened and closed all the same (opened() and closed() insist on that).
 */
#include "config.h"

#include <linux/capability.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lease/beacon.h"
#include "tests/pam/session.h"

static void a_missing_tree_costs_one_line(void **state)
{
	(void)state;
	assert_int_equal(locks_of("sshd", "% notices=/nowhere/notices"), 0);
	assert_int_equal(stack_log_lines(), 1);
	assert_non_null(strstr(stack_log(), "/nowhere/notices"));
}

/* Modes hold for root as well, until it may again. */
static void obey_modes(bool obey)
{
	const unsigned caps = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &h, d), 0);
	d[0].effective = obey ? d[0].effective & ~caps : d[0].permitted;
	assert_int_equal(syscall(SYS_capset, &h, d), 0);
}

static void a_tree_that_cannot_be_written_costs_one_line_and_leaves_no_twin(void **state)
{
	(void)state;
	make_house(0755);
	assert_int_equal(fchmod(tree.active, 0500), 0);
	obey_modes(true);
	assert_int_equal(locks_of("sshd", "%"), 0);
	obey_modes(false);
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

static void wrong_options_are_named_and_ignored(void **state)
{
	pam_handle_t *pamh;
	struct lease_record r;

	(void)state;
	stack_write(&dir, "sshd",
		    "% ttl=0s ttl=soon linger=-1s notices=relative surfaces= surfaces=a,, surface=a/b colour=red ttl");
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

static void a_beacon_of_a_newer_format_is_believed_nothing_of_and_left_alone(void **state)
{
	static const char newer[] = "#leasewatch 2\nsessions=/nowhere/sessions\nkey=of a later time\n";
	pam_handle_t *pamh;

	(void)state;
	make_house(0755);
	scratch_write(tree.root, LEASE_BEACON_NAME, newer, strlen(newer));
	stack_write(&dir, "sshd", "%");
	pamh = opened("sshd");
	assert_int_equal(scratch_count(tree.active), 1);
	assert_int_equal(scratch_count(sessions), 0);
	closed(pamh);
	assert_int_equal(scratch_count(tree.archive), 1);
	assert_true(scratch_holds(tree.root, LEASE_BEACON_NAME, newer, strlen(newer)));
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
	const struct CMUnitTest tests[] = {
	    SESSION_TEST(a_missing_tree_costs_one_line),
	    SESSION_TEST(a_tree_that_cannot_be_written_costs_one_line_and_leaves_no_twin),
	    SESSION_TEST(a_file_size_limit_of_0_costs_a_line),
	    SESSION_TEST(a_close_that_cannot_be_said_leaves_the_lock_to_the_daemon),
	    SESSION_TEST(no_descriptors_to_be_had_costs_a_line),
	    SESSION_TEST(nobody_by_that_name_is_a_line_and_no_lease),
	    SESSION_TEST(wrong_options_are_named_and_ignored),
	    SESSION_TEST(a_sessions_folder_of_others_is_not_believed),
	    SESSION_TEST(a_beacon_that_others_can_write_is_not_believed),
	    SESSION_TEST(a_beacon_of_a_newer_format_is_believed_nothing_of_and_left_alone),
	    SESSION_TEST(a_tree_that_went_meanwhile_is_nothing_to_close),
	    SESSION_TEST(ten_thousand_sessions_leave_no_descriptor_and_no_memory),
	};

	return cmocka_run_group_tests_name("pam_lease in trouble", tests, NULL, NULL);
}
