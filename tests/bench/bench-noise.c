/*
 * bench-noise: what one user's noise costs the others. Some writers rename a file in queue/ as fast as they can, so
 * that inotify's queue overflows all the time, and everything is looked at anew again and again, among N leases that
 * live; SILENT leases come to their ends meanwhile.
 *
 *	noise-lateness-p99	deadline to commit, by the ledger, against the same without noise (or 5 ms, since the
 *			ledger tells whole ones): 5 times. The writers want every core there is, and each turn has a share
 *			of events, of the rescan and of what is due: about a millisecond each.
 *	noise-own	events lost when 10,000 leases end at once, without noise: 0, since each turn reads what it caused.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lease/tree.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#define SILENT 200
#define WRITERS 4
#define N_MAX 100000
#define TTL (bench_count(4000, 1500) * LEASE_NS_PER_MS)
#define WINDOW (bench_count(2000, 200) * LEASE_NS_PER_MS)

static struct world_lease live[N_MAX], silent[SILENT];

static pid_t make_noise(const struct world *w, int i)
{
	char dir[600], from[16], to[16];
	pid_t pid = fork();
	int fd;

	if (pid < 0)
		bench_fail("fork", errno);
	if (pid > 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)snprintf(dir, sizeof(dir), "%s/queue", w->paths.notices);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(from, sizeof(from), ".noise%d", i);
	(void)snprintf(to, sizeof(to), ".esion%d", i);
	if (lease_create(fd, from, "", 0) < 0)
		_exit(1);
	for (;;) {
		(void)renameat(fd, from, fd, to);
		(void)renameat(fd, to, fd, from);
	}
}

struct result {
	double late[SILENT];
	int n, lost; /* lines that say so */
	double cpu;  /* of the watcher, share of a core */
};

static void read_ledger(struct result *r)
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

		if (late && late[strlen("\"lateness_ms\":")] != 'n' && r->n < SILENT)
			r->late[r->n++] = strtod(late + strlen("\"lateness_ms\":"), NULL);
	}
	(void)fclose(f);
}

static int lost_in(const struct world *w)
{
	char line[1024];
	int n = 0;

	clearerr(w->log); /* it was empty the last time */
	while (fgets(line, sizeof(line), w->log))
		n += strstr(line, "events were lost") != NULL;
	return n;
}

static void round_of(bool noise, int n, int n_silent, struct result *r)
{
	const struct world_times lasting = { .ttl = 3600 * LEASE_NS_PER_S, .renew_grace = 3600 * LEASE_NS_PER_S };
	const struct world_times brief = { .ttl = TTL, .renew_grace = 3600 * LEASE_NS_PER_S };
	int64_t from, cpu;
	struct world w;
	pid_t pids[WRITERS] = { 0 };

	world_open(&w, "[defaults]\nrenew_grace = 1h\n", false);
	world_fill(&w, &lasting, n, live);
	world_fill(&w, &brief, n_silent, silent);
	(void)world_start(&w);
	from = bench_now();
	for (int i = 0; i < n_silent; i++) {
		bench_until(from + WINDOW / n_silent * i);
		if (lease_touch(w.active, silent[i].name, NULL) < 0)
			bench_fail("a lease ended before its time", 0);
	}
	for (int i = 0; i < WRITERS && noise; i++)
		pids[i] = make_noise(&w, i);
	from = bench_now();
	cpu = bench_cpu_of(w.watcher);
	while (bench_now() < from + TTL + 500 * LEASE_NS_PER_MS) {
		bench_until(bench_now() + 50 * LEASE_NS_PER_MS);
		r->lost += lost_in(&w);
	}
	r->cpu = (double)(bench_cpu_of(w.watcher) - cpu) / (double)(bench_now() - from);
	for (int i = 0; i < WRITERS && noise; i++)
		(void)kill(pids[i], SIGKILL);
	r->lost += lost_in(&w);
	read_ledger(r);
	if (r->n != n_silent)
		bench_fail("not every lease that was due has ended", r->n);
	world_close(&w);
}

/* All of them due in the same moment. */
static void at_once(int n)
{
	const struct world_times t = { .ttl = 1000 * LEASE_NS_PER_MS, .renew_grace = 3600 * LEASE_NS_PER_S };
	int64_t from;
	struct world w;
	int lost = 0;

	world_open(&w, "[defaults]\nrenew_grace = 1h\n", false);
	world_fill(&w, &t, n, live);
	from = bench_now();
	(void)world_start(&w);
	for (int i = 0; i < n; i++)
		while (faccessat(w.active, live[i].name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
			bench_until(bench_now() + 5 * LEASE_NS_PER_MS);
			lost += lost_in(&w); /* or it would wait for somebody to read its log */
		}
	bench_raw("%d leases that are over at once: all out of active/ %.0f ms after the start", n,
		  (double)(bench_now() - from) / 1e6);
	bench_until(bench_now() + LEASE_NS_PER_S);
	lost += lost_in(&w);
	world_close(&w);
	bench_aim("noise-own", lost, "overflows of our own making", 0);
}

static void tell(const char *what, struct result *r)
{
	bench_raw("%s: p50 %.0f, p99 %.0f ms late, watcher %.1f %% of a core, lost events logged %d times", what,
		  bench_percentile(r->late, r->n, 0.5), bench_percentile(r->late, r->n, 0.99), r->cpu * 100, r->lost);
}

int main(void)
{
	static struct result quiet, loud;
	int n, n_silent;

	bench_begin("bench-noise");
	n = bench_count(bench_big ? N_MAX : N_MAX / 10, 50);
	n_silent = bench_count(SILENT, 5);
	round_of(false, n, n_silent, &quiet);
	round_of(true, n, n_silent, &loud);
	bench_raw("%d leases live, %d end", n, n_silent);
	tell("quiet", &quiet);
	tell("in noise", &loud);
	if (loud.lost == 0 && !bench_smoke)
		bench_raw("the noise was not loud enough here to lose events");
	double floor = bench_percentile(quiet.late, quiet.n, 0.99);
	bench_aim("noise-lateness-p99", bench_percentile(loud.late, loud.n, 0.99) / (floor > 5 ? floor : 5),
		  "x its quiet self", 5);
	at_once(bench_count(10000, 20));
	return 0;
}
