#include "config.h"

#include "klease/porter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/porter.h"
#include "klease/child.h"
#include "klease/exits.h"
#include "klease/say.h"

int porter_signals(void)
{
	static const int all[] = PORTER_SIGNALS;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!child_was_ignored(all[i]))
			sigaddset(&set, all[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int reach(const struct world *w, int *ret)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int folder = open(w->beacon.sessions, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1, r = 0;
	socklen_t size = sizeof(struct ucred);
	struct ucred peer;

	if (folder < 0)
		return -errno;
	(void)snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d/" PORTER_SOCKET, folder);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&name, sizeof name) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		r = -errno;
	else if (peer.uid != 0)
		r = -EPERM; /* it would get our terminal */
	close(folder);
	if (r < 0 && fd >= 0)
		close(fd);
	if (r == 0)
		*ret = fd;
	return r;
}

static int fill(struct porter_ask *a, char *const *command)
{
	const char *term = getenv("TERM");
	size_t at = 0, n;

	a->magic = PORTER_MAGIC;
	a->size = sizeof *a;
	if (isatty(STDIN_FILENO) && term)
		(void)strlcpy(a->term, strlen(term) < sizeof a->term ? term : "dumb", sizeof a->term);
	for (; *command; command++, at += n) {
		n = strlen(*command) + 1;
		if (n == 1)
			return -EINVAL; /* an empty word is the end */
		if (at + n + 1 > sizeof a->args)
			return -E2BIG;
		memcpy(a->args + at, *command, n);
	}
	return 0;
}

/* With the three descriptors of the command; what is closed is /dev/null there. */
static int hand_over(int sock, const struct porter_ask *a)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(PORTER_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)a, sizeof *a };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fds[PORTER_FDS];

	if (null < 0)
		return -errno;
	for (int i = 0; i < PORTER_FDS; i++)
		fds[i] = fcntl(i, F_GETFD) < 0 ? null : i;
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof fds);
	memcpy(CMSG_DATA(h), fds, sizeof fds);
	return sendmsg(sock, &m, MSG_NOSIGNAL) == (ssize_t)sizeof *a ? 0 : -errno;
}

static void pass_on(int sock, int sig)
{
	struct signalfd_siginfo si;
	unsigned char byte;

	while (read(sig, &si, sizeof si) == (ssize_t)sizeof si) {
		byte = (unsigned char)si.ssi_signo;
		(void)send(sock, &byte, 1, MSG_NOSIGNAL);
	}
}

static int follow(int sock, int sig, int error)
{
	struct porter_word word;
	char buf[SAFE_SIZE];

	for (;;) {
		struct pollfd p[2] = { { sock, POLLIN, 0 }, { sig, POLLIN, 0 } };

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents)
			pass_on(sock, sig);
		if (!p[0].revents)
			continue;
		if (recv(sock, &word, sizeof word, 0) != (ssize_t)sizeof word) {
			say("the daemon's porter has gone, and the command with it");
			return KX_OURS;
		}
		word.line[sizeof word.line - 1] = '\0';
		switch ((enum porter_kind)word.kind) {
		case PORTER_STARTED: close(error); break;
		case PORTER_ENDED: return child_status(word.value);
		case PORTER_REFUSED:
			say("not let in: %s%s%s", safe(buf, word.line), word.value ? ": " : "",
			    word.value ? strerror(word.value) : "");
			return KX_OURS;
		case PORTER_NONE: break;
		}
	}
}

int porter_exec(const struct world *w, char *const *command, int sig, int error)
{
	struct porter_ask *a = calloc(1, sizeof *a);
	int sock = -1, r = a ? fill(a, command) : -ENOMEM;

	if (r == -E2BIG)
		say("the command is longer than %d bytes, which is what the porter takes", PORTER_ARGS_SIZE);
	else if (r == -EINVAL)
		say("an empty word in a command cannot be passed on to the porter");
	else if (r == 0 && (r = reach(w, &sock)) < 0)
		say("the daemon's porter (%s/%s) cannot be reached: %s", w->beacon.sessions, PORTER_SOCKET, strerror(-r));
	else if (r == 0 && (r = hand_over(sock, a)) < 0)
		say("the porter does not take the command: %s", strerror(-r));
	free(a);
	return r < 0 ? KX_OURS : follow(sock, sig, error);
}
