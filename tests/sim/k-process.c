/* Processes, and what /proc and the cgroups say of them: proc(5). */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/k.h"

#define PIDS 65536 /* kernel.pid_max: numbers come again */
#define FIRST 300
#define TICK (K_S / 100)

static struct process *table[PIDS];
static int last = FIRST;

struct process *process_find(int32_t pid)
{
	return pid > 0 && pid < PIDS ? table[pid] : NULL;
}

struct lease_process kernel_spawn(uint32_t uid)
{
	struct process *p = k_alloc(sizeof(*p));

	for (int tries = 0; table[last] && tries < PIDS; tries++)
		last = last + 1 < PIDS ? last + 1 : FIRST;
	if (table[last])
		mistake("more than %d processes", PIDS);
	p->pid = last;
	p->uid = uid;
	p->start = (uint64_t)(kernel_boottime() / TICK);
	p->alive = true;
	p->refs = 1;
	table[last] = p;
	last = last + 1 < PIDS ? last + 1 : FIRST;
	return (struct lease_process){.pid = p->pid, .start = p->start};
}

static void put(struct process *p)
{
	if (--p->refs == 0)
		free(p);
}

void kernel_end_process(int32_t pid)
{
	struct process *p = process_find(pid);

	if (!p)
		return;
	table[pid] = NULL;
	p->alive = false;
	for (struct file *f = p->fds; f; f = f->next)
		file_wake(f);
	put(p);
}

void kernel_use_cpu(int32_t pid, int64_t ns)
{
	struct process *p = process_find(pid);

	if (p)
		p->cpu += ns;
}

bool kernel_process_alive(int32_t pid)
{
	return process_find(pid) != NULL;
}

void processes_end(void)
{
	for (int32_t pid = 0; pid < PIDS; pid++)
		kernel_end_process(pid);
}

void processes_free(void)
{
	processes_end();
	last = FIRST;
}

static struct file *file_of(enum file_kind kind, struct process *p, int flags)
{
	struct file *f = file_new(kind, flags);

	f->process = p;
	p->refs++;
	return f;
}

int process_open(int32_t pid)
{
	struct process *p = process_find(pid);
	struct file *f;
	int fd;

	if (pid <= 0)
		return -EINVAL;
	if (!p)
		return -ESRCH;
	f = file_of(F_PROCESS, p, O_RDWR);
	f->next = p->fds;
	p->fds = f;
	fd = fd_new(f);
	return fd;
}

void process_let_go(struct file *f)
{
	file_unlist(&f->process->fds, f);
	put(f->process);
}

static struct file *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static struct file *text(const char *fmt, ...)
{
	struct file *f = file_new(F_TEXT, O_RDONLY);
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	f->len = (size_t)vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	f->text = k_alloc(f->len + 1);
	memcpy(f->text, buf, f->len);
	return f;
}

static int of_process(struct process *p, const char *what, int flags, struct file **ret)
{
	long long ticks = p->cpu / TICK;

	if (strcmp(what, "stat") == 0)
		*ret = text(
		    "%d (work (1) 2) S 1 %d %d 0 -1 4194304 0 0 0 0 %lld %lld 0 0 20 0 1 0 %llu 1000 10\n",
		    p->pid, p->pid, p->pid, ticks - ticks / 3, ticks / 3, (unsigned long long)p->start);
	else if (strcmp(what, "status") == 0)
		*ret = text("Name:\twork\nState:\tS "
			    "(sleeping)\nPid:\t%d\nPPid:\t1\nUid:\t%u\t%u\t%u\t%u\nGid:\t0\t0\t0\t0\n",
			    p->pid, p->uid, p->uid, p->uid, p->uid);
	else if (strcmp(what, "task") == 0)
		*ret = file_of(F_TASKS, p, flags);
	else if (strncmp(what, "task/", 5) == 0 && strstr(what, "/children"))
		*ret = text("%s", "");
	else
		return -ENOENT;
	return 0;
}

int proc_open(const char *path, int flags, struct file **ret)
{
	char what[64];
	int pid;

	if (strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) {
		*ret = text("%s\n", k.boot_id);
		return 0;
	}
	if (sscanf(path, "/proc/%d/%63s", &pid, what) == 2 && process_find(pid))
		return of_process(process_find(pid), what, flags, ret);
	if (sscanf(path, KERNEL_CGROUP "%d", &pid) == 1 && process_find(pid)) {
		*ret = file_of(F_CGROUP, process_find(pid), flags);
		return 0;
	}
	return -ENOENT;
}

bool proc_there(const char *path)
{
	return strcmp(path, "/proc/thread-self/children") == 0;
}

int cgroup_open(const struct file *dir, const char *name, struct file **ret)
{
	if (strcmp(name, "cpu.stat") != 0 || !dir->process->alive)
		return -ENOENT;
	*ret = text("usage_usec %lld\nuser_usec %lld\nsystem_usec 0\n", (long long)(dir->process->cpu / 1000),
		    (long long)(dir->process->cpu / 1000));
	return 0;
}

/* /proc/PID/task: a thread. */
ssize_t tasks_list(struct file *f, void *buf, size_t size)
{
	struct dirent64 *d = buf;

	if (f->listed++ > 0 || !f->process->alive)
		return 0;
	if (size < sizeof(*d))
		return -EINVAL;
	d->d_ino = 1;
	d->d_type = DT_DIR;
	d->d_reclen = sizeof(*d);
	(void)snprintf(d->d_name, sizeof(d->d_name), "%d", f->process->pid);
	return d->d_reclen;
}

const char *kernel_boot_id(void)
{
	return k.boot_id;
}
