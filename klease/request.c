#include "config.h"

#include "klease/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "klease/clock.h"
#include "klease/exits.h"
#include "klease/foreground.h"
#include "klease/say.h"
#include "klease/statewatch.h"
#include "klease/views.h"
#include "lease/duration.h"
#include "lease/process.h"

#define FIRST_WORD (2 * LEASE_NS_PER_S)
#define SECOND_WORD (100 * LEASE_NS_PER_MS) /* "requested" may be followed by a denial at once */

int request_make(const struct world *w, const struct args *a, struct request *q)
{
	const char *session = w->trust_env ? getenv("KLEASE_SESSION") : NULL;
	char buf[SAFE_SIZE], user[LEASE_USER_SIZE];
	int n;

	q->record = a->record;
	/* Named by hand it is meant; one that the environment has kept, as an old tmux does, may be over. */
	if (q->record.session[0] && lease_find(w->tree.active, q->record.session, q->name) < 0) {
		say("there is no session %s (any more): `klease session list` shows them", q->record.session);
		return KX_LOST;
	}
	world_user(w, user);
	lease_id_make(q->record.id);
	if (!q->record.surface[0])
		(void)strlcpy(q->record.surface, "cli", sizeof q->record.surface);
	if (!q->record.session[0] && session && *session) {
		if (lease_id_valid(session))
			(void)strlcpy(q->record.session, session, sizeof q->record.session);
		else
			say("KLEASE_SESSION='%s' is no lease's id and is not used", safe(buf, session));
	}
	(void)strlcpy(q->record.boot, w->boot, sizeof q->record.boot);
	if (lease_name_make(q->name, q->record.surface, user, q->record.id) < 0) {
		say("cannot make a file name of surface '%s'", safe(buf, q->record.surface));
		return KX_USAGE;
	}
	n = snprintf(q->lock, sizeof q->lock, "%s/active/%s", w->notices, q->name);
	if (n < 0 || (size_t)n >= sizeof q->lock) {
		say("the path of the notices tree is too long");
		return KX_FAILED;
	}
	return KX_OK;
}

int request_put(const struct world *w, const struct request *q)
{
	char buf[LEASE_FILE_MAX];
	size_t len;
	int r = lease_record_format(&q->record, buf, sizeof buf, &len);

	if (r < 0) {
		say("the request is too long for a lock of %d bytes: fewer or shorter labels",
		    LEASE_FILE_MAX);
		return KX_USAGE;
	}
	r = lease_create(w->tree.queue, q->name, buf, len);
	if (r < 0) {
		say("cannot make a request in %s/queue: %s", w->notices, strerror(-r));
		return r == -EACCES || r == -EPERM ? KX_REFUSED : KX_FAILED;
	}
	return KX_OK;
}

int request_end(const struct world *w, const struct request *q)
{
	if (unlinkat(w->tree.queue, q->name, 0) == 0)
		return 0;
	return lease_move(w->tree.active, q->name, w->tree.archive, q->name);
}

/* The step in which its start failed; a failed one is rolled back at once, so the state alone may have gone on since. */
static const struct view_step *failed_step(const struct view *v)
{
	for (int i = 0; i < v->n_history; i++)
		if (!strcmp(v->history[i].to, "failed"))
			return &v->history[i];
	return NULL;
}

static void say_end(const struct view *v)
{
	const struct view_step *failed = failed_step(v);
	const char *reason = failed ? failed->why : v->why;
	char why[SAFE_SIZE];

	say("%s is %s: %s", v->id, failed ? failed->to : v->state,
	    reason[0] ? safe(why, reason) : "the daemon gives no reason");
}

/* -1 = go on waiting. */
static int judge(const struct view *v, bool hibernated_ok)
{
	if (!strcmp(v->state, "active") || !strcmp(v->state, "idle"))
		return KX_OK;
	if (!strcmp(v->state, "hibernated"))
		return hibernated_ok ? KX_OK : -1;
	if (!strcmp(v->state, "denied"))
		return KX_REFUSED;
	if (!strcmp(v->state, "failed") || failed_step(v))
		return KX_FAILED;
	if (!strcmp(v->state, "expired") || view_over(v))
		return KX_LOST;
	return -1;
}

struct progress {
	bool tty, shown;
	int64_t began;
};

static void show_progress(struct progress *p, const struct view *v)
{
	int64_t waited = clock_mono() - p->began;
	char why[SAFE_SIZE];

	if (!p->tty || waited < LEASE_NS_PER_S)
		return;
	fprintf(stderr, "\r\033[K%s waits, %lld s: %.100s", v->id, (long long)(waited / LEASE_NS_PER_S),
		safe(why, v->why));
	p->shown = true;
}

static void end_progress(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}

struct awaited {
	const char *id;
	int64_t deadline; /* mono; 0 = none */
	int sigfd;
	bool hibernated_ok;
	void (*active)(void *arg);
	void *arg;
};

static int await(struct world *w, const struct awaited *a, struct view *v, struct progress *p)
{
	struct statewatch s;
	int64_t missing = 0; /* mono; when it is given up */
	int status;

	statewatch_open(&s, w, a->id);
	for (;;) {
		int64_t until = p->tty ? clock_mono() + LEASE_NS_PER_S : a->deadline;
		bool terminal;
		int sig, r = views_get(w, a->id, v);

		if (r == 0) {
			missing = 0;
			status = judge(v, a->hibernated_ok);
			if (status >= 0)
				break;
			show_progress(p, v);
		} else if (r == -ENOENT && missing == 0) {
			/* A request that is denied leaves the queue a moment before its state is written. */
			missing = clock_mono() + FIRST_WORD;
		} else if (r == -ENOENT && clock_mono() >= missing) {
			/* Neither lock nor word of it: somebody took the request away. */
			(void)snprintf(v->state, sizeof v->state, "gone");
			(void)snprintf(v->why, sizeof v->why, "the request was taken away");
			(void)strlcpy(v->id, a->id, sizeof v->id);
			status = KX_LOST;
			break;
		}
		if (missing && (until == 0 || missing < until))
			until = missing;
		if (a->deadline && a->deadline < until)
			until = a->deadline;
		switch (statewatch_wait(&s, until, a->sigfd)) {
		case STATEWATCH_FD:
			sig = foreground_read(a->sigfd, &terminal);
			if (sig > 0) {
				status = 128 + sig;
				goto out;
			}
			continue;
		case STATEWATCH_DEADLINE:
			if (a->deadline && clock_mono() >= a->deadline) {
				status = KX_TIMEOUT;
				goto out;
			}
			continue;
		case STATEWATCH_GONE: status = KX_NODAEMON; goto out;
		case STATEWATCH_CHANGED: continue;
		}
	}
out:
	/*
	 * Closing an inotify descriptor waits for a grace period of the kernel's, 7 ms and more: the command
	 * must not.
	 */
	if (status == KX_OK && a->active) {
		end_progress(p);
		a->active(a->arg);
	}
	statewatch_close(&s);
	return status;
}

static int await_and_say(struct world *w, const struct awaited *a)
{
	struct progress p = { isatty(STDERR_FILENO) == 1, false, clock_mono() };
	struct view v = { 0 };
	int status = await(w, a, &v, &p);

	end_progress(&p);
	if (status == KX_TIMEOUT)
		say("%s is still %s", a->id, v.state[0] ? v.state : "unheard");
	else if (status == KX_NODAEMON)
		world_say_no_daemon(w);
	else if (status != KX_OK && status < 128)
		say_end(&v);
	return status;
}

int request_await(struct world *w, const struct request *q, int64_t deadline, int sigfd, void (*active)(void *arg),
		  void *arg)
{
	struct awaited a = { q->record.id, deadline, sigfd, true, active, arg };
	int status = await_and_say(w, &a);

	if (status != KX_OK && request_end(w, q) == 0)
		say("the request is withdrawn");
	return status;
}

int request_await_active(struct world *w, const char *id, int64_t deadline, int sigfd)
{
	struct awaited a = { id, deadline, sigfd, false, NULL, NULL };

	return await_and_say(w, &a);
}

int request_first_word(struct world *w, const struct request *q, bool *ret_heard)
{
	int64_t deadline = clock_mono() + FIRST_WORD;
	struct lease_stat st;
	struct statewatch s;
	bool heard = false;
	struct view v;
	int status = -1;

	statewatch_open(&s, w, q->record.id);
	for (;;) {
		if (!heard && lease_stat(w->state, q->record.id, &st) == 0) {
			heard = true;
			deadline = clock_mono() + SECOND_WORD;
		}
		if (heard && views_get(w, q->record.id, &v) == 0 && strcmp(v.state, "requested")) {
			status = judge(&v, true);
			break;
		}
		if (statewatch_wait(&s, deadline, -1) != STATEWATCH_CHANGED)
			break;
	}
	statewatch_close(&s);
	*ret_heard = heard;
	/* Over already is no failure of ours: a short command has had its turn. */
	if (status == KX_REFUSED || status == KX_FAILED) {
		say_end(&v);
		return status;
	}
	return KX_OK;
}
