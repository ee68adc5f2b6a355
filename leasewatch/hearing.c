#include "config.h"

#include "hearing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "os/log.h"
#include "watcher.h"

#define WATCH_BUDGET 512 /* names looked at before the rest of the loop has its turn */
/* How often the folders are read where inotify can't be had, or other machines change them. */
#define POLL LEASE_NS_PER_S
/* The same where only what is done behind this file system goes untold: those who do that are few, and patient. */
#define POLL_BEHIND (INT64_C(5) * LEASE_NS_PER_S)
/* How often inotify is tried again: a few hundredths of a millisecond each. */
#define RETRY (INT64_C(5) * LEASE_NS_PER_S)

#define INSTEAD "the folders are read every second instead"

static void saw_name(void *arg, enum watch_kind kind, const char *name)
{
	struct watcher *w = arg;

	if (kind != WATCH_RESCAN) {
		if (!w->broken)
			scan_name(w, kind, name);
		return;
	}
	w->rescan = true;
	if (!watch_lost(w->watch))
		degraded_set(w, TROUBLE_LOST, "events were lost (too many at once): everything is looked at anew");
}

static int64_t pace(const struct watcher *w)
{
	if (!w->watch || w->house.fs.kind == FS_FAR)
		return POLL;
	return w->house.fs.kind == FS_LOCAL ? LEASE_NEVER : POLL_BEHIND;
}

static void set_pace(struct watcher *w)
{
	int64_t every = pace(w);

	w->hearing.scan_at = every == LEASE_NEVER ? every : w->now.mono + every;
}

static void drop_watch(struct watcher *w)
{
	if (!w->watch)
		return;
	(void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, w->inotify.fd, NULL);
	w->inotify.fd = -1;
	watch_close(w->watch);
	w->watch = NULL;
	w->hearing.unread = w->hearing.proving = false;
	for (struct entry *e = entry_next(w, NULL); e; e = entry_next(w, e))
		e->watched = false;
	w->rescan = true; /* what was in the queue, and those that are to be looked at by the clock now */
}

static void do_without(struct watcher *w)
{
	drop_watch(w);
	w->hearing.retry_at = w->now.mono + RETRY;
	set_pace(w);
}

static const char *limit(int error)
{
	if (error == EMFILE)
		return "see fs.inotify.max_user_instances";
	return error == ENOSPC ? "see fs.inotify.max_user_watches" : "not one of its limits";
}

static int listen_anew(struct watcher *w)
{
	int fd, r = watch_open(&w->house.tree, &w->watch, &fd);

	if (r == 0) {
		r = source_add(w, &w->inotify, SRC_WATCH, fd, NULL);
		if (r < 0)
			return r;
		w->hearing.prove_at = w->now.mono;
		set_pace(w);
		return 0;
	}
	degraded_set(w, TROUBLE_EVENTS, "inotify cannot be had (%s; %s): " INSTEAD, strerror(-r), limit(-r));
	do_without(w);
	return 0;
}

int hearing_open(struct watcher *w)
{
	int seconds = (int)((w->house.fs.kind == FS_FAR ? POLL : POLL_BEHIND) / LEASE_NS_PER_S);
	int fd;

	w->hearing.locks_too = w->house.fs.kind != FS_LOCAL;
	if (w->house.fs.kind == FS_LAYERED)
		log_note("the tree is on %s: what changes in a layer below makes no event, so while there are leases "
			 "the folders are read every %d s as well",
			 w->house.fs.name, seconds);
	else if (w->hearing.locks_too)
		degraded_set(w, TROUBLE_FAR,
			     "the tree is on %s, where not every change makes an event: its folders are read every %d s as well",
			     w->house.fs.name, seconds);
	/* Its readers are told of mounts (proc(5)). Without, they are noticed at the next look at the place. */
	fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)source_add(w, &w->mounts, SRC_MOUNTS, fd, NULL);
	return listen_anew(w);
}

/* --- events, and that they come --- */

void hearing_read(struct watcher *w)
{
	struct hearing *h = &w->hearing;
	int r;

	if (!w->watch)
		return;
	r = watch_read(w->watch, WATCH_BUDGET, saw_name, w);
	h->unread = r > 0;
	if (r < 0) {
		degraded_set(w, TROUBLE_EVENTS, "inotify cannot be read (%s): " INSTEAD, strerror(-r));
		do_without(w);
		return;
	}
	if (h->unread || !h->proving)
		return;
	h->proving = false;
	if (watch_proven(w->watch)) {
		degraded_clear(w, TROUBLE_EVENTS);
		return;
	}
	degraded_set(w, TROUBLE_EVENTS, "inotify is silent though a folder of ours came and went: " INSTEAD);
	do_without(w);
}

static void prove(struct watcher *w)
{
	struct hearing *h = &w->hearing;
	int r = watch_prove(w->watch, &w->house.tree);

	h->prove_at = w->now.mono + one_grace(w);
	h->proving = true;
	if (r < 0)
		degraded_set(w, TROUBLE_PROOF,
			     "no folder can be made in the tree (%s), so it is not known whether events come", strerror(-r));
	else
		degraded_clear(w, TROUBLE_PROOF);
	/* In the turn that made it: so it wakes nobody. */
	hearing_read(w);
}

/* --- whether the tree stands in its place --- */

/* Whoever holds a lease cannot be heard, or could not until now. */
static void spare_the_silent(struct watcher *w)
{
	w->judge.grace_until = w->now.mono + one_grace(w);
}

static void away(struct watcher *w, const char *what)
{
	struct hearing *h = &w->hearing;

	if (h->away_since == 0) {
		h->away_since = w->now.mono;
		drop_watch(w);
		h->scan_at = LEASE_NEVER;
		degraded_set(w, TROUBLE_TREE, "%s: no lease ends by silence until it is back", what);
	}
	spare_the_silent(w);
	h->place_at = w->now.mono + POLL;
	/* Who started us can do more than we: the next of us makes the tree anew, or says why not. */
	if (w->now.mono - h->away_since >= one_grace(w)) {
		log_err("%s, and has not come back: ending; leases stand as they are", what);
		w->broken = true;
	}
}

static void look_at_place(struct watcher *w)
{
	struct hearing *h = &w->hearing;
	bool lost = w->watch && watch_lost(w->watch);
	char err[256];
	int r;

	h->place_at = w->now.mono + one_grace(w);
	if (!lost && h->away_since == 0 && house_stands(&w->paths, &w->house))
		return;
	r = house_reopen(&w->paths, &w->house, err);
	if (r < 0) {
		away(w, err);
		return;
	}
	if (h->away_since == 0)
		log_warn("a folder of %s was moved or removed: it is there again, everything is looked at anew, and no "
			 "lease ends by silence for one renew_grace",
			 w->paths.notices);
	h->away_since = 0;
	degraded_clear(w, TROUBLE_TREE);
	spare_the_silent(w);
	drop_watch(w);
	if ((r = listen_anew(w)) < 0) {
		log_err("cannot watch: %s", strerror(-r));
		w->broken = true;
	}
	w->rescan = true;
}

/* --- a turn --- */

void hearing_turn(struct watcher *w)
{
	struct hearing *h = &w->hearing;
	int64_t now = w->now.mono;
	bool reading = h->scan_at <= now;

	if (h->unread)
		hearing_read(w);
	/* What was made in the place of a folder may go, too, before it is watched. */
	do
		if (h->place_at <= now || reading || (w->watch && watch_lost(w->watch)))
			look_at_place(w);
	while (!w->broken && w->watch && watch_lost(w->watch));
	if (w->broken || h->away_since != 0)
		return;
	if (!w->watch && h->retry_at <= now) {
		if (listen_anew(w) < 0)
			do_without(w);
		w->rescan = true; /* what came since the last look, and before the watch */
	}
	if (w->watch && h->prove_at <= now && !h->proving)
		prove(w);
	if (reading) {
		w->rescan = true;
		set_pace(w);
	}
}

int64_t hearing_wake(struct watcher *w)
{
	const struct hearing *h = &w->hearing;
	int64_t at = h->scan_at;

	/* Nothing is at stake, and nobody ought to reach below. */
	if (w->watch && w->house.fs.kind == FS_LAYERED && !entry_next(w, NULL) && w->rests.n == 0)
		at = LEASE_NEVER;
	if (h->away_since != 0)
		at = h->place_at;
	if (rescan_wake(w) < at)
		at = rescan_wake(w);
	/* What was put off while nothing was to be looked at is no wake-up that came late. */
	return h->unread || at < w->now.mono ? w->now.mono : at;
}
