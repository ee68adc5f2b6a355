/*
 * bench-restart: how long nobody judges: from the exec of a daemon that was killed with N leases alive, until it watches again,
 * against find(1) that stats the same tree once.
 *
 *	restart-find	1.0: after a crash the daemon has records to re-read, which find has not, but it must not be the reason
 *			why a host stands without a judge. On the wall clock, on tmpfs.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#define N 100000

static struct world_lease leases[N];
static double cpu[BENCH_ROUNDS_MAX];
static int n_cpu;

static double restart(void *arg)
{
	struct world *w = arg;
	double ms = (double)world_start(w) / 1e6;

	cpu[n_cpu++] = (double)(bench_cpu_of(w->watcher) + bench_cpu_of(w->actor)) / 1e6;
	world_stop(w, SIGKILL);
	return ms;
}

static double find(void *arg)
{
	const struct world *w = arg;
	const char *argv[] = { "find", w->paths.notices, "-type", "f", "-printf", "%f %T@\\n", NULL };
	int64_t from = bench_now();
	int status;

	(void)bench_run(argv, NULL, &status);
	if (status != 0)
		bench_fail("find", 0);
	return (double)(bench_now() - from) / 1e6;
}

int main(void)
{
	static const struct world_times t = { .ttl = 3600 * LEASE_NS_PER_S, .renew_grace = 3600 * LEASE_NS_PER_S };
	struct bench_figures f;
	struct world w;
	int n;

	bench_begin("bench-restart");
	n = bench_count(N, 50);
	world_open(&w, "", false);
	world_fill(&w, &t, n, leases);
	struct bench_variant v[] = { { "restart", restart, &w }, { "find", find, &w } };

	bench_rounds(v, 2, bench_count(9, 1), &f);
	bench_raw("%d leases: killed daemon to ready %.0f ms (%.0f ms of CPU), find %.0f ms", n, bench_median(&f, 0),
		  bench_percentile(cpu, n_cpu, 0.5), bench_median(&f, 1));
	bench_aim("restart-find", bench_ratio(&f, 0, 1), "x find(1)", 1.0);
	world_close(&w);
	return 0;
}
