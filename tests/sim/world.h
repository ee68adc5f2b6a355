/*
 * tests/sim/world.h: everybody but the daemon: holders, users, runtimes, the hand that steps the clock; and the
 * truth about each lease, kept by who made it true, never read off the daemon.
 *
 *	main.c		seeds, shrinking
 *	world.c		one run: time, the daemon's lives one after the other, the end
 *	config.c	leasewatch.conf in its variants
 *	truth.c		leases as they are, found by id
 *	holder.c	what holders do and when; holder-make.c: how they begin; holder-tricks.c: what they should not
 *	asks.c		queue/ask-ID and the answers
 *	runtime.c	the actor and what it drives
 *	fault.c		what goes wrong
 *	check.c		the invariants; bound.c: those that have a time; ledger.c: the registry, looked at from outside
 *
 * Time is world time, in ns: it never goes back, not even over a reboot, and does not count suspend.
 * Everything is allocated before the daemon runs: what is allocated in its time may be given back with it.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <bsd/sys/queue.h>

#include "core/view.h"
#include "kernel.h"
#include "lease/duration.h"
#include "store/registry.h"

#define SEC LEASE_NS_PER_S
#define MINUTE (60 * SEC)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define NEVER INT64_MAX

#define NOTICES "/sim/run/leasewatch/notices"
#define QUEUE NOTICES "/queue/"
#define ACTIVE NOTICES "/active/"
#define ARCHIVE NOTICES "/archive/"
#define STATE "/sim/run/leasewatch/state/"
#define SESSIONS "/sim/run/leasewatch/sessions/"
#define CONFIG "/sim/etc/leasewatch.conf"
#define DB "/sim/var/lib/leasewatch/lease.db"
#define DAEMON_UID 900
#define FIRST_UID 1000
#define PATH_SIZE 320

/* What the variants of the configuration lie between (config.c). */
#define TTL_LOW (4 * MINUTE)
#define TTL_HIGH (8 * MINUTE)
#define GRACE_LOW (30 * SEC)
#define GRACE_HIGH (60 * SEC)
#define LINGER_LOW (60 * SEC)
#define LINGER_HIGH (180 * SEC)
#define LIFE_LOW (10 * HOUR)
#define LIFE_HIGH (16 * HOUR)
#define RETENTION_LOW (2 * HOUR)
#define RETENTION_HIGH (6 * HOUR)
#define TTL_CAP (14 * MINUTE) /* of what is asked for */
#define TTL_FLOOR (25 * SEC)
#define QUEUE_TIMEOUT_HIGH (10 * MINUTE)
/* The daemon keeps to 8 acts at a time, the last two for users who have none. */
#define ACTS_FULL 6
#define HOLD_HIGH (20 * MINUTE) /* asked for */

enum fault_class {
	F_TIME = 1,	/* suspends, clock steps */
	F_CRASH = 2,	/* kill -9, restarts, downtime, reload */
	F_BOOT = 4,	/* reboots, with and without loss of power */
	F_TREE = 8,	/* lost events, overflow, refused watches, a folder removed */
	F_ENGINE = 16,	/* runtimes that fail, hang, are away */
	F_CALLS = 32,	/* calls and the disk fail */
	F_STALL = 64,	/* the daemon is stopped, or slow */
	F_TRICKS = 128,	/* holders that do what they should not */
	F_ALL = 255,
};

struct options {
	uint64_t seed;
	int holders;
	int64_t for_ns;		/* simulated */
	unsigned faults;	/* classes */
	bool verbose;
	int64_t trace; /* from when on each call of the daemon is noted */
};

enum public { P_NONE, P_REQUESTED, P_ADMITTED, P_ACTIVE, P_IDLE, P_HIBERNATED, P_EXPIRED, P_FAILED, P_REAPED, P_DENIED, P_MAX };
enum work { WORK_ABSENT, WORK_RUNNING, WORK_FROZEN, WORK_DISK };
enum where { W_NOWHERE, W_QUEUE, W_ACTIVE, W_REAP, W_ARCHIVE };

struct act;
struct holder;

/* A lease as it is. Times: NEVER = has not happened. */
struct truth {
	/* looked at of all of them at many a call: they lie together */
	LIST_ENTRY(truth) all;
	int64_t beat, ttl_low;
	enum where where;
	/* what it is */
	char id[LEASE_ID_SIZE], name[LEASE_NAME_SIZE];
	uint32_t uid;
	uint64_t birth;			/* tells this life from the next one in the same memory */
	struct lease_record record;	/* as its holder wrote it */
	struct holder *holder;		/* NULL: given up */
	/* its lock */
	uint64_t ino;
	bool unsure;			/* its holder did to it what takes back the promise about beats */
	bool ghost;			/* a byte that its holder left where it had been: promises nothing */
	bool strange;			/* it has another name, which may go unheard */
	bool deaf, session_deaf;	/* events were lost in its time, and nobody was told; in its session's */
	bool tricky;			/* its last stamp may be credited when it is looked at */
	int64_t saved;			/* by an editor: another inode, which has to be seen before a release counts */
	/* what renews it */
	int64_t made, renewed, credit; /* credit: world.credit at that time */
	int64_t taken_up, credit_taken_up;   /* when a daemon first began since, that lived for a while */
	int64_t ttl_high, linger_low, linger_high, ttl_asked;
	int32_t work_pid, leader_pid, waiter_pid;
	struct lease_process second; /* another process of a session */
	struct truth *session;		/* NULL: none, or its truth is over */
	char session_id[LEASE_ID_SIZE], session_surface[LEASE_SURFACE_SIZE];
	LIST_HEAD(, truth) bound;
	LIST_ENTRY(truth) of_session;
	/* why it may end */
	int64_t released, stopped, leader_died, withdrawn, session_over, booted, start_failed, rubbish;
	bool by_hand;			/* its session was released by hand: no linger */
	bool pam_closed;
	/* what the ledger says of it */
	enum public state, told;	/* told: by state/ID */
	int64_t since, taken;		/* taken: when its lock left active/ by the daemon */
	int64_t credit_made, credit_since, watch_at, admitted;
	int64_t create_asked, destroy_asked;
	uint64_t generation;
	uint64_t gone_in;		/* the turn in which it was first seen to have gone unheard; 0 = not */
	bool in_registry, changed, expired_checked, destroyed;
	bool survived;			/* the last boot, as an image */
	/* its workload */
	enum work work;
	int acts;			/* under way */
	struct act *first;		/* in order; they never overlap */
	SLIST_ENTRY(truth) free;
	LIST_ENTRY(truth) hash, quiet;
};

enum character {
	C_BEATER, C_EDGE, C_RUN, C_LEADER, C_SESSION, C_BARE_SESSION, C_BOUND, C_WAITER, C_SILENT, C_PAUSER, C_TRICKY, C_CHEAT,
	C_ASKER, CHARACTERS,
};

struct holder {
	int n;
	uint32_t uid;
	enum character character;
	struct truth *lease;	/* NULL: between two */
	uint64_t turn;		/* the event that counts; older ones are stale */
	int held;		/* the lock, held open; -1 = not */
	uint64_t held_ino;
	bool half;		/* made empty, not yet filled */
	bool hand;		/* its request lies in active/ */
};

#define USER_SESSIONS 8
struct person {
	struct truth *session[USER_SESSIONS];
};

struct world {
	struct options o;
	struct holder *holders;
	int n_users;
	struct person *users;
	int64_t offset;		/* world time - mono */
	int64_t end;		/* of the part with faults and holders */
	bool ending;		/* holders are gone, faults over */
	bool done;		/* and all that lived had its time to end */
	bool reboot;		/* asked for while no daemon ran */
	int64_t down_since;	/* NEVER = the daemon runs */
	int64_t up_since;
	/*
	 * What may come on top of a ttl, in sum since the beginning: downtime, a grace a restart, a grace and
	 * the length of a suspend or stall, holds.
	 */
	int64_t credit;
	int64_t last_step;	/* somebody set the clock */
	int64_t last_gain;	/* or it went on without us */
	int64_t last_reload;
	bool deaf;		/* events get lost, and nobody is told */
	int64_t held_until;	/* the daemon is stopped */
	int64_t breaker_until;
	int64_t grace_until;	/* no end by silence, and while it is stopped none at all */
	int64_t last_full;	/* when there was last no free act */
	int64_t hold_until, hold_sure; /* holds by world time; sure: promised, not before */
	int64_t hold_from;	       /* when that was told */
	int64_t slept;		       /* the host, while this daemon ran */
	int acts;		/* asked for and not answered */
	uint64_t hash;		/* of the ledger */
	uint64_t lines, births, turns, wakes, reaps, steps;
	int64_t waited; /* when the daemon last began to wait */
	bool waiting;	/* that was its last call */
	LIST_HEAD(, truth) all, changed;
};
extern struct world world;

/* world.c */
int world_run(const struct options *o); /* 0, 1 = an invariant is broken */
int64_t now(void);
void at(int64_t when, kernel_event *what, void *arg, uint64_t n);
void after(int64_t by, kernel_event *what, void *arg, uint64_t n);
void happens(void);
void down(int64_t for_ns); /* adds a downtime to what is forgiven */
__attribute__((noreturn, format(printf, 2, 3))) void broken(const char *invariant, const char *fmt, ...);
static inline int64_t between(int64_t low, int64_t high)
{
	return draw_between(STREAM_WORLD, low, high);
}
static inline bool one_in(uint64_t n)
{
	return draw_one_in(STREAM_WORLD, n);
}
static inline bool percent(int n)
{
	return between(0, 99) < n;
}

/* config.c */
void config_write(bool bad); /* a variant, drawn */
void config_mend(void);

/* truth.c */
void truth_init(size_t n);
void truth_exit(void);
struct truth *truth_new(uint32_t uid); /* with an id of its own */
struct truth *truth_find(const char *id);
struct truth *truth_of_name(const char *name);
struct truth *truth_is(void *arg, uint64_t birth); /* arg, or NULL when it is another one by now */
void truth_free(struct truth *t);
void truth_path(const struct truth *t, char path[PATH_SIZE]);
void truth_beat(struct truth *t);	/* its very lock was beaten, in active/ */
void truth_stamped(struct truth *t);	/* its mtime is some other one now */
void truth_renewed(struct truth *t);	/* it may have been, by now */
void truth_ttl(struct truth *t, int64_t asked); /* under the limits of whatever settings there may be */
void truth_bind(struct truth *t, struct truth *session);
bool truth_session_alive(const struct truth *s);
void truth_session_over(struct truth *s, bool by_hand);
void truth_released(struct truth *t);
void truth_killed(int32_t *pid);
void truth_leader_died(struct truth *t);
void truth_stopped(struct truth *t);
void truth_booted(void);
void truth_unheard(void); /* what is done to any of them now may be told to nobody */
void truth_taken_up(void); /* the daemon that has just ended had looked at all of them */
void truth_make_id(char id[LEASE_ID_SIZE]);

/* holder*.c */
void holder_init(void);
void holder_turn(void *arg, uint64_t n);
void holder_next(struct holder *h, int64_t by);
void holder_make(struct holder *h);
void holder_fill(struct holder *h);
void holder_over(struct holder *h);
void holder_close_session(struct truth *t); /* PAM does */
void holder_trick(struct holder *h);
void holder_cheat(struct holder *h);
void holder_all_gone(void);
void holder_boot(void);

/* asks.c */
void asks_init(size_t n);
void asks_exit(void);
void ask_something(struct holder *h);
void asks_end(void);	/* a hold that is in force is lifted */
void asks_daemon_gone(bool boot);
void asks_doubt_hold(void); /* nobody knows how long what is in force lasts */

/* runtime.c */
void runtime_init(size_t n);
void runtime_exit(void);
void runtime_request(void *arg, const struct act_request *r);
void runtime_daemon_gone(void);
void runtime_boot(void);
void runtime_outage(int64_t for_ns);
void runtime_stall(int64_t for_ns);
void runtime_stray(void);
void runtime_mad(struct act_answer *ret); /* what is no answer, in one place */

/* fault.c */
void fault_init(void);
void fault_end(void);
void fault_life(void);		/* a life of the daemon begins */
int64_t fault_downtime(void);	/* how long nobody runs it then */

/* check.c, bound.c, ledger.c */
void check_moved(void *arg, const char *from_dir, const char *name, const char *to_dir, const char *to_name);
void check_logged(void *arg, int level, const char *line);
void check_called(void *arg, const char *call);
void check_begin(void);
void check_line(const struct ledger_row *row, int64_t when);
void check_bound(const char *id, const char *session);
void check_may_end(struct truth *t, int64_t when, const char *by);
void check_destroy(struct truth *t);
void bound_watch(struct truth *t);
void bound_changed(struct truth *t);
void ledger_begin(void);
const char *public_name(enum public p);

#endif
