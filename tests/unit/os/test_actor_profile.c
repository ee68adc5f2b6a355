/* What the actor takes from the configuration, itself: profiles, and who may have them. */
#include "config.h"

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actor-permit.h"
#include "tests/unit/os/rig.h"

static struct act_request of_profile(struct rig *g, enum act_verb verb, const char *profile)
{
	struct act_request r = rig_request(g, verb, "r", verb == ACT_PERMIT ? "" : ID_A);

	if (verb == ACT_PERMIT)
		r.generation = 0;
	snprintf(r.profile, sizeof r.profile, "%s", profile);
	return r;
}

static void ask(struct rig *g, enum act_verb verb, const char *profile, struct act_answer *a)
{
	struct act_request r = of_profile(g, verb, profile);

	rig_send(g, &r);
	assert_true(rig_answer(g, a));
	assert_int_equal(a->serial, r.serial);
}

static void of_a_profile_that_has_gone_nothing_is_made_but_all_is_unmade(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r", "echo $1 $LEASE_PROFILE ${LEASE_PROFILE_IMAGE-none} >>$T/seen");
	rig_conf(g, "[profile p]\nruntime = r\nimage = i\n");
	rig_start(g);
	ask(g, ACT_CREATE, "p", &a);
	assert_int_equal(a.outcome, ACT_DONE);
	ask(g, ACT_CREATE, "gone", &a);
	assert_int_equal(a.outcome, ACT_REFUSED);
	assert_string_equal(a.line, "the configuration has no profile gone (any more)");
	ask(g, ACT_DESTROY, "gone", &a);
	assert_int_equal(a.outcome, ACT_DONE);
	char seen[256];
	rig_read(g, "seen", seen, sizeof seen);
	assert_string_equal(seen, "create p i\ndestroy gone none\n");
}

static void a_reload_holds_for_what_is_made_after_it_and_a_bad_file_changes_nothing(void **state)
{
	struct rig *g = *state;
	struct act_answer a;
	char c, seen[256];

	rig_runtime(g, "r", "echo $LEASE_PROFILE_IMAGE >>$T/seen");
	rig_conf(g, "[profile p]\nimage = old\n");
	rig_start(g);
	ask(g, ACT_DESTROY, "p", &a);
	rig_conf(g, "[profile p]\nimage = new\n");
	kill(g->actor, SIGHUP);
	assert_int_equal(read(g->heard, &c, 1), 1);
	ask(g, ACT_DESTROY, "p", &a);
	rig_conf(g, "[profile p]\nimage = worse\nimagf = x\n");
	kill(g->actor, SIGHUP);
	assert_int_equal(read(g->heard, &c, 1), 1);
	ask(g, ACT_DESTROY, "p", &a);
	rig_read(g, "seen", seen, sizeof seen);
	assert_string_equal(seen, "old\nnew\nnew\n");
}

/* What is asked here is the machine's own directory of users. */
static void who_may_name_a_profile_is_told_by_name_number_and_group(void **state)
{
	struct rig *g = *state;
	const struct passwd *pw = getpwuid(getuid());
	const struct group *gr = getgrgid(getgid());
	struct act_answer a;
	char conf[1024];

	if (!pw || !gr || getuid() == 0)
		skip(); /* root may have any */
	snprintf(conf, sizeof conf,
		 "[profile me]\nusers = nobody-else, %s\n[profile number]\nusers = %u\n[profile group]\ngroups = zzz %s\n"
		 "[profile users]\nusers = root\n[profile groups]\ngroups = zzz-none\n[profile all]\n",
		 pw->pw_name, getuid(), gr->gr_name);
	rig_conf(g, conf);
	rig_runtime(g, "r", "");
	rig_start(g);
	static const char *const yes[] = {"me", "number", "group", "all"};
	for (size_t i = 0; i < 4; i++) {
		ask(g, ACT_PERMIT, yes[i], &a);
		assert_int_equal(a.outcome, ACT_DONE);
		ask(g, ACT_CREATE, yes[i], &a);
		assert_int_equal(a.outcome, ACT_DONE);
	}
	ask(g, ACT_PERMIT, "users", &a);
	assert_int_equal(a.outcome, ACT_REFUSED);
	assert_string_equal(a.line, "profile users is for users root");
	ask(g, ACT_CREATE, "groups", &a); /* whatever the watcher says */
	assert_int_equal(a.outcome, ACT_REFUSED);
	assert_string_equal(a.line, "profile groups is for groups zzz-none");
}

static bool told(const char *conf, uint32_t uid, const char *out)
{
	struct actor x = {0};
	struct act_request r = {.uid = uid, .profile = "p"};
	char path[] = "/tmp/test-permit.XXXXXX", why[160];
	int fd = mkstemp(path);
	bool yes;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, conf, strlen(conf)), strlen(conf));
	close(fd);
	assert_int_equal(settings_load(path, NULL, NULL, &x.settings), 0);
	unlink(path);
	yes = permit_told(&x, &r, out, why);
	settings_free(x.settings);
	return yes;
}

static void what_id_prints_is_read_with_care(void **state)
{
	static const char bob[] = "uid=1000(bob) gid=100(users) groups=100(users),27(sudo),999\n";

	(void)state;
	assert_true(told("[profile p]\nusers = bob\n", 1000, bob));
	assert_true(told("[profile p]\ngroups = users\n", 1000, bob));
	assert_true(told("[profile p]\ngroups = sudo\n", 1000, bob));
	assert_true(told("[profile p]\ngroups = 999\n", 1000, bob));
	/* a user is no group, a group no user, another's answer nobody's */
	assert_false(told("[profile p]\ngroups = bob\n", 1000, bob));
	assert_false(told("[profile p]\nusers = users\n", 1000, bob));
	assert_false(told("[profile p]\nusers = bob\n", 1001, bob));
	assert_false(told("[profile p]\nusers = bob\n", 1000, ""));
	assert_false(told("[profile p]\nusers = bob\n", 1000, "uid=1000(bob"));
	assert_false(told("[profile p]\ngroups = sud\n", 1000, bob));
}

static void capabilities_say_why_and_a_cold_start_is_told(void **state)
{
	struct rig *g = *state;
	struct act_answer a;

	rig_runtime(g, "r",
		    "case $1 in capabilities) echo protocol=1; echo hibernate=frozen; echo adopts=yes; echo noise >&2; "
		    "echo 'why=CRIU 3.17: vdso';; resume) echo cold=yes; echo 'why=image failed';; esac");
	rig_start(g);
	struct act_request r = rig_request(g, ACT_CAPABILITIES, "r", "");
	r.generation = 0;
	rig_send(g, &r);
	assert_true(rig_answer(g, &a));
	assert_int_equal(a.caps, ACT_CAP_HIBERNATE_FROZEN | ACT_CAP_ADOPTS);
	assert_string_equal(a.line, "CRIU 3.17: vdso");
	ask(g, ACT_RESUME, "", &a);
	assert_int_equal(a.outcome, ACT_DONE);
	assert_int_equal(a.flags, ACT_FLAG_COLD);
	assert_string_equal(a.line, "image failed");
}

#define RIG(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    RIG(of_a_profile_that_has_gone_nothing_is_made_but_all_is_unmade),
	    RIG(a_reload_holds_for_what_is_made_after_it_and_a_bad_file_changes_nothing),
	    RIG(who_may_name_a_profile_is_told_by_name_number_and_group),
	    RIG(capabilities_say_why_and_a_cold_start_is_told),
	    cmocka_unit_test(what_id_prints_is_read_with_care),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
