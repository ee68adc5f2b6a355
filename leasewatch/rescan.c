/*
 * rescan.c: looking at everything anew, where events were lost or do not come.
 *
 * A piece a turn, so that whoever is due is judged between any two of them; and after each one a pause of some times its
 * length, so that a user who makes noise takes a part of our time and no more. Three passes: the names in active/ and queue/;
 * of these, the new ones in the order in which they came; then the leases, since what has gone leaves no name to find it
 * by. A name that is missed while others come and go (readdir(3) promises nothing of these) costs a look: it is never the
 * verdict.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "watcher.h"

/* A turn's share of each pass: about a millisecond. */
#define PARTS 4	       /* of some 200 names */
#define NEWCOMERS 64   /* each is read, and may be a row, a ledger line and a state file */
#define SKIPPED 4096   /* leases that need no look */
#define PAUSE LEASE_NS_PER_S
#define PAUSE_PART 4 /* so many times as long as it took */

static enum watch_kind kind_of(const struct rescan *r)
{
	return r->phase == RESCAN_ACTIVE ? WATCH_ACTIVE : WATCH_QUEUE;
}

/* False: no memory to keep it for later. */
static bool put_off(struct watcher *w, const char *name)
{
	struct rescan *r = &w->scan;
	struct lease_stat st;

	if (r->n_found == r->found_size) {
		size_t size = r->found_size ? 2 * r->found_size : 64;
		struct newcome *more = reallocarray(r->found, size, sizeof(*more));
		if (!more)
			return false;
		r->found = more;
		r->found_size = size;
	}
	if (lease_stat(scan_folder(w, kind_of(r)), name, &st) < 0)
		return true; /* gone already */
	struct newcome *c = &r->found[r->n_found];
	*c = (struct newcome){ .kind = (int)kind_of(r), .ctime = st.ctime, .name = strdup(name) };
	r->n_found += c->name != NULL;
	return c->name != NULL;
}

static int take(void *arg, const char *name)
{
	struct watcher *w = arg;
	const char *id = lease_name_lock_id(name);
	struct entry *e;

	if (id && w->scan.phase == RESCAN_ACTIVE && rest_seen(w, id, name))
		return w->broken;
	if (id && !entry_known(w, id) && put_off(w, name))
		return w->broken;
	e = id ? entry_find(w, id) : NULL;
	if (e && w->scan.phase == RESCAN_ACTIVE && strcmp(e->l.name, name) == 0)
		e->seen = true;
	else
		scan_name(w, kind_of(&w->scan), name);
	return w->broken;
}

static int older(const void *a, const void *b)
{
	const struct newcome *x = a, *y = b;

	return (x->ctime > y->ctime) - (x->ctime < y->ctime);
}

static void enter(struct watcher *w, enum rescan_phase phase)
{
	struct rescan *r = &w->scan;

	r->phase = phase;
	if (phase == RESCAN_ACTIVE || phase == RESCAN_QUEUE)
		r->fd = openat(scan_folder(w, kind_of(r)), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/*
	 * In the order in which they came, as events would have told: a request's name can be read by
	 * everybody, and of two with one id the earlier stands.
	 */
	if (phase == RESCAN_NEW && r->n_found > 0)
		qsort(r->found, r->n_found, sizeof(*r->found), older);
}

/* Each of the passes gives true while there is more of it. */
static bool read_names(struct watcher *w)
{
	bool more = w->scan.fd >= 0;

	for (int i = 0; i < PARTS && more && !w->broken; i++)
		if (lease_list_part(w->scan.fd, take, w, &more) < 0)
			more = false;
	if (!more && w->scan.fd >= 0) {
		close(w->scan.fd);
		w->scan.fd = -1;
	}
	return more;
}

static bool take_newcomers(struct watcher *w)
{
	struct rescan *r = &w->scan;

	for (int i = 0; i < NEWCOMERS && r->at < r->n_found; i++) {
		struct newcome *c = &r->found[r->at++];
		if (!w->broken)
			scan_name(w, (enum watch_kind)c->kind, c->name);
		free(c->name);
	}
	return r->at < r->n_found;
}

static bool look_at_leases(struct watcher *w)
{
	struct rescan *r = &w->scan;
	struct entry *e = entry_after(w, r->id);

	for (int looked = 0, i = 0; e && looked < WATCHER_SLICE && i < SKIPPED && !w->broken; i++) {
		memcpy(r->id, e->l.id, sizeof(r->id));
		bool seen = e->seen;
		e->seen = false;
		/* One whose lock stands, and whose beats nobody waits for, is looked at in its time. */
		if (state_ended(e->l.state) || (e->l.state == ST_ACTIVE && !beat_matters(&e->l) && seen)) {
			e = entry_next(w, e);
			continue;
		}
		look(w, e);
		looked++;
		e = entry_after(w, r->id);
	}
	return e != NULL;
}

static void finish(struct watcher *w)
{
	struct rescan *r = &w->scan;
	int64_t took = w->now.mono - r->began;

	rest_unseen_due(w);
	free(r->found);
	*r = (struct rescan){ .phase = RESCAN_NONE, .since_wall = r->began_wall,
			      .not_before = w->now.mono + (took * PAUSE_PART > PAUSE ? took * PAUSE_PART : PAUSE) };
	if (!w->rescan)
		degraded_clear(w, TROUBLE_LOST);
}

/* At the start one may be under way when all is to be read at once: its names are found again. */
static void drop(struct watcher *w)
{
	struct rescan *r = &w->scan;

	for (struct entry *e = entry_next(w, NULL); e; e = entry_next(w, e))
		e->seen = false;
	for (uint32_t n = rests_next(&w->rests, 0); n != RESTS_NONE; n = rests_next(&w->rests, n + 1))
		rests_at(&w->rests, n)->seen = false;
	for (size_t i = r->at; i < r->n_found; i++)
		free(r->found[i].name);
	if (r->phase != RESCAN_NONE && r->fd >= 0)
		close(r->fd);
	free(r->found);
	*r = (struct rescan){ .phase = RESCAN_NONE, .since_wall = r->since_wall };
}

static void begin(struct watcher *w)
{
	if (w->scan.phase != RESCAN_NONE)
		drop(w);
	w->rescan = false;
	w->scan.began = w->now.mono;
	w->scan.began_wall = w->now.wall;
	enter(w, RESCAN_ACTIVE);
}

void rescan_turn(struct watcher *w)
{
	static bool (*const passes[])(struct watcher *) = { [RESCAN_ACTIVE] = read_names,
							     [RESCAN_QUEUE] = read_names,
							     [RESCAN_NEW] = take_newcomers,
							     [RESCAN_KNOWN] = look_at_leases };
	struct rescan *r = &w->scan;

	if (r->phase == RESCAN_NONE) {
		if (!w->rescan || w->now.mono < r->not_before)
			return;
		begin(w);
	}
	while (!w->broken && !passes[r->phase](w)) {
		if (r->phase == RESCAN_KNOWN) {
			finish(w);
			return;
		}
		enter(w, r->phase + 1);
	}
}

int64_t rescan_wake(const struct watcher *w)
{
	if (w->scan.phase != RESCAN_NONE)
		return w->now.mono;
	return w->rescan ? w->scan.not_before : LEASE_NEVER;
}

void scan_all(struct watcher *w)
{
	begin(w);
	for (enum rescan_phase p = RESCAN_ACTIVE; p <= RESCAN_NEW && !w->broken; p++) {
		if (p != RESCAN_ACTIVE)
			enter(w, p);
		while (p == RESCAN_NEW ? take_newcomers(w) : read_names(w))
			;
	}
	for (struct entry *e = entry_next(w, NULL); e; e = entry_next(w, e))
		if (!state_ended(e->l.state))
			entry_due(w, e, w->now.mono);
	finish(w);
}
