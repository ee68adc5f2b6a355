#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"

void errors_add(void *arg, const char *file, int line, const char *what)
{
	struct errors *e = arg;

	assert_non_null(file);
	assert_null(strchr(what, '\n'));
	assert_true((size_t)e->n < sizeof(e->each) / sizeof(*e->each));
	e->each[e->n].line = line;
	snprintf(e->each[e->n].what, sizeof(e->each[e->n].what), "%s", what);
	e->n++;
}

struct settings *read_text(const char *text, struct errors *e)
{
	struct errors own = {0};
	struct settings *s = NULL;
	int r;

	if (e)
		e->n = 0;
	r = settings_parse("t.conf", text, strlen(text), errors_add, e ? e : &own, &s);
	if (own.n > 0)
		fail_msg("t.conf:%d: %s", own.each[0].line, own.each[0].what);
	assert_int_equal(r < 0, s == NULL);
	return s;
}

void policies_are_equal(const struct policy *a, const struct policy *b)
{
	assert_int_equal(a->ttl, b->ttl);
	assert_int_equal(a->renew_grace, b->renew_grace);
	assert_int_equal(a->hibernate_after, b->hibernate_after);
	assert_int_equal(a->warn_before, b->warn_before);
	assert_int_equal(a->linger, b->linger);
	assert_int_equal(a->min_ttl, b->min_ttl);
	assert_int_equal(a->max_ttl, b->max_ttl);
	assert_int_equal(a->max_lifetime, b->max_lifetime);
	assert_int_equal(a->hibernated_retention, b->hibernated_retention);
	assert_int_equal(a->cpu_floor_ppm, b->cpu_floor_ppm);
	assert_int_equal(a->priority, b->priority);
	assert_int_equal(a->max_priority, b->max_priority);
	assert_int_equal(a->usage, b->usage);
	assert_string_equal(a->runtime, b->runtime);
}

int error_line(const struct errors *e, const char *part)
{
	int i;

	for (i = 0; i < e->n; i++)
		if (strstr(e->each[i].what, part))
			return e->each[i].line;
	return -1;
}

char *source_file(const char *path)
{
	char full[4096], *buf;
	size_t len;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", TOP_SRCDIR, path);
	f = fopen(full, "re");
	if (!f)
		fail_msg("%s is missing", full);
	buf = malloc(1 << 20);
	assert_non_null(buf);
	len = fread(buf, 1, (1 << 20) - 1, f);
	buf[len] = '\0';
	(void)fclose(f);
	return buf;
}

/* mdoc's escapes that a literal display needs. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (!strncmp(s, "\\&", 2)) {
			s += 2;
		} else if (!strncmp(s, "\\e", 2)) {
			*to++ = '\\';
			s += 2;
		} else if (!strncmp(s, "\\(aq", 4)) {
			*to++ = '\'';
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

char *manual_example(const char *manual, int n)
{
	const char *p = strstr(manual, "\n.Sh EXAMPLES\n"), *end, *from, *to;
	char *ret;

	assert_non_null(p);
	end = strstr(p + 1, "\n.Sh ");
	do {
		p = strstr(p + 1, "\n.Bd -literal");
		if (!p || (end && p > end))
			return NULL;
	} while (n-- > 0);
	from = strchr(p + 1, '\n') + 1;
	to = strstr(from, "\n.Ed");
	assert_non_null(to);
	ret = strndup(from, (size_t)(to + 1 - from));
	assert_non_null(ret);
	unescape(ret);
	return ret;
}
