/* What is looked at in a world from outside: who lives, what the daemon holds; and who keeps its leases alive. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/tree.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"

static int count_one(void *arg, const char *name)
{
	int *n = arg;

	*n += lease_name_lock_id(name) != NULL;
	return 0;
}

int world_living(const struct world *w)
{
	int n = 0, r = lease_list(w->active, count_one, &n);

	if (r < 0)
		bench_fail("active/", r);
	return n;
}

void world_lives(const struct world *w, int n, const char *when)
{
	int is = world_living(w);
	char what[160];

	(void)snprintf(what, sizeof(what), "%s: %d leases live, and %d should", when, is, n);
	if (is != n)
		bench_fail(what, 0);
	bench_raw("%s: all %d leases that should live do", when, n);
}

int64_t world_memory(const struct world *w)
{
	return (bench_of_proc(w->watcher, "status", "RssAnon:") + bench_of_proc(w->actor, "status", "RssAnon:")) * 1024;
}

int64_t world_written(const struct world *w)
{
	return bench_written(w->watcher) + bench_written(w->actor);
}

int64_t world_registry_size(const struct world *w)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	int64_t sum = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char path[600];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s%s", w->paths.db, ends[i]);
		if (stat(path, &st) == 0)
			sum += (int64_t)st.st_blocks * 512;
	}
	return strcmp(bench_fs_name(w->dir), "tmpfs") == 0 ? sum : 0;
}

volatile bool *world_flags(int n)
{
	bool *p = mmap(NULL, (size_t)n * sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		bench_fail("mmap", errno);
	return p;
}

pid_t world_child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		bench_fail("fork", errno);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setsid();
	}
	return pid;
}

void world_child_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

pid_t world_keep(const struct world *w, const struct world_lease *l, int n, const volatile bool *keep, int64_t every)
{
	int64_t at = bench_now();
	pid_t pid = world_child();

	if (pid > 0)
		return pid;
	for (;; at += every) {
		bench_until(at);
		for (int i = 0; i < n; i++)
			if (keep[i])
				world_touch(w, &l[i]);
	}
}

/* What the daemon says of it. */
static void say_why(const struct world *w, const char *id)
{
	char path[600], buf[4096] = "";
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", w->paths.state, id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, buf, sizeof(buf) - 1) > 0)
		fprintf(stderr, "%s\n", buf);
}

void world_touch(const struct world *w, const struct world_lease *l)
{
	int r = lease_touch(w->active, l->name, NULL);

	if (r < 0) {
		say_why(w, l->id);
		bench_fail("a lease is gone that should live", r);
	}
}
