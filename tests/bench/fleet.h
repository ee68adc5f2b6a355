/*
 * tests/bench/fleet.h: N leases, ttl 300 s, a beat each 30 s: what they cost the daemon.
 *
 * Their deadlines lie spread over the next ttl, as those of leases do that have lived for a while, so that a few seconds have
 * the share in looks that any other few seconds have. Each beats at a time of its own, from one process: what a beat costs its
 * holder is not the daemon's.
 */
#ifndef BENCH_FLEET_H
#define BENCH_FLEET_H

#include "tests/bench/world.h"

#define FLEET_TTL (300 * LEASE_NS_PER_S)
#define FLEET_BEAT (30 * LEASE_NS_PER_S)

struct fleet {
	struct world w;
	struct world_lease *leases;
	int n;
	/*
	 * One look finds a beat that is half a beat old on average, and moves the deadline to that beat + ttl: so often is a
	 * lease looked at by whoever looks as seldom as can be.
	 */
	int64_t period;
	pid_t beats;
	double kernel; /* bytes of kernel memory a lock */
	double start;  /* s, from exec to ready */
};

/* One span's figures. Of CPU: the share of a core. */
struct fleet_cost {
	double cpu;	/* watcher and actor */
	double bare;	/* the statx calls that it can't do without, at what they cost in a row */
	double paced;	/* the same calls, made as many at a time as come due between two wake-ups a second */
	double statx;	/* us of CPU, of one in a row */
	double wakes;	/* of the watcher, a second */
	double looks;	/* stats a lease and ttl; -1 = ptrace(2) is not allowed */
	double bytes;	/* written to disks, a second */
};

/* grace: its renew_grace; with FLEET_TTL the ttl is the only deadline. */
void fleet_open(struct fleet *f, int n, int64_t grace);
void fleet_measure(struct fleet *f, int64_t span, struct fleet_cost *ret);
void fleet_close(struct fleet *f);

#endif
