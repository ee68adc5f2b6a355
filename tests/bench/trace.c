/* The gates of bench.h that have no noise: system calls counted by ptrace(2), context switches as the kernel counts them. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include "tests/bench/bench.h"

static bool at_entry(pid_t pid, uint64_t *nr)
{
	struct ptrace_syscall_info si;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(si), &si) < 0 || si.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	*nr = si.entry.nr;
	return true;
}

/* The child frames what is counted with two getppid calls, which nothing else here makes. */
int bench_calls(void (*fn)(void *arg), void *arg)
{
	int status, count = 0, frames = 0;
	uint64_t nr;
	pid_t pid = fork();

	if (pid < 0)
		bench_fail("fork", errno);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 || raise(SIGSTOP) != 0)
			_exit(1);
		(void)syscall(SYS_getppid);
		fn(arg);
		(void)syscall(SYS_getppid);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == SIGSTOP)
			(void)ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD);
		else if (at_entry(pid, &nr))
			nr == SYS_getppid ? frames++ : (count += frames == 1);
		if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0)
			break;
	}
	return frames == 2 ? count : -1;
}

static volatile sig_atomic_t alarmed;

static void on_alarm(int sig)
{
	(void)sig;
	alarmed = 1;
}

int bench_trace(pid_t pid, int64_t length, unsigned nr[BENCH_CALLS_MAX])
{
	struct sigaction sa = { .sa_handler = on_alarm };
	/* Again and again at the end: one that comes just before waitpid interrupts nothing. */
	struct itimerval t = { .it_value = { length / LEASE_NS_PER_S, length % LEASE_NS_PER_S / 1000 },
			       .it_interval = { 0, 20000 } };
	const struct itimerval off = { 0 };
	int status;
	uint64_t n;

	memset(nr, 0, BENCH_CALLS_MAX * sizeof(nr[0]));
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD) < 0)
		return -errno;
	alarmed = 0;
	(void)sigaction(SIGALRM, &sa, NULL);
	(void)setitimer(ITIMER_REAL, &t, NULL);
	/* It sleeps in its loop; the first stop is asked for. */
	(void)ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	for (;;) {
		pid_t got = waitpid(pid, &status, __WALL);

		if (got < 0 && errno == EINTR) {
			if (alarmed)
				(void)ptrace(PTRACE_INTERRUPT, pid, 0, 0);
			continue;
		}
		if (got != pid || !WIFSTOPPED(status))
			return -ESRCH;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) && at_entry(pid, &n) && n < BENCH_CALLS_MAX)
			nr[n]++;
		/* Any stop will do: the one that was asked for is left out when another comes first. */
		if (alarmed)
			break;
		if (ptrace(PTRACE_SYSCALL, pid, 0, 0) < 0)
			return -errno;
	}
	(void)setitimer(ITIMER_REAL, &off, NULL);
	return ptrace(PTRACE_DETACH, pid, 0, 0) < 0 ? -errno : 0;
}

int64_t bench_of_proc(pid_t pid, const char *file, const char *key)
{
	char path[64], line[256];
	int64_t n = -1;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	f = fopen(path, "re");
	if (!f)
		bench_fail(path, errno);
	while (n < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			n = strtoll(line + strlen(key), NULL, 10);
	(void)fclose(f);
	if (n < 0)
		bench_fail(path, ENODATA);
	return n;
}

long bench_switches(pid_t pid)
{
	return (long)bench_of_proc(pid, "status", "voluntary_ctxt_switches:");
}

int64_t bench_written(pid_t pid)
{
	return bench_of_proc(pid, "io", "write_bytes:");
}
