#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "lease/at.h"
#include "lease/process.h"
#include "lease/text.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* The beginning of a file of /proc, as text. What we look for stands well within size bytes. */
static int read_proc(const char *path, char *buf, size_t size)
{
	ssize_t n;
	int fd, e = 0;

	fd = openat(AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do
		n = read(fd, buf, size - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		e = -errno;
	else
		buf[n] = '\0';
	lease_at_close(fd);
	return e;
}

static int read_proc_pid(int32_t pid, const char *file, char *buf, size_t size)
{
	char path[40];
	struct lease_text t;
	int e;

	if (pid <= 0)
		return -ESRCH;
	lease_text_begin(&t, path, sizeof(path));
	lease_text_add(&t, "/proc/");
	lease_text_add_number(&t, (uint64_t)pid);
	lease_text_add(&t, file);
	e = read_proc(path, buf, size);
	/* Not there may mean no /proc, or one mounted with hidepid: that must not pass for a death. */
	if (e == -ENOENT)
		e = kill(pid, 0) < 0 && errno == ESRCH ? -ESRCH : -EACCES;
	return e;
}

/* The number that starts at *p, which is left behind it and the blank that follows. */
static int next_number(const char **p, uint64_t *ret)
{
	char digits[24];
	size_t n = 0;

	while (n < sizeof(digits) - 1 && lease_is_digit((*p)[n])) {
		digits[n] = (*p)[n];
		n++;
	}
	digits[n] = '\0';
	if ((*p)[n] != ' ')
		return -EIO;
	*p += n + 1;
	return lease_text_number(digits, UINT64_MAX, ret) < 0 ? -EIO : 0;
}

/* `PID (comm) S PPID …`: comm may hold brackets, blanks and newlines, so all is counted from the last ')'. */
static int parse_stat(const char *text, uint64_t *ret_start, uint64_t *ret_ppid, char *ret_state)
{
	const char *p = strrchr(text, ')');

	if (!p || p[1] != ' ' || !p[2] || p[3] != ' ')
		return -EIO;
	*ret_state = p[2];
	p += 4;
	if (next_number(&p, ret_ppid) < 0)
		return -EIO;
	for (int field = 5; field < 22; field++) {
		p = strchr(p, ' ');
		if (!p)
			return -EIO;
		p++;
	}
	return next_number(&p, ret_start);
}

int lease_process_stat(int32_t pid, uint64_t *ret_start, int32_t *ret_ppid, char *ret_state)
{
	char text[1024], state;
	uint64_t start, ppid;
	int e;

	e = read_proc_pid(pid, "/stat", text, sizeof(text));
	if (e == 0)
		e = parse_stat(text, &start, &ppid, &state);
	if (e)
		return e;
	if (ret_start)
		*ret_start = start;
	if (ret_ppid)
		*ret_ppid = (int32_t)ppid;
	if (ret_state)
		*ret_state = state;
	return 0;
}

int lease_process_self(struct lease_process *ret)
{
	struct lease_process self = {.pid = getpid()};
	int e;

	e = lease_process_stat(self.pid, &self.start, NULL, NULL);
	if (e == 0)
		*ret = self;
	return e;
}

/* The real uid. A newline in a process's name is escaped in this file, so no name can forge the line. */
static int real_uid(int32_t pid, uid_t *ret)
{
	static const char word[] = "\nUid:\t";
	char text[1024], digits[12];
	const char *p;
	uint64_t uid;
	size_t n = 0;
	int e;

	e = read_proc_pid(pid, "/status", text, sizeof(text));
	if (e < 0)
		return e;
	p = strstr(text, word);
	if (!p)
		return -EIO;
	p += sizeof(word) - 1;
	while (n < sizeof(digits) - 1 && lease_is_digit(p[n])) {
		digits[n] = p[n];
		n++;
	}
	digits[n] = '\0';
	if (lease_text_number(digits, UINT32_MAX, &uid) < 0)
		return -EIO;
	*ret = (uid_t)uid;
	return 0;
}

/* Looks at the number, then sees that the process we hold has not ended: the number was its all the while. */
static int check_held(int pidfd, const struct lease_process *p, uid_t uid)
{
	struct pollfd poll_for = {.fd = pidfd, .events = POLLIN};
	uint64_t start = 0;
	uid_t owner = uid;
	char state = 0;
	int e, n;

	e = lease_process_stat(p->pid, &start, NULL, &state);
	if (e < 0)
		return e;
	if (start != p->start || state == 'Z' || state == 'X')
		return -ESRCH;
	if (uid != (uid_t)-1)
		e = real_uid(p->pid, &owner);
	if (e < 0)
		return e;
	do
		n = poll(&poll_for, 1, 0);
	while (n < 0 && errno == EINTR);
	if (n != 0)
		return n < 0 ? -errno : -ESRCH;
	return owner == uid ? 0 : -EPERM;
}

int lease_process_open(const struct lease_process *p, uid_t uid, int *ret_pidfd)
{
	int fd, e;

	if (p->pid <= 0)
		return -ESRCH;
	fd = pidfd_open(p->pid, 0); /* always close-on-exec */
	if (fd < 0)
		/* The number of a thread that leads no process. */
		return errno == EINVAL || errno == ENOENT ? -ESRCH : -errno;
	e = check_held(fd, p, uid);
	if (e < 0) {
		lease_at_close(fd);
		return e;
	}
	*ret_pidfd = fd;
	return 0;
}

int lease_boot_id(char boot[LEASE_BOOT_SIZE])
{
	char text[64];
	int e;

	e = read_proc(BOOT_ID, text, sizeof(text));
	if (e < 0)
		return e;
	if (strcspn(text, "\n") != LEASE_BOOT_SIZE - 1)
		return -EIO;
	memcpy(boot, text, LEASE_BOOT_SIZE - 1);
	boot[LEASE_BOOT_SIZE - 1] = '\0';
	return 0;
}
