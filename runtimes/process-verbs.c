#include "config.h"

#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int verb_failed(const char *what, int error)
{
	say("%s: %s", what, error == -ETIME ? "not in the time given" : strerror(-error));
	return EXIT_FAILED;
}

/* After a reboot nothing of it is left, whatever has its numbers now, but what is on disk. */
static bool record_of_now(const struct request *r, struct workload *w)
{
	if (!strcmp(w->boot, r->boot))
		return true;
	memcpy(w->boot, r->boot, sizeof w->boot);
	w->keeper.start = 0;
	return w->disk;
}

int take_record(const struct request *r, struct workload *ret)
{
	int e = r->dir < 0 ? -ENOENT : record_read(r->dir, ret);

	if (e == -ENOENT)
		return EXIT_ABSENT;
	if (e < 0)
		return EXIT_FAILED;
	if (strcmp(ret->id, r->id) || ret->generation != r->generation || ret->uid != r->uid) {
		say("refused: the record is of %s generation %" PRIu64 " of uid %u", ret->id, ret->generation,
		    ret->uid);
		return EXIT_FAILED;
	}
	return record_of_now(r, ret) ? EXIT_DONE : EXIT_ABSENT;
}

/* A way works when its folder can be made; says nothing about moving. */
static bool mode_works(enum mode m)
{
	char name[32], cgroup[PATH_SIZE], cpuacct[PATH_SIZE], file[PATH_SIZE + 16];
	bool works;
	int limit;

	if (m == MODE_SUBREAPER)
		return true;
	snprintf(name, sizeof name, "probe.%" PRId32, (int32_t)getpid());
	if (cgroup_place(m, name, cgroup, cpuacct) < 0 || cgroup_make(cgroup) < 0)
		return false;
	snprintf(file, sizeof file, "%s/%s", cgroup, m == MODE_CGROUP2 ? "cgroup.freeze" : "freezer.state");
	works = access(file, W_OK) == 0;
	if (limit_start(100, &limit) == 0) {
		(void)cgroup_remove(cgroup, limit);
		close(limit);
	}
	return works;
}

static bool mode_allowed(const struct request *r, enum mode m)
{
	return r->only == MODE_NONE || r->only == m;
}

int verb_capabilities(struct request *r)
{
	char why[WHY_SIZE];

	for (enum mode m = MODE_CGROUP2; m <= MODE_SUBREAPER; m++) {
		if (!mode_allowed(r, m) || !mode_works(m))
			continue;
		printf("protocol=1\nhibernate=%s\nsnapshot=no\nenter=yes\nadopts=yes\nisolation=%s\n",
		       disk_works(r, why) ? "disk" : "frozen", mode_name(m));
		if (why[0])
			printf("why=%s\n", why);
		return EXIT_DONE;
	}
	say("isolation %s can't be had here", mode_name(r->only));
	return EXIT_FAILED;
}

static bool ended(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return poll(&p, 1, 0) != 0;
}

/*
 * Moves one process that we hold a pidfd of. The number that is written was its own if it still lives
 * afterwards; else it may be another's by now: out with it.
 */
static int move_held(const char *folder, int32_t pid, int pidfd)
{
	int r = cgroup_move(folder, pid);

	if (r == 0 && ended(pidfd)) {
		cgroup_evict(folder, pid);
		return -ESRCH;
	}
	return r;
}

static int move_member(const struct workload *w, const struct member *m)
{
	int fd, e = member_open(w, m, &fd);

	if (e < 0)
		return e;
	/* Held meanwhile: who gets its number when it ends must not be moved in, since what is in there is ended with it. */
	e = move_held(w->cgroup, m->p.pid, fd);
	if (e == 0 && w->cpuacct[0])
		(void)move_held(w->cpuacct, m->p.pid, fd);
	close(fd);
	return e;
}

/* Whoever is of the workload and not in its cgroup, such as children that the keeper has already: until a
 * look finds none. */
int move_rest(const struct request *r, const struct workload *w)
{
	int e = 0;

	for (int pass = 0; e == 0 && pass < 100; pass++) {
		struct members l;
		size_t moved = 0;

		e = members_find(w, r->work, false, &l);
		for (size_t i = 0; e == 0 && i < l.n; i++) {
			if (!l.m[i].by_tree)
				continue;
			moved++;
			e = move_member(w, &l.m[i]);
			e = e == -ESRCH || e == -EPERM ? 0 : e;
		}
		members_free(&l);
		if (moved == 0)
			return e;
	}
	return e ? e : -EAGAIN;
}

static void remove_cgroups(const struct workload *w)
{
	int limit;

	if (limit_start(200, &limit) < 0)
		return;
	(void)cgroup_remove(w->cgroup, limit);
	if (w->cpuacct[0] && strcmp(w->cpuacct, w->cgroup))
		(void)cgroup_remove(w->cpuacct, limit);
	close(limit);
}

static int enter_cgroups(struct workload *w, int32_t pid, int pidfd)
{
	int e = move_held(w->cgroup, pid, pidfd);

	/* Where the CPU is counted is no condition: without it the tree is read. */
	if (e == 0 && w->cpuacct[0] && strcmp(w->cpuacct, w->cgroup) && move_held(w->cpuacct, pid, pidfd) < 0)
		w->cpuacct[0] = '\0';
	return e;
}

static int adopt_as(const struct request *r, struct workload *w, enum mode m, int pidfd)
{
	char name[64];
	int e;

	w->mode = m;
	w->cgroup[0] = w->cpuacct[0] = '\0';
	if (m == MODE_SUBREAPER)
		return record_write(r->dir, w);
	snprintf(name, sizeof name, "%s.%" PRIu64, w->id, w->generation);
	e = cgroup_place(m, name, w->cgroup, w->cpuacct);
	/* What is written first is found again by destroy, wherever we are cut off. */
	e = e ? e : record_write(r->dir, w);
	e = e ? e : cgroup_make(w->cgroup);
	if (e == 0 && w->cpuacct[0] && strcmp(w->cpuacct, w->cgroup) && cgroup_make(w->cpuacct) < 0)
		w->cpuacct[0] = '\0';
	e = e ? e : enter_cgroups(w, w->keeper.pid, pidfd);
	e = e ? e : move_rest(r, w);
	e = e ? e : record_write(r->dir, w);
	if (e < 0 && w->cgroup[0]) {
		cgroup_evacuate(w->cgroup);
		remove_cgroups(w);
	}
	return e;
}

void print_place(const struct workload *w)
{
	const char *cgroup = w->mode == MODE_CGROUP1 ? w->cpuacct : w->cgroup;

	if (cgroup[0])
		printf("cgroup=%s\n", cgroup);
	printf("tree=%" PRId32 ":%" PRIu64 "\n", w->keeper.pid, w->keeper.start);
}

static int adopt(const struct request *r, int pidfd)
{
	struct workload w = {.generation = r->generation, .uid = r->uid, .keeper = r->process};
	struct workload old;
	enum mode m = MODE_CGROUP2;
	int e = record_read(r->dir, &old);

	if (e == -EINVAL)
		return EXIT_FAILED;
	if (e == 0 && (strcmp(old.id, r->id) || old.generation != r->generation || old.uid != r->uid ||
		       old.keeper.pid != r->process.pid || old.keeper.start != r->process.start)) {
		say("refused: already holds %s generation %" PRIu64 " with pid %" PRId32, old.id,
		    old.generation, old.keeper.pid);
		return EXIT_FAILED;
	}
	memcpy(w.id, r->id, sizeof w.id);
	memcpy(w.boot, r->boot, sizeof w.boot);
	/* Done again: the same way as before, so that nobody is moved twice. */
	if (e == 0)
		m = old.mode;
	for (e = -ENOTSUP; e < 0 && m <= MODE_SUBREAPER; m++) {
		if (!mode_allowed(r, m))
			continue;
		e = adopt_as(r, &w, m, pidfd);
		if (e == -ESRCH)
			break;
	}
	if (e == -ESRCH || ended(pidfd)) {
		(void)unlinkat(r->dir, "process", 0);
		say("pid %" PRId32 " has gone meanwhile", r->process.pid);
		return EXIT_ABSENT;
	}
	if (e < 0)
		return verb_failed("can't adopt", e);
	printf("pid=%" PRId32 "\npid_start=%" PRIu64 "\n", w.keeper.pid, w.keeper.start);
	print_place(&w);
	return EXIT_DONE;
}

int verb_create(struct request *r)
{
	int pidfd, e, status;

	if (!r->process.pid) {
		say("create needs a process: LEASE_PID and LEASE_PID_START");
		return EXIT_FAILED;
	}
	if (r->dir < 0) {
		say("create needs LEASE_DIR");
		return EXIT_FAILED;
	}
	if (r->process.pid == getppid() || r->process.pid == getpid() || r->process.pid == 1) {
		say("pid %" PRId32 " can't be a workload", r->process.pid);
		return EXIT_FAILED;
	}
	e = lease_process_open(&r->process, r->uid, &pidfd);
	if (e == -ESRCH) {
		say("pid %" PRId32 " has gone", r->process.pid);
		return EXIT_ABSENT;
	}
	if (e == -EPERM) {
		say("refused: pid %" PRId32 " isn't of uid %u", r->process.pid, r->uid);
		return EXIT_FAILED;
	}
	if (e < 0)
		return verb_failed("pidfd_open", e);
	status = adopt(r, pidfd);
	close(pidfd);
	return status;
}

/* frozen, running; when nobody lives, disk or absent. */
static const char *state_of(const struct workload *w, const struct members *l, int dir)
{
	size_t running = 0;

	if (l->n == 0)
		return w->disk && disk_has(dir) ? "disk" : "absent";
	if (w->mode != MODE_SUBREAPER)
		return cgroup_frozen(w) ? "frozen" : "running";
	for (size_t i = 0; i < l->n; i++)
		running += !l->m[i].keeper && !member_stopped(&l->m[i]) && l->m[i].state != 'D';
	return w->frozen && running == 0 ? "frozen" : "running";
}

int verb_stat(struct request *r)
{
	struct workload w;
	struct members l;
	int status = take_record(r, &w), e;

	if (status == EXIT_DONE) {
		e = members_find(&w, r->work, true, &l);
		if (e == 0 && l.n > 0) {
			int64_t cpu = w.mode == MODE_SUBREAPER ? -1 : cgroup_cpu_usec(&w);

			printf("state=%s\nmemory=%" PRId64 "\n", state_of(&w, &l, r->dir), members_memory(&l));
			if (cpu >= 0)
				printf("cpu_usec=%" PRId64 "\n", cpu);
			print_place(&w);
		} else if (e == 0 && w.disk && disk_has(r->dir)) {
			puts("state=disk");
		} else {
			status = e < 0 ? verb_failed("stat", e) : EXIT_ABSENT;
		}
		members_free(&l);
	}
	if (status == EXIT_ABSENT)
		puts("state=absent");
	return status;
}

/* The record, and somebody alive. */
static int take_living(const struct request *r, struct workload *w)
{
	struct members l;
	int status = take_record(r, w), e;

	if (status != EXIT_DONE)
		return status;
	e = members_find(w, r->work, true, &l);
	if (e < 0)
		status = verb_failed("can't see who belongs to it", e);
	else if (l.n == 0)
		status = EXIT_ABSENT;
	members_free(&l);
	return status;
}

int verb_snapshot(struct request *r)
{
	(void)r;
	say("process: no snapshots");
	return EXIT_FAILED;
}

static int list_one(const struct request *r, const char *name, int dir)
{
	struct workload w;
	struct members l;
	int e = record_read(dir, &w);
	const char *state = "absent";

	if (e == -ENOENT)
		return 0;
	if (e < 0) {
		say("%s: its record can't be read", name);
		return e;
	}
	if (record_of_now(r, &w)) {
		e = members_find(&w, r->work, false, &l);
		state = state_of(&w, &l, dir);
		members_free(&l);
	}
	if (e == 0)
		printf("workload=%s:%" PRIu64 ":%s\n", w.id, w.generation, state);
	return e;
}

int verb_list(struct request *r)
{
	DIR *d = r->work ? opendir(r->work) : NULL;
	struct dirent *e;
	int error = 0;

	if (!d)
		return r->work && errno == ENOENT ? EXIT_DONE
						  : verb_failed("LEASE_WORK", r->work ? -errno : -ENOENT);
	while ((errno = 0, e = readdir(d))) {
		int dir, one;

		if (e->d_name[0] == '.')
			continue;
		dir = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir < 0) {
			/* A stray file is no workload. */
			error = errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? error : -errno;
			continue;
		}
		one = list_one(r, e->d_name, dir);
		error = one < 0 ? one : error;
		close(dir);
	}
	if (errno)
		error = -errno;
	closedir(d);
	/* Fewer than there are would be taken for all. */
	return error < 0 ? verb_failed("list", error) : EXIT_DONE;
}

int verb_enter(struct request *r)
{
	struct workload w;
	int pidfd, e, status = take_living(r, &w);

	if (status != EXIT_DONE || !r->process.pid || w.mode == MODE_SUBREAPER)
		return status;
	e = lease_process_open(&r->process, r->uid, &pidfd);
	if (e < 0)
		return verb_failed("enter", e);
	e = enter_cgroups(&w, r->process.pid, pidfd);
	close(pidfd);
	return e < 0 ? verb_failed("enter", e) : EXIT_DONE;
}
