#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lease/record.h"
#include "os/log.h"
#include "tests/sim/moment.h"
#include "watcher.h"

#define DAEMON 990
#define STATE RUN "/state"

struct moment now;

void check(bool good, const char *what, int line)
{
	if (good)
		return;
	kernel_print_notes(80);
	fprintf(stderr, "%s: line %d: not so: %s (call %llu)\n", now.moment, line, what, (unsigned long long)now.stall_at);
	exit(1);
}

/* --- the machine and the daemon --- */

static void misread(void *arg, const char *file, int line, const char *what)
{
	(void)arg;
	kernel_note("configuration: %s:%d: %s", file, line, what);
}

static int daemon_main(void *arg)
{
	static struct watcher w;
	struct house_paths *p = &w.paths;
	char err[256];

	(void)arg;
	memset(&w, 0, sizeof(w));
	p->uid = p->gid = now.user_mode ? USER : DAEMON;
	p->user_mode = now.user_mode;
	p->network = now.network;
	if (p->user_mode)
		kernel_become(USER, USER);
	(void)snprintf(p->notices, sizeof(p->notices), NOTICES);
	(void)snprintf(p->db, sizeof(p->db), "/sim/var/lib/leasewatch/lease.db");
	(void)snprintf(p->state, sizeof(p->state), STATE);
	(void)snprintf(p->tokens, sizeof(p->tokens), RUN "/tokens");
	(void)snprintf(p->sessions, sizeof(p->sessions), RUN "/sessions");
	(void)snprintf(p->work, sizeof(p->work), "/sim/var/lib/leasewatch-work");
	if (house_open(p, 0, &w.house, err) < 0) {
		kernel_note("house_open: %s", err);
		return 3;
	}
	if (!p->user_mode)
		kernel_become(DAEMON, DAEMON);
	log_open("watcher", false, 7);
	w.config = CONFIG;
	w.config_named = true;
	if (settings_load(CONFIG, misread, NULL, &w.settings) < 0)
		return 2;
	w.ready_fd = -1;
	w.peer.fd = kernel_peer_fd();
	return watcher_run(&w);
}

void answer(const struct act_request *r)
{
	struct act_answer a = { .magic = WIRE_MAGIC, .size = sizeof(a), .verb = r->verb, .outcome = ACT_DONE,
				.serial = r->serial, .generation = r->generation, .cpu_usec = -1, .memory = -1,
				.net_bytes = -1 };

	memcpy(a.id, r->id, sizeof(a.id));
	if (r->verb == ACT_CAPABILITIES)
		a.caps = now.caps;
	if (r->verb == ACT_STAT && strcmp(r->runtime, "session") == 0 && !kernel_process_alive(now.session_pid))
		a.outcome = ACT_ABSENT;
	kernel_answer(&a);
}

static void request(void *arg, const struct act_request *r)
{
	(void)arg;
	for (int i = 0; i < LEASES; i++) {
		struct held *h = &now.leases[i];
		if (strcmp(h->id, r->id) != 0)
			continue;
		h->created += r->verb == ACT_CREATE;
		h->hibernates += r->verb == ACT_HIBERNATE;
		h->generation = r->generation;
		if (r->verb == ACT_DESTROY) {
			h->destroys++;
			h->destroyed_at = h->destroyed_at == NEVER_YET ? kernel_true() : h->destroyed_at;
		}
	}
	if (!(now.unanswered & (1u << r->verb)))
		answer(r);
	else if (now.n_kept < 64)
		now.kept[now.n_kept++] = *r;
}

bool told(const char *ask, struct ask_answer *ret)
{
	char buf[LEASE_STATE_FILE_MAX], path[200];
	struct lease_error err;

	(void)snprintf(path, sizeof(path), STATE "/ask-%s", ask);
	int n = kernel_read(path, buf, sizeof(buf));
	return n >= 0 && ask_answer_parse(buf, (size_t)n, ret, &err) == 0;
}

static bool fails(const char *call)
{
	if (!now.fails || strcmp(now.fails, call) != 0)
		return false;
	if (now.fails_after < 0)
		return true;
	if (now.fails_after-- > 0)
		return false;
	now.fails = NULL;
	return true;
}

static void called(void *arg, const char *call)
{
	struct ask_answer a;

	(void)arg;
	kernel_faults.call_fails = fails(call);
	if (now.kill_when_told && told(ASK, &a)) {
		now.kill_when_told = false;
		now.ended_at = kernel_true();
		kernel_kill();
	}
	if (now.armed && now.last_moment && strcmp(call, "renameat2") == 0) {
		now.last_moment = false;
		beat(&now.leases[0], 0);
	}
	if (!now.armed || now.last_moment || now.leases[0].destroys > 0 || ++now.calls != now.stall_at)
		return;
	kernel_hold_up(20 * S);
	kernel_at(kernel_mono() + 19 * S, beat, &now.leases[0], 0);
}

static void logged(void *arg, int level, const char *line)
{
	(void)arg;
	(void)level;
	if (now.watch_words)
		now.watch_words(line);
	now.troubles += strstr(line, "cannot happen") != NULL;
	for (int i = 0; i < LEASES && strstr(line, "-> denied"); i++)
		now.leases[i].denied |= strstr(line, now.leases[i].id) != NULL;
}

/* --- what is made to happen --- */

void at(int s, kernel_event *what, void *arg, uint64_t n)
{
	kernel_at(now.begun + s * S, what, arg, n);
}

void begin(const char *moment, const char *settings)
{
	static const struct kernel_hooks hooks = { .request = request, .called = called, .logged = logged };

	memset(&now, 0, sizeof(now));
	now.moment = moment;
	kernel_boot(1, &hooks);
	kernel_mkdirs("/sim/var/lib", 0, 0755);
	kernel_mkdirs("/sim/etc", 0, 0755);
	kernel_mkdirs("/sim/run", 0, 0755);
	RIGHT(kernel_create(CONFIG, settings, strlen(settings)) == 0);
	now.begun = kernel_mono();
	now.begun_true = kernel_true();
	for (int i = 0; i < LEASES; i++) {
		struct held *h = &now.leases[i];
		(void)snprintf(h->id, sizeof(h->id), "kls-aaaaaaaaa%c", 'a' + i);
		h->destroyed_at = NEVER_YET;
	}
}

void of_the_user(void)
{
	now.user_mode = true;
	kernel_as(0);
	kernel_mkdirs(RUN, USER, 0700);
	kernel_mkdirs("/sim/var/lib/leasewatch", USER, 0700);
	kernel_mkdirs("/sim/var/lib/leasewatch-work", USER, 0700);
}

/* All works again: what failed for a moment. */
static void mend(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	now.fails = NULL;
}

static void stop(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	kernel_signal(SIGTERM);
}

void live(int until, int away, int64_t step, const char *call_fails)
{
	int status = -1;

	at(until, stop, NULL, 0);
	while (kernel_run(daemon_main, NULL, &status) != END_RETURNED) {
		kernel_pass(kernel_mono() + away * S);
		if (step != 0)
			kernel_step_wall(step);
		now.fails = call_fails;
		now.fails_after = -1;
		if (call_fails)
			kernel_at(kernel_mono() + S, mend, NULL, 0);
	}
	RIGHT(status == 0);
}

int start(int s)
{
	int64_t until = kernel_mono() + s * S;
	int status = -1;
	enum kernel_end end;

	kernel_at(until, stop, NULL, 0);
	end = kernel_run(daemon_main, NULL, &status);
	kernel_pass(until); /* that signal is nobody else's */
	return end == END_RETURNED ? status : -1;
}

void live_on(int until)
{
	int status = -1;

	at(until, stop, NULL, 0);
	do {
		bool over = kernel_run(daemon_main, NULL, &status) == END_RETURNED && status == 0;
		if (over && kernel_mono() >= now.begun + until * S)
			return;
		kernel_pass(kernel_mono() + S);
	} while (kernel_mono() < now.begun + 2 * until * S);
	RIGHT(!"it ends when it is told to");
}
