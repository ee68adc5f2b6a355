/* Private directories. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/os/rig.h"

static void a_private_directory_lives_from_create_to_destroy(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r",
		    "case $1 in\n"
		    "create) mkdir -p a/b; echo x >a/b/c; ln -s $T/outside link;;\n"
		    "destroy) [ -e $T/fails ] && exit 1; exit 0;;\n"
		    "esac");
	rig_start(g);
	rig_runtime(g, "outside", "");
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	assert_true(rig_exists(g, "wd/r/" ID_A ".7/a/b/c"));
	rig_act(g, ACT_RESUME, "r", ID_A, &a);
	assert_true(rig_exists(g, "wd/r/" ID_A ".7"));
	rig_runtime(g, "../fails", "");
	rig_act(g, ACT_DESTROY, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_FAILED);
	assert_true(rig_exists(g, "wd/r/" ID_A ".7/a/b/c"));
}

static void destroy_takes_the_directory_along_and_follows_no_link(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r",
		    "[ $1 = create ] || exit 0; mkdir -p a/b $T/outside; touch a/b/c $T/outside/stays; ln -s "
		    "$T/outside a/link");
	rig_start(g);
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	rig_act(g, ACT_DESTROY, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_DONE);
	assert_false(rig_exists(g, "wd/r/" ID_A ".7"));
	assert_true(rig_exists(g, "outside/stays"));
	rig_act(g, ACT_DESTROY, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_DONE);
	assert_false(rig_exists(g, "wd/r/" ID_A ".7"));
}

static void what_fails_to_be_created_leaves_no_directory(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r", "[ $1 = create ] && exit 1; echo state=running");
	rig_start(g);
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	assert_false(rig_exists(g, "wd/r/" ID_A ".7"));
	rig_act(g, ACT_STAT, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_DONE);
	assert_false(rig_exists(g, "wd/r/" ID_A ".7"));
}

static void a_planted_link_is_not_taken_for_a_private_directory(void **state)
{
	struct rig *g = *state;
	struct act_answer a;
	char path[256];

	rig_runtime(g, "r", "touch $T/ran");
	rig_path(g, path, "wd/r");
	assert_int_equal(mkdir(path, 0700), 0);
	rig_path(g, path, "wd/r/" ID_A ".7");
	assert_int_equal(symlink("/tmp", path), 0);
	rig_start(g);
	rig_act(g, ACT_CREATE, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_FAILED);
	rig_act(g, ACT_DESTROY, "r", ID_A, &a);
	assert_int_equal(a.outcome, ACT_FAILED);
	assert_false(rig_exists(g, "ran"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
	    T(a_private_directory_lives_from_create_to_destroy),
	    T(destroy_takes_the_directory_along_and_follows_no_link),
	    T(what_fails_to_be_created_leaves_no_directory),
	    T(a_planted_link_is_not_taken_for_a_private_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
