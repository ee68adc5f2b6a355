/*
 * watcher.h: the process that reads what users write and decides. User leasewatch in system mode; in user mode the user.
 *
 * One loop (watcher.c), one reading of the clock a turn. A turn:
 *	wait            epoll: inotify, timerfd, signalfd, pidfds, the socket to the actor
 *	observe         names that came and went (scan.c), deaths (life.c), answers (answer.c), asks (asks.c)
 *	judge           what is due: lease_verdict over a fresh look (judge.c); admission over the queue (admit.c)
 *	step            the table: locks move, rows and ledger lines are gathered (step.c)
 *	commit          one transaction
 *	act             only now: requests to the actor, state files (flush, in step.c)
 * So what is intended is on disk before anything is done, and a crash between any two of these loses nothing (restart.c).
 *
 * This header is for leasewatch/ alone; outside, watcher_run is all there is.
 */
#ifndef WATCHER_H
#define WATCHER_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "conf/settings.h"
#include "core/rest.h"
#include "core/view.h"
#include "hearing.h"
#include "lease/duration.h"
#include "os/clock.h"
#include "rests.h"
#include "store/locks.h"
#include "store/registry.h"
#include "store/statefiles.h"
#include "store/watch.h"
#include "wire.h"

#define WATCHER_ACTS 8	     /* acts under way at a time: what the actor runs side by side */
#define WATCHER_SPARE 2	     /* of these, for users who have none */
#define WATCHER_ENTERS 2	     /* commands of a user that are let into their leases at a time: these come on top */
#define WATCHER_SLICE 256    /* due leases looked at before the loop looks at its descriptors again */
#define WATCHER_ASKS 16	     /* asks outstanding a user */
#define WATCHER_EXECS 128    /* execs of a user that live: each is a descriptor of ours */
#define WATCHER_KEPT 1024     /* state files of a user that are kept for that long; of more, the oldest goes sooner */
#define ENDED_KEEP (INT64_C(3600) * LEASE_NS_PER_S) /* the state file of a lease that is over stays this long */

/* What an epoll event belongs to. */
enum source_kind {
	SRC_WATCH, SRC_MOUNTS, SRC_TIMER, SRC_CLOCK, SRC_SIGNAL, SRC_PEER, SRC_LEADER, SRC_WORK, SRC_WAITER, SRC_EXEC
};
struct source {
	enum source_kind kind;
	int fd; /* -1 = none */
	void *owner; /* struct entry or struct exec */
};

/* A lease and what the daemon holds for it while it runs. */
struct entry {
	struct lease l;
	struct user *user;	/* the requester's */
	enum place place;
	int64_t peeked;		/* the due that was looked at ahead of its time */
	int64_t due;		/* mono; LEASE_NEVER = not in the tree of what is due */
	int64_t retry;		/* mono; a step that its lock held up is not tried again before; 0 = none */
	struct source leader, work, waiter; /* pidfds */
	bool top_lost;		/* what its runtime named has died, and it has not yet said how it stands */
	int64_t follow_at;	/* mono; one of them could not be had, and is tried for again; LEASE_NEVER = all are */
	bool doubted;		/* that was said */
	enum act_verb act;	/* to be sent after the commit; ACT_NONE = none */
	uint64_t serial;	/* of the act that act_deadline is for */
	bool stat_sent;		/* its runtime was asked: a session, whether it lives; else where its CPU is read */
	bool unplaced;		/* it was at rest, or taken up after a restart: where its CPU is read is to be asked for */
	bool counted;		/* among those that may fall silent: see breaker-count.c */
	int copies;		/* last copies tried, in this run of the daemon */
	bool copied;		/* one was made, or none can be */
	bool held;		/* due by silence, and the breaker holds it: its state file says so */
	struct party *silent;	/* marked: its ttl is nearly over; NULL = not */
	bool misshown;		/* its state file could not be written: tried again at the next look */
	bool row_dirty, view_dirty, touched; /* touched: on the list of what this turn changed */
	bool missed;		/* its lock was not in active/ when its silence was to end it: the next time it does */
	bool seen;		/* the scan under way has met its lock */
	bool watched, polled;	/* the lock's own watch; where it is not enough, it is looked at every second */
	int lock_error;		/* errno: why it should be watched and can't be; 0 = it can */
	char linger_surface[LEASE_SURFACE_SIZE]; /* LINGERING: of the session that ended, for who may take it over */
	bool by_pam;		/* a session: its close was PAM's, not a hand's */
	bool notice;		/* a session: its notice file stands */
	int64_t tell_at;	/* a session: mono; not before this is its terminal written to again */
	uint64_t permit;	/* serial of the question whether its owner may name its profile; 0 = not asked */
	bool permitted;		/* the answer was yes */
	bool quiet;		/* a request of which nothing is recorded until it is admitted: see ration.c */
	int64_t net_from, net_base; /* its network's window: mono, and bytes then; 0 = none is under way */
	int64_t net_quiet;	/* mono; when a whole window was last found below the floor */
	bool net_untold;	/* its runtime counts no bytes */
	char *cgroup;		/* where its CPU is read; NULL = not there */
	struct lease_process tree;
	RB_ENTRY(entry) by_id, by_due;
	LIST_ENTRY(entry) changed, dozing;
	bool drowsy;		/* among w->drowsy */
	TAILQ_ENTRY(entry) request; /* REQUESTED: among w->requests */
	TAILQ_ENTRY(entry) out; /* waits for a free act */
	TAILQ_ENTRY(entry) silents;
	bool in_out;
};

/* A `klease exec` that was let in, or waits to be. */
struct exec {
	struct source src;	/* pidfd of the gated process */
	char ask[LEASE_ID_SIZE], lease[LEASE_ID_SIZE];
	struct lease_process process;
	uint32_t uid;
	bool tty;
	bool waits;		/* for its lease to be active; then ACT_ENTER is sent */
	uint64_t serial;	/* of that; 0 = not sent, or answered */
	LIST_ENTRY(exec) all;
};

/* What is told of an ask once the commit has made it true. */
struct reply {
	char ask[LEASE_ID_SIZE];
	bool told;		/* answer is one; an exec's comes later */
	bool taken;		/* its file in queue/ has been read, and goes */
	struct ask_answer answer;
	STAILQ_ENTRY(reply) all;
};

/* A new file that is no lock, or not yet: whoever writes one by hand makes it empty first. Judged at a second look. */
struct doubt {
	enum watch_kind kind;
	int64_t due;
	char name[LEASE_NAME_SIZE];
	struct user *user;
	TAILQ_ENTRY(doubt) all;
};
#define DOUBT_FOR LEASE_NS_PER_S
#define DOUBTS_MAX 16384
#define DOUBTS_USER 64 /* of these, one user's */
#define RUNTIMES_MAX 64 /* known by name; of more, one that does not work is forgotten */

/* What is rationed in system mode: whoever uses up a ration gets more of it at a fixed pace. Sizes and reasons: ration.c. */
enum ration { RATION_STARTS, RATION_DENIALS, RATION_ASKS, RATION_STIRS, RATION_LINES, RATIONS };

/* A state file that stays for a while after its lease or ask is over. */
struct keepsake {
	char name[sizeof("ask-") + LEASE_ID_SIZE];
	TAILQ_ENTRY(keepsake) all;
};

/* What is counted a user. */
struct user {
	uint32_t uid;
	int leases;		/* requested and living */
	int execs;		/* that wait or live */
	int doubts;
	int acts, enters;	/* of theirs under way */
	int starting;
	uint64_t served;	/* the serial of the last act that was sent for them */
	uint64_t admitted;	/* the same, of their last admission */
	int reports;		/* rubbish reported in this window */
	int64_t reports_from;
	int strays;		/* files of theirs that are no lock, in this window */
	int64_t strays_from;
	int64_t ration[RATIONS]; /* mono; when it will be full again */
	struct breaker breaker; /* for mass silence of theirs alone */
	struct breaker_count silence;
	int silents;		/* leases of theirs that are marked */
	TAILQ_HEAD(, keepsake) kept; /* oldest first */
	int n_kept;
	TAILQ_HEAD(, entry) out; /* their leases that wait for a free act, oldest first */
	TAILQ_ENTRY(user) wanting; /* while there are any */
	RB_ENTRY(user) by_uid;
};

/* An act that the actor has not answered yet. */
struct flight {
	uint64_t serial;
	struct user *user;
	bool enter;
	LIST_ENTRY(flight) all;
};

struct runtime {
	char name[LEASE_WORD_SIZE];
	bool asked, known, works;
	uint64_t serial; /* of the question */
	int64_t again;	 /* mono; its engine was down, and it is asked again then */
	uint32_t caps;
	char line[256]; /* why it does not, or does no more */
	SLIST_ENTRY(runtime) all;
};

/* What breaker.c and breaker-count.c keep. */
struct silence {
	RB_HEAD(parties, party) parties;
	TAILQ_HEAD(, entry) leases; /* the marked; those looked at last come last */
	int n, left;		    /* of them; of these are still to be looked at, for a question that waits */
	TAILQ_HEAD(, party) ended;  /* that had a lease end by silence within the last window; oldest first */
	struct breaker_count count;
	int64_t fresh_at;	    /* mono; the last slice of looks */
	int64_t unseen;		    /* mono; what was due by then has not been looked at since the start; 0 = all was */
	int looked;		    /* leases at rest that were, since the start */
	int tripped;		    /* for all users, or for one of them */
	int64_t next;		    /* mono; when the first of these is over */
	const struct breaker *shown; /* of these, what is told everywhere; NULL = none */
};

/* What all leases at rest are woken for, so many a turn: new settings, a hold that is to stand in their state files. */
struct sweep {
	uint32_t at;
	bool policies, views, unshown; /* unshown: only those whose state file was not met */
	int fresh; /* leases that the new settings would have ended */
};

/* state/ is looked through, so many names a turn. */
struct tidy {
	bool on, first; /* first: after the start */
	struct statefile_walk walk;
};

/* clocks.c: what is known of how they run. */
struct clocks {
	struct source source;
	int64_t wall_boot, boot_mono; /* their distances */
	int64_t even, set; /* mono; as in struct lease_clock */
	int64_t woken; /* mono; when we were last told that the clock had been set */
};

RB_HEAD(entries_by_id, entry);
RB_HEAD(entries_by_due, entry);
RB_HEAD(users, user);

struct watcher {
	struct house house;
	struct house_paths paths;
	struct settings *settings;
	const char *config; /* path, NULL = none */
	bool config_named;  /* by --config: it must be there */
	struct registry *registry;
	struct watch *watch;
	int epoll;
	struct source timer, signals, inotify, mounts, peer;
	struct clock_now now;
	struct clocks clocks;
	int64_t skew;	    /* boot - mono, as last seen: grows by a suspend */
	int64_t began;	    /* mono; this run of the daemon */
	int64_t timer_set;  /* what the timerfd is set to; LEASE_NEVER = off */
	struct judge judge;
	int64_t grace;	    /* the renew_grace of [defaults] */
	struct silence silence;
	int64_t hold_wall;  /* wall ns; 0 = no hold */
	char hold_by[64];
	int64_t checkpoint; /* mono; the last one written */
	struct hearing hearing;
	struct rescan scan;
	int64_t prune_at;   /* mono; state files and archive */
	int64_t room_at;    /* mono; not before this is room made in the tree again */
	int64_t last_kept;  /* mono; when a state file was last left to be pruned (a lease ended, an ask was answered) */
	char boot[LEASE_BOOT_SIZE];
	struct entries_by_id by_id;
	struct entries_by_due by_due;
	struct users users;
	LIST_HEAD(, entry) changed;
	LIST_HEAD(, entry) drowsy; /* at the end of the turn those of them that may go to rest do */
	struct rests rests;
	int laid_down;	       /* to rest, since their memory was last given back */
	struct lease at_rest; /* the one that is looked at */
	struct sweep sweep;
	struct tidy tidy;
	int64_t peeks_put_off; /* mono; of the turn that had something to do first; 0 = they were looked at */
	int64_t away;	    /* ns without a daemon in this boot, in all */
	TAILQ_HEAD(, user) wanting;
	TAILQ_HEAD(, entry) requests;
	LIST_HEAD(, exec) execs, execs_over; /* over: freed at the end of the turn */
	STAILQ_HEAD(, reply) replies; /* of this turn, in order */
	LIST_HEAD(, flight) flights;
	SLIST_HEAD(, runtime) runtimes;
	TAILQ_HEAD(doubts, doubt) doubts; /* oldest first, so the first is due first */
	int n_doubts;
	int acts;	/* under way, without enters */
	int starting;	/* leases in STARTING */
	int64_t admit_at;	/* mono; when a user's next start may be admitted that was not now */
	uint64_t serial, admissions;
	bool rescan; /* everything is to be looked at anew */
	bool stop, broken;
	bool unreadable; /* the registry has leases that cannot be read: nothing is done to what is theirs */
	bool admit;	/* somebody came, or a place was freed: admission is to look, in this turn or at once in the next */
	int ready_fd;	/* written to once when ready; -1 = nobody waits */
};

/* watcher.c. Runs until told to stop; 0 = in good order. Takes w over. */
int watcher_run(struct watcher *w);
int64_t one_grace(const struct watcher *w); /* the renew_grace of [defaults] */

/* entry.c: the leases in memory. */
struct entry *entry_find(struct watcher *w, const char *id); /* wakes it; NULL with w->broken: the registry fails */
bool entry_known(struct watcher *w, const char *id);	     /* wakes nobody */
struct entry *entry_next(struct watcher *w, struct entry *e); /* all that are awake, by id; NULL starts */
struct entry *entry_after(struct watcher *w, const char *id); /* the first with a larger id; that one may be gone */
struct entry *entry_first_due(struct watcher *w);
struct entry *entry_next_due(struct entry *e);
/* In the tree of ids, not yet counted as its user's; NULL = no memory. */
struct entry *entry_new(struct watcher *w, const char *id, uint32_t uid);
void entry_free(struct watcher *w, struct entry *e);
void entry_due(struct watcher *w, struct entry *e, int64_t at);
void entry_changed(struct watcher *w, struct entry *e);
struct user *user_get(struct watcher *w, uint32_t uid);
struct user *user_next(struct watcher *w, struct user *u); /* NULL starts */
int source_add(struct watcher *w, struct source *s, enum source_kind kind, int fd, void *owner);
void source_drop(struct watcher *w, struct source *s);

/* step.c: the table, taken. */
struct lock_ref lock_of(const struct entry *e);
void step(struct watcher *w, struct entry *e, enum event ev, int64_t at, const char *why);
void step_first(struct watcher *w, struct entry *e); /* a new request's ledger line */
void want_act(struct watcher *w, struct entry *e, enum act_verb verb); /* sent after the commit */
int checkpoint_write(struct watcher *w);
int flush(struct watcher *w);	 /* after the commit: acts and state files */
bool turn_begin(struct watcher *w);
bool turn_commit(struct watcher *w); /* false: the registry failed; the turn's steps were rolled back by ending */

void registry_failed(struct watcher *w, const char *what); /* what: "a row" and the like, that could not be kept or read */

/* clocks.c: whether the wall clock was set, or the host slept. */
void clocks_read(struct watcher *w); /* w->now; sees what has changed */
void clocks_seen(struct watcher *w, struct clock_now *now); /* of what was read; reads it again when it is in doubt */
void clocks_woken(struct watcher *w);
int clocks_open(struct watcher *w);
void clocks_begin(struct watcher *w, const struct registry_clock *last); /* NULL: of this boot there is no checkpoint */

/* doze.c: leases go to rest and are woken. */
struct entry *entry_wake(struct watcher *w, uint32_t n);
void entry_dozes(struct watcher *w, struct entry *e); /* it was looked at: at the end of the turn it may go to rest */
int rest_begin(struct watcher *w);
void rest_all(struct watcher *w);		       /* those who doze, and may */
void look_at_rest(struct watcher *w, uint32_t n);      /* and wakes it when anything is due */
bool rest_look(struct watcher *w, const char *id, const char *name); /* false: none of that id and name rests */
bool rest_seen(struct watcher *w, const char *id, const char *name); /* the same, by a scan: it is where it belongs */
void rest_unseen_due(struct watcher *w); /* after the scan: the others are to be looked for */
void policy_reload(struct watcher *w);
void sweep_begin(struct watcher *w, bool policies, bool views);
void sweep_unshown(struct watcher *w);
bool sweeping(const struct watcher *w);
void sweep_run(struct watcher *w);
/* hearing.c: events, that they come, and what is done where they don't. */
int hearing_open(struct watcher *w);
void hearing_read(struct watcher *w);
void hearing_turn(struct watcher *w);
int64_t hearing_wake(struct watcher *w); /* mono; the next of the looks that it needs; LEASE_NEVER = none */

/* degraded.c: what is wrong with that. */
void degraded_set(struct watcher *w, enum trouble t, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void degraded_clear(struct watcher *w, enum trouble t);
void degraded_tell(struct watcher *w); /* at the end of a turn: log and beacon */
void degraded_words(const struct watcher *w, char *buf, size_t size); /* "" = nothing */
void degraded_lock(struct watcher *w, struct entry *e, int error); /* errno of its watch; 0 = it has one, or needs none */
void degraded_lease(const struct entry *e, char buf[LEASE_WHY_SIZE]); /* "" = nothing */

/* rescan.c */
void rescan_turn(struct watcher *w);
int64_t rescan_wake(const struct watcher *w);
void scan_all(struct watcher *w); /* at the start: all of it at once */

/* scan.c: names. */
void scan_name(struct watcher *w, enum watch_kind kind, const char *name);
int scan_folder(const struct watcher *w, enum watch_kind kind); /* queue/ or active/ */
void scan_doubts(struct watcher *w); /* the second looks that are due */
/* true: it gets a second look, do nothing now */
bool scan_doubt(struct watcher *w, enum watch_kind kind, const char *name, uint32_t uid);
void report_rubbish(struct watcher *w, uint32_t uid, const char *name, const char *why); /* a bounded number a user and hour */
/* why NULL: half written, so not yet reported; of too many, removed */
void stray(struct watcher *w, int dirfd, const char *name, const struct lease_stat *st, const char *why);
void refuse_file(struct watcher *w, int dirfd, const char *name, uint32_t uid, const char *why); /* and into the quarantine */

/* judge.c: looking at a lease and asking for the verdict. */
void look(struct watcher *w, struct entry *e);
/* lease_looked, also of what came in this turn. keep: where it was credited only we know, and a restart would credit it anew. */
int64_t look_credit(struct watcher *w, struct lease *l, int64_t mtime, bool *ret_keep);
void entry_keep(struct watcher *w, struct entry *e); /* its row is written in this turn */
void look_at_lock(struct watcher *w, struct entry *e); /* of this, only what the tree says of its lock */
void look_at_due(struct watcher *w);
enum event beat_of(const struct lease *l); /* what a beat is for it */
bool beat_matters(const struct lease *l); /* its next beat must be seen at once */

/* breaker-count.c: who is silent. */
/* After each look: marks a lease that has fallen silent. Gives when it will have (LEASE_NEVER: it has, or never). */
int64_t breaker_look(struct watcher *w, struct entry *e);
/* After each step; expires: when its ttl was over before it. */
void breaker_stepped(struct watcher *w, struct entry *e, enum event ev, int64_t expires);
/* The same of one at rest, which is never marked: when it is due it must be awake. */
int64_t breaker_look_at_rest(struct watcher *w, const struct lease *l);
void breaker_count_at_rest(struct watcher *w, struct user *u); /* one that was never awake */
void breaker_count(struct watcher *w, struct entry *e); /* of this, whether it lives */
/* Whether one whose ttl is over at `expires` counts, and is held: not, when it has had its hold. */
bool breaker_counted(const struct watcher *w, const struct entry *e, int64_t expires);
/* u NULL: of all users. Forgets what ended by silence before that time. */
void breaker_forget(struct watcher *w, const struct user *u, int64_t before);
/* Who is spent counts no longer, and all of the silent are judged anew. */
void breaker_recount(struct watcher *w, const struct user *u);

/* breaker.c: mass silence; core/breaker.h says what it is about. */
const struct breaker_rule *breaker_rule(const struct watcher *w);
void breaker_taken_up(struct watcher *w, struct user *u, struct entry *e); /* one of the registry's; NULL: it rests */
struct breaker breaker_of(const struct watcher *w, const struct entry *e); /* what it is judged by */
enum breaker_says { BREAKER_REAP, BREAKER_HOLD, BREAKER_WAIT };
/* Whether a lease that is due by silence is reaped. WAIT: ask again in the next turn. */
enum breaker_says breaker_ask(struct watcher *w, const struct entry *e);
void breaker_tick(struct watcher *w); /* ends a trip whose time is over, or whose reason has gone */
bool breaker_let_go(struct watcher *w, uint32_t uid); /* by hand; false: it had not tripped */
void breaker_hold_over(struct watcher *w); /* a hold was lifted or is over: what it held is not held again */
void breaker_load(struct watcher *w); /* before all leases */

/* admit.c */
/* final: a second look; what is wrong with it now is judged. */
void admit_receive(struct watcher *w, enum watch_kind kind, const char *name, const struct lease_stat *st, bool final);
void admit_run(struct watcher *w);
void admit_wait(struct watcher *w, struct entry *e); /* a request that waits on: until when, or denied */
void admit_add(struct watcher *w, struct entry *e);  /* a new one, or one of the registry's */
/* New settings for one that lives: what would be due by them now gets a fresh full period. True: something would be. */
bool admit_policy_take(struct watcher *w, struct entry *e);
void runtimes_ask_again(struct watcher *w); /* of those that did not work */
void admit_permitted(struct watcher *w, const struct act_answer *a);
void runtime_probe(struct watcher *w, const char *name); /* what it can do is asked, once a run of the daemon */
const struct runtime *runtime_known(const struct watcher *w, const char *name); /* NULL: it has not answered yet */
bool runtime_hibernates(const struct watcher *w, const char *name); /* as far as is known */
/* What it can do, in words, and why no more; "" = not known. */
void runtime_words(const struct watcher *w, const char *name, char buf[LEASE_WHY_SIZE]);

/* life.c: pidfds of leaders, keepers, waiters. */
void life_follow(struct watcher *w, struct entry *e);
void life_died(struct watcher *w, struct source *s);

/* session.c: leases that are sessions, and what is bound to them. */
void session_lost_leader(struct watcher *w, struct entry *e); /* does anything else of it live? */
void session_told(struct watcher *w, struct entry *e, const struct act_answer *a);
struct lease_process session_leader(struct watcher *w, struct entry *e, uint32_t *ret_uid);
bool session_closed_by_pam(struct watcher *w, const struct entry *e);
void session_begun(struct watcher *w, struct entry *e);
void session_over(struct watcher *w, struct entry *e, enum event ev);
void session_look(struct watcher *w, struct entry *e); /* of a bound lease: what its session renews */
void session_warn(struct watcher *w, const struct entry *e);
void session_notice(struct watcher *w, const struct entry *e);

/* fair.c: who goes next where there are fewer places than wishes. */
bool fair_place(int taken, int own);
/* Whether one of `own` places and a last turn goes before the other. */
bool fair_before(int own, uint64_t last, int best_own, uint64_t best_last);
void fair_want(struct watcher *w, struct entry *e); /* it waits for a free act from now on, if it doesn't yet */
void fair_unwant(struct watcher *w, struct entry *e);
struct entry *fair_next_act(struct watcher *w);
void fair_started(struct watcher *w, struct entry *e, int by); /* +1, -1 */
/* send_request for a user's act, counted until it is answered. */
int flight_send(struct watcher *w, struct act_request *r, struct user *u, bool enter);
struct user *flight_landed(struct watcher *w, uint64_t serial, bool *ret_enter); /* NULL = none of these */

/* ration.c: what one user can make the daemon write down. */
bool ration_left(struct watcher *w, const struct user *u, enum ration what, int64_t *ret_when); /* when: mono, of the next one */
void ration_take(struct watcher *w, struct user *u, enum ration what);
void keep_file(struct watcher *w, struct user *u, const char *name); /* name stays in state/ after the end */

/* engine.c: what the runtime of a lease says of it, and is to do before its end. */
bool engine_drives(const struct entry *e); /* neither process nor session: what runs is told by its runtime alone */
bool engine_copy_due(struct watcher *w, const struct entry *e);
void engine_copied(struct watcher *w, struct entry *e, const struct act_answer *a);
void engine_told(struct watcher *w, struct entry *e, const struct act_answer *a); /* a stat */
/* True: it is not idle before its network has been looked at; that is asked for, or due at *ret_at. */
bool engine_net_first(struct watcher *w, struct entry *e, int64_t *ret_at);
void engine_follow(struct watcher *w, struct entry *e); /* the top of what it runs, where it was told */
void engine_asked(struct watcher *w, struct entry *e);	/* to be asked how it stands */
void engine_lost_top(struct watcher *w, struct entry *e); /* that process has died */

/* answer.c */
#define COLD_WORDS "started anew: what was in its memory is lost" /* how the ledger's line of it begins */
void answers_read(struct watcher *w);
int send_request(struct watcher *w, struct act_request *r);

/* asks.c */
void ask_receive(struct watcher *w, const char *name);
void ask_say(struct watcher *w, const char *ask, const char *result, const char *what); /* told after the commit */
void asks_flush(struct watcher *w); /* after the commit: the answers */
void ask_execs_enter(struct watcher *w, struct user *u); /* as many of a user's as may be let in now */
void ask_lease_active(struct watcher *w, const struct entry *e);
void ask_entered(struct watcher *w, const struct act_answer *a);
void ask_lease_over(struct watcher *w, const struct entry *e);
void ask_exec_died(struct watcher *w, struct exec *x);
void kept(struct watcher *w); /* a state file was written that is to go after ENDED_KEEP */

/* hold.c */
void ask_hold(struct watcher *w, const char *ask, const struct ask *q, uint32_t uid);
void ask_breaker_release(struct watcher *w, const char *ask, uint32_t uid);
void beacon_write(struct watcher *w);
void hold_load(struct watcher *w);
void hold_over(struct watcher *w); /* lifts one whose time has come */

/* restart.c */
int restart_load(struct watcher *w);
bool unreadable(struct watcher *w, const char *id); /* of a lease whose row cannot be read */
void unreadable_found(struct watcher *w);	    /* registry_error says which */

/* tidy.c: state files of what is over, and after a start those that are missing or lie. */
void tidy_begin(struct watcher *w, bool first);
void tidy_run(struct watcher *w);

#endif
