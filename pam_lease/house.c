/* Where the daemon of a tree keeps the twins, and how one is written. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

/* A write beyond the limit would send SIGXFSZ, which ends whoever lent us the process. */
static bool within_limit(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

static int put(int fd, const char *text, size_t len, uint64_t size_before)
{
	ssize_t n;

	if (!within_limit(size_before + len))
		return -EFBIG;
	n = write(fd, text, len);
	if (n < 0)
		return -errno;
	return n == (ssize_t)len ? 0 : -EIO;
}

/* By its own name from the start: nobody looks for it before the lock is there. */
static int create(int dirfd, const char *id, const char *text, size_t len)
{
	int fd, e;

	fd = openat(dirfd, id, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	e = put(fd, text, len, 0);
	/* Not by the mode of open(2), from which the umask takes. */
	if (e == 0 && fchmod(fd, 0644) < 0)
		e = -errno;
	(void)close(fd);
	if (e < 0)
		(void)unlinkat(dirfd, id, 0);
	return e;
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
	e = create(fd, l->twin.id, buf, len);
	(void)close(fd);
	return e;
}

/*
 * In place: the line has room in the file's block, even where the disk is full by now, and it is there as a
 * whole or not at all, since readers refuse what changes while they read. Never O_CREAT: one that the daemon
 * has removed stays removed.
 */
static int add_line(int dirfd, const char *id, const char *line)
{
	struct lease_stat st;
	int fd, e;

	fd = openat(dirfd, id, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	e = lease_stat(fd, NULL, &st);
	if (e == 0 && (!S_ISREG(st.mode) || st.nlink != 1 || st.uid != geteuid()))
		e = -EPERM;
	if (e == 0)
		e = put(fd, line, strlen(line), st.size);
	(void)close(fd);
	return e;
}

int twin_close(const struct lease_tree *t, const struct login *l, int64_t now)
{
	char line[40];
	int fd, e;

	e = open_sessions(t, l->sessions, &fd);
	if (e < 0)
		return e;
	(void)snprintf(line, sizeof(line), "closed=%lld\n", (long long)now);
	e = add_line(fd, l->twin.id, line);
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
