/*
 * core/fields.h: reading small key=value files into structs, for view.c, ask.c and beacon.c. Nobody else includes it.
 */
#ifndef CORE_FIELDS_H
#define CORE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "lease/kv.h"

/* Copies what fits. */
void fields_copy(char *to, size_t size, const char *from);
/* Fills err in; gives -EINVAL. */
int fields_bad(struct lease_error *err, int line, const char *what);
/* The pair's value as a decimal number of at most max, or -EINVAL with err filled in. */
int fields_number(const struct lease_pair *p, uint64_t max, uint64_t *ret, struct lease_error *err);
/* Gives every pair of a file to take(), until one is refused. */
int fields_read(const char *buf, size_t len, size_t max, void *what, struct lease_error *err,
		int (*take)(void *what, const struct lease_pair *p, struct lease_error *err));

#endif
