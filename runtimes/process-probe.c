/*
 * process-probe.c: whether criu(8) works here, found out with a process of its own that is put to disk and brought
 * back. There are kernels whose processes it can read and not make anew, so nothing less tells.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT ".criu"
#define KEPT_NEW ".criu.new"
#define PROBE_MS 5000
#define SOMEBODY 65534

static void sleeper(void) __attribute__((noreturn));
static void sleeper(void)
{
	int null = open("/dev/null", O_RDWR);

	if (setsid() < 0 || chdir("/") < 0 || null < 0 || setgroups(0, NULL) < 0 || setresgid(SOMEBODY, SOMEBODY, SOMEBODY) < 0 ||
	    setresuid(SOMEBODY, SOMEBODY, SOMEBODY) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0)
		_exit(1);
	for (int i = 0; i <= 2; i++)
		(void)dup2(null, i);
	/* With the pipe's end: now it is ready. */
	if (syscall(SYS_close_range, 3U, ~0U, 0) < 0)
		_exit(1);
	for (;;)
		(void)pause();
}

static int start(pid_t *ret)
{
	char byte;
	int p[2];
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		sleeper();
	close(p[1]);
	if (pid > 0)
		(void)!read(p[0], &byte, 1);
	close(p[0]);
	*ret = pid;
	return pid < 0 ? -errno : 0;
}

static int there_and_back(int dir, int limit, char why[WHY_SIZE])
{
	const struct owner o = {.uid = SOMEBODY, .gid = SOMEBODY};
	struct criu c = {.owner = &o, .lock = -1, .limit = limit};
	pid_t pid = 0;
	int e = image_make(dir, "image", &o, &c.images);

	if (e < 0)
		return e;
	e = start(&pid);
	if (e == 0) {
		c.root = pid;
		e = criu_run(&c, true, why);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		e = e ? e : criu_run(&c, false, why);
		if (e == 0 && lease_process_stat(pid, NULL, NULL, NULL) == 0)
			(void)kill(pid, SIGKILL);
		else if (e == 0)
			e = -ESRCH;
	}
	close(c.images);
	return e;
}

static int probe(char why[WHY_SIZE])
{
	char path[] = "/tmp/lease-probe.XXXXXX";
	int dir, limit, e;

	if (!mkdtemp(path))
		return -errno;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	e = dir < 0 ? -errno : limit_start(PROBE_MS, &limit);
	if (e == 0) {
		e = there_and_back(dir, limit, why);
		close(limit);
		(void)image_remove(dir, "image");
	}
	if (dir >= 0)
		close(dir);
	(void)rmdir(path);
	return e;
}

/* Where it is and which it is: with another one, it is found out anew. */
static bool criu_at(char key[PATH_MAX + 128], const char *boot)
{
	const char *at = getenv("PATH"), *end;
	char path[PATH_MAX];
	struct stat st;

	for (; at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, ':');
		if (snprintf(path, sizeof path, "%.*s/criu", (int)(end - at), at) >= (int)sizeof path || stat(path, &st) < 0)
			continue;
		snprintf(key, PATH_MAX + 128, "%s %s %ju %jd", boot, path, (uintmax_t)st.st_ino, (intmax_t)st.st_mtime);
		return true;
	}
	return false;
}

static bool remembered(int work, const char *key, char why[WHY_SIZE])
{
	int fd = openat(work, KEPT, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[PATH_MAX + 128] = "";
	bool same;

	if (!f)
		return false;
	same = fgets(line, sizeof line, f) && (line[strcspn(line, "\n")] = '\0', !strcmp(line, key));
	if (same && fgets(why, WHY_SIZE, f))
		why[strcspn(why, "\n")] = '\0';
	fclose(f);
	return same;
}

static void remember(int work, const char *key, const char *why)
{
	int fd = openat(work, KEPT_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	if (dprintf(fd, "%s\n%s\n", key, why) > 0)
		(void)renameat(work, KEPT_NEW, work, KEPT);
	close(fd);
}

bool disk_works(const struct request *r, char why[WHY_SIZE])
{
	char key[PATH_MAX + 128];
	int work, e;

	why[0] = '\0';
	if (geteuid() != 0) {
		snprintf(why, WHY_SIZE, "CRIU: only root can put numbers of processes back");
		return false;
	}
	if (!criu_at(key, r->boot)) {
		snprintf(why, WHY_SIZE, "CRIU: there is none");
		return false;
	}
	work = r->work ? open(r->work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (work < 0 || !remembered(work, key, why)) {
		e = probe(why);
		if (e < 0 && !why[0])
			snprintf(why, WHY_SIZE, "CRIU: %s", e == -ETIME ? "not in the time given" : strerror(-e));
		if (work >= 0)
			remember(work, key, why);
	}
	if (work >= 0)
		close(work);
	return !why[0];
}
