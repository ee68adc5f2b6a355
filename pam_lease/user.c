/*
 * What is done with the user's own files, as the user: the kernel then refuses what the user may not do.
 *
 * By setfsuid(2), as pam_modutil_drop_priv(3) of libpam 1.6 does it. Earlier ones ask the user database for the
 * user's groups first, at open and again at close: that may wait for a server, and costs more than all else here.
 */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <security/pam_ext.h>
#include <security/pam_modutil.h>

#include "pam_lease/login.h"

#define GROUPS 64

/* What root was before. */
struct before {
	gid_t few[GROUPS], *groups;
	int n;
	uid_t uid;
	gid_t gid;
	bool dropped;
};

/* A tree for the members of one group (1770) is theirs when that is the group they come with. */
static gid_t group_for(const struct login *l, pam_handle_t *pamh, int dirfd)
{
	struct stat st;

	if (fstat(dirfd, &st) < 0 || st.st_mode & S_IWOTH || !(st.st_mode & S_IWGRP) || st.st_gid == l->gid)
		return l->gid;
	return pam_modutil_user_in_group_uid_gid(pamh, l->uid, st.st_gid) ? st.st_gid : l->gid;
}

static int remember_groups(struct before *b)
{
	b->groups = b->few;
	b->n = getgroups(GROUPS, b->few);
	if (b->n >= 0 || errno != EINVAL)
		return b->n < 0 ? -errno : 0;
	/* More than there is room for. */
	b->n = getgroups(0, NULL);
	b->groups = b->n > 0 ? calloc((size_t)b->n, sizeof(*b->groups)) : NULL;
	if (!b->groups)
		return -ENOMEM;
	b->n = getgroups(b->n, b->groups);
	return b->n < 0 ? -errno : 0;
}

static void forget_groups(struct before *b)
{
	if (b->groups != b->few)
		free(b->groups);
}

/* Twice: only what the second call says of the first tells whether it did anything. */
static bool become(uid_t uid, uid_t *ret_before)
{
	*ret_before = (uid_t)setfsuid(uid);
	return (uid_t)setfsuid(uid) == uid;
}

static void regain(struct before *b, pam_handle_t *pamh)
{
	uid_t user;
	bool whole;

	if (!b->dropped)
		return;
	/* The user first: the rest is for root to do. */
	whole = become(b->uid, &user);
	(void)setfsgid(b->gid);
	if (!whole || (b->n > 0 && setgroups((size_t)b->n, b->groups) < 0))
		pam_syslog(pamh, LOG_CRIT, "the privileges of before cannot be had back");
	forget_groups(b);
}

/* Nothing where we are no root, or the user is. */
static int drop(struct before *b, pam_handle_t *pamh, const struct login *l, int dirfd)
{
	gid_t group = group_for(l, pamh, dirfd);
	int e;

	b->dropped = false;
	if (geteuid() != 0 || l->uid == 0)
		return 0;
	e = remember_groups(b);
	if (e == 0 && b->n > 0 && setgroups(0, NULL) < 0)
		e = -errno;
	if (e < 0) {
		forget_groups(b);
		return e;
	}
	b->dropped = true;
	/* A group that does not exist here (a user namespace) is left: whose the lock is, the user decides alone. */
	b->gid = (gid_t)setfsgid(group);
	if (become(l->uid, &b->uid))
		return 0;
	regain(b, pamh);
	return -EPERM;
}

int user_create(const struct login *l, pam_handle_t *pamh, int dirfd, const char *buf, size_t len)
{
	struct before b;
	int e;

	e = drop(&b, pamh, l, dirfd);
	if (e < 0)
		return e;
	e = lease_create(dirfd, l->name, buf, len);
	regain(&b, pamh);
	return e;
}

int user_archive(const struct login *l, pam_handle_t *pamh, const struct lease_tree *t)
{
	struct before b;
	int e;

	e = drop(&b, pamh, l, t->archive);
	if (e < 0)
		return e;
	e = lease_move(t->active, l->name, t->archive, l->name);
	regain(&b, pamh);
	return e;
}
