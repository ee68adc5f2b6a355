#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/at.h"
#include "lease/tree.h"

/*
 * The root may lie anywhere, so the path to it is the caller's to trust; only its last part must be no link.
 * "root/" and "root/." would follow one, O_NOFOLLOW or not, so these endings are taken off first.
 */
static int open_root(const char *path, int *ret_fd)
{
	char root[PATH_MAX];
	struct lease_stat st;
	size_t len = strnlen(path, sizeof(root));
	int e;

	if (len == 0)
		return -ENOENT;
	if (len == sizeof(root))
		return -ENAMETOOLONG;
	while (len > 1 && (path[len - 1] == '/' || (path[len - 1] == '.' && path[len - 2] == '/')))
		len--;
	memcpy(root, path, len);
	root[len] = '\0';
	*ret_fd = openat(AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*ret_fd >= 0)
		return 0;
	e = -errno;
	if (e == -ENOTDIR && lease_at_stat(AT_FDCWD, root, &st) == 0 && S_ISLNK(st.mode))
		e = -ELOOP;
	return e;
}

int lease_tree_open(struct lease_tree *ret, const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NONBLOCK;
	struct lease_tree t = LEASE_TREE_CLOSED;
	int e;

	e = open_root(path, &t.root);
	if (e == 0)
		e = lease_at_open(t.root, "queue", flags, &t.queue);
	if (e == 0)
		e = lease_at_open(t.root, "active", flags, &t.active);
	if (e == 0)
		e = lease_at_open(t.root, "archive", flags, &t.archive);
	if (e < 0) {
		lease_tree_close(&t);
		return e;
	}
	*ret = t;
	return 0;
}

void lease_tree_close(struct lease_tree *t)
{
	lease_at_close(t->root);
	lease_at_close(t->queue);
	lease_at_close(t->active);
	lease_at_close(t->archive);
	*t = (struct lease_tree)LEASE_TREE_CLOSED;
}

int lease_stat(int dirfd, const char *name, struct lease_stat *ret)
{
	if (name && !lease_at_name_valid(name))
		return -EINVAL;
	return lease_at_stat(dirfd, name ? name : "", ret);
}

int lease_stat_anew(int dirfd, const char *name, struct lease_stat *ret)
{
	if (name && !lease_at_name_valid(name))
		return -EINVAL;
	return lease_at_statx(dirfd, name ? name : "", AT_STATX_FORCE_SYNC, ret);
}

static int list_buffer(const char *buf, size_t len, int (*each)(void *arg, const char *name), void *arg)
{
	size_t at = 0;

	while (at < len) {
		const struct dirent64 *d = (const void *)(buf + at);
		int stop;

		at += d->d_reclen;
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0 ||
		    strncmp(d->d_name, LEASE_TMP_PREFIX, strlen(LEASE_TMP_PREFIX)) == 0)
			continue;
		stop = each(arg, d->d_name);
		if (stop)
			return stop;
	}
	return 0;
}

int lease_list_part(int fd, int (*each)(void *arg, const char *name), void *arg, bool *ret_more)
{
	_Alignas(struct dirent64) char buf[16384];
	ssize_t n = getdents64(fd, buf, sizeof(buf));

	if (n < 0)
		return -errno;
	*ret_more = n > 0;
	return list_buffer(buf, (size_t)n, each, arg);
}

int lease_list(int dirfd, int (*each)(void *arg, const char *name), void *arg)
{
	bool more = true;
	int fd, e = 0;

	/* A descriptor of our own: dirfd's position belongs to whoever holds it, and each() may list the same
	 * directory. */
	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (e == 0 && more)
		e = lease_list_part(fd, each, arg, &more);
	lease_at_close(fd);
	return e;
}

struct find {
	const char *id;
	char *name;
};

static int find_each(void *arg, const char *name)
{
	struct find *f = arg;
	const char *id = lease_name_lock_id(name);

	if (!id || strcmp(id, f->id) != 0)
		return 0;
	memcpy(f->name, name, strlen(name) + 1);
	return 1;
}

int lease_find(int dirfd, const char *id, char name[LEASE_NAME_SIZE])
{
	struct find f = {id, name};
	int e;

	e = lease_list(dirfd, find_each, &f);
	if (e < 0)
		return e;
	return e > 0 ? 0 : -ENOENT;
}

static int check_readable(const struct lease_stat *st, uid_t uid, size_t max)
{
	if (!S_ISREG(st->mode))
		return -EINVAL;
	if (uid != (uid_t)-1 && st->uid != uid)
		return -EPERM;
	if (st->nlink > 1)
		return -EMLINK;
	/* Removed between open and look, or replaced: the caller looks again, and finds out which. */
	if (st->nlink == 0)
		return -ESTALE;
	if (st->size > max)
		return -EFBIG;
	return 0;
}

/* One read of what `before` measured; -EAGAIN when the file was another one by the end of it. */
static int read_whole(int fd, const struct lease_stat *before, char *buf, size_t *ret_len)
{
	struct lease_stat after;
	ssize_t n;
	int e;

	do
		n = read(fd, buf, before->size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	e = lease_at_stat(fd, "", &after);
	if (e < 0)
		return e;
	if ((uint64_t)n != before->size || after.size != before->size || after.mtime != before->mtime)
		return -EAGAIN;
	*ret_len = (size_t)n;
	return 0;
}

static int read_once(int dirfd, const char *name, uid_t uid, char *buf, size_t max, size_t *ret_len,
		     struct lease_stat *ret_st)
{
	struct lease_stat st;
	size_t len = 0;
	int fd, e;

	e = lease_at_open(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, &fd);
	if (e < 0)
		return e;
	e = lease_at_stat(fd, "", &st);
	if (e == 0)
		e = check_readable(&st, uid, max);
	if (e == 0)
		e = read_whole(fd, &st, buf, &len);
	lease_at_close(fd);
	if (e < 0)
		return e;
	*ret_len = len;
	if (ret_st)
		*ret_st = st;
	return 0;
}

int lease_read(int dirfd, const char *name, uid_t uid, char *buf, size_t max, size_t *ret_len,
	       struct lease_stat *ret_st)
{
	const int tries = 10; /* whoever replaces it without end is told apart from nobody */
	int e = -ESTALE;

	if (!lease_at_name_valid(name))
		return -EINVAL;
	for (int i = 0; i < tries && e == -ESTALE; i++)
		e = read_once(dirfd, name, uid, buf, max, ret_len, ret_st);
	return e == -ESTALE ? -EAGAIN : e;
}
