#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/sentence.h"

int sentence(char err[SENTENCE_SIZE], int r, const char *path, const char *fmt, ...)
{
	char what[SENTENCE_SIZE - 16];
	size_t len = strlen(path), room;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	room = SENTENCE_SIZE - sizeof(": ") - strlen(what);
	if (len <= room)
		(void)snprintf(err, SENTENCE_SIZE, "%s: %s", path, what);
	else
		(void)snprintf(err, SENTENCE_SIZE, "...%s: %s", path + len - (room - 3), what);
	return r;
}
