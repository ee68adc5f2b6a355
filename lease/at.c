#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lease/at.h"
#include "lease/duration.h"

bool lease_at_name_valid(const char *name)
{
	return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

/* A user may write any stamp; what int64_t nanoseconds cannot hold sticks to the end of the range. */
static int64_t stamp(const struct statx_timestamp *t)
{
	int64_t ns;

	if (__builtin_mul_overflow(t->tv_sec, LEASE_NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, t->tv_nsec, &ns))
		return t->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

int lease_at_stat(int dirfd, const char *path, struct lease_stat *ret)
{
	return lease_at_statx(dirfd, path, AT_STATX_DONT_SYNC, ret);
}

int lease_at_statx(int dirfd, const char *path, int sync, struct lease_stat *ret)
{
	struct statx x;

	if (statx(dirfd, path, AT_SYMLINK_NOFOLLOW | sync | AT_NO_AUTOMOUNT | (*path ? 0 : AT_EMPTY_PATH),
		  STATX_BASIC_STATS, &x) < 0)
		return -errno;
	*ret = (struct lease_stat){
	    .dev = makedev(x.stx_dev_major, x.stx_dev_minor),
	    .ino = x.stx_ino,
	    .mtime = stamp(&x.stx_mtime),
	    .ctime = stamp(&x.stx_ctime),
	    .uid = x.stx_uid,
	    .mode = x.stx_mode,
	    .nlink = x.stx_nlink,
	    .size = x.stx_size,
	};
	return 0;
}

void lease_at_close(int fd)
{
	int saved = errno;

	/* Linux frees the descriptor whatever close(2) says. */
	if (fd >= 0)
		(void)close(fd);
	errno = saved;
}

static int open_nofollow(int dirfd, const char *name, int flags, int *ret_fd)
{
	struct lease_stat dir = {0}, st = {0};
	int fd, e;

	fd = openat(dirfd, name, flags | O_NOFOLLOW);
	if (fd < 0) {
		e = -errno;
		/* With O_DIRECTORY a link is "no directory". */
		if (e == -ENOTDIR && lease_at_stat(dirfd, name, &st) == 0 && S_ISLNK(st.mode))
			e = -ELOOP;
		return e;
	}
	e = lease_at_stat(dirfd, "", &dir);
	if (e == 0)
		e = lease_at_stat(fd, "", &st);
	if (e == 0 && st.dev != dir.dev)
		e = -EXDEV;
	if (e < 0) {
		lease_at_close(fd);
		return e;
	}
	*ret_fd = fd;
	return 0;
}

int lease_at_open(int dirfd, const char *name, int flags, int *ret_fd)
{
	struct open_how how = {
	    .flags = (unsigned)flags | O_CLOEXEC,
	    .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_BENEATH,
	};
	long fd;

	fd = syscall(SYS_openat2, dirfd, name, &how, sizeof(how));
	if (fd >= 0) {
		*ret_fd = (int)fd;
		return 0;
	}
	/* Filters of containers that do not know the call say EPERM. */
	if (errno == ENOSYS || errno == EPERM)
		return open_nofollow(dirfd, name, flags | O_CLOEXEC, ret_fd);
	return -errno;
}
