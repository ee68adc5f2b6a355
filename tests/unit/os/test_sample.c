/* CPU read from a cgroup's files (made-up ones) and from a true tree of processes. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lease/process.h"
#include "os/sample.h"

static char dir[] = "/tmp/test-sample.XXXXXX";

static void put(const char *file, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, file);
	if (!text) {
		unlink(path);
		return;
	}
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void both_kinds_of_cgroup_are_read(void **state)
{
	int64_t ns = 0;

	(void)state;
	put("cpu.stat", "usage_usec 1500\nuser_usec 1000\n");
	assert_int_equal(sample_cgroup_cpu(dir, &ns), 0);
	assert_int_equal(ns, 1500000);
	put("cpu.stat", NULL);
	put("cpuacct.usage", "987654321\n");
	assert_int_equal(sample_cgroup_cpu(dir, &ns), 0);
	assert_int_equal(ns, 987654321);
	put("cpuacct.usage", NULL);
}

static void what_cannot_be_read_is_an_error_and_sets_nothing(void **state)
{
	static const char *const wrong[] = {"",
					    "usage_usec\n",
					    "usage_usec -5\n",
					    "usage_usec 99999999999999999999\n",
					    "usage_usec 12x\n",
					    "user_usec 5\n",
					    "usage_usec 9223372036854775807\n"};
	int64_t ns = 77;

	(void)state;
	assert_int_equal(sample_cgroup_cpu(dir, &ns), -ENOENT);
	assert_int_equal(sample_cgroup_cpu("/there/is/none", &ns), -ENOENT);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		put("cpu.stat", wrong[i]);
		assert_int_equal(sample_cgroup_cpu(dir, &ns), -EBADMSG);
	}
	put("cpu.stat", NULL);
	assert_int_equal(ns, 77);
}

static int64_t own_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* Burns 60 ms, tells, and waits to be killed. */
static void __attribute__((noreturn)) burn(int fd)
{
	while (own_cpu() < INT64_C(60000000))
		;
	if (write(fd, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void a_tree_is_summed_to_its_leaves(void **state)
{
	struct lease_process root = {0};
	int64_t before = 0, after = 0;
	int p[2];
	pid_t pid;
	char c;

	(void)state;
	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		if (fork() == 0) {
			if (fork() == 0)
				burn(p[1]);
			pause();
		}
		pause();
		_exit(0);
	}
	assert_int_equal(read(p[0], &c, 1), 1);
	root.pid = pid;
	assert_int_equal(lease_process_stat(pid, &root.start, NULL, NULL), 0);
	assert_int_equal(sample_tree_cpu(&root, &after), 0);
	assert_true(after >= INT64_C(40000000));
	root.start++;
	before = 5;
	assert_int_equal(sample_tree_cpu(&root, &before), -ESRCH);
	assert_int_equal(before, 5);
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(p[0]);
	close(p[1]);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_kinds_of_cgroup_are_read),
	    cmocka_unit_test(what_cannot_be_read_is_an_error_and_sets_nothing),
	    cmocka_unit_test(a_tree_is_summed_to_its_leaves),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
