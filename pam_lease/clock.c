#include "config.h"

#include <time.h>

#include "pam_lease/login.h"

int64_t clock_wall_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
