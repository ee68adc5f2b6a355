/* What the actor refuses, whatever the watcher says; and what it won't even answer. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/process.h"
#include "tests/unit/os/rig.h"

static void a_program_others_could_have_written_is_refused(void **state)
{
	struct rig *g = *state;
	struct act_answer a;
	char path[256];

	rig_start(g);
	rig_act(g, ACT_STAT, "missing", ID_A, &a);
	assert_int_equal(a.outcome, ACT_REFUSED);
	assert_string_equal(a.line, "no such runtime is installed");

	rig_runtime(g, "loose", "touch $T/ran");
	rig_path(g, path, "runtimes/loose");
	assert_int_equal(chmod(path, 0757), 0);
	rig_act(g, ACT_STAT, "loose", ID_A, &a);
	assert_int_equal(a.outcome, ACT_REFUSED);
	assert_int_equal(chmod(path, 0775), 0);
	rig_act(g, ACT_STAT, "loose", ID_A, &a);
	assert_int_equal(a.outcome, ACT_REFUSED);
	assert_int_equal(chmod(path, 0644), 0);
	rig_act(g, ACT_STAT, "loose", ID_A, &a);
	assert_int_equal(a.outcome, ACT_REFUSED);

	rig_path(g, path, "runtimes/link");
	assert_int_equal(symlink("/bin/true", path), 0);
	rig_act(g, ACT_STAT, "link", ID_A, &a);
	assert_int_equal(a.outcome, ACT_REFUSED);
	rig_path(g, path, "runtimes/folder");
	assert_int_equal(mkdir(path, 0755), 0);
	rig_act(g, ACT_STAT, "folder", ID_A, &a);
	assert_int_equal(a.outcome, ACT_REFUSED);
	assert_false(rig_exists(g, "ran"));
	assert_false(rig_exists(g, "wd/loose"));
}

static void act_on(struct rig *g, uint32_t uid, int32_t pid, uint64_t start, enum act_outcome outcome)
{
	struct act_request r = rig_request(g, ACT_CREATE, "taker", ID_A);
	struct act_answer a;

	r.uid = uid;
	r.process.pid = pid;
	r.process.start = start;
	rig_send(g, &r);
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.outcome, outcome);
}

static void a_process_counts_only_with_its_owner_and_start(void **state)
{
	struct rig *g = *state;
	struct lease_process self;

	assert_int_equal(lease_process_self(&self), 0);
	rig_runtime(g, "taker", "[ \"$LEASE_PID\" ] || exit 1");
	g->user_mode = false;
	rig_start(g);
	act_on(g, getuid(), self.pid, self.start, ACT_DONE);
	act_on(g, getuid(), self.pid, self.start + 1, ACT_REFUSED);
	act_on(g, getuid() + 1, self.pid, self.start, ACT_REFUSED);
	act_on(g, getuid(), 1, 0, ACT_REFUSED);
	act_on(g, getuid(), g->actor, 0, ACT_REFUSED);
	act_on(g, getuid(), INT32_MAX, 1, ACT_REFUSED);
}

static void user_mode_acts_for_its_user_alone(void **state)
{
	struct rig *g = *state;
	struct act_request r = rig_request(g, ACT_STAT, "r", ID_A);
	struct act_answer a;

	rig_runtime(g, "r", "echo state=running");
	rig_start(g);
	r.uid++;
	rig_send(g, &r);
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.outcome, ACT_REFUSED);
}

static void sends_and_ends(struct rig *g, const void *what, size_t len)
{
	struct act_answer a;

	rig_start(g);
	assert_int_equal(send(g->peer, what, len, MSG_NOSIGNAL), (ssize_t)len);
	assert_false(rig_answer(g, &a));
	assert_int_equal(rig_end(g), 1);
}

static void garbage_on_the_socket_ends_the_actor(void **state)
{
	struct rig *g = *state;

	sends_and_ends(g, "garbage", 7);
}

static void a_truncated_request_ends_the_actor(void **state)
{
	struct rig *g = *state;
	struct act_request r = rig_request(g, ACT_STAT, "r", ID_A);

	sends_and_ends(g, &r, sizeof r - 1);
}

static void a_request_that_is_too_long_ends_the_actor(void **state)
{
	struct rig *g = *state;
	char buf[sizeof(struct act_request) + 1] = "";
	struct act_request r = rig_request(g, ACT_STAT, "r", ID_A);

	memcpy(buf, &r, sizeof r);
	sends_and_ends(g, buf, sizeof buf);
}

static void a_runtime_that_is_no_plain_word_ends_the_actor(void **state)
{
	struct rig *g = *state;
	struct act_request r = rig_request(g, ACT_STAT, "../bin/sh", ID_A);

	sends_and_ends(g, &r, sizeof r);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(a_program_others_could_have_written_is_refused),
	    T(a_process_counts_only_with_its_owner_and_start),
	    T(user_mode_acts_for_its_user_alone),
	    T(garbage_on_the_socket_ends_the_actor),
	    T(a_truncated_request_ends_the_actor),
	    T(a_request_that_is_too_long_ends_the_actor),
	    T(a_runtime_that_is_no_plain_word_ends_the_actor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
