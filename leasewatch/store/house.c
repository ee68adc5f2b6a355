#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/folder.h"
#include "store/house-private.h"

/* Who owns what, in either mode. */
struct rules {
	struct folder_parents tree_parents, root_parents;
	struct folder_rule tree, shared, secret; /* notices; queue, active, archive; .reap, .quarantine */
	struct folder_rule db, state, tokens, sessions, work;
};

static void make_rules(struct rules *u, const struct house_paths *p)
{
	const struct folder_rule own = { .make = 0700, .must = 0700, .never = 022, .owner = p->uid, .group = (gid_t)-1 };
	uid_t root = geteuid(); /* system mode is root's */

	u->tree_parents = (struct folder_parents){ .guarded = !p->user_mode, .also = p->uid, .make = p->user_mode ? 0700 : 0755 };
	u->root_parents = u->tree_parents;
	u->root_parents.also = root;
	u->tree = u->shared = u->db = u->state = u->tokens = u->sessions = u->work = u->secret = own;
	u->secret.never = 077;
	u->work.never = 077;
	if (p->user_mode)
		return;
	u->tree.make = u->state.make = 0755;
	/*
	 * Not to be listed: a twin comes before its lock, and whoever reads its name could make a lock of that
	 * id first.
	 */
	u->tokens.make = u->sessions.make = 0711;
	u->sessions.owner = u->work.owner = u->db.owner = root;
	/* 1770, with the group of those who may, is an administrator's choice. */
	u->shared.make = 01777;
	u->shared.must = 01770;
	u->shared.never = 04000;
	u->db.make = u->db.must = 01775;
	u->db.never = 02;
	u->db.group = p->gid;
}

/* Where another machine's touches move a file no event comes, and its clock is not ours. */
static int check_fs(int fd, const struct house_paths *p, struct fs_type *ret, char err[256])
{
	int r = fs_type_of(fd, ret);

	if (r < 0)
		return sentence(err, r, p->notices, "its file system cannot be told: %s", strerror(-r));
	if (ret->kind == FS_FAR && !p->network)
		return sentence(err, -EOPNOTSUPP, p->notices,
				"is on a network file system (%s), where events do not come: put the notices on a local "
				"one, or say [daemon] network = yes to have it read every second",
				ret->name);
	return 0;
}

static bool wants_mount(const struct house_paths *p)
{
	return !p->user_mode && geteuid() == 0 && strcmp(p->notices, SYSTEM_NOTICES) == 0 && !getenv("NOTIFY_SOCKET");
}

/*
 * A file system of its own for the tree, bounded, so that users fill up that and not /run. Only where the tree
 * does not stand yet: what is in a folder that is mounted over cannot be seen any more. Under systemd the unit
 * has it mounted.
 */
static int mount_tree(int fd, const struct house_paths *p, char warning[256])
{
	char target[64], options[128];

	if (folder_is_mount(fd) != 0)
		return 0;
	if (folder_is_empty(fd) != 1)
		return sentence(warning, 0, p->notices, "is no file system of its own, and is not empty: users can fill up %s",
				RUNDIR);
	(void)snprintf(target, sizeof(target), "/proc/self/fd/%d", fd);
	(void)snprintf(options, sizeof(options), "size=256m,nr_inodes=65536,mode=0755,uid=%u,gid=%u", p->uid, p->gid);
	if (mount("leasewatch", target, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) < 0)
		return sentence(warning, 0, p->notices, "has no file system of its own (%m): users can fill up %s", RUNDIR);
	return 1;
}

static int open_tree_root(const struct house_paths *p, const struct rules *u, int *ret_fd, struct fs_type *ret_fs,
			  char warning[256], char err[256])
{
	int r, fd;

	r = folder_path(p->notices, &u->tree_parents, &u->tree, &fd, err);
	if (r == 0 && wants_mount(p) && mount_tree(fd, p, warning) > 0) {
		close(fd);
		r = folder_path(p->notices, &u->tree_parents, &u->tree, &fd, err);
	}
	if (r < 0)
		return r;
	r = check_fs(fd, p, ret_fs, err);
	if (r < 0)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

/* A folder of the tree, on the tree's file system: a lock must be able to move there by a rename. */
static int open_part(int root, const char *name, const struct house_paths *p, const struct folder_rule *rule, int *ret_fd,
		     char err[256])
{
	char path[sizeof(p->notices) + 32];
	struct stat above, here;
	int r, fd;

	(void)snprintf(path, sizeof(path), "%s/%s", p->notices, name);
	r = folder_at(root, name, path, rule, &fd, err);
	if (r < 0)
		return r;
	if (fstat(root, &above) < 0 || fstat(fd, &here) < 0)
		r = sentence(err, -errno, path, "cannot be looked at: %m");
	else if (above.st_dev != here.st_dev)
		r = sentence(err, -EXDEV, path, "is on another file system than %s", p->notices);
	if (r < 0)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

static int open_parts(const struct house_paths *p, const struct rules *u, struct house *h, char err[256])
{
	int r = open_part(h->tree.root, "queue", p, &u->shared, &h->tree.queue, err);

	if (r == 0)
		r = open_part(h->tree.root, "active", p, &u->shared, &h->tree.active, err);
	if (r == 0)
		r = open_part(h->tree.root, "archive", p, &u->shared, &h->tree.archive, err);
	if (r == 0)
		r = open_part(h->tree.root, ".reap", p, &u->secret, &h->reap, err);
	if (r == 0)
		r = open_part(h->tree.root, ".quarantine", p, &u->secret, &h->quarantine, err);
	return r;
}

/* Only made and checked. */
static int make_folder(const char *path, const struct folder_parents *parents, const struct folder_rule *rule, char err[256])
{
	int fd, r = folder_path(path, parents, rule, &fd, err);

	if (r == 0)
		close(fd);
	return r;
}

static int open_state(const struct house_paths *p, const struct rules *u, struct house *h, char err[256])
{
	char dir[sizeof(p->db)];
	char *slash;
	int r;

	memcpy(dir, p->db, sizeof(dir));
	slash = strrchr(dir, '/');
	if (!slash)
		return sentence(err, -EINVAL, p->db, "is no absolute path");
	*slash = '\0';
	r = make_folder(dir, &u->root_parents, &u->db, err);
	if (r == 0)
		r = make_folder(p->work, &u->root_parents, &u->work, err);
	if (r == 0)
		r = make_folder(p->tokens, &u->root_parents, &u->tokens, err);
	if (r == 0)
		r = folder_path(p->sessions, &u->root_parents, &u->sessions, &h->sessions, err);
	if (r == 0)
		r = folder_path(p->state, &u->root_parents, &u->state, &h->state, err);
	return r;
}

int house_open(const struct house_paths *p, int wait_ms, struct house *ret, char err[256])
{
	struct house h = { LEASE_TREE_CLOSED, -1, -1, -1, -1, -1, { FS_LOCAL, "" } };
	char warning[256] = "";
	struct rules u;
	int r;

	make_rules(&u, p);
	r = open_tree_root(p, &u, &h.tree.root, &h.fs, warning, err);
	/* Before anything else is made: of two daemons that start together, one does. */
	if (r == 0)
		r = house_lock(h.tree.root, p, wait_ms, &h.lock, err);
	if (r == 0)
		r = open_parts(p, &u, &h, err);
	if (r == 0)
		r = open_state(p, &u, &h, err);
	if (r < 0) {
		house_close(&h);
		return r;
	}
	memcpy(err, warning, sizeof(warning));
	*ret = h;
	return 0;
}

static bool still_named(int dirfd, const char *name, int fd)
{
	struct stat named, held;

	return fstat(fd, &held) == 0 && fstatat(dirfd, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

bool house_stands(const struct house_paths *p, const struct house *h)
{
	const struct lease_tree *t = &h->tree;

	return still_named(AT_FDCWD, p->notices, t->root) && still_named(t->root, "queue", t->queue) &&
	       still_named(t->root, "active", t->active) && still_named(t->root, "archive", t->archive);
}

int house_reopen(const struct house_paths *p, struct house *h, char err[256])
{
	int *const old[] = { &h->tree.queue, &h->tree.active, &h->tree.archive, &h->reap, &h->quarantine };
	struct house anew = *h;
	int *const made[] = { &anew.tree.queue, &anew.tree.active, &anew.tree.archive, &anew.reap, &anew.quarantine };
	struct rules u;
	int r;

	if (!still_named(AT_FDCWD, p->notices, h->tree.root))
		return sentence(err, -ESTALE, p->notices, "was moved, removed or mounted over");
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		*made[i] = -1;
	make_rules(&u, p);
	r = open_parts(p, &u, &anew, err);
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		if (r == 0)
			close(*old[i]);
		else if (*made[i] >= 0)
			close(*made[i]);
	}
	if (r == 0)
		*h = anew;
	return r;
}

void house_close(struct house *h)
{
	int *const own[] = { &h->reap, &h->quarantine, &h->state, &h->sessions, &h->lock };

	lease_tree_close(&h->tree);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (*own[i] >= 0)
			close(*own[i]);
		*own[i] = -1;
	}
}
