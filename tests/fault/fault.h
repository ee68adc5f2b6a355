/*
 * tests/fault/fault.h: system calls that fail when told to. The programs are linked with -Wl,--wrap for every
 * call, so that between fault_arm and fault_disarm the n-th of them fails.
 *
 *	fault_arm(&(struct fault){ .at = n, .error = EIO });
 *	e = lease_create(…);
 *	failed = fault_disarm();	0 = there was no n-th call: all have been tried
 */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include <stdbool.h>

struct fault {
	int at;        /* which call fails, 1 = the first; 0 = none */
	int error;     /* with this errno */
	bool for_good; /* and all after it, as on a disk that stays full; else once (sqlite's test_vfs has both) */
	/* What is missing, as on an older kernel: not counted as failures. */
	bool no_openat2, no_renameat2, no_tmpfile, no_proc;
	bool short_io; /* read and write move one byte at a time */
	/* What happens to come between two calls of ours. */
	void (*after_read)(void);
	bool ended; /* poll: what is waited for has happened */
};

void fault_arm(const struct fault *f);
/* How many calls were made to fail. */
int fault_disarm(void);
/* How many calls were counted since fault_arm. */
int fault_calls(void);

#endif
