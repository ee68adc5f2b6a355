/*
 * What pam_lease adds to a login: open and close of a session, with a stack of one module, against pam_permit (which does
 * nothing), pam_lastlog (which writes a record) and pam_exec (which starts /bin/true). As root, in a mount namespace, so that
 * the lastlog that is written is our own; the tree is on tmpfs and the lastlog on a disk, as they are on a host.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <security/pam_appl.h>

#include "lease/beacon.h"
#include "lease/tree.h"
#include "tests/bench/bench.h"

#define USER "nobody"

/*
 * Against pam_lastlog by CPU: both make a few system calls and wait for nothing. Against pam_exec by the time that passes, as it
 * waits for its child.
 */
enum { PERMIT, LEASE, LASTLOG, PERMIT_TIME, LEASE_TIME, EXEC_TIME, N_STACKS };
struct stack {
	const char *service;
	int n;
	int64_t (*clock)(void);
};
static char services[300];
static int archive = -1, sessions = -1;

static int converse(int n, const struct pam_message **msg, struct pam_response **resp, void *arg)
{
	(void)msg;
	(void)arg;
	*resp = calloc((size_t)n, sizeof(**resp));
	return *resp ? PAM_SUCCESS : PAM_BUF_ERR;
}

static int remove_each(void *arg, const char *name)
{
	const int *dirfd = arg;

	(void)unlinkat(*dirfd, name, 0);
	return 0;
}

/* Loading the stack is not what is measured: it costs the same for every module. */
static int64_t one(const char *service, int64_t (*clock_of)(void))
{
	const struct pam_conv conv = { .conv = converse };
	pam_handle_t *pamh;
	int64_t began, took;
	int r;

	r = pam_start_confdir(service, USER, &conv, services, &pamh);
	if (r != PAM_SUCCESS)
		bench_fail("pam_start_confdir", 0);
	/* pam_lastlog wants to know where the user sits. */
	(void)pam_set_item(pamh, PAM_TTY, "ssh");
	(void)pam_set_item(pamh, PAM_RHOST, "localhost");
	began = clock_of();
	r = pam_open_session(pamh, 0);
	if (r == PAM_SUCCESS)
		r = pam_close_session(pamh, 0);
	took = clock_of() - began;
	if (r != PAM_SUCCESS)
		bench_fail(service, 0);
	(void)pam_end(pamh, PAM_SUCCESS);
	return took;
}

static double run(void *arg)
{
	const struct stack *s = arg;
	int64_t sum = 0;

	for (int i = 0; i < s->n; i++)
		sum += one(s->service, s->clock);
	(void)lease_list(archive, remove_each, &archive);
	(void)lease_list(sessions, remove_each, &sessions);
	return (double)sum / s->n / 1000;
}

/* What variant adds to permit's cost, as a multiple of what other adds: the median of same-round ratios. */
static double added(const struct bench_figures *f, int variant, int permit, int other)
{
	double ratio[BENCH_ROUNDS_MAX];

	for (int i = 0; i < f->rounds; i++)
		ratio[i] = (f->cost[i][variant] - f->cost[i][permit]) / (f->cost[i][other] - f->cost[i][permit]);
	return bench_percentile(ratio, f->rounds, 0.5);
}

static void put(const char *dir, const char *name, const char *text)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), e;

	if (fd < 0)
		bench_fail(dir, errno);
	e = lease_create(fd, name, text, strlen(text));
	if (e < 0)
		bench_fail(name, e);
	close(fd);
}

static int folder(const char *name, mode_t mode)
{
	char path[300];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", bench_dir, name);
	if (mkdir(path, 0700) < 0 || chmod(path, mode) < 0)
		bench_fail(path, errno);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		bench_fail(path, errno);
	return fd;
}

static void make_world(void)
{
	struct lease_beacon b = { 0 };
	char text[LEASE_FILE_MAX];
	size_t len;

	if (chmod(bench_dir, 0755) < 0)
		bench_fail(bench_dir, errno);
	close(folder("queue", 01777));
	close(folder("active", 01777));
	archive = folder("archive", 01777);
	sessions = folder("sessions", 0755);
	close(folder("pam.d", 0755));
	(void)snprintf(b.sessions, sizeof(b.sessions), "%s/sessions", bench_dir);
	(void)snprintf(b.state, sizeof(b.state), "%s/state", bench_dir);
	if (lease_beacon_format(&b, text, sizeof(text), &len) < 0)
		bench_fail("the beacon", 0);
	text[len] = '\0';
	put(bench_dir, LEASE_BEACON_NAME, text);

	(void)snprintf(services, sizeof(services), "%s/pam.d", bench_dir);
	put(services, "other", "");
	put(services, "permit", "session optional pam_permit.so\n");
	put(services, "lastlog", "session optional pam_lastlog.so silent\n");
	put(services, "exec", "session optional pam_exec.so /bin/true\n");
	(void)snprintf(text, sizeof(text), "session optional %s/pam_lease/.libs/pam_lease.so notices=%s surface=sshd\n",
		       bench_build, bench_dir);
	put(services, "lease", text);
}

/* The host's own records of logins are not ours to write. */
static bool private_log(void)
{
	const char *log = bench_disk[0] ? bench_disk : bench_dir;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(log, "/var/log", NULL, MS_BIND, NULL) < 0)
		return false;
	close(open("/var/log/lastlog", O_CREAT | O_RDWR | O_CLOEXEC, 0644));
	close(open("/var/log/wtmp", O_CREAT | O_RDWR | O_CLOEXEC, 0644));
	return true;
}

int main(void)
{
	const int n = bench_count(100, 2);
	struct stack s[N_STACKS] = {
		[PERMIT] = { "permit", n, bench_cpu },
		[LEASE] = { "lease", n, bench_cpu },
		[LASTLOG] = { "lastlog", n, bench_cpu },
		[PERMIT_TIME] = { "permit", n, bench_now },
		[LEASE_TIME] = { "lease", n, bench_now },
		[EXEC_TIME] = { "exec", bench_count(10, 1), bench_now },
	};
	struct bench_variant v[N_STACKS];
	struct bench_figures f;

	bench_keeps_root = true;
	bench_begin("bench-login");
	if (geteuid() != 0 || !private_log()) {
		bench_raw("a login: skipped, needs root and a mount namespace");
		return 0;
	}
	make_world();
	for (int i = 0; i < N_STACKS; i++)
		v[i] = (struct bench_variant){ s[i].service, run, &s[i] };
	bench_rounds(v, N_STACKS, bench_count(25, 1), &f);
	bench_raw("open and close, CPU: pam_permit %.0f us, pam_lease %.0f us, pam_lastlog %.0f us", bench_median(&f, PERMIT),
		  bench_median(&f, LEASE), bench_median(&f, LASTLOG));
	bench_raw("open and close, time: pam_permit %.0f us, pam_lease %.0f us, pam_exec %.0f us", bench_median(&f, PERMIT_TIME),
		  bench_median(&f, LEASE_TIME), bench_median(&f, EXEC_TIME));
	bench_aim("login-lastlog", added(&f, LEASE, PERMIT, LASTLOG), "x what pam_lastlog adds", 2.5);
	bench_aim("login-exec", 15 * added(&f, LEASE_TIME, PERMIT_TIME, EXEC_TIME), "x a 15th of what pam_exec adds", 1);
	return 0;
}
