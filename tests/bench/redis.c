/*
 * Redis: a key with an expiry a lease. A beat is PEXPIRE, the cheapest that renews one; each is sent at its own time and its
 * answer read later. Whoever wants to know of ends subscribes to the events of expired keys.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/peer.h"

struct redis {
	struct peer p;
	int fd;
	long sent, answered, refused;
};

/* An answer of ours is one line, ":1" or "+OK"; ":0" is a lease that has gone. */
static void drain(struct redis *r, int64_t wait)
{
	static char buf[65536];
	size_t n;

	while ((n = peer_receive(r->fd, buf, sizeof(buf), wait)) > 0) {
		for (size_t i = 0; i < n; i++) {
			r->answered += buf[i] == '\n';
			r->refused += buf[i] == '-' || buf[i] == '0';
		}
		if (r->answered == r->sent || wait == 0)
			return;
	}
}

static void all_answered(struct redis *r)
{
	while (r->answered < r->sent) {
		long before = r->answered;

		drain(r, 5 * LEASE_NS_PER_S);
		if (r->answered == before)
			bench_fail("redis does not answer", 0);
	}
	if (r->refused > 0)
		bench_fail("redis has lost a lease, or refused a command", 0);
}

static void command(struct redis *r, const char *text, int len)
{
	peer_send(r->fd, text, (size_t)len);
	r->sent++;
}

static void set(struct redis *r, const char *kind, int i, int64_t ttl_ms)
{
	char line[PEER_BODY + 128];

	command(r, line, snprintf(line, sizeof(line), "SET lock-%s-%d %0*d PX %lld\r\n", kind, i, PEER_BODY, i,
				  (long long)ttl_ms));
	if (r->sent % 64 == 0)
		drain(r, 0);
}

static double fleet(struct redis *r, int n, int64_t span)
{
	int64_t gap = 30 * LEASE_NS_PER_S / n, from = bench_now(), cpu = peer_cpu(&r->p);
	char line[128];

	for (int i = 0; i * gap < span; i++) {
		bench_until(from + i * gap);
		command(r, line, snprintf(line, sizeof(line), "PEXPIRE lock-live-%d 300000\r\n", i % n));
		if (i % 32 == 0)
			drain(r, 0);
	}
	bench_until(from + span);
	cpu = peer_cpu(&r->p) - cpu;
	all_answered(r);
	return (double)cpu / (double)(bench_now() - from);
}

/* Of PEER_DUE keys among all others: when they are told. */
static void lateness(struct redis *r, struct peer_cost *ret)
{
	static const char subscribe[] = "SUBSCRIBE __keyevent@0__:expired\r\n";
	int64_t due[PEER_DUE], from, until;
	char buf[65536];
	int fd = peer_connect(&r->p);

	peer_send(fd, subscribe, strlen(subscribe));
	(void)peer_receive(fd, buf, sizeof(buf), LEASE_NS_PER_S);
	from = bench_now();
	for (int i = 0; i < PEER_DUE; i++) {
		bench_until(from + i * (2 * LEASE_NS_PER_S / PEER_DUE) + bench_random(5000000));
		due[i] = bench_now() + PEER_DUE_TTL * LEASE_NS_PER_S;
		set(r, "due", i, PEER_DUE_TTL * 1000);
	}
	until = due[PEER_DUE - 1] + PEER_WAIT;
	while (ret->told < PEER_DUE && bench_now() < until) {
		size_t n = peer_receive(fd, buf, sizeof(buf) - 1, 100 * LEASE_NS_PER_MS);
		int64_t now = bench_now();
		int i;

		buf[n] = '\0';
		/* A message that falls into two packets is missed: it is short, and its like are few. */
		for (char *at = buf; (at = strstr(at, "lock-due-")) != NULL; at++)
			if (sscanf(at, "lock-due-%d", &i) == 1 && i >= 0 && i < PEER_DUE)
				ret->late[ret->told++] = (double)(now - due[i]) / 1e6;
	}
	close(fd);
	all_answered(r);
}

bool redis_start(struct peer *p, const char *hz)
{
	char path[300];

	if (!peer_find("redis-server", path)) {
		bench_raw("redis: skipped, redis-server is not installed");
		return false;
	}
	peer_prepare(p, "redis");
	const char *argv[] = { path, "--port", p->port_word, "--bind", "127.0.0.1", "--dir", p->dir, "--hz", hz, "--save", "",
			       "--appendonly", "no", "--notify-keyspace-events", "Ex", NULL };
	bench_raw("redis: redis-server --hz %s --save '' --appendonly no --notify-keyspace-events Ex", hz);
	peer_start(p, argv);
	return true;
}

bool redis_measure(int n, int64_t span, const char *hz, struct peer_cost *ret)
{
	struct redis r = { .sent = 0 };

	*ret = (struct peer_cost){ .mass = -1 };
	if (!redis_start(&r.p, hz))
		return false;
	r.fd = peer_connect(&r.p);
	for (int i = 0; i < n; i++)
		set(&r, "live", i, 300000);
	all_answered(&r);
	ret->cpu = fleet(&r, n, span);
	lateness(&r, ret);
	close(r.fd);
	peer_stop(&r.p);
	return true;
}
