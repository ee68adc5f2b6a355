#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <pthread.h>
#include <unistd.h>

#include "lease/process.h"
#include "tests/unit/lease/scratch.h"
#include "tests/unit/lease/test.h"

struct child {
	pid_t pid;
	int ready, hold;
};

/* A child of that name, which lives until it is told to end. */
static struct child start_child(const char *name)
{
	struct child c;
	int ready[2], hold[2];
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	assert_int_equal(pipe2(hold, O_CLOEXEC), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (c.pid == 0) {
		close(hold[1]);
		if (name)
			prctl(PR_SET_NAME, name);
		if (write(ready[1], "r", 1) == 1 && read(hold[0], &byte, 1) == 0)
			_exit(0);
		_exit(1);
	}
	close(ready[1]);
	close(hold[0]);
	c.ready = ready[0];
	c.hold = hold[1];
	assert_int_equal(read(c.ready, &byte, 1), 1);
	return c;
}

/* Ends it and leaves a zombie. */
static void end_child(struct child *c)
{
	siginfo_t info;

	close(c->hold);
	close(c->ready);
	assert_int_equal(waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT), 0);
}

static void reap_child(const struct child *c)
{
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

static void a_process_knows_itself(void **state)
{
	struct lease_process self;
	uint64_t start = 0;
	int32_t ppid = 0;
	char letter = 0;

	(void)state;
	assert_int_equal(lease_process_self(&self), 0);
	assert_int_equal(self.pid, getpid());
	assert_true(self.start > 0);
	assert_int_equal(lease_process_stat(getpid(), &start, &ppid, &letter), 0);
	assert_true(start == self.start);
	assert_int_equal(ppid, getppid());
	assert_int_equal(letter, 'R');
	assert_int_equal(lease_process_stat(getpid(), NULL, NULL, NULL), 0);
}

static void a_hostile_name_changes_nothing_that_is_read(void **state)
{
	static const char *const names[] = {
	    ") R 1 (", "x) Z 1 1 1", ")))))))))))))))", "a\nUid:\t0\t0", "(",
	    " ",       "",           "\n\n) S 0 0",     "\xff\xfe)",
	};

	(void)state;
	for (size_t i = 0; i < N_OF(names); i++) {
		struct child plain = start_child(NULL), c = start_child(names[i]);
		struct lease_process p = {.pid = c.pid};
		uint64_t before = 0;
		int32_t ppid = 0;
		char letter = 0;
		int fd = -1;

		assert_int_equal(lease_process_stat(plain.pid, &before, NULL, NULL), 0);
		assert_int_equal(lease_process_stat(c.pid, &p.start, &ppid, &letter), 0);
		assert_int_equal(ppid, getpid());
		assert_true(letter == 'S' || letter == 'R');
		assert_in_range(p.start, before, before + 1000);
		assert_int_equal(lease_process_open(&p, getuid(), &fd), 0);
		assert_int_equal(lease_process_open(&p, getuid() + 1, &fd), -EPERM);
		close(fd);
		end_child(&c);
		reap_child(&c);
		end_child(&plain);
		reap_child(&plain);
	}
}

static void an_opened_process_is_seen_to_end(void **state)
{
	struct child c = start_child(NULL);
	struct lease_process p = {.pid = c.pid};
	struct pollfd look = {.events = POLLIN};

	(void)state;
	assert_int_equal(lease_process_stat(c.pid, &p.start, NULL, NULL), 0);
	assert_int_equal(lease_process_open(&p, (uid_t)-1, &look.fd), 0);
	assert_int_equal(fcntl(look.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(poll(&look, 1, 0), 0);
	end_child(&c);
	assert_int_equal(poll(&look, 1, 5000), 1);
	close(look.fd);
	reap_child(&c);
}

static void a_zombie_is_gone_and_so_is_what_was_reaped(void **state)
{
	struct child c = start_child(NULL);
	struct lease_process p = {.pid = c.pid};
	char letter = 0;
	int fd = -1, fds = scratch_open_fds();

	(void)state;
	assert_int_equal(lease_process_stat(c.pid, &p.start, NULL, NULL), 0);
	end_child(&c);
	fds -= 2;
	assert_int_equal(lease_process_stat(c.pid, NULL, NULL, &letter), 0);
	assert_int_equal(letter, 'Z');
	assert_int_equal(lease_process_open(&p, (uid_t)-1, &fd), -ESRCH);
	reap_child(&c);
	assert_int_equal(lease_process_stat(c.pid, NULL, NULL, NULL), -ESRCH);
	assert_int_equal(lease_process_open(&p, (uid_t)-1, &fd), -ESRCH);
	assert_int_equal(fd, -1);
	assert_int_equal(scratch_open_fds(), fds);
}

static void a_number_used_again_is_another_process(void **state)
{
	struct lease_process p;
	int fd = -1, fds = scratch_open_fds();

	(void)state;
	assert_int_equal(lease_process_self(&p), 0);
	p.start++;
	assert_int_equal(lease_process_open(&p, getuid(), &fd), -ESRCH);
	/* Whoever has the number now: that it is another process counts first. */
	assert_int_equal(lease_process_open(&p, getuid() + 1, &fd), -ESRCH);
	assert_int_equal(fd, -1);
	assert_int_equal(scratch_open_fds(), fds);
}

static void what_is_no_pid_is_no_process(void **state)
{
	static const int32_t pids[] = {0, -1, INT32_MIN, INT32_MAX};
	int fd;

	(void)state;
	for (size_t i = 0; i < N_OF(pids); i++) {
		struct lease_process p = {.pid = pids[i]};

		assert_int_equal(lease_process_stat(pids[i], NULL, NULL, NULL), -ESRCH);
		assert_int_equal(lease_process_open(&p, (uid_t)-1, &fd), -ESRCH);
	}
}

static void *thread_main(void *arg)
{
	int *pipes = arg;
	int tid = (int)syscall(SYS_gettid);
	char byte;

	if (write(pipes[1], &tid, sizeof(tid)) == sizeof(tid) && read(pipes[2], &byte, 1) == 0)
		return NULL;
	return arg;
}

static void a_thread_is_no_process(void **state)
{
	int pipes[4], tid, fd = -1;
	struct lease_process p = {0};
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(pipe(pipes + 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, thread_main, pipes), 0);
	assert_int_equal(read(pipes[0], &tid, sizeof(tid)), sizeof(tid));
	p.pid = tid;
	assert_int_equal(lease_process_stat(tid, &p.start, NULL, NULL), 0);
	assert_int_equal(lease_process_open(&p, (uid_t)-1, &fd), -ESRCH);
	close(pipes[3]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(pipes[0]);
	close(pipes[1]);
	close(pipes[2]);
}

static void the_boot_id_is_the_kernels(void **state)
{
	char boot[LEASE_BOOT_SIZE], again[LEASE_BOOT_SIZE], buf[256];
	struct lease_record r;
	size_t len;

	(void)state;
	assert_int_equal(lease_boot_id(boot), 0);
	assert_int_equal(strlen(boot), LEASE_BOOT_SIZE - 1);
	assert_int_equal(lease_boot_id(again), 0);
	assert_string_equal(boot, again);
	/* And it is what a record takes. */
	lease_record_init(&r);
	memcpy(r.boot, boot, sizeof(boot));
	assert_int_equal(lease_process_self(&r.leader), 0);
	assert_int_equal(lease_record_format(&r, buf, sizeof(buf), &len), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_process_knows_itself),
	    cmocka_unit_test(a_hostile_name_changes_nothing_that_is_read),
	    cmocka_unit_test(an_opened_process_is_seen_to_end),
	    cmocka_unit_test(a_zombie_is_gone_and_so_is_what_was_reaped),
	    cmocka_unit_test(a_number_used_again_is_another_process),
	    cmocka_unit_test(what_is_no_pid_is_no_process),
	    cmocka_unit_test(a_thread_is_no_process),
	    cmocka_unit_test(the_boot_id_is_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
