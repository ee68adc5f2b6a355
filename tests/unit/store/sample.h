/* tests/unit/store/sample.h: a lease with something in every stored field, and the lines of its life. */
#ifndef TESTS_STORE_SAMPLE_H
#define TESTS_STORE_SAMPLE_H

#include "store/registry.h"

/* The n-th of them, ACTIVE, with an id of its own. */
void sample_lease(struct lease *l, int n);
/* Same stored part. */
bool sample_same(const struct lease *a, const struct lease *b);
/* The line that brings l to its present state. */
void sample_line(struct ledger_row *row, const struct lease *l, const char *from);

#endif
