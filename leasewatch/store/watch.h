/*
 * store/watch.h: inotify over the tree. An event says "look", never "what" (inotify(7): events can merge, be
 * lost, be late).
 *
 * Folders (queue, active, archive, and the tree's root for moves) are watched for comings and goings only: no
 * ATTRIB, MODIFY or CLOSE_WRITE, so an active lease's beat costs nobody anything. A single lock is watched for
 * touches (ATTRIB|MODIFY|CLOSE_WRITE, through an O_PATH descriptor and /proc/self/fd, so that nothing is
 * opened) only while its beat must be seen at once. Overflow, a moved or removed or unmounted folder:
 * WATCH_RESCAN, the rest of the buffer is dropped. A folder's watch ends with that
 * (watch_lost): the caller opens the tree, and a watch, anew.
 */
#ifndef STORE_WATCH_H
#define STORE_WATCH_H

#include "lease/tree.h"

enum watch_kind {
	WATCH_QUEUE,   /* name came, went or changed in queue/ */
	WATCH_ACTIVE,
	WATCH_ARCHIVE,
	WATCH_LOCK,    /* the lock watched under this id was touched */
	WATCH_RESCAN,  /* events were lost, or a folder is not what it was: look at everything */
};
struct watch;
/* -EMFILE, -ENOSPC: limits used up: poll */
int watch_open(const struct lease_tree *t, struct watch **ret, int *ret_fd);
void watch_close(struct watch *w);
bool watch_lost(const struct watch *w); /* true: one of the folders, or the root, is watched no more */
/*
 * Arms (or re-arms) the watch of one lock. Idempotent. -ENOENT gone; -EINVAL no plain file; -EACCES, -ENOSPC,
 * -EMLINK (a hard link to a lock that is watched under another id): poll it.
 */
int watch_lock(struct watch *w, int dirfd, const char *name, const char *id);
void watch_unlock(struct watch *w, const char *id);
/*
 * Reads what is there, without blocking, at most budget events; calls each(), which may arm and disarm; 1 =
 * more is left, 0 = drained, -errno.
 */
int watch_read(struct watch *w, int budget, void (*each)(void *arg, enum watch_kind k, const char *name_or_id), void *arg);
/*
 * Proof that events come: a canary, a folder that comes and goes in queue/, active/ and archive/ and that nobody is told
 * of. By the time that watch_read gives 0 it has been heard in each, or watch_proven says false: the queue tells nothing
 * of what changes. Where events were lost meanwhile that is no silence. -errno: no canary could be made somewhere
 * (-ENOSPC, …), so of there nothing can be said.
 */
int watch_prove(struct watch *w, const struct lease_tree *t);
bool watch_proven(const struct watch *w);

#endif
