/*
 * ration.c: what one user can make the daemon write down. Every request leaves lines in the ledger, which is
 * for ever, in the log and in state/; so a loop that asks and asks would fill /var and /run for everybody. Each
 * kind has a number at once and then a pace:
 *
 *	starts	 past them requests wait in queue/, as for any other want of room. Nobody who works is held up
 *	         by two a second
 *	denials	 past them a request that comes to nothing leaves a state file only; one that is admitted is
 *	         recorded as ever
 *	asks	 past them asks are refused
 *	stirs	 asks to hibernate or resume: each moves the state of a lease, three lines in the ledger and back
 *	lines	 of the log, for what moves no state: a lock that is hidden and put back, a hundred times a second
 *
 * Not in user mode, where the only user would ration himself, and not root.
 *
 * The generic cell rate algorithm (ITU-T I.371): one time a ration, when it will be full again.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/statefiles.h"
#include "watcher.h"

static const struct {
	int64_t pace;
	int64_t at_once;
} rations[RATIONS] = {
	[RATION_STARTS] = { 500 * LEASE_NS_PER_MS, 1000 },
	[RATION_DENIALS] = { 30 * LEASE_NS_PER_S, 120 },
	[RATION_ASKS] = { 100 * LEASE_NS_PER_MS, 1000 },
	[RATION_STIRS] = { 10 * LEASE_NS_PER_S, 120 },
	[RATION_LINES] = { 10 * LEASE_NS_PER_S, 240 },
};

static bool exempt(const struct watcher *w, const struct user *u)
{
	return w->paths.user_mode || u->uid == 0;
}

static int64_t at_once(struct watcher *w, enum ration what)
{
	int quota = settings_daemon(w->settings)->quota_leases;

	/* Whoever may have so many may start them. */
	return what == RATION_STARTS && quota > rations[what].at_once ? quota : rations[what].at_once;
}

bool ration_left(struct watcher *w, const struct user *u, enum ration what, int64_t *ret_when)
{
	int64_t when = u->ration[what] - (at_once(w, what) - 1) * rations[what].pace;

	if (exempt(w, u) || when <= w->now.mono)
		return true;
	if (ret_when)
		*ret_when = when;
	return false;
}

void ration_take(struct watcher *w, struct user *u, enum ration what)
{
	if (u->ration[what] < w->now.mono)
		u->ration[what] = w->now.mono;
	u->ration[what] += rations[what].pace;
}

/* The oldest of a user's goes when there are too many, unless its id lives (again). */
static void drop_oldest(struct watcher *w, struct user *u)
{
	struct keepsake *k = TAILQ_FIRST(&u->kept);

	TAILQ_REMOVE(&u->kept, k, all);
	u->n_kept--;
	if (!entry_known(w, k->name))
		(void)statefile_remove(w->house.state, k->name);
	free(k);
}

void keep_file(struct watcher *w, struct user *u, const char *name)
{
	struct keepsake *k = exempt(w, u) ? NULL : calloc(1, sizeof(*k));

	if (!k)
		return;
	(void)snprintf(k->name, sizeof(k->name), "%s", name);
	TAILQ_INSERT_TAIL(&u->kept, k, all);
	if (++u->n_kept > WATCHER_KEPT)
		drop_oldest(w, u);
}
