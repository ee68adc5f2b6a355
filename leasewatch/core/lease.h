/*
 * core/lease.h: a lease as the daemon holds it, and the verdict over it. Pure: what was observed and `now` go
 * in, an event comes out.
 *
 * Who calls: the watcher, once a turn for each lease that is due or whose file, process or runtime said
 * something. Calling sequence:
 *	lease_looked(), lease_saw_cpu()   enter what was seen
 *	lease_verdict()     -> one event that is due now (EV_NONE = none), its reason, and when to look next
 *	(table)             state_table[state][event] says what has to be done
 *	lease_apply()       moves the state and the marks
 * All times are ns on the clock of the lease (CLOCK_MONOTONIC), unless a name says wall. The registry stores
 * the struct's first part as it is.
 */
#ifndef CORE_LEASE_H
#define CORE_LEASE_H

#include "core/breaker.h"
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
	int64_t written; /* mono; when its row was */
	int64_t away;	 /* ns without a daemon, in all of this boot, until then: what came since is credited at a start */

	/* --- of this run of the daemon only --- */
	bool session_alive;   /* bound to a session whose leader, or another process of it, lives */
	int64_t looked;	      /* mono; the last look at the lock */
	int64_t skew;	      /* wall - mono then; 0 = not known */
	int64_t act_deadline; /* of the act under way; 0 = none */
	int64_t retry_at;     /* EXPIRED, ROLLBACK, HIBERNATED and wanted: when to try again */
	int execs;	      /* klease exec commands that live in it */
	int64_t cpu_at;	      /* the last CPU reading; 0 = none */
	int64_t cpu_from, cpu_base; /* the window under way: its start, and usage in ns then */
	int64_t cpu_quiet_at; /* when a whole window was last found below the floor */
	bool cpu_broken;      /* the last reading failed: counts as use */
	bool spared;	      /* of this silence: the breaker had it hibernated, or it cannot be */
};

/* What lease_verdict needs beside the lease: the same for all leases of a turn. */
struct judge {
	int64_t hold_until;    /* mono; no destructive act before (klease hold); 0 = none */
	int64_t grace_until;   /* mono; no expiry by silence before (suspend, late wake); 0 = none */
	int64_t observe_every; /* ns between CPU readings while they can change a verdict */
	struct breaker breaker; /* what it holds does not end by silence */
};

struct verdict {
	enum event event; /* due now; EV_NONE = nothing is */
	bool want_cpu;	  /* read its CPU, lease_saw_cpu(), and ask again: it could change the verdict */
	bool warn;	  /* the warning is due: give it once and set warned */
	bool held;	  /* due by silence, and the breaker holds it */
	int64_t look_at;  /* mono; when to look again; LEASE_NEVER = only when something happens */
	char why[LEASE_WHY_SIZE];
};

/* How the clocks stand at a look. */
struct lease_clock {
	int64_t now, wall;
	int64_t even; /* since when wall has run evenly with now: neither was it set, nor did the host sleep */
	int64_t set;  /* when it was last seen to have been set; 0, for either: never */
};
/*
 * A look at the lock's stat: a changed mtime is a beat, credited at its own stamp (put on the mono clock: now -
 * (wall - mtime)) where that lies between the last look and now, else at now: a stamp from the future or a
 * clock that was set can neither reap nor immortalise. Older than `even`, a stamp is of another clock, and is told from
 * the distance at the last look, so what the wall clock gained in a suspend is credited to the holder; where that clock
 * was set since then it says nothing about when, and the beat is credited at now. What UTIME_NOW lags is not charged
 * twice. Gives when it is credited, or 0 for no beat. Takes the new mtime and marks the look.
 */
int64_t lease_looked(struct lease *l, int64_t mtime, const struct lease_clock *c);
/* When the beat of that stamp came, by the clocks as they run now: what it is credited at where they ran evenly. */
int64_t lease_stamp(int64_t mtime, const struct lease_clock *c);
/* A CPU reading (usage < 0: it could not be read, which counts as use). True when it shows use. */
bool lease_saw_cpu(struct lease *l, const struct judge *j, int64_t now, int64_t usage);
/* The verdict. Call it again after each event it gave has been applied, until it gives none. */
void lease_verdict(const struct lease *l, const struct judge *j, int64_t now, struct verdict *ret);
/*
 * Takes a transition: state and marks. `at` is when the event happened (a beat's own stamp, else now). The
 * caller has done AC_COMMIT and the like, and stores the lease afterwards. why may be NULL: the event's name.
 */
void lease_apply(struct lease *l, enum event e, int64_t at, int64_t now, int64_t wall, const char *why);
/*
 * The daemon was away from `from` (its last checkpoint) until now: that time is not charged to the holder, but
 * all restarts together never give more than one renew_grace since the last renewal. A beat that nobody has
 * seen yet is credited where it was, by the next look.
 */
void lease_credit_restart(struct lease *l, int64_t from, int64_t now);
/* When the ttl is over: last renewal + ttl + credits + one tick. LEASE_NEVER while a leader renews it. */
int64_t lease_expires(const struct lease *l);
/* What renews it, in a word for people: "command alive", "leader alive", "session alive", "own beat". */
const char *lease_renewed_by(const struct lease *l);
/* Each usage signal and when it was seen, for show and ledger. */
void lease_signals(const struct lease *l, int64_t now, char buf[LEASE_WHY_SIZE]);

/* UTIME_NOW lags the clock by up to a jiffy; 10 ms is one at the slowest HZ there is (100). */
#define LEASE_TICK (INT64_C(10) * LEASE_NS_PER_MS)
/* A failed destroy or resume is tried again after 1 s, 2 s, 4 s, … at most 5 minutes. */
#define LEASE_BACKOFF_FIRST LEASE_NS_PER_S
#define LEASE_BACKOFF_MAX (INT64_C(300) * LEASE_NS_PER_S)

#endif
