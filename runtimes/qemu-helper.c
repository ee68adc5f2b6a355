/*
 * qemu-helper.c: what the `qemu` runtime needs and a shell hasn't.
 *
 *	qemu-helper qmp SOCKET PID MS WORD…	speaks to the monitor of the VM that PID is, as soon as it listens,
 *						and for no longer than MS milliseconds
 *		{"execute": …}	a command: sent, and its answer printed as one line
 *		until=REGEX	the command before it again, until its answer has that
 *		fd=FILE		FILE, made anew, is handed over as the monitor's descriptor "file"
 *	qemu-helper end PID START MS		kills just this process, and waits until it has ended
 *	qemu-helper console FIFO FILE MAX	in the background: what comes out of FIFO, the last MAX/2 to MAX bytes
 *						of it, is kept in FILE and FILE.1
 *
 * Exit status: 0; 1 with a line on stderr; 75 when the time was over.
 *
 * The monitor answers each command by a line that begins with {"return" or {"error", and events by lines that
 * begin otherwise; so nothing here has to understand JSON. Source: QEMU docs/interop/qmp-spec.txt; how a descriptor
 * goes along: docs/system/qemu-manpage (getfd), unix(7) SCM_RIGHTS.
 */
#include "config.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "lease/process.h"

#define EXIT_LATER 75
#define AGAIN_MS 5

static unsigned long long number(const char *s)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *s < '0' || *s > '9' || *end)
		errx(1, "%s is no number", s);
	return v;
}

static void over(int sig)
{
	static const char text[] = "not in the time given\n";

	(void)sig;
	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	_exit(EXIT_LATER);
}

static void for_ms(const char *text)
{
	unsigned long long ms = number(text);
	struct itimerval in = {.it_value = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000 + 1)}};

	(void)signal(SIGALRM, over);
	if (setitimer(ITIMER_REAL, &in, NULL) < 0)
		err(1, "setitimer");
}

static int monitor(const char *path, int32_t pid)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof to.sun_path)
		errx(1, "%s: too long a path for a socket", path);
	memcpy(to.sun_path, path, strlen(path) + 1);
	while (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		if (errno != ENOENT && errno != ECONNREFUSED)
			err(1, "%s", path);
		if (lease_process_stat(pid, NULL, NULL, NULL) < 0)
			errx(1, "the VM has ended");
		(void)poll(NULL, 0, AGAIN_MS);
	}
	return fd;
}

/* The answer, without its newline; NULL: the monitor hung up. Events are passed over. */
static const char *answer(FILE *in)
{
	static char *line;
	static size_t size;
	ssize_t n;

	while ((n = getline(&line, &size, in)) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, "{\"error\"", 8))
			errx(1, "%s", line);
		if (!strncmp(line, "{\"return\"", 9))
			return line;
	}
	return NULL;
}

/* With fd >= 0 it goes along. */
static void tell(int sock, const char *command, int fd)
{
	struct iovec v = {(void *)(uintptr_t)command, strlen(command)};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} c = {{0}};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	if (fd >= 0) {
		m.msg_control = &c;
		m.msg_controllen = sizeof c.room;
		c.head = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
		memcpy(CMSG_DATA(&c.head), &fd, sizeof fd);
	}
	if (sendmsg(sock, &m, MSG_NOSIGNAL) != (ssize_t)v.iov_len)
		err(1, "monitor");
}

static const char *ask(int sock, FILE *in, const char *command, int fd)
{
	const char *said;

	tell(sock, command, fd);
	said = answer(in);
	if (!said)
		errx(1, "the VM has hung up");
	return said;
}

static void ask_until(int sock, FILE *in, const char *command, const char *pattern)
{
	const char *said;
	regex_t re;

	if (!command || regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
		errx(1, "until=%s: no command before it, or no regular expression", pattern);
	while (said = ask(sock, in, command, -1), regexec(&re, said, 0, NULL, 0) != 0)
		(void)poll(NULL, 0, AGAIN_MS);
	puts(said);
	regfree(&re);
}

static int qmp(char **word)
{
	const char *command = NULL;
	int sock, fd;
	FILE *in;

	for_ms(word[2]);
	sock = monitor(word[0], (int32_t)number(word[1]));
	in = fdopen(sock, "r");
	/* The greeting comes first, and is neither. */
	if (!in)
		err(1, "monitor");
	(void)ask(sock, in, "{\"execute\":\"qmp_capabilities\"}", -1);
	for (word += 3; *word; word++) {
		if (!strncmp(*word, "until=", 6)) {
			ask_until(sock, in, command, *word + 6);
		} else if (!strncmp(*word, "fd=", 3)) {
			fd = open(*word + 3, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
			if (fd < 0)
				err(1, "%s", *word + 3);
			(void)ask(sock, in, "{\"execute\":\"getfd\",\"arguments\":{\"fdname\":\"file\"}}", fd);
			close(fd);
		} else {
			command = *word;
			/* What is asked again and again says only its last word. */
			if (!word[1] || strncmp(word[1], "until=", 6))
				puts(ask(sock, in, command, -1));
		}
	}
	fclose(in);
	return 0;
}

static int end(char **word)
{
	struct lease_process p = {.pid = (int32_t)number(word[0]), .start = number(word[1])};
	struct pollfd wait = {.events = POLLIN};
	int e = lease_process_open(&p, (uid_t)-1, &wait.fd);

	if (e == -ESRCH)
		return 0;
	for_ms(word[2]);
	if (e < 0 || (pidfd_send_signal(wait.fd, SIGKILL, NULL, 0) < 0 && errno != ESRCH))
		errx(1, "pid %d: %s", p.pid, strerror(e < 0 ? -e : errno));
	while (poll(&wait, 1, -1) != 1)
		;
	return 0;
}

static int make(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		err(1, "%s", file);
	return fd;
}

/* Returns when the last who writes has gone. */
static void keep(int in, int out, const char *file, const char *old, off_t half)
{
	struct pollfd more = {in, POLLIN, 0};
	char buf[4096];

	for (;;) {
		ssize_t n;

		(void)poll(&more, 1, -1);
		n = read(in, buf, sizeof buf);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return;
		if (lseek(out, 0, SEEK_END) + n > half && rename(file, old) == 0) {
			close(out);
			out = make(file);
		}
		/* A full disk must not stop the guest. */
		(void)!write(out, buf, (size_t)n);
	}
}

static int console(char **word)
{
	int in = open(word[0], O_RDONLY | O_NONBLOCK | O_CLOEXEC), out, null;
	off_t half = (off_t)(number(word[2]) / 2);
	char old[4096];

	if (in < 0)
		err(1, "%s", word[0]);
	if (snprintf(old, sizeof old, "%s.1", word[1]) >= (int)sizeof old)
		errx(1, "%s: too long", word[1]);
	out = make(word[1]);
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		break;
	default:
		return 0;
	}
	(void)setsid();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i <= 2; i++)
		(void)dup2(null, i);
	keep(in, out, word[1], old, half);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 5 && !strcmp(argv[1], "qmp"))
		return qmp(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "end"))
		return end(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "console"))
		return console(argv + 2);
	fputs("usage: qemu-helper qmp SOCKET PID MS WORD... | end PID START MS | console FIFO FILE MAX\n", stderr);
	return 2;
}
