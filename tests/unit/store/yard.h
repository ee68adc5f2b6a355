/* tests/unit/store/yard.h: a house with one lock in it, moved about by the daemon's hand and by its owner's. */
#ifndef TESTS_STORE_YARD_H
#define TESTS_STORE_YARD_H

#include "store/locks.h"
#include "tests/unit/lease/scratch.h"

#define YARD_NAME "lock-cli-me-kls-abcdefghij"
#define YARD_RECORD "#leasewatch 1\nsurface=cli\n"
#define YARD_WALL (INT64_C(1800000000) * 1000000000) /* for archive/YYYY-MM-DD and names in the quarantine */

struct yard {
	struct scratch s;
	struct house h;
	struct lock_ref ref; /* as the daemon's last look left it */
};

/* The lock stands in active/, beaten a second ago and looked at since. */
int yard_setup(void **state);
int yard_teardown(void **state);
/* A beat of a second ago, and the daemon's look that sees it. */
void yard_age_and_look(struct yard *y);
struct lease_stat yard_stat(int dirfd, const char *name);

#endif
