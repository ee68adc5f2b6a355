#include "config.h"

#include "runtimes.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actor-answer.h"
#include "actor-env.h"
#include "lease/process.h"
#include "os/clock.h"
#include "store/workdir.h"

#define DEADLINE (10 * LEASE_NS_PER_S)
#define LOOK_MS 50 /* when none of its descriptors says anything: its deadline is looked at */

static void wait_for(struct proc *p)
{
	struct pollfd fds[] = {{p->pidfd, POLLIN, 0}, {p->out_fd, POLLIN, 0}, {p->err_fd, POLLIN, 0}};
	struct clock_now now;

	for (;;) {
		clock_read(&now);
		if (proc_step(p, now.mono))
			return;
		fds[0].fd = p->pidfd;
		fds[1].fd = p->out_fd;
		fds[2].fd = p->err_fd;
		(void)poll(fds, 3, LOOK_MS);
	}
}

static void print_one(const struct actor *x, const char *name)
{
	struct act_request r = {.verb = ACT_CAPABILITIES, .uid = getuid(), .deadline = DEADLINE};
	char path[4096], verb[] = "capabilities", words[400], *argv[] = {path, verb, NULL};
	struct act_answer a;
	struct actor_env env;
	struct proc_options po = {.path = path, .argv = argv, .envp = env.word, .cwd = -1, .out_max = 65536};
	struct clock_now now;
	struct proc p;
	int e;

	(void)snprintf(r.runtime, sizeof r.runtime, "%s", name);
	clock_read(&now);
	if (snprintf(path, sizeof path, "%s/%s", x->o->runtimes, name) >= (int)sizeof path || actor_env_make(&env, x, &r) < 0)
		return;
	e = proc_start(&p, &po, now.mono + DEADLINE);
	if (e < 0) {
		printf("runtime %s: cannot be run: %s\n", name, strerror(-e));
		return;
	}
	wait_for(&p);
	answer_begin(&a, &r, p.end == PROC_EXITED && p.status == 0 ? ACT_DONE : ACT_FAILED);
	if (p.end == PROC_DEADLINE)
		answer_line(&a, "no answer within its deadline");
	else if (a.outcome == ACT_FAILED)
		answer_line(&a, "%s", proc_last_line(&p));
	else
		(void)answer_parse(&a, p.out ? p.out : "", p.out_len);
	proc_free(&p);
	if (a.outcome == ACT_DONE)
		caps_words(a.caps, a.line, words, sizeof words);
	else
		(void)snprintf(words, sizeof words, "does not work here: %s", a.line[0] ? a.line : "it does not say why");
	printf("runtime %s: %s\n", name, words);
}

static int is_name(const struct dirent *d)
{
	return lease_word_valid(d->d_name);
}

void runtimes_print(const struct actor_options *o)
{
	struct actor x = {.o = o, .settings = o->settings, .runtimes = -1};
	struct dirent **all;
	int n, e;

	if (lease_boot_id(x.boot) < 0 || workdir_open(o->runtimes, &x.runtimes) < 0) {
		printf("runtimes: %s is no folder that only root can write\n", o->runtimes);
		return;
	}
	n = scandir(o->runtimes, &all, is_name, alphasort);
	for (int i = 0; i < n; i++) {
		e = workdir_program(x.runtimes, all[i]->d_name);
		if (e < 0)
			printf("runtime %s: is not run: %s\n", all[i]->d_name, strerror(-e));
		else
			print_one(&x, all[i]->d_name);
		free(all[i]);
	}
	if (n >= 0)
		free(all);
	close(x.runtimes);
}
