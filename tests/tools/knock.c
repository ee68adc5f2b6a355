/*
 * knock: comes to the porter's socket (core/porter.h) as klease never would, and prints what it is told.
 *
 *	knock SOCKET plain|nofds|manyfds|short|unended COMMAND…
 *	knock SOCKET flood	a thousand connections: how many stay open
 *	knock SOCKET sleep	connects and says nothing, until it is hung up on
 *	knock SOCKET replay NOTICES ID COMMAND…		comes with a ticket of its own (an ask that it makes itself), twice
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/porter.h"

static struct porter_ask ask = {.magic = PORTER_MAGIC, .size = sizeof(struct porter_ask)};

static int reach(const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&name, sizeof name) < 0) {
		perror("connect");
		exit(1);
	}
	return fd;
}

static void fill(char **command)
{
	size_t at = 0;

	for (; *command; command++) {
		snprintf(ask.args + at, sizeof ask.args - at, "%s", *command);
		at += strlen(*command) + 1;
	}
}

static void give(int sock, size_t len, int n_fds)
{
	char room[CMSG_SPACE(8 * sizeof(int))] = "";
	struct iovec iov = {&ask, len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room};
	int fds[8] = {0, 1, 2, 0, 1, 2, 0, 1};

	m.msg_controllen = CMSG_SPACE((size_t)n_fds * sizeof(int));
	if (n_fds > 0) {
		CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN((size_t)n_fds * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), fds, (size_t)n_fds * sizeof(int));
	} else {
		m.msg_control = NULL;
		m.msg_controllen = 0;
	}
	if (sendmsg(sock, &m, MSG_NOSIGNAL) < 0)
		perror("sendmsg");
}

static void hear(int sock, const char *which)
{
	struct porter_word w;

	while (recv(sock, &w, sizeof w, 0) == (ssize_t)sizeof w) {
		printf("%s%u %d %s\n", which, w.kind, w.value, w.line);
		fflush(stdout);
	}
	printf("%shung up\n", which);
	fflush(stdout);
}

static void flood(const char *path)
{
	struct pollfd all[1000];
	int open = 0;

	for (int i = 0; i < 1000; i++)
		all[i] = (struct pollfd){reach(path), POLLIN, 0};
	/* Those that are to be shown out have been by then, and who may say something still may. */
	poll(NULL, 0, 500);
	for (int i = 0; i < 1000; i++) {
		struct porter_word w;

		open += recv(all[i].fd, &w, sizeof w, MSG_DONTWAIT) < 0 && errno == EAGAIN;
	}
	printf("%d open\n", open);
}

static void replay(const char *path, const char *notices, const char *id)
{
	char name[600], text[1024], boot[64] = "", answer[4096], state[600], line[600];
	unsigned long long start = 0;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

	if (fscanf(f, "%63s", boot) != 1)
		exit(1);
	fclose(f);
	f = fopen("/proc/self/stat", "r");
	if (!fgets(answer, sizeof answer, f))
		exit(1);
	fclose(f);
	char *p = strrchr(answer, ')') + 2;
	for (int i = 3; i < 22; i++)
		p = strchr(p, ' ') + 1;
	start = strtoull(p, NULL, 10);
	snprintf(name, sizeof name, "%s/.leasewatch", notices);
	f = fopen(name, "r");
	state[0] = '\0';
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "state=%599s", state) == 1)
			break;
	fclose(f);
	snprintf(text, sizeof text, "#leasewatch 1\nverb=exec\nlease=%s\npid=%d\npid_start=%llu\nboot=%s\n", id, getpid(), start,
		 boot);
	snprintf(name, sizeof name, "%s/queue/.tmp-knock", notices);
	f = fopen(name, "w");
	fputs(text, f);
	fclose(f);
	snprintf(line, sizeof line, "%s/queue/ask-kls-knockknock", notices);
	if (rename(name, line) < 0)
		perror(line);
	snprintf(name, sizeof name, "%s/ask-kls-knockknock", state);
	for (int i = 0; i < 200 && access(name, R_OK) < 0; i++)
		poll(NULL, 0, 20);
	int one = reach(path), two = reach(path);
	give(one, sizeof ask, 3);
	hear(one, "first: ");
	give(two, sizeof ask, 3);
	hear(two, "second: ");
}

int main(int argc, char **argv)
{
	const char *path = argv[1], *how = argc > 2 ? argv[2] : "";
	int replays = !strcmp(how, "replay");
	int sock;

	if (argc < 3)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	fill(argv + (replays ? 5 : 3));
	if (!strcmp(how, "flood")) {
		flood(path);
		return 0;
	}
	if (replays) {
		replay(path, argv[3], argv[4]);
		return 0;
	}
	sock = reach(path);
	if (!strcmp(how, "unended"))
		memset(ask.args, 'x', sizeof ask.args);
	if (strcmp(how, "sleep") != 0)
		give(sock, !strcmp(how, "short") ? sizeof ask / 2 : sizeof ask,
		     !strcmp(how, "nofds")	? 0
		     : !strcmp(how, "manyfds") ? 8
					       : 3);
	hear(sock, "");
	return 0;
}
