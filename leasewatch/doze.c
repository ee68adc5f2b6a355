/*
 * doze.c: leases go to rest (rests.h) and are woken. What is at rest is looked at with one stat and the same verdict
 * as any other; only when something is due, or somebody asks for it, it gets its struct entry back: from its registry
 * row, with what is newer from its rest. At the end of the turn it may go to rest again. A row is never written for
 * that: what only the rest knows (beats that were seen) is what is never written anyway.
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/random.h>

#include "os/log.h"
#include "watcher.h"

int rest_begin(struct watcher *w)
{
	struct lease_stat st;
	uint64_t seed;
	int r = lease_stat(w->house.tree.active, NULL, &st);

	if (r < 0 || getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed)) {
		log_err("%s: %s", w->paths.notices, strerror(r < 0 ? -r : errno));
		return -1;
	}
	rests_begin(&w->rests, seed, st.dev);
	return 0;
}

static bool may_rest(const struct watcher *w, const struct entry *e)
{
	if (!rest_may(&e->l) || e->place != AT_ACTIVE || e->l.dev != w->rests.dev || e->retry > w->now.mono || e->silent)
		return false;
	if (e->leader.fd >= 0 || e->work.fd >= 0 || e->waiter.fd >= 0 || e->watched || e->polled || e->top_lost ||
	    e->follow_at != LEASE_NEVER)
		return false;
	return !e->touched && !e->in_out && e->act == ACT_NONE && !e->stat_sent && !e->quiet && !e->misshown;
}

void entry_dozes(struct watcher *w, struct entry *e)
{
	if (!e->drowsy)
		LIST_INSERT_HEAD(&w->drowsy, e, dozing);
	e->drowsy = true;
}

/* So many entries are some MiB: worth the millisecond that it takes to give them back. */
#define TRIM_AFTER 2048

void rest_all(struct watcher *w)
{
	struct entry *e;
	uint32_t n;

	while ((e = LIST_FIRST(&w->drowsy)) != NULL) {
		LIST_REMOVE(e, dozing);
		e->drowsy = false;
		/* Without memory for it, it stays awake. */
		if (may_rest(w, e) && rests_add(&w->rests, &e->l, e->due, e->peeked == e->due, &n) == 0) {
			entry_free(w, e);
			w->laid_down++;
		}
	}
	if (w->laid_down >= TRIM_AFTER) {
		(void)malloc_trim(0);
		w->laid_down = 0;
	}
}

struct entry *entry_wake(struct watcher *w, uint32_t n)
{
	const bool peeked = rests_at(&w->rests, n)->peeked, unshown = rests_at(&w->rests, n)->unshown;
	struct lease *l = &w->at_rest;
	struct entry *e;
	int r;

	rests_get(&w->rests, n, l);
	e = entry_new(w, l->id, l->uid);
	if (!e) {
		log_err("%s: out of memory: ending; leases stand as they are", l->id);
		w->broken = true;
		return NULL;
	}
	e->counted = true; /* it was all the while */
	r = registry_find(w->registry, l->id, &e->l);
	if (r == -EUCLEAN || r == -ENOENT) {
		/* Edited by hand while it rested: what a restart would make of it. */
		unreadable_found(w);
		e->user->leases--;
		breaker_count(w, e);
		rests_remove(&w->rests, n);
		entry_free(w, e);
		return NULL;
	}
	if (r < 0) {
		registry_failed(w, "the row of a lease that is due");
		entry_free(w, e);
		return NULL;
	}
	rests_get(&w->rests, n, &e->l);
	e->place = AT_ACTIVE;
	e->unplaced = true;
	entry_due(w, e, rests_due_at(&w->rests, n));
	e->peeked = peeked ? e->due : 0;
	rests_remove(&w->rests, n);
	entry_dozes(w, e);
	/* The sweep has not come to it yet, or it has just now. */
	if (w->sweep.policies)
		w->sweep.fresh += admit_policy_take(w, e);
	if (w->sweep.views || unshown) {
		e->view_dirty = true;
		entry_changed(w, e);
	}
	return e;
}

void look_at_rest(struct watcher *w, uint32_t n)
{
	struct lease *l = &w->at_rest;
	struct lock_ref ref = { .name = l->name };
	struct lease_stat st;
	struct verdict v;
	struct entry *e;
	bool keep = false;

	rests_get(&w->rests, n, l);
	ref.uid = l->uid;
	ref.dev = l->dev;
	ref.ino = l->ino;
	if (locks_place(&w->house, &ref, &st) == AT_ACTIVE && st.dev == w->rests.dev) {
		l->ino = st.ino;
		int64_t at = look_credit(w, l, st.mtime, &keep);
		if (at != 0)
			lease_apply(l, beat_of(l), at, w->now.mono, w->now.wall, NULL);
		rests_put(&w->rests, n, l);
		lease_verdict(l, &w->judge, w->now.mono, &v);
		int64_t silent = breaker_look_at_rest(w, l);
		w->silence.looked++;
		if (!keep && v.event == EV_NONE && !v.warn && !v.want_cpu && silent > w->now.mono) {
			if (silent < v.look_at)
				v.look_at = silent;
			rests_due(&w->rests, n, v.look_at, v.look_at == rests_due_at(&w->rests, n));
			return;
		}
	}
	e = entry_wake(w, n);
	if (!e)
		return;
	if (keep)
		entry_keep(w, e);
	entry_due(w, e, LEASE_NEVER); /* as for any that is looked at: until it is judged it waits for nothing */
	look(w, e);
}

/* The one of that id, when this is its lock's name. */
static uint32_t named(struct watcher *w, const char *id, const char *name)
{
	uint32_t n = rests_find(&w->rests, id);

	return n != RESTS_NONE && rests_named(&w->rests, n, name) ? n : RESTS_NONE;
}

bool rest_look(struct watcher *w, const char *id, const char *name)
{
	uint32_t n = named(w, id, name);

	if (n != RESTS_NONE)
		look_at_rest(w, n);
	return n != RESTS_NONE;
}

bool rest_seen(struct watcher *w, const char *id, const char *name)
{
	uint32_t n = named(w, id, name);

	if (n != RESTS_NONE)
		rests_at(&w->rests, n)->seen = true;
	return n != RESTS_NONE;
}

void rest_unseen_due(struct watcher *w)
{
	for (uint32_t n = rests_next(&w->rests, 0); n != RESTS_NONE; n = rests_next(&w->rests, n + 1)) {
		struct rest *r = rests_at(&w->rests, n);
		if (!r->seen)
			rests_due(&w->rests, n, w->now.mono, true);
		r->seen = false;
	}
}

bool sweeping(const struct watcher *w)
{
	return w->sweep.policies || w->sweep.views || w->sweep.unshown;
}

void sweep_begin(struct watcher *w, bool policies, bool views)
{
	w->sweep.at = 0;
	w->sweep.policies |= policies;
	w->sweep.views |= views;
}

void sweep_unshown(struct watcher *w)
{
	for (uint32_t n = rests_next(&w->rests, 0); n != RESTS_NONE && !sweeping(w); n = rests_next(&w->rests, n + 1))
		if (rests_at(&w->rests, n)->unshown)
			w->sweep = (struct sweep){ .at = n, .unshown = true };
}

/* The next one that the sweep is for. */
static uint32_t sweep_next(struct watcher *w)
{
	const struct sweep *s = &w->sweep;
	uint32_t n = rests_next(&w->rests, s->at);

	while (n != RESTS_NONE && !s->policies && !s->views && !rests_at(&w->rests, n)->unshown)
		n = rests_next(&w->rests, n + 1);
	return n;
}

void sweep_run(struct watcher *w)
{
	struct sweep *s = &w->sweep;
	uint32_t n = RESTS_NONE;

	for (int i = 0; sweeping(w) && i < WATCHER_SLICE && (n = sweep_next(w)) != RESTS_NONE; i++) {
		struct entry *e = entry_wake(w, n);
		if (w->broken)
			return;
		if (e)
			entry_due(w, e, w->now.mono);
		s->at = n + 1;
	}
	if (!sweeping(w) || n != RESTS_NONE)
		return;
	if (s->fresh > 0)
		log_warn("the new settings would have ended %d live leases now: each gets a fresh full period instead", s->fresh);
	*s = (struct sweep){ .at = 0 };
}

void policy_reload(struct watcher *w)
{
	for (struct entry *e = entry_next(w, NULL); e; e = entry_next(w, e))
		w->sweep.fresh += admit_policy_take(w, e);
	sweep_begin(w, true, false);
}
