/*
 * intern.h: what many leases share is kept once: equal bytes have one number, which stands for as many as took it.
 */
#ifndef INTERN_H
#define INTERN_H

#include <stddef.h>

#include "slots.h"

struct interned;

struct intern {
	struct interned **v; /* by number; NULL = free */
	uint32_t n, size;    /* numbers given out, room */
	uint32_t last;	     /* the one that was taken last: often the next, too */
	uint32_t free;	     /* the last number that was freed; SLOTS_NONE = none */
	uint64_t seed;
	struct slots index;
};

void intern_begin(struct intern *t, uint64_t seed);
/* The number of these bytes, which are copied when they are new. -ENOMEM. */
int intern_take(struct intern *t, const void *bytes, size_t len, uint32_t *ret);
void intern_drop(struct intern *t, uint32_t number);
const void *intern_bytes(const struct intern *t, uint32_t number);
void intern_end(struct intern *t);

#endif
