/*
 * process-criu.c: criu(8), run as the workload's own user: what it opens, it opens with that user's rights, so an
 * image that names another's file by a link that was put there meanwhile gets at nothing. It has three capabilities
 * besides: CAP_CHECKPOINT_RESTORE (numbers of processes), CAP_SYS_PTRACE, CAP_SETPCAP (their bounding set).
 * Source: criu(8) --unprivileged, capabilities(7) on ambient ones.
 *
 * It is in a session of its own and holds the lease's lock: cut off in the middle it would leave processes that are
 * half its own, so it is never ended. Who comes next finds the lease being worked on.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int caps[] = {CAP_CHECKPOINT_RESTORE, CAP_SYS_PTRACE, CAP_SETPCAP};

int criu_find(void)
{
	const char *first = getenv("LEASE_RUNTIME_PATH"), *rest = getenv("PATH");
	char *path;

	if (!first)
		return 0;
	if (asprintf(&path, "%s%s%s", first, rest ? ":" : "", rest ? rest : "") < 0)
		return -ENOMEM;
	/* The daemon's configuration is root's. */
	if (setenv("PATH", path, 1) < 0) {
		free(path);
		return -ENOMEM;
	}
	free(path);
	return unsetenv("LEASE_RUNTIME_PATH") < 0 ? -errno : 0;
}

static int raise_caps(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
		struct __user_cap_data_struct *d = &data[CAP_TO_INDEX(caps[i])];

		d->permitted |= CAP_TO_MASK(caps[i]);
		d->effective = d->inheritable = d->permitted;
	}
	if (syscall(SYS_capset, &head, data) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, caps[i], 0, 0) < 0)
			return -errno;
	return 0;
}

static int become(const struct owner *o)
{
	/* root's processes have all that it has, and so has it. */
	if (o->uid == 0)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setgroups(o->n_groups, o->groups) < 0 ||
	    setresgid(o->gid, o->gid, o->gid) < 0 || setresuid(o->uid, o->uid, o->uid) < 0)
		return -errno;
	return raise_caps();
}

static void child(const struct criu *c, const char *const *argv, int log) __attribute__((noreturn));
static void child(const struct criu *c, const char *const *argv, int log)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), e = 0;

	(void)setsid();
	(void)signal(SIGPIPE, SIG_DFL);
	if (c->w && c->w->cgroup[0])
		e = cgroup_move(c->w->cgroup, getpid());
	if (e == 0 && c->w && c->w->cpuacct[0] && strcmp(c->w->cpuacct, c->w->cgroup))
		e = cgroup_move(c->w->cpuacct, getpid());
	/* Those two outlive exec: the images, and the lock. */
	if (e == 0 && (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
		       fcntl(c->images, F_SETFD, 0) < 0 || (c->lock >= 0 && fcntl(c->lock, F_SETFD, 0) < 0)))
		e = -errno;
	e = e ? e : become(c->owner);
	if (e == 0) {
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		e = -errno;
	}
	dprintf(2, "Error %s: %s\n", argv[0], strerror(-e));
	_exit(127);
}

/* The first thing that it calls an error is the cause; what comes behind are consequences. */
static void first_error(int log, char why[WHY_SIZE])
{
	FILE *f = fdopen(log, "r");
	char line[512], version[16] = "";

	if (!f) {
		close(log);
		return;
	}
	rewind(f);
	while (fgets(line, sizeof line, f)) {
		const char *p = strstr(line, "Error "), *v = strstr(line, "Version: ");

		line[strcspn(line, "\n")] = '\0';
		if (v)
			(void)sscanf(v, "Version: %15[0-9.]", version);
		if (!p)
			continue;
		/* Without the place in its source. */
		p = p[6] == '(' && strstr(p, "): ") ? strstr(p, "): ") + 3 : p + 6;
		snprintf(why, WHY_SIZE, "CRIU%s%s: %.*s", version[0] ? " " : "", version, WHY_SIZE - 32, p);
		break;
	}
	fclose(f);
	if (!why[0])
		snprintf(why, WHY_SIZE, "CRIU%s%s: it failed and didn't say why", version[0] ? " " : "", version);
}

/* 0 it has ended well, -EIO it hasn't, -ETIME it is still at it. */
static int wait_for(pid_t pid, int limit)
{
	int fd = pidfd_open(pid, 0), r, status;

	if (fd < 0)
		return -errno;
	r = limit_poll(limit, &fd, 1, POLLIN);
	close(fd);
	if (r < 0)
		return r;
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int criu_run(const struct criu *c, bool dump, char why[WHY_SIZE])
{
	char images[32], tree[16];
	const char *argv[16] = {"criu", dump ? "dump" : "restore", c->w ? "-v1" : "-v4", "-D", images, "--manage-cgroups=ignore",
				"--file-locks"};
	int log = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), n = 7, r;
	pid_t pid;

	why[0] = '\0';
	if (log < 0)
		return -errno;
	snprintf(images, sizeof images, "/proc/self/fd/%d", c->images);
	snprintf(tree, sizeof tree, "%" PRId32, c->root);
	if (c->owner->uid != 0)
		argv[n++] = "--unprivileged";
	if (dump) {
		/* Nothing ends before what was written has been looked at. */
		argv[n++] = "--leave-stopped";
		argv[n++] = "-t";
		argv[n++] = tree;
	} else {
		argv[n++] = "--restore-detached";
	}
	pid = fork();
	if (pid == 0)
		child(c, argv, log);
	r = pid < 0 ? -errno : wait_for(pid, c->limit);
	if (r == -EIO)
		first_error(log, why);
	else
		close(log);
	return r;
}
