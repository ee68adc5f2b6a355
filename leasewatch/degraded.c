/*
 * degraded.c: what is wrong with this daemon's hearing, said once: a line in the log, and the beacon's
 * `degraded`, which klease prints above its lists; of a single lease, `degraded` in its state file.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "os/log.h"
#include "watcher.h"

/* What comes and goes is told so often at once, then so often: a user who can cause it must not fill the log. */
#define LINES 5
#define LINE_EVERY (INT64_C(60) * LEASE_NS_PER_S)

/* An error is for whoever is called at night; a warning has a remedy in itself. syslog's numbers. */
static const int levels[TROUBLES] = { [TROUBLE_TREE] = 3, [TROUBLE_EVENTS] = 3, [TROUBLE_PROOF] = 4,
				      [TROUBLE_FAR] = 4,  [TROUBLE_LOST] = 4,	[TROUBLE_LOCKS] = 4,
				      [TROUBLE_ROWS] = 3 };

void degraded_set(struct watcher *w, enum trouble t, const char *fmt, ...)
{
	struct trouble_state *s = &w->hearing.troubles[t];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(s->now, sizeof(s->now), fmt, ap);
	va_end(ap);
}

void degraded_clear(struct watcher *w, enum trouble t)
{
	struct trouble_state *s = &w->hearing.troubles[t];

	if (s->now[0] && !s->told[0])
		memcpy(s->brief, s->now, sizeof(s->brief));
	s->now[0] = '\0';
}

static bool may_tell(struct trouble_state *s, int64_t now)
{
	if (s->told_at < now - LINES * LINE_EVERY)
		s->told_at = now - LINES * LINE_EVERY;
	if (s->told_at + LINE_EVERY > now)
		return false;
	s->told_at += LINE_EVERY;
	return true;
}

void degraded_tell(struct watcher *w)
{
	bool changed = false;

	for (int t = 0; t < TROUBLES; t++) {
		struct trouble_state *s = &w->hearing.troubles[t];
		bool same = strcmp(s->now, s->told) == 0;
		if ((same && !s->brief[0]) || !may_tell(s, w->now.mono))
			continue;
		if (s->brief[0] && same)
			log_at(levels[t], "degraded for a moment: %s", s->brief);
		s->brief[0] = '\0';
		if (same)
			continue;
		if (s->now[0])
			log_at(levels[t], "degraded: %s", s->now);
		else
			log_note("no longer degraded: %s", s->told);
		memcpy(s->told, s->now, sizeof(s->told));
		changed = true;
	}
	if (changed && !w->broken)
		beacon_write(w);
}

/* The want of watches is the host's, and one line for all; the rest is the lock's own. */
static bool is_want(int error)
{
	return error == ENOSPC || error == ENOMEM || error == EMFILE;
}

void degraded_lock(struct watcher *w, struct entry *e, int error)
{
	if (error == e->lock_error)
		return;
	w->hearing.polled += is_want(error) - is_want(e->lock_error);
	if (is_want(error))
		degraded_set(w, TROUBLE_LOCKS,
			     "locks that should be watched can't be (%s; see fs.inotify.max_user_watches): each is "
			     "looked at every second instead",
			     strerror(error));
	else if (w->hearing.polled == 0)
		degraded_clear(w, TROUBLE_LOCKS);
	if (error && !is_want(error))
		report_rubbish(w, e->l.uid, e->l.name, "cannot be watched: looked at every second instead");
	e->lock_error = error;
	e->view_dirty = true;
	entry_changed(w, e);
}

static void add(char *buf, size_t size, const char *text)
{
	size_t n = strlen(buf);

	(void)snprintf(buf + n, size - n, "%s%s", n ? "; " : "", text);
}

void degraded_words(const struct watcher *w, char *buf, size_t size)
{
	buf[0] = '\0';
	for (int t = 0; t < TROUBLES; t++)
		if (w->hearing.troubles[t].told[0])
			add(buf, size, w->hearing.troubles[t].told);
}

void degraded_lease(const struct entry *e, char buf[LEASE_WHY_SIZE])
{
	const struct lease *l = &e->l;
	char text[LEASE_WHY_SIZE];

	buf[0] = '\0';
	if (!state_living(l->state))
		return;
	if (e->lock_error) {
		(void)snprintf(text, sizeof(text), "its lock cannot be watched (%s): looked at every second",
			       strerror(e->lock_error));
		add(buf, LEASE_WHY_SIZE, text);
	}
	if (l->cpu_broken)
		add(buf, LEASE_WHY_SIZE, "its CPU use cannot be read: counts as use");
	/* A session outlives its leader: there, that nobody is followed is no fault. */
	if (l->leader_alive && e->leader.fd < 0 && l->record.leader.pid > 0 && !l->record.is_session)
		add(buf, LEASE_WHY_SIZE, "its leader cannot be watched: taken as alive");
}
