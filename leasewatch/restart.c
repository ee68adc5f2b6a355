/*
 * restart.c: the daemon begins: what the registry says lives is found again. `kill -9` at any time reaps
 * nothing that is held.
 *
 * Same boot: CLOCK_MONOTONIC went on, so every stored time holds; the time without a daemon is credited, one
 * renew_grace at most in all. Each row says how much of it there had been when it was written, so none is written
 * anew. Another boot: stored times mean nothing, and the processes of then are gone.
 *
 * What may rest goes to rest at once, by a few numbers of its row; its lock is found by the scan of names that
 * follows, and its state file is there already, unless we died while we wrote it: looked for in slices, later.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "os/log.h"
#include "store/statefiles.h"
#include "watcher.h"

struct load {
	struct watcher *w;
	bool same_boot;
	int64_t checkpoint;
	int n;
};

/* The time without a daemon since its row was written. */
static void credit_away(struct load *ld, struct lease *l)
{
	int64_t away = ld->w->away - l->away;

	lease_credit_restart(l, ld->w->now.mono - (away > 0 ? away : 0), ld->w->now.mono);
}

static int load_one(void *arg, const struct lease *l)
{
	struct load *ld = arg;
	struct watcher *w = ld->w;
	struct entry *e = entry_new(w, l->id, l->uid);
	int64_t now = w->now.mono;

	if (!e)
		return -ENOMEM;
	e->user->leases++;
	e->l = *l;
	e->l.looked = now;
	e->l.leader_alive = false; /* until it is found to be */
	if (ld->same_boot) {
		credit_away(ld, &e->l);
		e->row_dirty = rest_may(&e->l) && l->written == 0; /* of a version that knew no rest: once */
	} else {
		e->row_dirty = true;
		/* One grace for everybody; what was counted in the life of another boot begins anew. */
		e->l.created = now - (w->now.wall - l->created_wall);
		e->l.since = e->l.used = now;
		e->l.renewed = now - l->policy.ttl + l->policy.renew_grace;
		e->l.work_ended = l->work_ended ? now : 0;
		e->l.restart_credit = 0;
	}
	if (e->l.state == ST_STARTING)
		fair_started(w, e, 1);
	if (e->l.state == ST_REQUESTED)
		admit_add(w, e);
	if (e->row_dirty)
		entry_changed(w, e);
	breaker_taken_up(w, e->user, e);
	entry_due(w, e, now);
	ld->n++;
	return 0;
}

static int load_rest(void *arg, bool good, const char *lock)
{
	struct load *ld = arg;
	struct watcher *w = ld->w;
	struct lease *l = &w->at_rest;
	struct verdict v;
	uint32_t n;

	/* Written in the last turn before we died: what was to come after that commit may not have come. */
	if (good && l->written != ld->checkpoint && l->dev == w->rests.dev) {
		credit_away(ld, l);
		lease_verdict(l, &w->judge, w->now.mono, &v);
		int64_t silent = breaker_look_at_rest(w, l);
		bool due = v.event != EV_NONE || v.warn || v.want_cpu || silent <= w->now.mono;
		int r = rests_add(&w->rests, l, due ? w->now.mono : silent < v.look_at ? silent : v.look_at, false, &n);
		struct user *u = user_get(w, l->uid);
		if (r < 0 || !u)
			return -ENOMEM;
		rests_at(&w->rests, n)->unshown = true;
		u->leases++;
		breaker_taken_up(w, u, NULL);
		ld->n++;
		return 0;
	}
	const char *id = lease_name_lock_id(lock);
	struct lease whole;
	int r = id ? registry_find(w->registry, id, &whole) : -EUCLEAN;
	if (r == -EUCLEAN)
		unreadable_found(w);
	return r == 0 ? load_one(ld, &whole) : r == -EUCLEAN ? 0 : r;
}

static void find_lock(struct watcher *w, struct entry *e)
{
	struct lock_ref ref = lock_of(e);
	struct lease_stat st;

	e->place = locks_place(&w->house, &ref, &st);
	if (e->place == AT_UNSEEN) /* where it is by its row, until a look says more */
		e->place = e->l.state == ST_REQUESTED ? AT_QUEUE : state_living(e->l.state) ? AT_ACTIVE : AT_REAP;
	/* Taken out, and we died before that was written down: it was not the end. */
	if (e->place == AT_REAP && state_living(e->l.state) && locks_put_back(&w->house, e->l.name, w->now.wall) == 0)
		e->place = AT_ACTIVE;
}

/* A session that is over has no row any more; its last line in the ledger says of which surface it was. */
static void find_linger_surface(struct watcher *w, struct entry *e)
{
	struct ledger_row last;
	int n = 0;

	if (e->l.state == ST_LINGERING && registry_history(w->registry, e->l.record.session, 1, &last, &n) == 0 && n == 1)
		memcpy(e->linger_surface, last.surface, sizeof(e->linger_surface));
}

static void take_up(struct watcher *w, struct entry *e, bool same_boot)
{
	if (state_ended(e->l.state))
		return; /* by its session's end, which was taken up before it */
	find_lock(w, e);
	find_linger_surface(w, e);
	if (!same_boot && !e->l.disk) {
		step(w, e, EV_BOOT, w->now.mono, "the host has booted since: its processes are gone");
		return;
	}
	step(w, e, EV_RESTART, w->now.mono, "the daemon has restarted");
	if (!state_ended(e->l.state))
		life_follow(w, e);
	/* Where its CPU is read only its runtime knows: asked when it is to be read, not a thousand programs at once. */
	e->unplaced = state_living(e->l.state) && !e->l.record.is_session;
	if (e->unplaced)
		runtime_probe(w, e->l.policy.runtime);
	e->view_dirty = true;
	entry_changed(w, e);
}

/*
 * By the ledger, since the row may not even have its id: what was begun and has no end there is somebody's lease,
 * though none that we know of.
 */
bool unreadable(struct watcher *w, const char *id)
{
	struct ledger_row last;
	int n = 0;

	if (!w->unreadable || entry_known(w, id))
		return false;
	return registry_history(w->registry, id, 1, &last, &n) < 0 ||
	       (n == 1 && strcmp(last.to, state_public(ST_REAPED)) != 0 && strcmp(last.to, state_public(ST_DENIED)) != 0);
}

/* One row that was edited by hand, or by a bug, is no reason to judge nobody. */
void unreadable_found(struct watcher *w)
{
	log_err("%s: cannot be read: %s. What is theirs stays as it is, neither judged nor ended, until the row is mended (see "
		"\"A lease cannot be read\" in the runbook)", w->paths.db, registry_error(w->registry));
	degraded_set(w, TROUBLE_ROWS,
		     "leases cannot be read in the registry, and are neither judged nor ended: the log names them");
	w->unreadable = true;
}

/* What is left in the private folder without a lease: it is over, and was on its way to the archive. */
static int left_over(void *arg, const char *name)
{
	struct watcher *w = arg;
	const char *id = lease_name_lock_id(name);
	struct entry *e;

	if (!id || (!entry_known(w, id) && !unreadable(w, id)))
		(void)locks_archive(&w->house, name, AT_REAP, w->now.wall);
	else if (rests_find(&w->rests, id) != RESTS_NONE && (e = entry_find(w, id)) != NULL)
		find_lock(w, e); /* taken out, too: those that don't rest were looked for already */
	return 0;
}

static int load_all(struct load *ld)
{
	struct watcher *w = ld->w;
	uint32_t n;
	int r;

	if (!ld->same_boot)
		return registry_load(w->registry, load_one, ld);
	/* To begin small and grow would cost a tenth of the start. */
	if ((r = registry_count(w->registry, &n)) < 0)
		return r;
	rests_reserve(&w->rests, n);
	r = registry_load_rests(w->registry, &w->at_rest, load_rest, ld);
	return r < 0 ? r : registry_load_others(w->registry, load_one, ld);
}

int restart_load(struct watcher *w)
{
	struct registry_clock last;
	struct load ld = { .w = w };
	int r = registry_last_checkpoint(w->registry, &last);

	if (r < 0 && r != -ENOENT)
		return r;
	ld.same_boot = r == 0 && strcmp(last.boot_id, w->boot) == 0 && last.mono <= w->now.mono;
	ld.checkpoint = r == 0 ? last.mono : w->now.mono;
	w->away = ld.same_boot ? last.away + (w->now.mono - last.mono) : 0;
	clocks_begin(w, ld.same_boot ? &last : NULL);
	breaker_load(w);
	r = load_all(&ld);
	if (r == -EUCLEAN)
		unreadable_found(w);
	else if (r < 0)
		return r;
	/* In two passes: what one lease's end frees must not depend on the order of ids. */
	for (struct entry *e = entry_next(w, NULL); e && !w->broken; e = entry_next(w, e))
		take_up(w, e, ld.same_boot);
	(void)lease_list(w->house.reap, left_over, w);
	if (ld.n > 0)
		log_note("taken up from the registry: %d lease%s%s", ld.n, ld.n == 1 ? "" : "s",
			 ld.same_boot ? "" : ", of another boot");
	return w->broken ? -EIO : 0;
}
