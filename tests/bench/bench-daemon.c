/*
 * bench-daemon: what leases that beat cost the daemon. All of it without noise: system calls and context switches.
 *
 * N leases, ttl 300 s, a beat each 30 s. Their last renewals lie spread over one ttl in the past, so that the looks that come due
 * in the few seconds of the bench are the share of any other few seconds.
 *
 *	looks-per-ttl	stats of locks, a lease and ttl, where the ttl is the only deadline (renew_grace as long as it). One look
 *			finds the beat and moves the deadline to that beat + ttl: with beats each tenth of a ttl that is 300/285 =
 *			1.05. 1.2 leaves room for no second look. The defaults' renew_grace of 90 s asks for more: told beside it.
 *	wake-ups	of the watcher a second, at the same time. Looks may be batched, so that it does not grow with N: 2.
 *	active-beats-seen	wake-ups of watcher and actor while each lease beats 20 times and none is due: 0.
 *	idle-wake-ups	of both in 10 s with leases, no beat, and nothing due: 0.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lease/tree.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#define TTL (300 * LEASE_NS_PER_S)
#define BEAT (30 * LEASE_NS_PER_S)
#define SETTLE (bench_count(3000, 300) * LEASE_NS_PER_MS)
#define SPAN (bench_count(10000, 200) * LEASE_NS_PER_MS)
#define N_MAX 10000

static struct world_lease leases[N_MAX];
static int64_t period; /* a lease is looked at about so often */
static int n_leases;

/* Due one after the other, at even distances, from SETTLE on. */
static int64_t spread_ago(int i)
{
	return BEAT / 2 + (period - SETTLE) / n_leases * i;
}

static void touch(const struct world *w, int i)
{
	int r = lease_touch(w->active, leases[i].name, NULL);

	if (r < 0)
		bench_fail("a lease is gone that should live", r);
}

/* Each lease beats every 30 s at a time of its own. In a child, which tracing does not hold up. */
static pid_t beat_on(const struct world *w, int n)
{
	int64_t from = bench_now();
	pid_t pid = fork();

	if (pid < 0)
		bench_fail("fork", errno);
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (long i = 0;; i++) {
		bench_until(from + i * (BEAT / n));
		touch(w, (int)(i % n));
	}
}

struct span {
	double looks, wakes; /* a lease and ttl; a second */
};

static struct span steady(const char *conf, int n, int64_t grace)
{
	struct world_times t = { .ttl = TTL, .renew_grace = grace, .ago = spread_ago };
	int64_t length = SPAN, from, filled;
	unsigned nr[BENCH_CALLS_MAX];
	struct span s = { 0 };
	struct world w;
	long before;
	pid_t beats;
	int r;

	n_leases = n;
	period = (grace < TTL ? grace : TTL) - BEAT / 2;
	world_open(&w, conf, false);
	world_fill(&w, &t, n, leases);
	filled = bench_now();
	(void)world_start(&w);
	world_settle(&w);
	for (int i = 0; i < n; i++)
		touch(&w, i);
	beats = beat_on(&w, n);
	bench_until(filled + SETTLE);
	before = bench_switches(w.watcher);
	from = bench_now();
	bench_until(from + length);
	s.wakes = (double)(bench_switches(w.watcher) - before) / ((double)(bench_now() - from) / 1e9);
	r = bench_trace(w.watcher, length, nr);
	if (r < 0)
		bench_raw("looks: skipped, ptrace is not allowed (%d)", r);
	s.looks = r < 0 ? -1 : (double)nr[SYS_statx] / n / ((double)length / (double)TTL);
	bench_raw("%d leases, ttl 300 s, renew_grace %lld s, a beat each 30 s: %.2f stats a lease and ttl, %.2f wake-ups/s, "
		  "%.2f fdatasync/s", n, (long long)(grace / LEASE_NS_PER_S), s.looks, s.wakes,
		  nr[SYS_fdatasync] / ((double)length / 1e9));
	(void)kill(beats, SIGKILL);
	world_close(&w);
	return s;
}

static void silent(int n)
{
	struct world_times t = { .ttl = 3600 * LEASE_NS_PER_S, .renew_grace = 3600 * LEASE_NS_PER_S };
	const int beats = bench_count(20, 2);
	int64_t from, took;
	struct world w;
	long before, seen;

	world_open(&w, "[defaults]\nrenew_grace = 1h\n", false);
	world_fill(&w, &t, n, leases);
	(void)world_start(&w);
	world_settle(&w);
	before = bench_switches(w.watcher) + bench_switches(w.actor);
	from = bench_now();
	for (int b = 0; b < beats; b++)
		for (int i = 0; i < n; i++)
			touch(&w, i);
	took = bench_now() - from;
	seen = bench_switches(w.watcher) + bench_switches(w.actor) - before;
	bench_raw("%d beats in %.2f s: %ld wake-ups", beats * n, (double)took / 1e9, seen);
	bench_aim("active-beats-seen", (double)seen, "wake-ups", 0);
	before += seen;
	bench_until(bench_now() + SPAN);
	bench_aim("idle-wake-ups", (double)(bench_switches(w.watcher) + bench_switches(w.actor) - before), "wake-ups in 10 s", 0);
	world_close(&w);
}

int main(void)
{
	struct span s;
	int n;

	bench_begin("bench-daemon");
	n = bench_big ? N_MAX : bench_count(1000, 20);
	silent(n);
	if (!bench_smoke)
		(void)steady("", n, 90 * LEASE_NS_PER_S);
	s = steady("[defaults]\nrenew_grace = 5m\n", n, TTL);
	if (s.looks >= 0)
		bench_aim("looks-per-ttl", s.looks, "stats a lease and ttl", 1.2);
	bench_aim("wake-ups", s.wakes, "a second", 2);
	return 0;
}
