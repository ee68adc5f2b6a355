/* asks-exec.c: `klease exec`: who waits to be let into a lease, is let in, and lives in it. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asks.h"
#include "lease/process.h"

void ask_exec(struct watcher *w, const char *ask, const struct ask *q, uint32_t uid, struct entry *e)
{
	struct exec *x;
	int fd, r;

	r = strcmp(q->boot, w->boot) == 0 ? lease_process_open(&q->process, uid, &fd) : -ESRCH;
	if (r < 0) {
		ask_answer(w, ask, "refused", "pid= is not a live process of yours with that start time");
		return;
	}
	struct user *u = user_get(w, uid);
	if (!u || u->execs >= WATCHER_EXECS) {
		close(fd);
		ask_answer(w, ask, "refused", "too many commands of yours run in leases: 128 is the limit");
		return;
	}
	if (!(x = calloc(1, sizeof(*x))))
		close(fd);
	if (!x || source_add(w, &x->src, SRC_EXEC, fd, x) < 0) {
		free(x);
		ask_answer(w, ask, "failed", "the daemon has no room for it now: try again later");
		return;
	}
	memcpy(x->ask, ask, sizeof(x->ask));
	memcpy(x->lease, e->l.id, sizeof(x->lease));
	x->process = q->process;
	x->uid = uid;
	x->waits = true;
	LIST_INSERT_HEAD(&w->execs, x, all);
	e->l.execs++;
	u->execs++;
	step(w, e, EV_ASK_RESUME, w->now.mono, "klease exec");
	if (e->l.state == ST_ACTIVE)
		ask_execs_enter(w, u);
}

/* An event for it may still be among those of this turn: flush frees it. */
static void exec_over(struct watcher *w, struct exec *x)
{
	struct user *u = user_get(w, x->uid);

	if (u && u->execs > 0)
		u->execs--;
	source_drop(w, &x->src);
	LIST_REMOVE(x, all);
	LIST_INSERT_HEAD(&w->execs_over, x, all);
}

void ask_exec_died(struct watcher *w, struct exec *x)
{
	struct entry *e = entry_find(w, x->lease);

	if (e && e->l.execs > 0) {
		e->l.execs--;
		e->l.used = w->now.mono; /* until now it was in use */
		entry_due(w, e, w->now.mono);
	}
	exec_over(w, x);
}

void ask_lease_active(struct watcher *w, const struct entry *e)
{
	struct exec *x;

	/* Its owner's, and root's. */
	LIST_FOREACH(x, &w->execs, all)
		if (x->waits && strcmp(x->lease, e->l.id) == 0)
			ask_execs_enter(w, user_get(w, x->uid));
}

/*
 * Only so many at a time: an act on a lease waits for those before it on the same one, and a hundred commands
 * that are slow to be let in (which is their owner's doing) would put off its end.
 */
void ask_execs_enter(struct watcher *w, struct user *u)
{
	struct exec *x;

	LIST_FOREACH(x, &w->execs, all) {
		const struct entry *e = x->waits && x->uid == u->uid ? entry_find(w, x->lease) : NULL;

		if (u->enters >= WATCHER_ENTERS)
			return;
		if (!e || e->l.state != ST_ACTIVE)
			continue;
		struct act_request r = { .verb = ACT_ENTER, .uid = x->uid, .generation = e->l.generation,
					 .deadline = 10 * LEASE_NS_PER_S, .process = x->process };
		memcpy(r.id, e->l.id, sizeof(r.id));
		memcpy(r.runtime, e->l.policy.runtime, sizeof(r.runtime));
		if (flight_send(w, &r, u, true) < 0) {
			ask_answer(w, x->ask, "failed", "the actor is busy: try again later");
			x->waits = false;
			continue; /* its process ends by itself when it reads that */
		}
		x->waits = false;
		x->serial = r.serial;
	}
}

void ask_entered(struct watcher *w, const struct act_answer *a)
{
	struct ask_answer words = { .n_words = 0 };
	struct exec *x;

	LIST_FOREACH(x, &w->execs, all)
		if (x->serial == a->serial)
			break;
	if (!x)
		return;
	x->serial = 0;
	if (a->outcome != ACT_DONE) {
		ask_answer(w, x->ask, a->outcome == ACT_ABSENT ? "lost" : "failed",
		       a->line[0] ? a->line : act_outcome_name((enum act_outcome)a->outcome));
		return;
	}
	for (const char *p = a->argv; *p; p += strlen(p) + 1) {
		/* Half of a word is another command. */
		if (words.n_words == 8 || strlen(p) >= sizeof(words.words[0])) {
			ask_answer(w, x->ask, "failed", "its runtime's way in is longer than an answer holds");
			return;
		}
		(void)strlcpy(words.words[words.n_words++], p, sizeof(words.words[0]));
	}
	ask_answer_words(w, x->ask, &words, "done", "active");
}

void ask_lease_over(struct watcher *w, const struct entry *e)
{
	struct exec *x, *next;

	for (x = LIST_FIRST(&w->execs); x; x = next) {
		next = LIST_NEXT(x, all);
		if (strcmp(x->lease, e->l.id) != 0)
			continue;
		if (x->waits || x->serial != 0) /* the word of its runtime comes too late for it */
			ask_answer(w, x->ask, "lost", e->l.why);
		exec_over(w, x);
	}
}
