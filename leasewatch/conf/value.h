/*
 * conf/value.h: one value of leasewatch.conf, as written, to the number it stands for. Pure: no file, no
 * line.
 */
#ifndef CONF_VALUE_H
#define CONF_VALUE_H

#include "conf/settings.h"

#define VALUE_WHAT_SIZE 200

/*
 * 0 and the number (ns, millionths of a core, an integer, an enum lease_usage; 0 for text), or -EINVAL with
 * what is wrong, and what is right, in what. `never` gives LEASE_NEVER; `none` 0 for a duration and -1 for an
 * integer.
 */
int value_parse(const struct option_row *row, const char *text, int64_t *ret, char what[VALUE_WHAT_SIZE]);
/* Text out of a file for a message: printable ASCII only, cut. Gives buf. */
#define VALUE_QUOTE_SIZE 48
const char *value_quote(char buf[VALUE_QUOTE_SIZE], const char *s);

#endif
