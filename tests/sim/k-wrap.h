/*
 * tests/sim/k-wrap.h: the calls that are wrapped (ld --wrap). Makemodule.am names the same ones; a name of
 * libc's that is missing there is found by tests/sim/objects.sh.
 */
#ifndef SIM_K_WRAP_H
#define SIM_K_WRAP_H

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>

#include "tests/sim/k.h"

/* The daemon makes this call, and it may fail so. */
#define CALL(name, ...)                                        \
	do {                                                   \
		static const int errors_[] = {__VA_ARGS__, 0}; \
		int failed_ = call(name, errors_);             \
		if (failed_ < 0)                               \
			return result(failed_);                \
	} while (0)

static inline int result(int64_t r)
{
	if (r >= 0)
		return (int)r;
	errno = (int)-r;
	return -1;
}

#define WRAPPED(type, name, ...)         \
	type __wrap_##name(__VA_ARGS__); \
	type __real_##name(__VA_ARGS__)

WRAPPED(int, clock_gettime, clockid_t id, struct timespec *ts);
WRAPPED(int, inotify_init1, int flags);
WRAPPED(int, inotify_add_watch, int fd, const char *path, uint32_t mask);
WRAPPED(int, inotify_rm_watch, int fd, int wd);
WRAPPED(int, epoll_create1, int flags);
WRAPPED(int, epoll_ctl, int ep, int op, int fd, struct epoll_event *e);
WRAPPED(int, epoll_wait, int ep, struct epoll_event *events, int max, int timeout);
WRAPPED(int, timerfd_create, int clock, int flags);
WRAPPED(int, timerfd_settime, int fd, int flags, const struct itimerspec *to, struct itimerspec *old);
WRAPPED(int, signalfd, int fd, const sigset_t *set, int flags);
WRAPPED(int, sigprocmask, int how, const sigset_t *set, sigset_t *old);
WRAPPED(int, pidfd_open, pid_t pid, unsigned flags);
WRAPPED(int, kill, pid_t pid, int signo);
WRAPPED(pid_t, getpid, void);
WRAPPED(ssize_t, send, int fd, const void *buf, size_t len, int flags);
WRAPPED(ssize_t, recv, int fd, void *buf, size_t len, int flags);
WRAPPED(int, poll, struct pollfd *fds, nfds_t n, int timeout);
WRAPPED(void, arc4random_buf, void *buf, size_t len);
WRAPPED(ssize_t, getrandom, void *buf, size_t len, unsigned flags);
WRAPPED(int, getrlimit, int what, struct rlimit *r);
WRAPPED(uid_t, geteuid, void);
WRAPPED(gid_t, getegid, void);
WRAPPED(void, openlog, const char *name, int options, int facility);
WRAPPED(void, syslog, int level, const char *fmt, ...);
WRAPPED(void, __syslog_chk, int level, int flag, const char *fmt, ...);
WRAPPED(int, openat, int dirfd, const char *path, int flags, ...);
WRAPPED(int, __openat_2, int dirfd, const char *path, int flags);
WRAPPED(int, open, const char *path, int flags, ...);
WRAPPED(int, __open_2, const char *path, int flags);
WRAPPED(long, syscall, long number, ...);
WRAPPED(int, close, int fd);
WRAPPED(ssize_t, read, int fd, void *buf, size_t len);
WRAPPED(ssize_t, __read_chk, int fd, void *buf, size_t len, size_t room);
WRAPPED(ssize_t, write, int fd, const void *buf, size_t len);
WRAPPED(int, fstatat, int dirfd, const char *path, struct stat *st, int flags);
WRAPPED(int, lstat, const char *path, struct stat *st);
WRAPPED(int, stat, const char *path, struct stat *st);
WRAPPED(int, fstat, int fd, struct stat *st);
WRAPPED(int, statx, int dirfd, const char *path, int flags, unsigned mask, struct statx *x);
WRAPPED(int, fstatfs, int fd, struct statfs *fs);
WRAPPED(int, flock, int fd, int how);
WRAPPED(int, fsync, int fd);
WRAPPED(int, fchmod, int fd, mode_t mode);
WRAPPED(int, fchown, int fd, uid_t uid, gid_t gid);
WRAPPED(int, mkdirat, int dirfd, const char *path, mode_t mode);
WRAPPED(int, unlinkat, int dirfd, const char *path, int flags);
WRAPPED(int, renameat2, int from, const char *old, int to, const char *name, unsigned flags);
WRAPPED(int, renameat, int from, const char *old, int to, const char *name);
WRAPPED(int, linkat, int from, const char *old, int to, const char *name, int flags);
WRAPPED(int, utimensat, int dirfd, const char *path, const struct timespec times[2], int flags);
WRAPPED(int, access, const char *path, int mode);
WRAPPED(ssize_t, getdents64, int fd, void *buf, size_t size);
WRAPPED(DIR *, fdopendir, int fd);
WRAPPED(DIR *, opendir, const char *path);
WRAPPED(struct dirent *, readdir, DIR *dirp);
WRAPPED(int, closedir, DIR *dirp);
void *__wrap_malloc(size_t size);
void __wrap_free(void *p);

#endif
