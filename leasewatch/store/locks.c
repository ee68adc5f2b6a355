#include "config.h"

#include "store/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "lease/duration.h"
#include "lease/kv.h"
#include "store/folder.h"

static bool same(const struct lock_ref *l, const struct lease_stat *st)
{
	return S_ISREG(st->mode) && st->uid == l->uid && st->dev == l->dev && st->ino == l->ino;
}

/* What a server or a program shows of a lock may be old; on a local file system nothing is, and nobody is waited for. */
static int look_at(const struct house *h, int dirfd, const char *name, struct lease_stat *st)
{
	return h->fs.kind >= FS_PROGRAM ? lease_stat_anew(dirfd, name, st) : lease_stat(dirfd, name, st);
}

/* Whether it is there; *unseen when that can't be told: no memory, a server that does not answer. */
static bool seen_at(const struct house *h, int dirfd, const char *name, struct lease_stat *st, bool *unseen)
{
	int r = look_at(h, dirfd, name, st);

	*unseen |= r < 0 && r != -ENOENT;
	return r == 0;
}

enum place locks_place(const struct house *h, const struct lock_ref *l, struct lease_stat *st)
{
	struct lease_stat found;
	bool unseen = false;
	bool stands = seen_at(h, h->tree.active, l->name, &found, &unseen) && S_ISREG(found.mode) && found.uid == l->uid;

	if (stands && same(l, &found)) {
		*st = found;
		return AT_ACTIVE;
	}
	/* In both it is live, so the one place says nothing without the other. */
	if (seen_at(h, h->tree.archive, l->name, st, &unseen) && same(l, st))
		return unseen ? AT_UNSEEN : AT_ARCHIVE;
	if (seen_at(h, h->reap, l->name, st, &unseen) && same(l, st))
		return AT_REAP;
	/*
	 * Another inode of the same owner under the name, and the lock itself nowhere, is the owner's own doing (an
	 * editor's save): still his lock. Beside a lock that was released it is only a beat's ghost.
	 */
	if (stands) {
		*st = found;
		return unseen ? AT_UNSEEN : AT_ACTIVE;
	}
	if (seen_at(h, h->tree.queue, l->name, st, &unseen) && same(l, st))
		return AT_QUEUE;
	/*
	 * So is another one in archive/, saved and released before anybody looked. Everybody may make names there, but only
	 * he files of his own; a link to one of them (link(2), where links are not protected) would be one too many.
	 */
	if (seen_at(h, h->tree.archive, l->name, st, &unseen) && S_ISREG(st->mode) && st->uid == l->uid && st->nlink == 1)
		return unseen ? AT_UNSEEN : AT_ARCHIVE;
	return unseen ? AT_UNSEEN : AT_NOWHERE;
}

/* Into .reap; a leftover of a crash under that name makes room, for it is of this very lease. */
static int to_reap(const struct house *h, int from, const char *name)
{
	int r = lease_move(from, name, h->reap, name);

	if (r != -EEXIST)
		return r;
	(void)unlinkat(h->reap, name, 0);
	return lease_move(from, name, h->reap, name);
}

/* Into active/; what squats the name there makes room. */
static int move_in(const struct house *h, int from, const char *name, int64_t wall)
{
	int r = lease_move(from, name, h->tree.active, name);

	if (r != -EEXIST)
		return r;
	r = locks_quarantine(h, h->tree.active, name, wall);
	return r < 0 && r != -ENOENT ? r : lease_move(from, name, h->tree.active, name);
}

int locks_commit(const struct house *h, const struct lock_ref *l, int64_t wall)
{
	struct lease_stat st;
	int r = to_reap(h, h->tree.active, l->name);

	if (r < 0)
		return r;
	/*
	 * Whoever touches from now on finds no name; who touched just before is seen here. So is one who put
	 * another file in its place since the last look: which one was moved can be told only now, by its mtime.
	 * (Inodes' numbers are not what every file system keeps when it renames.)
	 */
	r = look_at(h, h->reap, l->name, &st);
	if (r < 0 || st.mtime == l->mtime)
		return 1;
	(void)locks_put_back(h, l->name, wall);
	return 0;
}

int locks_put_back(const struct house *h, const char *name, int64_t wall)
{
	return move_in(h, h->reap, name, wall);
}

int locks_take(const struct house *h, const char *name, enum place from)
{
	if (from != AT_ACTIVE && from != AT_QUEUE)
		return 0;
	return to_reap(h, from == AT_ACTIVE ? h->tree.active : h->tree.queue, name);
}

int locks_move_in(const struct house *h, const char *name, int64_t wall)
{
	return move_in(h, h->tree.queue, name, wall);
}

static int open_if_ours(const struct house *h, const char *day)
{
	struct lease_stat st;
	int fd, r;

	if (mkdirat(h->tree.archive, day, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(h->tree.archive, day, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EPERM : -errno;
	r = lease_stat(fd, NULL, &st);
	if (r == 0 && st.uid == geteuid())
		return fd;
	close(fd);
	return r < 0 ? r : -EPERM;
}

/* archive/YYYY-MM-DD, opened, or -errno. */
static int open_day(const struct house *h, int64_t wall)
{
	time_t t = (time_t)(wall / LEASE_NS_PER_S);
	struct tm tm;
	char day[16];
	int fd;

	if (!gmtime_r(&t, &tm) || strftime(day, sizeof(day), "%Y-%m-%d", &tm) == 0)
		return -EINVAL;
	fd = open_if_ours(h, day);
	/*
	 * A user may have made the name first, for this day and the next hundred: then it is not for our use,
	 * and makes room.
	 */
	if (fd == -EPERM && locks_quarantine(h, h->tree.archive, day, wall) == 0)
		fd = open_if_ours(h, day);
	return fd;
}

int locks_archive(const struct house *h, const char *name, enum place from, int64_t wall)
{
	if (from != AT_REAP && from != AT_ARCHIVE)
		return 0;
	int dir = from == AT_REAP ? h->reap : h->tree.archive;
	int day = open_day(h, wall);
	int r = day < 0 ? day : lease_move(dir, name, day, name);

	if (day >= 0)
		close(day);
	/* Better unsorted than not in the archive. */
	if (r < 0 && from == AT_REAP)
		r = lease_move(dir, name, h->tree.archive, name);
	return r;
}

int locks_quarantine(const struct house *h, int dirfd, const char *name, int64_t wall)
{
	char to[LEASE_NAME_SIZE];

	(void)snprintf(to, sizeof(to), "%lld-%.200s", (long long)wall, name);
	int r = lease_move(dirfd, name, h->quarantine, to);
	if (r != -EACCES)
		return r;
	/*
	 * Another user's folder: into a folder of ours it would need his write bit, since its .. changes. Where
	 * it lies it may be removed, if empty, or have another name, which is nobody's lock.
	 */
	if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
		return 0;
	(void)snprintf(to, sizeof(to), LEASE_TMP_PREFIX "squat-%lld-%.200s", (long long)wall, name);
	return lease_move(dirfd, name, dirfd, to);
}

int locks_remove(int dirfd, const char *name)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR && unlinkat(dirfd, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

struct prune {
	int64_t wall, keep;
	int dirfd, left;
	bool days; /* archive/ itself: the folders of days are entered */
	bool long_ones; /* what is longer than a lock, however old, and nothing else */
};

static bool old(const struct prune *p, const struct lease_stat *st)
{
	if (p->long_ones)
		return S_ISREG(st->mode) && st->size > LEASE_FILE_MAX && st->uid != geteuid();
	return p->keep != LEASE_NEVER && p->wall - st->ctime > p->keep;
}

static int prune_one(void *arg, const char *name)
{
	struct prune *p = arg;
	struct lease_stat st;

	if (lease_stat(p->dirfd, name, &st) < 0)
		return 0;
	if (S_ISDIR(st.mode) && p->days && st.uid == geteuid()) {
		struct prune day = { .wall = p->wall, .keep = p->keep, .long_ones = p->long_ones };
		day.dirfd = openat(p->dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (day.dirfd < 0)
			return 0;
		(void)lease_list(day.dirfd, prune_one, &day);
		close(day.dirfd);
		/* Emptying it has made its ctime new; an empty day of long ago goes at the next prune. */
		if (day.left == 0 && !p->long_ones && old(p, &st))
			(void)unlinkat(p->dirfd, name, AT_REMOVEDIR);
	} else if (!S_ISDIR(st.mode) && old(p, &st)) {
		(void)unlinkat(p->dirfd, name, 0);
	} else {
		p->left++;
	}
	return 0;
}

void locks_prune(const struct house *h, int64_t wall, int64_t keep)
{
	struct prune archive = { .wall = wall, .keep = keep, .dirfd = h->tree.archive, .days = true };
	struct prune quarantine = { .wall = wall, .keep = keep, .dirfd = h->quarantine };

	(void)lease_list(archive.dirfd, prune_one, &archive);
	(void)lease_list(quarantine.dirfd, prune_one, &quarantine);
}

bool locks_crowded(const struct house *h)
{
	struct statfs fs;

	/* Elsewhere others fill it, too, and it is not ours to empty. */
	if (folder_is_mount(h->tree.root) != 1 || fstatfs(h->tree.root, &fs) < 0)
		return false;
	return (fs.f_blocks > 0 && fs.f_bavail < fs.f_blocks / 4) || (fs.f_files > 0 && fs.f_ffree < fs.f_files / 4);
}

void locks_make_room(const struct house *h, int64_t wall, int64_t keep)
{
	const int everywhere[] = { h->tree.queue, h->tree.active, h->tree.archive, h->quarantine };

	for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++) {
		struct prune p = { .wall = wall, .dirfd = everywhere[i], .long_ones = true };

		p.days = everywhere[i] == h->tree.archive;
		(void)lease_list(p.dirfd, prune_one, &p);
	}
	if (keep == LEASE_NEVER || keep > INT64_C(30) * 86400 * LEASE_NS_PER_S)
		keep = INT64_C(30) * 86400 * LEASE_NS_PER_S;
	for (keep /= 2; keep > LEASE_NS_PER_S && locks_crowded(h); keep /= 2)
		locks_prune(h, wall, keep);
}
