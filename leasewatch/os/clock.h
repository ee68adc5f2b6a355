/*
 * os/clock.h: the one place of the daemon that reads a clock. Once a turn of the loop, right after the wait.
 */
#ifndef OS_CLOCK_H
#define OS_CLOCK_H

#include <stdint.h>

/*
 * The same instant on three clocks, ns. Deadlines live on mono (does not count suspend), exclusive leases on
 * boot, people on wall.
 */
struct clock_now {
	int64_t mono, boot, wall;
};
void clock_read(struct clock_now *ret);

#endif
