/*
 * tests/unit/conf/help.h: text in, errors out.
 */
#ifndef CONF_TEST_HELP_H
#define CONF_TEST_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conf/parse.h"

struct errors {
	int n;
	struct {
		int line;
		char what[400];
	} each[ERRORS_MAX + 2];
};

settings_error errors_add; /* arg: struct errors */
/* The settings that a text makes, or NULL; e (may be NULL: there must be no error) gets what was reported. */
struct settings *read_text(const char *text, struct errors *e);
/* Field by field: padding is nobody's. */
void policies_are_equal(const struct policy *a, const struct policy *b);
/* The line of the first error whose sentence holds this; -1 = none. */
int error_line(const struct errors *e, const char *part);
/* A file of the sources, whole, NUL-terminated, of malloc's. */
char *source_file(const char *path);
/* The n-th (from 0) literal display of a manual's .Sh EXAMPLES, as a reader sees it, of malloc's; NULL: there
 * is no such. */
char *manual_example(const char *manual, int n);

#endif
