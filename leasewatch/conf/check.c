/*
 * conf/check.c: rules between keys.
 *
 * A section that contradicts itself is an error. A section whose limit cuts off what a more general one says
 * is not: limits are there to cut (core/policy.c). But limits that exclude each other are an error wherever
 * they meet.
 */
#include "config.h"

#include <string.h>

#include "conf/parse.h"
#include "lease/duration.h"

static int later(const struct value *a, const struct value *b)
{
	return a->line > b->line ? a->line : b->line;
}

static void check_section(struct section *sec, struct report *r)
{
	const struct value *ttl = section_value(sec, "ttl"), *min = section_value(sec, "min_ttl");
	const struct value *max = section_value(sec, "max_ttl"), *warn = section_value(sec, "warn_before");
	int64_t ignored;

	if (ttl->line == 0 || ttl->num == 0)
		return;
	if (min->line > 0 && lease_ttl_check(ttl->num, min->num, LEASE_NEVER, &ignored) == LEASE_TTL_RAISED)
		report_error(r, later(ttl, min), "ttl = %s (line %d) is shorter than min_ttl = %s (line %d)",
			     ttl->text, ttl->line, min->text, min->line);
	if (max->line > 0 && max->num > 0 &&
	    lease_ttl_check(ttl->num, 0, max->num, &ignored) == LEASE_TTL_CAPPED)
		report_error(r, later(ttl, max), "ttl = %s (line %d) is longer than max_ttl = %s (line %d)",
			     ttl->text, ttl->line, max->text, max->line);
	if (warn->line > 0 && warn->num >= ttl->num)
		report_error(r, later(ttl, warn),
			     "warn_before = %s (line %d) must be shorter than ttl = %s (line %d): a lease "
			     "would be warned as it begins",
			     warn->text, warn->line, ttl->text, ttl->line);
}

/* For these two sections (or one, or none) over [defaults]; each meeting of two values is reported once. */
static void check_limits(const struct settings *s, struct section *surface, struct section *profile,
			 struct report *r)
{
	const struct section *min_of, *max_of;
	const struct value *min = value_in_force(s, surface, profile, "min_ttl", &min_of);
	const struct value *max = value_in_force(s, surface, profile, "max_ttl", &max_of);

	if (surface && min_of != surface && max_of != surface)
		return;
	if (profile && min_of != profile && max_of != profile)
		return;
	if (min->num <= max->num || max->num == 0)
		return;
	if (max->line > 0 && min->line > 0)
		report_error(r, later(min, max),
			     "min_ttl = %s (line %d) is longer than max_ttl = %s (line %d)", min->text,
			     min->line, max->text, max->line);
	else
		report_error(r, later(min, max), "min_ttl = %s is longer than max_ttl = %s%s", min->text,
			     max->text, max->line > 0 ? "" : ", its default");
}

/* What is said to another runtime than the profile's would be said to nobody. */
static void check_own(const struct settings *s, struct section *profile, struct report *r)
{
	const struct value *runtime = value_in_force(s, NULL, profile, "runtime", NULL);

	for (size_t i = 0; i < profile->n_own; i++)
		if (strcmp(profile->own[i].runtime, runtime->text) != 0)
			report_error(r, profile->own[i].line, "%s.%s: the runtime of [profile %s] is %s", profile->own[i].runtime,
				     profile->own[i].key, profile->name, runtime->text);
}

void settings_check(const struct settings *s, struct report *r)
{
	size_t i, j;

	check_limits(s, NULL, NULL, r);
	for (i = 0; i < s->n; i++) {
		struct section *a = s->sections[i];
		bool surface = !strcmp(a->kind->word, "surface");

		if (!strcmp(a->kind->word, "defaults") || (a->kind->named && !a->kind->free))
			check_section(a, r);
		if (!strcmp(a->kind->word, "profile"))
			check_own(s, a, r);
		if (!a->kind->named || a->kind->free)
			continue;
		check_limits(s, surface ? a : NULL, surface ? NULL : a, r);
		for (j = 0; surface && j < s->n; j++)
			if (!strcmp(s->sections[j]->kind->word, "profile"))
				check_limits(s, a, s->sections[j], r);
	}
}
