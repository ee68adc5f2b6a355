/* What a runtime prints reaches the watcher as fields, or not at all. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/os/rig.h"

static void a_wrong_answer_is_a_failed_act(void **state)
{
	static const struct {
		enum act_verb verb;
		const char *body;
	} wrong[] = {
	    {ACT_STAT, "echo rubbish"},
	    {ACT_STAT, "echo state=sleeping"},
	    {ACT_STAT, "echo cpu_usec=5"},
	    {ACT_STAT, "echo state=running; echo cpu_usec=-5"},
	    {ACT_STAT, "echo state=running; echo memory=99999999999999999999"},
	    {ACT_STAT, "echo state=running; echo cgroup=/sys/../etc"},
	    {ACT_STAT, "echo state=running; echo cgroup=relative"},
	    {ACT_STAT, "echo state=running; echo tree=1:5"},
	    {ACT_STAT, "printf 'state=running\\0\\n'"},
	    {ACT_STAT, "head -c 3000 /dev/zero | tr '\\0' x"},
	    {ACT_CREATE, "echo tree=nonsense"},
	    {ACT_HIBERNATE, "echo hibernated=maybe"},
	    {ACT_HIBERNATE, ":"},
	    {ACT_CAPABILITIES, "echo protocol=2"},
	    {ACT_CAPABILITIES, "echo hibernate=frozen"},
	    {ACT_ENTER, "echo word="},
	    {ACT_LIST, "echo workload=" ID_A ":1:running; echo workload=" ID_B ":0:running"},
	    {ACT_LIST, "echo workload=" ID_A ":1:running; echo other=1"},
	    {ACT_LIST, "echo workload=" ID_A ":running"},
	    {ACT_LIST, "echo workload=kls-a:1:running"},
	};
	struct rig *g = *state;
	struct act_answer a;

	rig_start(g);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		bool of_lease = wrong[i].verb != ACT_LIST && wrong[i].verb != ACT_CAPABILITIES;

		rig_runtime(g, "wrong", wrong[i].body);
		rig_act(g, wrong[i].verb, "wrong", of_lease ? ID_A : NULL, &a);
		if (a.outcome != ACT_FAILED || strncmp(a.line, "wrong answer to ", 16))
			fail_msg("%s: %s, %s", wrong[i].body, act_outcome_name((enum act_outcome)a.outcome),
				 a.line);
		assert_int_equal(a.cpu_usec, -1);
		assert_int_equal(a.state, ACT_ST_UNSAID);
	}
}

static void ten_megabytes_are_read_and_refused(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	rig_expect(g, "flood", "head -c 10000000 /dev/zero", ACT_FAILED, "printed more than 65536 bytes");
	rig_expect(g, "chatty", "head -c 10000000 /dev/zero >&2; echo >&2; echo last >&2; exit 1", ACT_FAILED,
		   "last");
}

static void answers_are_parsed_by_key(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r",
		    "case $1 in\n"
		    "capabilities) echo protocol=1; echo hibernate=disk; echo snapshot=yes; echo enter=no; "
		    "echo isolation=x;;\n"
		    "create) echo pid=12; echo cgroup=/sys/fs/cgroup/x; echo tree=12:34;;\n"
		    "stat) echo state=frozen; echo cpu_usec=5; echo memory=6; echo net_bytes=7; echo "
		    "'note=free text';;\n"
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

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(a_wrong_answer_is_a_failed_act),
	    T(ten_megabytes_are_read_and_refused),
	    T(answers_are_parsed_by_key),
	    T(absent_is_said_in_one_way),
	    T(a_list_is_an_answer_for_each_workload_though_nobody_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
