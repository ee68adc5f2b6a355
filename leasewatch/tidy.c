/*
 * tidy.c: the folder of state files, looked through in slices: a hundred thousand names in one go would hold up whoever
 * is due meanwhile.
 */
#include "config.h"

#include <string.h>

#include "os/log.h"
#include "watcher.h"

/* A state file that says a lease lives which does not: we died between its end and the word of it. */
static bool says_it_is_over(struct watcher *w, const char *name)
{
	char buf[LEASE_STATE_FILE_MAX];
	struct lease_error err;
	struct view v;
	size_t len;

	if (lease_read(w->house.state, name, (uid_t)-1, buf, sizeof(buf), &len, NULL) < 0 || view_parse(buf, len, &v, &err) < 0)
		return false;
	return strcmp(v.state, state_public(ST_REAPED)) == 0 || strcmp(v.state, state_public(ST_DENIED)) == 0;
}

static bool keep(void *arg, const char *name)
{
	struct watcher *w = arg;
	uint32_t n = rests_find(&w->rests, name);
	struct lease_stat st;

	if (n != RESTS_NONE) {
		rests_at(&w->rests, n)->unshown = false;
		return true;
	}
	if (entry_known(w, name) || unreadable(w, name))
		return true;
	if (lease_stat(w->house.state, name, &st) == 0 && st.mtime < w->now.wall - ENDED_KEEP)
		return false;
	return !w->tidy.first || lease_name_ask_id(name) || says_it_is_over(w, name);
}

void tidy_begin(struct watcher *w, bool first)
{
	/* One that is under way does as well: what is old enough only now is met the next time. */
	if (!w->tidy.on)
		w->tidy.first = first;
	w->tidy.on = true;
}

void tidy_run(struct watcher *w)
{
	int r;

	if (!w->tidy.on)
		return;
	r = statefile_prune_some(&w->tidy.walk, WATCHER_SLICE, w->house.state, w->now.wall, 0, keep, w);
	if (r > 0)
		return;
	if (r < 0)
		log_warn("old state files cannot be removed: %s", strerror(-r));
	w->tidy.on = false;
	if (!w->tidy.first)
		return;
	sweep_unshown(w);
	kept(w);
}
