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

void config_write(bool bad)
{
	char text[2048];
	int n = snprintf(text, sizeof(text),
			 "[defaults]\n"
			 "ttl = %ds\nrenew_grace = %ds\nhibernate_after = %ds\nwarn_before = 30s\n"
			 "max_lifetime = %ds\nhibernated_retention = %ds\n"
			 "%s"
			 "[surface sshd]\nlinger = %ds\n"
			 "[profile lab]\nruntime = box\n"
			 "[profile flaky]\nruntime = flaky\n"
			 "[profile nowhere]\nruntime = nowhere\n"
			 "[observe]\nevery = %ds\n"
			 "[admission]\nqueue_timeout = %ds\nquota_leases = %s\n",
			 seconds(TTL_LOW, TTL_HIGH), seconds(GRACE_LOW, GRACE_HIGH), seconds(2 * MINUTE, 20 * MINUTE),
			 seconds(LIFE_LOW, LIFE_HIGH), seconds(RETENTION_LOW, RETENTION_HIGH), bad ? "ttl = soon\n" : "",
			 seconds(LINGER_LOW, LINGER_HIGH), seconds(10 * SEC, 30 * SEC),
			 seconds(4 * MINUTE, QUEUE_TIMEOUT_HIGH), one_in(4) ? "5" : "none");

	is_bad = bad;
	kernel_as(0);
	(void)kernel_unlink(CONFIG);
	int r = kernel_create(CONFIG, text, (size_t)n);
	if (r < 0)
		broken("the simulation", CONFIG ": %s", strerror(-r));
}
