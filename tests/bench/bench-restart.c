/*
 * bench-restart: how long nobody judges: from the exec of a daemon with N leases alive, until it has judged who is due and watches
 * again, against find(1) that stats the same tree once. On the wall clock, on tmpfs. The folder itself is read right after.
 *
 *	restart-find	after an orderly stop: 0.5. A row a lease in one file is less to read than a name and a stat each.
 *	restart-crash-find	after kill -9: 1.0. Then the registry's log has to be read, too.
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
static double cpu[2 * BENCH_ROUNDS_MAX];
static int n_cpu;

static double restart(struct world *w, int sig)
{
	double ms;

	(void)world_start(w);
	world_settle(w);
	world_stop(w, sig);
	ms = (double)world_start(w) / 1e6;
	cpu[n_cpu++] = (double)(bench_cpu_of(w->watcher) + bench_cpu_of(w->actor)) / 1e6;
	world_stop(w, SIGKILL);
	return ms;
}

static double restart_stopped(void *arg)
{
	return restart(arg, SIGTERM);
}

static double restart_killed(void *arg)
{
	return restart(arg, SIGKILL);
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
	struct bench_variant v[] = { { "stopped", restart_stopped, &w }, { "killed", restart_killed, &w }, { "find", find, &w } };

	bench_rounds(v, 3, bench_count(9, 1), &f);
	bench_raw("%d leases: to ready after a stop %.0f ms, after kill -9 %.0f ms (%.0f ms of CPU), find %.0f ms", n,
		  bench_median(&f, 0), bench_median(&f, 1), bench_percentile(cpu, n_cpu, 0.5), bench_median(&f, 2));
	bench_aim("restart-find", bench_ratio(&f, 0, 2), "x find(1)", 0.5);
	bench_aim("restart-crash-find", bench_ratio(&f, 1, 2), "x find(1)", 1.0);
	world_close(&w);
	return 0;
}
