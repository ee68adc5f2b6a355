/*
 * klease exec: a command inside a lease that is there. It is forked first and waits behind a gate, because
 * the ask names it: while it lives it counts as use, and is moved to where the lease's workload is. While it
 * runs we beat, by a timer: nothing else would renew the lease.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "klease/ask.h"
#include "klease/child.h"
#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/foreground.h"
#include "klease/porter.h"
#include "klease/request.h"
#include "klease/say.h"
#include "klease/views.h"
#include "lease/duration.h"
#include "lease/process.h"

struct gated {
	pid_t pid;
	int gate;  /* the answer goes in here: the words before the command */
	int error; /* an errno comes out here when exec failed */
};

/* Who stands for the command at the porter's ends with klease, which beats for it: then the porter ends the command. */
static bool tied(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

static void child_main(const struct world *w, char **command, const char *id, const char *lock, int gate, int error)
	__attribute__((noreturn));
static void child_main(const struct world *w, char **command, const char *id, const char *lock, int gate, int error)
{
	struct ask_answer answer;
	char **words;
	size_t n = 0, left = 0;
	pid_t parent = getppid();
	int e, sig = porter_signals();

	if (read(gate, &answer, sizeof answer) != (ssize_t)sizeof answer)
		_exit(KX_OURS); /* never opened */
	/* Words are for who drives the engine: in system mode root. */
	if (answer.porter)
		_exit(sig < 0 || !tied(parent) ? KX_OURS : porter_exec(w, command, sig, error));
	while (command[left])
		left++;
	words = calloc((size_t)answer.n_words + left + 1, sizeof *words);
	for (int i = 0; words && i < answer.n_words; i++)
		words[n++] = answer.words[i];
	for (size_t i = 0; words && i < left; i++)
		words[n++] = command[i];
	e = words ? child_exec(words, id, lock) : ENOMEM;
	(void)!write(error, &e, sizeof e);
	_exit(child_exec_status(e));
}

static int start_gated(const struct world *w, char **command, const char *id, const char *lock, struct gated *ret)
{
	int gate[2], error[2];

	if (pipe2(gate, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0)
		return -errno;
	ret->pid = fork();
	if (ret->pid < 0)
		return -errno;
	if (ret->pid == 0) {
		close(gate[1]);
		child_main(w, command, id, lock, gate[0], error[1]);
	}
	close(gate[0]);
	close(error[1]);
	ret->gate = gate[1];
	ret->error = error[0];
	return 0;
}

struct beats {
	struct world *w;
	const char *name;
	int64_t every, next; /* ns; next 0 = the lease is lost, no more */
};

/* A third of the shorter of ttl and renew_grace, and never later: what is drawn is up to a tenth sooner. */
static void beat(struct beats *b)
{
	int r = lease_touch(b->w->tree.active, b->name, NULL);

	if (r == 0) {
		b->next = clock_mono() + b->every -
			  (int64_t)(arc4random_uniform(1000) * (uint64_t)b->every / 10000);
		return;
	}
	b->next = 0;
	say("the lease is lost (%s): its end is the command's end", strerror(-r));
}

static int follow(const struct gated *g, int sig, struct beats *b)
{
	bool terminal;
	int n, status;

	for (;;) {
		struct pollfd p = { sig, POLLIN, 0 };

		(void)poll(&p, 1, clock_poll_ms(b->next));
		while ((n = foreground_read(sig, &terminal)) > 0)
			if (n != SIGCHLD && !terminal)
				(void)kill(g->pid, n);
		if (waitpid(g->pid, &status, WNOHANG) == g->pid)
			return child_status(status);
		if (b->next && clock_mono() >= b->next)
			beat(b);
	}
}

/* Opens the gate; KX_OK, or what exec's failure means. */
static int open_gate(struct gated *g, const struct ask_answer *answer, const char *command)
{
	char buf[SAFE_SIZE];
	int e;

	if (write(g->gate, answer, sizeof *answer) != (ssize_t)sizeof *answer)
		return KX_OURS;
	if (read(g->error, &e, sizeof e) != (ssize_t)sizeof e)
		return KX_OK;
	say("cannot run '%s': %s", safe(buf, command), strerror(e));
	return child_exec_status(e);
}

static int wake(struct world *w, const struct args *a, const struct gated *g, int sig, struct ask_answer *ret)
{
	int64_t timeout = a->timeout ? a->timeout : ASK_TIMEOUT, deadline = clock_mono() + timeout;
	struct ask ask = { .verb = ASK_EXEC, .process.pid = g->pid };
	int status;

	(void)strlcpy(ask.lease, a->id, sizeof ask.lease);
	(void)strlcpy(ask.boot, w->boot, sizeof ask.boot);
	ask.tty = a->port == 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (lease_process_stat(g->pid, &ask.process.start, NULL, NULL) < 0)
		return KX_OURS;
	status = ask_daemon(w, &ask, timeout, sig, ret);
	if (status == KX_OK)
		status = request_await_active(w, a->id, deadline, sig);
	return status == KX_FAILED ? KX_OURS : status;
}

static int look(struct world *w, const char *id, struct view *v)
{
	int r = views_get_ever(w, id, v);

	if (r < 0)
		return views_say_error(id, r) == KX_LOST ? KX_LOST : KX_OURS;
	if (view_living(v))
		return KX_OK;
	say("lease lost: %s is %s", id, v->state);
	return KX_LOST;
}

int cmd_exec(struct world *w, struct args *a)
{
	struct ask_answer answer;
	struct beats b = { .w = w };
	struct gated g = { -1, -1, -1 };
	struct view v;
	char lock[800];
	int status, sig, r;

	status = look(w, a->id, &v);
	if (status != KX_OK)
		return status;
	(void)snprintf(lock, sizeof lock, "%s/active/%s", w->notices, v.lock);
	(void)signal(SIGPIPE, SIG_IGN); /* a gated child that was killed is no reason to die */
	sig = foreground_open(true);
	r = sig < 0 ? sig : start_gated(w, a->command, a->id, lock, &g);
	if (r < 0) {
		say("cannot start a process: %s", strerror(-r));
		return KX_OURS;
	}
	status = wake(w, a, &g, sig, &answer);
	if (status == KX_OK && answer.n_words > 0 && w->uid == 0 && w->beacon_uid != 0) {
		/* What comes before the command would be whatever that user likes, run as root. */
		say("refused: the daemon is uid %u's, and gives words that root would run before the command", w->beacon_uid);
		status = KX_REFUSED;
	}
	if (status == KX_OK)
		status = open_gate(&g, &answer, a->command[0]);
	close(g.gate);
	if (status != KX_OK) {
		(void)waitpid(g.pid, NULL, 0);
		return status;
	}
	b.name = v.lock;
	b.every = (v.renew_grace > 0 && v.renew_grace < v.ttl ? v.renew_grace : v.ttl) / 3;
	if (b.every < LEASE_NS_PER_MS)
		b.every = LEASE_NS_PER_MS;
	beat(&b);
	return follow(&g, sig, &b);
}
