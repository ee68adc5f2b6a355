#include "config.h"

#include "process.h"

#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define POLL_MAX 256

int limit_start(int64_t ms, int *ret)
{
	struct itimerspec in = {.it_value = {ms / 1000, ms % 1000 * 1000000}};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (ms <= 0)
		in.it_value.tv_nsec = 1;
	if (ms != LIMIT_NONE && timerfd_settime(fd, 0, &in, NULL) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	*ret = fd;
	return 0;
}

static int poll_once(int limit, const int *fd, size_t n, short events, int timeout)
{
	struct pollfd p[POLL_MAX + 1];
	int r;

	n = n < POLL_MAX ? n : POLL_MAX;
	for (size_t i = 0; i < n; i++)
		p[i] = (struct pollfd){.fd = fd[i], .events = events};
	p[n] = (struct pollfd){.fd = limit, .events = POLLIN};
	do
		r = poll(p, n + 1, timeout);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	for (size_t i = 0; i < n; i++)
		if (p[i].revents)
			return (int)i;
	return r ? -ETIME : -EAGAIN;
}

int limit_poll(int limit, const int *fd, size_t n, short events)
{
	return poll_once(limit, fd, n, events, -1);
}

int limit_nap(int limit, unsigned *pass)
{
	int ms = *pass < 4 ? 1 << *pass : 20;
	int r;

	(*pass)++;
	r = poll_once(limit, NULL, 0, 0, ms);
	return r == -EAGAIN ? 0 : r;
}
