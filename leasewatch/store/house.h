/*
 * store/house.h: the daemon's folders: made at start (by root in system mode, before privilege is dropped),
 * checked, opened by descriptor.
 *
 *	notices/  queue active archive          1777 leasewatch (system), 0700 (user)
 *	          .reap .quarantine             0700 the daemon's: between commit and absent; what squats
 *	          .leasewatch, .leasewatch.lock 0644 the beacon; 0600, flocked: one daemon a tree
 *	state/ (0755 daemon's), tokens/ (0711 daemon's), sessions/ (0755 root's), work/ (0700 root's),
 *	lease.db (0600 the daemon's)
 *
 * The folder that holds lease.db is root:leasewatch 1775 in system mode: SQLite makes its -wal there, yet
 * nothing of root's can be moved. A directory that was not made by this call keeps its mode (F12): a wrong one
 * is refused with a sentence. In system mode every parent of the tree must be root's (or the daemon's) and not
 * writable by others, unless it is sticky and root's.
 */
#ifndef STORE_HOUSE_H
#define STORE_HOUSE_H

#include <stdbool.h>
#include <sys/types.h>

#include "lease/tree.h"
#include "store/fstype.h"

struct house_paths {
	bool user_mode;
	bool network; /* the tree may be on another machine's file system */
	uid_t uid; /* the daemon's user (system mode: leasewatch) */
	gid_t gid;
	char notices[512], db[512], state[512], tokens[512], sessions[512], work[512];
};
struct house {
	struct lease_tree tree;
	int reap, quarantine, state, sessions, lock; /* lock is held as long as any process has it open */
	struct fs_type fs; /* the tree's */
};

/*
 * Fills in the paths (user mode: uid and gid too). notices, state: what --notices and --state said, or NULL.
 * User mode: $XDG_DATA_HOME/leasewatch/notices, $XDG_STATE_HOME/leasewatch/lease.db,
 * $XDG_RUNTIME_DIR/leasewatch/{state,tokens,sessions,work} (libxdg-basedir where it has them; without a runtime
 * folder, under the state home). System: /run/leasewatch/…, /var/lib/leasewatch/lease.db, work in
 * /var/lib/leasewatch-work (/var: as configure's --localstatedir says). --state DIR: all of it under DIR.
 * -ENAMETOOLONG, -EINVAL with a sentence in err.
 */
int house_paths(struct house_paths *p, const char *notices, const char *state, char err[256]);
/*
 * Makes what is missing, checks what is there, takes the lock (waits up to wait_ms for a predecessor that is on
 * its way out: -EBUSY). In system mode the default tree becomes a tmpfs of its own (256 MiB, 65536 inodes),
 * unless it is one, or stands already, or systemd started us. 0 with an err that is not empty: a warning (that
 * could not be done), and all the rest is as it should be.
 */
int house_open(const struct house_paths *p, int wait_ms, struct house *ret, char err[256]);
/* True: the tree and its three folders are what their names stand for. Mounted over is not. */
bool house_stands(const struct house_paths *p, const struct house *h);
/*
 * The tree's folders anew, after one of them was moved or removed: made and checked as at the start, the old
 * ones closed. -errno with a sentence in err, and *h as it was; -ESTALE: what has the tree's name now is not
 * the tree that was opened.
 */
int house_reopen(const struct house_paths *p, struct house *h, char err[256]);
void house_close(struct house *h);

#endif
