/*
 * tests/unit/core/desk.h: one lease on a desk, with all that the watcher would see of it as plain fields: a lock's
 * mtime, a CPU counter, two clocks. desk_run does what the watcher's turn does: look, verdict, table, apply, until
 * nothing is due.
 */
#ifndef TESTS_CORE_DESK_H
#define TESTS_CORE_DESK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/lease.h"
#include "lease/duration.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define MS LEASE_NS_PER_MS
#define S LEASE_NS_PER_S
#define M (60 * S)
#define H (60 * M)
#define D (24 * H)

/* The host has been up for a while when a desk is set up; the wall clock says some day of 2027. */
#define DESK_T0 (1000 * S)
#define DESK_WALL0 (INT64_C(1800000000) * S)

struct desk {
	struct lease l;
	struct judge j;
	int64_t now;
	int64_t skew;	      /* wall - mono; a test that steps the wall clock changes it */
	int64_t even, set;    /* as in struct lease_clock */
	int64_t lock;	      /* mtime of the lock, wall ns */
	int64_t cpu;	      /* the workload's CPU counter, ns */
	int64_t cpu_ppm;      /* how fast it grows: 1000000 is one core */
	bool cpu_unreadable;
	uint32_t acts;	      /* AC_CREATE to AC_DESTROY that were asked for since a test last cleared it */
	int n[EV_MAX];	      /* how often each event was taken */
	int64_t at[EV_MAX];   /* and when it was last */
	int warnings, readings, ends;
};

/* An active lease with the defaults of leasewatch.conf(5), usage explicit (beats only) unless a test says more. */
void desk_set_up(struct desk *d);
/* The same, as a request that nobody has admitted. */
void desk_request(struct desk *d);
int64_t desk_wall(const struct desk *d);
/* How the clocks stand. */
struct lease_clock desk_clock(const struct desk *d);
/* The wall clock is set by so much; the host sleeps for so long. The watcher sees it at once. */
void desk_set_clock(struct desk *d, int64_t by);
void desk_suspend(struct desk *d, int64_t by);
/* Touches the lock now: utimensat with UTIME_NOW. */
void desk_beat(struct desk *d);
/* What the watcher does when it looks: the lock, then the verdict until nothing is due. Gives when to look next. */
int64_t desk_look(struct desk *d);
/* Lets time pass until then, looking whenever the verdict wanted to be asked. */
void desk_run(struct desk *d, int64_t until);
/* Lets time pass with nobody looking, as a daemon that is held up. */
void desk_sleep(struct desk *d, int64_t by);
/* Takes one event now; an answer of the runtime lifts the deadline of the act first. */
void desk_take(struct desk *d, enum event e);
/* A daemon that is killed now and is back after `away`, whose last checkpoint was `before` the kill. */
void desk_restart(struct desk *d, int64_t before, int64_t away);

/* Nothing has happened a nanosecond before, and it has at the very instant. */
#define comes_exactly_at(d, event, when)                                                                     \
	do {                                                                                                 \
		int64_t at_ = (when);                                                                        \
		desk_run(d, at_ - 1);                                                                        \
		assert_int_equal((d)->n[event], 0);                                                          \
		desk_run(d, at_);                                                                            \
		assert_int_equal((d)->n[event], 1);                                                          \
		assert_int_equal((d)->at[event], at_);                                                       \
	} while (0)

#endif
