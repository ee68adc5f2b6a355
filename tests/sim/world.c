/*
 * tests/sim/world.c: one run. The daemon lives, dies and lives again, while everybody else goes on.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/log.h"
#include "tests/sim/world.h"
#include "watcher.h"

struct world world;

static int64_t last_seen; /* when somebody last did something */

int64_t now(void)
{
	return kernel_mono() + world.offset;
}

void at(int64_t when, kernel_event *what, void *arg, uint64_t n)
{
	kernel_at(when - world.offset, what, arg, n);
}

void after(int64_t by, kernel_event *what, void *arg, uint64_t n)
{
	kernel_at(kernel_mono() + by, what, arg, n);
}

/* The first thing of whatever happens. */
void happens(void)
{
	last_seen = now();
	world.steps++;
}

/* --- what is wrong --- */

void broken(const char *invariant, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	kernel_print_notes(world.o.verbose ? 4000 : 25);
	fprintf(stderr, "\nBROKEN %s: ", invariant);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n  seed %llu, %d holders, %lld s, faults %#x; at %.3f s, step %llu, call %llu\n",
		(unsigned long long)world.o.seed, world.o.holders, (long long)(world.o.for_ns / SEC), world.o.faults,
		(double)now() / SEC, (unsigned long long)world.steps, (unsigned long long)kernel_calls());
	exit(1);
}

/* --- the daemon --- */

static void conf_error(void *arg, const char *file, int line, const char *what)
{
	(void)arg;
	kernel_note("configuration: %s:%d: %s", file, line, what);
}

static int daemon_main(void *arg)
{
	static struct watcher w;
	struct house_paths *p = &w.paths;
	char err[256];
	int r;

	(void)arg;
	log_open("watcher", false, 6);
	memset(&w, 0, sizeof(w));
	p->uid = DAEMON_UID;
	p->gid = DAEMON_UID;
	(void)snprintf(p->notices, sizeof(p->notices), "%s", NOTICES);
	(void)snprintf(p->db, sizeof(p->db), "%s", DB);
	(void)snprintf(p->state, sizeof(p->state), "/sim/run/leasewatch/state");
	(void)snprintf(p->tokens, sizeof(p->tokens), "/sim/run/leasewatch/tokens");
	(void)snprintf(p->sessions, sizeof(p->sessions), "/sim/run/leasewatch/sessions");
	(void)snprintf(p->work, sizeof(p->work), "/sim/var/lib/leasewatch-work");
	w.config = CONFIG;
	w.config_named = true;
	w.ready_fd = -1;
	if (settings_load(CONFIG, conf_error, NULL, &w.settings) < 0)
		return 2;
	if ((r = house_open(p, 0, &w.house, err)) < 0) {
		kernel_note("house_open: %s", err);
		return 3;
	}
	kernel_become(DAEMON_UID, DAEMON_UID);
	w.peer.fd = kernel_peer_fd();
	return watcher_run(&w);
}

void down(int64_t for_ns)
{
	world.credit += for_ns;
}

/* The machine is another one: its mono clock begins anew. World time goes on. */
static void rebooted(int64_t before)
{
	world.offset = before - kernel_mono() + 1;
	truth_booted();
	runtime_boot();
	asks_daemon_gone(true);
	kernel_as(0);
	kernel_mkdirs("/sim/run", 0, 0755);
	holder_boot();
}

static void called(void *arg, const char *call)
{
	last_seen = now();
	kernel_trace = last_seen >= world.o.trace;
	check_called(arg, call);
}

/* One life of the daemon, and the time after it. */
static void life(void)
{
	int status = 0;

	fault_life();
	world.up_since = now();
	world.down_since = NEVER;
	/* What is left of each lease's one grace for restarts, and a late wake's. */
	world.credit += 2 * GRACE_HIGH;
	enum kernel_end end = kernel_run(daemon_main, NULL, &status);
	kernel_note("the daemon %s (%d)", end == END_RETURNED ? "returned" : end == END_KILLED ? "was killed" : "is gone: reboot",
		    status);
	if (end == END_RETURNED && status != 0 && !(world.o.faults & (F_CALLS | F_ENGINE)))
		broken("I7", "the daemon gave up: %d", status);
	if (end == END_REBOOTED)
		rebooted(last_seen);
	truth_taken_up();
	runtime_daemon_gone();
	asks_daemon_gone(false);
	world.down_since = now();
	world.slept = -DAY;
	int64_t gone = world.done ? 0 : fault_downtime(), begin = now();
	kernel_pass(kernel_mono() + gone);
	down(now() - begin);
	if (world.reboot) {
		last_seen = now();
		world.reboot = false;
		kernel_reboot(between(5, 600) * SEC, one_in(2));
		rebooted(last_seen);
	}
}

static void stop_daemon(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	if (!kernel_running() || now() - world.up_since < 3 * HOUR) {
		after(5 * MINUTE, stop_daemon, NULL, 0);
		return;
	}
	world.done = true;
	kernel_signal(SIGTERM);
}

static void make_machine(void)
{
	kernel_as(0);
	kernel_mkdirs("/sim/run", 0, 0755);
	kernel_mkdirs("/sim/etc", 0, 0755);
	kernel_mkdirs("/sim/var/lib", 0, 0755);
	kernel_mkdirs("/sim/tmp", 0, 01777);
	config_write(false);
}

static void part_two(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	kernel_note("faults are over, all holders go");
	world.ending = true;
	fault_end();
	asks_end();
	holder_all_gone();
	/* The longest that a lease without a holder may last: frozen or lingering, then the longest back-off. */
	after(3 * HOUR, stop_daemon, NULL, 0);
	/* What was lost is found by the next one. */
	if (world.o.faults & F_TREE)
		kernel_signal(SIGTERM);
}

/* Nothing lives, nobody comes: what still wakes the daemon? The look through the archive, once a day. */
static uint64_t wakes_before;

static void quiet_begins(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	wakes_before = world.wakes;
}

static void quiet_ends(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	if (world.wakes - wakes_before > 2)
		broken("I12", "with nothing due the daemon woke %llu times in a day",
		       (unsigned long long)(world.wakes - wakes_before));
	kernel_signal(SIGTERM);
}

static void end_is_good(void)
{
	struct truth *t = LIST_FIRST(&world.all);

	if (t)
		broken("I7", "%s (%s) is not over though its holder, faults and every time are", t->id, public_name(t->state));
}

int world_run(const struct options *o)
{
	size_t n = (size_t)o->holders;
	const struct kernel_hooks hooks = { .request = runtime_request, .moved = check_moved, .logged = check_logged,
					    .called = called };

	world = (struct world){ .o = *o, .n_users = o->holders / 8 + 3, .hash = UINT64_C(0xcbf29ce484222325) };
	world.last_step = world.last_gain = world.last_reload = world.last_full = -DAY;
	world.grace_until = world.breaker_until = world.hold_until = world.hold_sure = world.slept = -DAY;
	LIST_INIT(&world.all);
	LIST_INIT(&world.changed);
	world.holders = calloc(n, sizeof(*world.holders));
	world.users = calloc((size_t)world.n_users, sizeof(*world.users));
	kernel_boot(o->seed, &hooks);
	ledger_begin();
	truth_init(16 * n + 4096);
	asks_init(4 * n + 1024);
	runtime_init(32 * n + 4096);
	make_machine();
	world.end = now() + o->for_ns;
	holder_init();
	fault_init();
	at(world.end, part_two, NULL, 0);
	while (!world.done)
		life();
	end_is_good();
	/* And once more, with nothing to do: it sleeps. The first hours are for what is left of state/. */
	after(3 * HOUR, quiet_begins, NULL, 0);
	after(3 * HOUR + DAY, quiet_ends, NULL, 0);
	life();
	kernel_free();
	truth_exit();
	asks_exit();
	runtime_exit();
	free(world.holders);
	free(world.users);
	return 0;
}
