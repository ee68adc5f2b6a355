/* tests/sim/fault.c: what goes wrong, class by class, each at its own pace. */
#include "config.h"

#include <signal.h>
#include <stdio.h>

#include "tests/sim/world.h"

typedef void fault(void);

/* Nothing ends by silence before: one grace, from when it is noticed, which is at the next wake-up. */
static void no_silence(int64_t for_ns)
{
	int64_t until = now() + for_ns + 2 * GRACE_HIGH;

	if (until > world.grace_until)
		world.grace_until = until;
}

static void suspend(void)
{
	int64_t for_ns = one_in(5) ? between(HOUR, 60 * HOUR) : between(SEC / 2, 20 * MINUTE);

	kernel_suspend(for_ns);
	if (kernel_running() && for_ns > 2 * SEC)
		world.slept = now();
	world.last_gain = now();
	if (now() < world.held_until)
		world.last_step = now(); /* nobody saw which beats came before it */
	world.credit += GRACE_HIGH;
	no_silence(0);
	asks_doubt_hold(); /* it is by the wall clock, for the next daemon */
}

static void step_clock(void)
{
	static const int64_t most[] = { SEC / 50, 10 * SEC, 10 * MINUTE, 400 * DAY };
	int64_t by = between(1, most[between(0, 3)]);

	if (now() < world.hold_until) /* its length is by the wall clock */
		return;
	if (one_in(2))
		by = -by;
	kernel_step_wall(by);
	world.last_step = world.last_gain = now();
}

static void kill_daemon(void)
{
	kernel_note("kill -9");
	kernel_kill();
}

static void stop(void)
{
	kernel_signal(SIGTERM);
}

/* What would be due by the new numbers gets a fresh full period; so does what is due and held. */
static void reload(void)
{
	struct truth *t;

	world.last_reload = now();
	LIST_FOREACH(t, &world.all, all)
		truth_renewed(t);
	config_write(one_in(4));
	kernel_signal(SIGHUP);
	kernel_note("SIGHUP");
}

/* At one of its next calls. */
static void kill_soon(void)
{
	kernel_faults.crash = (uint64_t)between(1, 300);
}

static void boot(void)
{
	if (kernel_running())
		kernel_reboot(between(5, 600) * SEC, one_in(2));
	else
		world.reboot = true;
}

static void lose_events(void)
{
	/* More often than not only what is told of. */
	kernel_faults.event_lost = !one_in(3) ? 0 : (uint64_t)between(1, 10);
	kernel_faults.queue_max = one_in(2) ? 0 : (uint32_t)between(1, 20);
	kernel_faults.watch_refused = one_in(2) ? 0 : (uint64_t)between(1, 10);
	world.deaf = kernel_faults.event_lost != 0;
	if (world.deaf)
		truth_unheard();
}

static void hear_again(void)
{
	kernel_faults.event_lost = kernel_faults.watch_refused = 0;
	kernel_faults.queue_max = 0;
	world.deaf = false;
}

/* Many things at once, and nobody to read of them: inotify has room for a few, and says so. */
static void flood(void)
{
	kernel_faults.queue_max = (uint32_t)between(1, 4);
	for (int i = 0; i < world.o.holders; i++)
		if (!world.holders[i].lease)
			holder_next(&world.holders[i], between(1, SEC));
	kernel_hold_up(2 * SEC);
}

static void forget_folder(const char *name)
{
	char from[PATH_SIZE], to[PATH_SIZE];

	(void)snprintf(from, sizeof(from), NOTICES "/%s", name);
	(void)snprintf(to, sizeof(to), "/sim/tmp/%s-%llu", name, (unsigned long long)draw(STREAM_WORLD));
	kernel_as(0);
	(void)kernel_rename(from, to);
}

/* archive/ alone: what is in the others are promises, which nobody could keep then. */
static void remove_folder(void)
{
	truth_unheard(); /* what was just put there has gone with it */
	forget_folder("archive");
}

static void outage(void)
{
	runtime_outage(between(SEC, 20 * MINUTE));
}

static void actor_gone(void)
{
	struct act_answer a;

	kernel_note("the actor is gone, or mad");
	if (one_in(4)) {
		kernel_answer_raw("", 0);
		return;
	}
	runtime_mad(&a);
	kernel_answer_raw(&a, one_in(8) ? (size_t)between(1, sizeof(a) - 1) : sizeof(a));
}

/* A network drive, a proxy, an agent's service: everybody falls silent. */
static void mass_silence(void)
{
	int64_t for_ns = between(MINUTE, 40 * MINUTE);

	kernel_note("everybody is held up for %lld s", (long long)(for_ns / SEC));
	for (int i = 0; i < world.o.holders; i++)
		if (!world.holders[i].half && !one_in(8))
			holder_next(&world.holders[i], for_ns + between(0, MINUTE));
}

/* Beats while the clock is set back have stamps that are older than they; and most often a later daemon is the first to look. */
static int64_t set_back_by, set_back_at;
static uint64_t turns_then;

/* Where no daemon had a turn in between, both were done before anybody looked: the clocks are as they were. */
static void set_unseen(void)
{
	struct truth *t;

	LIST_FOREACH(t, &world.all, all)
		if (t->beat >= set_back_at)
			truth_stamped(t);
}

static void set_on_again(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	kernel_step_wall(set_back_by);
	world.last_step = world.last_gain = now();
	asks_doubt_hold(); /* asked for meanwhile, it is by the clock as it was, for the next daemon */
	if (world.turns < turns_then + 2)
		set_unseen();
	set_back_by = 0;
	for (int i = 0; i < world.o.holders; i++)
		if (!world.holders[i].half && !one_in(8))
			holder_next(&world.holders[i], between(MINUTE, 20 * MINUTE));
	if (world.o.faults & F_CRASH)
		kernel_kill();
}

static void set_clock_for_a_while(void)
{
	int64_t for_ns = between(SEC, MINUTE);

	if (now() < world.hold_until || set_back_by != 0)
		return;
	set_back_by = between(MINUTE, 10 * MINUTE);
	set_back_at = now();
	turns_then = world.turns;
	kernel_step_wall(-set_back_by);
	world.last_step = world.last_gain = now();
	for (int i = 0; i < world.o.holders; i++)
		if (!world.holders[i].half && one_in(2))
			holder_next(&world.holders[i], between(1, for_ns));
	after(for_ns, set_on_again, NULL, 0);
}

/* A daemon that does not stay for longer than some ttls last, while nobody beats and no stamp says when it was made. */
static void kill_again(void *arg, uint64_t n)
{
	(void)arg;
	if (world.ending)
		return;
	kill_daemon();
	if (n > 0)
		after(between(3 * MINUTE, 6 * MINUTE), kill_again, NULL, n - 1);
}

static void crash_loop(void)
{
	int64_t for_ns = HOUR;

	if (now() >= world.hold_until && (world.o.faults & F_TIME)) {
		kernel_step_wall(-between(MINUTE, 2 * HOUR));
		world.last_step = world.last_gain = now();
	}
	kernel_note("the daemon crashes again and again");
	for (int i = 0; i < world.o.holders; i++)
		if (!world.holders[i].half && !one_in(8))
			holder_next(&world.holders[i], for_ns + between(0, MINUTE));
	kill_again(NULL, (uint64_t)between(5, 12));
}

static void stop_actor(void)
{
	runtime_stall(between(SEC, 6 * MINUTE));
}

static void calls_fail(void)
{
	kernel_faults.call_fails = (uint64_t)between(20, 2000);
	kernel_faults.disk_write = one_in(3) ? (uint64_t)between(5, 200) : 0;
	kernel_faults.disk_sync = one_in(3) ? (uint64_t)between(5, 200) : 0;
	kernel_faults.peer_full = (uint64_t)between(3, 50);
	kernel_faults.interrupted = (uint64_t)between(3, 50);
	kernel_faults.no_memory = one_in(2) ? (uint64_t)between(100, 5000) : 0;
	kernel_faults.sql_no_memory = one_in(3) ? (uint64_t)between(1000, 20000) : 0;
	kernel_faults.disk_read = one_in(3) ? (uint64_t)between(5, 200) : 0;
}

static void calls_work(void)
{
	kernel_faults.call_fails = kernel_faults.disk_write = kernel_faults.disk_sync = kernel_faults.peer_full = 0;
	kernel_faults.interrupted = kernel_faults.no_memory = kernel_faults.sql_no_memory = kernel_faults.disk_read = 0;
}

static void hold_up(void)
{
	int64_t for_ns = one_in(4) ? between(MINUTE, 20 * MINUTE) : between(SEC / 10, MINUTE);

	kernel_hold_up(for_ns);
	world.credit += for_ns + GRACE_HIGH;
	no_silence(for_ns);
	world.held_until = now() + for_ns;
}

static void be_slow(void)
{
	kernel_faults.stall = one_in(2) ? 0 : (uint64_t)between(50, 5000);
	kernel_faults.stall_ns = between(SEC / 1000, SEC);
}

static const struct {
	unsigned class;
	fault *what;
	int64_t every;
} faults[] = {
	{ F_TIME, suspend, 5 * HOUR },	    { F_TIME, step_clock, 3 * HOUR },	 { F_CRASH, kill_daemon, 2 * HOUR },
	{ F_CRASH, stop, 8 * HOUR },	    { F_CRASH, kill_soon, HOUR },	 { F_CRASH, reload, 2 * HOUR },
	{ F_BOOT, boot, 30 * HOUR },	    { F_TREE, lose_events, HOUR },	 { F_TREE, hear_again, HOUR },
	{ F_TREE, remove_folder, 9 * HOUR }, { F_ENGINE, outage, 4 * HOUR },	 { F_ENGINE, stop_actor, 5 * HOUR },
	{ F_CALLS, calls_fail, 3 * HOUR },  { F_CALLS, calls_work, 20 * MINUTE }, { F_STALL, hold_up, 2 * HOUR },
	{ F_STALL, be_slow, HOUR },
	{ F_TIME, set_clock_for_a_while, 6 * HOUR }, { F_CRASH, crash_loop, 12 * HOUR }, { F_TREE, flood, 3 * HOUR },
	{ F_ENGINE, runtime_stray, 2 * HOUR },
	{ F_ENGINE, actor_gone, 7 * HOUR },   { F_STALL, mass_silence, 4 * HOUR },
};

/* Half of them come at any time, half a moment before or after somebody's lease would end. */
static int64_t next_time(int64_t every)
{
	int64_t when = now() + between(1, 2 * every);
	struct truth *t = LIST_FIRST(&world.all);

	for (int i = (int)between(0, 20); t && i > 0 && LIST_NEXT(t, all); i--)
		t = LIST_NEXT(t, all);
	if (t && one_in(2) && t->renewed + t->ttl_low > now())
		when = t->renewed + t->ttl_low + between(-20, 40) * LEASE_NS_PER_MS;
	return when > now() ? when : now() + 1;
}

/* A moment near an end is much sooner than `every`: only so often, then. */
static int64_t pace(int64_t every)
{
	int64_t when = next_time(every);

	return one_in((uint64_t)(every / (10 * MINUTE)) + 1) ? when : now() + between(every / 2, 2 * every);
}

static void strike(void *arg, uint64_t n)
{
	(void)arg;
	if (world.ending)
		return;
	happens();
	at(pace(faults[n].every), strike, NULL, n);
	faults[n].what();
}

static void nothing(void)
{
	kernel_faults = (struct kernel_faults){ .ino_again = 3 };
}

void fault_init(void)
{
	nothing();
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (world.o.faults & faults[i].class)
			at(next_time(faults[i].every), strike, NULL, i);
}

void fault_end(void)
{
	nothing();
}

/* A daemon that has just begun: some die in the middle of taking up what they find, several times over. */
void fault_life(void)
{
	kernel_faults.crash = 0;
	config_mend();
	if ((world.o.faults & F_CRASH) && !world.ending && one_in(4))
		kernel_faults.crash = (uint64_t)between(10, 5000);
}

int64_t fault_downtime(void)
{
	if (world.ending)
		return SEC;
	if (one_in(12))
		return between(10 * MINUTE, 5 * HOUR);
	return one_in(3) ? between(SEC, 5 * MINUTE) : between(0, 2 * SEC);
}
