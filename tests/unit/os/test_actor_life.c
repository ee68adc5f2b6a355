/* How the actor ends, and what it leaves. */
#include "config.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/os/rig.h"

static char heard(const struct rig *g)
{
	struct pollfd p = { .fd = g->heard, .events = POLLIN };
	char c = 0;

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	return read(g->heard, &c, 1) == 1 ? c : 0;
}

/* It answers, so it is past its beginning. */
static void greet(struct rig *g)
{
	struct act_answer a;

	rig_act(g, ACT_STAT, "missing", ID_A, &a);
	assert_int_equal(a.outcome, ACT_REFUSED);
}

static void a_hangup_is_passed_on(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	greet(g);
	kill(g->actor, SIGHUP);
	assert_int_equal(heard(g), 'h');
	greet(g);
}

static void told_to_end_it_ends_the_watcher_first(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	greet(g);
	kill(g->actor, SIGTERM);
	assert_int_equal(heard(g), 't');
	assert_int_equal(rig_end(g), 0);
}

static void an_interrupt_ends_it_too(void **state)
{
	struct rig *g = *state;

	rig_start(g);
	greet(g);
	kill(g->actor, SIGINT);
	assert_int_equal(heard(g), 't');
	assert_int_equal(rig_end(g), 0);
}

static void a_watcher_that_ends_well_ends_it_well(void **state)
{
	struct rig *g = *state;

	g->watcher_exit = 0;
	rig_start(g);
	assert_int_equal(rig_end(g), 0);
}

static void a_watcher_that_breaks_breaks_it(void **state)
{
	struct rig *g = *state;

	g->watcher_exit = 3;
	rig_start(g);
	assert_int_equal(rig_end(g), 1);
}

static void a_folder_of_runtimes_that_others_can_write_is_not_used(void **state)
{
	struct rig *g = *state;
	char path[256];

	rig_path(g, path, "runtimes");
	assert_int_equal(chmod(path, 0777), 0);
	rig_start(g);
	assert_int_equal(rig_end(g), 1);
}

static void a_program_that_runs_ends_with_the_actor(void **state)
{
	struct rig *g = *state;
	struct act_request r = rig_request(g, ACT_RESUME, "slow", ID_A);

	rig_runtime(g, "slow", "touch $T/begun; until [ -e $T/over ]; do sleep 0.01; done; touch $T/ended");
	rig_start(g);
	rig_send(g, &r);
	for (int i = 0; i < PATIENCE_MS / 5 && !rig_exists(g, "begun"); i++)
		poll(NULL, 0, 5);
	kill(g->actor, SIGTERM);
	assert_int_equal(rig_end(g), 0);
	rig_runtime(g, "../over", "");
	/* Long enough for ten of its turns, where it still had any. */
	for (int i = 0; i < 20 && !rig_exists(g, "ended"); i++)
		poll(NULL, 0, 5);
	assert_false(rig_exists(g, "ended"));
}

static long switches(pid_t pid)
{
	char path[64], line[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		(void)sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	fclose(f);
	return n;
}

static void with_nothing_due_it_never_wakes(void **state)
{
	struct rig *g = *state;
	struct act_answer a;
	long before;

	rig_runtime(g, "r", "");
	rig_start(g);
	rig_act(g, ACT_RESUME, "r", ID_A, &a);
	poll(NULL, 0, 20); /* until it sleeps */
	before = switches(g->actor);
	poll(NULL, 0, 150);
	assert_int_equal(switches(g->actor), before);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(a_hangup_is_passed_on),
		T(told_to_end_it_ends_the_watcher_first),
		T(an_interrupt_ends_it_too),
		T(a_watcher_that_ends_well_ends_it_well),
		T(a_watcher_that_breaks_breaks_it),
		T(a_folder_of_runtimes_that_others_can_write_is_not_used),
		T(a_program_that_runs_ends_with_the_actor),
		T(with_nothing_due_it_never_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
