/*
 * Fuzzes settings_parse: leasewatch.conf, which an administrator writes.
 *
 * Properties: no crash and no byte read beyond the text; it is refused exactly when something is reported;
 *each report is a sentence in plain ASCII on a line that exists; what is taken gives 0 < ttl <= max_ttl for
 *every section, and its dump reads back as the same dump.
 *
 * `make check` replays corpus/conf through replay.c, with any compiler. To look for more, with clang, from
 *the top folder:
 *
 *	clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -iquote .
 *-iquote leasewatch \
 *		-iquote BUILD $(pkg-config --cflags libbsd-overlay) tests/fuzz/fuzz_conf.c leasewatch/conf/?*.c
 *\ lease/record.c lease/kv.c lease/text.c lease/duration.c lease/id.c lease/name.c -linih -lbsd -o fuzz
 *	./fuzz -dict=tests/fuzz/conf.dict -max_len=4200 new-corpus tests/fuzz/corpus/conf
 *
 * BUILD is where config.h is. What it finds goes into corpus/conf under a name that says what it is.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/parse.h"
#include "tests/fuzz/fuzz.h"

static void need(int ok)
{
	if (!ok)
		abort();
}

struct seen {
	int reports, lines;
};

static void report(void *arg, const char *file, int line, const char *what)
{
	struct seen *s = arg;

	need(!strcmp(file, "fuzz"));
	need(line >= 0 && line <= s->lines);
	need(*what != '\0');
	for (; *what; what++)
		need(*what >= ' ' && *what <= '~');
	s->reports++;
}

static char *dump(const struct settings *s, size_t *ret_len)
{
	char *text;
	FILE *f = open_memstream(&text, ret_len);

	need(f != NULL);
	settings_dump(s, f);
	need(fclose(f) == 0);
	return text;
}

static void check_policies(const struct settings *s)
{
	struct policy p;
	size_t i, j;

	for (i = 0; i < s->n; i++)
		for (j = 0; j < s->n; j++) {
			bool surface = !strcmp(s->sections[i]->kind->word, "surface");
			bool profile = !strcmp(s->sections[j]->kind->word, "profile");

			need(settings_policy(s, surface ? s->sections[i]->name : "",
					     profile ? s->sections[j]->name : "", &p) == 0);
			need(p.ttl > 0 && p.ttl <= p.max_ttl && p.ttl >= p.min_ttl);
			need(p.renew_grace > 0 && p.hibernate_after > 0 && p.max_lifetime > 0 &&
			     p.hibernated_retention > 0);
			need(p.warn_before > 0 && p.linger >= 0 && p.cpu_floor_ppm > 0);
			need(p.priority >= 0 && p.priority <= 9 && p.max_priority >= 0 &&
			     p.max_priority <= 9);
			need(p.usage != LEASE_USAGE_UNSET && lease_word_valid(p.runtime));
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len ? len : 1), *first,
	     *second; /* of the very size, so that a sanitizer sees a byte too many */
	struct seen seen = {.lines = 1};
	struct settings *s, *back;
	size_t i, first_len, second_len;
	int r;

	need(text != NULL);
	memcpy(text, data, len);
	for (i = 0; i < len; i++)
		seen.lines += text[i] == '\n';
	r = settings_parse("fuzz", text, len, report, &seen, &s);
	free(text);
	need(r == 0 || r == -EINVAL);
	need((r < 0) == (seen.reports > 0));
	if (r < 0)
		return 0;
	check_policies(s);
	first = dump(s, &first_len);
	need(settings_parse("fuzz", first, first_len, report, &seen, &back) == 0);
	second = dump(back, &second_len);
	need(first_len == second_len && !memcmp(first, second, first_len));
	free(first);
	free(second);
	settings_free(s);
	settings_free(back);
	return 0;
}
