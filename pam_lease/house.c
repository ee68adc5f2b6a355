/* Where the daemon of a tree keeps the twins, and how one is written. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h> /* renameat */
#include <string.h>
#include <unistd.h>

#include "pam_lease/login.h"

#define OURS RUNDIR "/leasewatch/notices"
#define OUR_SESSIONS RUNDIR "/leasewatch/sessions"

/* Root writes where this says: whoever may write it must be root, or whom root's file gave the whole tree. */
static bool trusted(const struct lease_stat *st, const struct lease_tree *t)
{
	struct lease_stat root;

	if (st->mode & 022)
		return false;
	return st->uid == 0 || (lease_stat(t->root, NULL, &root) == 0 && st->uid == root.uid);
}

void house_find(const struct lease_tree *t, struct login *l)
{
	char buf[LEASE_FILE_MAX];
	struct lease_beacon b;
	struct lease_error err;
	struct lease_stat st;
	size_t len;

	l->state[0] = l->sessions[0] = '\0';
	if (strcmp(l->notices, OURS) == 0)
		memcpy(l->sessions, OUR_SESSIONS, sizeof(OUR_SESSIONS));
	if (lease_read(t->root, LEASE_BEACON_NAME, (uid_t)-1, buf, sizeof(buf), &len, &st) < 0 || !trusted(&st, t) ||
	    lease_beacon_parse(buf, len, &b, &err) < 0)
		return;
	memcpy(l->state, b.state, sizeof(l->state));
	memcpy(l->sessions, b.sessions, sizeof(l->sessions));
}

/*
 * Only a folder of that very name: a beacon that lies could else have root put its files into any folder, such as
 * one whose every file some program runs.
 */
static int open_sessions(const struct lease_tree *t, const char *path, int *ret_fd)
{
	const char *last = strrchr(path, '/');
	struct lease_stat st;
	int fd, e;

	if (*path != '/' || strcmp(last, "/sessions") != 0)
		return -ENOENT;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	e = lease_stat(fd, NULL, &st);
	if (e == 0 && !trusted(&st, t))
		e = -EPERM;
	if (e < 0) {
		(void)close(fd);
		return e;
	}
	*ret_fd = fd;
	return 0;
}

int twin_write(const struct lease_tree *t, const struct login *l)
{
	char buf[LEASE_FILE_MAX];
	size_t len;
	int fd, e;

	e = lease_twin_format(&l->twin, buf, sizeof(buf), &len);
	if (e == 0)
		e = open_sessions(t, l->sessions, &fd);
	if (e < 0)
		return e;
	e = lease_create(fd, l->twin.id, buf, len);
	(void)close(fd);
	return e;
}

static int replace(int fd, const char *id, const char *buf, size_t len)
{
	char tmp[5 + LEASE_ID_SIZE] = ".tmp-";
	struct lease_stat st;
	int e;

	/* One that the daemon has removed stays removed: nobody would do it again. */
	e = lease_stat(fd, id, &st);
	if (e < 0)
		return e;
	lease_id_make(tmp + 5);
	e = lease_create(fd, tmp, buf, len);
	if (e < 0)
		return e;
	if (renameat(fd, tmp, fd, id) == 0)
		return 0;
	e = -errno;
	(void)unlinkat(fd, tmp, 0);
	return e;
}

int twin_rewrite(const struct lease_tree *t, const struct login *l)
{
	char buf[LEASE_FILE_MAX];
	size_t len;
	int fd, e;

	e = lease_twin_format(&l->twin, buf, sizeof(buf), &len);
	if (e == 0)
		e = open_sessions(t, l->sessions, &fd);
	if (e < 0)
		return e;
	e = replace(fd, l->twin.id, buf, len);
	(void)close(fd);
	return e;
}

void twin_remove(const struct lease_tree *t, const struct login *l)
{
	int fd;

	if (open_sessions(t, l->sessions, &fd) < 0)
		return;
	(void)unlinkat(fd, l->twin.id, 0);
	(void)close(fd);
}
