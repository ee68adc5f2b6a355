/*
 * lease/error.h: filling a struct lease_error. Nobody outside lease/ includes this.
 */
#ifndef LEASE_ERROR_H
#define LEASE_ERROR_H

#include "lease/kv.h"

/* The sentence is a, b and c one after the other, cut where it does not fit. Gives -EINVAL, so that callers
 * can return it. */
int lease_error_set(struct lease_error *err, int line, const char *a, const char *b, const char *c);

#endif
