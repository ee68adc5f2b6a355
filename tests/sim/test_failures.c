/*
 * tests/sim/test_failures: one thing alone goes wrong in a short life, at each place where it can: a call, memory, a read,
 * write or sync of the registry. The daemon goes on, or ends and is started anew: no lease ends before its time, and each
 * does in the end.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/moment.h"
#include "watcher.h"

#define ALMOST (S / 100)
#define UNTIL 1500
#define HELD 60 /* until then they are beaten, or their leaders live */

enum { SESSION, BOUND, BEATEN, LED, RELEASED, SLEEPS, USED };

static struct {
	enum kernel_one kind;
	uint64_t nth;
} one;

static void fail_one(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	kernel_fail_one(one.kind, one.nth);
}

/* False: nothing failed, there is less of that than so many. */
static bool life(const char *moment)
{
	static char other[] = SETTINGS "max_ttl = 10m\nhibernate_after = 4m\n";

	begin(moment, SETTINGS "hibernate_after = 5m\nlinger = 20s\n");
	now.caps = ACT_CAP_HIBERNATE_FROZEN;
	if (one.nth % 4 == 3)
		of_the_user();
	at(0, fail_one, NULL, 0);
	at(5, make_session, &now.leases[SESSION], 0);
	at(6, make_bound, &now.leases[BOUND], TTL);
	at(7, make, &now.leases[BEATEN], TTL);
	at(8, make_led, &now.leases[LED], TTL);
	at(9, make, &now.leases[RELEASED], TTL);
	at(9, make, &now.leases[SLEEPS], 700 * S);
	at(10, make, &now.leases[USED], TTL);
	at(15, beat, &now.leases[BEATEN], 5);
	at(20, exec, &now.leases[USED], 0);
	at(30, reload, other, 0);
	at(35, release, &now.leases[RELEASED], 0);
	at(40, kill_it, NULL, 0);
	at(HELD, end_leader, NULL, 0);
	live_on(UNTIL);
	bool failed = kernel_failed(one.kind);
	for (int i = BOUND; i <= USED; i++) {
		const struct held *h = &now.leases[i];
		if (i == LED && h->denied) /* its leader could not be followed */
			continue;
		RIGHT(h->created >= 1);
		RIGHT(h->destroys >= 1);
		if (i == BEATEN || i == USED)
			RIGHT(h->destroyed_at >= h->last_beat + TTL - ALMOST);
		if (i == LED)
			RIGHT(h->destroyed_at >= now.ended_at);
	}
	RIGHT(now.troubles == 0);
	kernel_free();
	return failed;
}

static void whatever_fails_once_every_lease_ends_and_none_too_early(enum kernel_one kind, uint64_t step)
{
	one.kind = kind;
	for (one.nth = 1; life(__func__); one.nth += step)
		;
	if (getenv("VERBOSE"))
		printf("%d: %llu\n", kind, (unsigned long long)one.nth);
	RIGHT(one.nth > 10);
}

/* STEP: each so many'th of them; 1 = all. */
int main(int argc, char **argv)
{
	uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 11;

	whatever_fails_once_every_lease_ends_and_none_too_early(ONE_CALL, step);
	whatever_fails_once_every_lease_ends_and_none_too_early(ONE_ALLOCATION, step);
	whatever_fails_once_every_lease_ends_and_none_too_early(ONE_OF_SQLITE, 7 * step);
	whatever_fails_once_every_lease_ends_and_none_too_early(ONE_READ, step);
	whatever_fails_once_every_lease_ends_and_none_too_early(ONE_WRITE, step);
	whatever_fails_once_every_lease_ends_and_none_too_early(ONE_SYNC, step);
	return 0;
}
