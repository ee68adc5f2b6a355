/*
 * conf/parse.h: the text of a leasewatch.conf, in memory, to settings. Every error is reported with its line;
 * then there are no settings.
 */
#ifndef CONF_PARSE_H
#define CONF_PARSE_H

#include "conf/sections.h"

#define ERRORS_MAX 100 /* reported; the rest are counted */

struct report {
	settings_error *each;
	void *arg;
	const char *file;
	unsigned n; /* errors so far */
};
void report_error(struct report *r, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* 0, -EINVAL (reported) or -ENOMEM. file is for messages. */
int settings_parse(const char *file, const char *buf, size_t len, settings_error *each, void *arg,
		   struct settings **ret);
/* The rules between keys (check.c): min_ttl <= ttl <= max_ttl, warn_before < ttl. */
void settings_check(const struct settings *s, struct report *r);

#endif
