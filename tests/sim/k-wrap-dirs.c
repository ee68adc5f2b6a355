/* What ld puts in the place of the daemon's calls: reading folders. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "tests/sim/k-wrap.h"

/* A DIR of ours; on the daemon's heap, so that it goes with it. */
struct dir {
	struct dir *self; /* told apart from libc's by this */
	int fd;
	size_t at, len;
	struct dirent entry;
	_Alignas(struct dirent64) char buf[4096];
};

static struct dir *ours(DIR *d)
{
	struct dir *own = (struct dir *)d;

	return simulated() && own->self == own ? own : NULL;
}

ssize_t __wrap_getdents64(int fd, void *buf, size_t size)
{
	if (fd < KERNEL_FD)
		return __real_getdents64(fd, buf, size);
	struct file *f = fd_file(fd);
	CALL("getdents64", EIO);
	return (ssize_t)result(f ? file_list(f, buf, size) : -EBADF);
}

DIR *__wrap_fdopendir(int fd)
{
	struct dir *d;

	if (fd < KERNEL_FD)
		return __real_fdopendir(fd);
	d = __wrap_malloc(sizeof(*d));
	if (!d)
		return NULL;
	d->self = d;
	d->fd = fd;
	d->at = d->len = 0;
	return (DIR *)d;
}

DIR *__wrap_opendir(const char *path)
{
	int fd;

	if (!simulated() || (strncmp(path, KERNEL_ROOT, 5) != 0 && strncmp(path, "/proc/", 6) != 0))
		return __real_opendir(path);
	fd = __wrap_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	DIR *d = __wrap_fdopendir(fd);
	if (!d)
		(void)__wrap_close(fd);
	return d;
}

struct dirent *__wrap_readdir(DIR *dirp)
{
	struct dir *d = ours(dirp);

	if (!d)
		return __real_readdir(dirp);
	if (d->at >= d->len) {
		ssize_t n = __wrap_getdents64(d->fd, d->buf, sizeof(d->buf));
		if (n <= 0)
			return NULL;
		d->at = 0;
		d->len = (size_t)n;
	}
	const struct dirent64 *e = (const void *)(d->buf + d->at);
	d->at += e->d_reclen;
	memset(&d->entry, 0, offsetof(struct dirent, d_name));
	d->entry.d_ino = e->d_ino;
	d->entry.d_type = e->d_type;
	memcpy(d->entry.d_name, e->d_name, strlen(e->d_name) + 1);
	return &d->entry;
}

int __wrap_closedir(DIR *dirp)
{
	struct dir *d = ours(dirp);

	if (!d)
		return __real_closedir(dirp);
	int fd = d->fd;
	d->self = NULL;
	__wrap_free(d);
	return __wrap_close(fd);
}
