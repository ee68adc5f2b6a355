/* tests/sim/kernel-calls.c: the calls. Each tells what came out in a line that does not depend on where it
 * was made. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/sim/kernel-calls.h"
#include "tests/sim/kernel.h"

static uint64_t number(struct run *r, uint64_t below)
{
	uint64_t z = r->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % below;
}

static void say(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct run *r, const char *fmt, ...)
{
	va_list ap;

	if (r->n == LINES)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(r->lines[r->n++], LINE, fmt, ap);
	va_end(ap);
}

/* 0 or more: as it is; -1: the error's name. */
static const char *outcome(long n)
{
	static char buf[4][40];
	static int at;
	int e = errno;
	char *to = buf[at++ & 3];

	if (n >= 0)
		(void)snprintf(to, sizeof(buf[0]), "%ld", n);
	else
		(void)snprintf(to, sizeof(buf[0]), "%s", strerrorname_np(e));
	errno = e;
	return to;
}

static const char *name(struct run *r)
{
	static const char *const names[] = {"a", "b",   "c",   "d", "x",  "y",  "link", "a",
					    "b", "x/a", "y/b", ".", "..", "a/", "x/",   "link/a"};
	uint64_t n = number(r, 100);

	return names[n < 84 ? n % 9 : n % 16];
}

static int dir(struct run *r)
{
	return (int)number(r, DIRS);
}

static int slot(struct run *r)
{
	return (int)number(r, SLOTS);
}

static void put(struct run *r, int s, int fd, const char *what)
{
	say(r, "%s -> %s", what, outcome(fd < 0 ? -1 : 0));
	if (fd < 0)
		return;
	if (r->slots[s] >= 0)
		(void)close(r->slots[s]);
	r->slots[s] = fd;
}

static void do_open(struct run *r)
{
	static const int flags[] = {O_RDONLY,
				    O_WRONLY,
				    O_RDWR,
				    O_RDWR | O_CREAT,
				    O_WRONLY | O_CREAT | O_EXCL,
				    O_WRONLY | O_CREAT | O_TRUNC,
				    O_PATH,
				    O_PATH | O_NOFOLLOW,
				    O_RDONLY | O_DIRECTORY,
				    O_RDONLY | O_NOFOLLOW,
				    O_WRONLY | O_TRUNC,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
				    O_PATH | O_DIRECTORY | O_NOFOLLOW,
				    O_RDWR | O_APPEND};
	static const uint64_t resolve[] = {0, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH,
					   RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_BENEATH};
	int f = flags[number(r, sizeof(flags) / sizeof(flags[0]))], d = dir(r), s = slot(r);
	uint64_t how = resolve[number(r, 4)];
	const char *n = name(r);
	char what[100];

	(void)snprintf(what, sizeof(what), "open %d/%s %#x how %#llx", d, n, (unsigned)f,
		       (unsigned long long)how);
	if (number(r, 2)) {
		put(r, s, openat(r->dirs[d], n, f | O_CLOEXEC | O_NONBLOCK, 0644), what);
	} else {
		struct open_how h = {
		    .flags = (unsigned)f | O_CLOEXEC, .resolve = how, .mode = f & O_CREAT ? 0644 : 0};
		if (!(f & O_PATH))
			h.flags |= O_NONBLOCK;
		put(r, s, (int)syscall(SYS_openat2, r->dirs[d], n, &h, sizeof(h)), what);
	}
}

static void do_unnamed(struct run *r)
{
	int d = dir(r);
	char what[40];

	(void)snprintf(what, sizeof(what), "open %d O_TMPFILE", d);
	put(r, slot(r), openat(r->dirs[d], ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644), what);
}

static void do_link(struct run *r)
{
	int from = dir(r), to = dir(r), s = slot(r);
	const char *a = name(r), *b = name(r);
	char proc[40];

	if (number(r, 2) && r->slots[s] >= 0) {
		(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", r->slots[s]);
		say(r, "link slot %d to %d/%s -> %s", s, to, b,
		    outcome(linkat(AT_FDCWD, proc, r->dirs[to], b, AT_SYMLINK_FOLLOW)));
	} else {
		say(r, "link %d/%s to %d/%s -> %s", from, a, to, b,
		    outcome(linkat(r->dirs[from], a, r->dirs[to], b, 0)));
	}
}

static void do_rename(struct run *r)
{
	int from = dir(r), to = dir(r);
	const char *a = name(r), *b = name(r);

	if (number(r, 2))
		say(r, "rename %d/%s to %d/%s -> %s", from, a, to, b,
		    outcome(renameat(r->dirs[from], a, r->dirs[to], b)));
	else
		say(r, "rename %d/%s to %d/%s, not over it -> %s", from, a, to, b,
		    outcome(renameat2(r->dirs[from], a, r->dirs[to], b, RENAME_NOREPLACE)));
}

static void do_unlink(struct run *r)
{
	int d = dir(r), flags = number(r, 3) == 0 ? AT_REMOVEDIR : 0;
	const char *n = name(r);

	say(r, "unlink %d/%s %#x -> %s", d, n, flags, outcome(unlinkat(r->dirs[d], n, flags)));
}

static void do_mkdir(struct run *r)
{
	int d = dir(r);
	const char *n = name(r);
	mode_t mode = number(r, 3) ? 0755 : 01777;

	say(r, "mkdir %d/%s %#o -> %s", d, n, mode, outcome(mkdirat(r->dirs[d], n, mode)));
}

static void do_symlink(struct run *r)
{
	static const char *const targets[] = {"a", "x", "../b", "link", "nowhere"};
	const char *to = targets[number(r, 5)];
	char path[300];
	int n;

	(void)snprintf(path, sizeof(path), "%s/link", r->top);
	if (r->simulated) {
		n = kernel_symlink(to, path);
		errno = -n;
		n = n < 0 ? -1 : 0;
	} else {
		n = symlink(to, path);
	}
	say(r, "symlink %s -> %s", to, outcome(n));
}

static void do_write(struct run *r)
{
	char buf[64];
	int s = slot(r);
	size_t len = number(r, sizeof(buf));

	memset(buf, 'a' + s, sizeof(buf));
	if (r->slots[s] >= 0)
		say(r, "write slot %d %zu -> %s", s, len, outcome(write(r->slots[s], buf, len)));
}

static void do_read(struct run *r)
{
	char buf[64];
	int s = slot(r);
	size_t len = number(r, sizeof(buf));

	if (r->slots[s] < 0)
		return;
	ssize_t n = read(r->slots[s], buf, len);
	say(r, "read slot %d %zu -> %s %.*s", s, len, outcome(n), n > 0 ? (int)n : 0, buf);
}

static void do_chmod(struct run *r)
{
	static const mode_t modes[] = {0644, 0600, 0755, 0, 01777, 0444, 0755, 0711};
	mode_t mode = modes[number(r, 8)];
	int s = slot(r);

	if (r->slots[s] >= 0)
		say(r, "chmod slot %d %#o -> %s", s, mode, outcome(fchmod(r->slots[s], mode)));
}

static void do_touch(struct run *r)
{
	int d = dir(r), flags = number(r, 2) ? AT_SYMLINK_NOFOLLOW : 0;
	const char *n = name(r);
	struct timespec t[2] = {{.tv_sec = 5}, {.tv_sec = (time_t)number(r, 1000000), .tv_nsec = 7}};
	bool given = number(r, 3) == 0;

	int e = utimensat(r->dirs[d], n, given ? t : NULL, flags);
	say(r, "touch %d/%s %s%#x -> %s", d, n, given ? "to a time " : "", flags, outcome(e));
}

static void say_stat(struct run *r, const struct statx *x)
{
	bool folder = S_ISDIR(x->stx_mode);

	say(r, "  mode %#o uid %d links %u size %llu%s", x->stx_mode, x->stx_uid == r->uid,
	    folder ? x->stx_nlink == 0 : x->stx_nlink, folder ? 0 : (unsigned long long)x->stx_size,
	    x->stx_mtime.tv_nsec == 7 ? " old" : "");
}

static void do_stat(struct run *r)
{
	int d = dir(r), s = slot(r);
	const char *n = name(r);
	struct statx x;
	int e;

	if (number(r, 2) && r->slots[s] >= 0) {
		e = statx(r->slots[s], "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &x);
		say(r, "stat slot %d -> %s", s, outcome(e));
	} else {
		e = statx(r->dirs[d], n, number(r, 2) ? AT_SYMLINK_NOFOLLOW : 0, STATX_BASIC_STATS, &x);
		say(r, "stat %d/%s -> %s", d, n, outcome(e));
	}
	if (e == 0)
		say_stat(r, &x);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void do_list(struct run *r)
{
	_Alignas(struct dirent64) char buf[2048];
	char line[300] = "", *names[30];
	int d = dir(r), n = 0;
	int fd = openat(r->dirs[d], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		say(r, "list %d -> %s", d, outcome(-1));
		return;
	}
	ssize_t len = getdents64(fd, buf, sizeof(buf));
	for (ssize_t at = 0; at < len && n < 30;) {
		struct dirent64 *e = (void *)(buf + at);
		at += e->d_reclen;
		names[n++] = e->d_name;
	}
	qsort(names, (size_t)n, sizeof(names[0]), compare);
	for (int i = 0; i < n; i++)
		(void)snprintf(line + strlen(line), sizeof(line) - strlen(line), " %s", names[i]);
	say(r, "list %d -> %s:%s", d, len < 0 ? outcome(-1) : "", line);
	(void)close(fd);
}

/* Where an open stands among the other events is another place with each version of the kernel; nobody here
 * listens to it. */
#define ALL (IN_ALL_EVENTS & ~(uint32_t)IN_OPEN)

static void do_watch(struct run *r)
{
	static const uint32_t masks[] = {ALL,
					 IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
					     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
					 IN_ATTRIB | IN_MODIFY | IN_CLOSE_WRITE,
					 IN_DELETE_SELF | IN_MOVE_SELF,
					 ALL | IN_DONT_FOLLOW,
					 IN_ATTRIB | IN_MASK_ADD,
					 ALL & ~(uint32_t)IN_ACCESS,
					 0,
					 ALL | IN_MASK_CREATE};
	uint32_t mask = masks[number(r, sizeof(masks) / sizeof(masks[0]))];
	int d = dir(r), s = slot(r);
	const char *n = name(r);
	const uint32_t no_follow = IN_DONT_FOLLOW;
	char path[300];

	if (number(r, 2) && r->slots[s] >= 0) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", r->slots[s]);
		say(r, "watch slot %d %#x -> %s", s, mask,
		    outcome(inotify_add_watch(r->inotify, path, mask & ~no_follow)));
	} else if (number(r, 2)) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", r->dirs[d]);
		say(r, "watch folder %d %#x -> %s", d, mask,
		    outcome(inotify_add_watch(r->inotify, path, mask & ~no_follow)));
	} else {
		(void)snprintf(path, sizeof(path), "%s/%s", r->top, n);
		say(r, "watch %s %#x -> %s", n, mask, outcome(inotify_add_watch(r->inotify, path, mask)));
	}
}

static void do_unwatch(struct run *r)
{
	int wd = (int)number(r, 12);

	say(r, "unwatch %d -> %s", wd, outcome(inotify_rm_watch(r->inotify, wd)));
}

/* Cookies: only that the two halves of a move have the same one. */
static void do_events(struct run *r)
{
	_Alignas(struct inotify_event) char buf[2048];
	size_t size = number(r, 4) ? sizeof(buf) : number(r, 80);
	ssize_t len = read(r->inotify, buf, size);

	say(r, "events %zu -> %s", size, outcome(len));
	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *e = (const void *)(buf + at);
		at += (ssize_t)sizeof(*e) + e->len;
		bool same = e->mask & IN_MOVED_TO && e->cookie == r->cookies[1];
		if (e->mask & IN_MOVED_FROM)
			r->cookies[1] = e->cookie;
		bool unnamed = e->len && e->name[0] == '#'; /* by its number, which is another one */
		say(r, "  %d %#x %u %s%s", e->wd, e->mask, e->len,
		    !e->len   ? ""
		    : unnamed ? "#"
			      : e->name,
		    same ? " moved" : "");
	}
}

static void do_wait(struct run *r)
{
	struct epoll_event e;

	say(r, "epoll_wait -> %s", outcome(epoll_wait(r->epoll, &e, 1, 0)));
}

static void do_lock(struct run *r)
{
	int s = slot(r), how = number(r, 3) ? LOCK_EX | LOCK_NB : LOCK_UN;

	if (r->slots[s] >= 0)
		say(r, "flock slot %d %d -> %s", s, how, outcome(flock(r->slots[s], how)));
}

static void do_close(struct run *r)
{
	int s = slot(r);

	if (r->slots[s] < 0)
		return;
	say(r, "close slot %d -> %s", s, outcome(close(r->slots[s])));
	r->slots[s] = -1;
}

int program(void *arg)
{
	static void (*const what[])(struct run *) = {
	    do_open,   do_open,   do_open,   do_unnamed, do_link,    do_link,  do_rename, do_rename,
	    do_rename, do_unlink, do_unlink, do_mkdir,   do_symlink, do_write, do_write,  do_read,
	    do_chmod,  do_touch,  do_touch,  do_stat,    do_list,    do_watch, do_watch,  do_unwatch,
	    do_events, do_events, do_wait,   do_lock,    do_close,   do_close,
	};
	struct run *r = arg;
	struct epoll_event e = {.events = EPOLLIN};
	int n = 0;

	if (r->simulated)
		kernel_become(r->uid, r->gid);
	r->dirs[0] = open(r->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n |= mkdirat(r->dirs[0], "x", 0755) | mkdirat(r->dirs[0], "y", 01777);
	r->dirs[1] = openat(r->dirs[0], "x", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r->dirs[2] = openat(r->dirs[0], "y", O_PATH | O_DIRECTORY | O_CLOEXEC);
	r->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	n |= epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->inotify, &e);
	for (int i = 0; i < SLOTS; i++)
		r->slots[i] = -1;
	if (n < 0 || r->dirs[2] < 0) {
		perror(r->top);
		exit(2);
	}
	for (int i = 0; i < r->calls; i++)
		what[number(r, sizeof(what) / sizeof(what[0]))](r);
	do_events(r);
	for (int i = 0; i < SLOTS; i++)
		if (r->slots[i] >= 0)
			(void)close(r->slots[i]);
	for (int i = 0; i < DIRS; i++)
		(void)close(r->dirs[i]);
	(void)close(r->inotify);
	(void)close(r->epoll);
	return 0;
}

int overflow(void *arg)
{
	struct run *r = arg;
	char buf[65536] __attribute__((aligned(8)));
	uint32_t last = 0;
	long n = 0, bytes;

	r->dirs[0] = open(r->top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	say(r, "watch -> %s", outcome(inotify_add_watch(r->inotify, r->top, IN_CREATE | IN_DELETE)));
	for (int i = 0; i < 9000; i++) {
		int fd = openat(r->dirs[0], "a", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		say(r, "make -> %s, unlink -> %s", outcome(close(fd)), outcome(unlinkat(r->dirs[0], "a", 0)));
	}
	while ((bytes = read(r->inotify, buf, sizeof(buf))) > 0)
		for (long at = 0; at < bytes; n++) {
			const struct inotify_event *e = (const void *)(buf + at);
			at += (long)sizeof(*e) + e->len;
			last = e->mask;
		}
	r->n = 0;
	say(r, "%ld events, the last one %#x, then %s", n, last, outcome(bytes));
	(void)unlinkat(r->dirs[0], "a", mkdirat(r->dirs[0], "a", 0755) < 0 ? 0 : AT_REMOVEDIR);
	do_events(r);
	(void)close(r->dirs[0]);
	(void)close(r->inotify);
	return 0;
}
