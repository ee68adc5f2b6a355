/*
 * core/rest.h: a lease at rest: an active one that nothing happens to. Of its several KiB (struct lease, struct
 * entry) this is what a look and the verdict need; all else is in its registry row meanwhile. So a hundred
 * thousand leases that are beaten now and then take a few MiB.
 *
 * Who calls: leasewatch/rests.c. The verdict over a lease that was unpacked from here is the very verdict over the
 * lease that was packed: there is no second one. Pure.
 */
#ifndef CORE_REST_H
#define CORE_REST_H

#include "core/lease.h"

/* Of its policy, what the verdict over an active lease reads. Equal terms are equal in memory. */
struct rest_terms {
	int64_t ttl, renew_grace, warn_before, max_lifetime, usage;
};

struct rest {
	uint64_t key : 50;	/* of the id: ten characters of five bits */
	uint64_t peeked : 1;	/* looked at ahead of its time and not beaten: the next look is at the deadline itself */
	uint64_t seen : 1;	/* the scan under way has met its lock */
	uint64_t unshown : 1;	/* taken up at the start, and no state file of it was met yet */
	uint64_t taken : 1;	/* by a lease; else it is free */
	uint32_t uid;
	uint32_t terms, prefix; /* what many share: numbers of rests.c */
	uint32_t at;		 /* its place in the heap of what is due; of a free one, the next free one */
	uint64_t ino;
	int64_t mtime, created, renewed, used, restart_credit, looked, skew, last_beat_wall;
};

/*
 * Whether a lease may rest: active, held by nobody's life, with nothing under way and nothing said of it that only
 * struct lease can hold. What the caller knows beside (descriptors, what is to be written) is the caller's to ask.
 */
bool rest_may(const struct lease *l);
/* False: not an id. */
bool rest_key(const char *id, uint64_t *ret);
/* The marks of a lease that may rest. Leaves the caller's own fields of *ret alone. */
void rest_pack(const struct lease *l, struct rest *ret);
/*
 * Sets in *ret all that a look, the verdict and a beat read or change, and nothing else: a zeroed lease gets what
 * they need, one that was read from its row gets what is newer. prefix: the lock's name without the id.
 */
void rest_unpack(const struct rest *r, const struct rest_terms *t, const char *prefix, uint64_t dev, struct lease *ret);
struct rest_terms rest_terms(const struct policy *p);

#endif
