#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/process.h"
#include "os/log.h"
#include "store/statefiles.h"
#include "watcher.h"

static struct reply *reply_find(struct watcher *w, const char *ask)
{
	struct reply *r;

	STAILQ_FOREACH(r, &w->replies, all)
		if (strcmp(r->ask, ask) == 0)
			return r;
	return NULL;
}

/* What is to be told of an ask after the commit. NULL = no memory. */
static struct reply *reply_get(struct watcher *w, const char *ask)
{
	struct reply *r = reply_find(w, ask);

	if (r || !(r = calloc(1, sizeof(*r))))
		return r;
	memcpy(r->ask, ask, sizeof(r->ask));
	STAILQ_INSERT_TAIL(&w->replies, r, all);
	return r;
}

static void tell(struct watcher *w, const char *ask, const struct ask_answer *a)
{
	int r = statefile_answer(w->house.state, ask, a);

	if (r < 0)
		log_warn("the answer to ask %s cannot be written: %s", ask, strerror(-r));
}

static void answer_words(struct watcher *w, const char *ask, struct ask_answer *a, const char *result, const char *what)
{
	struct reply *r = reply_get(w, ask);

	(void)snprintf(a->result, sizeof(a->result), "%s", result);
	(void)snprintf(a->what, sizeof(a->what), "%s", what);
	if (r) {
		r->answer = *a;
		r->told = true;
	} else {
		tell(w, ask, a);
	}
	kept(w);
}

/* The answer first: an ask that lies there without one is taken again by the next daemon. */
void asks_flush(struct watcher *w)
{
	char name[sizeof("ask-") + LEASE_ID_SIZE];
	struct reply *r;

	while ((r = STAILQ_FIRST(&w->replies)) != NULL) {
		STAILQ_REMOVE_HEAD(&w->replies, all);
		if (r->told)
			tell(w, r->ask, &r->answer);
		(void)snprintf(name, sizeof(name), "ask-%s", r->ask);
		if (r->taken)
			(void)locks_remove(w->house.tree.queue, name);
		free(r);
	}
}

void ask_say(struct watcher *w, const char *ask, const char *result, const char *what)
{
	struct ask_answer a = { .n_words = 0 };

	answer_words(w, ask, &a, result, what);
}

/* --- what is asked of one lease --- */

static void ask_exec(struct watcher *w, const char *ask, const struct ask *q, uint32_t uid, struct entry *e)
{
	struct exec *x;
	int fd, r;

	r = strcmp(q->boot, w->boot) == 0 ? lease_process_open(&q->process, uid, &fd) : -ESRCH;
	if (r < 0) {
		ask_say(w, ask, "refused", "pid= is not a live process of yours with that start time");
		return;
	}
	struct user *u = user_get(w, uid);
	if (!u || u->execs >= WATCHER_EXECS) {
		close(fd);
		ask_say(w, ask, "refused", "too many commands of yours run in leases: 128 is the limit");
		return;
	}
	if (!(x = calloc(1, sizeof(*x))))
		close(fd);
	if (!x || source_add(w, &x->src, SRC_EXEC, fd, x) < 0) {
		free(x);
		ask_say(w, ask, "failed", "the daemon has no room for it now: try again later");
		return;
	}
	memcpy(x->ask, ask, sizeof(x->ask));
	memcpy(x->lease, e->l.id, sizeof(x->lease));
	x->process = q->process;
	x->uid = uid;
	x->tty = q->tty;
	x->waits = true;
	LIST_INSERT_HEAD(&w->execs, x, all);
	e->l.execs++;
	u->execs++;
	step(w, e, EV_ASK_RESUME, w->now.mono, "klease exec");
	if (e->l.state == ST_ACTIVE)
		ask_execs_enter(w, u);
}

static void ask_renew(struct watcher *w, const char *ask, const struct ask *q, struct entry *e)
{
	const struct policy *p = &e->l.policy;
	int64_t ttl = p->ttl;
	char what[LEASE_WHY_SIZE], shown[LEASE_DURATION_SIZE];

	if (q->ttl)
		(void)lease_ttl_check(q->ttl, p->min_ttl, p->max_ttl, &ttl);
	e->l.policy.ttl = e->l.record.ttl = ttl;
	step(w, e, EV_BEAT, w->now.mono, "klease renew");
	e->row_dirty = e->view_dirty = true;
	entry_changed(w, e);
	entry_due(w, e, w->now.mono);
	lease_duration_format(shown, ttl);
	(void)snprintf(what, sizeof(what), "its ttl is %s now%s", shown, ttl != q->ttl && q->ttl ? " (the limit)" : "");
	ask_say(w, ask, "done", what);
}

/* True, and one is used up, when a user may make a lease change its state once more. */
static bool may_stir(struct watcher *w, const char *ask, struct user *u)
{
	if (ration_left(w, u, RATION_STIRS, NULL)) {
		ration_take(w, u, RATION_STIRS);
		return true;
	}
	ask_say(w, ask, "refused", "too many hibernations and resumptions of yours in a short time: wait a little");
	return false;
}

static void ask_lease(struct watcher *w, const char *ask, const struct ask *q, struct user *u)
{
	uint32_t uid = u->uid;
	struct entry *e = entry_find(w, q->lease);

	/* A beat that came before the ask, and that nobody has seen yet, is not one that came after it. */
	if (e)
		look_at_lock(w, e);
	if (w->broken)
		return; /* a row that cannot be read is not a lease that is over */
	if (!e || !state_living(e->l.state)) {
		ask_say(w, ask, "lost", "no such lease, or it is over");
		return;
	}
	if (uid != e->l.uid && uid != 0) {
		ask_say(w, ask, "refused", "it is another user's lease");
		return;
	}
	if (e->l.record.is_session && q->verb != ASK_RENEW) {
		ask_say(w, ask, "refused", "it is a session: it has no workload to run in, to hibernate or to resume");
		return;
	}
	switch (q->verb) {
	case ASK_EXEC:
		ask_exec(w, ask, q, uid, e);
		break;
	case ASK_RENEW:
		ask_renew(w, ask, q, e);
		break;
	case ASK_RESUME:
		if (e->l.state != ST_ACTIVE && !may_stir(w, ask, u))
			break;
		step(w, e, EV_ASK_RESUME, w->now.mono, "asked to resume");
		ask_say(w, ask, "done", "it is active, or on its way");
		break;
	case ASK_HIBERNATE:
		if (e->l.state != ST_ACTIVE && e->l.state != ST_IDLE && e->l.state != ST_HIBERNATING &&
		    e->l.state != ST_HIBERNATED) {
			ask_say(w, ask, "refused", "only an active or idle lease can be hibernated");
			break;
		}
		if ((e->l.state == ST_ACTIVE || e->l.state == ST_IDLE) && !may_stir(w, ask, u))
			break;
		step(w, e, EV_ASK_HIBERNATE, w->now.mono, event_name(EV_ASK_HIBERNATE));
		ask_say(w, ask, "done", e->l.why); /* as its state file has it for as long as it is under way */
		break;
	case ASK_NONE:
	case ASK_HOLD:
	case ASK_UNHOLD:
	case ASK_BREAKER_RELEASE:
	case ASK_VERBS:
		break;
	}
}

static bool answered(struct watcher *w, const char *id)
{
	char name[sizeof("ask-") + LEASE_ID_SIZE];
	struct lease_stat st;
	struct exec *x;

	if (reply_find(w, id))
		return true;
	LIST_FOREACH(x, &w->execs, all)
		if (strcmp(x->ask, id) == 0)
			return true;
	(void)snprintf(name, sizeof(name), "ask-%s", id);
	return lease_stat(w->house.state, name, &st) == 0;
}

struct count {
	struct watcher *w;
	uint32_t uid;
	int n;
};

static int count_one(void *arg, const char *name)
{
	struct count *c = arg;
	const char *id = lease_name_ask_id(name);
	struct lease_stat st;

	if (id && !reply_find(c->w, id) && lease_stat(c->w->house.tree.queue, name, &st) == 0 && st.uid == c->uid)
		c->n++;
	return c->n > WATCHER_ASKS;
}

void ask_receive(struct watcher *w, const char *name)
{
	int queue = w->house.tree.queue;
	const char *id = lease_name_ask_id(name);
	char buf[LEASE_FILE_MAX + 1], why[LEASE_WHY_SIZE], what[240];
	struct lease_error err = { 0 };
	struct lease_stat st;
	struct ask q;
	size_t len;

	if (lease_stat(queue, name, &st) < 0)
		return;
	int r = lease_read(queue, name, st.uid, buf, LEASE_FILE_MAX, &len, &st);
	if (r < 0) {
		report_rubbish(w, st.uid, name, "no readable ask: removed");
		if (locks_remove(queue, name) < 0)
			refuse_file(w, queue, name, st.uid, "in the way");
		return;
	}
	/*
	 * An answer is whose ask came first: a second ask of that id, in another's name, must not be answered
	 * in its place, which for an exec is empty until it was let in.
	 */
	if (reply_find(w, id) && reply_find(w, id)->taken)
		return; /* told of twice in one turn */
	if (answered(w, id)) {
		report_rubbish(w, st.uid, name, "an ask of that id has been answered already, or will be: removed");
		(void)locks_remove(queue, name);
		return;
	}
	struct user *u = user_get(w, st.uid);
	struct count c = { .w = w, .uid = st.uid };
	if (!u)
		return;
	(void)lease_list(queue, count_one, &c);
	bool asks = ration_left(w, u, RATION_ASKS, NULL);
	if (asks)
		ration_take(w, u, RATION_ASKS);
	if (!asks) {
		ask_say(w, id, "refused", "too many asks of yours in a short time: wait a little");
	} else if (c.n > WATCHER_ASKS) {
		ask_say(w, id, "refused", "too many asks of yours are outstanding: 16 is the limit");
	} else if ((r = ask_parse(buf, len, &q, &err)) < 0) {
		(void)snprintf(why, sizeof(why), "line %d: %.120s", err.line,
			       r == -ENODATA ? "the first line must be #leasewatch 1" : log_escape(what, sizeof(what), err.what));
		ask_say(w, id, "failed", why);
	} else if (q.verb == ASK_HOLD || q.verb == ASK_UNHOLD) {
		ask_hold(w, id, &q, st.uid);
	} else if (q.verb == ASK_BREAKER_RELEASE) {
		ask_breaker_release(w, id, st.uid);
	} else {
		ask_lease(w, id, &q, u);
	}
	keep_file(w, u, name);
	/* Answered (or, an exec's, taken in: what counts from here on is its process). */
	struct reply *done = reply_get(w, id);
	if (done)
		done->taken = true;
	else
		(void)locks_remove(queue, name);
}

/* --- execs --- */

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
					 .deadline = 10 * LEASE_NS_PER_S, .process = x->process, .tty = x->tty };
		memcpy(r.id, e->l.id, sizeof(r.id));
		memcpy(r.runtime, e->l.policy.runtime, sizeof(r.runtime));
		memcpy(r.profile, e->l.record.profile, sizeof(r.profile));
		if (flight_send(w, &r, u, true) < 0) {
			ask_say(w, x->ask, "failed", "the actor is busy: try again later");
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
		ask_say(w, x->ask, a->outcome == ACT_ABSENT ? "lost" : "failed",
		       a->line[0] ? a->line : act_outcome_name((enum act_outcome)a->outcome));
		return;
	}
	/* In system mode they are root's to say, and the porter has them. */
	words.porter = !w->paths.user_mode && a->argv[0];
	for (const char *p = a->argv; *p && !words.porter; p += strlen(p) + 1) {
		/* Half of a word is another command. */
		if (words.n_words == ASK_WORDS || strlen(p) >= sizeof(words.words[0])) {
			ask_say(w, x->ask, "failed", "its runtime's way in is longer than an answer holds");
			return;
		}
		(void)strlcpy(words.words[words.n_words++], p, sizeof(words.words[0]));
	}
	answer_words(w, x->ask, &words, "done", "active");
}

void ask_lease_over(struct watcher *w, const struct entry *e)
{
	struct exec *x, *next;

	for (x = LIST_FIRST(&w->execs); x; x = next) {
		next = LIST_NEXT(x, all);
		if (strcmp(x->lease, e->l.id) != 0)
			continue;
		if (x->waits || x->serial != 0) /* the word of its runtime comes too late for it */
			ask_say(w, x->ask, "lost", e->l.why);
		exec_over(w, x);
	}
}
