/* tests/sim/config.c: leasewatch.conf in variants, between the numbers of world.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/world.h"

static int seconds(int64_t low, int64_t high)
{
	static const int thirds = 3;

	return (int)((low + (high - low) * between(0, thirds) / thirds) / SEC);
}

static bool is_bad;

/* A daemon that is to begin needs one that it can read. */
void config_mend(void)
{
	if (is_bad)
		config_write(false);
}

/* What moves no end beyond world.h's numbers; each of them in some. */
static const char *some(const char *lines)
{
	return one_in(4) ? lines : "";
}

void config_write(bool bad)
{
	char text[2048];
	int n = snprintf(text, sizeof(text),
			 "[defaults]\n"
			 "ttl = %ds\nrenew_grace = %ds\nhibernate_after = %ds\nwarn_before = 30s\n"
			 "max_lifetime = %ds\nhibernated_retention = %ds\n"
			 "%s%s%s%s%s%s"
			 "[surface sshd]\nlinger = %ds\n"
			 "[profile flaky]\nruntime = flaky\n[profile nowhere]\nruntime = nowhere\n"
			 "[profile lab]\nruntime = box\n%s"
			 "[observe]\nevery = %ds\n%s"
			 "[admission]\nqueue_timeout = %ds\nquota_leases = %s\n"
			 "[breaker]\n%s%s%s"
			 "[daemon]\n%s",
			 seconds(TTL_LOW, TTL_HIGH), seconds(GRACE_LOW, GRACE_HIGH), seconds(2 * MINUTE, 20 * MINUTE),
			 seconds(LIFE_LOW, LIFE_HIGH), seconds(RETENTION_LOW, RETENTION_HIGH), bad ? "ttl = soon\n" : "",
			 some("max_ttl = 14m\n"), some("min_ttl = 25s\n"), some("priority = 2\n"), some("max_priority = 4\n"),
			 some(one_in(2) ? "usage = explicit\n" : "usage = observed\n"),
			 seconds(LINGER_LOW, LINGER_HIGH), some("cpu_floor = 0.1%\n"), seconds(10 * SEC, 30 * SEC),
			 some("cpu_floor = 50%\n"), seconds(4 * MINUTE, QUEUE_TIMEOUT_HIGH), one_in(4) ? "5" : "none",
			 some("minimum = 1\n"), some("hold = 3m\n"), some("window = 4m\nshare = 0.2\n"),
			 some("archive_keep = 2h\n"));

	is_bad = bad;
	kernel_as(0);
	(void)kernel_unlink(CONFIG);
	int r = kernel_create(CONFIG, text, (size_t)n);
	if (r < 0)
		broken("the simulation", CONFIG ": %s", strerror(-r));
}
