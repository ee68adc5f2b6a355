#include "config.h"

#include "os/sample.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lease/duration.h"
#include "lease/process.h"

#define TREE_MAX 65536 /* processes; a larger tree is unreadable, and that counts as use */

static int read_text(int dirfd, const char *name, char *buf, size_t size)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	return 0;
}

/* Digits that fit, then the end, a blank or a newline. */
static int parse_count(const char *s, int64_t *ret)
{
	int64_t v = 0;

	if (*s < '0' || *s > '9')
		return -EBADMSG;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s - '0', &v))
			return -EBADMSG;
	if (*s && *s != ' ' && *s != '\n')
		return -EBADMSG;
	*ret = v;
	return 0;
}

int sample_cgroup_cpu(const char *cgroup, int64_t *ret_ns)
{
	int fd = open(cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), r;
	char buf[4096];
	int64_t v;

	if (fd < 0)
		return -errno;
	r = read_text(fd, "cpu.stat", buf, sizeof buf);
	if (!r) {
		const char *p = strncmp(buf, "usage_usec ", 11) ? strstr(buf, "\nusage_usec ") : buf;

		r = p ? parse_count(strchr(p, ' ') + 1, &v) : -EBADMSG;
		if (!r && __builtin_mul_overflow(v, 1000, &v))
			r = -EBADMSG;
	} else if (r == -ENOENT) {
		r = read_text(fd, "cpuacct.usage", buf, sizeof buf);
		if (!r)
			r = parse_count(buf, &v);
	}
	close(fd);
	if (!r)
		*ret_ns = v;
	return r;
}

struct tree {
	int32_t *pid;
	size_t n, size;
};

static int tree_add(struct tree *t, int32_t pid)
{
	if (t->n == t->size) {
		size_t size = t->size ? t->size * 2 : 64;
		int32_t *p;

		if (size > TREE_MAX)
			return -E2BIG;
		p = reallocarray(t->pid, size, sizeof *p);
		if (!p)
			return -ENOMEM;
		t->pid = p;
		t->size = size;
	}
	t->pid[t->n++] = pid;
	return 0;
}

/* utime, stime, cutime, cstime: fields 14 to 17 of proc(5)'s stat, counted behind the name, which may hold
 * anything. */
static int process_ticks(int32_t pid, int64_t *ret)
{
	char path[64], buf[1024];
	unsigned long long u, s;
	long long cu, cs;
	const char *p;
	int r;

	snprintf(path, sizeof path, "/proc/%" PRId32 "/stat", pid);
	r = read_text(AT_FDCWD, path, buf, sizeof buf);
	if (r < 0)
		return r;
	p = strrchr(buf, ')');
	if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld", &u, &s,
			 &cu, &cs) != 4)
		return -EBADMSG;
	*ret = (int64_t)(u + s) + cu + cs;
	return 0;
}

static int add_children_of(struct tree *t, int32_t pid, const char *tid)
{
	char path[96], buf[4096];
	size_t used = 0;
	int fd, r = 0;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%" PRId32 "/task/%s/children", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (!r && (n = read(fd, buf + used, sizeof buf - 1 - used)) != 0) {
		char *p = buf, *blank;

		if (n < 0) {
			r = -errno;
			break;
		}
		used += (size_t)n;
		buf[used] = '\0';
		while (!r && (blank = strchr(p, ' '))) {
			int64_t child;

			r = parse_count(p, &child);
			if (!r && child > 0 && child <= INT32_MAX)
				r = tree_add(t, (int32_t)child);
			p = blank + 1;
		}
		used -= (size_t)(p - buf);
		memmove(buf, p, used);
		if (used >= 32)
			r = -EBADMSG;
	}
	close(fd);
	return r;
}

/* A child belongs to the thread that forked it: all threads are asked. A process that went meanwhile has no
 * children. */
static int add_children(struct tree *t, int32_t pid)
{
	char path[64];
	struct dirent *e;
	DIR *d;
	int r = 0;

	snprintf(path, sizeof path, "/proc/%" PRId32 "/task", pid);
	d = opendir(path);
	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!r && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = add_children_of(t, pid, e->d_name);
	closedir(d);
	return r;
}

static bool vanished(int error)
{
	return error == -ENOENT || error == -ESRCH;
}

int sample_tree_cpu(const struct lease_process *root, int64_t *ret_ns)
{
	struct tree t = {NULL, 0, 0};
	int64_t sum = 0, ticks = 0;
	uint64_t start;
	int r;

	r = lease_process_stat(root->pid, &start, NULL, NULL);
	if (r < 0)
		return r;
	if (start != root->start)
		return -ESRCH;
	/* Kernels without the children file: said at once, not taken for a tree of one. */
	if (access("/proc/thread-self/children", F_OK) < 0)
		return -EOPNOTSUPP;
	r = tree_add(&t, root->pid);
	for (size_t i = 0; !r && i < t.n; i++) {
		r = process_ticks(t.pid[i], &ticks);
		if (!r) {
			sum += ticks;
			r = add_children(&t, t.pid[i]);
		}
		/* What died below the root is counted by its parent already, or is a step back that the
		 * caller skips. */
		if (vanished(r) && i > 0)
			r = 0;
	}
	free(t.pid);
	if (r)
		return r;
	*ret_ns = sum * (LEASE_NS_PER_S / sysconf(_SC_CLK_TCK));
	return 0;
}
