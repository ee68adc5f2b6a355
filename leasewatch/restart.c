/*
 * restart.c: the daemon begins: what the registry says lives is found again. `kill -9` at any time reaps
 * nothing that is held.
 *
 * Same boot: CLOCK_MONOTONIC went on, so every stored time holds; the time since the last checkpoint is
 * credited, one renew_grace at most in all. Another boot: stored times mean nothing, and the processes of then
 * are gone.
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
		lease_credit_restart(&e->l, ld->checkpoint, now);
		/* The sum of all restarts is what is bounded, so it has to outlive the next one. */
		if (e->l.restart_credit != l->restart_credit) {
			e->row_dirty = true;
			entry_changed(w, e);
		}
	} else {
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
	entry_due(w, e, now);
	ld->n++;
	return 0;
}

static void find_lock(struct watcher *w, struct entry *e)
{
	struct lock_ref ref = lock_of(e);
	struct lease_stat st;

	e->place = locks_place(&w->house, &ref, &st);
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

	if (!w->unreadable || entry_find(w, id))
		return false;
	return registry_history(w->registry, id, 1, &last, &n) < 0 ||
	       (n == 1 && strcmp(last.to, state_public(ST_REAPED)) != 0 && strcmp(last.to, state_public(ST_DENIED)) != 0);
}

/* What is left in the private folder without a lease: it is over, and was on its way to the archive. */
static int left_over(void *arg, const char *name)
{
	struct watcher *w = arg;
	const char *id = lease_name_lock_id(name);

	if (!id || (!entry_known(w, id) && !unreadable(w, id)))
		(void)locks_archive(&w->house, name, AT_REAP, w->now.wall);
	return 0;
}

/* A state file that says a lease lives which does not: we died between its end and the word of it. */
static bool says_it_is_over(void *arg, const char *name)
{
	struct watcher *w = arg;
	char buf[LEASE_STATE_FILE_MAX];
	struct lease_error err;
	struct view v;
	size_t len;

	if (entry_known(w, name) || lease_name_ask_id(name) || unreadable(w, name))
		return true;
	if (lease_read(w->house.state, name, (uid_t)-1, buf, sizeof(buf), &len, NULL) < 0 || view_parse(buf, len, &v, &err) < 0)
		return false;
	return strcmp(v.state, state_public(ST_REAPED)) == 0 || strcmp(v.state, state_public(ST_DENIED)) == 0;
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
	r = registry_load(w->registry, load_one, &ld);
	if (r == -EUCLEAN) {
		/* One row that was edited by hand, or by a bug, is no reason to judge nobody. */
		log_err("%s: %s. Each stays as it is, is not judged and not ended, until its row is mended (see \"A lease cannot "
			"be read\" in the runbook)", w->paths.db, registry_error(w->registry));
		w->unreadable = true;
	} else if (r < 0) {
		return r;
	}
	/* In two passes: what one lease's end frees must not depend on the order of ids. */
	for (struct entry *e = entry_next(w, NULL); e && !w->broken; e = entry_next(w, e))
		take_up(w, e, ld.same_boot);
	(void)lease_list(w->house.reap, left_over, w);
	(void)statefile_prune(w->house.state, w->now.wall, 0, says_it_is_over, w);
	kept(w);
	if (ld.n > 0)
		log_note("taken up from the registry: %d lease%s%s", ld.n, ld.n == 1 ? "" : "s",
			 ld.same_boot ? "" : ", of another boot");
	return w->broken ? -EIO : 0;
}
