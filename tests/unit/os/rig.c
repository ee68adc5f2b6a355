#include "config.h"

#include "tests/unit/os/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/log.h"
#include "os/proc.h"

void rig_path(const struct rig *g, char path[256], const char *fmt, ...)
{
	int n = snprintf(path, 256, "%s/", g->top);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path + n, (size_t)(256 - n), fmt, ap);
	va_end(ap);
}

int rig_setup(void **state)
{
	struct rig *g = calloc(1, sizeof *g);
	char path[256];

	snprintf(g->top, sizeof g->top, "/tmp/test-actor.XXXXXX");
	assert_non_null(mkdtemp(g->top));
	rig_path(g, path, "runtimes");
	assert_int_equal(mkdir(path, 0755), 0);
	rig_path(g, path, "wd");
	assert_int_equal(mkdir(path, 0700), 0);
	g->watcher_exit = g->peer = g->heard = -1;
	g->user_mode = true;
	*state = g;
	return 0;
}

static int run(const char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

int rig_teardown(void **state)
{
	struct rig *g = *state;
	const char *const rm[] = {"rm", "-rf", g->top, NULL};

	if (g->actor > 0) {
		kill(g->actor, SIGTERM);
		rig_end(g);
	}
	if (g->peer >= 0)
		close(g->peer);
	if (g->heard >= 0)
		close(g->heard);
	(void)run(rm);
	free(g);
	return 0;
}

static int heard_fd;

static void hear(int sig)
{
	char c = sig == SIGHUP ? 'h' : 't';

	if (write(heard_fd, &c, 1) != 1 || sig == SIGTERM)
		_exit(0);
}

static void __attribute__((noreturn)) be_watcher(const struct rig *g, int heard, const sigset_t *none)
{
	heard_fd = heard;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGHUP, hear);
	signal(SIGTERM, hear);
	sigprocmask(SIG_SETMASK, none, NULL);
	if (g->watcher_exit >= 0)
		_exit(g->watcher_exit);
	for (;;)
		pause();
}

static void conf_error(void *arg, const char *file, int line, const char *what)
{
	(void)arg;
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
}

static void __attribute__((noreturn)) be_actor(const struct rig *g, int peer, int heard)
{
	char runtimes[256], work[256], config[256];
	struct actor_options o = {
	    .peer = peer, .porter = -1, .runtimes = runtimes, .work = work, .user_mode = g->user_mode};
	sigset_t all, none;

	/* The stub must not hear before it can. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &none);
	o.watcher = fork();
	if (o.watcher == 0)
		be_watcher(g, heard, &none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(heard);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rig_path(g, runtimes, "runtimes");
	rig_path(g, work, "wd");
	rig_path(g, config, "conf");
	o.config = config;
	if (rig_exists(g, "conf") && settings_load(config, conf_error, NULL, &o.settings) < 0)
		_exit(99);
	log_open("actor", true, getenv("TEST_LOG") ? 7 : 0);
	/* Not _exit: a leak checker looks when a process exits. */
	exit(actor_run(&o));
}

void rig_start(struct rig *g)
{
	int pair[2], heard[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(pipe2(heard, O_CLOEXEC), 0);
	fflush(NULL);
	g->actor = fork();
	assert_true(g->actor >= 0);
	if (g->actor == 0) {
		close(pair[0]);
		close(heard[0]);
		be_actor(g, pair[1], heard[1]);
	}
	close(pair[1]);
	close(heard[1]);
	g->peer = pair[0];
	g->heard = heard[0];
}

int rig_end(struct rig *g)
{
	int status = -1;

	assert_int_equal(waitpid(g->actor, &status, 0), g->actor);
	g->actor = 0;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void rig_runtime(const struct rig *g, const char *name, const char *body)
{
	char path[256];
	FILE *f;

	rig_path(g, path, "runtimes/%s", name);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\nT=%s\n%s\n", g->top, body);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

void rig_conf(const struct rig *g, const char *text)
{
	char path[256];
	FILE *f;

	rig_path(g, path, "conf");
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0644), 0);
}

bool rig_exists(const struct rig *g, const char *name)
{
	char path[256];
	struct stat st;

	rig_path(g, path, "%s", name);
	return lstat(path, &st) == 0;
}

void rig_read(const struct rig *g, const char *name, char *buf, size_t size)
{
	char path[256];
	size_t n;
	FILE *f;

	rig_path(g, path, "%s", name);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(buf, 1, size - 1, f);
	buf[n] = '\0';
	fclose(f);
}

struct act_request rig_request(struct rig *g, enum act_verb verb, const char *runtime, const char *id)
{
	struct act_request r;

	memset(&r, 0, sizeof r);
	r.magic = WIRE_MAGIC;
	r.size = sizeof r;
	r.verb = verb;
	r.uid = getuid();
	r.serial = ++g->serial;
	r.deadline = 5000 * MS;
	snprintf(r.runtime, sizeof r.runtime, "%s", runtime);
	if (id) {
		r.generation = 7;
		snprintf(r.id, sizeof r.id, "%s", id);
	}
	return r;
}

void rig_send(const struct rig *g, const struct act_request *r)
{
	assert_int_equal(send(g->peer, r, sizeof *r, MSG_NOSIGNAL), (ssize_t)sizeof *r);
}

bool rig_answer(const struct rig *g, struct act_answer *a)
{
	struct pollfd p = {.fd = g->peer, .events = POLLIN};
	ssize_t n;

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	n = recv(g->peer, a, sizeof *a, MSG_TRUNC);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return false;
	assert_int_equal(n, (ssize_t)sizeof *a);
	assert_true(wire_answer_valid(a));
	return true;
}

void rig_act(struct rig *g, enum act_verb verb, const char *runtime, const char *id, struct act_answer *a)
{
	struct act_request r = rig_request(g, verb, runtime, id);

	rig_send(g, &r);
	assert_true(rig_answer(g, a));
	assert_int_equal(a->serial, r.serial);
	assert_int_equal(a->verb, verb);
	assert_int_equal(a->generation, r.generation);
	assert_string_equal(a->id, r.id);
	assert_int_equal(a->more, 0);
}

void rig_expect(struct rig *g, const char *runtime, const char *body, enum act_outcome outcome,
		const char *line)
{
	struct act_answer a;

	rig_runtime(g, runtime, body);
	rig_act(g, ACT_RESUME, runtime, ID_A, &a);
	assert_int_equal(a.outcome, outcome);
	assert_string_equal(a.line, line);
}
