#include "config.h"

#include "klease/clock.h"

#include <limits.h>
#include <time.h>

#include "lease/duration.h"

static int64_t read_clock(clockid_t id)
{
	struct timespec t;

	(void)clock_gettime(id, &t);
	return (int64_t)t.tv_sec * LEASE_NS_PER_S + t.tv_nsec;
}

int64_t clock_mono(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t clock_wall_ms(void)
{
	return clock_wall() / LEASE_NS_PER_MS;
}

int clock_poll_ms(int64_t deadline)
{
	int64_t left;

	if (deadline == 0)
		return -1;
	left = deadline - clock_mono();
	if (left <= 0)
		return 0;
	left = (left + LEASE_NS_PER_MS - 1) / LEASE_NS_PER_MS;
	return left > INT_MAX ? INT_MAX : (int)left;
}
