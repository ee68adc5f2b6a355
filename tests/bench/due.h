/*
 * tests/bench/due.h: leases that end on cue, and when they were ended.
 *
 * Calling sequence: world_open, due_fill (and world_fill for whoever lives on), world_start, world_settle; due_plan for each
 * window of time; due_start; after the last deadline due_read.
 *
 * Until its turn each is beaten every second; its last beat is one ttl before its planned deadline. The deadline that counts is
 * then taken from what that beat left in the lock: its mtime + ttl + one tick of the file clock.
 */
#ifndef BENCH_DUE_H
#define BENCH_DUE_H

#include "tests/bench/world.h"

#define DUE_TTL (bench_count(6000, 1000) * LEASE_NS_PER_MS)

struct due {
	struct world_lease l;
	int64_t last_beat; /* mono, as planned */
	int64_t deadline;  /* mono */
	int64_t stamped;   /* mono; main() of the runtime's destroy; 0 = not ended */
};
struct due_set {
	struct due *d; /* shared with the one who beats */
	int n, planned;
	pid_t beats;
	int early, twice, missing; /* after due_read: ends that were wrong */
};

/* n of them in all; none has a plan yet. */
void due_fill(struct due_set *s, struct world *w, int n);
/* The next n get random deadlines in [from, from + window). */
void due_plan(struct due_set *s, int n, int64_t from, int64_t window);
void due_start(struct due_set *s, const struct world *w);
/* us from deadline to main(), of those that were planned from number `first` on. */
int due_late(const struct due_set *s, int first, int n, double *ret);
/* Reads what the runtime stamped, and checks it: each ended once, and none before its time. */
void due_read(struct due_set *s, const struct world *w);

#endif
