#include "config.h"

#include "tests/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

extern char **environ;

bool bench_smoke, bench_big, bench_keeps_root;
char bench_dir[256], bench_disk[256], bench_build[256];
static const char *bench_name = "bench";
static pid_t bench_pid;

void bench_fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s%s%s\n", bench_name, what, error ? ": " : "", error ? strerror(error < 0 ? -error : error) : "");
	exit(1);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void end(void)
{
	if (getpid() != bench_pid)
		return;
	if (bench_dir[0])
		(void)nftw(bench_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (bench_disk[0])
		(void)nftw(bench_disk, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static long fs_type(const char *path)
{
	struct statfs s;

	return statfs(path, &s) < 0 ? 0 : (long)s.f_type;
}

const char *bench_fs_name(const char *path)
{
	switch (fs_type(path)) {
	case TMPFS_MAGIC: return "tmpfs";
	case EXT4_SUPER_MAGIC: return "ext4";
	case XFS_SUPER_MAGIC: return "xfs";
	case BTRFS_SUPER_MAGIC: return "btrfs";
	case OVERLAYFS_SUPER_MAGIC: return "overlay";
	default: return "other";
	}
}

static void folder(char to[256], const char *in)
{
	if (snprintf(to, 256, "%s/lease-bench.XXXXXX", in) >= 256 || !mkdtemp(to))
		bench_fail(in, errno ? errno : ENAMETOOLONG);
}

/* As nobody, where nobody finds what we built; else root stays root, which --user allows. */
static void drop(void)
{
	const struct passwd *pw = geteuid() == 0 && !bench_keeps_root ? getpwnam("nobody") : NULL;
	char klease[300];
	bool reach;

	if (!pw)
		return;
	(void)snprintf(klease, sizeof(klease), "%s/klease/klease", bench_build);
	if (setgroups(0, NULL) < 0 || setegid(pw->pw_gid) < 0 || seteuid(pw->pw_uid) < 0)
		bench_fail("cannot become nobody", errno);
	reach = faccessat(AT_FDCWD, klease, X_OK, AT_EACCESS) == 0;
	if (seteuid(0) < 0 || setegid(0) < 0)
		bench_fail("cannot become root again", errno);
	if (!reach)
		return;
	if (chown(bench_dir, pw->pw_uid, pw->pw_gid) < 0 || (bench_disk[0] && chown(bench_disk, pw->pw_uid, pw->pw_gid) < 0) ||
	    setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 || setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
		bench_fail("cannot become nobody", errno);
	/* After a change of ids /proc/self is root's, and nobody may trace us. */
	(void)prctl(PR_SET_DUMPABLE, 1);
}

static bool env_is_set(const char *key)
{
	const char *v = getenv(key);

	return v && *v && strcmp(v, "0") != 0;
}

void bench_begin(const char *name)
{
	const char *build = getenv("BENCH_BUILD");
	const char *mem = fs_type("/dev/shm") == TMPFS_MAGIC && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	bench_name = name;
	bench_pid = getpid();
	bench_smoke = env_is_set("BENCH_SMOKE");
	bench_big = env_is_set("BENCH_BIG");
	if (!build || build[0] != '/' || strlen(build) >= sizeof(bench_build))
		bench_fail("BENCH_BUILD must name the build tree: run it by `make bench BENCH=NAME`", 0);
	(void)snprintf(bench_build, sizeof(bench_build), "%s", build);
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	(void)atexit(end);
	folder(bench_dir, mem);
	if (fs_type("/var/tmp") != TMPFS_MAGIC)
		folder(bench_disk, "/var/tmp");
	drop();
	if (chdir("/") < 0)
		bench_fail("/", errno);
	/* What a daemon of ours leaves behind is ours to wait for. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	printf("# %s: uid %u, memory on %s, disk on %s\n", name, geteuid(), bench_fs_name(bench_dir),
	       bench_disk[0] ? bench_fs_name(bench_disk) : "nothing");
}

int bench_count(int full, int little)
{
	return bench_smoke ? little : full;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t) < 0)
		bench_fail("clock_gettime", errno);
	return t.tv_sec * LEASE_NS_PER_S + t.tv_nsec;
}

int64_t bench_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t bench_wall(void)
{
	return clock_ns(CLOCK_REALTIME);
}

int64_t bench_cpu(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t bench_cpu_of(pid_t pid)
{
	clockid_t id;
	int r = clock_getcpuclockid(pid, &id);

	if (r != 0)
		bench_fail("clock_getcpuclockid", r);
	return clock_ns(id);
}

void bench_until(int64_t mono)
{
	struct timespec t = { .tv_sec = (time_t)(mono / LEASE_NS_PER_S), .tv_nsec = (long)(mono % LEASE_NS_PER_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

uint32_t bench_random(uint32_t below)
{
	uint32_t v;

	if (getrandom(&v, sizeof(v), 0) != (ssize_t)sizeof(v))
		bench_fail("getrandom", errno);
	return (uint32_t)(((uint64_t)v * below) >> 32);
}

void bench_rounds(const struct bench_variant *v, int n, int rounds, struct bench_figures *ret)
{
	int order[BENCH_VARIANTS_MAX];

	ret->rounds = rounds;
	ret->n = n;
	/* Round -1 warms caches and is thrown away. */
	for (int round = -1; round < rounds; round++) {
		for (int i = 0; i < n; i++)
			order[i] = i;
		for (int i = n - 1; i > 0; i--) {
			int j = (int)bench_random((uint32_t)i + 1), swap = order[i];

			order[i] = order[j];
			order[j] = swap;
		}
		for (int i = 0; i < n; i++)
			ret->cost[round < 0 ? 0 : round][order[i]] = v[order[i]].run(v[order[i]].arg);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_percentile(double *values, int n, double share)
{
	int at = (int)(share * (n - 1) + 0.5);

	if (n < 1)
		bench_fail("nothing was measured", 0);
	qsort(values, (size_t)n, sizeof(*values), by_value);
	return values[at];
}

double bench_median(const struct bench_figures *f, int variant)
{
	double v[BENCH_ROUNDS_MAX];

	for (int i = 0; i < f->rounds; i++)
		v[i] = f->cost[i][variant];
	return bench_percentile(v, f->rounds, 0.5);
}

double bench_ratio(const struct bench_figures *f, int variant, int to)
{
	double v[BENCH_ROUNDS_MAX];

	for (int i = 0; i < f->rounds; i++)
		v[i] = f->cost[i][variant] / f->cost[i][to];
	return bench_percentile(v, f->rounds, 0.5);
}

void bench_raw(const char *fmt, ...)
{
	va_list ap;

	fputs("  ", stdout);
	va_start(ap, fmt);
	(void)vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void bench_aim(const char *name, double value, const char *unit, double limit)
{
	int digits = limit > 0 && limit < 0.1 ? 5 : value < 100 ? 2 : 0;

	printf("aim %s: %.*f %s (<= %g) %s\n", name, digits, value, unit, limit, value <= limit ? "met" : "missed");
}

static pid_t spawn(const char *const argv[], int in, int out, int err, bool session)
{
	char *copy[BENCH_ARGV_MAX] = { NULL }; /* posix_spawn's argv is not const, though it changes nothing */
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	pid_t pid;
	int r;

	for (size_t i = 0; argv[i] && i < BENCH_ARGV_MAX - 1; i++)
		memcpy(&copy[i], &argv[i], sizeof(copy[i]));
	if (posix_spawn_file_actions_init(&fa) != 0 ||
	    (in >= 0 && posix_spawn_file_actions_adddup2(&fa, in, STDIN_FILENO) != 0) ||
	    (out >= 0 && posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO) != 0) ||
	    (err >= 0 && posix_spawn_file_actions_adddup2(&fa, err, STDERR_FILENO) != 0))
		bench_fail("posix_spawn_file_actions", ENOMEM);
	if (posix_spawnattr_init(&attr) != 0 || (session && posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID) != 0))
		bench_fail("posix_spawnattr", ENOMEM);
	r = posix_spawnp(&pid, argv[0], &fa, &attr, copy, environ);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&fa);
	if (r != 0)
		bench_fail(argv[0], r);
	return pid;
}

pid_t bench_spawn(const char *const argv[], int out, int err)
{
	return spawn(argv, -1, out, err, false);
}

pid_t bench_serve(const char *const argv[], int in, int out, int err)
{
	return spawn(argv, in, out, err, true);
}

int64_t bench_run(const char *const argv[], const char *out, int *ret_status)
{
	int fd = open(out ? out : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), status;
	struct rusage ru;
	pid_t pid;

	if (fd < 0)
		bench_fail(out, errno);
	pid = bench_spawn(argv, fd, -1);
	close(fd);
	while (wait4(pid, &status, 0, &ru) < 0)
		if (errno != EINTR)
			bench_fail("wait4", errno);
	if (ret_status)
		*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * LEASE_NS_PER_S + (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
}
