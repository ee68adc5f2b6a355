#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/log.h"

/* What a line looks like on stderr. */
static void logged(char *buf, size_t size, int level, const char *text)
{
	int p[2], saved = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	dup2(p[1], STDERR_FILENO);
	errno = E2BIG;
	log_at(level, "%s", text);
	assert_int_equal(errno, E2BIG);
	dup2(saved, STDERR_FILENO);
	n = read(p[0], buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	close(p[0]);
	close(p[1]);
	close(saved);
}

static void a_line_says_who_speaks(void **state)
{
	char buf[2000];

	(void)state;
	unsetenv("JOURNAL_STREAM");
	log_open("actor", true, 6);
	logged(buf, sizeof buf, 3, "broken");
	assert_string_equal(buf, "leasewatch: actor: broken\n");
	logged(buf, sizeof buf, 7, "detail");
	assert_string_equal(buf, "");
}

static void under_the_journal_a_line_says_its_level(void **state)
{
	char buf[2000];

	(void)state;
	setenv("JOURNAL_STREAM", "1:2", 1);
	log_open("watcher", true, 6);
	logged(buf, sizeof buf, 4, "odd");
	assert_string_equal(buf, "<4>watcher: odd\n");
}

static void a_long_line_is_cut_and_still_a_line(void **state)
{
	char text[5000], buf[6000];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	logged(buf, sizeof buf, 3, text);
	assert_int_equal(strlen(buf), 1023);
	assert_int_equal(buf[1022], '\n');
}

static void what_is_escaped_is_plain_and_fits(void **state)
{
	char buf[16];

	(void)state;
	assert_string_equal(log_escape(buf, sizeof buf, "a b"), "a b");
	assert_string_equal(log_escape(buf, sizeof buf, "a\nb\tc\\"), "a\\nb\\tc\\\\");
	assert_string_equal(log_escape(buf, sizeof buf, "\033\377"), "\\033\\377");
	assert_string_equal(log_escape(buf, 6, "abc\033"), "abc");
	assert_string_equal(log_escape(buf, 1, "abc"), "");
	for (int c = 1; c < 256; c++) {
		const char s[] = {(char)c, '7', '\0'};

		log_escape(buf, sizeof buf, s);
		for (const char *p = buf; *p; p++)
			assert_in_range(*p, 32, 126);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_line_says_who_speaks),
	    cmocka_unit_test(under_the_journal_a_line_says_its_level),
	    cmocka_unit_test(a_long_line_is_cut_and_still_a_line),
	    cmocka_unit_test(what_is_escaped_is_plain_and_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
