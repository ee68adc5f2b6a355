#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asks.h"
#include "lease/beacon.h"
#include "lease/process.h"
#include "os/log.h"
#include "store/statefiles.h"

/* A hold longer than this is a decision that somebody forgot. */
#define HOLD_DEFAULT (INT64_C(3600) * LEASE_NS_PER_S)
#define HOLD_MAX (INT64_C(7) * 86400 * LEASE_NS_PER_S)

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

void ask_answer_words(struct watcher *w, const char *ask, struct ask_answer *a, const char *result, const char *what)
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

void ask_answer(struct watcher *w, const char *ask, const char *result, const char *what)
{
	struct ask_answer a = { .n_words = 0 };

	ask_answer_words(w, ask, &a, result, what);
}

/* --- the hold --- */

void beacon_write(struct watcher *w)
{
	struct lease_beacon b = { .user_mode = w->paths.user_mode, .hold_until = w->hold_wall / LEASE_NS_PER_MS };
	const struct breaker *breaker = w->silence.shown;
	char buf[LEASE_FILE_MAX];
	size_t len;

	(void)snprintf(b.state, sizeof(b.state), "%s", w->paths.state);
	(void)snprintf(b.db, sizeof(b.db), "%s", w->paths.db);
	(void)snprintf(b.sessions, sizeof(b.sessions), "%s", w->paths.sessions);
	(void)snprintf(b.hold_by, sizeof(b.hold_by), "%s", w->hold_by);
	memcpy(b.boot, w->boot, sizeof(b.boot));
	degraded_words(w, b.degraded, sizeof(b.degraded));
	if (breaker) {
		b.breaker_until = (w->now.wall + breaker->until - w->now.mono) / LEASE_NS_PER_MS;
		breaker_words(breaker, b.breaker_why);
		if (w->silence.tripped > 1)
			(void)strlcat(b.breaker_why, ", and others", sizeof(b.breaker_why));
	}
	if (lease_process_self(&b.daemon) < 0)
		log_warn("our own start time cannot be read: klease will think that no daemon runs");
	int r = lease_beacon_format(&b, buf, sizeof(buf), &len);
	if (r == 0)
		r = statefile_write(w->house.tree.root, LEASE_BEACON_NAME, buf, len);
	if (r < 0)
		log_err("%s/%s cannot be written: %s", w->paths.notices, LEASE_BEACON_NAME, strerror(-r));
}

static void hold_set(struct watcher *w, int64_t until_wall, const char *by)
{
	char value[96];

	w->hold_wall = until_wall;
	(void)snprintf(w->hold_by, sizeof(w->hold_by), "%s", by);
	w->judge.hold_until = until_wall ? w->now.mono + (until_wall - w->now.wall) : 0;
	(void)snprintf(value, sizeof(value), "%lld %s", (long long)until_wall, by);
	if (registry_set(w->registry, "hold", until_wall ? value : NULL) < 0)
		log_err("the hold cannot be stored (%s): a restart would forget it", registry_error(w->registry));
	beacon_write(w);
	for (struct entry *e = entry_next(w, NULL); e; e = entry_next(w, e)) {
		e->view_dirty = true;
		entry_changed(w, e);
		entry_due(w, e, w->now.mono);
	}
	sweep_begin(w, false, true);
}

void hold_load(struct watcher *w)
{
	char value[96], *end;

	if (registry_get(w->registry, "hold", value, sizeof(value)) < 0)
		return;
	long long until = strtoll(value, &end, 10);
	if (*end != ' ' || until <= w->now.wall)
		return;
	hold_set(w, until, end + 1);
	log_warn("a hold of %s is in force: nothing is destroyed until it is lifted or over", w->hold_by);
}

void hold_over(struct watcher *w)
{
	if (w->hold_wall == 0 || w->now.mono < w->judge.hold_until)
		return;
	log_warn("the hold of %s is over: what is due ends now", w->hold_by);
	breaker_hold_over(w);
	hold_set(w, 0, "");
}

static void ask_hold(struct watcher *w, const char *ask, const struct ask *q, uint32_t uid)
{
	int64_t length = q->ttl ? q->ttl : HOLD_DEFAULT;
	char by[64], told[128], human[LEASE_DURATION_SIZE];

	if (uid != 0 && !w->paths.user_mode) {
		ask_answer(w, ask, "refused", "only root holds or lifts a hold");
		return;
	}
	if (q->verb == ASK_UNHOLD) {
		log_warn("the hold was lifted by uid %u", uid);
		if (w->hold_wall != 0)
			breaker_hold_over(w);
		hold_set(w, 0, "");
		ask_answer(w, ask, "done", "no hold is in force: what is due ends now");
		return;
	}
	if (length > HOLD_MAX) {
		ask_answer(w, ask, "refused", "a hold lasts at most 7d: ask again when it is over");
		return;
	}
	(void)snprintf(by, sizeof(by), "uid %u", uid);
	log_warn("HOLD by uid %u for %lld s: nothing is destroyed until then", uid, (long long)(length / LEASE_NS_PER_S));
	hold_set(w, w->now.wall + length, by);
	lease_duration_human(human, length);
	(void)snprintf(told, sizeof(told), "held for %s from now: nothing is destroyed until it is lifted or over", human);
	ask_answer(w, ask, "done", told);
}

static void ask_breaker_release(struct watcher *w, const char *ask, uint32_t uid)
{
	if (uid != 0 && !w->paths.user_mode)
		ask_answer(w, ask, "refused", "only root lets the breaker go");
	else if (breaker_let_go(w, uid))
		ask_answer(w, ask, "done", "reaping goes on: what is silent ends now");
	else
		ask_answer(w, ask, "done", "the breaker has not tripped: nothing was held");
}

/* --- what is asked of one lease --- */

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
	ask_answer(w, ask, "done", what);
}

/* True, and one is used up, when a user may make a lease change its state once more. */
static bool may_stir(struct watcher *w, const char *ask, struct user *u)
{
	if (ration_left(w, u, RATION_STIRS, NULL)) {
		ration_take(w, u, RATION_STIRS);
		return true;
	}
	ask_answer(w, ask, "refused", "too many hibernations and resumptions of yours in a short time: wait a little");
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
		ask_answer(w, ask, "lost", "no such lease, or it is over");
		return;
	}
	if (uid != e->l.uid && uid != 0) {
		ask_answer(w, ask, "refused", "it is another user's lease");
		return;
	}
	if (e->l.record.is_session && q->verb != ASK_RENEW) {
		ask_answer(w, ask, "refused", "it is a session: it has no workload to run in, to hibernate or to resume");
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
		ask_answer(w, ask, "done", "it is active, or on its way");
		break;
	case ASK_HIBERNATE:
		if (e->l.state != ST_ACTIVE && e->l.state != ST_IDLE) {
			ask_answer(w, ask, "refused", "only an active or idle lease can be hibernated");
			break;
		}
		if (!may_stir(w, ask, u))
			break;
		step(w, e, EV_ASK_HIBERNATE, w->now.mono, "asked to hibernate");
		ask_answer(w, ask, "done", "it is on its way");
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
		ask_answer(w, id, "refused", "too many asks of yours in a short time: wait a little");
	} else if (c.n > WATCHER_ASKS) {
		ask_answer(w, id, "refused", "too many asks of yours are outstanding: 16 is the limit");
	} else if ((r = ask_parse(buf, len, &q, &err)) < 0) {
		(void)snprintf(why, sizeof(why), "line %d: %.120s", err.line,
			       r == -ENODATA ? "the first line must be #leasewatch 1" : log_escape(what, sizeof(what), err.what));
		ask_answer(w, id, "failed", why);
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
