/*
 * fair.c: who goes next where there are fewer places than wishes. The actor runs few acts at a time, and any
 * of them may hang in the hands of whoever owns the workload until its deadline is over. So the last places
 * are for users who have none, and of several users the one with the fewest goes first; of these, the one
 * whose last turn is longest ago. However much one asks for, and however slow it is, another waits for one
 * turn of everybody at most.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "watcher.h"

bool fair_place(int taken, int own)
{
	return taken < WATCHER_ACTS - WATCHER_SPARE || (taken < WATCHER_ACTS && own == 0);
}

bool fair_before(int own, uint64_t last, int best_own, uint64_t best_last)
{
	return own != best_own ? own < best_own : last < best_last;
}

void fair_want(struct watcher *w, struct entry *e)
{
	if (e->in_out)
		return;
	if (TAILQ_EMPTY(&e->user->out))
		TAILQ_INSERT_TAIL(&w->wanting, e->user, wanting);
	TAILQ_INSERT_TAIL(&e->user->out, e, out);
	e->in_out = true;
}

void fair_unwant(struct watcher *w, struct entry *e)
{
	if (!e->in_out)
		return;
	TAILQ_REMOVE(&e->user->out, e, out);
	if (TAILQ_EMPTY(&e->user->out))
		TAILQ_REMOVE(&w->wanting, e->user, wanting);
	e->in_out = false;
}

/* The first of a user's that may go. One that was to be destroyed, and had to wait for its place when a hold came, waits on. */
static struct entry *first_act(const struct watcher *w, const struct user *u)
{
	struct entry *e;

	TAILQ_FOREACH(e, &u->out, out)
		if (e->act != ACT_DESTROY || w->now.mono >= w->judge.hold_until)
			break;
	return e;
}

struct entry *fair_next_act(struct watcher *w)
{
	struct entry *e, *best = NULL;
	struct user *u;

	if (w->acts >= WATCHER_ACTS)
		return NULL;
	TAILQ_FOREACH(u, &w->wanting, wanting) {
		if (!fair_place(w->acts, u->acts) || (e = first_act(w, u)) == NULL)
			continue;
		if (!best || fair_before(u->acts, u->served, best->user->acts, best->user->served))
			best = e;
	}
	return best;
}

void fair_started(struct watcher *w, struct entry *e, int by)
{
	w->starting += by;
	e->user->starting += by;
	if (by < 0)
		w->admit = true; /* its place is free */
}

int flight_send(struct watcher *w, struct act_request *r, struct user *u, bool enter)
{
	struct flight *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	int s = send_request(w, r);
	if (s < 0) {
		free(f);
		return s;
	}
	*f = (struct flight){ .serial = r->serial, .user = u, .enter = enter };
	LIST_INSERT_HEAD(&w->flights, f, all);
	if (enter) {
		u->enters++;
	} else {
		w->acts++;
		u->acts++;
		u->served = r->serial;
	}
	return 0;
}

struct user *flight_landed(struct watcher *w, uint64_t serial, bool *ret_enter)
{
	struct flight *f;

	LIST_FOREACH(f, &w->flights, all)
		if (f->serial == serial)
			break;
	if (!f)
		return NULL;
	struct user *u = f->user;
	*ret_enter = f->enter;
	if (f->enter) {
		u->enters--;
	} else {
		w->acts--;
		u->acts--;
	}
	LIST_REMOVE(f, all);
	free(f);
	return u;
}
