#include "config.h"

#include "watcher.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "lease/process.h"
#include "os/log.h"
#include "store/statefiles.h"

#define EVENTS 64
/* A clock that counts suspend got this far ahead of one that doesn't: the host slept. */
#define SUSPEND_MIN LEASE_NS_PER_S
/* How often room is made in a tree that is nearly full: it takes a look at all that is in it. */
#define ROOM_EVERY (INT64_C(10) * LEASE_NS_PER_S)

static bool quiet(struct watcher *w)
{
	return entry_next(w, NULL) == NULL && w->rests.n == 0;
}

int64_t one_grace(const struct watcher *w)
{
	return w->grace;
}

/* What every turn asks for is looked up once: a policy is some thousand comparisons of names. */
static void know_settings(struct watcher *w)
{
	struct policy p;

	w->grace = settings_policy(w->settings, "", "", &p) == 0 ? p.renew_grace : 90 * LEASE_NS_PER_S;
	w->judge.observe_every = settings_daemon(w->settings)->observe_every;
}

static int64_t first_due(struct watcher *w)
{
	struct entry *e = entry_first_due(w);
	int64_t at = e ? e->due : LEASE_NEVER, rest = rests_first_due(&w->rests);

	return rest < at ? rest : at;
}

/* The earliest of all that is due. With nothing due there is no timer, and no wake-up. */
static int64_t next_wake(struct watcher *w)
{
	int64_t at = first_due(w);

	if (w->admit || sweeping(w) || w->tidy.on)
		return w->now.mono;
	if (w->admit_at < at)
		at = w->admit_at;
	if (!quiet(w) && w->checkpoint + one_grace(w) < at)
		at = w->checkpoint + one_grace(w);
	if (w->hold_wall != 0 && w->judge.hold_until < at)
		at = w->judge.hold_until;
	if (w->silence.tripped > 0 && w->silence.next < at)
		at = w->silence.next;
	if (w->prune_at < at)
		at = w->prune_at;
	if (hearing_wake(w) < at)
		at = hearing_wake(w);
	struct doubt *d = TAILQ_FIRST(&w->doubts);
	if (d && d->due < at)
		at = d->due;
	return at;
}

static void set_timer(struct watcher *w)
{
	int64_t at = next_wake(w);
	struct itimerspec t = { 0 };

	if (at == w->timer_set)
		return;
	w->timer_set = at;
	if (at != LEASE_NEVER) {
		if (at <= 0)
			at = 1; /* zero would disarm it */
		t.it_value.tv_sec = (time_t)(at / LEASE_NS_PER_S);
		t.it_value.tv_nsec = (long)(at % LEASE_NS_PER_S);
	}
	if (timerfd_settime(w->timer.fd, TFD_TIMER_ABSTIME, &t, NULL) < 0)
		log_err("timerfd_settime: %s", strerror(errno));
}

/* Asleep, or starved: nobody is judged by a silence during which we could not have heard. */
static void saw_time(struct watcher *w, int64_t woke_for)
{
	int64_t grace = one_grace(w), skew = w->now.boot - w->now.mono;
	const char *what = NULL;

	if (skew - w->skew > SUSPEND_MIN)
		what = "the host was suspended";
	else if (woke_for != LEASE_NEVER && w->now.mono - woke_for > grace / 2)
		what = "this process was held up";
	w->skew = skew;
	if (!what)
		return;
	w->judge.grace_until = w->now.mono + grace;
	log_warn("%s: no lease expires by silence for the next %lld ms", what, (long long)(grace / LEASE_NS_PER_MS));
}

static void reload_error(void *arg, const char *file, int line, const char *what)
{
	(void)arg;
	if (line > 0)
		log_err("%s:%d: %s", file, line, what);
	else
		log_err("%s: %s", file, what);
}

static void reload(struct watcher *w)
{
	struct settings *s;
	int r = settings_load_or_default(w->config, w->config_named, reload_error, NULL, &s);

	if (r < 0) {
		log_err("the configuration was not taken over; the old settings stay in force");
		return;
	}
	settings_free(w->settings);
	w->settings = s;
	know_settings(w);
	policy_reload(w);
	runtimes_ask_again(w);
	w->admit = true;
	if (r > 0)
		log_warn("there is no %s: the defaults are in force", w->config);
	else
		log_note("configuration reloaded from %s", w->config);
}

static void signals_read(struct watcher *w)
{
	struct signalfd_siginfo si;

	while (read(w->signals.fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGHUP)
			reload(w);
		else
			w->stop = true;
	}
}

static void dispatch(struct watcher *w, struct source *s)
{
	uint64_t ticks;

	switch (s->kind) {
	case SRC_WATCH:
		w->hearing.unread = true;
		break;
	case SRC_MOUNTS:
		w->hearing.place_at = w->now.mono;
		break;
	case SRC_TIMER:
		if (read(s->fd, &ticks, sizeof(ticks)) > 0)
			w->timer_set = LEASE_NEVER;
		break;
	case SRC_CLOCK:
		clocks_woken(w);
		break;
	case SRC_SIGNAL:
		signals_read(w);
		break;
	case SRC_PEER:
		answers_read(w);
		break;
	case SRC_LEADER:
	case SRC_WORK:
	case SRC_WAITER:
		life_died(w, s);
		break;
	case SRC_EXEC:
		ask_exec_died(w, s->owner);
		break;
	}
}

void kept(struct watcher *w)
{
	int64_t at = w->now.mono + ENDED_KEEP + 60 * LEASE_NS_PER_S;

	w->last_kept = w->now.mono;
	if (at < w->prune_at)
		w->prune_at = at;
}

/* One file system for all users: what one of them leaves there must not keep the others from making their locks. */
static void room(struct watcher *w)
{
	if (w->now.mono < w->room_at || !locks_crowded(&w->house))
		return;
	w->room_at = w->now.mono + ROOM_EVERY;
	locks_make_room(&w->house, w->now.wall, settings_daemon(w->settings)->archive_keep);
	if (locks_crowded(&w->house))
		log_err("%s: less than a quarter of its room is free, and the archive is empty: see who fills it "
			"(find -size +8 -ls)",
			w->paths.notices);
	else
		log_warn("%s was nearly full: what was longer than a lock, and the oldest of the archive, was removed",
			 w->paths.notices);
}

static void upkeep(struct watcher *w)
{
	hold_over(w);
	room(w);
	tidy_run(w);
	if (w->now.mono < w->prune_at)
		return;
	tidy_begin(w, false);
	locks_prune(&w->house, w->now.wall, settings_daemon(w->settings)->archive_keep);
	/* The archive is looked through once a day; state files sooner, while some wait for it. */
	w->prune_at = w->now.mono + INT64_C(86400) * LEASE_NS_PER_S;
	if (w->last_kept != 0 && w->last_kept + ENDED_KEEP > w->now.mono)
		w->prune_at = w->last_kept + ENDED_KEEP + 60 * LEASE_NS_PER_S;
}

static void checkpoint(struct watcher *w)
{
	/* That the clock was set is known to nobody else. */
	if (quiet(w) || (w->now.mono - w->checkpoint < one_grace(w) && w->clocks.even <= w->checkpoint))
		return;
	if (checkpoint_write(w) < 0)
		log_err("the checkpoint cannot be written: %s", registry_error(w->registry));
}

/* What can wait until all that was decided is under way. */
#define SOON (5 * LEASE_NS_PER_MS)

static bool turn_end(struct watcher *w)
{
	if (!turn_commit(w) || flush(w) < 0)
		return false;
	registry_settle(w->registry, next_wake(w) <= w->now.mono + SOON);
	return true;
}

static bool turn(struct watcher *w, struct epoll_event *events, int n)
{
	if (!turn_begin(w))
		return false;
	/*
	 * What ended in this turn is freed at its end, so no source goes away under an event that is still to
	 * come.
	 */
	for (int i = 0; i < n && !w->broken; i++) {
		struct source *s = events[i].data.ptr;
		if (s->fd >= 0)
			dispatch(w, s);
	}
	hearing_turn(w);
	rescan_turn(w);
	scan_doubts(w);
	sweep_run(w);
	look_at_due(w);
	if (w->admit || w->admit_at <= w->now.mono)
		admit_run(w);
	look_at_due(w); /* what was admitted or asked for in this turn */
	upkeep(w);
	checkpoint(w);
	degraded_tell(w);
	return turn_end(w);
}

/* The names that come and go are read a moment later, so that who is due does not wait for a hundred thousand of them. */
#define DUE_FIRST 100 /* turns at most, of a slice each */

/*
 * Who is due is judged first. Then who came meanwhile is found, all of them before any event tells of one that came
 * since. The watch came first, so what is made while we scan is seen twice rather than never.
 */
static bool catch_up(struct watcher *w)
{
	clocks_read(w);
	for (int i = 0; i < DUE_FIRST && first_due(w) <= w->now.mono; i++) {
		if (!turn(w, NULL, 0))
			return false;
		clocks_read(w);
	}
	if (!turn_begin(w))
		return false;
	scan_all(w);
	hearing_turn(w);
	look_at_due(w);
	if (w->admit)
		admit_run(w);
	degraded_tell(w);
	return turn_end(w);
}

static int loop(struct watcher *w)
{
	struct epoll_event events[EVENTS];

	while (!w->stop) {
		int64_t due = next_wake(w);
		set_timer(w);
		/* Due already (a slice was full): look at the descriptors, but don't wait for them. */
		int n = epoll_wait(w->epoll, events, EVENTS, due <= w->now.mono ? 0 : -1);
		if (n < 0 && errno != EINTR) {
			log_err("epoll_wait: %s", strerror(errno));
			return 1;
		}
		clocks_read(w);
		saw_time(w, due <= w->now.mono ? due : LEASE_NEVER);
		if (!turn(w, events, n < 0 ? 0 : n))
			return 1;
	}
	return 0;
}

static int open_sources(struct watcher *w)
{
	sigset_t set;
	int r, fd;

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0)
		return -errno;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	if ((fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
		return -errno;
	if ((r = source_add(w, &w->signals, SRC_SIGNAL, fd, NULL)) < 0)
		return r;
	if ((fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) < 0)
		return -errno;
	if ((r = source_add(w, &w->timer, SRC_TIMER, fd, NULL)) < 0)
		return r;
	if ((r = clocks_open(w)) < 0)
		return r;
	if ((r = source_add(w, &w->peer, SRC_PEER, w->peer.fd, NULL)) < 0)
		return r;
	return hearing_open(w);
}

static void registry_waits(void *arg, int seconds)
{
	const struct watcher *w = arg;

	if (seconds == 0)
		log_warn("%s: somebody else holds it for writing (an open transaction in a shell?): nothing is decided "
			 "until it is free; in half a minute the daemon ends", w->paths.db);
	else
		log_note("%s: waited for it for %d s", w->paths.db, seconds);
}

static int begin(struct watcher *w)
{
	char err[256];
	int r;

	know_settings(w);
	if (lease_boot_id(w->boot) < 0) {
		log_err("the boot id cannot be read: /proc/sys/kernel/random/boot_id");
		return -1;
	}
	if ((r = registry_open(w->paths.db, &w->registry, err)) < 0) {
		log_err("%s", err);
		return -1;
	}
	registry_tell(w->registry, registry_waits, w);
	clock_read(&w->now);
	if ((r = open_sources(w)) < 0) {
		log_err("cannot watch: %s", strerror(-r));
		return -1;
	}
	w->skew = w->now.boot - w->now.mono;
	w->checkpoint = w->began = w->now.mono;
	w->prune_at = w->now.mono;
	if (rest_begin(w) < 0 || !turn_begin(w))
		return -1;
	if ((r = restart_load(w)) < 0) {
		log_err("%s: %s: %s. Nothing was decided and nothing ended: see \"It does not start\" in the runbook",
			w->paths.db, r == -EBADMSG ? "is damaged" : "cannot be read", registry_error(w->registry));
		return -1;
	}
	hold_load(w);
	look_at_due(w);
	if (w->admit)
		admit_run(w);
	look_at_due(w); /* as in every turn */
	tidy_begin(w, true);
	if (!turn_end(w))
		return -1;
	beacon_write(w);
	degraded_tell(w);
	return 0;
}

static void say_ready(struct watcher *w)
{
	if (w->ready_fd >= 0) {
		if (write(w->ready_fd, "", 1) != 1)
			log_warn("nobody was there to be told that we are ready");
		close(w->ready_fd);
		w->ready_fd = -1;
	}
	log_note("watching %s (%s mode)", w->paths.notices, w->paths.user_mode ? "user" : "system");
}

int watcher_run(struct watcher *w)
{
	RB_INIT(&w->by_id);
	RB_INIT(&w->by_due);
	RB_INIT(&w->users);
	RB_INIT(&w->silence.parties);
	TAILQ_INIT(&w->silence.leases);
	TAILQ_INIT(&w->silence.ended);
	LIST_INIT(&w->changed);
	LIST_INIT(&w->drowsy);
	TAILQ_INIT(&w->wanting);
	TAILQ_INIT(&w->requests);
	LIST_INIT(&w->execs);
	LIST_INIT(&w->execs_over);
	STAILQ_INIT(&w->replies);
	LIST_INIT(&w->flights);
	SLIST_INIT(&w->runtimes);
	TAILQ_INIT(&w->doubts);
	w->timer_set = w->admit_at = LEASE_NEVER;
	w->mounts.fd = w->inotify.fd = -1;
	int r = 1;
	if (begin(w) == 0) {
		say_ready(w);
		r = catch_up(w) ? loop(w) : 1;
	}
	/* What it knew at the end is worth a restart's time: nothing of this downtime is older than now. */
	if (w->registry && !w->broken) {
		clocks_read(w);
		(void)checkpoint_write(w);
	}
	registry_close(w->registry);
	return r;
}
