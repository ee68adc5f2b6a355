/*
 * tests/sim/moment.h: a daemon in the simulated machine, a few leases, and what can be made to happen to them at a time or at a
 * call. Each ends the program when it cannot.
 */
#ifndef SIM_MOMENT_H
#define SIM_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/view.h"
#include "lease/duration.h"
#include "lease/id.h"
#include "tests/sim/kernel.h"

#define USER 1000
#define RUN "/sim/run/leasewatch"
#define NOTICES RUN "/notices"
#define CONFIG "/sim/etc/leasewatch.conf"
#define SETTINGS "[profile lab]\nruntime = box\n[defaults]\nrenew_grace = 90s\n"
#define S LEASE_NS_PER_S
#define TTL (60 * S)
#define GRACE (90 * S)
#define HOUR 3600
#define LEASES 10
#define ASK "kls-askaskaska"
#define NEVER_YET INT64_MAX /* not destroyed */

/* Times are true ones (kernel_true). */
struct held {
	char id[LEASE_ID_SIZE], lock[200];
	int created, destroys, hibernates;
	int64_t last_beat, destroyed_at;
	uint64_t generation;
	bool denied;
};

struct moment {
	const char *moment;
	int64_t begun, begun_true; /* mono, and as the leases' times */
	struct held leases[LEASES];
	uint32_t unanswered; /* verbs, as bits */
	uint32_t caps;	     /* of all runtimes */
	bool user_mode;	     /* the daemon is the user's own */
	bool network;	     /* it may serve a tree that is on another machine */
	void (*watch_words)(const char *line); /* of its log; NULL = nobody does */
	struct act_request kept[64];
	int n_kept, troubles;
	uint64_t calls, stall_at; /* from `armed` on: there it is held up, and its first lease beaten meanwhile */
	bool armed, kill_when_told;
	bool last_moment; /* from `armed` on: its first lease is beaten as something is renamed, and calls count from there */
	const char *fails; /* the call that does; NULL = none */
	int fails_after;   /* so many of that name; then it fails once. -1: each fails */
	int64_t ended_at;
	int32_t pid, session_pid; /* the leaders */
};
extern struct moment now;

void check(bool good, const char *what, int line);
#define RIGHT(what) check(what, #what, __LINE__)

void begin(const char *moment, const char *settings);
void of_the_user(void); /* in user mode */
void at(int s, kernel_event *what, void *arg, uint64_t n); /* s: seconds since the begin */
/*
 * A daemon until that second. One that was killed is followed by another after `away` seconds, the clock set by `step`
 * meanwhile, and for a second each call of the name `call_fails` fails (NULL = none).
 */
void live(int until, int away, int64_t step, const char *call_fails);
int start(int s); /* one daemon for so long; what it returned, -1 = it was killed */
void live_on(int until); /* the same; one that gives up is begun anew after a second, too */
void answer(const struct act_request *r);
bool told(const char *ask, struct ask_answer *ret); /* an ask has been answered */

/* --- for at(); arg: a struct held, where nothing else is said --- */
kernel_event make, make_led; /* n: its ttl; the second one's leader is now.pid */
kernel_event make_process;   /* n: its ttl; now.pid is its process, and beats are its use */
kernel_event make_session;   /* the same */
kernel_event make_bound;     /* n: its ttl; to the session that is the first of now.leases */
kernel_event beat;	     /* n: so many more, every 10 s */
kernel_event beat_ahead;     /* n: stamped so many seconds in the future */
kernel_event link_it;	     /* by another name */
kernel_event release;
kernel_event end_leader;       /* arg NULL; the session's, too */
kernel_event hold;	       /* arg NULL; n: seconds. The ask is ASK */
kernel_event exec;	       /* the ask is ASK */
kernel_event leave_unanswered; /* arg NULL; n: a verb of the actor */
kernel_event answer_kept;      /* arg NULL: what was left unanswered */
kernel_event answer_first;     /* arg NULL: the first of it, alone */
kernel_event answer_of_another; /* that it was destroyed, in another life than this one */
kernel_event kill_it, reboot;  /* arg NULL */
kernel_event set_back, set_on; /* arg NULL; the clock, by n seconds */
kernel_event hold_up;	       /* arg NULL; n: seconds */
kernel_event queue_of;	       /* arg NULL; n: so many events has inotify room for */
kernel_event arm;	       /* arg NULL: now.stall_at counts from here */
kernel_event fail;	       /* arg: the name of a call; after n more of it one fails */
kernel_event thrash;	       /* arg NULL; n: one call in n takes up to a tenth of a second; 0 = none */
kernel_event reload;	       /* arg: the new settings */

#endif
