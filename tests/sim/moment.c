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
#define USER 1000
#define RUN "/sim/run/leasewatch"
#define NOTICES RUN "/notices"
#define STATE RUN "/state"
#define CONFIG "/sim/etc/leasewatch.conf"

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

static void answer(const struct act_request *r)
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

static struct lease_record record(const struct held *h, int64_t ttl)
{
	struct lease_record r;

	lease_record_init(&r);
	memcpy(r.id, h->id, sizeof(r.id));
	memcpy(r.surface, "test", sizeof("test"));
	memcpy(r.profile, "box", sizeof("box"));
	r.ttl = ttl;
	return r;
}

/* At once: the folders are there when a daemon has begun. */
static void put_lock(struct held *h, const char *folder, const struct lease_record *r)
{
	char text[1024], path[200];
	size_t len;

	(void)snprintf(h->lock, sizeof(h->lock), NOTICES "/active/lock-test-%d-%s", USER, h->id);
	(void)snprintf(path, sizeof(path), NOTICES "/%s/lock-test-%d-%s", folder, USER, h->id);
	RIGHT(lease_record_format(r, text, sizeof(text), &len) == 0);
	kernel_as(USER);
	RIGHT(kernel_create(path, text, len) == 0);
	h->last_beat = kernel_true();
}

void make(void *arg, uint64_t ttl)
{
	struct lease_record r = record(arg, (int64_t)ttl);

	put_lock(arg, "queue", &r);
}

void make_led(void *arg, uint64_t ttl)
{
	struct lease_record r = record(arg, (int64_t)ttl);

	r.leader = kernel_spawn(USER);
	r.linger = HOUR * S;
	memcpy(r.boot, kernel_boot_id(), sizeof(r.boot));
	now.pid = r.leader.pid;
	put_lock(arg, "queue", &r);
}

/* A session's is made in active/ by whoever opens it. */
void make_session(void *arg, uint64_t n)
{
	struct lease_record r;
	struct held *h = arg;

	(void)n;
	lease_record_init(&r);
	memcpy(r.id, h->id, sizeof(r.id));
	memcpy(r.surface, "test", sizeof("test"));
	r.is_session = true;
	r.leader = kernel_spawn(USER);
	memcpy(r.boot, kernel_boot_id(), sizeof(r.boot));
	now.session_pid = r.leader.pid;
	put_lock(h, "active", &r);
}

/* Bound to it; lingers long. */
void make_bound(void *arg, uint64_t ttl)
{
	struct lease_record r = record(arg, (int64_t)ttl);

	memcpy(r.session, now.leases[0].id, sizeof(r.session));
	r.linger = HOUR * S;
	put_lock(arg, "queue", &r);
}

void end_leader(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	if (now.pid > 0)
		kernel_end_process(now.pid);
	if (now.session_pid > 0)
		kernel_end_process(now.session_pid);
	now.ended_at = kernel_true();
}

void beat(void *arg, uint64_t more)
{
	struct held *h = arg;

	kernel_as(USER);
	if (kernel_beat(h->lock) == 0)
		h->last_beat = kernel_true();
	if (more > 0)
		kernel_at(kernel_mono() + 10 * S, beat, h, more - 1);
}

void beat_ahead(void *arg, uint64_t s)
{
	struct held *h = arg;

	kernel_as(USER);
	RIGHT(kernel_utime(h->lock, kernel_wall() + (int64_t)s * S) == 0);
	h->last_beat = kernel_true();
}

void release(void *arg, uint64_t n)
{
	struct held *h = arg;
	char to[200];

	(void)n;
	(void)snprintf(to, sizeof(to), NOTICES "/archive/lock-test-%d-%s", USER, h->id);
	kernel_as(USER);
	RIGHT(kernel_rename(h->lock, to) == 0);
}

static void put_ask(uint32_t uid, const struct ask *q)
{
	char buf[LEASE_FILE_MAX];
	size_t len;

	RIGHT(ask_format(q, buf, sizeof(buf), &len) == 0);
	kernel_as(uid);
	RIGHT(kernel_create(NOTICES "/queue/ask-" ASK, buf, len) == 0);
}

void hold(void *arg, uint64_t s)
{
	struct ask q = { .verb = ASK_HOLD, .ttl = (int64_t)s * S };

	(void)arg;
	put_ask(0, &q);
}

void exec(void *arg, uint64_t n)
{
	const struct held *h = arg;
	struct ask q = { .verb = ASK_EXEC, .process = kernel_spawn(USER) };

	(void)n;
	memcpy(q.lease, h->id, sizeof(q.lease));
	memcpy(q.boot, kernel_boot_id(), sizeof(q.boot));
	put_ask(USER, &q);
}

void answer_kept(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	now.unanswered = 0;
	for (int i = 0; i < now.n_kept; i++)
		answer(&now.kept[i]);
	now.n_kept = 0;
}

void answer_first(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	RIGHT(now.n_kept > 0);
	answer(&now.kept[0]);
}

void answer_of_another(void *arg, uint64_t n)
{
	const struct held *h = arg;
	struct act_request r = { .verb = ACT_DESTROY, .generation = h->generation + 1 };

	(void)n;
	memcpy(r.id, h->id, sizeof(r.id));
	answer(&r);
}

void leave_unanswered(void *arg, uint64_t verb)
{
	(void)arg;
	now.unanswered |= 1u << verb;
}

void kill_it(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	kernel_kill();
}

void reboot(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	kernel_reboot(30 * S, false);
}

void set_back(void *arg, uint64_t s)
{
	(void)arg;
	kernel_step_wall(-(int64_t)s * S);
}

void set_on(void *arg, uint64_t s)
{
	(void)arg;
	kernel_step_wall((int64_t)s * S);
}

void hold_up(void *arg, uint64_t s)
{
	(void)arg;
	kernel_hold_up((int64_t)s * S);
}

void queue_of(void *arg, uint64_t n)
{
	(void)arg;
	kernel_faults.queue_max = (uint32_t)n;
}

void arm(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	now.armed = true;
}

/* By name; n: so many of them don't, then one does. */
void fail(void *arg, uint64_t n)
{
	now.fails = arg;
	now.fails_after = (int)n;
}

void thrash(void *arg, uint64_t one_in)
{
	(void)arg;
	kernel_faults.stall = one_in;
	kernel_faults.stall_ns = S / 10;
}

/* All works again: what failed for a moment. */
static void mend(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	now.fails = NULL;
}

void reload(void *arg, uint64_t n)
{
	const char *settings = arg;

	(void)n;
	kernel_as(0);
	RIGHT(kernel_write(CONFIG, settings, strlen(settings)) == 0);
	now.ended_at = kernel_true();
	kernel_signal(SIGHUP);
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
