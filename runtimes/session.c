/*
 * session: the runtime of a login's or an agent's own lease. It drives nothing: no process of a session is ever
 * ended, frozen or moved. What it can do is look: whether anything of the session still lives, and on which
 * terminals its user can be told something.
 *
 * What belongs to a session: processes of its user (real uid) with the audit session id that pam_lease wrote
 * into the twin, or with KLEASE_SESSION=ID in their environment; but not the workloads of leases (KLEASE_ID= in
 * the environment, and their keepers), which are bound to the session and must not keep it alive, nor a daemon that was
 * started from it. An
 * environment is searched for fixed words, never parsed.
 *
 * lease-runtime(7). Verbs beyond it: warn, with LEASE_ABOUT (the lease that ends) and LEASE_SECONDS.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lease/process.h"
#include "lease/tree.h"
#include "lease/twin.h"

#define EXIT_ABSENT 3
#define TTYS_MAX 16

struct session {
	const char *id;
	uid_t uid;
	uint32_t audit; /* 0 = not known */
};

struct found {
	struct lease_process oldest;
	int n_ttys;
	dev_t ttys[TTYS_MAX];
};

static const char *need(const char *key)
{
	const char *value = getenv(key);

	if (!value || !*value) {
		fprintf(stderr, "session: %s is not set: this program is run by leasewatch, see lease-runtime(7)\n", key);
		exit(1);
	}
	return value;
}

/* The twin, where root wrote one (in user mode: where we did). */
static bool read_twin(const char *id, struct lease_twin *t)
{
	const char *dir = getenv("LEASE_SESSIONS");
	char buf[LEASE_FILE_MAX];
	struct lease_error err;
	size_t len;
	int fd = dir ? open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	bool good = fd >= 0 && lease_read(fd, id, geteuid(), buf, sizeof(buf), &len, NULL) == 0 &&
		    lease_twin_parse(buf, len, t, &err) == 0 && strcmp(t->id, id) == 0;

	if (fd >= 0)
		close(fd);
	return good;
}

/* A small file of /proc, whole or its first part; 0 bytes when it can't be read. */
static size_t slurp(int proc, const char *pid, const char *name, char *buf, size_t size)
{
	char path[64];
	size_t len = 0;
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/%s", pid, name) >= (int)sizeof(path))
		return 0;
	int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (len < size && (n = read(fd, buf + len, size - len)) > 0)
		len += (size_t)n;
	close(fd);
	return len;
}

/* Whether one of the NUL-ended words begins with prefix; with whole, is it. */
static bool has_word(const char *env, size_t len, const char *prefix, bool whole)
{
	size_t n = strlen(prefix);

	for (size_t at = 0; at < len;) {
		size_t word = strnlen(env + at, len - at);
		if (word >= n && memcmp(env + at, prefix, n) == 0 && (!whole || word == n))
			return true;
		at += word + 1;
	}
	return false;
}

static bool belongs(const struct session *s, int proc, const char *pid)
{
	/* the kernel's own limit for one string; what is longer has our word in its first part or not */
	static char env[131072];
	char text[32], mine[64];
	struct stat st;

	if (fstatat(proc, pid, &st, 0) < 0 || st.st_uid != s->uid)
		return false;
	size_t n = slurp(proc, pid, "comm", text, sizeof(text) - 1);
	text[n] = '\0';
	if (strcmp(text, "klease-keeper\n") == 0 || strcmp(text, "leasewatch\n") == 0)
		return false;
	size_t len = slurp(proc, pid, "environ", env, sizeof(env));
	if (has_word(env, len, "KLEASE_ID=", false))
		return false;
	n = slurp(proc, pid, "sessionid", text, sizeof(text) - 1);
	text[n] = '\0';
	if (s->audit != 0 && n > 0 && strtoul(text, NULL, 10) == s->audit)
		return true;
	(void)snprintf(mine, sizeof(mine), "KLEASE_SESSION=%s", s->id);
	return has_word(env, len, mine, true);
}

/* Field 7 of /proc/PID/stat, behind the last ')' of the name. */
static dev_t tty_of(int proc, const char *pid)
{
	char buf[1024], *p;
	size_t n = slurp(proc, pid, "stat", buf, sizeof(buf) - 1);
	int tty = 0;

	buf[n] = '\0';
	if (!(p = strrchr(buf, ')')) || sscanf(p + 1, " %*c %*d %*d %*d %d", &tty) != 1)
		return 0;
	return (dev_t)(unsigned)tty;
}

static void note_tty(struct found *f, dev_t tty)
{
	for (int i = 0; i < f->n_ttys; i++)
		if (f->ttys[i] == tty)
			return;
	if (tty != 0 && f->n_ttys < TTYS_MAX)
		f->ttys[f->n_ttys++] = tty;
}

/* A name in /proc that is a process's number, else 0. */
static int32_t pid_of(const char *name)
{
	char *end;
	long n = strtol(name, &end, 10);

	return *end == '\0' && n > 0 && n <= INT32_MAX ? (int32_t)n : 0;
}

static int search(const struct session *s, struct found *f)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	if (!d) {
		fprintf(stderr, "session: /proc: %s\n", strerror(errno));
		return -1;
	}
	while ((e = readdir(d)) != NULL) {
		struct lease_process p = { .pid = pid_of(e->d_name) };
		char state;
		if (p.pid <= 1 || p.pid == getpid() || !belongs(s, dirfd(d), e->d_name))
			continue;
		if (lease_process_stat(p.pid, &p.start, NULL, &state) < 0 || state == 'Z' || state == 'X')
			continue;
		if (f->oldest.pid == 0 || p.start < f->oldest.start)
			f->oldest = p;
		note_tty(f, tty_of(dirfd(d), e->d_name));
	}
	closedir(d);
	return 0;
}

static int verb_stat(const struct session *s)
{
	struct found f = { .n_ttys = 0 };

	if (search(s, &f) < 0)
		return 1;
	if (f.oldest.pid == 0) {
		puts("state=absent");
		return EXIT_ABSENT;
	}
	printf("state=running\ntree=%d:%llu\n", f.oldest.pid, (unsigned long long)f.oldest.start);
	return 0;
}

/*
 * One line, never waiting for a terminal that is stopped or slow; only on terminals that are the user's and
 * take messages (mesg(1)).
 */
static void say_on(const struct session *s, dev_t tty, const char *line)
{
	char path[64];
	struct stat st;

	if (major(tty) < 136 || major(tty) > 143)
		(void)snprintf(path, sizeof(path), "/dev/tty%u", minor(tty));
	else
		(void)snprintf(path, sizeof(path), "/dev/pts/%u", minor(tty) + 256 * (major(tty) - 136));
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == tty && st.st_uid == s->uid && (st.st_mode & S_IWGRP))
		if (write(fd, line, strlen(line)) < 0)
			fprintf(stderr, "session: %s: %s\n", path, strerror(errno));
	close(fd);
}

static int verb_warn(const struct session *s)
{
	const char *about = need("LEASE_ABOUT");
	struct found f = { .n_ttys = 0 };
	char line[200];

	if (!lease_id_valid(about) || search(s, &f) < 0)
		return 1;
	(void)snprintf(line, sizeof(line), "\r\nleasewatch: %s expires in %s s unless it is renewed: klease renew %s\r\n", about,
		       need("LEASE_SECONDS"), about);
	for (int i = 0; i < f.n_ttys; i++)
		say_on(s, f.ttys[i], line);
	return 0;
}

static int verb_destroy(const struct session *s)
{
	const char *dir = getenv("LEASE_SESSIONS");
	int fd = dir ? open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	/* Its processes are none of our business; its twin is. */
	if (fd >= 0) {
		if (unlinkat(fd, s->id, 0) < 0 && errno != ENOENT)
			fprintf(stderr, "session: %s/%s: %s\n", dir, s->id, strerror(errno));
		close(fd);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc == 2 ? argv[1] : "";
	struct session s = { 0 };
	struct lease_twin twin;

	if (strcmp(verb, "capabilities") == 0) {
		puts("protocol=1\nhibernate=none\nsnapshot=no\nenter=no");
		return 0;
	}
	if (strcmp(verb, "list") == 0)
		return 0; /* nothing that we could leave behind */
	s.id = need("LEASE_ID");
	s.uid = (uid_t)strtoul(need("LEASE_UID"), NULL, 10);
	if (!lease_id_valid(s.id)) {
		fputs("session: LEASE_ID is no id\n", stderr);
		return 1;
	}
	if (read_twin(s.id, &twin) && twin.uid == s.uid)
		s.audit = twin.audit;
	if (strcmp(verb, "create") == 0)
		return 0; /* it is there already: somebody has logged in */
	if (strcmp(verb, "stat") == 0)
		return verb_stat(&s);
	if (strcmp(verb, "warn") == 0)
		return verb_warn(&s);
	if (strcmp(verb, "destroy") == 0)
		return verb_destroy(&s);
	fprintf(stderr, "session: %s: a session is never hibernated, moved or ended by us\n", verb);
	return 1;
}
