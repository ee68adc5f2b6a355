/*
 * bench-renew: a beat as a whole process, in CPU as wait4(2) tells it.
 *
 *	renew-process	`klease renew ID` against `touch -c LOCK`: both start a dynamically linked program that sets one
 *			time. klease also finds the daemon, the lock and its ttl, and is sure of its answer. 1.5: a hook
 *			that beats by `klease renew` must not cost more than a few hundred microseconds over a touch.
 *	renew-redis-cli, renew-etcdctl	the same, as a share of what `redis-cli PEXPIRE` and `etcdctl lease keep-alive
 *			--once` take from a shell: a third, a 12th. Of the client alone; what servers do is in bench-peers.
 *	renew-loads	what the loader has to map for it, without noise: a library is 60 to 350 us, more than all the
 *			calls of a renewal together. libc, libbsd and its libmd, jansson, libxdg-basedir: 5.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/peer.h"
#include "tests/bench/world.h"

struct process {
	const char *argv[8];
	int n;
};

static double run(void *arg)
{
	const struct process *p = arg;
	int64_t cpu = 0;
	int status;

	for (int i = 0; i < p->n; i++) {
		cpu += bench_run(p->argv, NULL, &status);
		if (status != 0)
			bench_fail(p->argv[0], 0);
	}
	return (double)cpu / p->n / 1000;
}

static int libraries(const char *const argv[])
{
	char out[300], line[512];
	int n = 0, status;
	FILE *f;

	(void)snprintf(out, sizeof(out), "%s/loaded", bench_dir);
	(void)setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
	(void)bench_run(argv, out, &status);
	(void)unsetenv("LD_TRACE_LOADED_OBJECTS");
	f = fopen(out, "re");
	if (!f)
		bench_fail(out, errno);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "=>") != NULL;
	(void)fclose(f);
	return n;
}

static void must_run(const char *const argv[], const char *out)
{
	int status;

	(void)bench_run(argv, out, &status);
	if (status != 0)
		bench_fail(argv[0], 0);
}

/* A key to renew; false: it is not installed. */
static bool redis_client(struct peer *p, char cli[300])
{
	if (!peer_find("redis-cli", cli) || !redis_start(p, "10"))
		return false;
	close(peer_connect(p));
	const char *set[] = { cli, "-p", p->port_word, "SET", "lease", "x", "PX", "3600000", NULL };
	must_run(set, NULL);
	return true;
}

static bool etcd_client(struct peer *p, char cli[300], char endpoint[64], char lease[32])
{
	char out[300], line[256] = "";
	FILE *f;

	if (!peer_find("etcdctl", cli) || !etcd_start(p))
		return false;
	close(peer_connect(p));
	(void)snprintf(endpoint, 64, "--endpoints=127.0.0.1:%s", p->port_word);
	(void)snprintf(out, sizeof(out), "%s/granted", bench_dir);
	const char *grant[] = { cli, endpoint, "lease", "grant", "3600", NULL };
	must_run(grant, out);
	f = fopen(out, "re");
	if (!f || !fgets(line, sizeof(line), f) || sscanf(line, "lease %31s granted", lease) != 1)
		bench_fail("etcdctl lease grant", 0);
	(void)fclose(f);
	return true;
}

static void against_peers(const struct process *renew)
{
	char redis_cli[300], etcdctl[300], endpoint[64], lease[32];
	struct bench_variant v[3] = { { "klease renew", run, NULL } };
	struct process ours = *renew, redis, etcd;
	struct peer redis_server, etcd_server;
	int n = 1, at_redis = 0, at_etcd = 0;
	struct bench_figures f;

	v[0].arg = &ours;
	if (redis_client(&redis_server, redis_cli)) {
		redis = (struct process){ { redis_cli, "-p", redis_server.port_word, "PEXPIRE", "lease", "3600000", NULL },
					  renew->n };
		v[at_redis = n++] = (struct bench_variant){ "redis-cli", run, &redis };
	}
	if (etcd_client(&etcd_server, etcdctl, endpoint, lease)) {
		etcd = (struct process){ { etcdctl, endpoint, "lease", "keep-alive", "--once", lease, NULL }, renew->n };
		v[at_etcd = n++] = (struct bench_variant){ "etcdctl", run, &etcd };
	}
	if (n > 1)
		bench_rounds(v, n, bench_count(9, 1), &f);
	if (at_redis) {
		bench_raw("redis-cli: %.0f us, klease renew %.0f us", bench_median(&f, at_redis), bench_median(&f, 0));
		bench_aim("renew-redis-cli", bench_ratio(&f, 0, at_redis), "x redis-cli", 1 / 3.0);
		peer_stop(&redis_server);
	}
	if (at_etcd) {
		bench_raw("etcdctl: %.0f us, klease renew %.0f us", bench_median(&f, at_etcd), bench_median(&f, 0));
		bench_aim("renew-etcdctl", bench_ratio(&f, 0, at_etcd), "x etcdctl", 1 / 12.0);
		peer_stop(&etcd_server);
	}
}

int main(void)
{
	static const struct world_times times = { .ttl = 3600 * LEASE_NS_PER_S, .renew_grace = 3600 * LEASE_NS_PER_S };
	char klease[300], stub[300], lock[1024];
	struct world_lease l;
	struct bench_figures f;
	struct world w;
	int n;

	bench_begin("bench-renew");
	n = bench_count(40, 2);
	world_open(&w, "", false);
	world_fill(&w, &times, 1, &l);
	(void)world_start(&w);
	world_settle(&w);
	(void)snprintf(klease, sizeof(klease), "%s/klease/klease", bench_build);
	(void)snprintf(stub, sizeof(stub), "%s/tests/bench/stub", bench_build);
	(void)snprintf(lock, sizeof(lock), "%s/active/%s", w.paths.notices, l.name);
	struct process renew = { { klease, "--user", "renew", l.id, NULL }, n };
	struct process touch = { { "touch", "-c", lock, NULL }, n };
	struct process empty = { { stub, "nothing", NULL }, n };
	struct bench_variant v[] = { { "klease renew", run, &renew }, { "touch", run, &touch }, { "stub", run, &empty } };

	bench_rounds(v, 3, bench_count(15, 1), &f);
	bench_raw("a beat as a process: klease renew %.0f us, touch -c %.0f us, a program that does nothing %.0f us",
		  bench_median(&f, 0), bench_median(&f, 1), bench_median(&f, 2));
	bench_aim("renew-process", bench_ratio(&f, 0, 1), "x touch(1)", 1.5);
	if (!bench_smoke)
		against_peers(&renew);
	bench_aim("renew-loads", libraries(renew.argv), "libraries", 5);
	world_close(&w);
	return 0;
}
