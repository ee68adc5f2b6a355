/*
 * bench-fleet: 100,000 leases, ttl 300 s, a beat each 30 s.
 *
 *	fleet-cpu	what watcher and actor use, against the bare statx calls that can't be done without: as many leases as
 *			come due, each stat'ed once, in a row, at what such a call costs in the same span. 3: a look is a
 *			stat, a verdict, a place in a heap; a wake-up costs as much as 20 of them.
 *	looks-per-ttl	stats of locks, a lease and ttl, where the ttl is the only deadline (renew_grace as long as it). One look
 *			finds the beat and moves the deadline to that beat + ttl: with beats each tenth of a ttl that is 300/285 =
 *			1.05. 1.2 leaves room for no second look. The defaults' renew_grace of 90 s asks for more: told beside it.
 *	wake-ups	of the watcher a second, at the same time. Looks are batched, so that it does not grow with N: 2.
 *	active-beats-seen	wake-ups of watcher and actor while each lease beats three times in a row and none is due: 0.
 *	beat-tax	a beat in the daemon's tree against one in a folder that nobody watches, in CPU: 1.15.
 *	beat-disk	bytes that a beat, and all that is done for it, writes to disks: 0.
 *	idle-wake-ups	of both in 60 s with all those leases, no beat, and nothing due: 0.
 *	heap-per-lease	memory of their own of both processes (RssAnon), with leases less that without any, a lease: 160 bytes.
 *	kernel-per-lock	pages of tmpfs and kernel objects, a lock: a page and an inode with its name: 5.2 kB.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lease/tree.h"
#include "tests/bench/bench.h"
#include "tests/bench/fleet.h"

#define SPAN (bench_count(20000, 200) * LEASE_NS_PER_MS)
#define IDLE (bench_count(60, 1) * LEASE_NS_PER_S)
#define PARTS 3

static int64_t memory_without(void)
{
	struct world_lease l;
	const struct world_times t = { .ttl = FLEET_TTL, .renew_grace = FLEET_TTL };
	struct world w;
	int64_t is;

	world_open(&w, "", false);
	world_fill(&w, &t, 1, &l);
	(void)world_start(&w);
	world_settle(&w);
	is = world_memory(&w);
	world_close(&w);
	return is;
}

static void steady(int n, int64_t grace, int64_t without)
{
	double ratio[PARTS], paced[PARTS], wakes[PARTS], looks[PARTS];
	struct fleet f;

	fleet_open(&f, n, grace);
	bench_raw("%d leases, renew_grace %d s: up in %.2f s", n, (int)(grace / LEASE_NS_PER_S), f.start);
	for (int i = 0; i < PARTS; i++) {
		struct fleet_cost c;

		fleet_measure(&f, SPAN, &c);
		bench_raw("%.4f %% of a core; the bare statx calls (%.2f us each) %.4f %%, paced as wake-ups are %.4f %%; "
			  "%.2f wake-ups/s, %.2f stats a lease and ttl, %.0f bytes/s to disks",
			  c.cpu * 100, c.statx, c.bare * 100, c.paced * 100, c.wakes, c.looks, c.bytes);
		/* With a shorter one, beats as regular as these leave gaps after the first round. */
		if (c.looks >= 0 && n >= 10000 && c.looks < 0.8 && grace == FLEET_TTL)
			bench_fail("fewer looks than leases that come due: this is not a fleet that has lived for a while", 0);
		ratio[i] = c.cpu / c.bare;
		paced[i] = c.cpu / c.paced;
		wakes[i] = c.wakes;
		looks[i] = c.looks;
	}
	if (grace == FLEET_TTL) {
		bench_raw("against the same calls paced as wake-ups are: %.2f x", bench_percentile(paced, PARTS, 0.5));
		bench_aim("fleet-cpu", bench_percentile(ratio, PARTS, 0.5), "x the bare statx calls", 3);
		if (looks[0] < 0)
			bench_raw("looks-per-ttl: skipped, ptrace is not allowed");
		else
			bench_aim("looks-per-ttl", bench_percentile(looks, PARTS, 0.5), "stats a lease and ttl", 1.2);
		bench_aim("wake-ups", bench_percentile(wakes, PARTS, 0.5), "a second", 2);
		bench_aim("heap-per-lease", (double)(world_memory(&f.w) - without) / n, "bytes", 160);
		bench_aim("kernel-per-lock", f.kernel, "bytes", 5200);
	}
	fleet_close(&f);
}

struct place {
	int dir;
	const struct world_lease *leases;
	int n;
};

static double beat_all(void *arg)
{
	const struct place *p = arg;
	int64_t from = bench_cpu();

	for (int i = 0; i < p->n; i++) {
		int r = lease_touch(p->dir, p->leases[i].name, NULL);

		if (r < 0)
			bench_fail("a beat", r);
	}
	return (double)(bench_cpu() - from) / p->n / 1000;
}

/* As many names in a folder that nobody watches. */
static int unwatched(const struct world *w, const struct world_lease *l, int n)
{
	char path[400];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/unwatched", w->dir);
	if (mkdir(path, 0755) < 0 || (fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		bench_fail(path, errno);
	for (int i = 0; i < n; i++) {
		int r = lease_create(fd, l[i].name, "#", 1);

		if (r < 0)
			bench_fail("a file", r);
	}
	return fd;
}

static void silent(int n)
{
	const struct world_times t = { .ttl = 3600 * LEASE_NS_PER_S, .renew_grace = 3600 * LEASE_NS_PER_S };
	struct world_lease *leases = calloc((size_t)n, sizeof(*leases));
	const int rounds = bench_count(9, 1);
	struct bench_figures f;
	int64_t written;
	struct world w;
	long before, seen;

	if (!leases)
		bench_fail("calloc", ENOMEM);
	world_open(&w, "[defaults]\nrenew_grace = 1h\n", false);
	world_fill(&w, &t, n, leases);
	(void)world_start(&w);
	world_settle(&w);
	struct place ours = { w.active, leases, n }, bare = { unwatched(&w, leases, n), leases, n };
	struct bench_variant v[] = { { "watched", beat_all, &ours }, { "unwatched", beat_all, &bare } };
	before = bench_switches(w.watcher) + bench_switches(w.actor);
	written = world_written(&w) + bench_written(getpid());
	bench_rounds(v, 2, rounds, &f);
	seen = bench_switches(w.watcher) + bench_switches(w.actor) - before;
	/* What is printed from here on is written too. */
	written = world_written(&w) + bench_written(getpid()) - written;
	bench_raw("a beat: %.2f us in the daemon's tree, %.2f us where nobody watches", bench_median(&f, 0), bench_median(&f, 1));
	bench_aim("active-beats-seen", (double)seen, "wake-ups", 0);
	bench_aim("beat-tax", bench_ratio(&f, 0, 1), "x an unwatched one", 1.15);
	bench_aim("beat-disk", (double)written / ((rounds + 1.0) * n), "bytes a beat", 0);
	before = bench_switches(w.watcher) + bench_switches(w.actor);
	bench_until(bench_now() + IDLE);
	bench_aim("idle-wake-ups", (double)(bench_switches(w.watcher) + bench_switches(w.actor) - before), "wake-ups in 60 s", 0);
	world_lives(&w, n, "after a time of silence");
	world_close(&w);
	close(bare.dir);
	free(leases);
}

int main(void)
{
	int64_t without;
	int n;

	bench_begin("bench-fleet");
	n = world_size(20);
	without = memory_without();
	steady(n, FLEET_TTL, without);
	if (!bench_smoke)
		steady(n, 90 * LEASE_NS_PER_S, without);
	silent(n);
	return 0;
}
