/*
 * bench-peers: the same 100,000 leases, ttl 300 s, a beat each 30 s (3,333 a second), kept by others: the CPU of their servers
 * against ours; and when one who wants to know hears of an end. The same process beats for all, at the same times.
 *
 *	fleet-redis, -postgres, -etcd	our CPU, as a share of theirs: a 20th, a 200th, a 400th. They are asked for each beat;
 *			here a beat is between its holder and the kernel.
 *	told-etcd	from the end of a ttl: our runtime program's main() against etcd's event at its watcher: a 100th. It looks
 *			for what has run out twice a second.
 *	mass-etcd	10,000 that run out in the same instant, until all are told: a 30th. It ends a thousand a second.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/bench/due.h"
#include "tests/bench/fleet.h"
#include "tests/bench/mass.h"
#include "tests/bench/peer.h"

#define MASS bench_count(PEER_MASS, 50)
#define SPAN (bench_count(20000, 300) * LEASE_NS_PER_MS)

static double ours_late(void)
{
	const int n = bench_count(PEER_DUE, 5);
	double late[PEER_DUE];
	struct due_set due;
	struct world w;
	int64_t from;

	world_open(&w, "[defaults]\nrenew_grace = 1h\n", false);
	due_fill(&due, &w, n);
	(void)world_start(&w);
	world_settle(&w);
	from = bench_now() + DUE_TTL + LEASE_NS_PER_S / 2;
	due_plan(&due, n, from, 2 * LEASE_NS_PER_S);
	due_start(&due, &w);
	bench_until(from + 3 * LEASE_NS_PER_S);
	due_read(&due, &w);
	if (due.missing || due.early || due.twice || due_late(&due, 0, n, late) != n)
		bench_fail("an end of ours was wrong", 0);
	world_close(&w);
	return bench_percentile(late, n, 0.5) / 1000;
}

static void told(const char *who, struct peer_cost *c)
{
	char late[160];

	(void)snprintf(late, sizeof(late), "none of %d told within %d s", PEER_DUE, (int)(PEER_WAIT / LEASE_NS_PER_S));
	if (c->told > 0)
		(void)snprintf(late, sizeof(late), "%d of %d told within %d s, of these p50 %.0f, p99 %.0f ms late",
			       c->told, PEER_DUE, (int)(PEER_WAIT / LEASE_NS_PER_S), bench_percentile(c->late, c->told, 0.5),
			       bench_percentile(c->late, c->told, 0.99));
	bench_raw("%s: %.2f %% of a core; ends: %s", who, c->cpu * 100, late);
	if (c->mass >= 0)
		bench_raw("%s: %d ends at once are told after %.1f s", who, PEER_MASS, c->mass);
}

int main(void)
{
	struct peer_cost redis, redis500, etcd, postgres;
	struct fleet_cost ours;
	struct fleet f;
	double late;
	struct mass m;
	bool has_mass;
	int n;

	bench_begin("bench-peers");
	n = world_size(1000);
	fleet_open(&f, n, FLEET_TTL);
	fleet_measure(&f, SPAN, &ours);
	fleet_close(&f);
	late = ours_late();
	has_mass = mass_measure(MASS, &m);
	bench_raw("ours: %.4f %% of a core; ends: p50 %.2f ms late", ours.cpu * 100, late);
	if (has_mass)
		bench_raw("ours: %d ends at once are told after %.3f s", MASS, m.told);
	if (redis_measure(n, SPAN, "10", &redis) && redis_measure(n, SPAN, "500", &redis500)) {
		told("redis", &redis);
		told("redis, hz 500", &redis500);
		bench_aim("fleet-redis", ours.cpu / redis.cpu, "x redis", 1 / 20.0);
	}
	if (postgres_measure(n, SPAN, &postgres)) {
		told("postgres", &postgres);
		bench_aim("fleet-postgres", ours.cpu / postgres.cpu, "x postgres", 1 / 200.0);
	}
	if (etcd_measure(n, SPAN, &etcd)) {
		told("etcd", &etcd);
		bench_aim("fleet-etcd", ours.cpu / etcd.cpu, "x etcd", 1 / 400.0);
		if (etcd.told > 0)
			bench_aim("told-etcd", late / bench_percentile(etcd.late, etcd.told, 0.5), "x etcd", 1 / 100.0);
		if (etcd.mass >= 0 && has_mass)
			bench_aim("mass-etcd", m.told / etcd.mass, "x etcd", 1 / 30.0);
	}
	return 0;
}
