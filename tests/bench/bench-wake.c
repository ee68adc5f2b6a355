/*
 * bench-wake: what must be seen at once.
 *
 *	resume-p50, -p90, -p99	from a touch of a hibernated lease's lock to main() of the runtime's `resume`, against a bare loop
 *			of inotify and posix_spawn with the same stub: 1.6, 2 and 5, as for an end.
 *	killed-p50	from the kill of a lease's leader until its lock has left active/, in ms: the pidfd tells; 2.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/process.h"
#include "lease/tree.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#define N_MAX 100
#define ROUNDS 6
#define WINDOW (bench_count(2000, 200) * LEASE_NS_PER_MS)
#define REST (bench_count(500, 200) * LEASE_NS_PER_MS) /* renew_grace, and hibernate_after behind it */
#define KILLED bench_count(300, 5)

struct samples {
	double late[N_MAX * ROUNDS]; /* us */
	int n;
};

/* A busy machine takes its time; what has not come by then does not come. */
static void await_stamps(const char *path, int n)
{
	int64_t until = bench_now() + 20 * LEASE_NS_PER_S;

	for (int lines = 0; lines < n && bench_now() < until;) {
		FILE *f = fopen(path, "re");
		int c;

		bench_until(bench_now() + 20 * LEASE_NS_PER_MS);
		lines = 0;
		while (f && (c = getc(f)) != EOF)
			lines += c == '\n';
		if (f)
			(void)fclose(f);
	}
}

/* "NAME NS" a line: how long after its touch each name was stamped. */
static void read_stamps(const char *path, const struct world_lease *l, const int64_t *touched, int n, struct samples *s)
{
	char line[128], id[LEASE_ID_SIZE];
	FILE *f;
	int read = 0;
	int64_t at;

	await_stamps(path, n);
	f = fopen(path, "re");
	if (!f)
		bench_fail(path, errno);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%14s %" SCNd64, id, &at) != 2)
			bench_fail("a stamp that is none", 0);
		for (int i = 0; i < n; i++)
			if (strcmp(l[i].id, id) == 0) {
				s->late[s->n++] = (double)(at - touched[i]) / 1000;
				read++;
			}
	}
	(void)fclose(f);
	(void)unlink(path);
	if (read != n)
		bench_fail("not each lease that was touched was resumed once", 0);
}

static void touch_at_random(int dir, const struct world_lease *l, int n, int64_t *touched)
{
	int64_t from = bench_now();

	for (int i = 0; i < n; i++) {
		int r;

		bench_until(from + WINDOW / n * i + bench_random((uint32_t)(WINDOW / n)));
		touched[i] = bench_now();
		r = lease_touch(dir, l[i].name, NULL);
		if (r < 0)
			bench_fail("a touch", r);
	}
}

static bool hibernated(const struct world *w, const struct world_lease *l)
{
	char path[600], buf[4096] = "";
	int fd;
	bool is;

	(void)snprintf(path, sizeof(path), "%s/%s", w->paths.state, l->id);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	is = fd >= 0 && read(fd, buf, sizeof(buf) - 1) > 0 && strstr(buf, "state=hibernated\n");
	if (fd >= 0)
		close(fd);
	return is;
}

static void until_hibernated(const struct world *w, const struct world_lease *l, int n)
{
	int64_t until = bench_now() + 60 * LEASE_NS_PER_S;

	for (int i = 0; i < n; i++)
		while (!hibernated(w, &l[i])) {
			if (bench_now() > until)
				bench_fail("a lease does not hibernate", 0);
			bench_until(bench_now() + 20 * LEASE_NS_PER_MS);
		}
	bench_until(bench_now() + 100 * LEASE_NS_PER_MS);
}

static void read_watch(int fd, const struct world_lease *l, const int *watches, int n, const char *const argv[])
{
	char buf[4096] __attribute__((aligned(8)));
	ssize_t len = read(fd, buf, sizeof(buf));

	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *ev = (const struct inotify_event *)(buf + at);

		for (int i = 0; i < n; i++)
			if (watches[i] == ev->wd) {
				(void)setenv("LEASE_ID", l[i].id, 1);
				(void)bench_spawn(argv, -1, -1);
			}
		at += (ssize_t)(sizeof(*ev) + ev->len);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* As many files that are watched one by one, and a program started at each touch. */
static pid_t bare_loop(int dir, const char *path, const struct world_lease *l, int n)
{
	int fd = inotify_init1(IN_CLOEXEC), watches[N_MAX];
	char stub[300];
	const char *argv[] = { stub, "resume", NULL };
	pid_t pid;

	(void)snprintf(stub, sizeof(stub), "%s/tests/bench/stub", bench_build);
	for (int i = 0; i < n; i++) {
		char file[1024];
		int r = lease_create(dir, l[i].name, "#", 1);

		(void)snprintf(file, sizeof(file), "%s/%s", path, l[i].name);
		watches[i] = inotify_add_watch(fd, file, IN_ATTRIB);
		if (r < 0 || fd < 0 || watches[i] < 0)
			bench_fail("a watch", r < 0 ? r : errno);
	}
	pid = world_child();
	if (pid > 0) {
		close(fd);
		return pid;
	}
	for (;;)
		read_watch(fd, l, watches, n, argv);
}

static void resumes(int n)
{
	static const struct { const char *name; double share, limit; } aims[] = {
		{ "resume-p50", 0.5, 1.6 }, { "resume-p90", 0.9, 2 }, { "resume-p99", 0.99, 5 },
	};
	const struct world_times t = { .ttl = 3600 * LEASE_NS_PER_S, .renew_grace = REST, .hibernate_after = REST };
	static struct samples ours, bare;
	struct world_lease l[N_MAX];
	int64_t touched[N_MAX];
	char stamps[400], path[400];
	struct world w;
	pid_t loop;
	int dir;

	world_open(&w, "", false);
	world_fill(&w, &t, n, l);
	(void)world_start(&w);
	(void)snprintf(stamps, sizeof(stamps), "%s/home/stamps", w.dir);
	(void)snprintf(path, sizeof(path), "%s/bare", w.dir);
	if (mkdir(path, 0755) < 0 || (dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		bench_fail(path, errno);
	loop = bare_loop(dir, path, l, n);
	for (int i = 0; i < bench_count(ROUNDS, 1); i++) {
		until_hibernated(&w, l, n);
		touch_at_random(w.active, l, n, touched);
		read_stamps(stamps, l, touched, n, &ours);
		until_hibernated(&w, l, n);
		touch_at_random(dir, l, n, touched);
		read_stamps(stamps, l, touched, n, &bare);
	}
	world_child_end(loop);
	world_lives(&w, n, "after all that sleep");
	bench_raw("touch to resume's main(): p50 %.0f, p90 %.0f, p99 %.0f us (%d); inotify and posix_spawn: %.0f, %.0f, %.0f us",
		  bench_percentile(ours.late, ours.n, 0.5), bench_percentile(ours.late, ours.n, 0.9),
		  bench_percentile(ours.late, ours.n, 0.99), ours.n, bench_percentile(bare.late, bare.n, 0.5),
		  bench_percentile(bare.late, bare.n, 0.9), bench_percentile(bare.late, bare.n, 0.99));
	for (size_t i = 0; i < sizeof(aims) / sizeof(aims[0]); i++)
		bench_aim(aims[i].name, bench_percentile(ours.late, ours.n, aims[i].share) /
			  bench_percentile(bare.late, bare.n, aims[i].share), "x a bare loop", aims[i].limit);
	close(dir);
	world_close(&w);
}

static void start_leaders(struct lease_process *p, int n)
{
	char stub[300];
	const char *argv[] = { stub, "sleep", NULL };

	(void)snprintf(stub, sizeof(stub), "%s/tests/bench/stub", bench_build);
	for (int i = 0; i < n; i++) {
		int r;

		p[i].pid = bench_spawn(argv, -1, -1);
		r = lease_process_stat(p[i].pid, &p[i].start, NULL, NULL);
		if (r < 0)
			bench_fail("lease_process_stat", r);
	}
}

/* Until the watch tells that this name has left. */
static void until_gone(int fd, const char *name)
{
	char buf[4096] __attribute__((aligned(8)));
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (;;) {
		ssize_t len;

		if (poll(&p, 1, 10000) != 1)
			bench_fail("a lease whose leader was killed does not end", 0);
		len = read(fd, buf, sizeof(buf));
		for (ssize_t at = 0; at < len;) {
			const struct inotify_event *ev = (const struct inotify_event *)(buf + at);

			if (ev->len > 0 && strcmp(ev->name, name) == 0)
				return;
			at += (ssize_t)(sizeof(*ev) + ev->len);
		}
	}
}

static void kills(int n)
{
	struct world_lease *l = calloc((size_t)n, sizeof(*l));
	struct lease_process *leaders = calloc((size_t)n, sizeof(*leaders));
	double *late = calloc((size_t)n, sizeof(*late));
	const struct world_times t = { .ttl = 3600 * LEASE_NS_PER_S, .renew_grace = 3600 * LEASE_NS_PER_S, .leaders = leaders };
	char path[600];
	struct world w;
	int fd = inotify_init1(IN_CLOEXEC);

	if (!l || !leaders || !late)
		bench_fail("calloc", ENOMEM);
	start_leaders(leaders, n);
	world_open(&w, "", false);
	world_fill(&w, &t, n, l);
	(void)world_start(&w);
	world_settle(&w);
	world_lives(&w, n, "with their leaders");
	(void)snprintf(path, sizeof(path), "%s/active", w.paths.notices);
	if (fd < 0 || inotify_add_watch(fd, path, IN_MOVED_FROM | IN_DELETE) < 0)
		bench_fail("inotify", errno);
	for (int i = 0; i < n; i++) {
		int64_t from;

		bench_until(bench_now() + 10 * LEASE_NS_PER_MS + bench_random(10000000));
		from = bench_now();
		(void)kill(leaders[i].pid, SIGKILL);
		until_gone(fd, l[i].name);
		late[i] = (double)(bench_now() - from) / 1e6;
	}
	bench_raw("leader killed to its lock taken: p50 %.2f, p90 %.2f, p99 %.2f ms (%d)", bench_percentile(late, n, 0.5),
		  bench_percentile(late, n, 0.9), bench_percentile(late, n, 0.99), n);
	bench_aim("killed-p50", bench_percentile(late, n, 0.5), "ms", 2);
	close(fd);
	world_close(&w);
	free(l);
	free(leaders);
	free(late);
}

int main(void)
{
	bench_begin("bench-wake");
	resumes(bench_count(N_MAX, 3));
	kills(KILLED);
	return 0;
}
