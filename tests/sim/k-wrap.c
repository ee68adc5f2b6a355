/* What ld puts in the place of the daemon's calls: time, events, processes, the log. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <syslog.h>
#include <unistd.h>

#include "tests/sim/k-wrap.h"

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!simulated())
		return __real_clock_gettime(id, ts);
	(void)call("clock_gettime", NULL);
	int64_t now = id == CLOCK_MONOTONIC  ? kernel_mono()
		      : id == CLOCK_BOOTTIME ? kernel_boottime()
					     : kernel_wall();
	ts->tv_sec = now / K_S;
	ts->tv_nsec = now % K_S;
	return 0;
}

int __wrap_inotify_init1(int flags)
{
	if (!simulated())
		return __real_inotify_init1(flags);
	CALL("inotify_init1", EMFILE);
	if (draw_one_in(STREAM_KERNEL, kernel_faults.watch_refused))
		return result(-EMFILE);
	return result(inotify_make(flags));
}

static int add_watch(struct file *f, const char *path, uint32_t mask)
{
	struct path p;
	int r;

	if (!(mask & IN_ALL_EVENTS) || ((mask & IN_MASK_ADD) && (mask & IN_MASK_CREATE)))
		return -EINVAL;
	if (!f || f->kind != F_INOTIFY)
		return f ? -EINVAL : -EBADF;
	r = walk(&k.daemon, -1, path, mask & IN_DONT_FOLLOW ? 0 : WALK_FOLLOW, &p);
	if (r == 0 && !p.inode)
		r = -ENOENT;
	if (r == 0 && (mask & IN_ONLYDIR) && !is_folder(p.inode))
		r = -ENOTDIR;
	if (r == 0)
		r = may(p.inode, &k.daemon, 4);
	if (r == 0 && draw_one_in(STREAM_KERNEL, kernel_faults.watch_refused))
		r = -ENOSPC;
	return r < 0 ? r : inotify_add(f, p.inode, mask);
}

int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	if (fd < KERNEL_FD)
		return __real_inotify_add_watch(fd, path, mask);
	CALL("inotify_add_watch", ENOMEM);
	return result(add_watch(fd_file(fd), path, mask));
}

int __wrap_inotify_rm_watch(int fd, int wd)
{
	if (fd < KERNEL_FD)
		return __real_inotify_rm_watch(fd, wd);
	struct file *f = fd_file(fd);
	CALL("inotify_rm_watch", 0);
	return result(f && f->kind == F_INOTIFY ? inotify_remove(f, wd) : -EINVAL);
}

int __wrap_epoll_create1(int flags)
{
	if (!simulated())
		return __real_epoll_create1(flags);
	CALL("epoll_create1", EMFILE);
	return result(epoll_make());
}

int __wrap_epoll_ctl(int ep, int op, int fd, struct epoll_event *e)
{
	if (ep < KERNEL_FD)
		return __real_epoll_ctl(ep, op, fd, e);
	struct file *f = fd_file(ep);
	CALL("epoll_ctl", ENOMEM);
	return result(f ? epoll_change(f, op, fd, e ? e->events : 0, e ? e->data.u64 : 0) : -EBADF);
}

int __wrap_epoll_wait(int ep, struct epoll_event *events, int max, int timeout)
{
	if (ep < KERNEL_FD)
		return __real_epoll_wait(ep, events, max, timeout);
	struct file *f = fd_file(ep);
	disk_faults();
	CALL("epoll_wait", EINTR);
	return result(f ? epoll_take(f, events, max, timeout) : -EBADF);
}

int __wrap_timerfd_create(int clock, int flags)
{
	if (!simulated())
		return __real_timerfd_create(clock, flags);
	CALL("timerfd_create", EMFILE);
	if (clock == CLOCK_REALTIME)
		return result(clock_timer_make(flags));
	if (clock != CLOCK_MONOTONIC)
		mistake("a timer of another clock");
	return result(timer_make(flags));
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *to, struct itimerspec *old)
{
	if (fd < KERNEL_FD)
		return __real_timerfd_settime(fd, flags, to, old);
	struct file *f = fd_file(fd);
	CALL("timerfd_settime", 0);
	if (!(flags & TFD_TIMER_ABSTIME) || to->it_interval.tv_sec || to->it_interval.tv_nsec)
		mistake("a timer that is not absolute, or comes again");
	if (f && f->kind == F_CLOCK) {
		if (!(flags & TFD_TIMER_CANCEL_ON_SET))
			mistake("a timer of the wall clock that is no watch over it");
		return 0;
	}
	return result(f ? timer_set(f, to->it_value.tv_sec * K_S + to->it_value.tv_nsec) : -EBADF);
}

int __wrap_signalfd(int fd, const sigset_t *set, int flags)
{
	if (!simulated())
		return __real_signalfd(fd, set, flags);
	CALL("signalfd", EMFILE);
	k.signals = file_new(F_SIGNAL, flags);
	return result(fd_new(k.signals));
}

int __wrap_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return simulated() ? 0 : __real_sigprocmask(how, set, old);
}

int __wrap_pidfd_open(pid_t pid, unsigned flags)
{
	if (!simulated())
		return __real_pidfd_open(pid, flags);
	CALL("pidfd_open", EMFILE, ENOMEM);
	return result(process_open(pid));
}

int __wrap_kill(pid_t pid, int signo)
{
	if (!simulated())
		return __real_kill(pid, signo);
	CALL("kill", 0);
	if (signo != 0)
		mistake("the daemon sends signal %d", signo);
	const struct process *p = process_find(pid);
	return result(!p ? -ESRCH : k.daemon.uid != 0 && k.daemon.uid != p->uid ? -EPERM : 0);
}

pid_t __wrap_getpid(void)
{
	return simulated() ? k.self->pid : __real_getpid();
}

ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags)
{
	if (fd < KERNEL_FD)
		return __real_send(fd, buf, len, flags);
	CALL("send", EAGAIN, ENOBUFS);
	return (ssize_t)result(peer_send(buf, len));
}

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	if (fd < KERNEL_FD)
		return __real_recv(fd, buf, len, flags);
	CALL("recv", EINTR);
	return (ssize_t)result(peer_take(buf, len, flags & MSG_TRUNC));
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int ready = 0;

	if (!simulated() || (n > 0 && fds[0].fd < KERNEL_FD))
		return __real_poll(fds, n, timeout);
	CALL("poll", EINTR);
	for (nfds_t i = 0; i < n; i++) {
		struct file *f = fd_file(fds[i].fd);
		fds[i].revents = (short)(!f ? POLLNVAL : file_readable(f) ? fds[i].events & POLLIN : 0);
		ready += fds[i].revents != 0;
	}
	if (ready == 0 && timeout > 0) {
		if (n > 0)
			mistake("a poll that waits");
		advance(k.now + timeout * INT64_C(1000000));
		if (dying())
			die();
	}
	return ready;
}

void __wrap_arc4random_buf(void *buf, size_t len)
{
	if (!simulated()) {
		__real_arc4random_buf(buf, len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		((unsigned char *)buf)[i] = (unsigned char)draw(STREAM_KERNEL);
}

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
	if (!simulated())
		return __real_getrandom(buf, len, flags);
	CALL("getrandom", 0);
	__wrap_arc4random_buf(buf, len);
	return (ssize_t)len;
}

int __wrap_getrlimit(int what, struct rlimit *r)
{
	if (!simulated())
		return __real_getrlimit(what, r);
	r->rlim_cur = r->rlim_max = what == RLIMIT_NOFILE ? K_FDS : RLIM_INFINITY;
	return 0;
}

uid_t __wrap_geteuid(void)
{
	return simulated() ? k.daemon.uid : __real_geteuid();
}

gid_t __wrap_getegid(void)
{
	return simulated() ? k.daemon.gid : __real_getegid();
}

void __wrap_openlog(const char *name, int options, int facility)
{
	if (!simulated() && !k.hooks.logged)
		__real_openlog(name, options, facility);
}

static void say(int level, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void say(int level, const char *fmt, va_list ap)
{
	char line[1200];

	(void)vsnprintf(line, sizeof(line), fmt, ap);
	kernel_note("log %d: %s", level, line);
	if (k.hooks.logged) {
		k.outside++;
		k.hooks.logged(k.hooks.arg, level, line);
		k.outside--;
	}
}

void __wrap_syslog(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void __wrap_syslog(int level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(level, fmt, ap);
	va_end(ap);
}

void __wrap___syslog_chk(int level, int flag, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void __wrap___syslog_chk(int level, int flag, const char *fmt, ...)
{
	va_list ap;

	(void)flag;
	va_start(ap, fmt);
	say(level, fmt, ap);
	va_end(ap);
}
