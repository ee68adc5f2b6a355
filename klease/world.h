/*
 * klease/world.h: which notices tree, where its daemon's state files are, and whether that daemon lives.
 *
 * Order: --notices; KLEASE_NOTICES; the user's own tree when its daemon lives; the system's tree when it has
 * a beacon; the user's own tree. Root (and whoever runs with borrowed rights) believes no environment unless
 * --user is given: /run/leasewatch/notices. A beacon counts only when root, the user leasewatch or we
 * ourselves own it: what it names is read, and `exec` runs words found there.
 */
#ifndef KLEASE_WORLD_H
#define KLEASE_WORLD_H

#include <stdbool.h>
#include <sys/types.h>

#include "lease/beacon.h"
#include "core/view.h"
#include "lease/tree.h"

#define NEED_TREE 0x1u
#define NEED_DAEMON 0x2u /* a live one, else exit 75 */
#define NEED_STATE 0x4u  /* the folder of state files */

struct world {
	bool trust_env;
	bool system; /* the system's own tree */
	char notices[512];
	struct lease_tree tree;
	int tree_error; /* why it is not open */
	struct lease_beacon beacon;
	bool has_beacon;
	bool newer; /* there is one, of a format that we don't know */
	uid_t beacon_uid;
	bool daemon; /* lived when last looked at */
	int state;   /* folder of the state files; -1 = not open */
	uid_t uid;   /* who we are for files: the effective one */
	char boot[LEASE_BOOT_SIZE];
};

void world_find(struct world *w, const char *notices, bool user);
/* KX_OK, or the exit status with a sentence on stderr. */
int world_need(struct world *w, unsigned needs);
/* Reads the beacon again, and opens the state folder it names. True when the daemon lives. */
bool world_look(struct world *w);
/* Our name, for a lock's: the number where there is none. Asks NSS, so only when it is needed. */
void world_user(const struct world *w, char user[LEASE_USER_SIZE]);
/* A pidfd of the live daemon, or -errno. */
int world_daemon_fd(const struct world *w);
/* One sentence on stderr: there is no daemon, and how to start it. */
void world_say_no_daemon(const struct world *w);
/* The same of what is wrong with one that lives, by its own word. */
void world_say_degraded(const struct world *w);
void world_close(struct world *w);

#endif
