/*
 * process-end.c: destroy. TERM to all but the keeper, thaw, time to go; then KILL, by what the mode has for
 * it; then a last look: absent is said only when nobody was seen.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MAX 200        /* pidfds waited for at once */
#define KEEPER_ALONE_MS 200 /* for a keeper with nobody left to keep to end by itself */
#define STOP_MS 500         /* for stopping a tree before it is killed, so that it can't fork away from us */

struct termed {
	struct lease_process *p;
	size_t n, size;
};

static bool term_once(struct termed *t, const struct lease_process *p)
{
	struct lease_process *more;

	for (size_t i = 0; i < t->n; i++)
		if (t->p[i].pid == p->pid && t->p[i].start == p->start)
			return false;
	if (t->n == t->size) {
		more = reallocarray(t->p, t->size ? t->size * 2 : 64, sizeof *more);
		if (!more)
			return true;
		t->p = more;
		t->size = t->size ? t->size * 2 : 64;
	}
	t->p[t->n++] = *p;
	return true;
}

/* Each of them once: to some programs a second TERM means "now". */
static void term_all(const struct workload *w, const struct members *l, struct termed *t)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->m[i].keeper && term_once(t, &l->m[i].p))
			(void)member_signal(w, &l->m[i], SIGTERM);
}

static bool keeper_alone(const struct members *l)
{
	return l->n == 1 && l->m[0].keeper;
}

/* Until all of these (or the first WAIT_MAX) have ended. 0 or -ETIME. */
static int wait_for(const struct workload *w, const struct members *l, int limit)
{
	int fd[WAIT_MAX], r = 0;
	size_t n = 0, left;

	for (size_t i = 0; i < l->n && n < WAIT_MAX; i++)
		/* A keeper is waited for only when it is the last: it goes by itself then. */
		if ((!l->m[i].keeper || keeper_alone(l)) && member_open(w, &l->m[i], &fd[n]) == 0)
			n++;
	/* None could be held: they are on their way out, and the next look is not to come at once. */
	if (n == 0)
		return limit_nap(limit, &(unsigned){0});
	for (left = n; left > 0 && r >= 0;) {
		r = limit_poll(limit, fd, n, POLLIN);
		if (r >= 0) {
			close(fd[r]);
			fd[r] = -1;
			left--;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return r < 0 ? r : 0;
}

/* 0: all have gone, -ETIME: some haven't. */
static int let_go(const struct workload *w, const char *work, int limit, struct termed *t)
{
	int r = 0;

	while (r == 0) {
		struct members l;
		int alone;

		r = members_find(w, work, false, &l);
		if (r == 0 && l.n == 0) {
			members_free(&l);
			return 0;
		}
		if (r == 0 && keeper_alone(&l)) {
			r = limit_start(KEEPER_ALONE_MS, &alone);
			if (r == 0) {
				r = wait_for(w, &l, alone);
				close(alone);
			}
		} else if (r == 0) {
			term_all(w, &l, t);
			r = wait_for(w, &l, limit);
		}
		members_free(&l);
	}
	return r;
}

/* The keeper last: what loses its parent meanwhile falls to it, and stays in the tree. */
static void kill_each(const struct workload *w, const struct members *l, bool by_tree_only)
{
	for (size_t i = 0; i < l->n; i++)
		if ((!l->m[i].keeper || keeper_alone(l)) && (l->m[i].by_tree || !by_tree_only))
			(void)member_signal(w, &l->m[i], SIGKILL);
}

static void hold_still(const struct workload *w, const char *work)
{
	int limit;

	if (limit_start(STOP_MS, &limit) < 0)
		return;
	if (w->mode == MODE_SUBREAPER)
		(void)tree_stop(w, work, limit);
	else
		(void)cgroup_freeze(w, limit);
	close(limit);
}

/* One round of killing: everybody that is seen. */
static int kill_round(const struct workload *w, const char *work, const struct members *l, int limit)
{
	if (w->mode == MODE_CGROUP2 && cgroup_kill(w->cgroup) == 0) {
		kill_each(w, l, true);
		return 0;
	}
	hold_still(w, work);
	kill_each(w, l, false);
	/* A v1 freezer holds even the killed. Stopped ones die as they are. */
	return w->mode == MODE_SUBREAPER ? 0 : cgroup_thaw(w, limit);
}

int kill_all(const struct workload *w, const char *work, int limit)
{
	unsigned pass = 0;

	for (;;) {
		struct members l;
		char name[32];
		int r = members_find(w, work, false, &l);

		if (r == 0 && l.n == 0) {
			members_free(&l);
			return 0;
		}
		r = r ? r : kill_round(w, work, &l, limit);
		r = r ? r : wait_for(w, &l, limit);
		/* A keeper that others were waited for hasn't been waited for itself: not without a pause. */
		r = r ? r : limit_nap(limit, &pass);
		if (r < 0) {
			const struct member *m = l.n ? &l.m[l.n - 1] : NULL;

			if (m)
				process_name(m->p.pid, name);
			if (m && r == -ETIME)
				say("pid %" PRId32 " %s doesn't die", m->p.pid, name);
			else
				say("can't kill all: %s", strerror(-r));
			members_free(&l);
			return r;
		}
		members_free(&l);
	}
}

/* By force where they don't go by themselves. */
static int end_all(const struct request *r, struct workload *w, const struct members *first, int limit)
{
	int64_t grace_ms = r->ms == LIMIT_NONE || r->grace_ms < r->ms / 2 ? r->grace_ms : r->ms / 2;
	struct termed t = {NULL, 0, 0};
	int grace, e = limit_start(grace_ms, &grace);

	if (e < 0)
		return e;
	term_all(w, first, &t);
	/* What is still frozen hears TERM only when it wakes. That it doesn't wake is no reason not to kill
	 * it. */
	(void)workload_thaw(w, r->work, grace);
	e = let_go(w, r->work, grace, &t);
	close(grace);
	free(t.p);
	return e < 0 ? kill_all(w, r->work, limit) : 0;
}

static int remove_all(const struct workload *w, int limit)
{
	int e = 0;

	if (w->mode == MODE_SUBREAPER)
		return 0;
	if (w->cpuacct[0] && strcmp(w->cpuacct, w->cgroup))
		e = cgroup_remove(w->cpuacct, limit);
	if (e == 0)
		e = cgroup_remove(w->cgroup, limit);
	if (e < 0)
		say("%s can't be removed: %s", w->cgroup, strerror(-e));
	return e;
}

int verb_destroy(struct request *r)
{
	struct members l;
	struct workload w;
	int limit, e, status = take_record(r, &w);

	if (status == EXIT_ABSENT) {
		if (r->dir >= 0 && disk_forget(r->dir) == 0)
			(void)unlinkat(r->dir, "process", 0);
		return EXIT_DONE;
	}
	if (status != EXIT_DONE)
		return status;
	if (limit_start(r->ms, &limit) < 0)
		return EXIT_FAILED;
	e = members_find(&w, r->work, true, &l);
	if (e == 0 && l.n > 0)
		e = end_all(r, &w, &l, limit);
	members_free(&l);
	if (e == 0)
		e = remove_all(&w, limit);
	close(limit);
	e = e ? e : disk_forget(r->dir);
	if (e == 0 && unlinkat(r->dir, "process", 0) < 0 && errno != ENOENT)
		e = -errno;
	return e < 0 ? EXIT_FAILED : EXIT_DONE;
}
