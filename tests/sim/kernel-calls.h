/* tests/sim/kernel-calls.h: a program of calls, drawn from a seed, that can be made in the real kernel and in
 * the machine. */
#ifndef SIM_KERNEL_CALLS_H
#define SIM_KERNEL_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SLOTS 6
#define DIRS 3 /* the top, x, y */
#define LINES 12000
#define LINE 200

struct run {
	const char *top;
	bool simulated;
	int dirs[DIRS], slots[SLOTS], inotify, epoll;
	uint32_t cookies[2];
	char (*lines)[LINE];
	int n;
	uint64_t random;
	int calls;
	uid_t uid;
	gid_t gid;
};

int program(void *run);
/* More events than a queue holds: what is left of them, and what is said of the rest. */
int overflow(void *run);

#endif
