#include "core/state.h"

#include <string.h>

/* Short for the table; each cell still says in words what it does. */
#define TO(state_, actions_) { (state_), (actions_) }
#define IGNORE(state_) { (state_), AC_IGNORE }
#define NEVER(state_) { (state_), AC_NEVER }

/* How every living state ends, but for a session's close, which is each state's own. */
#define ENDS                                                                                                 \
	[EV_EXPIRY_DUE] = TO(ST_EXPIRED, AC_COMMIT), [EV_LIFETIME_DUE] = TO(ST_EXPIRED, AC_TAKE),            \
	[EV_RELEASED] = TO(ST_EXPIRED, AC_TAKE), [EV_LEADER_DIED] = TO(ST_EXPIRED, AC_TAKE),                 \
	[EV_STOPPED] = TO(ST_EXPIRED, AC_TAKE), [EV_BOOT] = TO(ST_EXPIRED, AC_TAKE)
/* Answers that can only come late: the act was overtaken by something stronger. */
#define LATE_ANSWERS(state_)                                                                                 \
	[EV_HIBERNATED] = IGNORE(state_), [EV_HIBERNATE_FAILED] = IGNORE(state_),                            \
	[EV_RESUMED] = IGNORE(state_), [EV_RESUME_FAILED] = IGNORE(state_), [EV_STARTED] = IGNORE(state_),   \
	[EV_START_FAILED] = IGNORE(state_)
/* A resume that was given up at its deadline and asked for again may answer twice. */
#define LATE_RESUME(state_) [EV_RESUMED] = IGNORE(state_), [EV_RESUME_FAILED] = IGNORE(state_)
#define ADMITTED_ALREADY(state_)                                                                             \
	[EV_ADMIT] = NEVER(state_), [EV_DENY] = NEVER(state_), [EV_WITHDRAWN] = IGNORE(state_)
#define NOT_DESTROYING(state_) [EV_DESTROYED] = NEVER(state_), [EV_DESTROY_FAILED] = NEVER(state_)
#define LOCK(state_)                                                                                         \
	[EV_LOCK_LOST] = TO(state_, AC_REPORT), [EV_LOCK_FOUND] = TO(state_, AC_REPORT)
/* Once the end is committed, nothing brings a lease back: renewing it was refused from then on. */
#define OVER(state_)                                                                                         \
	ADMITTED_ALREADY(state_), LATE_ANSWERS(state_), [EV_BEAT] = IGNORE(state_), [EV_USE] = IGNORE(state_),\
	[EV_RENEWED] = IGNORE(state_), [EV_TAKEN_OVER] = IGNORE(state_), [EV_ASK_RESUME] = IGNORE(state_),   \
	[EV_ASK_HIBERNATE] = IGNORE(state_), [EV_IDLE_DUE] = NEVER(state_),                                  \
	[EV_HIBERNATE_DUE] = NEVER(state_), [EV_EXPIRY_DUE] = NEVER(state_),                                 \
	[EV_LIFETIME_DUE] = NEVER(state_), [EV_RETENTION_DUE] = NEVER(state_), [EV_LINGER_DUE] = NEVER(state_),\
	[EV_PRESSURE] = IGNORE(state_), [EV_EVICT] = IGNORE(state_), [EV_BREAKER] = IGNORE(state_),          \
	[EV_RELEASED] = IGNORE(state_), [EV_LEADER_DIED] = IGNORE(state_),                                   \
	[EV_SESSION_CLOSED] = IGNORE(state_), [EV_SESSION_ORPHANED] = IGNORE(state_),                        \
	[EV_STOPPED] = IGNORE(state_), [EV_LOCK_LOST] = IGNORE(state_), [EV_LOCK_FOUND] = IGNORE(state_)

const struct cell state_table[ST_MAX][EV_MAX] = {
	[ST_REQUESTED] = {
		[EV_ADMIT] = TO(ST_STARTING, AC_MOVE_IN | AC_RENEW | AC_CREATE),
		[EV_DENY] = TO(ST_DENIED, AC_TAKE | AC_END | AC_REPORT),
		[EV_WITHDRAWN] = TO(ST_DENIED, AC_TAKE | AC_END),
		[EV_BEAT] = IGNORE(ST_REQUESTED), /* a request holds nothing that could be renewed */
		[EV_USE] = IGNORE(ST_REQUESTED),
		[EV_RENEWED] = IGNORE(ST_REQUESTED),
		[EV_TAKEN_OVER] = IGNORE(ST_REQUESTED),
		[EV_ASK_RESUME] = IGNORE(ST_REQUESTED),
		[EV_ASK_HIBERNATE] = IGNORE(ST_REQUESTED),
		[EV_IDLE_DUE] = NEVER(ST_REQUESTED),
		[EV_HIBERNATE_DUE] = NEVER(ST_REQUESTED),
		[EV_EXPIRY_DUE] = NEVER(ST_REQUESTED),
		[EV_LIFETIME_DUE] = NEVER(ST_REQUESTED),
		[EV_RETENTION_DUE] = NEVER(ST_REQUESTED),
		[EV_LINGER_DUE] = NEVER(ST_REQUESTED),
		[EV_DEADLINE] = NEVER(ST_REQUESTED),
		[EV_RETRY_DUE] = NEVER(ST_REQUESTED),
		[EV_PRESSURE] = IGNORE(ST_REQUESTED),
		[EV_EVICT] = IGNORE(ST_REQUESTED),
		[EV_BREAKER] = IGNORE(ST_REQUESTED),
		[EV_RELEASED] = TO(ST_DENIED, AC_TAKE | AC_END),
		[EV_LEADER_DIED] = TO(ST_DENIED, AC_TAKE | AC_END),
		[EV_SESSION_CLOSED] = TO(ST_DENIED, AC_TAKE | AC_END),
		[EV_SESSION_ORPHANED] = TO(ST_DENIED, AC_TAKE | AC_END),
		[EV_STOPPED] = TO(ST_DENIED, AC_TAKE | AC_END), /* the gated process died while it waited */
		[EV_LOCK_LOST] = TO(ST_DENIED, AC_END),
		[EV_LOCK_FOUND] = IGNORE(ST_REQUESTED),
		LATE_ANSWERS(ST_REQUESTED),
		NOT_DESTROYING(ST_REQUESTED),
		[EV_RESTART] = IGNORE(ST_REQUESTED),
		[EV_BOOT] = TO(ST_DENIED, AC_TAKE | AC_END),
	},
	[ST_STARTING] = {
		[EV_ADMIT] = NEVER(ST_STARTING),
		[EV_DENY] = NEVER(ST_STARTING),
		[EV_WITHDRAWN] = TO(ST_EXPIRED, AC_TAKE),
		[EV_STARTED] = TO(ST_ACTIVE, AC_RENEW | AC_USE),
		[EV_START_FAILED] = TO(ST_ROLLBACK, AC_TAKE | AC_REPORT),
		[EV_BEAT] = TO(ST_STARTING, AC_RENEW | AC_USE),
		[EV_USE] = TO(ST_STARTING, AC_USE),
		[EV_RENEWED] = TO(ST_STARTING, AC_RENEW),
		[EV_TAKEN_OVER] = IGNORE(ST_STARTING),
		[EV_ASK_RESUME] = IGNORE(ST_STARTING),
		[EV_ASK_HIBERNATE] = IGNORE(ST_STARTING), /* what starts is not idle */
		[EV_IDLE_DUE] = NEVER(ST_STARTING),
		[EV_HIBERNATE_DUE] = NEVER(ST_STARTING),
		[EV_RETENTION_DUE] = NEVER(ST_STARTING),
		[EV_LINGER_DUE] = NEVER(ST_STARTING),
		[EV_DEADLINE] = TO(ST_ROLLBACK, AC_TAKE | AC_REPORT),
		[EV_RETRY_DUE] = NEVER(ST_STARTING),
		[EV_PRESSURE] = IGNORE(ST_STARTING),
		[EV_EVICT] = IGNORE(ST_STARTING),
		[EV_BREAKER] = IGNORE(ST_STARTING),
		/* It holds nothing yet that could be late: its start has a deadline of its own. */
		[EV_EXPIRY_DUE] = NEVER(ST_STARTING),
		[EV_LIFETIME_DUE] = NEVER(ST_STARTING),
		[EV_RELEASED] = TO(ST_EXPIRED, AC_TAKE),
		[EV_LEADER_DIED] = TO(ST_EXPIRED, AC_TAKE),
		[EV_SESSION_CLOSED] = TO(ST_EXPIRED, AC_TAKE),
		[EV_SESSION_ORPHANED] = TO(ST_EXPIRED, AC_TAKE),
		[EV_STOPPED] = TO(ST_ROLLBACK, AC_TAKE),
		LOCK(ST_STARTING),
		[EV_HIBERNATED] = NEVER(ST_STARTING),
		[EV_HIBERNATE_FAILED] = NEVER(ST_STARTING),
		[EV_RESUMED] = NEVER(ST_STARTING),
		[EV_RESUME_FAILED] = NEVER(ST_STARTING),
		NOT_DESTROYING(ST_STARTING),
		[EV_RESTART] = TO(ST_STARTING, AC_CREATE),
		[EV_BOOT] = TO(ST_EXPIRED, AC_TAKE),
	},
	[ST_ACTIVE] = {
		ADMITTED_ALREADY(ST_ACTIVE),
		[EV_STARTED] = NEVER(ST_ACTIVE),
		[EV_START_FAILED] = NEVER(ST_ACTIVE),
		[EV_BEAT] = TO(ST_ACTIVE, AC_RENEW | AC_USE),
		[EV_USE] = TO(ST_ACTIVE, AC_USE),
		[EV_RENEWED] = TO(ST_ACTIVE, AC_RENEW),
		[EV_TAKEN_OVER] = IGNORE(ST_ACTIVE),
		[EV_ASK_RESUME] = TO(ST_ACTIVE, AC_USE),
		[EV_ASK_HIBERNATE] = TO(ST_HIBERNATING, AC_HIBERNATE),
		[EV_IDLE_DUE] = TO(ST_IDLE, AC_STEP),
		[EV_HIBERNATE_DUE] = NEVER(ST_ACTIVE),
		[EV_RETENTION_DUE] = NEVER(ST_ACTIVE),
		[EV_LINGER_DUE] = NEVER(ST_ACTIVE),
		[EV_DEADLINE] = NEVER(ST_ACTIVE),
		[EV_RETRY_DUE] = NEVER(ST_ACTIVE),
		[EV_PRESSURE] = IGNORE(ST_ACTIVE), /* only what is idle is reclaimed; it was used since it was chosen */
		[EV_EVICT] = IGNORE(ST_ACTIVE),
		[EV_BREAKER] = TO(ST_HIBERNATING, AC_HIBERNATE | AC_REPORT),
		ENDS,
		[EV_SESSION_CLOSED] = TO(ST_LINGERING, AC_STEP),
		[EV_SESSION_ORPHANED] = TO(ST_LINGERING, AC_STEP),
		LOCK(ST_ACTIVE), /* lease_apply takes its last use back: idle next, unless something else uses it */
		/* Given up, and overtaken by the answer of an older resume; the resume behind it puts it right. */
		[EV_HIBERNATED] = IGNORE(ST_ACTIVE),
		[EV_HIBERNATE_FAILED] = IGNORE(ST_ACTIVE),
		LATE_RESUME(ST_ACTIVE),
		NOT_DESTROYING(ST_ACTIVE),
		[EV_RESTART] = IGNORE(ST_ACTIVE),
	},
	[ST_IDLE] = {
		ADMITTED_ALREADY(ST_IDLE),
		[EV_STARTED] = NEVER(ST_IDLE),
		[EV_START_FAILED] = NEVER(ST_IDLE),
		[EV_BEAT] = TO(ST_ACTIVE, AC_RENEW | AC_USE),
		[EV_USE] = TO(ST_ACTIVE, AC_USE),
		[EV_RENEWED] = TO(ST_IDLE, AC_RENEW),
		[EV_TAKEN_OVER] = IGNORE(ST_IDLE),
		[EV_ASK_RESUME] = TO(ST_ACTIVE, AC_USE),
		[EV_ASK_HIBERNATE] = TO(ST_HIBERNATING, AC_HIBERNATE),
		[EV_IDLE_DUE] = NEVER(ST_IDLE),
		[EV_HIBERNATE_DUE] = TO(ST_HIBERNATING, AC_HIBERNATE),
		[EV_RETENTION_DUE] = NEVER(ST_IDLE),
		[EV_LINGER_DUE] = NEVER(ST_IDLE),
		[EV_DEADLINE] = NEVER(ST_IDLE),
		[EV_RETRY_DUE] = NEVER(ST_IDLE),
		[EV_PRESSURE] = TO(ST_HIBERNATING, AC_HIBERNATE),
		[EV_EVICT] = TO(ST_EXPIRED, AC_COMMIT),
		[EV_BREAKER] = TO(ST_HIBERNATING, AC_HIBERNATE | AC_REPORT),
		ENDS,
		[EV_SESSION_CLOSED] = TO(ST_LINGERING, AC_STEP),
		[EV_SESSION_ORPHANED] = TO(ST_LINGERING, AC_STEP),
		LOCK(ST_IDLE),
		/* A hibernate that was given up at its deadline may answer after all; the next one puts it right. */
		[EV_HIBERNATED] = IGNORE(ST_IDLE),
		[EV_HIBERNATE_FAILED] = IGNORE(ST_IDLE),
		LATE_RESUME(ST_IDLE),
		NOT_DESTROYING(ST_IDLE),
		[EV_RESTART] = IGNORE(ST_IDLE),
	},
	[ST_HIBERNATING] = {
		ADMITTED_ALREADY(ST_HIBERNATING),
		[EV_STARTED] = NEVER(ST_HIBERNATING),
		[EV_START_FAILED] = NEVER(ST_HIBERNATING),
		[EV_BEAT] = TO(ST_HIBERNATING, AC_RENEW | AC_USE | AC_WANT),
		[EV_USE] = TO(ST_HIBERNATING, AC_USE | AC_WANT),
		[EV_RENEWED] = TO(ST_HIBERNATING, AC_RENEW),
		[EV_TAKEN_OVER] = IGNORE(ST_HIBERNATING),
		[EV_ASK_RESUME] = TO(ST_HIBERNATING, AC_USE | AC_WANT),
		[EV_ASK_HIBERNATE] = IGNORE(ST_HIBERNATING),
		[EV_IDLE_DUE] = NEVER(ST_HIBERNATING),
		[EV_HIBERNATE_DUE] = NEVER(ST_HIBERNATING),
		[EV_RETENTION_DUE] = NEVER(ST_HIBERNATING),
		[EV_LINGER_DUE] = NEVER(ST_HIBERNATING),
		/* Nobody knows how far it came: resume, which is done at once where it never stopped. */
		[EV_DEADLINE] = TO(ST_RESUMING, AC_RESUME | AC_REPORT),
		[EV_RETRY_DUE] = NEVER(ST_HIBERNATING),
		[EV_PRESSURE] = IGNORE(ST_HIBERNATING),
		[EV_EVICT] = IGNORE(ST_HIBERNATING),
		[EV_BREAKER] = IGNORE(ST_HIBERNATING),
		ENDS, /* the actor never runs two acts on one lease at a time, so the destroy waits for this one */
		[EV_SESSION_CLOSED] = TO(ST_LINGERING, AC_STEP),
		[EV_SESSION_ORPHANED] = TO(ST_LINGERING, AC_STEP),
		LOCK(ST_HIBERNATING),
		[EV_HIBERNATED] = TO(ST_HIBERNATED, AC_STEP),
		[EV_HIBERNATE_FAILED] = TO(ST_IDLE, AC_REPORT),
		LATE_RESUME(ST_HIBERNATING),
		NOT_DESTROYING(ST_HIBERNATING),
		[EV_RESTART] = TO(ST_HIBERNATING, AC_HIBERNATE),
	},
	[ST_HIBERNATED] = {
		ADMITTED_ALREADY(ST_HIBERNATED),
		[EV_STARTED] = NEVER(ST_HIBERNATED),
		[EV_START_FAILED] = NEVER(ST_HIBERNATED),
		[EV_BEAT] = TO(ST_RESUMING, AC_RENEW | AC_USE | AC_RESUME),
		[EV_USE] = TO(ST_RESUMING, AC_USE | AC_RESUME),
		[EV_RENEWED] = TO(ST_HIBERNATED, AC_RENEW), /* a session's renewal keeps it, and wakes nothing */
		[EV_TAKEN_OVER] = IGNORE(ST_HIBERNATED),
		[EV_ASK_RESUME] = TO(ST_RESUMING, AC_USE | AC_RESUME),
		[EV_ASK_HIBERNATE] = IGNORE(ST_HIBERNATED),
		[EV_IDLE_DUE] = NEVER(ST_HIBERNATED),
		[EV_HIBERNATE_DUE] = NEVER(ST_HIBERNATED),
		[EV_RETENTION_DUE] = TO(ST_EXPIRED, AC_COMMIT),
		[EV_LINGER_DUE] = NEVER(ST_HIBERNATED),
		[EV_DEADLINE] = NEVER(ST_HIBERNATED),
		[EV_RETRY_DUE] = TO(ST_RESUMING, AC_RESUME), /* a resume failed and it is still wanted */
		[EV_PRESSURE] = IGNORE(ST_HIBERNATED),
		[EV_EVICT] = TO(ST_EXPIRED, AC_COMMIT),
		[EV_BREAKER] = IGNORE(ST_HIBERNATED),
		ENDS,
		[EV_SESSION_CLOSED] = TO(ST_LINGERING, AC_STEP),
		[EV_SESSION_ORPHANED] = TO(ST_LINGERING, AC_STEP),
		LOCK(ST_HIBERNATED),
		/* Both it and the resume behind it were given up; the retry comes last. */
		[EV_HIBERNATED] = IGNORE(ST_HIBERNATED),
		[EV_HIBERNATE_FAILED] = IGNORE(ST_HIBERNATED),
		[EV_RESUMED] = IGNORE(ST_HIBERNATED), /* after RESUMING's deadline: the retry finds it running */
		[EV_RESUME_FAILED] = IGNORE(ST_HIBERNATED),
		NOT_DESTROYING(ST_HIBERNATED),
		[EV_RESTART] = IGNORE(ST_HIBERNATED),
	},
	[ST_RESUMING] = {
		ADMITTED_ALREADY(ST_RESUMING),
		[EV_STARTED] = NEVER(ST_RESUMING),
		[EV_START_FAILED] = NEVER(ST_RESUMING),
		[EV_BEAT] = TO(ST_RESUMING, AC_RENEW | AC_USE),
		[EV_USE] = TO(ST_RESUMING, AC_USE),
		[EV_RENEWED] = TO(ST_RESUMING, AC_RENEW),
		[EV_TAKEN_OVER] = IGNORE(ST_RESUMING),
		[EV_ASK_RESUME] = IGNORE(ST_RESUMING),
		[EV_ASK_HIBERNATE] = IGNORE(ST_RESUMING),
		[EV_IDLE_DUE] = NEVER(ST_RESUMING),
		[EV_HIBERNATE_DUE] = NEVER(ST_RESUMING),
		[EV_RETENTION_DUE] = NEVER(ST_RESUMING),
		[EV_LINGER_DUE] = NEVER(ST_RESUMING),
		[EV_DEADLINE] = TO(ST_HIBERNATED, AC_BACKOFF | AC_WANT | AC_REPORT),
		[EV_RETRY_DUE] = NEVER(ST_RESUMING),
		[EV_PRESSURE] = IGNORE(ST_RESUMING),
		[EV_EVICT] = IGNORE(ST_RESUMING),
		[EV_BREAKER] = IGNORE(ST_RESUMING),
		ENDS,
		[EV_SESSION_CLOSED] = TO(ST_LINGERING, AC_STEP),
		[EV_SESSION_ORPHANED] = TO(ST_LINGERING, AC_STEP),
		LOCK(ST_RESUMING),
		[EV_HIBERNATED] = IGNORE(ST_RESUMING), /* after HIBERNATING's deadline: the resume comes behind it */
		[EV_HIBERNATE_FAILED] = IGNORE(ST_RESUMING),
		[EV_RESUMED] = TO(ST_ACTIVE, AC_USE),
		[EV_RESUME_FAILED] = TO(ST_HIBERNATED, AC_BACKOFF | AC_WANT | AC_REPORT),
		NOT_DESTROYING(ST_RESUMING),
		[EV_RESTART] = TO(ST_RESUMING, AC_RESUME),
	},
	[ST_LINGERING] = {
		ADMITTED_ALREADY(ST_LINGERING),
		LATE_ANSWERS(ST_LINGERING),
		[EV_BEAT] = TO(ST_LINGERING, AC_USE), /* its own beats do not outlast its session */
		[EV_USE] = TO(ST_LINGERING, AC_USE),
		[EV_RENEWED] = IGNORE(ST_LINGERING),
		[EV_TAKEN_OVER] = TO(ST_RESUMING, AC_RENEW | AC_USE | AC_RESUME),
		[EV_ASK_RESUME] = IGNORE(ST_LINGERING),
		[EV_ASK_HIBERNATE] = IGNORE(ST_LINGERING),
		[EV_IDLE_DUE] = NEVER(ST_LINGERING),
		[EV_HIBERNATE_DUE] = NEVER(ST_LINGERING),
		[EV_RETENTION_DUE] = NEVER(ST_LINGERING),
		[EV_LINGER_DUE] = TO(ST_EXPIRED, AC_TAKE),
		[EV_DEADLINE] = IGNORE(ST_LINGERING),
		[EV_RETRY_DUE] = NEVER(ST_LINGERING),
		[EV_PRESSURE] = IGNORE(ST_LINGERING),
		[EV_EVICT] = TO(ST_EXPIRED, AC_TAKE),
		[EV_BREAKER] = IGNORE(ST_LINGERING),
		ENDS,
		[EV_SESSION_CLOSED] = IGNORE(ST_LINGERING),
		[EV_SESSION_ORPHANED] = IGNORE(ST_LINGERING),
		LOCK(ST_LINGERING),
		NOT_DESTROYING(ST_LINGERING),
		[EV_RESTART] = IGNORE(ST_LINGERING),
	},
	[ST_EXPIRED] = {
		OVER(ST_EXPIRED),
		[EV_DEADLINE] = NEVER(ST_EXPIRED),
		[EV_RETRY_DUE] = TO(ST_REAPING, AC_DESTROY),
		[EV_DESTROYED] = TO(ST_REAPED, AC_END), /* a destroy that was given up at its deadline did it after all */
		[EV_DESTROY_FAILED] = IGNORE(ST_EXPIRED),
		[EV_RESTART] = IGNORE(ST_EXPIRED),
		[EV_BOOT] = IGNORE(ST_EXPIRED),
	},
	[ST_REAPING] = {
		OVER(ST_REAPING),
		[EV_DEADLINE] = TO(ST_EXPIRED, AC_BACKOFF | AC_REPORT),
		[EV_RETRY_DUE] = NEVER(ST_REAPING),
		[EV_DESTROYED] = TO(ST_REAPED, AC_END),
		[EV_DESTROY_FAILED] = TO(ST_EXPIRED, AC_BACKOFF | AC_REPORT),
		[EV_RESTART] = TO(ST_EXPIRED, AC_STEP), /* due again at once, but for a hold */
		[EV_BOOT] = TO(ST_EXPIRED, AC_STEP),
	},
	[ST_ROLLBACK] = {
		OVER(ST_ROLLBACK),
		[EV_DEADLINE] = TO(ST_ROLLBACK, AC_BACKOFF | AC_REPORT),
		[EV_RETRY_DUE] = TO(ST_ROLLBACK, AC_DESTROY),
		[EV_DESTROYED] = TO(ST_REAPED, AC_END),
		[EV_DESTROY_FAILED] = TO(ST_ROLLBACK, AC_BACKOFF | AC_REPORT),
		[EV_RESTART] = IGNORE(ST_ROLLBACK), /* its retry is due at once, but for a hold */
		[EV_BOOT] = IGNORE(ST_ROLLBACK),
	},
	/* The row is gone from the registry: whatever still comes in for it comes late. */
	[ST_REAPED] = {
		OVER(ST_REAPED),
		[EV_DEADLINE] = NEVER(ST_REAPED),
		[EV_RETRY_DUE] = NEVER(ST_REAPED),
		[EV_DESTROYED] = IGNORE(ST_REAPED),
		[EV_DESTROY_FAILED] = IGNORE(ST_REAPED),
		[EV_RESTART] = NEVER(ST_REAPED),
		[EV_BOOT] = NEVER(ST_REAPED),
	},
	[ST_DENIED] = {
		OVER(ST_DENIED),
		[EV_DEADLINE] = NEVER(ST_DENIED),
		[EV_RETRY_DUE] = NEVER(ST_DENIED),
		[EV_DESTROYED] = NEVER(ST_DENIED),
		[EV_DESTROY_FAILED] = NEVER(ST_DENIED),
		[EV_RESTART] = NEVER(ST_DENIED),
		[EV_BOOT] = NEVER(ST_DENIED),
	},
};

static const struct {
	const char *name, *public;
} states[ST_MAX] = {
	[ST_NONE] = { "", "" },
	[ST_REQUESTED] = { "requested", "requested" },
	[ST_STARTING] = { "starting", "admitted" },
	[ST_ACTIVE] = { "active", "active" },
	[ST_IDLE] = { "idle", "idle" },
	[ST_HIBERNATING] = { "hibernating", "idle" },
	[ST_HIBERNATED] = { "hibernated", "hibernated" },
	[ST_RESUMING] = { "resuming", "hibernated" },
	[ST_LINGERING] = { "lingering", "idle" },
	[ST_EXPIRED] = { "expired", "expired" },
	[ST_REAPING] = { "reaping", "expired" },
	[ST_ROLLBACK] = { "rollback", "failed" },
	[ST_REAPED] = { "reaped", "reaped" },
	[ST_DENIED] = { "denied", "denied" },
};

static const char *const events[EV_MAX] = {
	[EV_NONE] = "none",
	[EV_ADMIT] = "admit",
	[EV_DENY] = "deny",
	[EV_WITHDRAWN] = "withdrawn",
	[EV_STARTED] = "started",
	[EV_START_FAILED] = "start failed",
	[EV_BEAT] = "beat",
	[EV_USE] = "use",
	[EV_RENEWED] = "renewed",
	[EV_TAKEN_OVER] = "taken over",
	[EV_ASK_RESUME] = "asked to resume",
	[EV_ASK_HIBERNATE] = "asked to hibernate",
	[EV_IDLE_DUE] = "idle due",
	[EV_HIBERNATE_DUE] = "hibernate due",
	[EV_EXPIRY_DUE] = "expiry due",
	[EV_LIFETIME_DUE] = "lifetime due",
	[EV_RETENTION_DUE] = "retention due",
	[EV_LINGER_DUE] = "linger due",
	[EV_DEADLINE] = "deadline passed",
	[EV_RETRY_DUE] = "retry due",
	[EV_PRESSURE] = "pressure",
	[EV_EVICT] = "evict",
	[EV_BREAKER] = "breaker",
	[EV_RELEASED] = "released",
	[EV_LEADER_DIED] = "leader died",
	[EV_SESSION_CLOSED] = "session closed",
	[EV_SESSION_ORPHANED] = "session orphaned",
	[EV_STOPPED] = "workload stopped",
	[EV_LOCK_LOST] = "lock lost",
	[EV_LOCK_FOUND] = "lock found",
	[EV_HIBERNATED] = "hibernated",
	[EV_HIBERNATE_FAILED] = "hibernate failed",
	[EV_RESUMED] = "resumed",
	[EV_RESUME_FAILED] = "resume failed",
	[EV_DESTROYED] = "destroyed",
	[EV_DESTROY_FAILED] = "destroy failed",
	[EV_RESTART] = "daemon restarted",
	[EV_BOOT] = "host booted",
};

const char *state_public(enum state s)
{
	return s < ST_MAX ? states[s].public : "";
}

const char *state_name(enum state s)
{
	return s < ST_MAX ? states[s].name : "";
}

enum state state_by_name(const char *name)
{
	for (int s = ST_NONE + 1; s < ST_MAX; s++)
		if (strcmp(states[s].name, name) == 0)
			return (enum state)s;
	return ST_NONE;
}

bool state_public_valid(const char *word)
{
	for (int s = ST_NONE + 1; s < ST_MAX; s++)
		if (strcmp(states[s].public, word) == 0)
			return true;
	return false;
}

const char *event_name(enum event e)
{
	return e < EV_MAX ? events[e] : "";
}

bool state_ended(enum state s)
{
	return s == ST_REAPED || s == ST_DENIED;
}

bool state_living(enum state s)
{
	return s >= ST_STARTING && s <= ST_LINGERING;
}
