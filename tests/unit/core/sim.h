/*
 * tests/unit/core/sim.h: a world of leases for test_sim.c: holders that beat, forget, die, release and misuse the
 * clock; a host that sleeps and is set; a daemon that is killed and held up; a runtime that answers late or never. All
 * of it from one seed.
 */
#ifndef TESTS_CORE_SIM_H
#define TESTS_CORE_SIM_H

#include "desk.h"

#define SIM_LEASES 256 /* a power of two: sim.c keeps a tree of what is next over them */
#define SIM_ANSWERS 8

/* One lease, and what is true of it whatever the daemon knows. */
struct subject {
	struct lease l;
	int64_t due;	    /* when the daemon wants to look next */
	int64_t moves;	    /* when its holder does something next */
	int64_t rhythm;	    /* of its beats; 0 = it does not beat any more */
	int64_t lock;	    /* mtime */
	bool there, released, leader;
	int64_t touched;    /* the last time its holder touched the lock, whatever stamp that gave */
	bool odd;	    /* … and the stamp is not the time of it */
	int64_t held_until; /* before this, silence must not end it: I1 */
	int64_t used;	    /* the last use that the daemon was told of */
	int64_t busy_since; /* its CPU is busy; 0 = quiet */
	int64_t cpu_at, cpu;
	int64_t act_ends;   /* the runtime does one thing after the other */
	uint64_t act;	    /* the one that is waited for */
	int n_answers, ends;
	struct {
		int64_t at;
		enum event e;
		uint64_t act;
	} answers[SIM_ANSWERS];
};

struct sim {
	uint64_t seed, random;
	int64_t now, skew, next_mishap;
	int64_t down_until; /* the daemon is away or stopped; 0 = it runs */
	bool killed;	    /* away: it forgets */
	int64_t checkpoint;
	int64_t stamps_sure_from; /* when the clocks were last moved against each other */
	int64_t even, set;	  /* as in struct lease_clock */
	struct judge j;
	struct subject s[SIM_LEASES];
	int64_t next[2 * SIM_LEASES]; /* [1] is the earliest of all */
	long n[EV_MAX], transitions[ST_MAX], looks, beats, restarts, sleeps;
};

/* The same world for the same seed. Fails the test, naming seed and time, where an invariant does not hold. */
void sim_run(struct sim *m, uint64_t seed, int64_t duration);

#endif
