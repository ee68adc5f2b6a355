#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lease.h"
#include "tests/bench/bench.h"
#include "tests/bench/mass.h"
#include "tests/bench/world.h"

#define TTL (bench_count(10000, 1500) * LEASE_NS_PER_MS)
#define AT_A_TIME 8
#define GIVE_UP (300 * LEASE_NS_PER_S)

static int open_folder(const char *in, const char *name, bool make)
{
	char path[600];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", in, name);
	if (make && mkdir(path, 0755) < 0)
		bench_fail(path, errno);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		bench_fail(path, errno);
	return fd;
}

/* On tmpfs a folder's size is that of its names. */
static int64_t size_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		bench_fail("fstat", errno);
	return st.st_size;
}

static double until_empty(const int *fds, int n, int64_t empty, int64_t deadline)
{
	for (;;) {
		bool left = false;

		for (int i = 0; i < n; i++)
			left = left || size_of(fds[i]) > empty;
		if (!left)
			return (double)(bench_now() - deadline) / 1e9;
		if (bench_now() > deadline + GIVE_UP)
			bench_fail("leases that had run out were not ended", 0);
		bench_until(bench_now() + LEASE_NS_PER_MS);
	}
}

static int stamps(const struct world *w)
{
	char path[400];
	int n = 0, c;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/home/stamps", w->dir);
	f = fopen(path, "re");
	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		(void)fclose(f);
	return n;
}

bool mass_measure(int n, struct mass *ret)
{
	const struct world_times t = { .ttl = TTL, .renew_grace = 3600 * LEASE_NS_PER_S };
	struct world_lease *l = calloc((size_t)n, sizeof(*l));
	struct timespec stamp[2];
	int64_t beat, deadline, empty;
	volatile bool *keep;
	struct world w;
	pid_t keeper;
	int fds[2];

	if (!l)
		bench_fail("calloc", ENOMEM);
	world_open(&w, "[defaults]\nrenew_grace = 1h\n", false);
	if (strcmp(bench_fs_name(w.dir), "tmpfs") != 0) {
		free(l);
		return false;
	}
	world_fill(&w, &t, n, l);
	keep = world_flags(n);
	for (int i = 0; i < n; i++)
		keep[i] = true;
	keeper = world_keep(&w, l, n, keep, TTL / 5);
	(void)world_start(&w);
	world_settle(&w);
	fds[0] = open_folder(w.paths.notices, "active", false);
	fds[1] = open_folder(w.paths.notices, ".reap", false);
	empty = size_of(fds[1]);
	world_child_end(keeper);
	/* The last beat of all in one instant: a stamp between the last look and the next counts as it is. */
	beat = bench_wall();
	stamp[0] = stamp[1] = (struct timespec){ .tv_sec = (time_t)(beat / LEASE_NS_PER_S),
						 .tv_nsec = (long)(beat % LEASE_NS_PER_S) };
	deadline = bench_now() + TTL + LEASE_TICK;
	for (int i = 0; i < n; i++)
		if (utimensat(w.active, l[i].name, stamp, AT_SYMLINK_NOFOLLOW) < 0)
			bench_fail("a lease ended before its time", errno);
	bench_until(deadline - 50 * LEASE_NS_PER_MS);
	world_lives(&w, n, "just before they run out");
	bench_until(deadline);
	ret->told = until_empty(fds, 1, empty, deadline);
	ret->archived = until_empty(fds, 2, empty, deadline);
	bench_until(bench_now() + 100 * LEASE_NS_PER_MS);
	if (stamps(&w) != n)
		bench_fail("not each of them was destroyed once", 0);
	close(fds[0]);
	close(fds[1]);
	world_close(&w);
	free(l);
	return true;
}

static double renames(const struct world *w, int n)
{
	int from = open_folder(w->dir, "from", true), to = open_folder(w->dir, "to", true);
	int64_t began;
	char name[64];
	double took;

	for (int i = 0; i < n; i++) {
		int fd;

		(void)snprintf(name, sizeof(name), "lock-cli-bench-kls-%010d", i);
		fd = openat(from, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0)
			bench_fail(name, errno);
		close(fd);
	}
	began = bench_now();
	for (int i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "lock-cli-bench-kls-%010d", i);
		if (renameat(from, name, to, name) < 0)
			bench_fail("renameat", errno);
	}
	took = (double)(bench_now() - began) / 1e9;
	close(from);
	close(to);
	return took;
}

static double starts(int n)
{
	char stub[300];
	const char *argv[] = { stub, "nothing", NULL };
	int64_t began = bench_now();
	int running = 0;

	(void)snprintf(stub, sizeof(stub), "%s/tests/bench/stub", bench_build);
	for (int i = 0; i < n || running > 0;) {
		if (i < n && running < AT_A_TIME) {
			(void)bench_spawn(argv, -1, -1);
			running++;
			i++;
		} else if (waitpid(-1, NULL, 0) > 0) {
			running--;
		}
	}
	return (double)(bench_now() - began) / 1e9;
}

void mass_floors(int n, struct mass *ret)
{
	struct world w;

	world_open(&w, "", false);
	ret->renames = renames(&w, n);
	ret->starts = starts(n);
	world_close(&w);
}
