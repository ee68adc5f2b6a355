/*
 * conf/options.h: looking things up in the table of settings.h: a section's rows, a key, and what somebody
 * who mistyped one meant.
 */
#ifndef CONF_OPTIONS_H
#define CONF_OPTIONS_H

#include "conf/settings.h"

#define OPTIONS_PER_SECTION 28 /* a test holds the table to it */

struct section_kind {
	const char *word;
	bool named; /* [word NAME]; else [word], and there is always one */
	bool free;  /* its keys are the runtime's own: they are in no table */
};
extern const struct section_kind section_kinds[]; /* ends with word NULL */

const struct section_kind *section_kind_find(const char *word);
const struct section_kind *section_kind_nearest(const char *word);
/* The rows of a section stand together: the first of them, and how many. */
const struct option_row *option_rows(const char *section, size_t *ret_n);
/* The row of this key in this section; NULL = none. */
const struct option_row *option_find(const char *section, const char *name);
/* The key of this section whose spelling is nearest. */
const struct option_row *option_nearest(const char *section, const char *name);
/* A row of this name in whatever section; NULL = none. */
const struct option_row *option_elsewhere(const char *name);

#endif
