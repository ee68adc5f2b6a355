/*
 * tests/bench/bench.h: what the benches share: fair rounds, figures that hold on a noisy machine, and the line an aim gets.
 *
 * Calling sequence: bench_begin(); then, as often as needed, bench_rounds() and bench_ratio(), or figures of one's own; a
 * bench_raw() line for each raw figure and floor, a bench_aim() for each aim.
 *
 * Absolute figures wander with the machine, so every aim of cost is a ratio to a floor that was measured in the same round:
 * in each round all variants run once, in random order, and the ratio is the median over the rounds. Where CPU is meant, a
 * CPU clock counts it. Figures without noise (system calls, context switches) are taken beside them where they exist.
 * Whatever goes wrong here ends the program with a line and status 1: a bench that could not measure has no figure.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lease/duration.h"

#define BENCH_ROUNDS_MAX 64
#define BENCH_VARIANTS_MAX 8

extern bool bench_smoke;      /* BENCH_SMOKE=1: tiny counts; the figures mean nothing, the way to them is tried */
extern bool bench_big;	      /* BENCH_BIG=1: the sizes that take longer */
extern char bench_dir[256];   /* a folder of our own on tmpfs where there is one; removed at the end */
extern char bench_disk[256];  /* one on a disk, or "" */
extern char bench_build[256]; /* the build tree: klease/klease, tests/bench/… */

extern bool bench_keeps_root; /* set before bench_begin by what only root can measure */

/* Root becomes nobody here, if nobody can reach the build tree: user mode is for users. Exits where it cannot go on. */
void bench_begin(const char *name);
void bench_fail(const char *what, int error) __attribute__((noreturn));
const char *bench_fs_name(const char *path);
/* full for a run that counts, little for a smoke test. */
int bench_count(int full, int little);

int64_t bench_now(void);      /* CLOCK_MONOTONIC */
int64_t bench_wall(void);     /* CLOCK_REALTIME, as files are stamped */
int64_t bench_cpu(void);      /* of this process, user and system */
int64_t bench_cpu_of(pid_t pid);
void bench_until(int64_t mono);
uint32_t bench_random(uint32_t below);

/* Runs one variant's share of a round and gives what one operation cost. */
struct bench_variant {
	const char *name;
	double (*run)(void *arg);
	void *arg;
};
struct bench_figures {
	int rounds, n;
	double cost[BENCH_ROUNDS_MAX][BENCH_VARIANTS_MAX];
};
void bench_rounds(const struct bench_variant *v, int n, int rounds, struct bench_figures *ret);
double bench_median(const struct bench_figures *f, int variant);
/* The median of same-round ratios. */
double bench_ratio(const struct bench_figures *f, int variant, int to);

double bench_percentile(double *values, int n, double share); /* sorts values */

void bench_raw(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* value <= limit is met. */
void bench_aim(const char *name, double value, const char *unit, double limit);

/* How many system calls fn makes, counted in a child by ptrace; -1 where that is not allowed. */
int bench_calls(void (*fn)(void *arg), void *arg);
/* The same of a process that runs, for so long; nr[i] is how often call i was begun. 0 or -errno. */
#define BENCH_CALLS_MAX 512
int bench_trace(pid_t pid, int64_t length, unsigned nr[BENCH_CALLS_MAX]);
int64_t bench_of_proc(pid_t pid, const char *file, const char *key); /* the number behind a key in a file of /proc/PID/ */
int64_t bench_written(pid_t pid); /* bytes that it has had written to disks */
/* Voluntary context switches so far: each was a sleep, so the difference counts wake-ups. */
long bench_switches(pid_t pid);

#define BENCH_ARGV_MAX 32
/* Starts a program with our environment; out and err are descriptors for its stdout and stderr, or -1 for ours. */
pid_t bench_spawn(const char *const argv[], int out, int err);
pid_t bench_serve(const char *const argv[], int in, int out, int err); /* in a session of its own, as what serves is */
/* Starts a program with our environment, stdout thrown away (or into out), and waits: its CPU, and its status. */
int64_t bench_run(const char *const argv[], const char *out, int *ret_status);

#endif
