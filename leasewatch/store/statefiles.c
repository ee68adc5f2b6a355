#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/duration.h"
#include "store/statefiles.h"

/*
 * Skipped by every reader (lease/tree.h); the daemon alone writes here, so one that is met again is of a run
 * that was cut off.
 */
#define HALF_WRITTEN ".tmp-"

static int write_all(int fd, const char *buf, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

int statefile_write(int dirfd, const char *name, const char *buf, size_t len)
{
	char temp[NAME_MAX + 1];
	int fd, r, n = snprintf(temp, sizeof(temp), HALF_WRITTEN "%s", name);

	if (n < 0 || (size_t)n >= sizeof(temp))
		return -ENAMETOOLONG;
	if (name[0] == '\0' || strchr(name, '/'))
		return -EINVAL;
	for (int attempt = 0;; attempt++) {
		fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			break;
		if (errno != EEXIST || attempt > 0)
			return -errno;
		if (unlinkat(dirfd, temp, 0) < 0 && errno != ENOENT)
			return -errno;
	}
	r = write_all(fd, buf, len);
	if (r == 0 && fchmod(fd, 0644) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(dirfd, temp, dirfd, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dirfd, temp, 0);
	return r;
}

int statefile_put(int dirfd, const struct view *v)
{
	char buf[LEASE_STATE_FILE_MAX];
	size_t len;
	int r;

	if (!lease_id_valid(v->id))
		return -EINVAL;
	r = view_format(v, buf, sizeof(buf), &len);
	return r < 0 ? r : statefile_write(dirfd, v->id, buf, len);
}

int statefile_answer(int dirfd, const char *ask_id, const struct ask_answer *a)
{
	char buf[LEASE_STATE_FILE_MAX], name[sizeof("ask-") + LEASE_ID_SIZE];
	size_t len;
	int r;

	if (!lease_id_valid(ask_id))
		return -EINVAL;
	(void)snprintf(name, sizeof(name), "ask-%s", ask_id);
	r = ask_answer_format(a, buf, sizeof(buf), &len);
	return r < 0 ? r : statefile_write(dirfd, name, buf, len);
}

int statefile_remove(int dirfd, const char *name)
{
	return unlinkat(dirfd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

static bool outdated(int dirfd, const char *name, int64_t now_wall, int64_t keep,
		     bool (*keep_it)(void *arg, const char *name), void *arg)
{
	struct stat st;

	if (strncmp(name, HALF_WRITTEN, strlen(HALF_WRITTEN)) == 0)
		return true;
	/* Of a hundred thousand that live none needs a stat. */
	if (name[0] == '.' || keep_it(arg, name) || fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	return st.st_mtim.tv_sec * LEASE_NS_PER_S + st.st_mtim.tv_nsec < now_wall - keep;
}

static int open_walk(struct statefile_walk *w, int dirfd)
{
	int r, fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	w->dir = fdopendir(fd);
	if (w->dir)
		return 0;
	r = -errno;
	close(fd);
	return r;
}

int statefile_prune_some(struct statefile_walk *w, int n, int dirfd, int64_t now_wall, int64_t keep,
			 bool (*keep_it)(void *arg, const char *name), void *arg)
{
	struct dirent *e;

	if (!w->dir) {
		*w = (struct statefile_walk){ .dir = NULL };
		w->error = open_walk(w, dirfd);
		if (w->error < 0)
			return w->error;
	}
	while (errno = 0, n-- > 0 && (e = readdir(w->dir)) != NULL) {
		if (!outdated(dirfd, e->d_name, now_wall, keep, keep_it, arg))
			continue;
		if (unlinkat(dirfd, e->d_name, 0) == 0)
			w->removed++;
		else if (errno != ENOENT && w->error == 0)
			w->error = -errno; /* the others are not to stay for it */
	}
	if (n >= 0 && errno != 0 && w->error == 0)
		w->error = -errno;
	if (n < 0)
		return 1;
	(void)closedir(w->dir);
	w->dir = NULL;
	return w->error;
}

int statefile_prune(int dirfd, int64_t now_wall, int64_t keep, bool (*keep_it)(void *arg, const char *name), void *arg)
{
	struct statefile_walk w = { .dir = NULL };
	int r;

	while ((r = statefile_prune_some(&w, INT_MAX, dirfd, now_wall, keep, keep_it, arg)) > 0)
		;
	return r < 0 ? r : w.removed;
}
