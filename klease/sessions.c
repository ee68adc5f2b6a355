#include "config.h"

#include "klease/sessions.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "klease/clock.h"
#include "lease/duration.h"
#include "lease/process.h"

#define HOLD_MAX (LEASE_NS_PER_S / 2)
#define ANCESTORS_MAX 64

static int read_session(const struct world *w, const char *name, const char *id, uid_t uid,
			struct session *ret)
{
	char buf[LEASE_FILE_MAX];
	struct lease_error err;
	size_t len;
	int r;

	r = lease_read(w->tree.active, name, uid, buf, sizeof buf, &len, &ret->st);
	if (r < 0)
		return r;
	if (lease_record_parse(buf, len, &ret->record, &err) < 0 || !ret->record.is_session ||
	    (ret->record.id[0] && strcmp(ret->record.id, id)))
		return -EINVAL;
	(void)strlcpy(ret->record.id, id, sizeof ret->record.id);
	(void)strlcpy(ret->name, name, sizeof ret->name);
	return 0;
}

int session_get(const struct world *w, const char *id, struct session *ret)
{
	char name[LEASE_NAME_SIZE];
	int r = lease_find(w->tree.active, id, name);

	return r < 0 ? r : read_session(w, name, id, (uid_t)-1, ret);
}

struct search {
	const struct world *w;
	char label[LEASE_LABEL_SIZE], user[LEASE_USER_SIZE];
	int (*each)(void *arg, const struct session *s);
	void *arg;
	struct session s;
};

/* Of thousands of locks only those that carry our name are opened. The name is as session start made it. */
static bool named_as_ours(const struct search *f, const char *name, const char *id)
{
	char ours[LEASE_NAME_SIZE];
	size_t len = strlen(name), tail;

	if (lease_name_make(ours, "x", f->user, id) < 0)
		return false;
	tail = strlen(ours) - strlen("lock-x");
	return len > tail && !strcmp(name + len - tail, ours + strlen("lock-x"));
}

static bool dead(const struct world *w, const struct lease_record *r)
{
	int fd, e;

	if (r->leader.pid == 0)
		return false;
	if (strcmp(r->boot, w->boot))
		return true;
	e = lease_process_open(&r->leader, (uid_t)-1, &fd);
	if (e == 0)
		close(fd);
	return e == -ESRCH;
}

static int take_agent(void *arg, const char *name)
{
	struct search *f = arg;
	const char *id = lease_name_lock_id(name);

	if (!id || !named_as_ours(f, name, id) || read_session(f->w, name, id, f->w->uid, &f->s) < 0)
		return 0;
	for (int i = 0; i < f->s.record.n_labels; i++)
		if (!strcmp(f->s.record.labels[i], f->label))
			return !dead(f->w, &f->s.record);
	return 0;
}

int session_of_agent(const struct world *w, const char *agent, struct session *ret)
{
	struct search f = {.w = w};
	int r;

	(void)snprintf(f.label, sizeof f.label, "agent=%s", agent);
	world_user(w, f.user);
	r = lease_list(w->tree.active, take_agent, &f);
	if (r == 1)
		*ret = f.s;
	return r == 1 ? 0 : r < 0 ? r : -ENOENT;
}

static int take_any(void *arg, const char *name)
{
	struct search *f = arg;
	const char *id = lease_name_lock_id(name);

	if (!id || read_session(f->w, name, id, (uid_t)-1, &f->s) < 0)
		return 0;
	return f->each(f->arg, &f->s);
}

int session_each(const struct world *w, int (*each)(void *arg, const struct session *s), void *arg)
{
	struct search f = {.w = w, .each = each, .arg = arg};

	return lease_list(w->tree.active, take_any, &f);
}

/* Anybody can hold the folder's lock, so it is asked for and never relied on. */
void session_hold(const struct world *w)
{
	int64_t deadline = clock_mono() + HOLD_MAX;

	while (flock(w->tree.active, LOCK_EX | LOCK_NB) < 0 && clock_mono() < deadline)
		(void)poll(NULL, 0, 10);
}

void session_let_go(const struct world *w)
{
	(void)flock(w->tree.active, LOCK_UN);
}

/* By the program, since a script has its own name in comm. What only starts another and waits for it is no
 * leader either. */
static bool is_shell(int32_t pid)
{
	static const char *const shells[] = {
	    "ash",    "bash", "busybox", "chrt", "csh",  "dash",    "env",   "fish",
	    "ionice", "ksh",  "ksh93",   "mksh", "nice", "nohup",   "rbash", "script",
	    "setsid", "sh",   "stdbuf",  "tcsh", "time", "timeout", "zsh",
	};
	char path[32], exe[PATH_MAX], *base;
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof exe - 1);
	if (n < 0)
		return false;
	exe[n] = '\0';
	base = strrchr(exe, '/');
	base = base ? base + 1 : exe;
	base[strcspn(base, " ")] = '\0'; /* " (deleted)": upgraded under us */
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (!strcmp(base, shells[i]))
			return true;
	return false;
}

void session_leader(const struct world *w, struct lease_process *ret)
{
	int32_t pid = getppid();

	*ret = (struct lease_process){0};
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		struct lease_process p = {.pid = pid};
		int32_t parent;
		int fd;

		if (lease_process_stat(pid, &p.start, &parent, NULL) < 0)
			return;
		if (!is_shell(pid)) {
			if (lease_process_open(&p, w->uid, &fd) < 0)
				return;
			close(fd);
			*ret = p;
			return;
		}
		pid = parent;
	}
}
