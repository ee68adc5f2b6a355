/* What is done with the user's own files, as the user: the kernel then refuses what the user may not do. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <security/pam_modutil.h>

#include "pam_lease/login.h"

/*
 * pam_modutil_drop_priv gives the user's groups (libpam up to 1.5), or takes every other group off (later). A tree for the
 * members of one group (1770) is theirs in any case when that group becomes the first one.
 */
static gid_t group_for(const struct login *l, pam_handle_t *pamh, int dirfd)
{
	struct stat st;

	if (fstat(dirfd, &st) < 0 || st.st_mode & S_IWOTH || !(st.st_mode & S_IWGRP) || st.st_gid == l->gid)
		return l->gid;
	return pam_modutil_user_in_group_uid_gid(pamh, l->uid, st.st_gid) ? st.st_gid : l->gid;
}

static int drop(const struct login *l, pam_handle_t *pamh, int dirfd, struct pam_modutil_privs *privs)
{
	char name[LOGIN_USER_SIZE];
	struct passwd pw = {.pw_name = name, .pw_uid = l->uid, .pw_gid = group_for(l, pamh, dirfd)};

	memcpy(name, l->user, sizeof(name));
	return pam_modutil_drop_priv(pamh, privs, &pw) == 0 ? 0 : -EPERM;
}

int user_create(const struct login *l, pam_handle_t *pamh, int dirfd, const char *buf, size_t len)
{
	PAM_MODUTIL_DEF_PRIVS(privs);
	int e;

	e = drop(l, pamh, dirfd, &privs);
	if (e < 0)
		return e;
	e = lease_create(dirfd, l->name, buf, len);
	(void)pam_modutil_regain_priv(pamh, &privs); /* it logs by itself */
	return e;
}

int user_archive(const struct login *l, pam_handle_t *pamh, const struct lease_tree *t)
{
	PAM_MODUTIL_DEF_PRIVS(privs);
	int e;

	e = drop(l, pamh, t->archive, &privs);
	if (e < 0)
		return e;
	e = lease_move(t->active, l->name, t->archive, l->name);
	(void)pam_modutil_regain_priv(pamh, &privs);
	return e;
}
