/*
 * lease/tree.h: a notices tree, by directory descriptor: create whole or not at all, touch, archive, list,
 * stat, read.
 *
 *	notices/queue/    requests and asks
 *	notices/active/   one lock per live lease
 *	notices/archive/  moved here = released
 *
 * Who calls: pam_lease (inside sshd, as root), klease (as a user), the daemon's watcher. So: no stdio, no
 * allocation, no static data, no umask or chdir, every descriptor O_CLOEXEC, no path below the root ever followed:
 * openat2(RESOLVE_NO_SYMLINKS|RESOLVE_NO_XDEV|RESOLVE_BENEATH) where the kernel has it, else O_NOFOLLOW on
 * single names. Nothing here blocks on a FIFO, a fcntl lease or a terminal. Errors are -errno; nothing is
 * logged; results are set on success only.
 *
 * After a crash at any point: a lock is there whole (0644, caller's, at most LEASE_FILE_MAX bytes) or not at
 * all; what a cut-off create may leave is a `.tmp-<id>` file in a directory where O_TMPFILE does not work,
 * which every reader skips.
 */
#ifndef LEASE_TREE_H
#define LEASE_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lease/name.h"

struct lease_tree {
	int root, queue, active, archive; /* -1 = not open */
};
#define LEASE_TREE_CLOSED { -1, -1, -1, -1 }

/* Opens what is there; makes nothing. -ENOENT, -ENOTDIR, -ELOOP (the root itself or one of the three is a link). */
int lease_tree_open(struct lease_tree *t, const char *path);
void lease_tree_close(struct lease_tree *t);

struct lease_stat {
	uint64_t dev, ino;
	int64_t mtime; /* ns of wall time: a version number first, a time second */
	int64_t ctime;
	uint32_t uid, mode, nlink; /* mode with its type bits */
	uint64_t size;
};
/*
 * statx(AT_STATX_DONT_SYNC|AT_SYMLINK_NOFOLLOW): never opens, never hangs on a FUSE mount. fd with name NULL =
 * fstat.
 */
int lease_stat(int dirfd, const char *name, struct lease_stat *ret);
/* The same, but whoever keeps the file (another machine, a program) is asked: it waits for them, as stat(2) does. */
int lease_stat_anew(int dirfd, const char *name, struct lease_stat *ret);

/*
 * Makes dirfd/name with these bytes, whole: O_TMPFILE, write, fchmod 0644, linkat by /proc/self/fd; else
 * `.tmp-<random>`, O_EXCL, renameat2(RENAME_NOREPLACE). -EEXIST leaves what was there. A failed create leaves
 * nothing that this call made.
 */
int lease_create(int dirfd, const char *name, const void *buf, size_t len);

/*
 * The heartbeat. Sets mtime to now on the file that has this name, never creates, then looks again: 0 only when
 * the name still stands for the very inode that was touched, else -ENOENT (gone meanwhile: the beat may have
 * lost the race with a reap, so the caller must treat the lease as lost). -EINVAL: not a regular file. ret (may
 * be NULL) is the state after the touch.
 */
int lease_touch(int dirfd, const char *name, struct lease_stat *ret);

/*
 * Moves a name from one directory to another, never replacing (renameat2 RENAME_NOREPLACE; linkat+unlinkat where
 * it is missing).
 */
int lease_move(int from, const char *name, int to, const char *to_name);

/* The name in dirfd that ends in this id: 0, -ENOENT. Copies the first `lock-` name that does. */
int lease_find(int dirfd, const char *id, char name[LEASE_NAME_SIZE]);

/* What is being written has a name that begins so; it is nobody's lock yet. */
#define LEASE_TMP_PREFIX ".tmp-"

/*
 * Calls each() for every entry but "." and ".." and `.tmp-*`; stops when it gives non-zero and returns that. No
 * order.
 */
int lease_list(int dirfd, int (*each)(void *arg, const char *name), void *arg);
/*
 * The same a few hundred names at a time: fd is the folder opened for this alone, since its position is where the next
 * call goes on. ret_more false: that was the end.
 */
int lease_list_part(int fd, int (*each)(void *arg, const char *name), void *arg, bool *ret_more);

/*
 * Reads a file others may have made: O_NOFOLLOW|O_NONBLOCK|O_NOCTTY|O_CLOEXEC, fstat says regular, one link, at
 * most max bytes, then one read. -ELOOP link, -ENXIO/-EINVAL no regular file, -EMLINK more than one link,
 * -EFBIG too long, -EAGAIN changed while read. One that is replaced (renamed over) meanwhile is read anew: it was
 * never away. uid: the owner it must have, or (uid_t)-1 for any; -EPERM when
 * it has another. st (may be NULL) is the fstat of what was read.
 */
int lease_read(int dirfd, const char *name, uid_t uid, char *buf, size_t max, size_t *ret_len, struct lease_stat *st);

#endif
