/*
 * klease/views.h: leases as klease sees them: state files, made fresh by a stat of the lock, and locks that
 * the daemon has said nothing about yet. Nothing here renews: locks are looked at, never touched.
 */
#ifndef KLEASE_VIEWS_H
#define KLEASE_VIEWS_H

#include "klease/world.h"

/* 0, -ENOENT (unknown here), -EPERM (a state file that is not the daemon's), -EPROTO (a newer daemon's) or another -errno. */
int views_get(struct world *w, const char *id, struct view *ret);
/* The same, and where that knows nothing the ledger is asked, if we may read it. */
int views_get_ever(struct world *w, const char *id, struct view *ret);
/* Says what an error of these two means: KX_LOST for -ENOENT, else KX_FAILED. */
int views_say_error(const char *id, int error);
bool view_over(const struct view *v);
/* "requested", "hibernated (frozen)" */
const char *view_state_words(const struct view *v, char buf[32]);

struct views {
	struct view **v;
	size_t n, size;
};
/* All, by age, the oldest first. What cannot be read is left out and counted in *ret_bad. */
int views_all(struct world *w, struct views *ret, int *ret_bad);
void views_free(struct views *vs);

#endif
