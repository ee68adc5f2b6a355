/*
 * shift.c: a library for LD_PRELOAD: clocks that a test can step while a program runs. $CLOCK_SHIFT names a file with
 * three numbers of seconds: what is added to CLOCK_REALTIME, CLOCK_MONOTONIC and CLOCK_BOOTTIME. It is read at every
 * reading of a clock, so `echo 3600 0 0` is a wall clock that was set forward, `3600 0 3600` an hour of suspend. Timers
 * and files keep the kernel's time, as they do when a clock is stepped; so CLOCK_MONOTONIC is better left as it is.
 * Where the file cannot be read, nothing is added.
 *
 * tests/session/ builds it: cc -shared -fPIC.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *ts)
{
	long shift[3] = { 0, 0, 0 };
	char buf[96];
	const char *path = getenv("CLOCK_SHIFT");
	int r = (int)syscall(SYS_clock_gettime, id, ts);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		ssize_t n = read(fd, buf, sizeof(buf) - 1);
		if (n > 0) {
			buf[n] = '\0';
			(void)sscanf(buf, "%ld %ld %ld", &shift[0], &shift[1], &shift[2]);
		}
		close(fd);
	}
	if (id == CLOCK_REALTIME)
		ts->tv_sec += shift[0];
	else if (id == CLOCK_MONOTONIC)
		ts->tv_sec += shift[1];
	else if (id == CLOCK_BOOTTIME)
		ts->tv_sec += shift[2];
	return r;
}
