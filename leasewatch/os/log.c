#include "config.h"

#include "os/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
#define LIBBSD_OPENBSD_VIS /* only vis() is used; saying which strnvis is meant silences the header */
#include <vis.h>

static struct {
	char role[16];
	bool to_syslog, journal;
	int max;
} out = {.max = LOG_INFO};

void log_open(const char *role, bool foreground, int max_level)
{
	snprintf(out.role, sizeof out.role, "%s", role);
	out.to_syslog = !foreground;
	out.journal = foreground && getenv("JOURNAL_STREAM");
	out.max = max_level;
	if (out.to_syslog)
		openlog("leasewatch", LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void log_at(int level, const char *fmt, ...)
{
	int saved_errno = errno, at = 0, n;
	char line[1024];
	va_list ap;

	if (level > out.max)
		return;
	if (out.journal)
		at = snprintf(line, sizeof line, "<%d>", level);
	else if (!out.to_syslog)
		at = snprintf(line, sizeof line, "leasewatch: ");
	if (out.role[0])
		at += snprintf(line + at, sizeof line - (size_t)at, "%s: ", out.role);
	errno = saved_errno; /* for %m */
	va_start(ap, fmt);
	n = vsnprintf(line + at, sizeof line - (size_t)at, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	at = n < (int)sizeof line - at - 1 ? at + n : (int)sizeof line - 2;
	if (out.to_syslog) {
		syslog(level, "%.*s", at, line);
	} else {
		/* One write a line: lines of the two processes never mix. */
		ssize_t written;

		line[at] = '\n';
		written = write(STDERR_FILENO, line, (size_t)at + 1);
		(void)written; /* there is nobody left to tell */
	}
	errno = saved_errno;
}

const char *log_escape(char *buf, size_t size, const char *s)
{
	char one[8];
	size_t at = 0;

	/* A character at a time: what doesn't fit is cut between characters, never inside an escape. */
	for (; *s; s++) {
		size_t n;

		vis(one, (unsigned char)*s, VIS_CSTYLE | VIS_OCTAL | VIS_TAB | VIS_NL | VIS_NOLOCALE,
		    (unsigned char)s[1]);
		n = strlen(one);
		if (at + n + 1 > size)
			break;
		memcpy(buf + at, one, n);
		at += n;
	}
	if (size)
		buf[at] = '\0';
	return buf;
}
