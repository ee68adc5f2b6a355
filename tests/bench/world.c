#include "config.h"

#include "tests/bench/world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lease/process.h"
#include "lease/tree.h"
#include "store/registry.h"
#include "store/statefiles.h"
#include "tests/bench/bench.h"

#define READY_MS 300000

/* A bench that fails half way leaves no daemon behind. */
static pid_t started_by, running[2];

static void end_running(void)
{
	for (int i = 0; i < 2 && getpid() == started_by; i++)
		if (running[i] > 0)
			(void)kill(running[i], SIGKILL);
}

static void set(const struct world *w, const char *key, const char *name)
{
	char path[400];

	(void)snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	if ((mkdir(path, 0700) < 0 && errno != EEXIST) || setenv(key, path, 1) < 0)
		bench_fail(path, errno);
}

void world_open(struct world *w, const char *conf, bool on_disk)
{
	char path[400], err[256];
	FILE *f;

	*w = (struct world){ .active = -1 };
	if (!started_by)
		(void)atexit(end_running);
	started_by = getpid();
	(void)snprintf(w->dir, sizeof(w->dir), "%s/world.XXXXXX", on_disk ? bench_disk : bench_dir);
	if (!mkdtemp(w->dir))
		bench_fail(w->dir, errno);
	set(w, "HOME", "home");
	set(w, "XDG_DATA_HOME", "data");
	set(w, "XDG_STATE_HOME", "state");
	set(w, "XDG_CONFIG_HOME", "config");
	set(w, "XDG_RUNTIME_DIR", "run");
	(void)snprintf(path, sizeof(path), "%s/notices", w->dir);
	(void)setenv("KLEASE_NOTICES", path, 1);
	w->paths.user_mode = true;
	if (house_paths(&w->paths, path, NULL, err) < 0)
		bench_fail(err, 0);
	(void)snprintf(path, sizeof(path), "%s/conf", w->dir);
	f = fopen(path, "we");
	/* What falls silent here does so on purpose. */
	const char *breaker = strstr(conf, "[breaker]") ? "" : "[breaker]\nshare = 1\n";
	if (!f || fputs(conf, f) == EOF || fputs(breaker, f) == EOF || fclose(f) == EOF)
		bench_fail(path, errno);
}

int world_size(int little)
{
	const char *v = getenv("BENCH_LEASES");
	long n = v ? strtol(v, NULL, 10) : 0;

	if (v && (n < 20 || n > 10000000))
		bench_fail("BENCH_LEASES must be 20 to 10000000", 0);
	return bench_smoke ? little : v ? (int)n : bench_big ? 1000000 : 100000;
}

static void describe(struct lease *l, const struct world_times *t, int64_t ago, const struct lease_process *leader)
{
	int64_t now = bench_now(), wall = bench_wall();

	lease_id_make(l->id);
	if (lease_name_make(l->name, "cli", "bench", l->id) < 0)
		bench_fail("lease_name_make", 0);
	lease_record_init(&l->record);
	memcpy(l->record.id, l->id, sizeof(l->id));
	memcpy(l->record.surface, "cli", sizeof("cli"));
	memcpy(l->record.runtime, "bench", sizeof("bench"));
	l->record.ttl = t->ttl;
	l->record.usage = LEASE_USAGE_EXPLICIT;
	l->policy = (struct policy){ .ttl = t->ttl, .renew_grace = t->renew_grace, .hibernate_after = LEASE_NEVER,
				     .max_ttl = LEASE_NEVER, .max_lifetime = LEASE_NEVER,
				     .hibernated_retention = LEASE_NEVER, .cpu_floor_ppm = 10000, .priority = 5,
				     .max_priority = 9, .usage = LEASE_USAGE_EXPLICIT, .runtime = "bench" };
	if (t->hibernate_after)
		l->policy.hibernate_after = t->hibernate_after;
	if (leader) {
		l->record.leader = *leader;
		if (lease_boot_id(l->record.boot) < 0)
			bench_fail("lease_boot_id", 0);
		l->leader_alive = true;
	}
	l->uid = geteuid();
	l->state = ST_ACTIVE;
	l->created = l->since = l->renewed = l->used = now - ago;
	l->created_wall = l->since_wall = l->last_beat_wall = wall - ago;
	memcpy(l->why, "made by a bench", sizeof("made by a bench"));
}

static void lay(struct world *w, struct lease *l)
{
	struct timespec stamp[2];
	char buf[LEASE_FILE_MAX];
	struct lease_stat st;
	size_t len;
	int r = lease_record_format(&l->record, buf, sizeof(buf), &len);

	if (r == 0)
		r = lease_create(w->active, l->name, buf, len);
	stamp[0] = stamp[1] = (struct timespec){ .tv_sec = (time_t)(l->since_wall / LEASE_NS_PER_S),
						 .tv_nsec = (long)(l->since_wall % LEASE_NS_PER_S) };
	if (r == 0 && utimensat(w->active, l->name, stamp, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	if (r == 0)
		r = lease_stat(w->active, l->name, &st);
	if (r < 0)
		bench_fail("a lock", r);
	l->dev = st.dev;
	l->ino = st.ino;
	l->mtime = st.mtime;
}

void world_fill(struct world *w, const struct world_times *t, int n, struct world_lease *ret)
{
	struct registry_clock c = { .mono = bench_now(), .boot = bench_now(), .wall = bench_wall() };
	struct registry *reg;
	struct house house;
	char err[256];

	if (house_open(&w->paths, 0, &house, err) < 0 || registry_open(w->paths.db, &reg, err) < 0)
		bench_fail(err, 0);
	w->active = dup(house.tree.active);
	if (lease_boot_id(c.boot_id) < 0 || registry_begin(reg) < 0)
		bench_fail("the registry", 0);
	for (int i = 0; i < n; i++) {
		struct lease l = { .generation = 0 };

		describe(&l, t, t->ago ? t->ago(i) : 0, t->leaders ? &t->leaders[i] : NULL);
		lay(w, &l);
		if (registry_next_generation(reg, &l.generation) < 0 || registry_put(reg, &l) < 0)
			bench_fail(registry_error(reg), 0);
		memcpy(ret[i].id, l.id, sizeof(l.id));
		memcpy(ret[i].name, l.name, sizeof(l.name));
	}
	w->unshown = true;
	if (registry_checkpoint(reg, &c) < 0 || registry_commit(reg) < 0)
		bench_fail(registry_error(reg), 0);
	registry_close(reg);
	house_close(&house);
}

static pid_t child_of(pid_t pid)
{
	char path[64], buf[32] = "";
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, buf, sizeof(buf) - 1) < 1)
		bench_fail("the daemon's second process", errno);
	close(fd);
	return (pid_t)strtol(buf, NULL, 10);
}

/* Reads its log until it says that it watches. */
static void await_ready(const struct world *w)
{
	char line[1024], last[1024] = "the daemon did not come up";
	int64_t until = bench_now() + READY_MS * LEASE_NS_PER_MS;

	while (bench_now() < until) {
		siginfo_t si = { .si_pid = 0 };

		clearerr(w->log);
		while (fgets(line, sizeof(line), w->log)) {
			if (strstr(line, ": watching "))
				return;
			memcpy(last, line, sizeof(last));
		}
		if (waitid(P_PID, (id_t)w->actor, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid != 0)
			break;
		bench_until(bench_now() + LEASE_NS_PER_MS / 2);
	}
	bench_fail(last, 0);
}

/* A file: a pipe that nobody reads would fill, and hold the daemon up. */
static int open_log(struct world *w)
{
	char path[400];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/log", w->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	w->log = fopen(path, "re");
	if (fd < 0 || !w->log || fseek(w->log, 0, SEEK_END) < 0)
		bench_fail(path, errno);
	return fd;
}

static int show(void *arg, const char *name)
{
	const char *id = lease_name_lock_id(name);
	char text[80];
	int n, r;

	if (!id)
		return 0;
	n = snprintf(text, sizeof(text), LEASE_HEADER "id=%s\nstate=active\n", id);
	r = statefile_write(*(const int *)arg, id, text, (size_t)n);
	if (r < 0)
		bench_fail("a state file", r);
	return 0;
}

/* Else the daemon would write them, in the time in which it is to be watched. */
static void show_all(struct world *w)
{
	int state = open(w->paths.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (state < 0)
		bench_fail(w->paths.state, errno);
	if (lease_list(w->active, show, &state) < 0)
		bench_fail("the leases", 0);
	close(state);
	w->unshown = false;
}

int64_t world_start(struct world *w)
{
	char program[300], conf[400];
	const char *argv[] = { program, "--user", "--foreground", "--config", conf, NULL };
	int64_t from, took;
	int log;

	(void)snprintf(program, sizeof(program), "%s/tests/bench/leasewatch", bench_build);
	(void)snprintf(conf, sizeof(conf), "%s/conf", w->dir);
	log = open_log(w);
	if (w->unshown)
		show_all(w);
	from = bench_now();
	running[0] = w->actor = bench_serve(argv, -1, -1, log);
	close(log);
	await_ready(w);
	took = bench_now() - from;
	running[1] = w->watcher = child_of(w->actor);
	if (w->active < 0) {
		char path[600];

		(void)snprintf(path, sizeof(path), "%s/active", w->paths.notices);
		w->active = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return took;
}

void world_settle(const struct world *w)
{
	int64_t until = bench_now() + 30 * LEASE_NS_PER_S;
	long before, after = -1;

	do {
		before = after;
		bench_until(bench_now() + bench_count(300, 60) * LEASE_NS_PER_MS);
		after = bench_switches(w->watcher) + bench_switches(w->actor);
	} while (after > before + 20 && bench_now() < until);
}

static void await(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void world_stop(struct world *w, int sig)
{
	if (!w->actor)
		return;
	if (sig == SIGKILL)
		(void)kill(w->watcher, sig);
	(void)kill(w->actor, sig);
	/* We are the subreaper: the watcher is ours to wait for, and runtimes that were under way. */
	await(w->actor);
	await(w->watcher);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	(void)fclose(w->log);
	w->actor = w->watcher = running[0] = running[1] = 0;
}

void world_close(struct world *w)
{
	world_stop(w, SIGTERM);
	if (w->active >= 0)
		close(w->active);
}
