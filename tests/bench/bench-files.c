/*
 * bench-files: lease/ against the bare system calls it is made of, in CPU.
 *
 *	lock-create-FS	lease_create against openat(O_TMPFILE), write, fchmod, linkat, close, on tmpfs and on a disk. 1.10:
 *			a library that costs more than a tenth of the kernel's own work would be a reason to go round it.
 *			One call more is ours: getrlimit, since a write beyond RLIMIT_FSIZE would kill the login that
 *			made the lock.
 *	beat		lease_touch against the same five calls bare. The bare utimensat stands beside it: what being
 *			sure costs (that the inode touched is a regular file and still has its name) is told, not hidden.
 *	...-calls	the same without noise.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lease/tree.h"
#include "tests/bench/bench.h"

#define BODY 300 /* bytes of a usual record */
#define NAMES_MAX 2000

static char names[NAMES_MAX][LEASE_NAME_SIZE];
static char body[BODY];

struct place {
	int dir;
	int n;
};

static void raw_create(int dir, const char *name)
{
	char proc[40];
	int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);

	(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, body, BODY) != BODY || fchmod(fd, 0644) < 0 ||
	    linkat(AT_FDCWD, proc, dir, name, AT_SYMLINK_FOLLOW) < 0 || close(fd) < 0)
		bench_fail("a lock made by hand", errno);
}

static void our_create(int dir, const char *name)
{
	int r = lease_create(dir, name, body, BODY);

	if (r < 0)
		bench_fail("lease_create", r);
}

static double create_all(const struct place *p, void (*create)(int, const char *))
{
	int64_t from = bench_cpu(), took;

	for (int i = 0; i < p->n; i++)
		create(p->dir, names[i]);
	took = bench_cpu() - from;
	for (int i = 0; i < p->n; i++)
		(void)unlinkat(p->dir, names[i], 0);
	return (double)took / p->n / 1000;
}

static double run_raw_create(void *arg)
{
	return create_all(arg, raw_create);
}

static double run_our_create(void *arg)
{
	return create_all(arg, our_create);
}

static void raw_same_calls(int dir, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_BENEATH };
	const int flags = AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
	struct statx x;
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));

	if (fd < 0 || statx(fd, "", flags | AT_EMPTY_PATH, STATX_BASIC_STATS, &x) < 0 ||
	    utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW) < 0 || statx(dir, name, flags, STATX_BASIC_STATS, &x) < 0 ||
	    close(fd) < 0)
		bench_fail("a beat by hand", errno);
}

static void raw_touch(int dir, const char *name)
{
	if (utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW) < 0)
		bench_fail("utimensat", errno);
}

static void our_touch(int dir, const char *name)
{
	int r = lease_touch(dir, name, NULL);

	if (r < 0)
		bench_fail("lease_touch", r);
}

static double beat(const struct place *p, void (*touch)(int, const char *))
{
	int64_t from = bench_cpu();

	for (int i = 0; i < p->n; i++)
		touch(p->dir, names[0]);
	return (double)(bench_cpu() - from) / p->n / 1000;
}

static double run_raw_touch(void *arg)
{
	return beat(arg, raw_touch);
}

static double run_same_calls(void *arg)
{
	return beat(arg, raw_same_calls);
}

static double run_our_touch(void *arg)
{
	return beat(arg, our_touch);
}

static double run_getppid(void *arg)
{
	int64_t from = bench_cpu();

	(void)arg;
	for (int i = 0; i < 10000; i++)
		(void)syscall(SYS_getppid);
	return (double)(bench_cpu() - from) / 10000 / 1000;
}

static void one_raw_create(void *arg)
{
	raw_create(((struct place *)arg)->dir, names[0]);
}

static void one_our_create(void *arg)
{
	our_create(((struct place *)arg)->dir, names[0]);
}

static void one_our_touch(void *arg)
{
	our_touch(((struct place *)arg)->dir, names[0]);
}

static void creates(const char *path, int n)
{
	struct place p = { .dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .n = n };
	struct bench_variant v[] = { { "raw", run_raw_create, &p }, { "lease_create", run_our_create, &p },
				     { "getppid", run_getppid, NULL } };
	struct bench_figures f;
	char name[64];

	if (p.dir < 0)
		bench_fail(path, errno);
	bench_rounds(v, 3, bench_count(15, 1), &f);
	bench_raw("a lock on %s: raw calls %.2f us, lease_create %.2f us; getppid %.2f us", bench_fs_name(path),
		  bench_median(&f, 0), bench_median(&f, 1), bench_median(&f, 2));
	(void)snprintf(name, sizeof(name), "lock-create-%s", bench_fs_name(path));
	bench_aim(name, bench_ratio(&f, 1, 0), "x the raw calls", 1.10);
	close(p.dir);
}

int main(void)
{
	struct place p = { .n = bench_count(5000, 50) };
	struct bench_variant v[] = { { "utimensat", run_raw_touch, &p }, { "same calls", run_same_calls, &p },
				     { "lease_touch", run_our_touch, &p }, { "getppid", run_getppid, NULL } };
	struct bench_figures f;
	int raw, ours;

	bench_begin("bench-files");
	for (int i = 0; i < NAMES_MAX; i++) {
		char id[LEASE_ID_SIZE];

		lease_id_make(id);
		if (lease_name_make(names[i], "cli", "bench", id) < 0)
			bench_fail("lease_name_make", 0);
	}
	memset(body, 'x', sizeof(body));
	body[0] = '#';
	creates(bench_dir, bench_count(NAMES_MAX, 20));
	if (bench_disk[0])
		creates(bench_disk, bench_count(500, 20));
	else
		bench_raw("a lock on a disk: skipped, /var/tmp is none");

	p.dir = open(bench_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p.dir < 0)
		bench_fail(bench_dir, errno);
	raw = bench_calls(one_raw_create, &p);
	(void)unlinkat(p.dir, names[0], 0);
	ours = bench_calls(one_our_create, &p);
	(void)unlinkat(p.dir, names[0], 0);
	if (raw < 0 || ours < 0)
		bench_raw("system calls of a lock: skipped, ptrace is not allowed");
	else
		bench_aim("lock-create-calls", ours, "calls", raw + 1);

	our_create(p.dir, names[0]);
	bench_rounds(v, 4, bench_count(15, 1), &f);
	bench_raw("a beat: utimensat alone %.2f us, the same five calls %.2f us, lease_touch %.2f us; getppid %.2f us",
		  bench_median(&f, 0), bench_median(&f, 1), bench_median(&f, 2), bench_median(&f, 3));
	bench_raw("a beat that is sure against one that is not: %.2f x utimensat alone", bench_ratio(&f, 2, 0));
	bench_aim("beat", bench_ratio(&f, 2, 1), "x the same calls", 1.10);
	ours = bench_calls(one_our_touch, &p);
	if (ours < 0)
		bench_raw("system calls of a beat: skipped, ptrace is not allowed");
	else
		bench_aim("beat-calls", ours, "calls", 5);
	return 0;
}
