/*
 * store/statefiles.h: the folder state/ that users read: ID, ask-ID; and `.leasewatch` in the notices tree.
 * Written whole (a temporary name, then rename over), 0644, no fsync: after a crash the daemon writes those anew
 * that are missing or may be old, from the registry. A reader sees the old one or the new one. A full disk: -ENOSPC,
 * and the old one stays.
 */
#ifndef STORE_STATEFILES_H
#define STORE_STATEFILES_H

#include <dirent.h>

#include "core/view.h"

int statefile_write(int dirfd, const char *name, const char *buf, size_t len);
int statefile_put(int dirfd, const struct view *v);
int statefile_answer(int dirfd, const char *ask_id, const struct ask_answer *a);
int statefile_remove(int dirfd, const char *name); /* 0 also when it is not there */
/*
 * Removes all that is older than keep ns (by mtime, `now_wall` ns) and for which keep_it says false. Gives how
 * many, or -errno.
 */
int statefile_prune(int dirfd, int64_t now_wall, int64_t keep, bool (*keep_it)(void *arg, const char *name), void *arg);
/*
 * The same in parts: n names a call. 1 = there are more, 0 = done, and removed says how many; -errno = done, but for what
 * could not be removed. A walk that is zero begins.
 */
struct statefile_walk {
	DIR *dir;
	int removed, error;
};
int statefile_prune_some(struct statefile_walk *w, int n, int dirfd, int64_t now_wall, int64_t keep,
			 bool (*keep_it)(void *arg, const char *name), void *arg);

#endif
