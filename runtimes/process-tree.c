/*
 * process-tree.c: who belongs to a workload. All that are in its cgroup, where there is one; the keeper's
 * descendants; and *escapes*, which carry our label but have lost the keeper. Another lease's keeper, and
 * what carries another label, is a lease nested in ours: not ours to touch.
 */
#include "config.h"

#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANCESTORS_MAX 64
#define LABEL "KLEASE_ID="

enum place { OUTSIDE, MEMBER, NESTED };
enum label { LABEL_NONE, LABEL_OURS, LABEL_OTHER };

struct seen {
	struct lease_process p;
	int32_t ppid;
	char state;
	enum place place;
};

/* One look at the machine. */
struct scan {
	const struct workload *w;
	bool say_all;
	struct seen *all;
	size_t n, size;
	struct lease_process *others; /* keepers of other leases */
	size_t n_others, size_others;
	int32_t above[ANCESTORS_MAX]; /* ourselves and our parents: never touched */
	size_t n_above;
	int32_t parent; /* what it started is the daemon's: the watcher, other runtimes */
};

static void *grow(void *p, size_t *size, size_t n, size_t each)
{
	size_t want = *size ? *size * 2 : 64;
	void *bigger;

	if (n < *size)
		return p;
	bigger = reallocarray(p, want, each);
	if (bigger)
		*size = want;
	return bigger;
}

static int members_add(struct members *l, const struct member *m)
{
	struct member *p = grow(l->m, &l->size, l->n, sizeof *p);

	if (!p)
		return -ENOMEM;
	l->m = p;
	l->m[l->n++] = *m;
	return 0;
}

void members_free(struct members *l)
{
	free(l->m);
	*l = (struct members){NULL, 0, 0};
}

void process_name(int32_t pid, char name[32])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%" PRId32 "/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, 32, f))
		snprintf(name, 32, "?");
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	for (char *p = name; *p; p++)
		if (*p < 32 || *p > 126)
			*p = '?';
}

static bool same(const struct lease_process *a, const struct lease_process *b)
{
	return a->pid == b->pid && a->start == b->start;
}

static bool dead(char state)
{
	return state == 'Z' || state == 'X';
}

static void find_above(struct scan *s)
{
	int32_t pid = getpid(), ppid;

	s->parent = getppid();
	while (pid > 1 && s->n_above < ANCESTORS_MAX) {
		s->above[s->n_above++] = pid;
		if (lease_process_stat(pid, NULL, &ppid, NULL) < 0)
			break;
		pid = ppid;
	}
}

static bool is_above(const struct scan *s, int32_t pid)
{
	for (size_t i = 0; i < s->n_above; i++)
		if (s->above[i] == pid)
			return true;
	return pid <= 1;
}

/* getenv(3) gives the first one, so the first is what counts. */
static enum label label_of(int32_t pid, const char *id)
{
	enum label label = LABEL_NONE;
	char path[64], *word = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%" PRId32 "/environ", pid);
	f = fopen(path, "re");
	if (!f)
		return LABEL_NONE;
	while (label == LABEL_NONE && getdelim(&word, &size, '\0', f) > 0)
		if (!strncmp(word, LABEL, strlen(LABEL)))
			label = strcmp(word + strlen(LABEL), id) ? LABEL_OTHER : LABEL_OURS;
	free(word);
	fclose(f);
	return label;
}

static int by_pid(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->p.pid > y->p.pid) - (x->p.pid < y->p.pid);
}

static int see_all(struct scan *s)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while (r == 0 && (e = readdir(d))) {
		struct seen one = {.place = OUTSIDE};
		struct seen *p;
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (*end || pid <= 1)
			continue;
		one.p.pid = (int32_t)pid;
		if (lease_process_stat(one.p.pid, &one.p.start, &one.ppid, &one.state) < 0)
			continue;
		p = grow(s->all, &s->size, s->n, sizeof *p);
		if (!p) {
			r = -ENOMEM;
			break;
		}
		s->all = p;
		s->all[s->n++] = one;
	}
	closedir(d);
	if (s->n)
		qsort(s->all, s->n, sizeof *s->all, by_pid);
	return r;
}

static int see_others(struct scan *s, const char *work)
{
	DIR *d = work ? opendir(work) : NULL;
	struct dirent *e;
	int r = 0;

	if (!d)
		return work && errno != ENOENT ? -errno : 0;
	while (r == 0 && (e = readdir(d))) {
		struct workload other;
		struct lease_process *p;
		int fd;

		if (e->d_name[0] == '.')
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (record_read(fd, &other) == 0 && strcmp(other.id, s->w->id)) {
			p = grow(s->others, &s->size_others, s->n_others, sizeof *p);
			if (p) {
				s->others = p;
				s->others[s->n_others++] = other.keeper;
			} else {
				r = -ENOMEM;
			}
		}
		close(fd);
	}
	closedir(d);
	return r;
}

static bool is_others_keeper(const struct scan *s, const struct lease_process *p)
{
	for (size_t i = 0; i < s->n_others; i++)
		if (same(&s->others[i], p))
			return true;
	return false;
}

static void say_left(const struct scan *s, const struct seen *p)
{
	char name[32];

	if (!s->say_all)
		return;
	process_name(p->p.pid, name);
	say("left alone: pid %" PRId32 " %s runs as another user", p->p.pid, name);
}

static bool is_member(const struct members *l, const struct lease_process *p)
{
	for (size_t i = 0; i < l->n; i++)
		if (same(&l->m[i].p, p))
			return true;
	return false;
}

/* A process of the requester's (then it is added), or another user's; what has just died is nobody's. */
static int add_seen(struct scan *s, struct members *l, const struct seen *p)
{
	struct member m = {
	    .p = p->p, .state = p->state, .keeper = same(&p->p, &s->w->keeper), .by_tree = true};
	int fd, r;

	if (dead(p->state) || (s->w->mode != MODE_SUBREAPER && is_member(l, &p->p)))
		return 0;
	r = lease_process_open(&p->p, s->w->uid, &fd);
	if (r == -EPERM)
		say_left(s, p);
	if (r == -EPERM || r == -ESRCH)
		return 0;
	if (r < 0)
		return r;
	close(fd);
	return members_add(l, &m);
}

/* What starts another tree, or must not be touched. */
static bool is_border(const struct scan *s, const struct seen *p)
{
	return is_above(s, p->p.pid) || (s->parent > 1 && p->ppid == s->parent) ||
	       is_others_keeper(s, &p->p) || label_of(p->p.pid, s->w->id) == LABEL_OTHER;
}

/* All below all[at], parents first; dead ones count as a way to their children. */
static int add_below(struct scan *s, struct members *l, size_t at)
{
	size_t *todo = reallocarray(NULL, s->n, sizeof *todo), n = 0;
	int r = 0;

	if (!todo)
		return -ENOMEM;
	s->all[at].place = MEMBER;
	todo[n++] = at;
	for (size_t i = 0; r == 0 && i < n; i++) {
		const struct seen *parent = &s->all[todo[i]];

		r = add_seen(s, l, parent);
		for (size_t k = 0; k < s->n; k++) {
			struct seen *p = &s->all[k];

			if (p->place != OUTSIDE || p->ppid != parent->p.pid)
				continue;
			p->place = is_border(s, p) ? NESTED : MEMBER;
			if (p->place == MEMBER)
				todo[n++] = k;
		}
	}
	free(todo);
	return r;
}

static bool below_nested(const struct scan *s, const struct seen *p)
{
	struct seen key = {.p.pid = p->ppid};
	const struct seen *parent = bsearch(&key, s->all, s->n, sizeof key, by_pid);

	return parent && parent->place == NESTED;
}

/*
 * All of the host, whoever's: so not each with each, or one user's sleepers by the ten thousand would slow down
 * everybody's acts.
 */
static void mark_nested(struct scan *s)
{
	bool more = s->n_others > 0;

	for (size_t i = 0; i < s->n; i++)
		if (is_others_keeper(s, &s->all[i].p))
			s->all[i].place = NESTED;
	while (more) {
		more = false;
		for (size_t i = 0; i < s->n; i++)
			if (s->all[i].place == OUTSIDE && below_nested(s, &s->all[i])) {
				s->all[i].place = NESTED;
				more = true;
			}
	}
}

static int add_escapes(struct scan *s, struct members *l)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n; i++) {
		struct seen *p = &s->all[i];
		char path[32], name[32];
		struct stat st;

		if (p->place != OUTSIDE || dead(p->state))
			continue;
		snprintf(path, sizeof path, "/proc/%" PRId32, p->p.pid);
		if (stat(path, &st) < 0 || st.st_uid != s->w->uid)
			continue;
		if (is_border(s, p) || label_of(p->p.pid, s->w->id) != LABEL_OURS || is_member(l, &p->p))
			continue;
		if (s->say_all) {
			process_name(p->p.pid, name);
			say("escaped: pid %" PRId32 " %s", p->p.pid, name);
		}
		r = add_below(s, l, i);
	}
	return r;
}

static int find_tree(struct scan *s, const char *work, struct members *ret)
{
	int r = see_all(s);

	if (r == 0)
		r = see_others(s, work);
	for (size_t i = 0; r == 0 && i < s->n; i++)
		if (same(&s->all[i].p, &s->w->keeper))
			r = add_below(s, ret, i);
	if (r < 0)
		return r;
	mark_nested(s);
	return add_escapes(s, ret);
}

struct in_cgroup {
	struct scan *s;
	struct members *l;
};

static int add_from_cgroup(void *arg, int32_t pid)
{
	struct in_cgroup *c = arg;
	struct member m = {.p = {.pid = pid}};
	char name[32];

	if (is_above(c->s, pid)) {
		process_name(pid, name);
		say("pid %" PRId32 " %s is the daemon's, and in %s: move it out first", pid, name,
		    c->s->w->cgroup);
		return -EBUSY;
	}
	if (lease_process_stat(pid, &m.p.start, NULL, &m.state) < 0 || dead(m.state))
		return 0;
	m.keeper = same(&m.p, &c->s->w->keeper);
	return members_add(c->l, &m);
}

int members_find(const struct workload *w, const char *work, bool say_all, struct members *ret)
{
	struct scan s = {.w = w, .say_all = say_all};
	struct in_cgroup c = {&s, ret};
	int r;

	*ret = (struct members){NULL, 0, 0};
	find_above(&s);
	r = w->mode == MODE_SUBREAPER ? 0 : cgroup_each(w->cgroup, add_from_cgroup, &c);
	r = r ? r : find_tree(&s, work, ret);
	free(s.all);
	free(s.others);
	return r;
}

/* Being in our cgroup is our label, whoever it runs as. */
int member_open(const struct workload *w, const struct member *m, int *ret_pidfd)
{
	return lease_process_open(&m->p, m->by_tree ? w->uid : (uid_t)-1, ret_pidfd);
}

int member_signal(const struct workload *w, const struct member *m, int sig)
{
	int fd, r = member_open(w, m, &fd);

	if (r < 0)
		return r;
	r = pidfd_send_signal(fd, sig, NULL, 0) < 0 ? -errno : 0;
	close(fd);
	return r;
}

/* By a signal, or held by a debugger. */
bool member_stopped(const struct member *m)
{
	return m->state == 'T' || m->state == 't';
}

int64_t members_memory(const struct members *l)
{
	int64_t pages = 0;

	for (size_t i = 0; i < l->n; i++) {
		char path[64];
		long long resident;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%" PRId32 "/statm", l->m[i].p.pid);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%*s %lld", &resident) == 1)
			pages += resident;
		fclose(f);
	}
	return pages * sysconf(_SC_PAGESIZE);
}
