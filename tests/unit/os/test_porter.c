/* The porter: a ticket is for one process of one user, once, for a while; and what is no request of klease's is shown out. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/porter.h"
#include "lease/process.h"
#include "os/clock.h"
#include "os/log.h"
#include "porter-run.h"
#include "store/door.h"
#include "tests/unit/lease/test.h"

struct door {
	char top[40];
	int tickets;
	pid_t pid;
};

static int setup(void **state)
{
	struct door *d = calloc(1, sizeof *d);
	int listening = -1, pair[2];

	snprintf(d->top, sizeof d->top, "/tmp/test-porter.XXXXXX");
	assert_non_null(mkdtemp(d->top));
	assert_int_equal(door_open(d->top, PORTER_SOCKET, 16, &listening), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	fflush(NULL);
	d->pid = fork();
	if (d->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		log_open("porter", true, 0);
		exit(porter_run(listening, pair[1]));
	}
	close(pair[1]);
	close(listening);
	d->tickets = pair[0];
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct door *d = *state;
	char path[80];
	int status;

	if (d->tickets >= 0)
		close(d->tickets);
	assert_int_equal(waitpid(d->pid, &status, 0), d->pid);
	assert_int_equal(status, 0);
	snprintf(path, sizeof path, "%s/%s", d->top, PORTER_SOCKET);
	unlink(path);
	rmdir(d->top);
	free(d);
	return 0;
}

static struct porter_ticket ticket(void)
{
	struct porter_ticket t = {.magic = PORTER_TICKET_MAGIC, .size = sizeof t, .uid = getuid(), .generation = 1,
				  .id = "kls-aaaaaaaaaa", .words = "/usr/bin/env\0INSIDE=1\0"};
	struct clock_now now;

	clock_read(&now);
	t.until = now.mono + PORTER_TICKET_FOR;
	assert_int_equal(lease_process_self(&t.process), 0);
	return t;
}

static int reach(const struct door *d)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(name.sun_path, sizeof name.sun_path, "%s/%s", d->top, PORTER_SOCKET);
	assert_int_equal(connect(fd, (struct sockaddr *)&name, sizeof name), 0);
	return fd;
}

static void send_with(int sock, const char *args, size_t size, size_t n)
{
	static struct porter_ask a;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control = {0};
	struct iovec iov = {&a, sizeof a};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fds[8] = {null, null, null, null, null, null, null, null};

	memset(&a, 0, sizeof a);
	a.magic = PORTER_MAGIC;
	a.size = sizeof a;
	memcpy(a.args, args, size);
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	assert_int_equal(sendmsg(sock, &m, 0), sizeof a);
	close(null);
}

static void send_ask(int sock, const char *args, size_t size)
{
	send_with(sock, args, size, PORTER_FDS);
}

static bool send_fd(int sock, int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};

	control.head = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
	return sendmsg(sock, &m, MSG_NOSIGNAL) == 1;
}

static struct porter_word hear(int sock)
{
	struct porter_word w = {0};

	if (recv(sock, &w, sizeof w, 0) != (ssize_t)sizeof w)
		w.kind = PORTER_NONE;
	return w;
}

static const char exit_5[] = "sh\0-c\0test \"$INSIDE\" = 1 && exit 5\0";

static void with_a_ticket_a_command_runs_and_its_status_comes_back_once(void **state)
{
	struct door *d = *state;
	struct porter_ticket t = ticket();
	struct porter_word w;
	int sock;

	assert_int_equal(porter_give(d->tickets, &t), 0);
	sock = reach(d);
	send_ask(sock, exit_5, sizeof exit_5);
	assert_int_equal(hear(sock).kind, PORTER_STARTED);
	w = hear(sock);
	assert_int_equal(w.kind, PORTER_ENDED);
	assert_int_equal(WEXITSTATUS(w.value), 5);
	assert_int_equal(hear(sock).kind, PORTER_NONE);
	close(sock);
	sock = reach(d);
	send_ask(sock, exit_5, sizeof exit_5);
	assert_int_equal(hear(sock).kind, PORTER_REFUSED);
	close(sock);
}

static void a_ticket_of_another_is_none(void **state)
{
	struct door *d = *state;
	struct porter_ticket other[5];
	struct clock_now now;
	pid_t dead = fork();

	if (dead == 0)
		_exit(0);
	waitpid(dead, NULL, 0);
	for (int i = 0; i < 5; i++)
		other[i] = ticket();
	other[0].uid++;
	other[1].process.pid = dead;
	other[2].process.start++; /* one that had our number before us */
	clock_read(&now);
	other[3].until = now.mono;
	other[4].magic++;
	for (int i = 0; i < 5; i++) {
		int sock;

		assert_int_equal(porter_give(d->tickets, &other[i]), 0);
		sock = reach(d);
		send_ask(sock, exit_5, sizeof exit_5);
		assert_int_equal(hear(sock).kind, PORTER_REFUSED);
		close(sock);
	}
}

static int open_files(pid_t pid)
{
	char path[64];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	d = opendir(path);
	if (!d)
		return -1;
	while ((e = readdir(d)))
		n++;
	closedir(d);
	return n;
}

static void descriptors_that_nobody_asked_for_are_closed(void **state)
{
	struct door *d = *state;
	int before = 0;

	if (open_files(d->pid) < 0)
		skip_because("only root can look into a process that leaves no core");
	for (int i = 0; i < 20; i++) {
		int sock = reach(d);

		send_with(sock, exit_5, sizeof exit_5, (size_t)(i % 8) + 1);
		assert_int_equal(hear(sock).kind, PORTER_REFUSED);
		assert_int_equal(hear(sock).kind, PORTER_NONE);
		close(sock);
		if (i == 7)
			before = open_files(d->pid);
	}
	assert_true(open_files(d->pid) <= before + 1);
}

/* A message of no bytes, with descriptors, is none that recvmsg tells from an end. */
static void an_empty_message_leaves_no_descriptor_behind(void **state)
{
	struct door *d = *state;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(PORTER_FDS * sizeof(int))];
	} control = {0};
	struct msghdr m = {.msg_control = &control, .msg_controllen = sizeof control};
	int fds[PORTER_FDS] = {1, 1, 1}, before = open_files(d->pid);

	control.head = (struct cmsghdr){CMSG_LEN(sizeof fds), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), fds, sizeof fds);
	for (int i = 0; i < 20; i++) {
		int sock = reach(d);

		assert_int_equal(sendmsg(sock, &m, 0), 0);
		assert_int_equal(hear(sock).kind, PORTER_NONE);
		close(sock);
	}
	assert_true(open_files(d->pid) <= before + 3);
}

/* One whose last close takes an hour: a connection with a lingering end, to somebody who doesn't read. */
static int slow_to_close(int *ret_other)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct linger hour = {1, 3600};
	socklen_t size = sizeof here;
	int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char much[65536];

	assert_int_equal(bind(door, (struct sockaddr *)&here, sizeof here), 0);
	assert_int_equal(listen(door, 1), 0);
	assert_int_equal(getsockname(door, (struct sockaddr *)&here, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&here, sizeof here), 0);
	*ret_other = accept4(door, NULL, NULL, SOCK_CLOEXEC);
	for (int quiet = 0; quiet < 3; quiet++)
		for (; send(fd, much, sizeof much, MSG_DONTWAIT) > 0; quiet = 0)
			(void)poll(NULL, 0, 1);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &hour, sizeof hour), 0);
	close(door);
	return fd;
}

/*
 * Passes it on, and lets go of it. Whether it is the porter's close or ours that comes last is a race, so ours is a child's,
 * which may wait until it is killed.
 */
static pid_t pass_slow(const int *sock, int last, int slow)
{
	int gate[2];
	char c;

	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(gate[1]);
		for (int i = 0; i < last; i++)
			close(sock[i]);
		(void)!read(gate[0], &c, 1); /* our parent's copy is closed then */
		(void)send_fd(sock[last], slow);
		close(sock[last]);
		close(slow);
		_exit(0);
	}
	close(slow);
	close(gate[0]);
	close(gate[1]);
	return pid;
}

static void a_descriptor_that_is_slow_to_close_holds_up_its_own_caller_only(void **state)
{
	struct door *d = *state;
	struct porter_ticket t;
	struct pollfd answer = {.events = POLLIN};
	pid_t passing[PORTER_USER_CONNECTIONS + 8];
	int other[PORTER_USER_CONNECTIONS + 8], sock[PORTER_USER_CONNECTIONS + 8], slow;

	/* First one that is read and refused, then as many as may come, and then those who find no room. */
	for (int i = 0; i < PORTER_USER_CONNECTIONS + 8; i++) {
		other[i] = -1;
		slow = i == 0 || i >= PORTER_USER_CONNECTIONS ? slow_to_close(&other[i]) : -1;
		sock[i] = reach(d);
		passing[i] = slow < 0 ? 0 : pass_slow(sock, i, slow);
	}
	for (int i = 1; i < PORTER_USER_CONNECTIONS + 8; i++)
		close(sock[i]);
	answer.fd = sock[0];
	assert_int_equal(poll(&answer, 1, 5000), 1);
	for (int tries = 0; tries < 100; tries++) {
		struct porter_word w;

		t = ticket();
		assert_int_equal(porter_give(d->tickets, &t), 0);
		answer.fd = reach(d);
		send_ask(answer.fd, exit_5, sizeof exit_5);
		assert_int_equal(poll(&answer, 1, 5000), 1);
		w = hear(answer.fd);
		close(answer.fd);
		if (w.kind == PORTER_STARTED)
			break;
		assert_true(tries < 99); /* room is made when those who left are seen to have */
		(void)poll(NULL, 0, 20);
	}
	for (int i = 0; i < PORTER_USER_CONNECTIONS + 8; i++) {
		if (passing[i] == 0)
			continue;
		(void)kill(passing[i], SIGKILL);
		assert_int_equal(waitpid(passing[i], NULL, 0), passing[i]);
		close(other[i]);
	}
	close(sock[0]);
}

static void a_signal_is_passed_on_and_any_other_byte_ends_it(void **state)
{
	static const char for_ever[] = "sleep\0" "100\0";
	struct door *d = *state;
	struct porter_ticket t = ticket();
	unsigned char byte = SIGUSR1;
	struct porter_word w;
	int sock;

	assert_int_equal(porter_give(d->tickets, &t), 0);
	sock = reach(d);
	send_ask(sock, for_ever, sizeof for_ever);
	assert_int_equal(hear(sock).kind, PORTER_STARTED);
	assert_int_equal(send(sock, &byte, 1, 0), 1);
	w = hear(sock);
	assert_int_equal(w.kind, PORTER_ENDED);
	assert_int_equal(WTERMSIG(w.value), SIGUSR1);
	close(sock);
	t = ticket();
	assert_int_equal(porter_give(d->tickets, &t), 0);
	sock = reach(d);
	send_ask(sock, for_ever, sizeof for_ever);
	assert_int_equal(hear(sock).kind, PORTER_STARTED);
	byte = SIGSTOP;
	assert_int_equal(send(sock, &byte, 1, 0), 1);
	assert_int_equal(hear(sock).kind, PORTER_NONE);
	close(sock);
}

static void a_command_is_words_and_no_option(void **state)
{
	static struct porter_ask a;

	(void)state;
	a = (struct porter_ask){.magic = PORTER_MAGIC, .size = sizeof a, .args = "ls\0-l\0"};
	assert_true(porter_ask_valid(&a));
	a.args[0] = '-';
	assert_false(porter_ask_valid(&a));
	a.args[0] = '\0';
	assert_false(porter_ask_valid(&a));
	memset(a.args, 'x', sizeof a.args);
	assert_false(porter_ask_valid(&a));
	memset(a.args, 0, sizeof a.args);
	for (size_t i = 0; i < sizeof a.args - 2; i += 2)
		a.args[i] = 'x'; /* too many */
	assert_false(porter_ask_valid(&a));
	a = (struct porter_ask){.magic = PORTER_MAGIC, .size = sizeof a, .args = "ls", .term = "xterm;rm"};
	assert_false(porter_ask_valid(&a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(with_a_ticket_a_command_runs_and_its_status_comes_back_once, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_ticket_of_another_is_none, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_signal_is_passed_on_and_any_other_byte_ends_it, setup, teardown),
	    cmocka_unit_test_setup_teardown(descriptors_that_nobody_asked_for_are_closed, setup, teardown),
	    cmocka_unit_test_setup_teardown(an_empty_message_leaves_no_descriptor_behind, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_descriptor_that_is_slow_to_close_holds_up_its_own_caller_only, setup, teardown),
	    cmocka_unit_test(a_command_is_words_and_no_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
