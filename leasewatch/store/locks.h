/*
 * store/locks.h: where a lock stands in the tree, and moving it: into active/, out of it at its end, into the
 * archive.
 *
 * Who calls: the watcher, once it has decided. What is found counts, not which event told: in active/ = live;
 * only in archive/, same owner and inode = released; in neither = lost. Nothing here reads a byte of a lock.
 *
 * The commit of a reap is the rename out of active/ into the private folder (.reap): a toucher finds the name
 * or doesn't. A touch that came just before the rename is seen by stat afterwards, and the lock is put back.
 * (Looking first and renaming then would lose it.) After a crash: a lock in .reap whose row still lives is put
 * back at the next start. tests/model/ checks all of this against every order of things.
 */
#ifndef STORE_LOCKS_H
#define STORE_LOCKS_H

#include "store/house.h"

enum place { AT_NOWHERE, AT_QUEUE, AT_ACTIVE, AT_REAP, AT_ARCHIVE, AT_UNSEEN };

/* A lock as the daemon knows it. */
struct lock_ref {
	const char *name;
	uint32_t uid;
	uint64_t dev, ino;
	int64_t mtime; /* its version last seen */
};

/* Where it stands; *st is set but for AT_NOWHERE and AT_UNSEEN, which is: a look has failed, and it may be anywhere. */
enum place locks_place(const struct house *h, const struct lock_ref *l, struct lease_stat *st);
/*
 * 1 = out of active/; 0 = touched (or exchanged for another file) meanwhile and put back; -errno = nothing was
 * moved: -ENOENT, it was not there.
 */
int locks_commit(const struct house *h, const struct lock_ref *l, int64_t wall);
/* Out of where it stands (AT_ACTIVE or AT_QUEUE) into .reap, touched or not. -ENOENT: it was not there. */
int locks_take(const struct house *h, const char *name, enum place from);
/* queue/ to active/. What squats the name there goes to the quarantine. -ENOENT: the request was taken back. */
int locks_move_in(const struct house *h, const char *name, int64_t wall);
/* .reap to active/: after a crash, or where a commit was not meant. What squats the name there goes to the quarantine. */
int locks_put_back(const struct house *h, const char *name, int64_t wall);
/* From .reap or archive/ into archive/YYYY-MM-DD (UTC day of wall, ns). */
int locks_archive(const struct house *h, const char *name, enum place from, int64_t wall);
/*
 * A name out of dirfd into the folder that only the daemon can enter; a folder that can't be moved there gets
 * another name.
 */
int locks_quarantine(const struct house *h, int dirfd, const char *name, int64_t wall);
/* A ghost, an answered ask, a stray; a folder only when it is empty. 0 also when it is not there. */
int locks_remove(int dirfd, const char *name);
/* Whether the tree has a file system of its own, and more than three quarters of its bytes or inodes are gone. */
bool locks_crowded(const struct house *h);
/* Makes room there: files that are longer than any lock go wherever they lie, then the oldest of what is over. */
void locks_make_room(const struct house *h, int64_t wall, int64_t keep);
/*
 * Removes what lies in archive/ and the quarantine for longer than keep ns (by ctime: mtime is its owner's to
 * set).
 */
void locks_prune(const struct house *h, int64_t wall, int64_t keep);

#endif
