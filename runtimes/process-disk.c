/*
 * process-disk.c: a workload to disk and back. Only as root, only what is all one user's, all below the keeper and on
 * no terminal; what can't go there is frozen where it stands, and why is said.
 *
 * In order: image.new/ is made, criu(8) writes into it and leaves the processes stopped, it is sealed and renamed,
 * and only then are they killed. Cut off before that, they are stopped and image.new/ says so.
 * Back: they have their old numbers, so those must be free. The image goes when they are seen to run.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE "image"
#define IMAGE_NEW "image.new"

bool disk_has(int dir)
{
	struct stat st;

	return dir >= 0 && fstatat(dir, IMAGE, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool disk_was_cut_off(int dir)
{
	struct stat st;

	return fstatat(dir, IMAGE_NEW, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int disk_forget(int dir)
{
	int e = image_remove(dir, IMAGE_NEW);

	return e ? e : image_remove(dir, IMAGE);
}

/* Field 7 of proc(5)'s stat. */
static bool on_terminal(int32_t pid)
{
	char path[64], buf[1024];
	const char *p;
	size_t n;
	int tty;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%" PRId32 "/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(buf, 1, sizeof buf - 1, f);
	fclose(f);
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p && sscanf(p + 1, " %*c %*d %*d %*d %d", &tty) == 1 && tty != 0;
}

/* Its ids, when they are one user's through and through. -EPERM: they aren't. */
static int owner_of(int32_t pid, struct owner *ret)
{
	struct owner o = {.n_groups = 0};
	char path[64], line[4096];
	unsigned id[4] = {0};
	int r = 0, at, n;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%" PRId32 "/status", pid);
	f = fopen(path, "re");
	if (!f)
		return -ESRCH;
	while (r == 0 && fgets(line, sizeof line, f)) {
		bool uid = !strncmp(line, "Uid:", 4), gid = !strncmp(line, "Gid:", 4);

		if (uid || gid) {
			if (sscanf(line + 4, "%u %u %u %u", id, id + 1, id + 2, id + 3) != 4 || id[0] != id[1] ||
			    id[0] != id[2] || id[0] != id[3])
				r = -EPERM;
			*(uid ? &o.uid : &o.gid) = id[0];
		}
		if (strncmp(line, "Groups:", 7))
			continue;
		for (at = 7; r == 0 && sscanf(line + at, "%u%n", id, &n) == 1; at += n) {
			if (o.n_groups == GROUPS_MAX)
				r = -EPERM;
			else
				o.groups[o.n_groups++] = id[0];
		}
	}
	fclose(f);
	if (r == 0)
		*ret = o;
	return r;
}

static bool below_keeper(const struct workload *w, int32_t pid)
{
	for (int depth = 0; pid > 1 && depth < 4096; depth++) {
		if (pid == w->keeper.pid)
			return true;
		if (lease_process_stat(pid, NULL, &pid, NULL) < 0)
			return false;
	}
	return false;
}

static bool can_go(const struct workload *w, const struct members *l, struct owner *ret, char why[WHY_SIZE])
{
	bool keeper = false;
	char name[32];

	for (size_t i = 0; i < l->n; i++) {
		int32_t pid = l->m[i].p.pid;
		const char *what = NULL;
		uint64_t start;
		struct owner o = {.uid = (uid_t)-1};

		process_name(pid, name);
		if (owner_of(pid, &o) < 0 || o.uid != w->uid)
			what = "isn't all its user's";
		else if (on_terminal(pid))
			what = "is on a terminal";
		else if (!below_keeper(w, pid))
			what = "has come in from outside";
		/* What has ended since needs no image. */
		if (what && lease_process_stat(pid, &start, NULL, NULL) == 0 && start == l->m[i].p.start) {
			snprintf(why, WHY_SIZE, "pid %" PRId32 " %s %s", pid, name, what);
			return false;
		}
		if (l->m[i].keeper)
			*ret = o;
		keeper = keeper || l->m[i].keeper;
	}
	if (!keeper)
		snprintf(why, WHY_SIZE, "its keeper has gone");
	return keeper;
}

static int write_image(const struct request *r, const struct workload *w, const struct members *l, const struct owner *o,
		       int limit, char why[WHY_SIZE])
{
	struct criu c = {.w = w, .owner = o, .root = w->keeper.pid, .lock = r->dir, .limit = limit};
	int e = image_remove(r->dir, IMAGE_NEW);

	e = e ? e : image_make(r->dir, IMAGE_NEW, o, &c.images);
	if (e < 0)
		return e;
	e = criu_run(&c, true, why);
	e = e ? e : image_seal(c.images, o, l);
	close(c.images);
	/* An older one is of a resume that was cut off: they run, so it is the past. */
	e = e ? e : image_remove(r->dir, IMAGE);
	if (e == 0 && (renameat(r->dir, IMAGE_NEW, r->dir, IMAGE) < 0 || fsync(r->dir) < 0))
		e = -errno;
	return e;
}

int disk_dump(const struct request *r, struct workload *w, const struct members *l, int limit, char why[WHY_SIZE])
{
	struct owner o;
	int e;

	why[0] = '\0';
	if (!disk_works(r, why) || !can_go(w, l, &o, why))
		return -ENOTSUP;
	if (!image_fits(r->dir, members_memory(l))) {
		snprintf(why, WHY_SIZE, "no room for an image of %" PRId64 " bytes of memory", members_memory(l));
		return -ENOSPC;
	}
	e = write_image(r, w, l, &o, limit, why);
	if (e == -ETIME)
		return e; /* it goes on by itself, and the lock with it */
	if (e == 0) {
		w->disk = true;
		e = record_write(r->dir, w);
		e = e ? e : kill_all(w, r->work, limit);
		return e;
	}
	if (!why[0])
		snprintf(why, WHY_SIZE, "%s", strerror(-e));
	(void)image_remove(r->dir, IMAGE_NEW);
	/* One that had to be left stopped runs on. */
	(void)tree_continue(w, r->work, limit);
	return e;
}

struct number {
	int limit;
	char *why;
};

/* Whoever has one of the numbers now: our own dead, that somebody is about to reap, or a stranger. */
static int wait_until_free(void *arg, int32_t pid)
{
	struct number *n = arg;
	char path[32], name[32], state;
	unsigned pass = 0;
	int r = 0;

	snprintf(path, sizeof path, "/proc/%" PRId32, pid);
	while (r == 0 && access(path, F_OK) == 0) {
		if (lease_process_stat(pid, NULL, NULL, &state) == 0 && state != 'Z' && state != 'X') {
			process_name(pid, name);
			snprintf(n->why, WHY_SIZE, "its number %" PRId32 " is another's now: %s", pid, name);
			return -EBUSY;
		}
		r = limit_nap(n->limit, &pass);
	}
	return r;
}

int disk_restore(const struct request *r, struct workload *w, int limit, char why[WHY_SIZE])
{
	struct owner o;
	struct criu c = {.w = w, .owner = &o, .root = w->keeper.pid, .lock = r->dir, .limit = limit};
	struct number n = {limit, why};
	int e;

	why[0] = '\0';
	c.images = openat(r->dir, IMAGE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c.images < 0)
		return errno == ENOENT ? -ENODATA : -errno;
	e = image_check(c.images, &o, wait_until_free, &n);
	if (e == 0 && o.uid != w->uid)
		e = -EINVAL;
	if (e == 0 && w->cgroup[0])
		e = cgroup_make(w->cgroup);
	if (e == 0 && w->cpuacct[0] && strcmp(w->cpuacct, w->cgroup))
		e = cgroup_make(w->cpuacct);
	e = e ? e : criu_run(&c, false, why);
	close(c.images);
	/* The same number, another birth. */
	e = e ? e : lease_process_stat(w->keeper.pid, &w->keeper.start, NULL, NULL);
	if (e < 0)
		return e;
	w->disk = false;
	w->frozen = false;
	e = record_write(r->dir, w);
	return e ? e : disk_forget(r->dir);
}
