/*
 * etcd: a lease with a key a lease. Beats go as its own client library sends them, on one LeaseKeepAlive stream; each at its own
 * time, and its answer is read later. Whoever wants to know of ends watches the keys.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/http2.h"
#include "tests/bench/peer.h"

#define GRANT "/etcdserverpb.Lease/LeaseGrant"
#define KEEP "/etcdserverpb.Lease/LeaseKeepAlive"
#define TXN "/etcdserverpb.KV/Txn"
#define WATCH "/etcdserverpb.Watch/Watch"
#define TTL 300
#define MASS_TTL 15
#define CALLS 256 /* under way at a time */
#define PUTS 40	  /* keys in a transaction */
#define DUE_ID 100000000
#define MASS_ID 200000000

struct etcd {
	struct peer p;
	struct h2 calls, watch;
	uint32_t keep;
	long begun, ended, answered; /* calls */
	long beats, renewed, refused;
	long created, told; /* watches; keys that are gone */
	int64_t *told_at;   /* of DUE, by number */
};

static void got_keep(struct etcd *e, const unsigned char *p, size_t len)
{
	const unsigned char *end = p + len, *bytes;
	int64_t value, ttl = 0;
	size_t n;
	int field;

	while ((field = pb_next(&p, end, &value, &bytes, &n)) != 0)
		ttl = field == 3 ? value : ttl;
	e->renewed++;
	e->refused += ttl <= 0;
}

static void got_answer(void *arg, uint32_t stream, const unsigned char *p, size_t len)
{
	struct etcd *e = arg;

	if (stream == e->keep)
		got_keep(e, p, len);
	else
		e->answered++;
}

static void call_ended(void *arg, uint32_t stream)
{
	struct etcd *e = arg;

	e->ended += stream != e->keep;
}

/* An event: type 1 is a deletion; its key is due/N or mass/N. */
static void got_event(struct etcd *e, const unsigned char *p, size_t len)
{
	const unsigned char *end = p + len, *kv = NULL, *key = NULL;
	size_t n, kv_len = 0, key_len = 0;
	int64_t value, type = 0;
	char name[32] = "";
	int field, i;

	while ((field = pb_next(&p, end, &value, &kv, &n)) != 0) {
		type = field == 1 ? value : type;
		if (field == 2) {
			key = kv;
			kv_len = n;
		}
	}
	if (type != 1 || !key)
		return;
	p = key;
	end = p + kv_len;
	while ((field = pb_next(&p, end, &value, &kv, &n)) != 0)
		if (field == 1 && (key_len = n) < sizeof(name))
			memcpy(name, kv, key_len);
	e->told++;
	if (sscanf(name, "due/%d", &i) == 1 && i >= 0 && i < PEER_DUE)
		e->told_at[i] = bench_now();
}

static void got_watched(void *arg, uint32_t stream, const unsigned char *p, size_t len)
{
	const unsigned char *end = p + len, *bytes;
	struct etcd *e = arg;
	int64_t value;
	size_t n;
	int field;

	(void)stream;
	while ((field = pb_next(&p, end, &value, &bytes, &n)) != 0) {
		e->created += field == 3 && value;
		if (field == 11)
			got_event(e, bytes, n);
	}
}

static void calls_below(struct etcd *e, long n)
{
	while (e->begun - e->ended > n)
		h2_read(&e->calls, 5 * LEASE_NS_PER_S);
	if (n == 0 && e->answered != e->begun)
		bench_fail("etcd refused a call", 0);
}

static void call(struct etcd *e, const char *path, const unsigned char *msg, const unsigned char *end)
{
	calls_below(e, CALLS);
	h2_call(&e->calls, path, msg, (size_t)(end - msg));
	e->begun++;
}

/* Leases id, id + 1, … with a key each. */
static void fill(struct etcd *e, const char *kind, int64_t id, int n, int ttl)
{
	unsigned char msg[H2_MESSAGE_MAX], put[PEER_BODY + 100], op[PEER_BODY + 120], *p, *q;
	char key[32], body[PEER_BODY];

	memset(body, 'x', sizeof(body));
	for (int i = 0; i < n; i++)
		call(e, GRANT, msg, pb_int(pb_int(msg, 1, ttl), 2, id + i));
	calls_below(e, 0);
	for (int i = 0; i < n;) {
		p = msg;
		for (int j = 0; j < PUTS && i < n; j++, i++) {
			int len = snprintf(key, sizeof(key), "%s/%d", kind, i);

			q = pb_int(pb_bytes(pb_bytes(put, 1, key, (size_t)len), 2, body, sizeof(body)), 3, id + i);
			q = pb_bytes(op, 2, put, (size_t)(q - put));
			p = pb_bytes(p, 2, op, (size_t)(q - op));
		}
		call(e, TXN, msg, p);
	}
	calls_below(e, 0);
}

static void beat(struct etcd *e, int64_t id)
{
	unsigned char msg[16];

	h2_send(&e->calls, e->keep, msg, (size_t)(pb_int(msg, 1, id) - msg));
	e->beats++;
}

static void beats_answered(struct etcd *e)
{
	while (e->renewed < e->beats)
		h2_read(&e->calls, 5 * LEASE_NS_PER_S);
	if (e->refused > 0)
		bench_fail("etcd has lost a lease", 0);
}

static double fleet(struct etcd *e, int n, int64_t span)
{
	int64_t gap = 30 * LEASE_NS_PER_S / n, from = bench_now(), cpu = peer_cpu(&e->p);

	for (int i = 0; i * gap < span; i++) {
		bench_until(from + i * gap);
		beat(e, 1 + i % n);
		if (i % 32 == 0)
			h2_read(&e->calls, 0);
	}
	bench_until(from + span);
	cpu = peer_cpu(&e->p) - cpu;
	beats_answered(e);
	return (double)cpu / (double)(bench_now() - from);
}

static void watch(struct etcd *e, const char *from, const char *to)
{
	unsigned char create[64], msg[80], *p;

	p = pb_bytes(pb_bytes(create, 1, from, strlen(from)), 2, to, strlen(to));
	p = pb_bytes(msg, 1, create, (size_t)(p - create));
	if (e->watch.long_lived == 0)
		(void)h2_begin(&e->watch, WATCH);
	h2_send(&e->watch, e->watch.long_lived, msg, (size_t)(p - msg));
	for (long before = e->created; e->created == before;)
		h2_read(&e->watch, 5 * LEASE_NS_PER_S);
}

static void lateness(struct etcd *e, struct peer_cost *ret)
{
	int64_t due[PEER_DUE], from, until;

	watch(e, "due/", "due0");
	fill(e, "due", DUE_ID, PEER_DUE, PEER_DUE_TTL);
	from = bench_now();
	for (int i = 0; i < PEER_DUE; i++) {
		bench_until(from + i * (2 * LEASE_NS_PER_S / PEER_DUE) + bench_random(5000000));
		due[i] = bench_now() + PEER_DUE_TTL * LEASE_NS_PER_S;
		beat(e, DUE_ID + i);
	}
	beats_answered(e);
	until = due[PEER_DUE - 1] + PEER_WAIT;
	while (e->told < PEER_DUE && bench_now() < until)
		h2_read(&e->watch, 100 * LEASE_NS_PER_MS);
	for (int i = 0; i < PEER_DUE; i++)
		if (e->told_at[i] != 0)
			ret->late[ret->told++] = (double)(e->told_at[i] - due[i]) / 1e6;
}

static void mass(struct etcd *e, struct peer_cost *ret)
{
	int64_t deadline, until;

	e->told = 0;
	watch(e, "mass/", "mass0");
	fill(e, "mass", MASS_ID, PEER_MASS, MASS_TTL);
	for (int i = 0; i < PEER_MASS; i++) {
		beat(e, MASS_ID + i);
		if (i % 64 == 0)
			h2_read(&e->calls, 0);
	}
	beats_answered(e);
	deadline = bench_now() + MASS_TTL * LEASE_NS_PER_S;
	until = deadline + 60 * LEASE_NS_PER_S;
	while (e->told < PEER_MASS && bench_now() < until)
		h2_read(&e->watch, 100 * LEASE_NS_PER_MS);
	ret->mass = e->told < PEER_MASS ? -1 : (double)(bench_now() - deadline) / 1e9;
}

bool etcd_start(struct peer *p)
{
	char path[300], client[64], peer[64], cluster[80];
	struct peer other;

	if (!peer_find("etcd", path)) {
		bench_raw("etcd: skipped, etcd is not installed");
		return false;
	}
	peer_prepare(p, "etcd");
	peer_prepare(&other, "etcd");
	(void)snprintf(client, sizeof(client), "http://127.0.0.1:%s", p->port_word);
	(void)snprintf(peer, sizeof(peer), "http://127.0.0.1:%s", other.port_word);
	(void)snprintf(cluster, sizeof(cluster), "default=%s", peer);
	const char *argv[] = { path, "--data-dir", p->dir, "--listen-client-urls", client, "--advertise-client-urls", client,
			       "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", cluster,
			       NULL };
	bench_raw("etcd: one member, data on %s, all beats on one LeaseKeepAlive stream", bench_fs_name(p->dir));
	peer_start(p, argv);
	return true;
}

bool etcd_measure(int n, int64_t span, struct peer_cost *ret)
{
	struct etcd *e = calloc(1, sizeof(*e));

	*ret = (struct peer_cost){ .mass = -1 };
	if (!e || !(e->told_at = calloc(PEER_DUE, sizeof(*e->told_at))))
		bench_fail("calloc", ENOMEM);
	bool there = etcd_start(&e->p);
	if (!there)
		goto out;
	e->calls.got = got_answer;
	e->calls.closed = call_ended;
	e->watch.got = got_watched;
	e->calls.arg = e->watch.arg = e;
	h2_open(&e->calls, peer_connect(&e->p));
	h2_open(&e->watch, peer_connect(&e->p));
	fill(e, "live", 1, n, TTL);
	e->keep = h2_begin(&e->calls, KEEP);
	ret->cpu = fleet(e, n, span);
	lateness(e, ret);
	mass(e, ret);
	close(e->calls.fd);
	close(e->watch.fd);
	peer_stop(&e->p);
out:
	free(e->told_at);
	free(e);
	return there;
}
