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

/*
 * We may be stopped between two of them. With mono read last, a beat's stamp can only seem younger for that, by as long
 * as we stood still: a holder loses nothing by it.
 */
void clock_read(struct clock_now *ret)
{
	ret->wall = read_one(CLOCK_REALTIME);
	ret->boot = read_one(CLOCK_BOOTTIME);
	ret->mono = read_one(CLOCK_MONOTONIC);
}
