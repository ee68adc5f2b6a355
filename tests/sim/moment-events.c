#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lease/record.h"
#include "tests/sim/moment.h"

static struct lease_record record(const struct held *h, int64_t ttl)
{
	struct lease_record r;

	lease_record_init(&r);
	memcpy(r.id, h->id, sizeof(r.id));
	memcpy(r.surface, "test", sizeof("test"));
	memcpy(r.profile, "lab", sizeof("lab"));
	memcpy(r.runtime, "box", sizeof("box"));
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

void make_process(void *arg, uint64_t ttl)
{
	struct lease_record r = record(arg, (int64_t)ttl);

	r.profile[0] = '\0';
	memcpy(r.runtime, "process", sizeof("process"));
	r.usage = LEASE_USAGE_EXPLICIT;
	r.workload = kernel_spawn(USER);
	memcpy(r.boot, kernel_boot_id(), sizeof(r.boot));
	now.pid = r.workload.pid;
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

void link_it(void *arg, uint64_t n)
{
	struct held *h = arg;
	char to[200];

	(void)n;
	(void)snprintf(to, sizeof(to), NOTICES "/active/lock-x-y-%s", h->id);
	kernel_as(USER);
	RIGHT(kernel_link(h->lock, to) == 0);
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

void reload(void *arg, uint64_t n)
{
	const char *settings = arg;

	(void)n;
	kernel_as(0);
	RIGHT(kernel_write(CONFIG, settings, strlen(settings)) == 0);
	now.ended_at = kernel_true();
	kernel_signal(SIGHUP);
}
