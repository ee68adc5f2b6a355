/*
 * bench-expiry: how late an end is: from a lease's deadline (last beat + ttl + one tick of the file clock, at random
 * times) to main() of the runtime's `destroy`, which stamps it, against a bare loop of timerfd and posix_spawn with
 * the same stub, as many deadlines in as long a time, in the same round. Registry and tree on tmpfs; what a disk adds
 * (a commit before the act, and behind it in the queue) is told beside it.
 *
 *	expiry-p50, -p90, -p99	1.6, 2 and 5 times the bare loop's: between the timer and the spawn lie a last look,
 *			the rename that commits, a transaction, and a hand-over to the actor, a sleeping process. All but
 *			the wake-up are small next to a spawn.
 *	lateness-p99	the ledger's own word for it (deadline to commit, without the spawn): 5 ms, one tick of HZ 250
 *			and one for the rounding.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lease.h"
#include "lease/tree.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#define N 200
#define ROUNDS 3
/* The deadlines of a round; all beats are made before the first of them. */
#define WINDOW (bench_count(2000, 200) * LEASE_NS_PER_MS)
#define TTL (bench_count(6000, 1500) * LEASE_NS_PER_MS)

struct one {
	char id[LEASE_ID_SIZE];
	int64_t deadline; /* mono */
	bool stamped;
};
struct samples {
	double late[N * ROUNDS]; /* us */
	int n;
};

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void random_times(int64_t *at, int n)
{
	for (int i = 0; i < n; i++)
		at[i] = (int64_t)(bench_random(1000000000) / 1e9 * (double)WINDOW);
	qsort(at, (size_t)n, sizeof(*at), by_time);
}

static void read_stamps(const char *path, struct one *ones, int n, struct samples *s)
{
	char line[128];
	FILE *f = fopen(path, "re");

	if (!f)
		bench_fail(path, errno);
	while (fgets(line, sizeof(line), f)) {
		char *blank = strchr(line, ' ');

		if (!blank)
			bench_fail("a stamp that is none", 0);
		*blank = '\0';
		for (int i = 0; i < n; i++) {
			if (strcmp(ones[i].id, line) != 0 || ones[i].stamped)
				continue;
			ones[i].stamped = true;
			s->late[s->n++] = (double)(strtoll(blank + 1, NULL, 10) - ones[i].deadline) / 1000;
		}
	}
	(void)fclose(f);
	(void)unlink(path);
}

static void bare_loop(struct world *w, int n, struct samples *s)
{
	char stub[300], stamps[400];
	const char *argv[] = { stub, "destroy", NULL };
	int64_t at[N], start = bench_now() + 50 * LEASE_NS_PER_MS;
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct one ones[N] = { 0 };

	if (fd < 0)
		bench_fail("timerfd_create", errno);
	(void)snprintf(stub, sizeof(stub), "%s/tests/bench/stub", bench_build);
	(void)snprintf(stamps, sizeof(stamps), "%s/home/stamps", w->dir);
	random_times(at, n);
	for (int i = 0; i < n; i++) {
		struct itimerspec t = { 0 };
		uint64_t ticks;

		lease_id_make(ones[i].id);
		ones[i].deadline = start + at[i];
		(void)setenv("LEASE_ID", ones[i].id, 1);
		t.it_value.tv_sec = (time_t)(ones[i].deadline / LEASE_NS_PER_S);
		t.it_value.tv_nsec = (long)(ones[i].deadline % LEASE_NS_PER_S);
		if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL) < 0 || read(fd, &ticks, sizeof(ticks)) < 0)
			bench_fail("timerfd", errno);
		(void)bench_spawn(argv, -1, -1);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(fd);
	(void)unsetenv("LEASE_ID");
	read_stamps(stamps, ones, n, s);
}

/* The ledger says it too, in whole ms. */
static void read_ledger(struct samples *s)
{
	char klease[300], out[300], line[4096];
	const char *argv[] = { klease, "--user", "ledger", "--json", NULL };
	int status;
	FILE *f;

	(void)snprintf(klease, sizeof(klease), "%s/klease/klease", bench_build);
	(void)snprintf(out, sizeof(out), "%s/ledger", bench_dir);
	(void)bench_run(argv, out, &status);
	f = fopen(out, "re");
	if (status != 0 || !f)
		bench_fail("klease ledger", 0);
	while (fgets(line, sizeof(line), f)) {
		const char *late = strstr(line, "\"lateness_ms\":");

		if (late && s->n < N * ROUNDS)
			s->late[s->n++] = strtod(late + strlen("\"lateness_ms\":"), NULL);
	}
	(void)fclose(f);
}

static void daemon_round(bool on_disk, int n, struct samples *s, struct samples *ledger)
{
	const struct world_times t = { .ttl = TTL, .renew_grace = 3600 * LEASE_NS_PER_S };
	static struct world_lease leases[N];
	struct one ones[N] = { 0 };
	int64_t at[N], start, to_mono;
	char stamps[400];
	struct world w;

	world_open(&w, "[defaults]\nrenew_grace = 1h\n[breaker]\nshare = 1\n" /* all are silent on purpose */, on_disk);
	world_fill(&w, &t, n, leases);
	(void)world_start(&w);
	world_settle(&w);
	random_times(at, n);
	start = bench_now();
	for (int i = 0; i < n; i++) {
		struct lease_stat st;
		int r;

		bench_until(start + at[i]);
		r = lease_touch(w.active, leases[i].name, &st);
		if (r < 0)
			bench_fail("a lease ended before its time", r);
		to_mono = bench_now() - bench_wall();
		memcpy(ones[i].id, leases[i].id, sizeof(ones[i].id));
		ones[i].deadline = st.mtime + to_mono + TTL + LEASE_TICK;
	}
	bench_until(ones[n - 1].deadline + 500 * LEASE_NS_PER_MS);
	(void)snprintf(stamps, sizeof(stamps), "%s/home/stamps", w.dir);
	read_stamps(stamps, ones, n, s);
	read_ledger(ledger);
	world_close(&w);
}

static void tell(const char *what, struct samples *s)
{
	if (s->n == 0)
		bench_fail(what, 0);
	bench_raw("%s: p50 %.0f, p90 %.0f, p99 %.0f us (%d)", what, bench_percentile(s->late, s->n, 0.5),
		  bench_percentile(s->late, s->n, 0.9), bench_percentile(s->late, s->n, 0.99), s->n);
}

int main(void)
{
	static struct samples ours, bare, disk, ledger, disk_ledger;
	bool on_disk;
	int n;

	bench_begin("bench-expiry");
	on_disk = bench_disk[0] && !bench_smoke;
	n = bench_count(N, 5);
	for (int i = 0; i < bench_count(ROUNDS, 1); i++) {
		daemon_round(false, n, &ours, &ledger);
		struct world w;
		world_open(&w, "", false);
		bare_loop(&w, n, &bare);
	}
	if (on_disk)
		daemon_round(true, n, &disk, &disk_ledger);
	if (ours.n != n * bench_count(ROUNDS, 1) || bare.n != ours.n)
		bench_fail("not every lease that was due was destroyed in time to be counted", 0);
	tell("timerfd and posix_spawn to main()", &bare);
	tell("deadline to destroy's main()", &ours);
	if (on_disk)
		tell("the same with the registry on a disk", &disk);
	bench_raw("by the ledger, deadline to commit: p50 %.0f, p99 %.0f ms", bench_percentile(ledger.late, ledger.n, 0.5),
		  bench_percentile(ledger.late, ledger.n, 0.99));
	static const struct {
		const char *name;
		double share, limit;
	} aims[] = { { "expiry-p50", 0.5, 1.6 }, { "expiry-p90", 0.9, 2 }, { "expiry-p99", 0.99, 5 } };
	for (size_t i = 0; i < sizeof(aims) / sizeof(aims[0]); i++)
		bench_aim(aims[i].name, bench_percentile(ours.late, ours.n, aims[i].share) /
			  bench_percentile(bare.late, bare.n, aims[i].share), "x a bare loop", aims[i].limit);
	bench_aim("lateness-p99", bench_percentile(ledger.late, ledger.n, 0.99), "ms", 5);
	return 0;
}
