/*
 * conf/sections.h: the settings in memory: for each section the values that its keys have, beside the line
 * each was written in.
 *
 * Who calls: parse.c fills, check.c compares, settings.c asks. Other code sees settings.h only.
 */
#ifndef CONF_SECTIONS_H
#define CONF_SECTIONS_H

#include "conf/options.h"

#define SECTIONS_MAX 400 /* every surface is checked against every profile */

struct value {
	int line; /* 0 = the file does not say it: the default, or inherited */
	int64_t num;
	char *text; /* as written; NULL = inherited, or none */
};
/* A key that is in no table: of [runtime NAME], or RUNTIME.KEY of a profile. */
struct own_key {
	int line;
	char runtime[LEASE_WORD_SIZE]; /* "" in [runtime NAME] */
	char key[LEASE_WORD_SIZE];
	char *text;
};
#define OWN_KEYS_MAX 64 /* a section */
struct section {
	const struct section_kind *kind;
	char name[LEASE_SURFACE_SIZE]; /* a surface or profile; "" = of the kinds without a name */
	int line;
	struct value values[OPTIONS_PER_SECTION]; /* in the order of the table's rows */
	size_t n_own;
	struct own_key *own;
};
struct settings {
	struct settings_daemon daemon;
	size_t n;
	struct section **sections;
};

/* With the sections that are always there, at their defaults. NULL: no memory. */
struct settings *sections_new(void);
/* Adds an empty one; NULL: no memory. */
struct section *sections_add(struct settings *s, const struct section_kind *kind, const char *name);
/* Takes text over as it is; -ENOMEM. */
int section_own_add(struct section *sec, int line, const char *runtime, const char *key, const char *text);
/* name "" for the kinds without one. NULL = no such. */
struct section *section_find(const struct settings *s, const char *word, const char *name);
/* The place of a key's value; NULL where the section has no such key. */
struct value *section_value(struct section *sec, const char *key);
/* The value that is in force where these sections (either may be NULL) stand over [defaults]; from (may be
 * NULL): whose it is. */
const struct value *value_in_force(const struct settings *s, struct section *surface, struct section *profile,
				   const char *key, const struct section **from);

#endif
