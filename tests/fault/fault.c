#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/fault/fault.h"

static struct fault fault;
static bool armed;
static int calls, failed;

void fault_arm(const struct fault *f)
{
	fault = *f;
	calls = 0;
	failed = 0;
	armed = true;
}

int fault_disarm(void)
{
	armed = false;
	return failed;
}

int fault_calls(void)
{
	return calls;
}

/* Counts a call and says whether it is the one. */
static bool fails(void)
{
	if (!armed)
		return false;
	calls++;
	if (!fault.at || calls < fault.at || (calls > fault.at && !fault.for_good))
		return false;
	failed++;
	errno = fault.error;
	return true;
}

static bool missing(bool flag, int error)
{
	if (!armed || !flag)
		return false;
	errno = error;
	return true;
}

/*
 * One line a call: its type and name, its parameters, its arguments. The same call has other names with
 * 64-bit offsets and with _FORTIFY_SOURCE; a wrap of the wrong one silently catches nothing, so all are here,
 * and the tests count.
 */
#define WRAP(type, name, parameters, arguments)                \
	type __real_##name parameters;                         \
	type __wrap_##name parameters;                         \
	type __wrap_##name parameters                          \
	{                                                      \
		return fails() ? -1 : __real_##name arguments; \
	}

WRAP(int, statx, (int fd, const char *p, int flags, unsigned mask, struct statx *x), (fd, p, flags, mask, x))
WRAP(int, utimensat, (int fd, const char *p, const struct timespec t[2], int flags), (fd, p, t, flags))
WRAP(int, unlinkat, (int fd, const char *p, int flags), (fd, p, flags))
WRAP(int, mkdirat, (int fd, const char *p, mode_t mode), (fd, p, mode))
WRAP(int, renameat, (int from, const char *a, int to, const char *b), (from, a, to, b))
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(ssize_t, getdents64, (int fd, void *buf, size_t len), (fd, buf, len))
WRAP(int, getrlimit, (int what, struct rlimit *l), (what, l))
WRAP(int, getrlimit64, (int what, struct rlimit64 *l), (what, l))
WRAP(int, pidfd_open, (pid_t pid, unsigned flags), (pid, flags))

int __real_poll(struct pollfd *p, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *p, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *p, nfds_t n, int timeout)
{
	if (fails())
		return -1;
	return armed && fault.ended ? 1 : __real_poll(p, n, timeout);
}

#define WRAP_OPENAT(name)                                                                                 \
	int __real_##name(int fd, const char *p, int flags, ...);                                         \
	int __wrap_##name(int fd, const char *p, int flags, ...);                                         \
	int __wrap_##name(int fd, const char *p, int flags, ...)                                          \
	{                                                                                                 \
		va_list ap;                                                                               \
		mode_t mode;                                                                              \
                                                                                                          \
		va_start(ap, flags);                                                                      \
		mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;      \
		va_end(ap);                                                                               \
		if (missing(fault.no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE, EOPNOTSUPP) || fails()) \
			return -1;                                                                        \
		return __real_##name(fd, p, flags, mode);                                                 \
	}

WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)
/* glibc's names for a fortified call without a mode. */
WRAP(int, __openat_2, (int fd, const char *p, int flags), (fd, p, flags))
WRAP(int, __openat64_2, (int fd, const char *p, int flags), (fd, p, flags))

#define WRAP_IO(name, buffer, after)                                                            \
	ssize_t __real_##name(int fd, buffer buf, size_t len);                                  \
	ssize_t __wrap_##name(int fd, buffer buf, size_t len);                                  \
	ssize_t __wrap_##name(int fd, buffer buf, size_t len)                                   \
	{                                                                                       \
		if (fails())                                                                    \
			return -1;                                                              \
		return after(__real_##name(fd, buf, armed && fault.short_io && len ? 1 : len)); \
	}

static ssize_t interrupted_read(ssize_t n)
{
	if (armed && fault.after_read)
		fault.after_read();
	return n;
}

static ssize_t whole_write(ssize_t n)
{
	return n;
}

WRAP_IO(read, void *, interrupted_read)
WRAP_IO(write, const void *, whole_write)

ssize_t __real___read_chk(int fd, void *buf, size_t len, size_t size);
ssize_t __wrap___read_chk(int fd, void *buf, size_t len, size_t size);
ssize_t __wrap___read_chk(int fd, void *buf, size_t len, size_t size)
{
	if (fails())
		return -1;
	return interrupted_read(__real___read_chk(fd, buf, armed && fault.short_io && len ? 1 : len, size));
}

int __real_linkat(int from, const char *a, int to, const char *b, int flags);
int __wrap_linkat(int from, const char *a, int to, const char *b, int flags);
int __wrap_linkat(int from, const char *a, int to, const char *b, int flags)
{
	if (missing(fault.no_proc && strncmp(a, "/proc/", 6) == 0, ENOENT) || fails())
		return -1;
	return __real_linkat(from, a, to, b, flags);
}

int __real_renameat2(int from, const char *a, int to, const char *b, unsigned flags);
int __wrap_renameat2(int from, const char *a, int to, const char *b, unsigned flags);
int __wrap_renameat2(int from, const char *a, int to, const char *b, unsigned flags)
{
	if (missing(fault.no_renameat2, EINVAL) || fails())
		return -1;
	return __real_renameat2(from, a, to, b, flags);
}

/* lease/ has one call without a name in libc, openat2 with its four arguments. */
long __real_syscall(long nr, ...);
long __wrap_syscall(long nr, ...);
long __wrap_syscall(long nr, ...)
{
	va_list ap;
	long a[4];

	va_start(ap, nr);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (missing(fault.no_openat2 && nr == SYS_openat2, ENOSYS) || fails())
		return -1;
	return __real_syscall(nr, a[0], a[1], a[2], a[3]);
}
