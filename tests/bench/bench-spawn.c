/*
 * bench-spawn: how long a command waits for its lease: from the start of `klease run` to its main(), against a bare
 * posix_spawn of the same stub, stamped by the stub itself, on the wall clock: it is a person's wait.
 *
 *	spawn-to-command  Four programs start one after the other where the floor starts one: klease (with its libraries,
 *			some two floors), its keeper (a fork), the runtime's `create`, the command: 5 floors. Between
 *			them lie 9 hand-overs to a sleeping process (request to watcher, watcher to actor, the runtime's
 *			end to actor, actor to watcher, state file to klease, klease to keeper, and what wakes on the way),
 *			some 0.3 of a floor each: 3 floors; and 3 commits of the registry, a lock, 3 state files: 2. So 10.
 *	spawn-large	what runs the daemon's programs (os/proc.h), from the call to main(), in a process with 500 MB of its own
 *			against the same in a small one: 1.3. A fork would copy its page tables, some 13 ms; told beside it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/proc.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"

struct way {
	const char *argv[BENCH_ARGV_MAX];
	const char *stamps;
	int n;
};

static int64_t stamped(const char *path)
{
	char buf[128] = "", *blank;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (n <= 0 || !(blank = strchr(buf, ' ')))
		bench_fail("the command left no stamp", 0);
	close(fd);
	(void)unlink(path);
	return strtoll(blank + 1, NULL, 10);
}

/* The median of the round: one start that the machine held up is no news. */
static double start(void *arg)
{
	const struct way *way = arg;
	double us[64];

	for (int i = 0; i < way->n; i++) {
		int64_t from = bench_now();
		int status;

		(void)bench_run(way->argv, NULL, &status);
		if (status != 0)
			bench_fail(way->argv[0], 0);
		us[i] = (double)(stamped(way->stamps) - from) / 1000;
	}
	return bench_percentile(us, way->n, 0.5);
}

static void measure(bool on_disk)
{
	char klease[300], stub[300], stamps[400];
	struct bench_figures f;
	struct world w;
	int n = bench_count(10, 1);

	world_open(&w, "", on_disk);
	(void)world_start(&w);
	(void)snprintf(klease, sizeof(klease), "%s/klease/klease", bench_build);
	(void)snprintf(stub, sizeof(stub), "%s/tests/bench/stub", bench_build);
	(void)snprintf(stamps, sizeof(stamps), "%s/spawned", w.dir);
	struct way bare = { { stub, "stamp", stamps, "x", NULL }, stamps, n };
	struct way run = { { klease, "--user", "run", "--", stub, "stamp", stamps, "x", NULL }, stamps, n };
	struct bench_variant v[] = { { "posix_spawn", start, &bare }, { "klease run", start, &run } };

	bench_rounds(v, 2, bench_count(15, 1), &f);
	bench_raw("start to main(), registry on %s: posix_spawn %.0f us, klease run %.0f us, %.1f x", bench_fs_name(w.dir),
		  bench_median(&f, 0), bench_median(&f, 1), bench_ratio(&f, 1, 0));
	if (!on_disk)
		bench_aim("spawn-to-command", bench_ratio(&f, 1, 0), "x a bare posix_spawn", 10);
	world_close(&w);
}

struct caller {
	size_t size; /* memory of its own */
	bool fork;
	const char *stub, *stamps;
	int n;
};

static void run_to_end(const struct caller *c)
{
	char stub[300], stamps[400], verb[] = "stamp", tag[] = "x";
	char *argv[] = { stub, verb, stamps, tag, NULL }, *envp[] = { NULL };
	const struct proc_options o = { .path = stub, .argv = argv, .envp = envp, .cwd = -1, .out_max = 64 };
	struct proc p;
	int r;

	(void)snprintf(stub, sizeof(stub), "%s", c->stub);
	(void)snprintf(stamps, sizeof(stamps), "%s", c->stamps);
	if (c->fork) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)execve(stub, argv, envp);
			_exit(1);
		}
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return;
	}
	r = proc_start(&p, &o, INT64_MAX);
	if (r < 0)
		bench_fail("proc_start", r);
	while (!proc_step(&p, bench_now())) {
		struct pollfd fd = { .fd = p.pidfd, .events = POLLIN };

		(void)poll(&fd, 1, 10);
	}
	proc_free(&p);
}

static double call(void *arg)
{
	const struct caller *c = arg;
	void *mem = c->size == 0 ? NULL : mmap(NULL, c->size, PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	double us[64];

	if (mem == MAP_FAILED)
		bench_fail("mmap", errno);
	for (int i = 0; i < c->n; i++) {
		int64_t from = bench_now();

		run_to_end(c);
		us[i] = (double)(stamped(c->stamps) - from) / 1000;
	}
	if (mem)
		(void)munmap(mem, c->size);
	return bench_percentile(us, c->n, 0.5);
}

static void from_large(void)
{
	const size_t large = (size_t)bench_count(500, 5) << 20;
	const int n = bench_count(15, 1);
	char stub[300], stamps[400];
	struct bench_figures f;

	(void)snprintf(stub, sizeof(stub), "%s/tests/bench/stub", bench_build);
	(void)snprintf(stamps, sizeof(stamps), "%s/called", bench_dir);
	struct caller small = { 0, false, stub, stamps, n }, big = { large, false, stub, stamps, n };
	struct caller forks = { large, true, stub, stamps, n };
	struct bench_variant v[] = { { "small", call, &small }, { "large", call, &big }, { "fork", call, &forks } };

	bench_rounds(v, 3, bench_count(9, 1), &f);
	bench_raw("a program from a small process %.0f us, from one of 500 MB %.0f us; by fork(2) from that %.0f us",
		  bench_median(&f, 0), bench_median(&f, 1), bench_median(&f, 2));
	bench_aim("spawn-large", bench_ratio(&f, 1, 0), "x from a small process", 1.3);
}

int main(void)
{
	bench_begin("bench-spawn");
	measure(false);
	from_large();
	/* What three commits to a disk add is the disk's: told, with no limit. */
	if (bench_disk[0] && !bench_smoke)
		measure(true);
	return 0;
}
