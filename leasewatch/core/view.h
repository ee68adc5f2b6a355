/*
 * core/view.h: what everybody may see of a lease: the text of state/ID, written by the daemon, read by klease.
 * Redacted: no token, no argv, no environment, nothing that a user could not read off the lock. Pure: buffers
 * in, buffers out.
 *
 * The file is lease/kv.h's format, key = the field's name in DESIGN's words, so that grep and sh can read it:
 *	id generation state hibernated(disk|frozen) requester(uid) user surface session runtime profile lock ttl
 *	renew_grace linger
 *	usage priority label… created_at since expires_at last_beat last_use renewed_by mtime leader run why
 *	signals warning held degraded can cold
 *	and, oldest first, the last VIEW_HISTORY transitions: history=SEQ AT FROM TO WHY
 * *_at, since and AT are milliseconds of wall time; durations are spelled as lease/duration.h does.
 *
 * An active lease's beat writes nothing: a reader stats the lock first and passes its mtime to view_refresh.
 */
#ifndef CORE_VIEW_H
#define CORE_VIEW_H

#include "core/lease.h"
#include "lease/kv.h"

#define VIEW_HISTORY 24

struct view_step {
	uint64_t seq; /* the ledger's row number */
	int64_t at;   /* wall ms */
	char from[16], to[16]; /* public names; from is "-" for the first */
	char why[LEASE_WHY_SIZE];
};

struct view {
	char id[LEASE_ID_SIZE], session[LEASE_ID_SIZE];
	char lock[LEASE_NAME_SIZE], user[LEASE_USER_SIZE], surface[LEASE_SURFACE_SIZE];
	char runtime[LEASE_WORD_SIZE], profile[LEASE_WORD_SIZE];
	char state[16];	    /* public name */
	char hibernated[8]; /* "", "disk", "frozen" */
	char usage[16];
	uint64_t generation;
	uint32_t requester;
	int priority;
	int32_t leader;
	bool run;
	int64_t ttl, renew_grace, linger; /* ns */
	/* wall ms; 0 = none. expires_at 0 = held by what renewed_by says */
	int64_t created_at, since, expires_at, last_beat, last_use;
	int64_t mtime;	    /* ns, the lock's version last seen */
	char renewed_by[32]; /* "own beat", "leader alive", "command alive", "session", "receipt" */
	char why[LEASE_WHY_SIZE];
	/* each usage signal and when it was seen: "beat 12s ago; cpu below 1%"; broken ones say so */
	char signals[LEASE_WHY_SIZE];
	char warning[LEASE_WHY_SIZE]; /* "" or what will happen, when */
	char degraded[LEASE_WHY_SIZE]; /* "" or what of its signals can't be trusted to come at once; the daemon's to fill in */
	char can[LEASE_WHY_SIZE];     /* what its runtime can do here, and why no more; the daemon's to fill in */
	char cold[LEASE_WHY_SIZE];    /* "" or why what was in its memory is lost; the daemon's to fill in */
	char held[LEASE_WHY_SIZE];    /* "" or what holds the end back (a hold, a breaker) */
	int n_labels;
	char labels[LEASE_LABELS_MAX][LEASE_LABEL_SIZE];
	int n_history;
	struct view_step history[VIEW_HISTORY];
};

/* Fills in all but the history. held: what holds its end back, "" = nothing. */
void view_of(const struct lease *l, int64_t now, int64_t wall, const char *held, struct view *ret);
int view_format(const struct view *v, char *buf, size_t size, size_t *ret_len);
int view_parse(const char *buf, size_t len, struct view *ret, struct lease_error *err);
/* It waits or lives: neither over nor on its way there. */
bool view_living(const struct view *v);
/* Takes a fresher mtime (ns) of the lock into last_beat, last_use and expires_at. */
void view_refresh(struct view *v, int64_t mtime);
/* Appends a step, the oldest one falls out. */
void view_step_add(struct view *v, const struct view_step *s);

/*
 * The answer to an ask: state/ask-<id>, for klease.
 *	result=done|refused|failed|lost, what=one sentence, word=… (exec: the words before the command) or porter=yes (the
 *	porter knows them: core/porter.h)
 */
#define ASK_WORDS 16
struct ask_answer {
	char result[16];
	char what[LEASE_WHY_SIZE];
	int n_words;
	char words[ASK_WORDS][160];
	bool porter;
};
int ask_answer_format(const struct ask_answer *a, char *buf, size_t size, size_t *ret_len);
int ask_answer_parse(const char *buf, size_t len, struct ask_answer *ret, struct lease_error *err);

/*
 * The ask itself: queue/ask-<id>.
 *	verb=exec|resume|hibernate|renew|hold|unhold|breaker-release
 *	lease=ID ttl=D (renew, hold) pid= pid_start= boot= (exec: the gated process) tty=yes (exec: from a terminal)
 */
enum ask_verb {
	ASK_NONE,
	ASK_EXEC,
	ASK_RESUME,
	ASK_HIBERNATE,
	ASK_RENEW,
	ASK_HOLD,
	ASK_UNHOLD,
	ASK_BREAKER_RELEASE,
	ASK_VERBS
};
struct ask {
	enum ask_verb verb;
	char lease[LEASE_ID_SIZE]; /* "" for hold, unhold, breaker-release */
	int64_t ttl;		   /* 0 = not said */
	struct lease_process process;
	char boot[LEASE_BOOT_SIZE];
	bool tty;
};
int ask_format(const struct ask *a, char *buf, size_t size, size_t *ret_len);
int ask_parse(const char *buf, size_t len, struct ask *ret, struct lease_error *err);
const char *ask_verb_name(enum ask_verb v);

#endif
