#include "config.h"

#include "tests/bench/fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define MS(full, little) (bench_count(full, little) * LEASE_NS_PER_MS)
#define US(n) (n * INT64_C(1000))

static int64_t settle; /* from the filling until the daemon is up and has calmed down */
static const struct fleet *filling;

/* Deadlines lie evenly in [settle, period]; those that would come before are behind all others instead. */
static int64_t spread_ago(int i)
{
	int64_t due = filling->period / filling->n * i;

	return due < settle ? 0 : filling->period + FLEET_BEAT / 2 - due;
}

/* Of the whole machine: what kernel objects and the pages of tmpfs take. */
static int64_t kernel_memory(void)
{
	char line[128];
	int64_t sum = 0;
	FILE *f = fopen("/proc/meminfo", "re");

	if (!f)
		bench_fail("/proc/meminfo", errno);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "Shmem:", 6) || !strncmp(line, "Slab:", 5))
			sum += strtoll(strchr(line, ':') + 1, NULL, 10) * 1024;
	(void)fclose(f);
	return sum;
}

/* Each lease beats every 30 s at a time of its own. */
static pid_t beat_on(const struct fleet *f)
{
	int64_t from = bench_now();
	pid_t pid = world_child();

	if (pid > 0)
		return pid;
	for (long i = 0;; i++) {
		bench_until(from + i * (FLEET_BEAT / f->n));
		world_touch(&f->w, &f->leases[i % f->n]);
	}
}

void fleet_open(struct fleet *f, int n, int64_t grace)
{
	struct world_times t = { .ttl = FLEET_TTL, .renew_grace = grace, .ago = spread_ago };
	int64_t filled, before;

	*f = (struct fleet){ .n = n, .period = (grace < FLEET_TTL ? grace : FLEET_TTL) - FLEET_BEAT / 2 };
	filling = f;
	f->leases = calloc((size_t)n, sizeof(*f->leases));
	if (!f->leases)
		bench_fail("calloc", ENOMEM);
	settle = MS(5000, 300) + n * US(150);
	world_open(&f->w, grace == FLEET_TTL ? "[defaults]\nrenew_grace = 5m\n" : "", false);
	before = kernel_memory();
	world_fill(&f->w, &t, n, f->leases);
	f->kernel = (double)(kernel_memory() - before - world_registry_size(&f->w)) / n;
	filled = bench_now();
	f->start = (double)world_start(&f->w) / 1e9;
	world_settle(&f->w);
	/* No sooner: a look at a lease for another reason finds its beat, and its deadline is no longer where it was put. */
	bench_until(filled + settle - MS(1000, 100) - n * US(20));
	for (int i = 0; i < n; i++)
		world_touch(&f->w, &f->leases[i]);
	f->beats = beat_on(f);
	bench_until(filled + settle);
}

static void stat_one(const struct fleet *f, int i)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
	struct statx x;

	if (statx(f->w.active, f->leases[i].name, flags, STATX_BASIC_STATS, &x) < 0)
		bench_fail("statx", errno);
}

static double stat_in_a_row(const struct fleet *f)
{
	int n = f->n < 5000 ? f->n : 5000, at = (int)bench_random((uint32_t)f->n);
	int64_t from = bench_cpu();

	for (int i = 0; i < n; i++)
		stat_one(f, (at + i) % f->n);
	return (double)(bench_cpu() - from) / n;
}

void fleet_measure(struct fleet *f, int64_t span, struct fleet_cost *ret)
{
	const int slices = bench_count(20, 4);
	double row[64], share = (double)(span / slices) / (double)f->period * f->n;
	int64_t from = bench_now(), cpu = bench_cpu_of(f->w.watcher) + bench_cpu_of(f->w.actor), paced = 0;
	int64_t written = world_written(&f->w), took;
	long wakes = bench_switches(f->w.watcher);
	unsigned nr[BENCH_CALLS_MAX];

	for (int s = 0; s < slices; s++) {
		int at = (int)bench_random((uint32_t)f->n);
		int64_t began;

		bench_until(from + span / slices * s + span / slices / 2);
		began = bench_cpu();
		for (int i = 0; i < (int)(share + 0.5); i++)
			stat_one(f, (at + i) % f->n);
		paced += bench_cpu() - began;
		row[s] = stat_in_a_row(f);
	}
	bench_until(from + span);
	took = bench_now() - from;
	cpu = bench_cpu_of(f->w.watcher) + bench_cpu_of(f->w.actor) - cpu;
	ret->wakes = (double)(bench_switches(f->w.watcher) - wakes) / ((double)took / 1e9);
	ret->bytes = (double)(world_written(&f->w) - written) / ((double)took / 1e9);
	ret->cpu = (double)cpu / (double)took;
	ret->paced = (double)paced / (double)took;
	ret->statx = bench_percentile(row, slices, 0.5) / 1000;
	ret->bare = ret->statx * 1000 * f->n / (double)f->period;
	ret->looks = -1;
	if (bench_trace(f->w.watcher, span / 2, nr) == 0)
		ret->looks = (double)nr[SYS_statx] / f->n / ((double)(span / 2) / (double)FLEET_TTL);
}

void fleet_close(struct fleet *f)
{
	world_child_end(f->beats);
	world_lives(&f->w, f->n, "after all those beats");
	world_close(&f->w);
	free(f->leases);
}
