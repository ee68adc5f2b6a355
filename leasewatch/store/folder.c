#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/folder.h"

/* What, and errno's words. */
static int sorry(char err[SENTENCE_SIZE], const char *path, const char *what)
{
	return sentence(err, -errno, path, "%s: %m", what);
}

static int check(const struct stat *st, const struct folder_rule *rule, const char *path, char err[SENTENCE_SIZE])
{
	mode_t mode = st->st_mode & 07777;

	if (st->st_uid != rule->owner)
		return sentence(err, -EPERM, path, "belongs to uid %u, wanted uid %u (chown it, or move it away)", st->st_uid,
				rule->owner);
	if (rule->group != (gid_t)-1 && st->st_gid != rule->group)
		return sentence(err, -EPERM, path, "has group %u, wanted group %u (chgrp it, or move it away)", st->st_gid,
				rule->group);
	if ((mode & rule->must) != rule->must || (mode & rule->never) != 0)
		return sentence(err, -EPERM, path, "has mode %04o, wanted %04o (chmod it, or move it away)", mode, rule->make);
	return 0;
}

/* Owner and mode of what mkdirat has just made: by descriptor, so that it is that folder or none. */
static int settle(int fd, const struct folder_rule *rule, const char *path, char err[SENTENCE_SIZE])
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return sorry(err, path, "cannot be looked at");
	if ((st.st_uid != rule->owner || (rule->group != (gid_t)-1 && st.st_gid != rule->group)) &&
	    fchown(fd, rule->owner, rule->group) < 0)
		return sorry(err, path, "cannot be given to its owner");
	if (fchmod(fd, rule->make) < 0)
		return sorry(err, path, "cannot be given its mode");
	return 0;
}

/*
 * A folder that was made holds what must outlive a loss of power (lease.db), so its name must, too. As well as it can
 * be: where the folder above may be entered but not read, the first sync below it has to do.
 */
static void sync_above(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define HALF_MADE ".tmp-"

/*
 * Under another name until it is as it should be: who is killed in between would leave a folder that the next one refuses.
 * *ret_fd -1: somebody else was first.
 */
static int make(int dirfd, const char *name, const char *path, const struct folder_rule *rule, int *ret_fd,
		char err[SENTENCE_SIZE])
{
	char temp[NAME_MAX + 1];
	int r, fd, n = snprintf(temp, sizeof(temp), HALF_MADE "%s", name);

	if (n < 0 || (size_t)n >= sizeof(temp))
		return sentence(err, -ENAMETOOLONG, path, "has too long a part");
	if (mkdirat(dirfd, temp, 0700) < 0 &&
	    (errno != EEXIST || unlinkat(dirfd, temp, AT_REMOVEDIR) < 0 || mkdirat(dirfd, temp, 0700) < 0))
		return sorry(err, path, "cannot be made");
	fd = openat(dirfd, temp, OPEN_FOLDER);
	r = fd < 0 ? sorry(err, path, "cannot be opened") : settle(fd, rule, path, err);
	if (r == 0) {
		r = renameat2(dirfd, temp, dirfd, name, RENAME_NOREPLACE) < 0 ? -errno : 0;
		if (r == -EINVAL) /* a file system that does not know the flag */
			r = renameat(dirfd, temp, dirfd, name) < 0 ? -errno : 0;
		if (r < 0 && r != -EEXIST)
			r = sentence(err, r, path, "cannot be given its name: %s", strerror(-r));
	}
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		(void)unlinkat(dirfd, temp, AT_REMOVEDIR);
		*ret_fd = -1;
		return r == -EEXIST ? 0 : r;
	}
	sync_above(dirfd);
	*ret_fd = fd;
	return 0;
}

int folder_at(int dirfd, const char *name, const char *path, const struct folder_rule *rule, int *ret_fd,
	      char err[SENTENCE_SIZE])
{
	struct stat st;
	int r, fd = openat(dirfd, name, OPEN_FOLDER);

	if (fd < 0 && errno == ENOENT) {
		r = make(dirfd, name, path, rule, &fd, err);
		if (r < 0)
			return r;
		if (fd >= 0) {
			*ret_fd = fd;
			return 0;
		}
		fd = openat(dirfd, name, OPEN_FOLDER);
	}
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? sentence(err, -errno, path, "is a link, or no folder") :
							    sorry(err, path, "cannot be opened");
	if (fstat(fd, &st) < 0)
		r = sorry(err, path, "cannot be looked at");
	else
		r = check(&st, rule, path, err);
	if (r < 0) {
		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

static int check_parent(int fd, const struct folder_parents *parents, const char *path, char err[SENTENCE_SIZE])
{
	struct stat st;
	bool ours, group_writes;

	if (!parents->guarded)
		return 0;
	if (fstat(fd, &st) < 0)
		return sorry(err, path, "cannot be looked at");
	ours = st.st_uid == 0 || st.st_uid == geteuid();
	if (!ours && st.st_uid != parents->also)
		return sentence(err, -EPERM, path, "belongs to uid %u, who could move away what is in it", st.st_uid);
	group_writes = (st.st_mode & 020) && st.st_gid != 0;
	if (((st.st_mode & 02) || group_writes) && !(ours && (st.st_mode & S_ISVTX)))
		return sentence(err, -EPERM, path, "has mode %04o: others could move away what is in it", st.st_mode & 07777);
	return 0;
}

/* One step down towards the folder. */
static int enter(int at, const char *name, const struct folder_parents *parents, const char *path, int *ret_fd,
		 char err[SENTENCE_SIZE])
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (parents->guarded ? O_NOFOLLOW : 0);
	int fd = openat(at, name, flags);

	if (fd < 0 && errno == ENOENT) {
		struct folder_rule rule = { .make = parents->make, .owner = geteuid(), .group = (gid_t)-1 };

		return folder_at(at, name, path, &rule, ret_fd, err);
	}
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ?
			       sentence(err, -errno, path, parents->guarded ? "is a link, or no folder" : "is no folder") :
			       sorry(err, path, "cannot be entered");
	*ret_fd = fd;
	return 0;
}

int folder_path(const char *path, const struct folder_parents *parents, const struct folder_rule *rule, int *ret_fd,
		char err[SENTENCE_SIZE])
{
	char upto[PATH_MAX];
	size_t len = strlen(path), at = 0;
	int r, next, fd;

	if (path[0] != '/' || len >= sizeof(upto))
		return sentence(err, -EINVAL, path, "is no absolute path");
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return sorry(err, "/", "cannot be opened");
	r = check_parent(fd, parents, "/", err);
	while (r == 0) {
		char name[NAME_MAX + 1];
		size_t n;

		at += strspn(path + at, "/");
		n = strcspn(path + at, "/");
		if (n == 0 || n > NAME_MAX) {
			r = n ? sentence(err, -ENAMETOOLONG, path, "has too long a part") :
				sentence(err, -EINVAL, path, "does not name a folder");
			break;
		}
		memcpy(name, path + at, n);
		name[n] = '\0';
		at += n;
		memcpy(upto, path, at);
		upto[at] = '\0';
		if (path[at + strspn(path + at, "/")] == '\0') {
			r = folder_at(fd, name, upto, rule, ret_fd, err);
			break;
		}
		r = enter(fd, name, parents, upto, &next, err);
		if (r == 0) {
			close(fd);
			fd = next;
			r = check_parent(fd, parents, upto, err);
		}
	}
	close(fd);
	return r;
}

int folder_is_mount(int fd)
{
	struct statx sx;
	struct stat here, above;

	if (statx(fd, "", AT_EMPTY_PATH, 0, &sx) == 0 && (sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
		return (sx.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	if (fstat(fd, &here) < 0 || fstatat(fd, "..", &above, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return here.st_dev != above.st_dev;
}

int folder_is_empty(int fd)
{
	int r = 1, copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
	while (r == 1 && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = 0;
	(void)closedir(d);
	return r;
}
