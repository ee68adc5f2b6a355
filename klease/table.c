#include "config.h"

#include "klease/table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "klease/say.h"
#include "lease/duration.h"

#define LAST_MIN 24 /* of the last column, before others are left out for it */

void table_begin(struct table *t, size_t columns)
{
	*t = (struct table){ .columns = columns };
}

void table_cell(struct table *t, const char *text)
{
	char buf[SAFE_SIZE];

	if (t->n == t->size) {
		size_t size = t->size ? 2 * t->size : 64;
		char **more = reallocarray(t->cells, size, sizeof *more);

		if (!more)
			return;
		t->cells = more;
		t->size = size;
	}
	t->cells[t->n] = strdup(safe(buf, text[0] ? text : "-"));
	if (t->cells[t->n])
		t->n++;
}

/* Columns of a terminal that s takes. */
static size_t width(const char *s)
{
	size_t w = 0, left = strlen(s);
	mbstate_t st = { 0 };

	while (left) {
		wchar_t c;
		size_t n = mbrtowc(&c, s, left, &st);
		int cols;

		if (n == 0 || n > left) {
			st = (mbstate_t){ 0 };
			n = 1;
			cols = 1;
		} else {
			cols = wcwidth(c);
		}
		w += cols > 0 ? (size_t)cols : 0;
		s += n;
		left -= n;
	}
	return w;
}

static size_t screen(void)
{
	const char *env = getenv("COLUMNS"), *bad = NULL;
	struct winsize ws;
	long long n;

	if (env) {
		n = strtonum(env, 20, 10000, &bad);
		if (!bad)
			return (size_t)n;
	}
	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 20)
		return ws.ws_col;
	return 0;
}

/* Cuts at a character's border so that no more than max columns are taken. */
static void cut(char *s, size_t max)
{
	size_t n = strlen(s);

	while (n && width(s) > max) {
		do
			n--;
		while (n && ((unsigned char)s[n] & 0xc0) == 0x80);
		s[n] = '\0';
	}
}

void table_print(struct table *t)
{
	size_t max[16] = { 0 }, limit = screen(), before = 0;
	bool hidden[16] = { false };

	for (size_t i = 0; i < t->n; i++) {
		size_t w = width(t->cells[i]), c = i % t->columns;

		if (w > max[c])
			max[c] = w;
	}
	for (size_t c = 0; c + 1 < t->columns; c++)
		before += max[c] + 2;
	for (const unsigned char *s = t->spare; s && *s && limit && isatty(STDOUT_FILENO) && before + LAST_MIN > limit; s++) {
		hidden[*s] = true;
		before -= max[*s] + 2;
	}
	for (size_t i = 0; i < t->n; i++) {
		size_t c = i % t->columns;

		if (hidden[c])
			continue;
		if (c + 1 < t->columns) {
			printf("%s%*s", t->cells[i], (int)(max[c] + 2 - width(t->cells[i])), "");
			continue;
		}
		if (before < limit)
			cut(t->cells[i], limit - before);
		printf("%s\n", t->cells[i]);
	}
	for (size_t i = 0; i < t->n; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){ 0 };
}

const char *when_text(char buf[WHEN_SIZE], int64_t wall_ms)
{
	time_t s = (time_t)(wall_ms / 1000);
	struct tm tm;

	if (wall_ms == 0 || !localtime_r(&s, &tm) || !strftime(buf, WHEN_SIZE, "%Y-%m-%d %H:%M:%S", &tm))
		(void)snprintf(buf, WHEN_SIZE, "-");
	return buf;
}

const char *when_ago(char buf[WHEN_SIZE], int64_t wall_ms, int64_t now_ms)
{
	if (wall_ms == 0)
		(void)snprintf(buf, WHEN_SIZE, "-");
	else
		lease_duration_human(buf, (now_ms - wall_ms) * LEASE_NS_PER_MS);
	return buf;
}

const char *when_left(char buf[WHEN_SIZE], int64_t wall_ms, int64_t now_ms)
{
	return wall_ms == 0 ? when_ago(buf, 0, 0) : when_ago(buf, now_ms, wall_ms);
}
