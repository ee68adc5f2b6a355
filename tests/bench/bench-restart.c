/*
 * bench-restart: how long nobody judges: from the exec of a daemon with N leases alive until main() of the `destroy` of one that
 * ran out while there was none, against find(1) that stats the same tree once. On the wall clock, on tmpfs.
 *
 *	restart-find	after a stop in good order: 0.5. What it needs to know of a lease that was let be it has written down;
 *			the names, and one look at what is due, are less than find's stat of every file.
 *	restart-crash-find	after kill -9: 1.0. It has records to re-read, which find has not, but must not be the reason why
 *			a host stands without a judge.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#define ROUNDS bench_count(9, 1)
#define SHORT_TTL (bench_count(2000, 500) * LEASE_NS_PER_MS)
#define SHORT_MAX 32
#define VERDICT_WITHIN (120 * LEASE_NS_PER_S)

static struct world w;
static struct world_lease shorts[SHORT_MAX];
static volatile bool *keep;
static int ended; /* of the short ones */
static double ready[SHORT_MAX], cpu[SHORT_MAX];

/* When the runtime was told to destroy this one. */
static int64_t destroyed(const struct world_lease *l)
{
	int64_t until = bench_now() + VERDICT_WITHIN, at = 0;
	char path[400], line[128], id[LEASE_ID_SIZE];

	(void)snprintf(path, sizeof(path), "%s/home/stamps", w.dir);
	while (at == 0 && bench_now() < until) {
		FILE *f = fopen(path, "re");

		bench_until(bench_now() + 2 * LEASE_NS_PER_MS);
		if (!f)
			continue;
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "%14s %" SCNd64, id, &at) != 2 || strcmp(id, l->id) != 0)
				at = 0;
			else
				break;
		(void)fclose(f);
	}
	if (at == 0)
		bench_fail("a lease that had run out was not ended", 0);
	return at;
}

static double restart_after(int sig)
{
	const struct world_lease *l = &shorts[ended];
	int64_t from;

	keep[ended] = false;
	world_stop(&w, sig);
	bench_until(bench_now() + SHORT_TTL + 100 * LEASE_NS_PER_MS);
	from = bench_now();
	ready[ended] = (double)world_start(&w) / 1e6;
	cpu[ended++] = (double)(bench_cpu_of(w.watcher) + bench_cpu_of(w.actor)) / 1e6;
	return (double)(destroyed(l) - from) / 1e6;
}

static double after_stop(void *arg)
{
	(void)arg;
	return restart_after(SIGTERM);
}

static double after_kill(void *arg)
{
	(void)arg;
	return restart_after(SIGKILL);
}

static double find(void *arg)
{
	const char *argv[] = { "find", w.paths.notices, "-type", "f", "-printf", "%f %T@\\n", NULL };
	int64_t from = bench_now();
	int status;

	(void)arg;
	(void)bench_run(argv, NULL, &status);
	if (status != 0)
		bench_fail("find", 0);
	return (double)(bench_now() - from) / 1e6;
}

int main(void)
{
	static const struct world_times t = { .ttl = 3600 * LEASE_NS_PER_S, .renew_grace = 3600 * LEASE_NS_PER_S };
	struct bench_variant v[] = { { "stop", after_stop, NULL }, { "kill", after_kill, NULL }, { "find", find, NULL } };
	struct world_lease *leases;
	struct bench_figures f;
	pid_t keeper;
	int n, n_short;

	bench_begin("bench-restart");
	/* What is credited for the time without a daemon is a renew_grace: nothing here. */
	const struct world_times t_short = { .ttl = SHORT_TTL, .renew_grace = LEASE_NS_PER_MS };
	n = world_size(50);
	n_short = 2 * (ROUNDS + 1);
	leases = calloc((size_t)n, sizeof(*leases));
	if (!leases)
		bench_fail("calloc", ENOMEM);
	world_open(&w, "[defaults]\nrenew_grace = 1h\n", false);
	world_fill(&w, &t, n, leases);
	world_fill(&w, &t_short, n_short, shorts);
	keep = world_flags(n_short);
	for (int i = 0; i < n_short; i++)
		keep[i] = true;
	keeper = world_keep(&w, shorts, n_short, keep, SHORT_TTL / 5);
	(void)world_start(&w);
	world_settle(&w);
	bench_rounds(v, 3, ROUNDS, &f);
	bench_raw("%d leases: exec to the first verdict %.0f ms after a stop, %.0f ms after kill -9; find %.0f ms", n,
		  bench_median(&f, 0), bench_median(&f, 1), bench_median(&f, 2));
	bench_raw("either: ready after %.0f ms (%.0f ms of CPU)", bench_percentile(ready, ended, 0.5),
		  bench_percentile(cpu, ended, 0.5));
	world_child_end(keeper);
	world_lives(&w, n, "after all those restarts");
	bench_aim("restart-find", bench_ratio(&f, 0, 2), "x find(1)", 0.5);
	bench_aim("restart-crash-find", bench_ratio(&f, 1, 2), "x find(1)", 1.0);
	world_close(&w);
	free(leases);
	return 0;
}
