/*
 * core/state.h: the life of a lease: one table, state x event -> next state, actions.
 *
 *	               admit            started                idle due             hibernate due
 *	 REQUESTED ──────────▶ STARTING ─────────▶ ACTIVE ─────────────▶ IDLE ─────────────▶ HIBERNATING
 *	  │ deny                │ start failed       ▲ ▲  beat, use, ask  │                     │ hibernated
 *	  ▼                     ▼                    │ └──────────────────┘                     ▼
 *	 DENIED               ROLLBACK               └────────────── RESUMING ◀────────── HIBERNATED
 *	                        │ destroyed               resumed        beat, exec, ask
 *	                        ▼
 *	from every living state: released, leader died, expiry due, lifetime due, … ──▶ EXPIRED ──▶ REAPING ──▶
 *	REAPED
 *	                           session closed or orphaned ──▶ LINGERING ──▶ linger due ──▶ EXPIRED
 *
 * What holds in each state (L = lock, W = workload, D = on disk in the registry):
 *	REQUESTED    L in queue/ (or in active/, when put there by hand); no W; D requested
 *	STARTING     L in active/; W is being made, a create is under way; D admitted
 *	ACTIVE       L in active/ or lost; W runs; some usage within renew_grace
 *	IDLE         W runs; no usage, every signal read
 *	HIBERNATING  W runs or is half frozen; a hibernate is under way. Not destroyed, not resumed until it has
 *	             answered
 *	HIBERNATED   W frozen or an image; costs no CPU. The ttl runs on
 *	RESUMING     a resume is under way
 *	LINGERING    its session has ended; W runs; counted down
 *	EXPIRED      the end is committed: L is out of active/ (renewing it gives "lost"); the destroy is due at
 *	             retry_at (at once, or
 *	             after a back-off, or when a hold is lifted): EV_RETRY_DUE
 *	REAPING      a destroy is under way
 *	ROLLBACK     the start failed; a destroy of the parts is under way or waits for a retry
 *	REAPED       W confirmed absent; exactly one end in the ledger
 *	DENIED       never held anything; exactly one end in the ledger
 *
 * Everybody outside the daemon sees the public names only (state_public): STARTING is `admitted`, HIBERNATING
 * is `idle`, RESUMING is `hibernated`, LINGERING is `idle`, REAPING is `expired`, ROLLBACK is `failed`.
 *
 * Pure: no system call, no clock. The table is in state.c; tests walk all of it.
 */
#ifndef CORE_STATE_H
#define CORE_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum state {
	ST_NONE, /* 0 = nobody said */
	ST_REQUESTED,
	ST_STARTING,
	ST_ACTIVE,
	ST_IDLE,
	ST_HIBERNATING,
	ST_HIBERNATED,
	ST_RESUMING,
	ST_LINGERING,
	ST_EXPIRED,
	ST_REAPING,
	ST_ROLLBACK,
	ST_REAPED,
	ST_DENIED,
	ST_MAX,
};

enum event {
	EV_NONE,
	/* admission */
	EV_ADMIT,	   /* there is room, and policy says yes */
	EV_DENY,	   /* policy, quota or a malformed request; queue_timeout */
	EV_WITHDRAWN,	   /* the request's file is gone, or its waiter died */
	EV_STARTED,	   /* the runtime has made (adopted) the workload */
	EV_START_FAILED,
	/* signs of life */
	EV_BEAT,	   /* the lock's mtime changed: renewal and use */
	EV_USE,		   /* observed use, or an exec lives: use only */
	EV_RENEWED,	   /* leader or session alive: renewal only */
	EV_TAKEN_OVER,	   /* another session of the user took it over while it lingered */
	/* asks */
	EV_ASK_RESUME,
	EV_ASK_HIBERNATE,
	/* time */
	EV_IDLE_DUE,	   /* renew_grace without usage, every signal readable */
	EV_HIBERNATE_DUE,  /* hibernate_after since idle */
	EV_EXPIRY_DUE,	   /* ttl since the last renewal, and the last look was just now */
	EV_LIFETIME_DUE,   /* max_lifetime */
	EV_RETENTION_DUE,  /* hibernated_retention */
	EV_LINGER_DUE,
	EV_DEADLINE,	   /* the act under way has passed its own deadline and no answer came */
	EV_RETRY_DUE,	   /* the back-off after a failed or held destroy is over */
	/* pressure and the breaker */
	EV_PRESSURE,	   /* chosen for hibernation */
	EV_EVICT,	   /* chosen to end early */
	EV_BREAKER,	   /* mass silence: hibernate instead of reaping */
	/* ends */
	EV_RELEASED,	   /* lock in archive/, same owner and inode */
	EV_LEADER_DIED,	   /* proven, by pidfd or start time; the lease does not linger */
	EV_SESSION_CLOSED, /* PAM's close, or the session's release: linger */
	EV_SESSION_ORPHANED,
	EV_STOPPED,	   /* the workload ended by itself, or by another hand */
	/* the lock */
	EV_LOCK_LOST,	   /* in neither active/ nor archive/ */
	EV_LOCK_FOUND,	   /* back again */
	/* answers of the runtime */
	EV_HIBERNATED,
	EV_HIBERNATE_FAILED,
	EV_RESUMED,
	EV_RESUME_FAILED,
	EV_DESTROYED,	   /* confirmed absent */
	EV_DESTROY_FAILED,
	EV_RESTART,	   /* the daemon has begun anew: an act under way may never have been answered */
	EV_BOOT,	   /* the host has booted since: a process of then is gone */
	EV_MAX,
};

/*
 * What the daemon does when it takes a transition, in this order. Times and marks of the lease itself are set
 * by lease_apply.
 */
#define AC_IGNORE 0x0001u     /* nothing to do: this cell was thought about */
#define AC_MOVE_IN 0x0002u    /* lock from queue/ to active/ */
#define AC_COMMIT 0x0004u     /* lock out of active/ first; if it was touched meanwhile, put back and take EV_BEAT instead */
#define AC_TAKE 0x0008u	      /* lock out of active/ wherever it is, touched or not (releases, proven deaths, limits) */
#define AC_RENEW 0x0010u      /* expires_at moves */
#define AC_USE 0x0020u	      /* last_use moves */
#define AC_CREATE 0x0040u
#define AC_HIBERNATE 0x0080u
#define AC_RESUME 0x0100u
#define AC_DESTROY 0x0200u
#define AC_BACKOFF 0x0400u    /* try again later, twice as late each time */
#define AC_END 0x0800u	      /* the end: lock sorted into the archive, registry row ends */
#define AC_WANT 0x1000u	      /* remember that it is wanted: resume as soon as the act under way has answered */
#define AC_REPORT 0x2000u     /* a line at warning level */
#define AC_NEVER 0x4000u      /* cannot happen: logged as an error in us, state stays */
#define AC_STEP 0x8000u	      /* the state moves, nothing else */

struct cell {
	uint8_t next;
	uint32_t actions; /* 0 = nobody filled this cell; a test finds it */
};

extern const struct cell state_table[ST_MAX][EV_MAX]; /* rows and columns from 1 on */

/* The public word, as in ledger, state/ and show. "" for ST_NONE. */
const char *state_public(enum state s);
/* The daemon's own word, as in the registry and its log. */
const char *state_name(enum state s);
enum state state_by_name(const char *name); /* ST_NONE = no such */
/* True when word is a public state (klease wait ID STATE). */
bool state_public_valid(const char *word);
const char *event_name(enum event e);
bool state_ended(enum state s);	 /* REAPED, DENIED */
bool state_living(enum state s); /* may still be renewed: STARTING to LINGERING */

#endif
