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

static void expect(struct rig *g, const char *runtime, const char *body, enum act_outcome outcome, const char *line)
{
	struct act_answer a;

	rig_runtime(g, runtime, body);
	rig_act(g, ACT_RESUME, runtime, ID_A, &a);
	assert_int_equal(a.outcome, outcome);
	assert_string_equal(a.line, line);
}

static void an_exit_status_is_an_outcome(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	expect(g, "done", "exit 0", ACT_DONE, "");
	expect(g, "later", "exit 75", ACT_LATER, "");
	expect(g, "absent", "exit 3", ACT_ABSENT, "");
	expect(g, "fails", "echo first >&2; echo 'the last line' >&2; exit 1", ACT_FAILED, "the last line");
	expect(g, "silent", "exit 9", ACT_FAILED, "exit status 9 and not a word on stderr");
	expect(g, "dies", "kill -SEGV $$", ACT_FAILED, "killed by signal 11 (Segmentation fault)");
	expect(g, "warns", "echo escaped >&2", ACT_DONE, "escaped");
}

static void a_line_is_plain_ascii_whatever_was_printed(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	expect(g, "odd", "printf 'a\\033[2Jb\\303\\251\\t\\n' >&2; exit 1", ACT_FAILED, "a\\033[2Jb\\303\\251\\t");
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

		if (lease_process_stat((int32_t)strtol(pid, NULL, 10), NULL, NULL, &letter) < 0 || letter == 'Z')
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
	assert_false(rig_exists(g, "work/noshell/" ID_A ".7"));
}

static void a_wrong_answer_is_a_failed_act(void **state)
{
	static const struct {
		enum act_verb verb;
		const char *body;
	} wrong[] = {
		{ ACT_STAT, "echo rubbish" },
		{ ACT_STAT, "echo state=sleeping" },
		{ ACT_STAT, "echo cpu_usec=5" },
		{ ACT_STAT, "echo state=running; echo cpu_usec=-5" },
		{ ACT_STAT, "echo state=running; echo memory=99999999999999999999" },
		{ ACT_STAT, "echo state=running; echo cgroup=/sys/../etc" },
		{ ACT_STAT, "echo state=running; echo cgroup=relative" },
		{ ACT_STAT, "echo state=running; echo tree=1:5" },
		{ ACT_STAT, "printf 'state=running\\0\\n'" },
		{ ACT_STAT, "head -c 3000 /dev/zero | tr '\\0' x" },
		{ ACT_CREATE, "echo tree=nonsense" },
		{ ACT_HIBERNATE, "echo hibernated=maybe" },
		{ ACT_HIBERNATE, ":" },
		{ ACT_CAPABILITIES, "echo protocol=2" },
		{ ACT_CAPABILITIES, "echo hibernate=frozen" },
		{ ACT_ENTER, "echo word=" },
		{ ACT_LIST, "echo workload=" ID_A ":1:running; echo workload=" ID_B ":0:running" },
		{ ACT_LIST, "echo workload=" ID_A ":1:running; echo other=1" },
		{ ACT_LIST, "echo workload=" ID_A ":running" },
		{ ACT_LIST, "echo workload=kls-a:1:running" },
	};
	struct rig *g = *state;
	struct act_answer a;

	rig_start(g);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		bool of_lease = wrong[i].verb != ACT_LIST && wrong[i].verb != ACT_CAPABILITIES;

		rig_runtime(g, "wrong", wrong[i].body);
		rig_act(g, wrong[i].verb, "wrong", of_lease ? ID_A : NULL, &a);
		if (a.outcome != ACT_FAILED || strncmp(a.line, "wrong answer to ", 16))
			fail_msg("%s: %s, %s", wrong[i].body, act_outcome_name((enum act_outcome)a.outcome), a.line);
		assert_int_equal(a.cpu_usec, -1);
		assert_int_equal(a.state, ACT_ST_UNSAID);
	}
}

static void ten_megabytes_are_read_and_refused(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	expect(g, "flood", "head -c 10000000 /dev/zero", ACT_FAILED, "printed more than 65536 bytes");
	expect(g, "chatty", "head -c 10000000 /dev/zero >&2; echo >&2; echo last >&2; exit 1", ACT_FAILED, "last");
}

static void answers_are_parsed_by_key(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r",
		    "case $1 in\n"
		    "capabilities) echo protocol=1; echo hibernate=disk; echo snapshot=yes; echo enter=no; echo isolation=x;;\n"
		    "create) echo pid=12; echo cgroup=/sys/fs/cgroup/x; echo tree=12:34;;\n"
		    "stat) echo state=frozen; echo cpu_usec=5; echo memory=6; echo net_bytes=7; echo 'note=free text';;\n"
		    "hibernate) echo hibernated=disk;;\n"
		    "enter) echo word=nsenter; echo 'word=-t 5';;\n"
		    "esac");
	rig_start(g);
	rig_act(g, ACT_CAPABILITIES, "r", NULL, &a);
	assert_int_equal(a.outcome, ACT_DONE);
	assert_int_equal(a.caps, ACT_CAP_HIBERNATE_DISK | ACT_CAP_SNAPSHOT);
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	assert_string_equal(a.cgroup, "/sys/fs/cgroup/x");
	assert_int_equal(a.tree.pid, 12);
	assert_int_equal(a.tree.start, 34);
	rig_act(g, ACT_STAT, "r", ID_A, &a);
	assert_int_equal(a.state, ACT_ST_FROZEN);
	assert_int_equal(a.cpu_usec, 5);
	assert_int_equal(a.memory, 6);
	assert_int_equal(a.net_bytes, 7);
	rig_act(g, ACT_HIBERNATE, "r", ID_A, &a);
	assert_int_equal(a.state, ACT_ST_DISK);
	rig_act(g, ACT_ENTER, "r", ID_A, &a);
	assert_memory_equal(a.argv, "nsenter\0-t 5\0", 14);
}

static void absent_is_said_in_one_way(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "word", "echo state=absent");
	rig_runtime(g, "status", "exit 3");
	rig_start(g);
	rig_act(g, ACT_STAT, "word", ID_A, &a);
	assert_int_equal(a.outcome, ACT_ABSENT);
	assert_int_equal(a.state, ACT_ST_ABSENT);
	rig_act(g, ACT_STAT, "status", ID_A, &a);
	assert_int_equal(a.outcome, ACT_ABSENT);
	assert_int_equal(a.state, ACT_ST_ABSENT);
}

static void a_list_is_an_answer_for_each_workload_though_nobody_reads(void **state)
{
	struct rig *g = *state;
	struct act_request r = rig_request(g, ACT_LIST, "lister", NULL);
	struct act_answer a;

	rig_runtime(g, "lister", "for i in $(seq 3000); do echo workload=" ID_B ":$i:running; done");
	rig_start(g);
	rig_send(g, &r);
	for (unsigned i = 1; i <= 3000; i++) {
		assert_true(rig_answer(g, &a));
		assert_int_equal(a.more, 1);
		assert_int_equal(a.generation, i);
		assert_string_equal(a.id, ID_B);
		assert_int_equal(a.state, ACT_ST_RUNNING);
	}
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.more, 0);
	assert_int_equal(a.outcome, ACT_DONE);
}

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
	assert_false(rig_exists(g, "work/loose"));
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
		    "echo args=$*; pwd; ls -l /proc/self/fd/0 | sed 's/.*-> //'; ls /proc/$$/fd | grep -vxE '[012]|10|255'\n"
		    "ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo own session; stat -c %a .\n"
		    "sed -nE 's/^(Sig(Blk|Ign)):.*(.{7})$/\\1 \\3/p' /proc/$$/status\n" /* the last bits: 32 up are libc's */
		    "tr '\\0' '\\n' </proc/$$/environ | sort");
	r.process = self;
	snprintf(r.profile, sizeof r.profile, "small");
	rig_start(g);
	rig_send(g, &r);
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.outcome, ACT_DONE);
	snprintf(want, sizeof want,
		 "args=create\n%s/work/looks/" ID_A ".7\n/dev/null\nown session\n700\n"
		 "SigBlk 0000000\nSigIgn 0000000\n"
		 "HOME=/home/of/ours\nLC_ALL=C.UTF-8\nLEASE_BOOT=%s\nLEASE_DEADLINE_MS=5000\nLEASE_DIR=%s/work/looks/" ID_A ".7\n"
		 "LEASE_GENERATION=7\nLEASE_ID=" ID_A "\nLEASE_PID=%d\nLEASE_PID_START=%llu\nLEASE_PROFILE=small\n"
		 "LEASE_PROTOCOL=1\nLEASE_UID=%u\nLEASE_WORK=%s/work/looks\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n",
		 g->top, boot, g->top, self.pid, (unsigned long long)self.start, getuid(), g->top);
	rig_read(g, "seen", is, sizeof is);
	assert_string_equal(is, want);
}

static void a_private_directory_lives_from_create_to_destroy(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r",
		    "case $1 in\n"
		    "create) mkdir -p a/b; echo x >a/b/c; ln -s $T/outside link; chmod 500 a/b;;\n"
		    "destroy) [ -e $T/fails ] && exit 1; exit 0;;\n"
		    "esac");
	rig_start(g);
	rig_runtime(g, "outside", "");
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	assert_true(rig_exists(g, "work/r/" ID_A ".7/a/b/c"));
	rig_act(g, ACT_RESUME, "r", ID_A, &a);
	assert_true(rig_exists(g, "work/r/" ID_A ".7"));
	rig_runtime(g, "../fails", "");
	rig_act(g, ACT_DESTROY, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_FAILED);
	assert_true(rig_exists(g, "work/r/" ID_A ".7/a/b/c"));
}

static void destroy_takes_the_directory_along_and_follows_no_link(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r", "[ $1 = create ] || exit 0; mkdir -p a/b $T/outside; touch a/b/c $T/outside/stays; ln -s $T/outside a/link");
	rig_start(g);
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	rig_act(g, ACT_DESTROY, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_DONE);
	assert_false(rig_exists(g, "work/r/" ID_A ".7"));
	assert_true(rig_exists(g, "outside/stays"));
	rig_act(g, ACT_DESTROY, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_DONE);
	assert_false(rig_exists(g, "work/r/" ID_A ".7"));
}

static void what_fails_to_be_created_leaves_no_directory(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r", "[ $1 = create ] && exit 1; echo state=running");
	rig_start(g);
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	assert_false(rig_exists(g, "work/r/" ID_A ".7"));
	rig_act(g, ACT_STAT, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_DONE);
	assert_false(rig_exists(g, "work/r/" ID_A ".7"));
}

static void a_planted_link_is_not_taken_for_a_private_directory(void **state)
{
	struct rig *g = *state;
	struct act_answer a;
	char path[256];

	rig_runtime(g, "r", "touch $T/ran");
	rig_path(g, path, "work/r");
	assert_int_equal(mkdir(path, 0700), 0);
	rig_path(g, path, "work/r/" ID_A ".7");
	assert_int_equal(symlink("/tmp", path), 0);
	rig_start(g);
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_FAILED);
	rig_act(g, ACT_DESTROY, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_FAILED);
	assert_false(rig_exists(g, "ran"));
}

static void acts_on_one_lease_follow_each_other(void **state)
{
	struct rig *g = *state;
	char seen[256];
	struct act_answer a;
	uint64_t last = 0;

	rig_runtime(g, "r", "echo begin $1 >>$T/order; sleep 0.03; echo end $1 >>$T/order; [ $1 != hibernate ] || echo hibernated=frozen");
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
	assert_string_equal(seen, "begin hibernate\nend hibernate\nbegin resume\nend resume\nbegin snapshot\nend snapshot\n"
				  "begin destroy\nend destroy\n");
}

static void acts_on_two_leases_run_side_by_side(void **state)
{
	struct rig *g = *state;
	struct act_request r;
	struct act_answer a;

	/* Each waits for the other to have begun. */
	rig_runtime(g, "meets", "touch $T/met.$LEASE_ID; until [ -e $T/met." ID_A " ] && [ -e $T/met." ID_B " ]; do sleep 0.01; done");
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
	rig_runtime(g, "hangs", "[ $1 = stat ] && exit 3; exec sleep 300");
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
		T(an_exit_status_is_an_outcome),
		T(a_line_is_plain_ascii_whatever_was_printed),
		T(a_program_past_its_deadline_is_ended_with_its_group),
		T(a_program_that_ignores_term_is_killed),
		T(a_program_that_cannot_be_run_fails),
		T(a_wrong_answer_is_a_failed_act),
		T(ten_megabytes_are_read_and_refused),
		T(answers_are_parsed_by_key),
		T(absent_is_said_in_one_way),
		T(a_list_is_an_answer_for_each_workload_though_nobody_reads),
		T(a_program_others_could_have_written_is_refused),
		T(a_process_counts_only_with_its_owner_and_start),
		T(user_mode_acts_for_its_user_alone),
		T(a_program_gets_what_the_manual_lists_and_nothing_else),
		T(a_private_directory_lives_from_create_to_destroy),
		T(destroy_takes_the_directory_along_and_follows_no_link),
		T(what_fails_to_be_created_leaves_no_directory),
		T(a_planted_link_is_not_taken_for_a_private_directory),
		T(acts_on_one_lease_follow_each_other),
		T(acts_on_two_leases_run_side_by_side),
		T(twenty_hung_acts_do_not_stop_another),
		T(garbage_on_the_socket_ends_the_actor),
		T(a_truncated_request_ends_the_actor),
		T(a_request_that_is_too_long_ends_the_actor),
		T(a_runtime_that_is_no_plain_word_ends_the_actor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
