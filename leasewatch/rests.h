/*
 * rests.h: the leases at rest (core/rest.h), some 130 bytes each: found by id, and by when they are due.
 *
 * Two heaps say what is due. *Peeks*: to be looked at whether it was beaten; a look that comes early costs nothing, so one
 * wake-up serves many. *Exact*: found unbeaten ahead of its time; the next look is at its deadline, to the tick.
 *
 * Memory only: no lease is more or less on disk for resting. A number stands for a lease from rests_add to rests_remove.
 */
#ifndef RESTS_H
#define RESTS_H

#include "core/rest.h"
#include "heap.h"
#include "intern.h"
#include "slots.h"

#define RESTS_NONE SLOTS_NONE

struct rests {
	struct rest **slab; /* so many at a time: none of them ever moves */
	uint32_t n, end;    /* at rest; numbers given out so far */
	uint32_t free;	    /* the first free number; RESTS_NONE = all below end are taken */
	uint32_t n_slabs, size;
	uint64_t seed;
	uint64_t dev;	    /* the tree's: a lock of another file system does not rest */
	struct slots ids;
	struct intern terms, prefixes;
	struct heap peeks, exact;
};

void rests_begin(struct rests *s, uint64_t seed, uint64_t dev);
void rests_end(struct rests *s);
/* Room for n, as far as there is memory for it now. */
void rests_reserve(struct rests *s, uint32_t n);
uint32_t rests_find(const struct rests *s, const char *id);
/* One that may rest, and is not here yet. due LEASE_NEVER: only when something happens. -ENOMEM: it can't. */
int rests_add(struct rests *s, const struct lease *l, int64_t due, bool peeked, uint32_t *ret);
void rests_remove(struct rests *s, uint32_t n);
/* Sets of *l what rest_unpack sets. */
void rests_get(const struct rests *s, uint32_t n, struct lease *l);
/* What a look has changed in *l, as it came from rests_get. */
void rests_put(struct rests *s, uint32_t n, const struct lease *l);
void rests_due(struct rests *s, uint32_t n, int64_t due, bool peeked);
int64_t rests_due_at(const struct rests *s, uint32_t n);
bool rests_named(const struct rests *s, uint32_t n, const char *name); /* of one with the id that name ends in */
const struct rest_terms *rests_terms(const struct rests *s, uint32_t n);
struct rest *rests_at(const struct rests *s, uint32_t n);
/* All of them in the order of their numbers: the first that is n or greater; RESTS_NONE = there is none. */
uint32_t rests_next(const struct rests *s, uint32_t n);
/* When the first of them is due, in either heap; LEASE_NEVER. */
int64_t rests_first_due(const struct rests *s);

#endif
