/*
 * bench-expiry: how late an end is, with 100,000 others alive: from a lease's deadline (last beat + ttl + one tick of the file
 * clock, at random times) to main() of the runtime's `destroy`, which stamps it, against a bare loop of timerfd and posix_spawn
 * with the same stub, as many deadlines in as long a time, in the same round. Registry and tree on tmpfs; what a disk adds
 * (a commit before the act, and behind it in the queue) is told beside it.
 *
 *	expiry-p50, -p90, -p99	1.6, 2 and 5 times the bare loop's: between the timer and the spawn lie a last look,
 *			the rename that commits, a transaction, and a hand-over to the actor, a sleeping process. All but
 *			the wake-up are small next to a spawn.
 *	lateness-p99	the ledger's own word for it (deadline to commit, without the spawn): 5 ms, one tick of HZ 250
 *			and one for the rounding.
 *	storm-p99	the same deadlines, while all 100,000 others are beaten in one instant, again and again, and while the
 *			looks of all of them come due in one instant: 3 times its quiet self.
 *	storm-false-expiries	ends of leases that were beaten, or ends before their time, in all of it: 0.
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
#include "tests/bench/due.h"

#define N_MAX 200
#define ROUNDS 3
#define MS(full, little) (bench_count(full, little) * LEASE_NS_PER_MS)
#define WINDOW MS(3000, 300)
/*
 * Of those who live on. They are beaten all at once at the beginning, and then at three quarters of each ttl: looks come due all
 * at once a quarter later, and there is none before.
 */
#define TTL MS(40000, 4000)
#define BEATS_AT(round) (TTL / 4 * 3 * (1 + (round)))
#define LOOKS_AT(round) (BEATS_AT(round) + TTL / 4)
#define BEATS_FROM MS(500, 100)
#define LOOKS_FROM MS(2500, 250) /* some are looked at ahead of their time */
#define LOOKS_WINDOW MS(4000, 400)
/*
 * Those who live on are beaten rarely, for their ttl, so that their looks come due; with the default window half of a ttl would
 * take them all for silent, in one instant. Holders who beat twice a ttl are not.
 */
#define CONF "[defaults]\nrenew_grace = 1h\n[breaker]\nshare = 1\nwindow = 1s\n"

struct samples {
	double late[N_MAX * ROUNDS]; /* us */
	int n;
};

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void read_bare_stamps(const char *path, const int64_t *deadlines, int n, struct samples *s)
{
	char line[128];
	FILE *f = fopen(path, "re");
	int i, read = 0;
	int64_t at;

	if (!f)
		bench_fail(path, errno);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%d %" SCNd64, &i, &at) != 2 || i < 0 || i >= n)
			bench_fail("a stamp that is none", 0);
		s->late[s->n++] = (double)(at - deadlines[i]) / 1000;
		read++;
	}
	(void)fclose(f);
	(void)unlink(path);
	if (read != n)
		bench_fail("the bare loop lost a program", 0);
}

static void start_at(const char *stamps, const int64_t *at, int n)
{
	char stub[300], tag[16];
	const char *argv[] = { stub, "stamp", stamps, tag, NULL };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0)
		bench_fail("timerfd_create", errno);
	(void)snprintf(stub, sizeof(stub), "%s/tests/bench/stub", bench_build);
	for (int i = 0; i < n; i++) {
		struct itimerspec t = { 0 };
		uint64_t ticks;

		(void)snprintf(tag, sizeof(tag), "%d", i);
		t.it_value.tv_sec = (time_t)(at[i] / LEASE_NS_PER_S);
		t.it_value.tv_nsec = (long)(at[i] % LEASE_NS_PER_S);
		if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL) < 0 || read(fd, &ticks, sizeof(ticks)) < 0)
			bench_fail("timerfd", errno);
		(void)bench_spawn(argv, -1, -1);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void bare_loop(const struct world *w, int n, struct samples *s)
{
	int64_t at[N_MAX], start = bench_now() + 50 * LEASE_NS_PER_MS;
	char stamps[400];
	pid_t pid;

	(void)snprintf(stamps, sizeof(stamps), "%s/bare", w->dir);
	for (int i = 0; i < n; i++)
		at[i] = start + (int64_t)(bench_random(1000000000) / 1e9 * (double)WINDOW);
	qsort(at, (size_t)n, sizeof(*at), by_time);
	pid = world_child();
	if (pid == 0) {
		start_at(stamps, at, n);
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	read_bare_stamps(stamps, at, n, s);
}

/* The ledger says it too, in whole ms; and how many ends it has. */
static int read_ledger(struct samples *s)
{
	char klease[300], out[300], line[4096];
	const char *argv[] = { klease, "--user", "ledger", "--json", NULL };
	int status, ends = 0;
	FILE *f;

	(void)snprintf(klease, sizeof(klease), "%s/klease/klease", bench_build);
	(void)snprintf(out, sizeof(out), "%s/ledger", bench_dir);
	(void)bench_run(argv, out, &status);
	f = fopen(out, "re");
	if (status != 0 || !f)
		bench_fail("klease ledger", 0);
	while (fgets(line, sizeof(line), f)) {
		const char *late = strstr(line, "\"lateness_ms\":");

		ends += strstr(line, "\"to\":\"reaped\"") != NULL;
		if (late && s && s->n < N_MAX * ROUNDS)
			s->late[s->n++] = strtod(late + strlen("\"lateness_ms\":"), NULL);
	}
	(void)fclose(f);
	return ends;
}

static void touch_all(const struct world *w, const struct world_lease *l, int n)
{
	for (int i = 0; i < n; i++)
		world_touch(w, &l[i]);
}

static pid_t storms(const struct world *w, const struct world_lease *l, int n, int64_t from)
{
	pid_t pid = world_child();

	if (pid > 0)
		return pid;
	for (int i = 0; i < ROUNDS; i++) {
		bench_until(from + BEATS_AT(i));
		touch_all(w, l, n);
	}
	for (;;)
		(void)pause();
}

static void tell(const char *what, double *late, int n)
{
	bench_raw("%s: p50 %.0f, p90 %.0f, p99 %.0f us (%d)", what, bench_percentile(late, n, 0.5),
		  bench_percentile(late, n, 0.9), bench_percentile(late, n, 0.99), n);
}

/* No others, the registry on a disk: what that adds. */
static void on_disk(int n)
{
	static struct samples s, ledger;
	struct due_set due;
	struct world w;

	world_open(&w, CONF, true);
	due_fill(&due, &w, n);
	(void)world_start(&w);
	due_plan(&due, n, bench_now() + DUE_TTL + LEASE_NS_PER_S, WINDOW);
	due_start(&due, &w);
	bench_until(bench_now() + DUE_TTL + LEASE_NS_PER_S + WINDOW + LEASE_NS_PER_S);
	due_read(&due, &w);
	s.n = due_late(&due, 0, n, s.late);
	tell("with the registry on a disk, and no others", s.late, s.n);
	(void)read_ledger(&ledger);
	bench_raw("by its ledger, deadline to commit: p50 %.0f, p99 %.0f ms", bench_percentile(ledger.late, ledger.n, 0.5),
		  bench_percentile(ledger.late, ledger.n, 0.99));
	world_close(&w);
}

struct phases {
	struct samples bare, quiet, storm, ledger;
	int wrong;
};

static void with_others(int others, int n, struct phases *ret)
{
	const struct world_times t = { .ttl = TTL, .renew_grace = 3600 * LEASE_NS_PER_S };
	struct world_lease *l = calloc((size_t)others, sizeof(*l));
	const int rounds = bench_count(ROUNDS, 1);
	int64_t quiet[ROUNDS], from, start;
	struct due_set due;
	struct world w;
	pid_t beats;

	if (!l)
		bench_fail("calloc", ENOMEM);
	world_open(&w, CONF, false);
	due_fill(&due, &w, 2 * rounds * n);
	world_fill(&w, &t, others, l);
	(void)world_start(&w);
	/* Whoever is to be found alive later is kept alive while the daemon finds its feet. */
	due_start(&due, &w);
	touch_all(&w, l, others);
	world_settle(&w);
	from = bench_now();
	touch_all(&w, l, others);
	world_child_end(due.beats);
	start = bench_now() + DUE_TTL + MS(500, 100);
	for (int i = 0; i < rounds; i++)
		due_plan(&due, n, quiet[i] = start + i * (2 * WINDOW + MS(500, 100)), WINDOW);
	for (int i = 0; i < rounds; i++) {
		due_plan(&due, n / 2, from + BEATS_AT(i) - BEATS_FROM, WINDOW);
		due_plan(&due, n - n / 2, from + LOOKS_AT(i) - LOOKS_FROM, LOOKS_WINDOW);
	}
	due_start(&due, &w);
	beats = storms(&w, l, others, from);
	for (int i = 0; i < rounds; i++) {
		bench_until(quiet[i] + WINDOW);
		bare_loop(&w, n, &ret->bare);
	}
	bench_until(from + LOOKS_AT(rounds - 1) - LOOKS_FROM + LOOKS_WINDOW + LEASE_NS_PER_S);
	world_child_end(beats);
	due_read(&due, &w);
	if (due.missing > 0 || due.twice > 0)
		bench_fail("not every lease that was due was destroyed once, and in time to be counted", 0);
	ret->quiet.n = due_late(&due, 0, rounds * n, ret->quiet.late);
	ret->storm.n = due_late(&due, rounds * n, rounds * n, ret->storm.late);
	ret->wrong = due.early + others - world_living(&w);
	bench_raw("ends: %d were due and came, %d of them too early; of %d others %d live; the ledger has %d ends", due.planned,
		  due.early, others, world_living(&w), read_ledger(&ret->ledger));
	world_close(&w);
	free(l);
}

int main(void)
{
	static const struct {
		const char *name;
		double share, limit;
	} aims[] = { { "expiry-p50", 0.5, 1.6 }, { "expiry-p90", 0.9, 2 }, { "expiry-p99", 0.99, 5 } };
	static struct phases p;
	int n;

	bench_begin("bench-expiry");
	n = bench_count(N_MAX, 5);
	with_others(world_size(20), n, &p);
	tell("timerfd and posix_spawn to main()", p.bare.late, p.bare.n);
	tell("deadline to destroy's main()", p.quiet.late, p.quiet.n);
	tell("the same in a storm of beats", p.storm.late, p.storm.n);
	bench_raw("by the ledger, deadline to commit: p50 %.0f, p99 %.0f ms", bench_percentile(p.ledger.late, p.ledger.n, 0.5),
		  bench_percentile(p.ledger.late, p.ledger.n, 0.99));
	if (bench_disk[0] && !bench_smoke)
		on_disk(n);
	for (size_t i = 0; i < sizeof(aims) / sizeof(aims[0]); i++)
		bench_aim(aims[i].name, bench_percentile(p.quiet.late, p.quiet.n, aims[i].share) /
			  bench_percentile(p.bare.late, p.bare.n, aims[i].share), "x a bare loop", aims[i].limit);
	bench_aim("lateness-p99", bench_percentile(p.ledger.late, p.ledger.n, 0.99), "ms", 5);
	bench_aim("storm-p99", bench_percentile(p.storm.late, p.storm.n, 0.99) / bench_percentile(p.quiet.late, p.quiet.n, 0.99),
		  "x its quiet self", 3);
	bench_aim("storm-false-expiries", p.wrong, "leases", 0);
	return 0;
}
