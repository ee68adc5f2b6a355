/*
 * core/lease.h: a lease as the daemon holds it, and the verdict over it. Pure: what was observed and `now` go in, an event comes out.
 *
 * Who calls: the watcher, once a turn for each lease that is due or whose file, process or runtime said something. Calling sequence:
 *	lease_observe_*()   enter what was seen: a stat of the lock, a CPU reading, a leader's death
 *	lease_verdict()     -> one event that is due now (EV_NONE = none), its reason, and when to look next
 *	(table)             state_table[state][event]
 *	lease_apply()       moves the state and the marks
 * All times are ns on the clock of the lease (CLOCK_MONOTONIC), unless a name says wall. The registry stores the struct's first part as it is.
 */
#ifndef CORE_LEASE_H
#define CORE_LEASE_H

#include "core/policy.h"
#include "core/state.h"
#include "lease/name.h"

#define LEASE_WHY_SIZE 160

struct lease {
	/* --- stored --- */
	char id[LEASE_ID_SIZE];
	char name[LEASE_NAME_SIZE]; /* the lock's file name */
	char user[LEASE_USER_SIZE]; /* from the file name: for people; uid is the identity */
	uint32_t uid;
	struct lease_record record; /* frozen at receipt */
	struct policy policy;	    /* frozen at receipt, after caps; a reload may change it */
	enum state state;
	uint64_t generation; /* 0 = never admitted */
	uint64_t dev, ino;   /* the lock */
	int64_t mtime;	     /* its version last seen */
	int64_t created, since, renewed, used; /* mono: receipt, this state, last credited renewal, last use */
	int64_t credit;	     /* ns given beyond the ttl since the last renewal (suspend, late wake) */
	int64_t restart_credit; /* ns given for restarts since the last renewal: at most one renew_grace in all */
	int64_t created_wall, since_wall, last_beat_wall; /* for people; last_beat_wall 0 = none yet */
	int64_t work_ended;  /* mono; when the work ended (zombie time runs from it); 0 = it has not */
	int attempts;	     /* destroys tried */
	bool disk;	     /* HIBERNATED: an image, not frozen */
	bool wanted;	     /* AC_WANT */
	bool lock_lost;
	bool leader_alive;   /* as last seen */
	bool warned;
	char why[LEASE_WHY_SIZE]; /* why it is in this state */

	/* --- of this run of the daemon only --- */
	int64_t act_deadline; /* of the act under way; 0 = none */
	int64_t retry_at;     /* EXPIRED, ROLLBACK: when to try again; 0 = none */
	int execs;	      /* klease exec commands that live in it */
	int64_t cpu_at, cpu_base; /* last CPU reading: when, and usage in ns; cpu_at 0 = none */
	bool cpu_broken;      /* the last reading failed: counts as use */
	bool cpu_wanted;      /* set by lease_verdict: read CPU and ask again */
};

/* Observations. */
/*
 * A look at the lock. A changed mtime is a beat, credited at its own stamp (given on the mono clock: stamp_mono = now_mono - (now_wall
 * - mtime)) where that lies between the daemon's last look and now, else at now. True when it was a beat.
 */
struct lease_look {
	int64_t mtime;
	int64_t mono, wall; /* now */
	int64_t last_look;  /* mono; when the daemon last looked at this lease (renewed/since at the earliest) */
};

/* When ttl is over: last renewal + ttl + credits. LEASE_NEVER while something alive renews it. */
int64_t lease_expires(const struct lease *l);

#endif
