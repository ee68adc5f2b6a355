/* The half of lease/tree.h that changes something: create, touch, move. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h> /* renameat2; nothing of stdio is called */
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/at.h"
#include "lease/kv.h"
#include "lease/text.h"

#define LOCK_MODE 0644

/* linkat for where renameat2 or its flag is missing: it never replaces, and it leaves the old name. */
static bool no_noreplace(int e)
{
	return e == -ENOSYS || e == -EINVAL || e == -EOPNOTSUPP;
}

/*
 * Without renameat2 the name is for a moment in both directories, which readers take for "still there". A
 * first name that cannot be removed takes the second back.
 */
static int move_by_link(int from, const char *name, int to, const char *to_name)
{
	int e;

	if (linkat(from, name, to, to_name, 0) < 0)
		return -errno;
	if (unlinkat(from, name, 0) == 0)
		return 0;
	e = -errno;
	(void)unlinkat(to, to_name, 0);
	return e;
}

static int move(int from, const char *name, int to, const char *to_name)
{
	int e;

	if (renameat2(from, name, to, to_name, RENAME_NOREPLACE) == 0)
		return 0;
	e = -errno;
	return no_noreplace(e) ? move_by_link(from, name, to, to_name) : e;
}

int lease_move(int from, const char *name, int to, const char *to_name)
{
	if (!lease_at_name_valid(name) || !lease_at_name_valid(to_name))
		return -EINVAL;
	return move(from, name, to, to_name);
}

/* A write beyond the limit would send SIGXFSZ, and that ends whoever lent us the process, sshd for one. */
static int check_limit(size_t len)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return -errno;
	return limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < len ? -EFBIG : 0;
}

static int fill(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		buf += n;
		len -= (size_t)n;
	}
	/* Not by the mode of open(2): the umask is not ours to change, and it must not hide a lock from the
	 * daemon. */
	return fchmod(fd, LOCK_MODE) < 0 ? -errno : 0;
}

/* What says "not here" rather than "no": a filesystem without O_TMPFILE, no /proc, a filter. */
static bool no_tmpfile(int e)
{
	return e == -EOPNOTSUPP || e == -EISDIR || e == -EINVAL || e == -ENOSYS;
}

static bool no_proc_link(int e)
{
	return e == -ENOENT || e == -EXDEV || e == -EOPNOTSUPP || e == -ENOSYS;
}

/* *ret_missing: the way does not exist here, nothing was made, and the other one is to be tried. */
static int create_unnamed(int dirfd, const char *name, const void *buf, size_t len, bool *ret_missing)
{
	char proc[32];
	struct lease_text t;
	int fd, e;

	fd = openat(dirfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, LOCK_MODE);
	if (fd < 0) {
		e = -errno;
		*ret_missing = no_tmpfile(e);
		return e;
	}
	*ret_missing = false;
	e = fill(fd, buf, len);
	if (e == 0) {
		lease_text_begin(&t, proc, sizeof(proc));
		lease_text_add(&t, "/proc/self/fd/");
		lease_text_add_number(&t, (uint64_t)fd);
		if (linkat(AT_FDCWD, proc, dirfd, name, AT_SYMLINK_FOLLOW) < 0) {
			e = -errno;
			*ret_missing = no_proc_link(e);
		}
	}
	lease_at_close(fd);
	return e;
}

static int create_renamed(int dirfd, const char *name, const void *buf, size_t len)
{
	char tmp[5 + LEASE_ID_SIZE] = ".tmp-";
	int fd, e;

	/* 50 random bits: a clash is somebody else's file, an error and never ours to remove. */
	lease_id_make(tmp + 5);
	fd = openat(dirfd, tmp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	e = fill(fd, buf, len);
	lease_at_close(fd);
	if (e == 0)
		e = move(dirfd, tmp, dirfd, name);
	if (e < 0)
		(void)unlinkat(dirfd, tmp, 0);
	return e;
}

int lease_create(int dirfd, const char *name, const void *buf, size_t len)
{
	bool missing;
	int e;

	if (!lease_at_name_valid(name))
		return -EINVAL;
	if (len > LEASE_FILE_MAX)
		return -EFBIG;
	e = check_limit(len);
	if (e < 0)
		return e;
	e = create_unnamed(dirfd, name, buf, len, &missing);
	return e < 0 && missing ? create_renamed(dirfd, name, buf, len) : e;
}

/* A path descriptor holds the inode all the while, so that its number cannot come back as another file's. */
int lease_touch(int dirfd, const char *name, struct lease_stat *ret)
{
	struct lease_stat before, after;
	int fd, e;

	if (!lease_at_name_valid(name))
		return -EINVAL;
	e = lease_at_open(dirfd, name, O_PATH | O_NOFOLLOW, &fd);
	/* Moved out of the folder between being found and being opened, which openat2 takes for a way out of it. */
	if (e == -EXDEV)
		return -ENOENT;
	if (e < 0)
		return e;
	e = lease_at_stat(fd, "", &before);
	if (e == 0 && !S_ISREG(before.mode))
		e = -EINVAL;
	if (e == 0 && utimensat(dirfd, name, NULL, AT_SYMLINK_NOFOLLOW) < 0)
		e = -errno;
	if (e == 0)
		e = lease_at_stat(dirfd, name, &after);
	if (e == 0 && (after.ino != before.ino || after.dev != before.dev))
		e = -ENOENT;
	lease_at_close(fd);
	if (e == 0 && ret)
		*ret = after;
	return e;
}
