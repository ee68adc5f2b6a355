/*
 * tests/sim/test_kernel: the simulated machine against the real kernel. A program of calls is drawn from a
 * seed and made twice, in a folder of the real file system and in one of the machine's: the same results, the
 * same errors, the same inotify events in the same order. It says where the two part.
 *
 *	test_kernel [FIRST [COUNT [CALLS]]]
 */
#include "config.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/sim/kernel-calls.h"
#include "tests/sim/kernel.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static bool both(int (*what)(void *arg), uint64_t seed, int calls)
{
	static char lines[2][LINES][LINE];
	const struct kernel_hooks none = {0};
	struct run real = {
	    .random = seed, .calls = calls, .uid = geteuid(), .gid = getegid(), .lines = lines[0]};
	struct run ours = {.random = seed,
			   .calls = calls,
			   .uid = geteuid(),
			   .gid = getegid(),
			   .lines = lines[1],
			   .simulated = true,
			   .top = "/sim/run/base/top"};
	const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm"
			   : getenv("TMPDIR")            ? getenv("TMPDIR")
							 : "/tmp";
	char dir[200], top[210];
	int status, at = 0;

	(void)snprintf(dir, sizeof(dir), "%s/sim-kernel-XXXXXX", base);
	(void)snprintf(top, sizeof(top), "%s/top", mkdtemp(dir) ? dir : "");
	if (chmod(dir, 0755) < 0 || mkdir(top, 0755) < 0) {
		perror(top);
		exit(2);
	}
	real.top = top;
	(void)what(&real);
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	kernel_boot(seed, &none);
	kernel_mkdirs("/sim/run/base", geteuid(), 0755);
	kernel_mkdirs("/sim/run/base/top", geteuid(), 0755);
	kernel_as(geteuid());
	(void)kernel_run(what, &ours, &status);
	kernel_free();

	while (at < real.n && at < ours.n && strcmp(lines[0][at], lines[1][at]) == 0)
		at++;
	if (at == real.n && at == ours.n)
		return true;
	for (int i = at > 25 ? at - 25 : 0; i < at; i++)
		printf("        %s\n", lines[0][i]);
	for (int i = at; i < at + 6; i++)
		printf("real    %s\nours    %s\n", i < real.n ? lines[0][i] : "-",
		       i < ours.n ? lines[1][i] : "-");
	printf("seed %llu: the machine parts from the kernel at line %d\n", (unsigned long long)seed, at);
	return false;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
		 count = argc > 2 ? strtoull(argv[2], NULL, 10) : 250;
	int calls = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 500;

	(void)umask(022);
	for (uint64_t seed = first; seed < first + count; seed++)
		if (!both(program, seed, calls))
			return 1;
	if (!both(overflow, first, 0))
		return 1;
	printf("%llu programs of %d calls: no difference\n", (unsigned long long)count, calls);
	return 0;
}
