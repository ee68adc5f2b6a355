/*
 * tests/bench/peer.h: other servers that keep leases, started on loopback in a folder of ours for as long as a bench lasts, and
 * one client for each. What is measured is the server's CPU; the client's is not counted.
 *
 * Settings are the kindest that each has for this: no disk (its files are on tmpfs), no sync, no password, no encryption; one
 * connection that never waits for an answer before it sends on. They are printed with the figures.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct peer {
	char dir[300], port_word[8];
	int port;
	pid_t pid;
};

/* What a lease's record takes in the peer. */
#define PEER_BODY 300

/* The program's path, from PATH or the usual places of servers; false: it is not installed. */
bool peer_find(const char *program, char path[300]);
/* A folder and a free port; nothing is started. */
void peer_prepare(struct peer *p, const char *name);
void peer_start(struct peer *p, const char *const argv[]);
int peer_connect(const struct peer *p); /* waits until it answers */
int64_t peer_cpu(const struct peer *p); /* of it and of all that it has started */
void peer_stop(struct peer *p);

/* The servers alone, with the same settings. False: not installed, which is said. */
bool redis_start(struct peer *p, const char *hz);
bool etcd_start(struct peer *p);

void peer_send(int fd, const void *buf, size_t len);

/* Reads what is there, or waits so long for something; 0 = nothing came. */
size_t peer_receive(int fd, char *buf, size_t size, int64_t wait);

/* The times of the ends of a few, among many that live. */
#define PEER_DUE 200
#define PEER_DUE_TTL 4 /* s */
#define PEER_WAIT (10 * LEASE_NS_PER_S) /* whoever is not told by then is told as late */
#define PEER_MASS 10000

struct peer_cost {
	double cpu;	  /* share of a core */
	double late[PEER_DUE]; /* ms, from the end of a ttl until a client that asked for it is told */
	int told;	  /* of PEER_DUE, within PEER_WAIT */
	double mass;	  /* s, from the deadline of PEER_MASS until the last of them is told */
};

/* n leases, ttl 300 s, a beat each 30 s, for so long; then what ends. False: it is not installed, which is said. */
bool redis_measure(int n, int64_t span, const char *hz, struct peer_cost *ret);
bool etcd_measure(int n, int64_t span, struct peer_cost *ret);
bool postgres_measure(int n, int64_t span, struct peer_cost *ret);

#endif
