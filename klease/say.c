/* Only strnvisx is used here, the same in both families; vis.h wants to hear a choice all the same. */
#define LIBBSD_NETBSD_VIS

#include "config.h"

#include "klease/say.h"

#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <vis.h>

static const char *program = "klease", *command;

void say_as(const char *p, const char *c)
{
	program = p;
	command = c;
}

const char *say_program(void)
{
	return program;
}

const char *say_command(void)
{
	return command;
}

void say(const char *fmt, ...)
{
	char line[2048];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	fflush(stdout);
	fprintf(stderr, "%s%s%s: %s\n", program, command ? " " : "", command ? command : "", line);
}

const char *safe(char buf[SAFE_SIZE], const char *s)
{
	static bool locale;
	size_t len = strnlen(s, SAFE_SIZE - 1);

	/* Here and not at the start: a renewal has nothing to make safe, and should cost what touch(1) does. */
	if (!locale)
		(void)setlocale(LC_CTYPE, "");
	locale = true;

	/* A byte takes four at most; what does not fit is cut, never left raw. */
	while (strnvisx(buf, SAFE_SIZE, s, len, VIS_CSTYLE | VIS_OCTAL | VIS_NL | VIS_TAB | VIS_NOSLASH) <
	       0) {
		if (len == 0) {
			buf[0] = '\0';
			break;
		}
		len -= 1 + len / 16;
	}
	return buf;
}
