/*
 * conf/parse.c: libinih splits a line into key and value; what is a line, a section, too long or no text at
 * all is decided here.
 *
 * libinih calls nobody for a section, tells no line number, reports the first bad line only, cuts a section's
 * name after 49 bytes, takes an indented line for a continuation, and hands on a line longer than its buffer
 * (200 bytes as Debian builds it) in pieces, as if each were a line. So it reads through reader(), one line a
 * call, stripped and looked at, and line numbers are counted there.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "conf/parse.h"
#include "conf/value.h"

struct parser {
	struct settings *s;
	struct report report;
	const char *at, *end;
	int line;
	struct section *section;     /* NULL = none yet, or a bad one: then skip */
	bool skip;                   /* keys of a section that was refused: one error is enough */
	bool asked;                  /* this line went to libinih as key = value and has not come back */
	char text[VALUE_QUOTE_SIZE]; /* … and how it began */
	bool no_memory;
};

void report_error(struct report *r, int line, const char *fmt, ...)
{
	char what[400];
	va_list ap;

	if (r->n++ >= ERRORS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	r->each(r->arg, r->file, line, what);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* "word NAME" between the brackets, taken apart in place. */
static void enter_section(struct parser *p, char *inside)
{
	size_t word_len = strcspn(inside, " \t");
	const struct section_kind *kind;
	char *name = inside + word_len;
	char q[VALUE_QUOTE_SIZE];
	struct section *sec;

	p->section = NULL;
	p->skip = true;
	while (is_blank(*name))
		*name++ = '\0';
	kind = section_kind_find(inside);
	if (!kind) {
		kind = section_kind_nearest(inside);
		report_error(&p->report, p->line, "unknown section [%s]: the nearest is [%s%s]",
			     value_quote(q, inside), kind->word, kind->named ? " NAME" : "");
		return;
	}
	if (kind->named && !*name) {
		report_error(&p->report, p->line, "section [%s] needs a name: [%s NAME]", kind->word,
			     kind->word);
		return;
	}
	if (!kind->named && *name) {
		report_error(&p->report, p->line, "section [%s] has no name: write [%s]", kind->word,
			     kind->word);
		return;
	}
	if (kind->named &&
	    !(strcmp(kind->word, "surface") ? lease_word_valid(name) : lease_surface_valid(name))) {
		report_error(&p->report, p->line, "'%s' is no name of a %s: %s", value_quote(q, name),
			     kind->word,
			     strcmp(kind->word, "surface")
				 ? "1-32 of a-z 0-9 _ -, beginning with a letter"
				 : "1-32 of A-Z a-z 0-9 _ . -, beginning with a letter or digit");
		return;
	}
	sec = section_find(p->s, kind->word, name);
	if (sec && sec->line > 0) {
		report_error(&p->report, p->line, "section [%s%s%s] is there twice: line %d has the first",
			     kind->word, *name ? " " : "", name, sec->line);
	} else if (!sec) {
		if (p->s->n >= SECTIONS_MAX) {
			report_error(&p->report, p->line, "more than %d sections", SECTIONS_MAX);
			return;
		}
		sec = sections_add(p->s, kind, name);
		if (!sec) {
			p->no_memory = true;
			return;
		}
	}
	if (sec->line == 0)
		sec->line = p->line;
	p->section = sec;
	p->skip = false;
}

static void section_line(struct parser *p, char *line)
{
	char *end = strchr(line, ']'), *rest, *inside = line + 1;

	p->section = NULL;
	p->skip = true;
	if (!end) {
		report_error(&p->report, p->line, "a section's name ends with ]");
		return;
	}
	rest = end + 1;
	if (*rest && !(is_blank(*rest) && rest[strspn(rest, " \t")] == ';')) {
		report_error(&p->report, p->line, "text after ]: a section stands alone in its line");
		return;
	}
	while (end > inside && is_blank(end[-1]))
		end--;
	*end = '\0';
	inside += strspn(inside, " \t");
	enter_section(p, inside);
}

static void unknown_key(struct parser *p, const char *key)
{
	const char *word = p->section->kind->word;
	const struct option_row *other = option_elsewhere(key);
	char q[VALUE_QUOTE_SIZE];

	if (other)
		report_error(&p->report, p->line, "unknown key '%s' in [%s]: its place is [%s]",
			     value_quote(q, key), word, other->section);
	else
		report_error(&p->report, p->line, "unknown key '%s' in [%s]: the nearest is '%s'",
			     value_quote(q, key), word, option_nearest(word, key)->name);
}

/* The name in the environment is what may stand once: a-b and a_b are one. */
static bool same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;
	return *a == *b;
}

/* KEY of [runtime NAME], RUNTIME.KEY of [profile NAME]. */
static void set_own_key(struct parser *p, const char *runtime, const char *key, const char *text)
{
	struct section *sec = p->section;
	const struct option_row *row = *runtime ? option_find("profile", key) : NULL;
	char q[VALUE_QUOTE_SIZE];

	if (!lease_word_valid(key) || (*runtime && !lease_word_valid(runtime))) {
		report_error(&p->report, p->line,
			     "'%s' is no key of a runtime's own: 1-32 of a-z 0-9 _ -, beginning with a letter",
			     value_quote(q, key));
		return;
	}
	if (row && row->type >= OPT_LINE) {
		report_error(&p->report, p->line, "%s.%s: write %s = , which is every runtime's", runtime, key, key);
		return;
	}
	if (!*text) {
		report_error(&p->report, p->line, "%s has no value", key);
		return;
	}
	for (size_t i = 0; i < sec->n_own; i++)
		if (!strcmp(sec->own[i].runtime, runtime) && same_word(sec->own[i].key, key)) {
			report_error(&p->report, p->line, "%s is there twice in this section: line %d has the first", key,
				     sec->own[i].line);
			return;
		}
	if (sec->n_own >= OWN_KEYS_MAX)
		report_error(&p->report, p->line, "more than %d keys of a runtime's own", OWN_KEYS_MAX);
	else if (section_own_add(sec, p->line, runtime, key, text) < 0)
		p->no_memory = true;
}

/* True: it was one of a runtime's own keys, or meant to be. */
static bool own_key(struct parser *p, const char *key, const char *text)
{
	const char *dot = strchr(key, '.');
	char runtime[LEASE_SURFACE_SIZE];

	if (p->section->kind->free) {
		set_own_key(p, "", key, text);
		return true;
	}
	if (!dot || strcmp(p->section->kind->word, "profile") != 0)
		return false;
	if ((size_t)(dot - key) >= sizeof(runtime))
		dot = key; /* no name is that long: refused as none */
	snprintf(runtime, sizeof(runtime), "%.*s", (int)(dot - key), key);
	set_own_key(p, *runtime ? runtime : ".", dot + 1, text);
	return true;
}

static void set_key(struct parser *p, const char *key, const char *text)
{
	const struct option_row *row = option_find(p->section->kind->word, key);
	struct value *v = section_value(p->section, key);
	char what[VALUE_WHAT_SIZE], *copy;
	int64_t num;

	if (!row && own_key(p, key, text))
		return;
	if (!row) {
		unknown_key(p, key);
		return;
	}
	if (v->line > 0) {
		if (row->type == OPT_PATH)
			report_error(&p->report, p->line,
				     "%s: more than one tree is not supported yet: line %d has the first",
				     key, v->line);
		else
			report_error(&p->report, p->line,
				     "%s is there twice in this section: line %d has the first", key,
				     v->line);
		return;
	}
	v->line = p->line;
	v->num = 0; /* what is wrong is compared with nothing */
	if (!*text) {
		report_error(&p->report, p->line, "%s has no value%s%s", key,
			     row->deflt ? ": the default is " : "", row->deflt ? row->deflt : "");
		return;
	}
	if (value_parse(row, text, &num, what) < 0) {
		report_error(&p->report, p->line, "%s: %s", key, what);
		return;
	}
	copy = strdup(text);
	if (!copy) {
		p->no_memory = true;
		return;
	}
	free(v->text);
	v->text = copy;
	v->num = num;
}

/* libinih has split the line that reader() gave it last. */
static int handler(void *user, const char *section, const char *key, const char *text)
{
	struct parser *p = user;

	(void)section; /* cut after 49 bytes: reader() knows better */
	p->asked = false;
	if (!*key)
		report_error(&p->report, p->line, "no key before the =");
	else if (p->section)
		set_key(p, key, text);
	else if (!p->skip)
		report_error(&p->report, p->line,
			     "a key before the first section: write [defaults] or another above it");
	return 1;
}

/* The line before was no key = value: libinih called nobody. */
static void unanswered(struct parser *p)
{
	if (p->asked)
		report_error(&p->report, p->line, "'%s' is neither [section] nor key = value nor a comment",
			     p->text);
	p->asked = false;
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 127)
			return true;
	return false;
}

/* For ini_parse_stream: fgets(3)'s contract. Lines that are none of libinih's business become empty ones. */
static char *reader(char *str, int num, void *stream)
{
	struct parser *p = stream;
	const char *from, *to, *eol;
	size_t len, max = (size_t)num - 3; /* ini.h: "3 more than the longest line" */

	unanswered(p);
	if (p->at == p->end || p->no_memory)
		return NULL;
	p->line++;
	eol = memchr(p->at, '\n', (size_t)(p->end - p->at));
	from = p->at;
	to = eol ? eol : p->end;
	p->at = eol ? eol + 1 : p->end;
	while (to > from && (is_blank(to[-1]) || to[-1] == '\r'))
		to--;
	while (from < to && is_blank(*from))
		from++;
	len = (size_t)(to - from);
	memcpy(str, "\n", 2);
	if (len == 0 || *from == '#' || *from == ';')
		return str;
	if (len > max) {
		report_error(&p->report, p->line, "the line is too long: at most %zu bytes", max);
		return str;
	}
	memcpy(str, from, len);
	str[len] = '\0';
	if (has_control(str)) {
		report_error(&p->report, p->line, "a control character in the line");
		memcpy(str, "\n", 2);
	} else if (*str == '[') {
		section_line(p, str);
		memcpy(str, "\n", 2);
	} else {
		p->asked = true;
		value_quote(p->text, str);
		memcpy(str + len, "\n", 2);
	}
	return str;
}

static void fill_breaker(struct settings *s)
{
	struct section *breaker = section_find(s, "breaker", "");
	const struct value *hold = section_value(breaker, "hold");

	if (!hold->text)
		hold = section_value(section_find(s, "defaults", ""), "ttl");
	s->daemon.breaker = (struct breaker_rule){ .share = section_value(breaker, "share")->num,
						   .minimum = section_value(breaker, "minimum")->num,
						   .window = section_value(breaker, "window")->num,
						   .hold = hold->num };
}

static void fill_daemon(struct settings *s)
{
	struct section *daemon = section_find(s, "daemon", ""), *admission = section_find(s, "admission", "");
	const struct value *notices = section_value(daemon, "notices");
	struct settings_daemon *d = &s->daemon;

	snprintf(d->user, sizeof(d->user), "%s", section_value(daemon, "user")->text);
	if (notices->text) {
		snprintf(d->notices[0], sizeof(d->notices[0]), "%s", notices->text);
		d->n_notices = 1;
	}
	d->network = section_value(daemon, "network")->num != 0;
	d->archive_keep = section_value(daemon, "archive_keep")->num;
	d->queue_timeout = section_value(admission, "queue_timeout")->num;
	d->quota_leases = (int)section_value(admission, "quota_leases")->num;
	d->observe_every = section_value(section_find(s, "observe", ""), "every")->num;
	fill_breaker(s);
}

static int line_of(const char *buf, const char *at)
{
	int line = 1;

	for (; buf < at; buf++)
		line += *buf == '\n';
	return line;
}

int settings_parse(const char *file, const char *buf, size_t len, settings_error *each, void *arg,
		   struct settings **ret)
{
	struct parser p = {.report = {.each = each, .arg = arg, .file = file}, .at = buf, .end = buf + len};
	const char *nul = len > 0 ? memchr(buf, '\0', len) : NULL;
	int r = 0;

	p.s = sections_new();
	if (!p.s)
		return -ENOMEM;
	if (len >= 3 && !memcmp(buf, "\xef\xbb\xbf", 3)) /* UTF-8's mark: some editors put it there */
		p.at += 3;
	if (nul) {
		report_error(&p.report, line_of(buf, nul), "a NUL byte: this is no text in ASCII or UTF-8");
	} else {
		(void)ini_parse_stream(reader, &p, handler, &p);
		settings_check(p.s, &p.report);
	}
	if (p.report.n > ERRORS_MAX) {
		unsigned more = p.report.n - ERRORS_MAX;

		p.report.n = 0;
		report_error(&p.report, 0, "and %u more errors", more);
	}
	if (p.no_memory)
		r = -ENOMEM;
	else if (p.report.n > 0)
		r = -EINVAL;
	if (r < 0) {
		settings_free(p.s);
		return r;
	}
	fill_daemon(p.s);
	*ret = p.s;
	return 0;
}
