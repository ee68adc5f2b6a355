/*
 * pam_lease/login.h: a login's lease, from PAM's open to its close. Runs in sshd's monitor, as root: one look at
 * each file, no lock, no wait, no descriptor kept. Errors are -errno; the caller logs.
 */
#ifndef PAM_LEASE_LOGIN_H
#define PAM_LEASE_LOGIN_H

#include <pwd.h>

#include <security/pam_modules.h>

#include "lease/beacon.h"
#include "lease/tree.h"
#include "lease/twin.h"
#include "pam_lease/options.h"

/* What close has to know of open. */
struct login {
	int opens; /* su-l includes su: PAM may open twice and close twice on one handle */
	uid_t uid;
	gid_t gid;
	char notices[LEASE_PATH_SIZE];
	char sessions[LEASE_PATH_SIZE]; /* "" = nobody said where twins go */
	int twin_error;			/* why there is no twin: -errno */
	char state[LEASE_PATH_SIZE];	/* "" = nobody said */
	char name[LEASE_NAME_SIZE];
	struct lease_twin twin;
};

/* Makes the lock, and before it the twin, whose failure is no failure. After a failure neither is there. */
int login_open(struct login *ret, pam_handle_t *pamh, const struct options *o, const struct passwd *pw,
	       const char *service, const char *surface);
/* Tells the session where its lease is. */
void login_tell(const struct login *l, pam_handle_t *pamh);
/*
 * Says in the twin that PAM closed the session now (wall ms), then archives the lock. -EALREADY: somebody has
 * archived it. -ENOENT: it has gone.
 */
int login_close(const struct login *l, pam_handle_t *pamh, int64_t now);

/* --- house.c: where the daemon keeps things; the twin --- */

/* Fills state and sessions as far as somebody trustworthy says where they are. */
void house_find(const struct lease_tree *t, struct login *l);
int twin_write(const struct lease_tree *t, const struct login *l);
/* Adds when PAM closed the session, in wall ms. -ENOENT: there is no twin any more. */
int twin_close(const struct lease_tree *t, const struct login *l, int64_t now);
void twin_remove(const struct lease_tree *t, const struct login *l);

/* --- clock.c: the one place that reads it --- */

int64_t clock_wall_ms(void);

/* --- user.c --- */

/* As the login's user, by whom the kernel then knows the lock; dirfd is a folder of the tree. */
int user_create(const struct login *l, pam_handle_t *pamh, int dirfd, const char *buf, size_t len);
int user_archive(const struct login *l, pam_handle_t *pamh, const struct lease_tree *t);

#endif
