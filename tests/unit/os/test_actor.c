/* What the actor promises the watcher about acts: how they end, in which order, with what around them. */
#include "config.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/process.h"
#include "tests/unit/os/rig.h"

static void an_exit_status_is_an_outcome(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	rig_expect(g, "done", "exit 0", ACT_DONE, "");
	rig_expect(g, "later", "exit 75", ACT_LATER, "");
	rig_expect(g, "absent", "exit 3", ACT_ABSENT, "");
	rig_expect(g, "fails", "echo first >&2; echo 'the last line' >&2; exit 1", ACT_FAILED,
		   "the last line");
	rig_expect(g, "silent", "exit 9", ACT_FAILED, "exit status 9 and not a word on stderr");
	rig_expect(g, "dies", "kill -SEGV $$", ACT_FAILED, "killed by signal 11 (Segmentation fault)");
	rig_expect(g, "warns", "echo escaped >&2", ACT_DONE, "escaped");
}

static void a_line_is_plain_ascii_whatever_was_printed(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	rig_expect(g, "odd", "printf 'a\\033[2Jb\\303\\251\\t\\n' >&2; exit 1", ACT_FAILED,
		   "a\\033[2Jb\\303\\251\\t");
}

static void a_program_past_its_deadline_is_ended_with_its_group(void **state)
{
	struct rig *g = *state;
	struct act_request r = rig_request(g, ACT_RESUME, "hangs", ID_A);
	struct act_answer a;
	char pid[32];

	rig_runtime(g, "hangs", "echo hanging >&2; sleep 300 & echo $! >$T/pid; wait");
	rig_start(g);
	r.deadline = 60 * MS;
	rig_send(g, &r);
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.outcome, ACT_TIMEOUT);
	assert_string_equal(a.line, "deadline passed, last words: hanging");
	rig_read(g, "pid", pid, sizeof pid);
	/* Killed with the group; a zombie of init's at most. */
	for (int i = 0; i < 1000; i++) {
		char letter;

		if (lease_process_stat((int32_t)strtol(pid, NULL, 10), NULL, NULL, &letter) < 0 ||
		    letter == 'Z')
			return;
		poll(NULL, 0, 2);
	}
	fail_msg("what the program had started lives on");
}

static void a_program_that_ignores_term_is_killed(void **state)
{
	struct rig *g = *state;
	struct act_request r = rig_request(g, ACT_RESUME, "ignores", ID_A);
	struct act_answer a;

	rig_runtime(g, "ignores", "trap '' TERM; while :; do sleep 0.02; done");
	rig_start(g);
	r.deadline = 30 * MS;
	rig_send(g, &r);
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.outcome, ACT_TIMEOUT);
}

static void a_program_that_cannot_be_run_fails(void **state)
{
	struct rig *g = *state;
	struct act_answer a;
	char path[256];
	FILE *f;

	rig_runtime(g, "noshell", "");
	rig_path(g, path, "runtimes/noshell");
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("#!/there/is/none\n", f);
	fclose(f);
	rig_start(g);
	rig_act(g, ACT_CREATE, "noshell", ID_A, &a);
	assert_int_equal(a.outcome, ACT_FAILED);
	assert_string_equal(a.line, "can't run the runtime: No such file or directory");
	assert_false(rig_exists(g, "wd/noshell/" ID_A ".7"));
}

static void a_program_gets_what_the_manual_lists_and_nothing_else(void **state)
{
	struct rig *g = *state;
	struct act_request r = rig_request(g, ACT_CREATE, "looks", ID_A);
	struct lease_process self;
	struct act_answer a;
	char is[4096], want[4096], boot[LEASE_BOOT_SIZE];

	assert_int_equal(lease_process_self(&self), 0);
	assert_int_equal(lease_boot_id(boot), 0);
	setenv("SECRET", "of ours", 1);
	setenv("HOME", "/home/of/ours", 1);
	unsetenv("XDG_RUNTIME_DIR");
	rig_runtime(g, "looks",
		    "exec >$T/seen\n"
		    "echo args=$*; pwd; ls -l /proc/self/fd/0 | sed 's/.*-> //'; ls /proc/self/fd | grep -vxE "
		    "'[0123]'\n" /* ls's own: 3 is what it lists; the shell's has a pipe in it for a moment */
		    "ps -o pgid= -p $$ | tr -d ' ' | grep -qx $$ && echo own group; stat -c %a .\n"
		    /* sed's own, which are ours: the shell blocks some while it starts one; 32 up are libc's */
		    "sed -nE 's/^(Sig(Blk|Ign)):.*(.{7})$/\\1 \\3/p' /proc/self/status\n"
		    "tr '\\0' '\\n' </proc/$$/environ | sort");
	r.process = self;
	snprintf(r.profile, sizeof r.profile, "small");
	rig_conf(g, "[profile small]\nruntime = looks\ncpu = 0.5\nlooks.root-fs = /a b\nimage = busybox:latest\n"
		    "[profile other]\nimage = no\n[runtime looks]\nsocket = /run/l\n[runtime other]\nsocket = no\n");
	rig_start(g);
	rig_send(g, &r);
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.outcome, ACT_DONE);
	snprintf(
	    want, sizeof want,
	    "args=create\n%s/wd/looks/" ID_A ".7\n/dev/null\nown group\n700\n"
	    "SigBlk 0000000\nSigIgn 0000000\n"
	    "HOME=/home/of/ours\nLC_ALL=C.UTF-8\nLEASE_BOOT=%s\nLEASE_DEADLINE_MS=5000\nLEASE_DIR=%s/wd/"
	    "looks/" ID_A ".7\n"
	    "LEASE_GENERATION=7\nLEASE_ID=" ID_A "\nLEASE_PID=%d\nLEASE_PID_START=%llu\n"
	    "LEASE_PROFILE=small\n"
	    "LEASE_PROFILE_CPU=500\nLEASE_PROFILE_IMAGE=busybox:latest\nLEASE_PROFILE_ROOT_FS=/a b\n"
	    "LEASE_PROTOCOL=1\nLEASE_RUNTIME_SOCKET=/run/l\nLEASE_UID=%u\nLEASE_WORK=%s/wd/looks\n"
	    "PATH=/usr/sbin:/usr/bin:/sbin:/bin\n",
	    g->top, boot, g->top, self.pid, (unsigned long long)self.start, getuid(), g->top);
	rig_read(g, "seen", is, sizeof is);
	assert_string_equal(is, want);
}

static void acts_on_one_lease_follow_each_other(void **state)
{
	struct rig *g = *state;
	char seen[256];
	struct act_answer a;
	uint64_t last = 0;

	rig_runtime(g, "r",
		    "echo begin $1 >>$T/order; sleep 0.03; echo end $1 >>$T/order; [ $1 != hibernate ] || "
		    "echo hibernated=frozen");
	rig_start(g);
	for (enum act_verb v = ACT_HIBERNATE; v <= ACT_DESTROY; v++) {
		struct act_request r = rig_request(g, v, "r", ID_A);

		rig_send(g, &r);
	}
	for (int i = 0; i < 4; i++) {
		assert_true(rig_answer(g, &a));
		assert_true(a.serial > last);
		last = a.serial;
	}
	rig_read(g, "order", seen, sizeof seen);
	assert_string_equal(
	    seen, "begin hibernate\nend hibernate\nbegin resume\nend resume\nbegin snapshot\nend snapshot\n"
		  "begin destroy\nend destroy\n");
}

static void acts_on_two_leases_run_side_by_side(void **state)
{
	struct rig *g = *state;
	struct act_request r;
	struct act_answer a;

	/* Each waits for the other to have begun. */
	rig_runtime(g, "meets",
		    "touch $T/met.$LEASE_ID; until [ -e $T/met." ID_A " ] && [ -e $T/met." ID_B
		    " ]; do sleep 0.01; done");
	rig_start(g);
	r = rig_request(g, ACT_RESUME, "meets", ID_A);
	rig_send(g, &r);
	r = rig_request(g, ACT_RESUME, "meets", ID_B);
	rig_send(g, &r);
	for (int i = 0; i < 2; i++) {
		assert_true(rig_answer(g, &a));
		assert_int_equal(a.outcome, ACT_DONE);
	}
}

static void send_hung(struct rig *g, int n, int64_t deadline)
{
	rig_runtime(g, "hangs", "[ $1 = stat ] && exit 3; exec sleep 4 # what is left over goes soon");
	for (int i = 0; i < n; i++) {
		struct act_request r = rig_request(g, ACT_RESUME, "hangs", ID_A);

		r.id[4] = (char)('a' + i);
		r.deadline = deadline;
		rig_send(g, &r);
	}
}

static void twenty_hung_acts_do_not_stop_another(void **state)
{
	struct rig *g = *state;
	struct act_request r;
	struct act_answer a;
	int hung = 0;

	rig_runtime(g, "quick", "");
	rig_start(g);
	send_hung(g, 20, 80 * MS);
	/* Of another runtime: at once. */
	r = rig_request(g, ACT_RESUME, "quick", ID_B);
	rig_send(g, &r);
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.serial, r.serial);
	assert_int_equal(a.outcome, ACT_DONE);
	/* Of the same runtime and user, behind them all: once their deadlines have made room. */
	r = rig_request(g, ACT_STAT, "hangs", ID_B);
	rig_send(g, &r);
	while (rig_answer(g, &a) && a.outcome == ACT_TIMEOUT)
		hung++;
	assert_int_equal(a.serial, r.serial);
	assert_int_equal(a.outcome, ACT_ABSENT);
	assert_true(hung > 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(an_exit_status_is_an_outcome),
	    T(a_line_is_plain_ascii_whatever_was_printed),
	    T(a_program_past_its_deadline_is_ended_with_its_group),
	    T(a_program_that_ignores_term_is_killed),
	    T(a_program_that_cannot_be_run_fails),
	    T(a_program_gets_what_the_manual_lists_and_nothing_else),
	    T(acts_on_one_lease_follow_each_other),
	    T(acts_on_two_leases_run_side_by_side),
	    T(twenty_hung_acts_do_not_stop_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
