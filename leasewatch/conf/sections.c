#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/sections.h"
#include "conf/value.h"

static int defaults_fill(struct section *sec)
{
	char what[VALUE_WHAT_SIZE];
	size_t n, i;
	const struct option_row *rows = option_rows(sec->kind->word, &n);

	for (i = 0; i < n; i++) {
		if (!rows[i].deflt)
			continue;
		/* A default that is no value of its key cannot pass the tests. */
		if (value_parse(&rows[i], rows[i].deflt, &sec->values[i].num, what) < 0)
			abort();
		sec->values[i].text = strdup(rows[i].deflt);
		if (!sec->values[i].text)
			return -1;
	}
	return 0;
}

_Static_assert(LEASE_SURFACE_SIZE >= LEASE_WORD_SIZE, "a section's name holds either");

struct section *sections_add(struct settings *s, const struct section_kind *kind, const char *name)
{
	struct section **grown, *sec;

	grown = reallocarray(s->sections, s->n + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	s->sections = grown;
	sec = calloc(1, sizeof(*sec));
	if (!sec)
		return NULL;
	sec->kind = kind;
	snprintf(sec->name, sizeof(sec->name), "%s", name);
	s->sections[s->n++] = sec;
	return sec;
}

struct settings *sections_new(void)
{
	const struct section_kind *k;
	struct settings *s = calloc(1, sizeof(*s));
	struct section *sec;

	if (!s)
		return NULL;
	for (k = section_kinds; k->word; k++) {
		if (k->named)
			continue;
		sec = sections_add(s, k, "");
		if (!sec || defaults_fill(sec) < 0) {
			settings_free(s);
			return NULL;
		}
	}
	return s;
}

void settings_free(struct settings *s)
{
	size_t i, j;

	if (!s)
		return;
	for (i = 0; i < s->n; i++) {
		for (j = 0; j < OPTIONS_PER_SECTION; j++)
			free(s->sections[i]->values[j].text);
		for (j = 0; j < s->sections[i]->n_own; j++)
			free(s->sections[i]->own[j].text);
		free(s->sections[i]->own);
		free(s->sections[i]);
	}
	free(s->sections);
	free(s);
}

int section_own_add(struct section *sec, int line, const char *runtime, const char *key, const char *text)
{
	struct own_key *grown = reallocarray(sec->own, sec->n_own + 1, sizeof(*grown)), *own;

	if (!grown)
		return -ENOMEM;
	sec->own = grown;
	own = &grown[sec->n_own];
	*own = (struct own_key){.line = line, .text = strdup(text)};
	if (!own->text)
		return -ENOMEM;
	snprintf(own->runtime, sizeof(own->runtime), "%s", runtime);
	snprintf(own->key, sizeof(own->key), "%s", key);
	sec->n_own++;
	return 0;
}

struct section *section_find(const struct settings *s, const char *word, const char *name)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->sections[i]->kind->word, word) && !strcmp(s->sections[i]->name, name))
			return s->sections[i];
	return NULL;
}

struct value *section_value(struct section *sec, const char *key)
{
	size_t n;
	const struct option_row *rows = option_rows(sec->kind->word, &n),
				*row = option_find(sec->kind->word, key);

	return row ? &sec->values[row - rows] : NULL;
}

const struct value *value_in_force(const struct settings *s, struct section *surface, struct section *profile,
				   const char *key, const struct section **from)
{
	/* What is nearest to the lease speaks first. cpu_floor's default stands in [observe]. */
	struct section *chain[] = {profile, surface, section_find(s, "defaults", ""),
				   section_find(s, "observe", "")};
	size_t i;

	for (i = 0; i < sizeof(chain) / sizeof(*chain); i++) {
		struct value *v = chain[i] ? section_value(chain[i], key) : NULL;

		if (!v || !v->text)
			continue;
		if (from)
			*from = chain[i];
		return v;
	}
	return NULL;
}
