#include "config.h"

#include "actor-act.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actor-answer.h"
#include "store/workdir.h"
#include "actor-env.h"
#include "actor-permit.h"
#include "lease/process.h"
#include "os/log.h"

#define OUT_MAX 65536
#define OUT_MAX_LIST (4 * 1024 * 1024) /* a line a workload: some 100,000 of them */
#define EXIT_LATER 75
#define EXIT_ABSENT 3

static bool of_lease(const struct act *a)
{
	return a->r.id[0];
}

static bool refuse(struct act *a, const char *why)
{
	answer_begin(&a->answer, &a->r, ACT_REFUSED);
	answer_line(&a->answer, "%s", why);
	return false;
}

static bool fail(struct act *a, const char *what, int error)
{
	answer_begin(&a->answer, &a->r, ACT_FAILED);
	answer_line(&a->answer, "%s: %s", what, strerror(-error));
	return false;
}

static bool check_process(const struct actor *x, struct act *a)
{
	const struct lease_process *p = &a->r.process;
	int fd, r;

	if (p->pid == 1 || p->pid == getpid() || p->pid == x->o->watcher)
		return refuse(a, "this process can't be a workload");
	r = lease_process_open(p, a->r.uid, &fd);
	if (r == -EPERM)
		return refuse(a, "the process belongs to another user");
	if (r < 0)
		return refuse(a, "there is no such process (any more)");
	close(fd);
	return true;
}

bool act_check(const struct actor *x, struct act *a)
{
	int r;

	if (x->o->user_mode && a->r.uid != getuid())
		return refuse(a, "another user's lease, and this daemon runs in user mode");
	if (a->r.verb == ACT_PERMIT)
		return true;
	r = workdir_program(x->runtimes, a->r.runtime);
	if (r == -ENOENT)
		return refuse(a, "no such runtime is installed");
	if (r == -EPERM)
		return refuse(a, x->o->user_mode ? "its program is no regular file, or others than you and root can write it"
						 : "its program is no regular file, or others than root can write it");
	if (r < 0)
		return refuse(a, "the runtime's program can't be run");
	if (a->r.process.pid && (a->r.verb == ACT_CREATE || a->r.verb == ACT_ENTER))
		return check_process(x, a);
	return true;
}

/* Puts it where it is waited for. */
static bool started(const struct actor *x, struct act *a, int64_t now)
{
	a->started = now;
	/* Out of memory for a watch: what can't be watched must not run. The deadline that has passed ends it. */
	if (proc_watch(&a->proc, x->epoll, a) < 0)
		a->proc.deadline = now;
	return true;
}

static bool run(struct actor *x, struct act *a, int64_t now)
{
	char path[4096], verb[16];
	char *argv[] = {path, verb, NULL};
	struct actor_env env;
	struct proc_options po = {
	    .path = path,
	    .argv = argv,
	    .envp = env.word,
	    .cwd = -1,
	    .out_max = a->r.verb == ACT_LIST ? OUT_MAX_LIST : OUT_MAX,
	};
	int dir = -1, r;

	if (snprintf(path, sizeof path, "%s/%s", x->o->runtimes, a->r.runtime) >= (int)sizeof path)
		return fail(a, "path of the runtime", -ENAMETOOLONG);
	snprintf(verb, sizeof verb, "%s", act_verb_name(a->r.verb));
	r = actor_env_make(&env, x, &a->r);
	if (r < 0)
		return fail(a, "environment", r);
	if (a->r.verb != ACT_CAPABILITIES) {
		r = workdir_private(x->work, a->r.runtime, of_lease(a) ? a->r.id : NULL, a->r.generation,
				      &dir, &a->made);
		if (r < 0)
			return fail(a, "private directory", r);
	}
	if (of_lease(a))
		po.cwd = dir;
	r = proc_start(&a->proc, &po, now + a->r.deadline);
	if (dir >= 0)
		close(dir);
	if (r < 0) {
		if (a->made && of_lease(a))
			(void)workdir_remove(x->work, a->r.runtime, a->r.id, a->r.generation, false);
		return fail(a, "can't run the runtime", r);
	}
	return started(x, a, now);
}

static bool ask_who(struct actor *x, struct act *a, int64_t now)
{
	char uid[16], path[] = "PATH=/usr/bin:/bin", locale[] = "LC_ALL=C", *argv[3], *env[] = {path, locale, NULL};
	struct proc_options po = {.path = PERMIT_PROGRAM, .argv = argv, .envp = env, .cwd = -1, .out_max = OUT_MAX};
	int r;

	permit_argv(&a->r, uid, argv);
	r = proc_start(&a->proc, &po, now + a->r.deadline);
	if (r < 0)
		return fail(a, PERMIT_PROGRAM, r);
	a->asking = true;
	return started(x, a, now);
}

static bool permitted(struct act *a)
{
	answer_begin(&a->answer, &a->r, ACT_DONE);
	return false;
}

bool act_start(struct actor *x, struct act *a, int64_t now)
{
	char why[160];

	/* Time has passed in the queue: the second look is the one that counts. */
	if (!act_check(x, a))
		return false;
	if (a->r.verb != ACT_CREATE && a->r.verb != ACT_PERMIT)
		return run(x, a, now);
	switch (permit_look(x, &a->r, why)) {
	case PERMIT_NO:
		return refuse(a, why);
	case PERMIT_ASK:
		return ask_who(x, a, now);
	case PERMIT_YES:
		break;
	}
	return a->r.verb == ACT_PERMIT ? permitted(a) : run(x, a, now);
}

static enum act_outcome outcome_of(const struct proc *p)
{
	if (p->end == PROC_DEADLINE)
		return ACT_TIMEOUT;
	if (p->end != PROC_EXITED)
		return ACT_FAILED;
	switch (p->status) {
	case 0:
		return ACT_DONE;
	case EXIT_LATER:
		return ACT_LATER;
	case EXIT_ABSENT:
		return ACT_ABSENT;
	default:
		return ACT_FAILED;
	}
}

static void say_how_it_ended(struct act *a)
{
	const char *line = proc_last_line(&a->proc);

	if (a->answer.outcome == ACT_TIMEOUT)
		answer_line(&a->answer, "deadline passed%s%s", line[0] ? ", last words: " : "", line);
	else if (line[0])
		answer_line(&a->answer, "%s", line);
	else if (a->proc.end == PROC_SIGNALLED)
		answer_line(&a->answer, "killed by signal %d (%s)", a->proc.status,
			    strsignal(a->proc.status));
	else if (a->answer.outcome == ACT_FAILED)
		answer_line(&a->answer, "exit status %d and not a word on stderr", a->proc.status);
}

/* destroy that is sure of its end takes the directory along; else an empty one that this act made goes again.
 */
static void tidy(struct actor *x, struct act *a)
{
	enum act_outcome o = a->answer.outcome;
	bool gone = a->r.verb == ACT_DESTROY && (o == ACT_DONE || o == ACT_ABSENT);
	int r;

	if (!of_lease(a) || !(gone || (a->made && !(a->r.verb == ACT_CREATE && o == ACT_DONE))))
		return;
	r = workdir_remove(x->work, a->r.runtime, a->r.id, a->r.generation, gone);
	if (r < 0)
		log_warn("%s generation %llu: private directory stays: %s", a->r.id,
			 (unsigned long long)a->r.generation, strerror(-r));
}

/* id has ended. True: the act is over. */
static bool told_who(struct actor *x, struct act *a, int64_t now)
{
	bool answered = a->proc.end == PROC_EXITED && a->proc.status == 0 && a->proc.out && !a->proc.out_cut, yes;
	char why[160];

	a->asking = false;
	if (!answered) {
		/* No such user is no failure of the directory's. */
		bool unknown = a->proc.end == PROC_EXITED && a->proc.status == 1;

		answer_begin(&a->answer, &a->r, unknown ? ACT_REFUSED : a->proc.end == PROC_DEADLINE ? ACT_TIMEOUT : ACT_FAILED);
		answer_line(&a->answer, "whether uid %u may name profile %s cannot be told: %s", a->r.uid, a->r.profile,
			    a->proc.end == PROC_DEADLINE ? "id(1) does not answer" : proc_last_line(&a->proc));
		return true;
	}
	yes = permit_told(x, &a->r, a->proc.out, why);
	if (!yes)
		return !refuse(a, why);
	if (a->r.verb == ACT_PERMIT)
		return !permitted(a);
	proc_free(&a->proc);
	a->started = 0;
	return !run(x, a, now);
}

bool act_step(struct actor *x, struct act *a, int64_t now)
{
	if (!proc_step(&a->proc, now))
		return false;
	if (a->asking)
		return told_who(x, a, now);
	answer_begin(&a->answer, &a->r, outcome_of(&a->proc));
	say_how_it_ended(a);
	if (a->answer.outcome == ACT_DONE) {
		/* Noise is no reason why it can't do more. */
		if (a->r.verb == ACT_CAPABILITIES)
			a->answer.line[0] = '\0';
		if (a->proc.out_cut) {
			a->answer.outcome = ACT_FAILED;
			answer_line(&a->answer, "printed more than %zu bytes", a->proc.out_max);
		} else {
			(void)answer_parse(&a->answer, a->proc.out ? a->proc.out : "", a->proc.out_len);
		}
	}
	/* Absent is said by exit status or by word: the watcher hears it in one way. */
	if (a->r.verb == ACT_STAT && (a->answer.outcome == ACT_ABSENT || a->answer.state == ACT_ST_ABSENT)) {
		a->answer.outcome = ACT_ABSENT;
		a->answer.state = ACT_ST_ABSENT;
	}
	tidy(x, a);
	return true;
}
