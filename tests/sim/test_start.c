/*
 * tests/sim/test_start: the shortest life there is in the simulated machine: the daemon starts, a lock is
 * made and admitted, beats, falls silent, expires; the daemon ends, or is killed and starts again.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lease/id.h"
#include "lease/record.h"
#include "os/log.h"
#include "tests/sim/kernel.h"
#include "watcher.h"

#define DAEMON 990
#define USER 1000
#define NOTICES "/sim/run/leasewatch/notices"
#define S LEASE_NS_PER_S
/* To when it has ended. */
#define KILL_FIRST 10
#define KILL_LAST 620
#define ID "kls-abcdefghjk"

#define CONFIG "/sim/etc/leasewatch.conf"

static struct {
	char lock[200];
	int created, destroyed, beats;
	int64_t last_beat, destroyed_at;
	uint64_t calls, kill_at;
} seen;

static int daemon_main(void *arg)
{
	static struct watcher w;
	struct house_paths *p = &w.paths;
	char err[256];

	(void)arg;
	memset(&w, 0, sizeof(w));
	p->uid = p->gid = DAEMON;
	if (house_paths(p, NOTICES, "/sim/var/lib/leasewatch", err) < 0 ||
	    house_open(p, 0, &w.house, err) < 0) {
		fprintf(stderr, "%s\n", err);
		return 3;
	}
	kernel_become(DAEMON, DAEMON);
	log_open("watcher", false, 7);
	if (settings_load(CONFIG, NULL, NULL, &w.settings) < 0)
		return 2;
	w.ready_fd = -1;
	w.peer.fd = kernel_peer_fd();
	return watcher_run(&w);
}

static void request(void *arg, const struct act_request *r)
{
	struct act_answer a = {.magic = WIRE_MAGIC,
			       .size = sizeof(a),
			       .verb = r->verb,
			       .outcome = ACT_DONE,
			       .serial = r->serial,
			       .generation = r->generation,
			       .cpu_usec = -1,
			       .memory = -1,
			       .net_bytes = -1};

	(void)arg;
	memcpy(a.id, r->id, sizeof(a.id));
	if (r->verb == ACT_CAPABILITIES)
		a.caps = ACT_CAP_HIBERNATE_FROZEN;
	seen.created += r->verb == ACT_CREATE;
	if (r->verb == ACT_DESTROY) {
		seen.destroyed++;
		seen.destroyed_at = kernel_true();
	}
	kernel_answer(&a);
}

static void make_lock(void *arg, uint64_t n)
{
	char text[1024], name[100];
	struct lease_record r;
	size_t len;

	(void)arg;
	(void)n;
	lease_record_init(&r);
	memcpy(r.id, ID, sizeof(ID));
	memcpy(r.surface, "test", 5);
	memcpy(r.profile, "lab", 4);
	memcpy(r.runtime, "box", 4);
	r.ttl = 60 * S;
	assert(lease_record_format(&r, text, sizeof(text), &len) == 0);
	(void)snprintf(name, sizeof(name), "lock-test-%d-%s", USER, ID);
	(void)snprintf(seen.lock, sizeof(seen.lock), NOTICES "/active/%s", name);
	char path[200];
	(void)snprintf(path, sizeof(path), NOTICES "/queue/%s", name);
	kernel_as(USER);
	int e = kernel_create(path, text, len);
	if (e == -ENOENT || e == -EACCES) /* the daemon was killed before it had made all its folders */
		kernel_at(kernel_mono() + S, make_lock, NULL, 0);
	else
		assert(e == 0);
}

static void beat(void *arg, uint64_t n)
{
	kernel_as(USER);
	if (kernel_beat(seen.lock) == 0) {
		seen.beats++;
		seen.last_beat = kernel_true();
	}
	if (n > 0)
		kernel_at(kernel_mono() + 10 * S, beat, arg, n - 1);
}

static void stop(void *arg, uint64_t n)
{
	kernel_signal(SIGTERM);
	kernel_at(kernel_mono() + 10 * S, stop, arg, n); /* it may be killed on its way out */
}

static void end(void *arg, uint64_t n)
{
	(void)arg;
	if (n == 1)
		kernel_kill();
	else
		kernel_reboot(30 * S, n == 3);
}

static void called(void *arg, const char *call)
{
	(void)arg;
	(void)call;
	if (++seen.calls == seen.kill_at)
		kernel_kill();
}

/* how: 0 = stays, 1 = is killed in between, 2 = the machine is rebooted, 3 = without power; from 10 on: is
 * killed before that call */
static void life(uint64_t seed, uint64_t how)
{
	static const char settings[] = "[profile lab]\nruntime = box\n";
	const struct kernel_hooks hooks = {.request = request, .called = called};
	enum kernel_end e;
	int status = -1;

	memset(&seen, 0, sizeof(seen));
	seen.kill_at = how;
	kernel_boot(seed, &hooks);
	kernel_mkdirs("/sim/var/lib", 0, 0755);
	kernel_mkdirs("/sim/etc", 0, 0755);
	assert(kernel_create(CONFIG, settings, strlen(settings)) == 0);
	int64_t t = kernel_mono();
	kernel_at(t + S, make_lock, NULL, 0);
	kernel_at(t + 3 * S, beat, NULL, 30);
	if (how > 0 && how < 10)
		kernel_at(t + 100 * S + draw_between(STREAM_WORLD, 0, S), end, NULL, how);
	kernel_at(t + 3000 * S, stop, NULL, 0);
	for (;;) {
		e = kernel_run(daemon_main, NULL, &status);
		if (e == END_RETURNED)
			break;
		kernel_pass(kernel_mono() + 5 * S);
	}
	int64_t silent = seen.destroyed_at - seen.last_beat;
	bool twice = how >= 10; /* what was under way when it was killed is done again */
	bool bad = status != 0 || seen.created < 1 || (seen.created > 1 && !twice) ||
		   (how != 2 && how != 3 && (seen.beats < 30 || silent < 60 * S || silent > 600 * S)) ||
		   (how < 2 && seen.destroyed != 1) || (twice && seen.destroyed < 1);
	if (bad) {
		kernel_print_notes(-1);
		fprintf(stderr,
			"life %" PRIu64 ", seed %" PRIu64
			": status %d, %d created, %d beats, %d destroyed, after %.3f s\n",
			how, seed, status, seen.created, seen.beats, seen.destroyed,
			(double)(seen.destroyed_at - seen.last_beat) / 1e9);
		exit(1);
	}
	kernel_free();
}

int main(int argc, char **argv)
{
	uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 50;

	for (uint64_t seed = 1; seed <= seeds; seed++)
		for (uint64_t how = 0; how < 4; how++)
			life(seed, how);
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : KILL_FIRST,
		 last = argc > 3 ? strtoull(argv[3], NULL, 10) : KILL_LAST;

	for (uint64_t at = first; at < last; at++)
		life(at, at);
	return 0;
}
