#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/tree.h>
#include <unistd.h>

#include "store/watch.h"

#define FOLDER_MASK (IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
/*
 * The root's own comings and goings are the daemon's (.leasewatch is written there): only its fate counts, and
 * that of the folders. They are held open, and a folder that is open hears nothing of its own removal.
 */
#define ROOT_MASK (IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define LOCK_MASK (IN_ATTRIB | IN_MODIFY | IN_CLOSE_WRITE)
#define LOST_MASK (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED)

#define BUFFER_SIZE 65536
#define EVENT_MAX (sizeof(struct inotify_event) + NAME_MAX + 1)
#define CANARY LEASE_TMP_PREFIX "canary-"

struct armed {
	RB_ENTRY(armed) by_id, by_wd;
	int wd;
	char id[LEASE_ID_SIZE];
};

static int compare_ids(const struct armed *a, const struct armed *b)
{
	return strcmp(a->id, b->id);
}

static int compare_wds(const struct armed *a, const struct armed *b)
{
	return (a->wd > b->wd) - (a->wd < b->wd);
}

RB_HEAD(ids, armed);
RB_HEAD(wds, armed);
/* RB_GENERATE_STATIC wants a BSD's __unused, which libbsd does not give everywhere. */
#define MAYBE_UNUSED static __attribute__((unused))
RB_GENERATE_INTERNAL(ids, armed, by_id, compare_ids, MAYBE_UNUSED)
RB_GENERATE_INTERNAL(wds, armed, by_wd, compare_wds, MAYBE_UNUSED)

enum { F_QUEUE, F_ACTIVE, F_ARCHIVE, F_ROOT, FOLDERS };

struct watch {
	int fd;
	int folder[FOLDERS]; /* watch descriptors; -1 = lost */
	char canary[sizeof(CANARY) + LEASE_ID_SIZE];
	bool unheard[FOLDERS]; /* its coming there has not been told yet */
	struct ids ids;
	struct wds wds;
	size_t at, len;
	char buf[BUFFER_SIZE] __attribute__((aligned(__alignof__(struct inotify_event))));
};

/*
 * inotify takes no descriptor. Through /proc it gets exactly the file behind fd, whatever its name stands for
 * now.
 */
static int add_by_fd(int inotify, int fd, uint32_t mask)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	int wd;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	wd = inotify_add_watch(inotify, path, mask);
	return wd < 0 ? -errno : wd;
}

int watch_open(const struct lease_tree *t, struct watch **ret, int *ret_fd)
{
	const int fds[FOLDERS] = { [F_QUEUE] = t->queue, [F_ACTIVE] = t->active, [F_ARCHIVE] = t->archive, [F_ROOT] = t->root };
	struct watch *w = calloc(1, sizeof(*w));
	struct stat st;

	if (!w)
		return -ENOMEM;
	RB_INIT(&w->ids);
	RB_INIT(&w->wds);
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->fd < 0) {
		int r = -errno;

		free(w);
		return r;
	}
	for (int i = FOLDERS - 1; i >= 0; i--) { /* the root first */
		w->folder[i] = add_by_fd(w->fd, fds[i], i == F_ROOT ? ROOT_MASK : FOLDER_MASK);
		if (w->folder[i] < 0) {
			int r = w->folder[i];

			watch_close(w);
			return r;
		}
		/* Removed before the root was watched: nothing more will be heard of it. */
		if (fstat(fds[i], &st) == 0 && st.st_nlink == 0) {
			(void)inotify_rm_watch(w->fd, w->folder[i]);
			w->folder[i] = -1;
		}
	}
	*ret = w;
	*ret_fd = w->fd;
	return 0;
}

static void forget(struct watch *w, struct armed *a)
{
	RB_REMOVE(ids, &w->ids, a);
	RB_REMOVE(wds, &w->wds, a);
	free(a);
}

void watch_close(struct watch *w)
{
	struct armed *a;

	if (!w)
		return;
	while ((a = RB_MIN(ids, &w->ids)) != NULL)
		forget(w, a);
	close(w->fd);
	free(w);
}

bool watch_lost(const struct watch *w)
{
	for (int i = 0; i < FOLDERS; i++)
		if (w->folder[i] < 0)
			return true;
	return false;
}

static struct armed *find_id(struct watch *w, const char *id)
{
	struct armed key;

	(void)snprintf(key.id, sizeof(key.id), "%s", id);
	return RB_FIND(ids, &w->ids, &key);
}

static struct armed *find_wd(struct watch *w, int wd)
{
	struct armed key = { .wd = wd };

	return RB_FIND(wds, &w->wds, &key);
}

static int add_lock(struct watch *w, int dirfd, const char *name)
{
	struct stat st;
	int wd, fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		wd = -errno;
	else if (!S_ISREG(st.st_mode))
		wd = -EINVAL;
	else
		wd = add_by_fd(w->fd, fd, LOCK_MASK);
	close(fd);
	return wd;
}

int watch_lock(struct watch *w, int dirfd, const char *name, const char *id)
{
	struct armed *a, *other;
	int wd;

	if (!lease_id_valid(id))
		return -EINVAL;
	wd = add_lock(w, dirfd, name);
	if (wd < 0)
		return wd;
	a = find_id(w, id);
	other = find_wd(w, wd);
	if (other) /* one inode has one watch: a hard link to another lease's lock does not take that away */
		return other == a ? 0 : -EMLINK;
	if (a) {
		/* Another inode has the name now. The old watch's IN_IGNORED will find no one. */
		(void)inotify_rm_watch(w->fd, a->wd);
		RB_REMOVE(wds, &w->wds, a);
	} else {
		a = malloc(sizeof(*a));
		if (!a) {
			(void)inotify_rm_watch(w->fd, wd);
			return -ENOMEM;
		}
		(void)snprintf(a->id, sizeof(a->id), "%s", id);
		RB_INSERT(ids, &w->ids, a);
	}
	a->wd = wd;
	RB_INSERT(wds, &w->wds, a);
	return 0;
}

void watch_unlock(struct watch *w, const char *id)
{
	struct armed *a = find_id(w, id);

	if (!a)
		return;
	(void)inotify_rm_watch(w->fd, a->wd); /* fails when the file has gone, and its watch with it */
	forget(w, a);
}

typedef void teller(void *arg, enum watch_kind k, const char *name_or_id);

static void rescan(struct watch *w, teller *each, void *arg)
{
	w->at = w->len = 0;
	memset(w->unheard, 0, sizeof(w->unheard)); /* it may be among what was lost */
	each(arg, WATCH_RESCAN, "");
}

static void folder_event(struct watch *w, int i, const struct inotify_event *e, teller *each, void *arg)
{
	static const enum watch_kind kinds[] = { WATCH_QUEUE, WATCH_ACTIVE, WATCH_ARCHIVE };
	static const char *const names[] = { [F_QUEUE] = "queue", [F_ACTIVE] = "active", [F_ARCHIVE] = "archive" };

	if (i == F_ROOT && e->mask & IN_DELETE) {
		for (int k = 0; k < F_ROOT; k++)
			if (w->folder[k] >= 0 && e->len > 0 && strcmp(e->name, names[k]) == 0) {
				(void)inotify_rm_watch(w->fd, w->folder[k]);
				w->folder[k] = -1;
				rescan(w, each, arg);
				return;
			}
	} else if (e->mask & LOST_MASK) {
		/* The watch would follow the moved folder and tell its names as if they were in the tree. */
		(void)inotify_rm_watch(w->fd, e->wd);
		w->folder[i] = -1;
		rescan(w, each, arg);
	} else if (i != F_ROOT && e->len > 0 && strcmp(e->name, w->canary) == 0) {
		w->unheard[i] = false;
	} else if (i != F_ROOT && e->len > 0) {
		each(arg, kinds[i], e->name);
	}
}

static void lock_event(struct watch *w, const struct inotify_event *e, teller *each, void *arg)
{
	struct armed *a = find_wd(w, e->wd);
	char id[LEASE_ID_SIZE];

	if (!a)
		return; /* disarmed meanwhile */
	memcpy(id, a->id, sizeof(id)); /* each() may disarm it */
	if (e->mask & IN_IGNORED)
		forget(w, a);
	each(arg, WATCH_LOCK, id);
}

static void tell(struct watch *w, const struct inotify_event *e, teller *each, void *arg)
{
	/* First, since an overflow belongs to no watch: its wd is -1, as a lost folder's. */
	if (e->mask & IN_Q_OVERFLOW) {
		rescan(w, each, arg);
		return;
	}
	for (int i = 0; i < FOLDERS; i++)
		if (w->folder[i] == e->wd) {
			folder_event(w, i, e, each, arg);
			return;
		}
	lock_event(w, e, each, arg);
}

int watch_read(struct watch *w, int budget, teller *each, void *arg)
{
	bool drained = false;

	for (;;) {
		while (w->at < w->len) {
			const struct inotify_event *e = (const void *)(w->buf + w->at);

			if (budget-- <= 0)
				return 1;
			w->at += sizeof(*e) + e->len;
			tell(w, e, each, arg);
		}
		if (drained)
			return 0;
		w->at = w->len = 0;
		ssize_t n = read(w->fd, w->buf, sizeof(w->buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		w->len = (size_t)n;
		/* A buffer with room for one more event was the last one; epoll tells of those that came since. */
		drained = w->len + EVENT_MAX <= sizeof(w->buf);
	}
}

int watch_prove(struct watch *w, const struct lease_tree *t)
{
	const int fds[F_ROOT] = { [F_QUEUE] = t->queue, [F_ACTIVE] = t->active, [F_ARCHIVE] = t->archive };
	char id[LEASE_ID_SIZE];
	int r = 0;

	/* At random, so that nobody can have taken the name. */
	lease_id_make(id);
	(void)snprintf(w->canary, sizeof(w->canary), "%s%s", CANARY, id);
	for (int i = 0; i < F_ROOT; i++) {
		/* A folder, since that takes no descriptor. */
		w->unheard[i] = mkdirat(fds[i], w->canary, 0700) == 0;
		if (!w->unheard[i])
			r = -errno;
		else
			(void)unlinkat(fds[i], w->canary, AT_REMOVEDIR);
	}
	return r;
}

bool watch_proven(const struct watch *w)
{
	for (int i = 0; i < F_ROOT; i++)
		if (w->unheard[i])
			return false;
	return true;
}
