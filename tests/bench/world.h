/*
 * tests/bench/world.h: a daemon in user mode on a folder of its own, with as many leases as a bench needs.
 *
 * Calling sequence: world_open(); world_fill() any number of times; world_start(); … world_stop(); again world_fill() and
 * world_start() as often as needed; world_close(). The environment (HOME, XDG_*, KLEASE_NOTICES) is set for what is started
 * meanwhile.
 *
 * Leases that are made by the thousand are written as the daemon itself would have left them: a row in the registry, a lock in
 * active/, a state file. Their runtime is `bench`, which is tests/bench/stub: no process stands behind them, so what is
 * measured is the daemon's and not a workload's. Their beats and CPU: usage explicit, no warning, no hibernation.
 */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include <stdio.h>

#include "lease/id.h"
#include "lease/name.h"
#include "store/house.h"

struct world {
	char dir[300];
	struct house_paths paths;
	int active;    /* descriptor of notices/active; -1 before world_fill or world_start */
	pid_t actor;   /* the process that was started; 0 = none */
	pid_t watcher; /* its child */
	FILE *log;
	bool unshown;  /* leases were filled in whose state files are not written yet: the next start does it first */
};

struct world_lease {
	char id[LEASE_ID_SIZE], name[LEASE_NAME_SIZE];
};

struct world_times {
	int64_t ttl, renew_grace;
	int64_t hibernate_after; /* 0 = never */
	/* ago: how long before now its last renewal was; called for each lease with its number. NULL = now. */
	int64_t (*ago)(int i);
	const struct lease_process *leaders; /* one a lease: while it lives it renews. NULL = none */
};

/* How many leases a bench of many has: BENCH_LEASES, else 1,000,000 where BENCH_BIG is set, else 100,000. */
int world_size(int little);

/* conf: lines of the configuration. On disk: the tree and its registry on bench_disk instead of bench_dir. */
void world_open(struct world *w, const char *conf, bool on_disk);
void world_fill(struct world *w, const struct world_times *t, int n, struct world_lease *ret);
/* Gives the time from the exec to the line that says it watches. */
int64_t world_start(struct world *w);
/* Waits until watcher and actor have had nothing to do for a moment. */
void world_settle(const struct world *w);
void world_stop(struct world *w, int sig);
/* How many locks stand in active/. Where it must be n, else the bench has no figure: world_lives, which says so. */
int world_living(const struct world *w);
void world_lives(const struct world *w, int n, const char *when);
/* Bytes of memory of their own that watcher and actor have; bytes that they have written to disks. */
int64_t world_memory(const struct world *w);
int64_t world_written(const struct world *w);
int64_t world_registry_size(const struct world *w); /* bytes of its files on tmpfs; 0 on a disk */
/*
 * A child that touches each lease i of n with keep[i] set, every so often, until it is killed. world_flags gives memory that
 * both share.
 */
volatile bool *world_flags(int n);
/*
 * fork; it goes when we go. In a session of its own, as the daemon is and as holders are: where the kernel shares out CPU by
 * session (sched_autogroup), what the bench uses itself would else be taken from the daemon.
 */
pid_t world_child(void);
void world_child_end(pid_t pid);
void world_touch(const struct world *w, const struct world_lease *l); /* one beat; a lease that is gone is a failure */
pid_t world_keep(const struct world *w, const struct world_lease *l, int n, const volatile bool *keep, int64_t every);
void world_close(struct world *w);

#endif
