#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lease/scratch.h"

static void need(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		abort();
	}
}

void scratch_make(struct scratch *s)
{
	const char *base = getenv("TMPDIR");

	snprintf(s->path, sizeof(s->path), "%s/lease-test-XXXXXX", base && *base ? base : "/tmp");
	need(mkdtemp(s->path) != NULL, s->path);
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(s->fd >= 0, s->path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void scratch_remove(struct scratch *s)
{
	close(s->fd);
	need(nftw(s->path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0, s->path);
}

void scratch_make_tree(struct scratch *s)
{
	need(mkdirat(s->fd, "queue", 0700) == 0, "queue");
	need(mkdirat(s->fd, "active", 0700) == 0, "active");
	need(mkdirat(s->fd, "archive", 0700) == 0, "archive");
}

void scratch_write(int dirfd, const char *name, const void *buf, size_t len)
{
	int fd = openat(dirfd, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);

	need(fd >= 0, name);
	need(write(fd, buf, len) == (ssize_t)len, name);
	close(fd);
}

bool scratch_holds(int dirfd, const char *name, const void *buf, size_t len)
{
	char got[8192];
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	need(len < sizeof(got), "scratch_holds");
	if (fd < 0)
		return false;
	n = read(fd, got, sizeof(got));
	close(fd);
	return n == (ssize_t)len && memcmp(got, buf, len) == 0;
}

bool scratch_exists(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int count(int fd)
{
	struct dirent *d;
	int n = 0;
	DIR *dir = fdopendir(fd);

	need(dir != NULL, "fdopendir");
	while ((d = readdir(dir)))
		n += strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
	closedir(dir);
	return n;
}

int scratch_count(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	need(fd >= 0, "scratch_count");
	return count(fd);
}

int scratch_open_fds(void)
{
	int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	need(fd >= 0, "/proc/self/fd");
	return count(fd) - 1;
}
