#include "config.h"

#include <errno.h>

#include "pam_lease/login.h"

/*
 * A lock that is moved without a word in the twin is a release by hand, which ends all that is bound to it at
 * once. So where twins are kept, and this one cannot be told, the lock stays: its session is over for the
 * daemon when its processes are or its ttl is, and what is bound to it lingers. A twin that has gone means that
 * the daemon is done with this session.
 */
static int close_in(const struct login *l, pam_handle_t *pamh, const struct lease_tree *t, int64_t now)
{
	struct lease_stat st;
	int e;

	if (lease_stat(t->archive, l->name, &st) == 0)
		return -EALREADY;
	e = l->twin_error ? l->twin_error : twin_close(t, l, now);
	if (e < 0 && e != -ENOENT)
		return e;
	return user_archive(l, pamh, t);
}

int login_close(const struct login *l, pam_handle_t *pamh, int64_t now)
{
	struct lease_tree tree = LEASE_TREE_CLOSED;
	int e;

	e = lease_tree_open(&tree, l->notices);
	if (e < 0)
		return e;
	e = close_in(l, pamh, &tree, now);
	lease_tree_close(&tree);
	return e;
}
