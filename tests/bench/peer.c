#include "config.h"

#include "tests/bench/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"

static pid_t running; /* one at a time */

static void end_running(void)
{
	if (running > 0)
		(void)kill(running, SIGTERM);
}

bool peer_find(const char *program, char path[300])
{
	static const char *const where[] = { "/usr/lib/postgresql/*/bin", "/usr/bin", "/usr/sbin", "/usr/local/bin" };

	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		char pattern[300];
		glob_t g;
		int r;

		(void)snprintf(pattern, sizeof(pattern), "%s/%s", where[i], program);
		r = glob(pattern, 0, NULL, &g);
		if (r == 0)
			(void)snprintf(path, 300, "%s", g.gl_pathv[g.gl_pathc - 1]);
		globfree(&g);
		if (r == 0 && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

void peer_prepare(struct peer *p, const char *name)
{
	struct sockaddr_in a = loopback(0);
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*p = (struct peer){ .pid = 0 };
	(void)snprintf(p->dir, sizeof(p->dir), "%s/%s.XXXXXX", bench_dir, name);
	if (!mkdtemp(p->dir))
		bench_fail(p->dir, errno);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		bench_fail("a port on loopback", errno);
	p->port = ntohs(a.sin_port);
	(void)snprintf(p->port_word, sizeof(p->port_word), "%d", p->port);
	close(fd);
}

void peer_start(struct peer *p, const char *const argv[])
{
	char log[400];
	int fd;

	(void)snprintf(log, sizeof(log), "%s/log", p->dir);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		bench_fail(log, errno);
	if (!running)
		(void)atexit(end_running);
	running = p->pid = bench_serve(argv, -1, fd, fd);
	close(fd);
}

int peer_connect(const struct peer *p)
{
	struct sockaddr_in a = loopback(p->port);
	int64_t until = bench_now() + 30 * LEASE_NS_PER_S;
	int one = 1;

	while (bench_now() < until) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0)
			bench_fail("socket", errno);
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0) {
			(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
			return fd;
		}
		close(fd);
		bench_until(bench_now() + 20 * LEASE_NS_PER_MS);
	}
	bench_fail("a server that was started does not answer", 0);
}

/* Of its children that are over: in ticks of 10 ms, which is fine for what comes and goes now and then. */
static int64_t cpu_of_ended(pid_t pid)
{
	unsigned long user = 0, sys = 0;
	char path[64], buf[1024] = "", *after;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, buf, sizeof(buf) - 1) < 1 || !(after = strrchr(buf, ')')) ||
	    sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu", &user, &sys) != 2)
		bench_fail(path, errno);
	close(fd);
	return (int64_t)(user + sys) * (LEASE_NS_PER_S / sysconf(_SC_CLK_TCK));
}

int64_t peer_cpu(const struct peer *p)
{
	char path[64];
	int64_t sum = bench_cpu_of(p->pid) + cpu_of_ended(p->pid);
	FILE *f;
	int child;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", p->pid, p->pid);
	f = fopen(path, "re");
	if (!f)
		bench_fail(path, errno);
	while (fscanf(f, "%d", &child) == 1) {
		clockid_t id;
		struct timespec t;

		/* One may have gone just now: then it is among the ended. */
		if (clock_getcpuclockid(child, &id) == 0 && clock_gettime(id, &t) == 0)
			sum += t.tv_sec * LEASE_NS_PER_S + t.tv_nsec;
	}
	(void)fclose(f);
	return sum;
}

void peer_stop(struct peer *p)
{
	(void)kill(p->pid, SIGTERM);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	running = p->pid = 0;
}

void peer_send(int fd, const void *buf, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(fd, (const char *)buf + at, len - at, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			bench_fail("send to a server", errno);
		at += n > 0 ? (size_t)n : 0;
	}
}

size_t peer_receive(int fd, char *buf, size_t size, int64_t wait)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, (int)(wait / LEASE_NS_PER_MS)) < 1)
		return 0;
	n = read(fd, buf, size);
	if (n <= 0)
		bench_fail("a server hung up", n < 0 ? errno : 0);
	return (size_t)n;
}
