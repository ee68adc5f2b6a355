/* Which service is which surface, and what options say. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <security/pam_ext.h>

#include "pam_lease/options.h"
#include "tests/unit/lease/test.h"

static char log_text[4096];
static int lines;

/* In libpam's place. */
void pam_syslog(const pam_handle_t *pamh, int priority, const char *fmt, ...)
{
	va_list args;

	(void)pamh, (void)priority;
	va_start(args, fmt);
	(void)vsnprintf(log_text, sizeof(log_text), fmt, args);
	va_end(args);
	lines++;
}

static struct options read_line(const char *a, const char *b)
{
	const char *argv[] = {a, b};
	struct options o;

	lines = 0;
	options_read(&o, NULL, b ? 2 : a ? 1 : 0, argv);
	return o;
}

static const char *surface(const struct options *o, const char *service)
{
	static char s[LEASE_SURFACE_SIZE];

	return options_surface(o, service, s) ? s : "(none)";
}

static void sshd_and_login_are_surfaces_by_themselves(void **state)
{
	struct options o = read_line(NULL, NULL);

	(void)state;
	assert_string_equal(surface(&o, "sshd"), "sshd");
	assert_string_equal(surface(&o, "login"), "login");
	assert_string_equal(surface(&o, "sshd-lw123"), "sshd");
	assert_string_equal(surface(&o, "sshd-a-b"), "sshd");
	assert_string_equal(surface(&o, "cron"), "(none)");
	assert_string_equal(surface(&o, "ssh"), "(none)");
	assert_string_equal(surface(&o, "sshd2"), "(none)");
	assert_string_equal(surface(&o, ""), "(none)");
	assert_string_equal(surface(&o, "-sshd"), "(none)");
	assert_string_equal(surface(&o, "sshd,login"), "(none)");
	assert_string_equal(surface(&o, "a-very-long-name-of-a-service-that-nobody-would-give-to-one"), "(none)");
	assert_int_equal(o.ttl, 0);
	assert_int_equal(o.linger, -1);
	assert_string_equal(o.notices, "/run/leasewatch/notices");
}

static void a_listed_service_is_itself_and_not_its_beginning(void **state)
{
	struct options o = read_line("surfaces=sshd,sshd-admin,k-go", NULL);

	(void)state;
	assert_int_equal(lines, 0);
	assert_string_equal(surface(&o, "sshd-admin"), "sshd-admin");
	assert_string_equal(surface(&o, "sshd-other"), "sshd");
	assert_string_equal(surface(&o, "k-go"), "k-go");
	assert_string_equal(surface(&o, "k"), "(none)");
	assert_string_equal(surface(&o, "login"), "(none)");
}

static void surface_names_every_session_of_its_service(void **state)
{
	struct options o = read_line("surface=ci", NULL);

	(void)state;
	assert_string_equal(surface(&o, "anything"), "ci");
	assert_string_equal(surface(&o, "sshd"), "ci");
}

static void a_wrong_option_changes_nothing(void **state)
{
	static const char *const wrong[] = {"surfaces",	  "surfaces=",	"surfaces=,", "surfaces=sshd,", "surfaces=,sshd",
					    "surfaces=a b", "surface=",	"ttl=0s",     "ttl=90",		"ttl=-5m",
					    "ttl=never",  "linger=x",	"notices=",   "notices=a/b",	"Debug",
					    "debug=yes",  "root=no",	"",	      "ttl="};

	(void)state;
	for (size_t i = 0; i < N_OF(wrong); i++) {
		struct options plain = read_line(NULL, NULL), o = read_line(wrong[i], NULL);
		char want[64];

		assert_int_equal(lines, 1);
		snprintf(want, sizeof(want), "option %s is ignored: ", wrong[i]);
		assert_memory_equal(log_text, want, strlen(want));
		assert_string_equal(o.notices, plain.notices);
		assert_string_equal(o.surfaces, plain.surfaces);
		assert_null(o.surface);
		assert_int_equal(o.ttl, 0);
		assert_int_equal(o.linger, -1);
		assert_false(o.debug || o.root);
	}
}

static void the_last_of_two_good_ones_counts(void **state)
{
	struct options o = read_line("ttl=5m", "ttl=90s");

	(void)state;
	assert_int_equal(o.ttl, 90000000000);
	o = read_line("ttl=5m", "ttl=soon");
	assert_int_equal(o.ttl, 300000000000);
	o = read_line("debug", "root");
	assert_true(o.debug && o.root);
	assert_int_equal(lines, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sshd_and_login_are_surfaces_by_themselves),
	    cmocka_unit_test(a_listed_service_is_itself_and_not_its_beginning),
	    cmocka_unit_test(surface_names_every_session_of_its_service),
	    cmocka_unit_test(a_wrong_option_changes_nothing),
	    cmocka_unit_test(the_last_of_two_good_ones_counts),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
