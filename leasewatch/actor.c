/*
 * actor.c: the loop of the process that acts. One wait; then signals, the watcher, requests, programs; then
 * what may start, what can be answered, and the timer. Nothing due: no wake-up.
 */
#include "config.h"

#include "actor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor-act.h"
#include "actor-answer.h"
#include "store/workdir.h"
#include "lease/process.h"
#include "os/clock.h"
#include "os/log.h"
#include "porter.h"

#define EVENTS 32
#define REQUESTS_A_TURN 64
#define WATCHER_GRACE (10 * LEASE_NS_PER_S)

/* Tags of the descriptors that are no program's. */
static char tag_peer, tag_signals, tag_watcher, tag_timer;

static int watch(const struct actor *x, int fd, void *tag)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = tag};

	return epoll_ctl(x->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static void close_all(struct actor *x)
{
	const int fd[] = {x->epoll, x->signals, x->timer, x->watcher, x->runtimes, x->work};

	for (size_t i = 0; i < sizeof fd / sizeof *fd; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

static int open_all(struct actor *x, const sigset_t *signals)
{
	int r = workdir_open(x->o->runtimes, &x->runtimes);

	if (r < 0) {
		log_err("%s: %s; it must be a folder that only root can write", x->o->runtimes, strerror(-r));
		return r;
	}
	r = workdir_open(x->o->work, &x->work);
	if (r < 0) {
		log_err("%s: %s; it must be a folder that only this user can write", x->o->work,
			strerror(-r));
		return r;
	}
	r = lease_boot_id(x->boot);
	if (r < 0) {
		log_err("this boot's id can't be read: %s", strerror(-r));
		return r;
	}
	x->watcher = pidfd_open(x->o->watcher, 0);
	x->signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	x->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	x->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (x->watcher < 0 || x->signals < 0 || x->timer < 0 || x->epoll < 0)
		r = -errno;
	r = r ? r : watch(x, x->watcher, &tag_watcher);
	r = r ? r : watch(x, x->signals, &tag_signals);
	r = r ? r : watch(x, x->timer, &tag_timer);
	r = r ? r : watch(x, x->o->peer, &tag_peer);
	if (r < 0)
		log_err("can't begin: %s", strerror(-r));
	return r;
}

static void ask_watcher_to_end(struct actor *x, int64_t now)
{
	(void)pidfd_send_signal(x->watcher, SIGTERM, NULL, 0);
	if (x->kill_watcher == INT64_MAX)
		x->kill_watcher = now + WATCHER_GRACE;
}

/* The watcher reads EOF then, or has gone already: it ends by itself, or is helped. */
static void lose_peer(struct actor *x, int64_t now)
{
	x->peer_gone = true;
	(void)epoll_ctl(x->epoll, EPOLL_CTL_DEL, x->o->peer, NULL);
	(void)shutdown(x->o->peer, SHUT_RDWR);
	if (x->kill_watcher == INT64_MAX)
		x->kill_watcher = now + WATCHER_GRACE;
}

static void reload_error(void *arg, const char *file, int line, const char *what)
{
	/* The watcher reads the same file, and tells. */
	(void)arg;
	log_debug("%s:%d: %s", file, line, what);
}

static void reload(struct actor *x)
{
	struct settings *s;

	if (!x->o->config)
		return;
	if (settings_load_or_default(x->o->config, x->o->config_named, reload_error, NULL, &s) < 0) {
		log_err("%s was not taken over: profiles and runtimes keep their old settings", x->o->config);
		return;
	}
	settings_free(x->settings);
	x->settings = s;
}

static void on_signals(struct actor *x, int64_t now)
{
	struct signalfd_siginfo si;

	while (read(x->signals, &si, sizeof si) == (ssize_t)sizeof si) {
		if (si.ssi_signo == SIGHUP) {
			reload(x);
			(void)pidfd_send_signal(x->watcher, SIGHUP, NULL, 0);
			continue;
		}
		log_note("signal %u: stopping", si.ssi_signo);
		x->told = true;
		ask_watcher_to_end(x, now);
	}
}

static void on_request(struct actor *x, const struct act_request *r)
{
	struct act *a = calloc(1, sizeof *a);

	if (!a) {
		struct act_answer answer;

		answer_begin(&answer, r, ACT_LATER);
		answer_line(&answer, "the actor is out of memory");
		(void)send(x->o->peer, &answer, sizeof answer, MSG_DONTWAIT | MSG_NOSIGNAL);
		return;
	}
	a->r = *r;
	if (act_check(x, a))
		queue_add(&x->queue, a);
	else
		queue_add_over(&x->queue, a);
}

/* False: the peer is broken. */
static bool on_peer(struct actor *x, uint32_t events, int64_t now)
{
	if (events & (EPOLLHUP | EPOLLERR)) {
		lose_peer(x, now);
		return true;
	}
	for (int i = 0; i < REQUESTS_A_TURN && x->queue.n < QUEUE_MAX; i++) {
		struct act_request r;
		ssize_t n = recv(x->o->peer, &r, sizeof r, MSG_DONTWAIT | MSG_TRUNC);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n <= 0) {
			lose_peer(x, now);
			return true;
		}
		if (n != (ssize_t)sizeof r || !wire_request_valid(&r)) {
			log_err("the watcher sent what is no request (%zd bytes)", n);
			lose_peer(x, now);
			ask_watcher_to_end(x, now);
			return false;
		}
		on_request(x, &r);
	}
	return true;
}

/* Before the watcher tells klease, which comes at once. */
static void give_ticket(const struct actor *x, struct act *a, int64_t now)
{
	struct porter_ticket t = {.magic = PORTER_TICKET_MAGIC, .size = sizeof t, .uid = a->r.uid, .process = a->r.process,
				  .generation = a->r.generation, .until = now + PORTER_TICKET_FOR};
	int r;

	memcpy(t.id, a->r.id, sizeof t.id);
	memcpy(t.words, a->answer.argv, sizeof t.words);
	r = porter_give(x->o->porter, &t);
	if (r == 0)
		return;
	answer_begin(&a->answer, &a->r, ACT_FAILED);
	answer_line(&a->answer, "the porter, which runs commands inside, does not answer: %s", strerror(-r));
}

static void finish(struct actor *x, struct act *a, int64_t now)
{
	const struct act_answer *w = &a->answer;
	bool good = w->outcome == ACT_DONE || w->outcome == ACT_ABSENT || w->outcome == ACT_LATER;
	int64_t ms = a->started ? (now - a->started) / LEASE_NS_PER_MS : 0;

	if (a->r.verb == ACT_ENTER && w->outcome == ACT_DONE && w->argv[0] && x->o->porter >= 0 && a->r.process.pid > 0)
		give_ticket(x, a, now);
	log_at(good ? 7 : 4, "%s %s %s generation %llu: %s after %lld ms%s%s", w->id[0] ? w->id : "-",
	       a->r.runtime, act_verb_name(a->r.verb), (unsigned long long)a->r.generation,
	       act_outcome_name(w->outcome), (long long)ms, w->line[0] ? ": " : "", w->line);
	queue_ended(&x->queue, a);
}

static void step_running(struct actor *x, int64_t now)
{
	/* queue_ended moves the last one into the place of the one that ended. */
	for (size_t i = 0; i < x->queue.n_running;) {
		struct act *a = x->queue.running[i];

		if (act_step(x, a, now))
			finish(x, a, now);
		else
			i++;
	}
}

static void start_waiting(struct actor *x, int64_t now)
{
	struct act *a;

	while ((a = queue_next(&x->queue)))
		if (!act_start(x, a, now))
			finish(x, a, now);
}

/* 1 sent, 0 the socket is full, -1 the peer has gone. */
static int send_answer(const struct actor *x, const struct act_answer *a)
{
	if (send(x->o->peer, a, sizeof *a, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 1;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM ? 0 : -1;
}

static int send_answers_of(struct act *a, const struct actor *x)
{
	struct act_answer one;
	int r;

	while (a->r.verb == ACT_LIST && a->answer.outcome == ACT_DONE && a->list_at < a->proc.out_len) {
		size_t at = a->list_at;

		if (!answer_next_workload(&one, &a->r, a->proc.out, a->proc.out_len, &at))
			break;
		r = send_answer(x, &one);
		if (r <= 0)
			return r;
		a->list_at = at;
	}
	return send_answer(x, &a->answer);
}

static void send_answers(struct actor *x, int64_t now)
{
	int r = 1;

	while (r > 0 && x->queue.answers && !x->peer_gone) {
		r = send_answers_of(x->queue.answers, x);
		if (r > 0)
			queue_drop(&x->queue);
	}
	if (r < 0)
		lose_peer(x, now);
}

/* Asks for what there is use for: no requests while too many are known, room to write only while answers
 * wait. */
static void watch_peer(struct actor *x)
{
	bool reading = x->queue.n < QUEUE_MAX, writing = x->queue.answers;
	struct epoll_event ev = {.data.ptr = &tag_peer};

	if (x->peer_gone || (reading == x->reading && writing == x->writing))
		return;
	ev.events = (reading ? (uint32_t)EPOLLIN : 0) | (writing ? (uint32_t)EPOLLOUT : 0);
	(void)epoll_ctl(x->epoll, EPOLL_CTL_MOD, x->o->peer, &ev);
	x->reading = reading;
	x->writing = writing;
}

static void arm_timer(struct actor *x)
{
	struct itimerspec when = {.it_value = {0, 0}};
	int64_t due = x->kill_watcher;

	for (size_t i = 0; i < x->queue.n_running; i++) {
		int64_t d = proc_due(&x->queue.running[i]->proc);

		due = d < due ? d : due;
	}
	if (due == x->armed)
		return;
	if (due != INT64_MAX) {
		when.it_value.tv_sec = due / LEASE_NS_PER_S;
		when.it_value.tv_nsec = due % LEASE_NS_PER_S;
	}
	(void)timerfd_settime(x->timer, TFD_TIMER_ABSTIME, &when, NULL);
	x->armed = due;
}

/* The watcher has ended: how. */
static int judge_watcher(const struct actor *x)
{
	siginfo_t si = {.si_pid = 0};

	(void)waitid(P_PIDFD, (id_t)x->watcher, &si, WEXITED | WNOHANG);
	if (x->told || (si.si_code == CLD_EXITED && si.si_status == 0))
		return 0;
	if (si.si_code == CLD_EXITED)
		log_err("the watcher ended with status %d", si.si_status);
	else
		log_err("the watcher was killed by signal %d", si.si_status);
	return 1;
}

static int loop(struct actor *x)
{
	struct epoll_event ev[EVENTS];
	bool broken = false;

	for (;;) {
		int n = epoll_wait(x->epoll, ev, EVENTS, -1);
		bool ended = false;
		struct clock_now now;
		uint64_t ticks;

		clock_read(&now);
		for (int i = 0; i < n; i++) {
			void *tag = ev[i].data.ptr;

			if (tag == &tag_signals)
				on_signals(x, now.mono);
			else if (tag == &tag_watcher)
				ended = true;
			else if (tag == &tag_timer && read(x->timer, &ticks, sizeof ticks) > 0)
				x->armed = INT64_MAX;
			else if (tag == &tag_peer && !x->peer_gone)
				broken = !on_peer(x, ev[i].events, now.mono) || broken;
		}
		if (ended)
			return judge_watcher(x) || broken;
		if (now.mono >= x->kill_watcher) {
			log_warn("the watcher doesn't end: killing it");
			(void)pidfd_send_signal(x->watcher, SIGKILL, NULL, 0);
			x->kill_watcher = now.mono + WATCHER_GRACE;
		}
		/* Few run: all are looked at, whichever of them woke us. */
		step_running(x, now.mono);
		if (!x->peer_gone) {
			start_waiting(x, now.mono);
			send_answers(x, now.mono);
			watch_peer(x);
		}
		arm_timer(x);
	}
}

int actor_run(const struct actor_options *o)
{
	struct actor x = {
	    .o = o,
	    .epoll = -1,
	    .signals = -1,
	    .timer = -1,
	    .watcher = -1,
	    .runtimes = -1,
	    .work = -1,
	    .armed = INT64_MAX,
	    .reading = true,
	    .kill_watcher = INT64_MAX,
	    .settings = o->settings,
	};
	sigset_t signals, before;
	int r;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &signals, &before);
	r = x.settings ? 0 : settings_load(NULL, reload_error, NULL, &x.settings);
	if (r == 0)
		r = open_all(&x, &signals);
	if (r == 0)
		r = loop(&x);
	else
		(void)kill(o->watcher, SIGTERM);
	/* Programs that still run are killed as we end (os/proc.c); every verb is safe to repeat. */
	queue_free(&x.queue);
	close_all(&x);
	settings_free(x.settings);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r ? 1 : 0;
}
