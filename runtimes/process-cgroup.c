/*
 * process-cgroup.c: cgroup v2 (cgroup.freeze, cgroup.kill, cgroup.events) and, where that isn't to be had,
 * v1's freezer with cpuacct. Sources: Linux Documentation/admin-guide/cgroup-v2.rst and
 * cgroup-v1/freezer-subsystem.rst, proc_pid_mountinfo(5), cgroups(7).
 */
#include "config.h"

#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32
#define OURS "/leasewatch"

static int join(char to[PATH_SIZE], const char *a, const char *b, const char *c)
{
	return snprintf(to, PATH_SIZE, "%s%s%s", a, b, c) < PATH_SIZE ? 0 : -ENAMETOOLONG;
}

static int write_file(const char *folder, const char *file, const char *text)
{
	char path[PATH_SIZE];
	int fd, r = join(path, folder, file, "");
	size_t n = strlen(text);

	if (r < 0)
		return r;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = write(fd, text, n) == (ssize_t)n ? 0 : -errno;
	close(fd);
	return r;
}

static int read_file(const char *folder, const char *file, char *buf, size_t size)
{
	char path[PATH_SIZE];
	int fd, r = join(path, folder, file, "");
	ssize_t n;

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	r = n < 0 ? -errno : 0;
	close(fd);
	if (r == 0)
		buf[n] = '\0';
	return r;
}

/* A word in a list parted by commas. */
static bool lists(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, word, n) && (p[n] == ',' || !p[n]))
			return true;
	}
	return false;
}

/* Where a hierarchy is mounted, and which of its folders is the mount's top. controller NULL = v2. -ENOENT.
 */
static int find_mount(const char *controller, char mount[PATH_SIZE], char top[PATH_SIZE])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	int r = -ENOENT;

	if (!f)
		return -errno;
	while (r == -ENOENT && getline(&line, &size, f) > 0) {
		char type[16], options[256];
		const char *dash = strstr(line, " - ");

		if (!dash || sscanf(dash, " - %15s %*s %255s", type, options) != 2)
			continue;
		if (strcmp(type, controller ? "cgroup" : "cgroup2") ||
		    (controller && !lists(options, controller)))
			continue;
		/* Blanks and the like come as \ooo there; nobody mounts cgroups on such a path. */
		if (sscanf(line, "%*s %*s %*s %511s %511s", top, mount) == 2 && !strchr(mount, '\\'))
			r = 0;
	}
	free(line);
	fclose(f);
	return r;
}

/* Our own folder in a hierarchy, as /proc/self/cgroup has it. */
static int own_folder(const char *controller, char own[PATH_SIZE])
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char *line = NULL;
	size_t size = 0;
	int r = -ENOENT;

	if (!f)
		return -errno;
	while (r == -ENOENT && getline(&line, &size, f) > 0) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (controller ? !lists(list + 1, controller) : list[1] != '\0')
			continue;
		path[strcspn(path, "\n")] = '\0';
		r = join(own, path, "", "");
	}
	free(line);
	fclose(f);
	return r;
}

/* root: a folder for all leases at the top, which users can't move things out of. Others: below where they
 * are themselves. */
static int place_in(const char *controller, const char *name, char path[PATH_SIZE])
{
	char mount[PATH_SIZE], top[PATH_SIZE], own[PATH_SIZE], base[PATH_SIZE];
	const char *below = own;
	int r = find_mount(controller, mount, top);

	if (r < 0)
		return r;
	if (geteuid() == 0)
		return join(path, mount, OURS "/", name);
	r = own_folder(controller, own);
	if (r < 0)
		return r;
	if (strcmp(top, "/") && !strncmp(own, top, strlen(top)))
		below += strlen(top);
	r = join(base, mount, strcmp(below, "/") ? below : "", "");
	return r < 0 ? r : join(path, base, OURS "-", name);
}

int cgroup_place(enum mode m, const char *name, char cgroup[PATH_SIZE], char cpuacct[PATH_SIZE])
{
	int r = place_in(m == MODE_CGROUP2 ? NULL : "freezer", name, cgroup);

	cpuacct[0] = '\0';
	/* Mounted together, one folder is both; apart, or not at all, the freezer does without. */
	if (r == 0 && m == MODE_CGROUP1 && place_in("cpuacct", name, cpuacct) < 0)
		cpuacct[0] = '\0';
	return r;
}

/* The folder above is ours where its name says so; another's destroy may remove it just before we use it. */
int cgroup_make(const char *path)
{
	char above[PATH_SIZE];
	char *slash;
	int r = join(above, path, "", "");

	if (r < 0)
		return r;
	slash = strrchr(above, '/');
	*slash = '\0';
	for (int i = 0; i < 10; i++) {
		if (mkdir(path, 0755) == 0 || errno == EEXIST)
			return 0;
		if (errno != ENOENT)
			return -errno;
		if (mkdir(above, 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	return -EBUSY;
}

int cgroup_move(const char *path, int32_t pid)
{
	char text[16];

	snprintf(text, sizeof text, "%" PRId32, pid);
	return write_file(path, "/cgroup.procs", text);
}

/* The folder above the one for leases. */
static int outside(const char *path, char above[PATH_SIZE])
{
	int r = join(above, path, "", "");

	if (r < 0)
		return r;
	*strrchr(above, '/') = '\0';
	if (geteuid() == 0)
		*strrchr(above, '/') = '\0';
	return 0;
}

static int move_out(void *arg, int32_t pid)
{
	(void)cgroup_move(arg, pid);
	return 0;
}

void cgroup_evacuate(const char *path)
{
	char above[PATH_SIZE];

	if (outside(path, above) == 0)
		(void)cgroup_each(path, move_out, above);
}

static int is_pid(void *arg, int32_t pid)
{
	return pid == *(int32_t *)arg;
}

void cgroup_evict(const char *path, int32_t pid)
{
	char above[PATH_SIZE];

	if (outside(path, above) == 0 && cgroup_each(path, is_pid, &pid) == 1)
		(void)cgroup_move(above, pid);
}

static int each_below(const char *path, int depth, int (*folder)(void *arg, const char *path), void *arg);

static int each_folder_below(const char *path, int depth, int (*folder)(void *, const char *), void *arg)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int r = 0;

	if (!d)
		return errno == ENOENT ? 0 : -errno;
	while (r == 0 && (e = readdir(d))) {
		char below[PATH_SIZE];

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		r = join(below, path, "/", e->d_name);
		if (r == 0)
			r = each_below(below, depth + 1, folder, arg);
	}
	closedir(d);
	return r;
}

/* The deepest first. */
static int each_below(const char *path, int depth, int (*folder)(void *, const char *), void *arg)
{
	int r = depth < DEPTH_MAX ? each_folder_below(path, depth, folder, arg) : -ELOOP;

	return r ? r : folder(arg, path);
}

struct each_pid {
	int (*each)(void *arg, int32_t pid);
	void *arg;
};

static int pids_of_folder(void *arg, const char *path)
{
	const struct each_pid *p = arg;
	char name[PATH_SIZE], line[32];
	int r = join(name, path, "/cgroup.procs", "");
	FILE *f;

	if (r < 0)
		return r;
	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT || errno == ENODEV ? 0 : -errno;
	while (r == 0 && fgets(line, sizeof line, f)) {
		long pid = strtol(line, NULL, 10);

		/* 0 is somebody in another pid namespace: there, but without a number for us. */
		r = pid > 0 ? p->each(p->arg, (int32_t)pid) : 0;
	}
	if (r == 0 && ferror(f) && errno != ENODEV)
		r = -EIO;
	fclose(f);
	return r;
}

int cgroup_each(const char *path, int (*each)(void *arg, int32_t pid), void *arg)
{
	struct each_pid p = {each, arg};

	return each_below(path, 0, pids_of_folder, &p);
}

static bool says(const char *text, const char *word)
{
	const char *p = strstr(text, word);

	return p && (p == text || p[-1] == '\n');
}

/* v2 tells of a change by POLLPRI on cgroup.events. */
static int wait_event(const char *path, const char *word, int limit)
{
	char name[PATH_SIZE], buf[256];
	int fd, r = join(name, path, "/cgroup.events", "");

	if (r < 0)
		return r;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (r = 0; r >= 0;) {
		ssize_t n = pread(fd, buf, sizeof buf - 1, 0);

		if (n < 0) {
			r = -errno;
			break;
		}
		buf[n] = '\0';
		if (says(buf, word)) {
			r = 0;
			break;
		}
		r = limit_poll(limit, &fd, 1, POLLPRI);
	}
	close(fd);
	return r;
}

/* v1 tells nobody: looked at with growing pauses. Writing again catches what was forked while it froze. */
static int wait_state(const char *path, const char *word, int limit)
{
	unsigned pass = 0;
	char buf[32];
	int r;

	do {
		r = write_file(path, "/freezer.state", word);
		if (r == 0)
			r = read_file(path, "/freezer.state", buf, sizeof buf);
		if (r < 0)
			return r;
		buf[strcspn(buf, "\n")] = '\0';
		if (!strcmp(buf, word))
			return 0;
		r = limit_nap(limit, &pass);
	} while (r == 0);
	return r;
}

int cgroup_freeze(const struct workload *w, int limit)
{
	int r;

	if (w->mode == MODE_CGROUP1)
		return wait_state(w->cgroup, "FROZEN", limit);
	r = write_file(w->cgroup, "/cgroup.freeze", "1");
	return r < 0 ? r : wait_event(w->cgroup, "frozen 1", limit);
}

int cgroup_thaw(const struct workload *w, int limit)
{
	int r;

	if (w->mode == MODE_CGROUP1)
		return wait_state(w->cgroup, "THAWED", limit);
	r = write_file(w->cgroup, "/cgroup.freeze", "0");
	return r < 0 ? r : wait_event(w->cgroup, "frozen 0", limit);
}

bool cgroup_frozen(const struct workload *w)
{
	char buf[256] = "";

	if (w->mode == MODE_CGROUP1)
		return read_file(w->cgroup, "/freezer.state", buf, sizeof buf) == 0 && says(buf, "FROZEN");
	return read_file(w->cgroup, "/cgroup.freeze", buf, sizeof buf) == 0 && buf[0] == '1';
}

int cgroup_kill(const char *path)
{
	return write_file(path, "/cgroup.kill", "1");
}

static int remove_folder(void *arg, const char *path)
{
	(void)arg;
	return rmdir(path) < 0 && errno != ENOENT ? -errno : 0;
}

int cgroup_remove(const char *path, int limit)
{
	char above[PATH_SIZE];
	unsigned pass = 0;
	int r;

	/* Busy for a moment after its last process has gone. */
	while ((r = each_below(path, 0, remove_folder, NULL)) == -EBUSY)
		if (limit_nap(limit, &pass) < 0)
			break;
	if (r < 0 || join(above, path, "", "") < 0)
		return r;
	*strrchr(above, '/') = '\0';
	if (geteuid() == 0 && !strcmp(strrchr(above, '/'), OURS))
		(void)rmdir(above); /* the last one turns off the light */
	return 0;
}

int64_t cgroup_cpu_usec(const struct workload *w)
{
	char buf[1024];
	const char *p;

	if (w->mode == MODE_CGROUP2) {
		if (read_file(w->cgroup, "/cpu.stat", buf, sizeof buf) < 0)
			return -1;
		p = strstr(buf, "usage_usec ");
		return p ? strtoll(p + 11, NULL, 10) : -1;
	}
	if (!w->cpuacct[0] || read_file(w->cpuacct, "/cpuacct.usage", buf, sizeof buf) < 0)
		return -1;
	return strtoll(buf, NULL, 10) / 1000;
}
