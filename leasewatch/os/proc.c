#include "config.h"

#include "os/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/drop.h"

#define READ_TURNS 16 /* buffers read a step and pipe: a flood doesn't keep the caller from the rest of its work */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * A pipe whose ends are above the standard three, so that the child's dup2 never hits one that is still to be
 * used.
 */
static int pipe_above_stdio(int ret[2])
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		int fd;

		if (p[i] > STDERR_FILENO)
			continue;
		fd = fcntl(p[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (fd < 0) {
			int r = -errno;

			close(p[0]);
			close(p[1]);
			return r;
		}
		close(p[i]);
		p[i] = fd;
	}
	(void)fcntl(p[0], F_SETFL, O_NONBLOCK);
	ret[0] = p[0];
	ret[1] = p[1];
	return 0;
}

/* What becomes the program. Every failure is the errno of proc_start. */
static int become(const struct proc_options *o, int out, int err, pid_t parent)
{
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		return errno;
	if (setpgid(0, 0) < 0 || (o->cwd >= 0 ? fchdir(o->cwd) : chdir("/")) < 0)
		return errno;
	/* A driver that outlived us would go on with an act that our successor does again, or has long given up. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return errno;
	if (getppid() != parent)
		return ECHILD;
	for (int s = 1; s < NSIG; s++)
		(void)signal(s, SIG_DFL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return errno;
	execve(o->path, o->argv, o->envp);
	return errno;
}

static int spawn(pid_t *ret, const struct proc_options *o, int out, int err)
{
	volatile int error = 0; /* written by the child: it has our memory, and we wait until it has its own */
	pid_t parent = getpid(), pid;

	drop_oom_lend();
	pid = vfork();
	if (pid == 0) {
		error = become(o, out, err, parent);
		_exit(127);
	}
	if (pid < 0)
		error = errno;
	drop_oom_take_back();
	if (pid > 0 && error)
		(void)waitpid(pid, NULL, 0);
	if (error)
		return -error;
	*ret = pid;
	return 0;
}

int proc_start(struct proc *p, const struct proc_options *o, int64_t deadline)
{
	int out[2], err[2], pidfd, r;
	pid_t pid;

	r = pipe_above_stdio(out);
	if (r < 0)
		return r;
	r = pipe_above_stdio(err);
	if (r < 0)
		goto out_out;
	r = spawn(&pid, o, out[1], err[1]);
	if (r < 0)
		goto out_err;
	/* Our child, not waited for yet: the number can't have gone to another. */
	pidfd = pidfd_open(pid, 0);
	if (pidfd < 0) {
		r = -errno;
		kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		goto out_err;
	}
	close(out[1]);
	close(err[1]);
	memset(p, 0, sizeof *p);
	p->pid = pid;
	p->pidfd = pidfd;
	p->out_fd = out[0];
	p->err_fd = err[0];
	p->deadline = deadline;
	p->out_max = o->out_max;
	return 0;
out_err:
	close(err[0]);
	close(err[1]);
out_out:
	close(out[0]);
	close(out[1]);
	return r;
}

int proc_watch(const struct proc *p, int epfd, void *data)
{
	const int fd[] = { p->pidfd, p->out_fd, p->err_fd };

	for (size_t i = 0; i < sizeof fd / sizeof *fd; i++) {
		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = data };

		if (fd[i] >= 0 && epoll_ctl(epfd, EPOLL_CTL_ADD, fd[i], &ev) < 0)
			return -errno;
	}
	return 0;
}

static void keep_out(struct proc *p, const char *s, size_t n)
{
	size_t room = p->out_max - p->out_len;

	if (n > room) {
		n = room;
		p->out_cut = true;
	}
	if (p->out_len + n + 1 > p->out_size) {
		size_t size = p->out_size ? p->out_size : 1024;
		char *out;

		while (size < p->out_len + n + 1)
			size *= 2;
		out = realloc(p->out, size);
		if (!out) {
			p->out_cut = true;
			return;
		}
		p->out = out;
		p->out_size = size;
	}
	memcpy(p->out + p->out_len, s, n);
	p->out_len += n;
	p->out[p->out_len] = '\0';
}

/* Of stderr the end counts. A NUL would hide what follows it. */
static void keep_err(struct proc *p, const char *s, size_t n)
{
	const size_t max = sizeof p->err - 1;

	if (n > max) {
		s += n - max;
		n = max;
	}
	if (p->err_len + n > max) {
		size_t drop = p->err_len + n - max;

		memmove(p->err, p->err + drop, p->err_len - drop);
		p->err_len -= drop;
	}
	for (size_t i = 0; i < n; i++)
		p->err[p->err_len++] = s[i] ? s[i] : '?';
	p->err[p->err_len] = '\0';
}

/*
 * Closes at the end of the pipe; last: whatever is in it now is all there will be, though others may still hold
 * its other end.
 */
static void drain(struct proc *p, int *fd, void (*keep)(struct proc *, const char *, size_t), bool last)
{
	char buf[16384];

	for (int i = 0; *fd >= 0 && i < READ_TURNS; i++) {
		ssize_t n = read(*fd, buf, sizeof buf);

		if (n > 0)
			keep(p, buf, (size_t)n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n == 0 || errno != EAGAIN || last)
			close_fd(fd);
		else
			return;
	}
	if (last)
		close_fd(fd);
}

static void signal_group(const struct proc *p, int sig)
{
	/* A leader that is dead but not waited for keeps its group's number taken. */
	if (kill(-p->pid, sig) < 0)
		(void)kill(p->pid, sig);
}

static void press_deadline(struct proc *p, int64_t now)
{
	if (now < p->deadline)
		return;
	if (!p->termed) {
		p->termed = true;
		signal_group(p, SIGTERM);
	} else if (!p->killed && now >= p->deadline + PROC_TERM_GRACE) {
		p->killed = true;
		signal_group(p, SIGKILL);
	}
}

bool proc_step(struct proc *p, int64_t now)
{
	siginfo_t si = { .si_pid = 0 };

	if (p->end != PROC_RUNNING)
		return true;
	drain(p, &p->out_fd, keep_out, false);
	drain(p, &p->err_fd, keep_err, false);
	if (waitid(P_PIDFD, (id_t)p->pidfd, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || si.si_pid == 0) {
		press_deadline(p, now);
		if (!p->killed || now < p->deadline + 2 * PROC_TERM_GRACE)
			return false;
		/* Stuck in the kernel: it runs no instruction of its own any more. Its zombie stays with us. */
		p->end = PROC_DEADLINE;
		p->status = SIGKILL;
		return true;
	}
	/* A deadline's end takes the rest of the group along, while the dead leader still keeps the number. */
	if (p->termed && !p->killed)
		signal_group(p, SIGKILL);
	drain(p, &p->out_fd, keep_out, true);
	drain(p, &p->err_fd, keep_err, true);
	(void)waitid(P_PIDFD, (id_t)p->pidfd, &si, WEXITED | WNOHANG);
	close_fd(&p->pidfd);
	p->status = si.si_status;
	if (p->termed)
		p->end = PROC_DEADLINE;
	else
		p->end = si.si_code == CLD_EXITED ? PROC_EXITED : PROC_SIGNALLED;
	return true;
}

int64_t proc_due(const struct proc *p)
{
	if (p->end != PROC_RUNNING)
		return INT64_MAX;
	if (p->killed)
		return p->deadline + 2 * PROC_TERM_GRACE;
	return p->termed ? p->deadline + PROC_TERM_GRACE : p->deadline;
}

const char *proc_last_line(struct proc *p)
{
	char *nl;

	while (p->err_len && (p->err[p->err_len - 1] == '\n' || p->err[p->err_len - 1] == '\r'))
		p->err[--p->err_len] = '\0';
	nl = strrchr(p->err, '\n');
	return nl ? nl + 1 : p->err;
}

void proc_free(struct proc *p)
{
	close_fd(&p->pidfd);
	close_fd(&p->out_fd);
	close_fd(&p->err_fd);
	free(p->out);
	p->out = NULL;
}
