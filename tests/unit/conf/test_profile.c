/* [profile NAME] and [runtime NAME]: what their programs are told. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "help.h"

struct told {
	char text[4096];
};

static void tell(void *arg, const char *key, const char *value)
{
	struct told *t = arg;
	size_t n = strlen(t->text);

	snprintf(t->text + n, sizeof(t->text) - n, "%s=%s\n", key, value);
}

static void words_are(const char *conf, const char *runtime, const char *profile, int want, const char *words)
{
	struct settings *s = read_text(conf, NULL);
	struct told t = {""};

	assert_int_equal(settings_runtime_words(s, runtime, profile, tell, &t), want);
	assert_string_equal(t.text, words);
	settings_free(s);
}

static void a_program_is_told_whole_numbers_and_its_own_keys(void **state)
{
	(void)state;
	words_are("[profile vm]\nruntime = qemu\nimage = /srv/a b.qcow2\ncommand = exec /sbin/init; :\n"
		  "cpu = 1.25\nmemory = 512M\nstorage = 2G\nnet = engine\nqemu.kernel = /boot/vmlinuz\nqemu.two-words = x = y\n"
		  "[runtime qemu]\nprogram = /opt/q\nsocket-dir = /s\n[runtime podman]\nsocket = no\n",
		  "qemu", "vm", 0,
		  "RUNTIME_PROGRAM=/opt/q\nRUNTIME_SOCKET_DIR=/s\nPROFILE_IMAGE=/srv/a b.qcow2\n"
		  "PROFILE_COMMAND=exec /sbin/init; :\n"
		  "PROFILE_CPU=1250\nPROFILE_MEMORY=536870912\nPROFILE_STORAGE=2147483648\nPROFILE_NET=engine\n"
		  "PROFILE_KERNEL=/boot/vmlinuz\nPROFILE_TWO_WORDS=x = y\n");
}

static void what_is_not_set_is_not_told(void **state)
{
	(void)state;
	words_are("[profile p]\n", "process", "p", 0, "");
	words_are("[runtime process]\na = b\n", "process", "", 0, "RUNTIME_A=b\n");
	words_are("[runtime process]\na = b\n", "process", "gone", -ENOENT, "RUNTIME_A=b\n");
}

static void a_wrong_key_is_told_with_its_line(void **state)
{
	static const struct {
		const char *text, *what;
		int line;
	} cases[] = {
	    {"[profile p]\nruntime = podman\nqemu.kernel = /x\n", "the runtime of [profile p] is podman", 3},
	    {"[profile p]\nprocess.Image = /x\n", "is no key of a runtime's own", 2},
	    {"[profile p]\nprocess.image = /x\n", "write image =", 2},
	    {"[profile p]\nprocess.a-b = 1\nprocess.a_b = 2\n", "is there twice", 3},
	    {"[profile p]\n.a = 1\n", "is no key of a runtime's own", 2},
	    {"[profile p]\nimagee = x\n", "the nearest is 'image'", 2},
	    {"[runtime r]\na = 1\na = 2\n", "is there twice", 3},
	    {"[runtime r]\na =\n", "has no value", 2},
	    {"[runtime r]\na.b = 1\n", "is no key of a runtime's own", 2},
	    {"[runtime R]\na = 1\n", "is no name of a runtime", 1},
	    {"[runtime]\na = 1\n", "needs a name", 1},
	    {"[surface s]\nprocess.a = 1\n", "unknown key", 2},
	    {"[profile p]\ncpu = 0\n", "out of range", 2},
	    {"[profile p]\ncpu = 1.2345\n", "is no number of cores", 2},
	    {"[profile p]\ncpu = 99999999999999999999\n", "out of range", 2},
	    {"[profile p]\nmemory = 512MB\n", "is no size", 2},
	    {"[profile p]\nmemory = 9999999999999T\n", "out of range", 2},
	    {"[profile p]\nmemory = 0\n", "out of range", 2},
	    {"[profile p]\nnet = a b\n", "is no network's name", 2},
	    {"[profile p]\nusers = bob; rm\n", "is no list of names", 2},
	    {"[profile p]\non_expire = keep\n", "is neither reap nor snapshot", 2},
	    {"[defaults]\nimage = x\n", "its place is [profile]", 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct errors e = {0};

		assert_null(read_text(cases[i].text, &e));
		if (error_line(&e, cases[i].what) != cases[i].line)
			fail_msg("%s: not '%s' in line %d, but: %s", cases[i].text, cases[i].what, cases[i].line, e.each[0].what);
	}
}

static void a_copy_is_asked_for_where_the_nearest_section_says_so(void **state)
{
	struct settings *s = read_text("[defaults]\non_expire = snapshot\n[surface ci]\non_expire = reap\n"
				       "[profile p]\non_expire = snapshot\n", NULL);

	(void)state;
	assert_true(settings_snapshot(s, "cli", ""));
	assert_false(settings_snapshot(s, "ci", ""));
	assert_true(settings_snapshot(s, "ci", "p"));
	assert_false(settings_snapshot(s, "ci", "gone"));
	settings_free(s);
}

static void a_list_has_whole_names_and_numbers(void **state)
{
	(void)state;
	assert_true(settings_list_has("bob, alice", "alice", 5));
	assert_true(settings_list_has("bob alice\t1000", "", 1000));
	assert_false(settings_list_has("bob, alice", "ali", 5));
	assert_false(settings_list_has("bob 10001", "", 1000));
}

static void what_is_dumped_reads_back(void **state)
{
	struct settings *s = read_text("[profile p]\nimage = x\nprocess.a = 1\n[runtime r]\nk = v\n", NULL), *again;
	char text[16384] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");
	struct told one = {""}, two = {""};

	(void)state;
	settings_dump(s, f);
	fclose(f);
	again = read_text(text, NULL);
	assert_int_equal(settings_runtime_words(s, "process", "p", tell, &one), 0);
	assert_int_equal(settings_runtime_words(again, "process", "p", tell, &two), 0);
	assert_string_equal(one.text, "PROFILE_IMAGE=x\nPROFILE_A=1\n");
	assert_string_equal(one.text, two.text);
	settings_free(s);
	settings_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_program_is_told_whole_numbers_and_its_own_keys),
	    cmocka_unit_test(what_is_not_set_is_not_told),
	    cmocka_unit_test(a_wrong_key_is_told_with_its_line),
	    cmocka_unit_test(a_copy_is_asked_for_where_the_nearest_section_says_so),
	    cmocka_unit_test(a_list_has_whole_names_and_numbers),
	    cmocka_unit_test(what_is_dumped_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
