#include "config.h"

#include "os/clock.h"

#include <time.h>

#include "lease/duration.h"

static int64_t read_one(clockid_t id)
{
	struct timespec ts;

	/* These three clocks exist on every kernel that has pidfds; the call cannot fail with a good pointer.
	 */
	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * LEASE_NS_PER_S + ts.tv_nsec;
}

void clock_read(struct clock_now *ret)
{
	ret->mono = read_one(CLOCK_MONOTONIC);
	ret->boot = read_one(CLOCK_BOOTTIME);
	ret->wall = read_one(CLOCK_REALTIME);
}
