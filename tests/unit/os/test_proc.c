/* Running a helper: `now` is made up, so no deadline is waited for. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/proc.h"

static void start(struct proc *p, const char *script, size_t out_max)
{
	char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char *)(uintptr_t)script, NULL};
	char *const envp[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
	const struct proc_options o = {
	    .path = "/bin/sh", .argv = argv, .envp = envp, .cwd = -1, .out_max = out_max};

	assert_int_equal(proc_start(p, &o, 1000), 0);
}

/* Until it has ended, on a clock that stands at now. */
static void finish(struct proc *p, int64_t now)
{
	for (int i = 0; i < 10000 && !proc_step(p, now); i++) {
		struct pollfd f[] = {{p->pidfd, POLLIN, 0}, {p->out_fd, POLLIN, 0}, {p->err_fd, POLLIN, 0}};

		(void)poll(f, 3, 1000);
	}
	assert_int_not_equal(p->end, PROC_RUNNING);
}

static void every_way_to_die_is_told_apart(void **state)
{
	struct proc p;

	(void)state;
	start(&p, "exit 42", 100);
	finish(&p, 0);
	assert_int_equal(p.end, PROC_EXITED);
	assert_int_equal(p.status, 42);
	proc_free(&p);
	start(&p, "kill -KILL $$", 100);
	finish(&p, 0);
	assert_int_equal(p.end, PROC_SIGNALLED);
	assert_int_equal(p.status, SIGKILL);
	proc_free(&p);
	start(&p, "exec sleep 100", 100);
	assert_false(proc_step(&p, 999));
	assert_int_equal(proc_due(&p), 1000);
	assert_false(proc_step(&p, 1000));
	finish(&p, 1000);
	assert_int_equal(p.end, PROC_DEADLINE);
	proc_free(&p);
}

static void what_cannot_be_run_is_told_at_once(void **state)
{
	char *const argv[] = {(char[]){"x"}, NULL};
	char *const envp[] = {NULL};
	struct proc_options o = {
	    .path = "/there/is/none", .argv = argv, .envp = envp, .cwd = -1, .out_max = 10};
	struct proc p;

	(void)state;
	assert_int_equal(proc_start(&p, &o, 1000), -ENOENT);
	o.path = "/etc/passwd";
	assert_int_equal(proc_start(&p, &o, 1000), -EACCES);
}

static void term_is_followed_by_kill(void **state)
{
	struct proc p;

	(void)state;
	start(&p, "trap '' TERM; echo ready; while :; do sleep 0.01; done", 100);
	while (!p.out) {
		struct pollfd f = {p.out_fd, POLLIN, 0};

		(void)poll(&f, 1, 1000);
		assert_false(proc_step(&p, 0));
	}
	assert_false(proc_step(&p, 1000));
	assert_int_equal(proc_due(&p), 1000 + PROC_TERM_GRACE);
	assert_false(proc_step(&p, 1000 + PROC_TERM_GRACE - 1));
	assert_false(p.killed);
	(void)proc_step(&p, 1000 + PROC_TERM_GRACE);
	assert_true(p.killed);
	finish(&p, 1000 + PROC_TERM_GRACE);
	assert_int_equal(p.end, PROC_DEADLINE);
	assert_int_equal(p.status, SIGKILL);
	proc_free(&p);
}

static void output_is_kept_up_to_the_cap_and_the_rest_is_told(void **state)
{
	struct proc p;

	(void)state;
	start(&p, "printf 1234567890; echo a >&2; echo b >&2", 10);
	finish(&p, 0);
	assert_string_equal(p.out, "1234567890");
	assert_false(p.out_cut);
	assert_string_equal(proc_last_line(&p), "b");
	proc_free(&p);
	start(&p, "printf 12345678901", 10);
	finish(&p, 0);
	assert_int_equal(p.out_len, 10);
	assert_true(p.out_cut);
	assert_string_equal(proc_last_line(&p), "");
	proc_free(&p);
}

static void a_child_that_keeps_the_pipe_keeps_nobody_waiting(void **state)
{
	struct proc p;

	(void)state;
	start(&p, "sleep 5 & echo done", 100);
	finish(&p, 0);
	assert_int_equal(p.end, PROC_EXITED);
	assert_string_equal(p.out, "done\n");
	proc_free(&p);
}

static void it_works_without_standard_descriptors_of_our_own(void **state)
{
	int saved = dup(STDIN_FILENO);
	struct proc p;

	(void)state;
	assert_true(saved > STDERR_FILENO);
	close(STDIN_FILENO);
	start(&p, "cat; echo out; echo err >&2", 100);
	finish(&p, 0);
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	close(saved);
	assert_string_equal(p.out, "out\n");
	assert_string_equal(proc_last_line(&p), "err");
	proc_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_way_to_die_is_told_apart),
	    cmocka_unit_test(what_cannot_be_run_is_told_at_once),
	    cmocka_unit_test(term_is_followed_by_kill),
	    cmocka_unit_test(output_is_kept_up_to_the_cap_and_the_rest_is_told),
	    cmocka_unit_test(a_child_that_keeps_the_pipe_keeps_nobody_waiting),
	    cmocka_unit_test(it_works_without_standard_descriptors_of_our_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
