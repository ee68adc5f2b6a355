/*
 * hold.c: what root says for all leases at once: a hold, and that the breaker lets go. And the beacon, which tells of it.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lease/beacon.h"
#include "lease/process.h"
#include "os/clock.h"
#include "os/log.h"
#include "store/statefiles.h"
#include "watcher.h"

/* A hold longer than this is a decision that somebody forgot. */
#define HOLD_DEFAULT (INT64_C(3600) * LEASE_NS_PER_S)
#define HOLD_MAX (INT64_C(7) * 86400 * LEASE_NS_PER_S)

void beacon_write(struct watcher *w)
{
	struct lease_beacon b = { .user_mode = w->paths.user_mode, .hold_until = w->hold_wall / LEASE_NS_PER_MS };
	const struct breaker *breaker = w->silence.shown;
	char buf[LEASE_FILE_MAX];
	size_t len;

	(void)snprintf(b.state, sizeof(b.state), "%s", w->paths.state);
	(void)snprintf(b.db, sizeof(b.db), "%s", w->paths.db);
	(void)snprintf(b.sessions, sizeof(b.sessions), "%s", w->paths.sessions);
	(void)snprintf(b.hold_by, sizeof(b.hold_by), "%s", w->hold_by);
	memcpy(b.boot, w->boot, sizeof(b.boot));
	degraded_words(w, b.degraded, sizeof(b.degraded));
	if (breaker) {
		b.breaker_until = (w->now.wall + breaker->until - w->now.mono) / LEASE_NS_PER_MS;
		breaker_words(breaker, b.breaker_why);
		if (w->silence.tripped > 1)
			(void)strlcat(b.breaker_why, ", and others", sizeof(b.breaker_why));
	}
	if (lease_process_self(&b.daemon) < 0)
		log_warn("our own start time cannot be read: klease will think that no daemon runs");
	int r = lease_beacon_format(&b, buf, sizeof(buf), &len);
	if (r == 0)
		r = statefile_write(w->house.tree.root, LEASE_BEACON_NAME, buf, len);
	if (r < 0)
		log_err("%s/%s cannot be written: %s", w->paths.notices, LEASE_BEACON_NAME, strerror(-r));
}

static void hold_set(struct watcher *w, int64_t until_wall, const char *by)
{
	char value[96], length[24];

	w->hold_wall = until_wall;
	(void)snprintf(w->hold_by, sizeof(w->hold_by), "%s", by);
	w->judge.hold_until = until_wall ? w->now.mono + (until_wall - w->now.wall) : 0;
	(void)snprintf(value, sizeof(value), "%lld %s", (long long)until_wall, by);
	(void)snprintf(length, sizeof(length), "%lld", (long long)(until_wall - w->now.wall));
	if (registry_set(w->registry, "hold", until_wall ? value : NULL) < 0 ||
	    registry_set(w->registry, "hold_length", until_wall ? length : NULL) < 0)
		log_err("the hold cannot be stored (%s): a restart would forget it", registry_error(w->registry));
	beacon_write(w);
	for (struct entry *e = entry_next(w, NULL); e; e = entry_next(w, e)) {
		e->view_dirty = true;
		entry_changed(w, e);
		entry_due(w, e, w->now.mono);
	}
	sweep_begin(w, false, true);
}

void hold_load(struct watcher *w)
{
	char value[96], length[24], *end;

	if (registry_get(w->registry, "hold", value, sizeof(value)) < 0)
		return;
	long long until = strtoll(value, &end, 10), most = HOLD_MAX;
	if (*end != ' ' || until <= w->now.wall)
		return;
	/* A clock that was set back meanwhile makes it no longer than it was to be. */
	if (registry_get(w->registry, "hold_length", length, sizeof(length)) == 0)
		most = strtoll(length, NULL, 10);
	if (until - w->now.wall > most)
		until = w->now.wall + most;
	hold_set(w, until, end + 1);
	log_warn("a hold of %s is in force: nothing is destroyed until it is lifted or over", w->hold_by);
}

void hold_over(struct watcher *w)
{
	if (w->hold_wall == 0 || w->now.mono < w->judge.hold_until)
		return;
	log_warn("the hold of %s is over: what is due ends now", w->hold_by);
	breaker_hold_over(w);
	hold_set(w, 0, "");
}

void ask_hold(struct watcher *w, const char *ask, const struct ask *q, uint32_t uid)
{
	int64_t length = q->ttl ? q->ttl : HOLD_DEFAULT;
	char by[64], told[128], human[LEASE_DURATION_SIZE];
	struct clock_now now;

	if (uid != 0 && !w->paths.user_mode) {
		ask_say(w, ask, "refused", "only root holds or lifts a hold");
		return;
	}
	if (q->verb == ASK_UNHOLD) {
		log_warn("the hold was lifted by uid %u", uid);
		if (w->hold_wall != 0)
			breaker_hold_over(w);
		hold_set(w, 0, "");
		ask_say(w, ask, "done", "no hold is in force: what is due ends now");
		return;
	}
	if (length > HOLD_MAX) {
		ask_say(w, ask, "refused", "a hold lasts at most 7d: ask again when it is over");
		return;
	}
	(void)snprintf(by, sizeof(by), "uid %u", uid);
	log_warn("HOLD by uid %u for %lld s: nothing is destroyed until then", uid, (long long)(length / LEASE_NS_PER_S));
	/* From now, and not from when this turn began, which may have been before anybody asked. */
	clock_read(&now);
	hold_set(w, w->now.wall + (now.mono - w->now.mono) + length, by);
	lease_duration_human(human, length);
	(void)snprintf(told, sizeof(told), "held for %s from now: nothing is destroyed until it is lifted or over", human);
	ask_say(w, ask, "done", told);
}

void ask_breaker_release(struct watcher *w, const char *ask, uint32_t uid)
{
	if (uid != 0 && !w->paths.user_mode)
		ask_say(w, ask, "refused", "only root lets the breaker go");
	else if (breaker_let_go(w, uid))
		ask_say(w, ask, "done", "reaping goes on: what is silent ends now");
	else
		ask_say(w, ask, "done", "the breaker has not tripped: nothing was held");
}
