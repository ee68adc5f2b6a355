#include "config.h"

#include "store/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/id.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX 64 /* folders inside a private directory; a descriptor each while it is removed */
#define NAME_SIZE (LEASE_ID_SIZE + 24)

static bool ours_alone(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

int workdir_open(const char *path, int *ret_fd)
{
	struct stat st;
	int fd;

	if (path[0] != '/')
		return -EINVAL;
	fd = open(path, OPEN_DIR);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !ours_alone(&st)) {
		close(fd);
		return -EPERM;
	}
	*ret_fd = fd;
	return 0;
}

int workdir_program(int runtimes, const char *name)
{
	struct stat st;

	if (fstatat(runtimes, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || !ours_alone(&st))
		return -EPERM;
	return st.st_mode & S_IXUSR ? 0 : -EACCES;
}

/* A folder of ours below dirfd. One that another could write, or that isn't ours, is not used. */
static int open_below(int dirfd, const char *name, int *ret_fd, bool *ret_made)
{
	bool made = mkdirat(dirfd, name, 0700) == 0;
	struct stat st;
	int fd;

	if (!made && errno != EEXIST)
		return -errno;
	fd = openat(dirfd, name, OPEN_DIR);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 077)) {
		close(fd);
		return -EPERM;
	}
	*ret_fd = fd;
	*ret_made = made;
	return 0;
}

static void name_of(char name[NAME_SIZE], const char *id, uint64_t generation)
{
	snprintf(name, NAME_SIZE, "%s.%" PRIu64, id, generation);
}

int workdir_private(int work, const char *runtime, const char *id, uint64_t generation, int *ret_fd,
		      bool *ret_made)
{
	char name[NAME_SIZE];
	int fd = -1, r;

	r = open_below(work, runtime, &fd, ret_made);
	if (r < 0)
		return r;
	if (!id) {
		*ret_fd = fd;
		return 0;
	}
	name_of(name, id, generation);
	r = open_below(fd, name, ret_fd, ret_made);
	close(fd);
	return r;
}

static int remove_inside(int dirfd, dev_t dev, int depth);

/* Takes over fd. Another filesystem mounted in there is none of ours: its contents stay. */
static int remove_folder(int dirfd, const char *name, int fd, dev_t dev, int depth)
{
	struct stat st;
	int r = fstat(fd, &st) < 0 ? -errno : st.st_dev != dev ? -EXDEV : depth >= DEPTH_MAX ? -ELOOP : 0;

	r = r ? r : remove_inside(fd, dev, depth + 1);
	close(fd);
	if (r < 0)
		return r;
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

static int remove_inside(int dirfd, dev_t dev, int depth)
{
	int copy = openat(dirfd, ".", OPEN_DIR), r = 0;
	struct dirent *e;
	DIR *d;

	if (copy < 0)
		return -errno;
	d = fdopendir(copy);
	if (!d) {
		r = -errno;
		close(copy);
		return r;
	}
	while (!r && (e = readdir(d))) {
		int fd;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (unlinkat(dirfd, e->d_name, 0) == 0 || errno == ENOENT)
			continue;
		if (errno != EISDIR) {
			r = -errno;
			break;
		}
		fd = openat(dirfd, e->d_name, OPEN_DIR);
		r = fd < 0 ? -errno : remove_folder(dirfd, e->d_name, fd, dev, depth);
	}
	closedir(d);
	return r;
}

int workdir_remove(int work, const char *runtime, const char *id, uint64_t generation, bool whole)
{
	char name[NAME_SIZE];
	struct stat st;
	int parent, fd, r;

	name_of(name, id, generation);
	parent = openat(work, runtime, OPEN_DIR);
	if (parent < 0)
		return errno == ENOENT ? 0 : -errno;
	if (whole) {
		fd = openat(parent, name, OPEN_DIR);
		if (fd < 0)
			r = errno == ENOENT ? 0 : -errno;
		else if (fstat(parent, &st) < 0)
			r = -errno, close(fd);
		else
			r = remove_folder(parent, name, fd, st.st_dev, 0);
	} else {
		r = unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY ? -errno
												      : 0;
	}
	close(parent);
	return r;
}
