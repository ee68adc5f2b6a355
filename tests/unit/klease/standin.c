/*
 * A daemon's outside, without a daemon: answers what klease writes, by files alone, so that klease is tested
 *without leasewatch.
 *
 *	standin NOTICES STATE
 *	standin --job COMMAND...	something else: runs it as a shell's job, prints its pid, gives its
 *status
 *
 * Makes both, says in a beacon that it lives, and prints "ready". Admits every request, but by labels of it:
 *	test=deny	denies it
 *	test=wait	leaves it in queue/
 *	test=fail	fails its start
 * A lock in archive/ is reaped: the keeper's children are sent a TERM. An ask is answered: exec and renew are
 *done, hold is refused. An ask for exec of a lease with the label test=words gets words to put before the
 *command.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lease/beacon.h"
#include "core/view.h"
#include "lease/duration.h"
#include "lease/process.h"
#include "lease/tree.h"

#define LEASES_MAX 256

struct known {
	struct view v;
	struct lease_record r;
	bool over;
};
static struct known known[LEASES_MAX];
static int n_known;
static struct lease_tree tree;
static int state = -1;
static uint64_t seq;

static int64_t wall_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void must(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static void write_whole(int dirfd, const char *name, const char *buf, size_t len)
{
	char tmp[] = ".tmp-standin";
	int fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	must(fd >= 0 && write(fd, buf, len) == (ssize_t)len, name);
	close(fd);
	must(renameat(dirfd, tmp, dirfd, name) == 0, name);
}

static void put(struct known *k, const char *to, const char *why)
{
	struct view_step s = { .seq = ++seq, .at = wall_ms() };
	char buf[LEASE_STATE_FILE_MAX];
	size_t len;

	memcpy(s.from, k->v.state[0] ? k->v.state : "-", k->v.state[0] ? sizeof s.from : 2);
	snprintf(s.to, sizeof s.to, "%s", to);
	snprintf(s.why, sizeof s.why, "%s", why);
	memcpy(k->v.state, s.to, sizeof k->v.state);
	memcpy(k->v.why, s.why, sizeof k->v.why);
	k->v.since = s.at;
	view_step_add(&k->v, &s);
	must(view_format(&k->v, buf, sizeof buf, &len) == 0, "view_format");
	write_whole(state, k->v.id, buf, len);
}

static bool labelled(const struct known *k, const char *label)
{
	for (int i = 0; i < k->r.n_labels; i++)
		if (!strcmp(k->r.labels[i], label))
			return true;
	return false;
}

static struct known *find(const char *id)
{
	for (int i = 0; i < n_known; i++)
		if (!strcmp(known[i].v.id, id))
			return &known[i];
	return NULL;
}

static struct known *receive(const char *id, const char *name)
{
	char buf[LEASE_FILE_MAX];
	struct lease_error err;
	struct lease_stat st;
	struct known *k = &known[n_known];
	size_t len;

	if (n_known == LEASES_MAX ||
	    lease_read(tree.queue, name, (uid_t)-1, buf, sizeof buf, &len, &st) < 0 ||
	    lease_record_parse(buf, len, &k->r, &err) < 0)
		return NULL;
	n_known++;
	snprintf(k->v.id, sizeof k->v.id, "%s", id);
	snprintf(k->v.lock, sizeof k->v.lock, "%s", name);
	snprintf(k->v.user, sizeof k->v.user, "tester");
	memcpy(k->v.surface, k->r.surface, sizeof k->v.surface);
	memcpy(k->v.session, k->r.session, sizeof k->v.session);
	snprintf(k->v.runtime, sizeof k->v.runtime, "process");
	k->v.requester = st.uid;
	k->v.priority = k->r.priority < 0 ? 5 : k->r.priority;
	k->v.leader = k->r.leader.pid;
	k->v.run = k->r.run;
	k->v.generation = (uint64_t)n_known;
	k->v.ttl = k->r.ttl ? k->r.ttl : 300 * LEASE_NS_PER_S;
	k->v.renew_grace = 90 * LEASE_NS_PER_S;
	k->v.created_at = wall_ms();
	k->v.mtime = st.mtime;
	k->v.n_labels = k->r.n_labels;
	memcpy(k->v.labels, k->r.labels, sizeof k->v.labels);
	put(k, "requested", "asked for");
	return k;
}

static void request(const char *id, const char *name)
{
	struct known *k = find(id);

	if (!k)
		k = receive(id, name);
	if (!k || labelled(k, "test=wait"))
		return;
	if (labelled(k, "test=deny")) {
		put(k, "denied", "quota_leases: you hold 3 of 3");
		unlinkat(tree.queue, name, 0);
		k->over = true;
		return;
	}
	if (lease_move(tree.queue, name, tree.active, name) < 0)
		return;
	put(k, "admitted", "there is room");
	if (labelled(k, "test=fail")) {
		put(k, "failed", "the runtime said no");
		lease_move(tree.active, name, tree.archive, name);
		put(k, "reaped", "rolled back");
		k->over = true;
		return;
	}
	k->v.expires_at = k->v.run ? 0 : wall_ms() + k->v.ttl / LEASE_NS_PER_MS;
	snprintf(k->v.renewed_by, sizeof k->v.renewed_by, "%s", k->v.run ? "command alive" : "own beat");
	put(k, "active", "started");
}

static void answer(const char *name)
{
	struct ask_answer a = { .result = "done" };
	char buf[LEASE_STATE_FILE_MAX];
	struct lease_error err;
	struct known *k;
	struct ask ask;
	size_t len;

	if (lease_read(tree.queue, name, (uid_t)-1, buf, sizeof buf, &len, NULL) < 0 ||
	    ask_parse(buf, len, &ask, &err) < 0)
		return;
	k = find(ask.lease);
	if (ask.verb == ASK_HOLD || ask.verb == ASK_UNHOLD || ask.verb == ASK_BREAKER_RELEASE) {
		snprintf(a.result, sizeof a.result, "refused");
		snprintf(a.what, sizeof a.what, "only root may");
	} else if (!k || k->over) {
		snprintf(a.result, sizeof a.result, "lost");
	} else if (ask.verb == ASK_EXEC && labelled(k, "test=words")) {
		a.n_words = 2;
		snprintf(a.words[0], sizeof a.words[0], "env");
		snprintf(a.words[1], sizeof a.words[1], "WORDS=yes");
	}
	if (ask.verb == ASK_RENEW && k)
		k->v.ttl = ask.ttl;
	must(ask_answer_format(&a, buf, sizeof buf, &len) == 0, "ask_answer_format");
	if (k && ask.verb == ASK_RENEW)
		put(k, "active", "renewed");
	write_whole(state, name, buf, len);
	unlinkat(tree.queue, name, 0);
}

static int look_at(void *arg, const char *name)
{
	const char *id = lease_name_lock_id(name);

	(void)arg;
	if (id)
		request(id, name);
	else if (lease_name_ask_id(name))
		answer(name);
	return 0;
}

static void stop_children(int pid)
{
	char path[64];
	FILE *f;
	int child;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		kill(child, SIGTERM);
	if (f)
		fclose(f);
}

static void look_for_ends(void)
{
	struct lease_stat st;

	for (int i = 0; i < n_known; i++) {
		struct known *k = &known[i];

		if (k->over || lease_stat(tree.archive, k->v.lock, &st) < 0)
			continue;
		k->over = true;
		put(k, "expired", "released");
		if (k->r.workload.pid)
			stop_children(k->r.workload.pid);
		put(k, "reaped", "released");
	}
}

static void look_for_withdrawals(void)
{
	struct lease_stat st;

	for (int i = 0; i < n_known; i++) {
		struct known *k = &known[i];

		if (k->over || strcmp(k->v.state, "requested") || lease_stat(tree.queue, k->v.lock, &st) == 0)
			continue;
		k->over = true;
		put(k, "denied", "withdrawn");
	}
}

static void write_beacon(const char *state_path)
{
	struct lease_beacon b = { .user_mode = true };
	char buf[LEASE_FILE_MAX];
	size_t len;

	snprintf(b.state, sizeof b.state, "%s", state_path);
	snprintf(b.db, sizeof b.db, "%s/../lease.db", state_path);
	must(lease_process_self(&b.daemon) == 0 && lease_boot_id(b.boot) == 0, "lease_process_self");
	must(lease_beacon_format(&b, buf, sizeof buf, &len) == 0, "beacon_format");
	write_whole(tree.root, LEASE_BEACON_NAME, buf, len);
}

/* What an interactive shell does with a job: a group of its own, whose parent is in the same session (an
 * orphaned group cannot be stopped). */
static int job(char **command)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		setpgid(0, 0);
		execvp(command[0], command);
		_exit(127);
	}
	must(pid > 0, "fork");
	printf("%d\n", pid);
	fflush(stdout);
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	static const char *const folders[] = { "", "/queue", "/active", "/archive" };
	char path[600];

	if (argc > 2 && !strcmp(argv[1], "--job"))
		return job(argv + 2);
	must(argc == 3, "usage: standin NOTICES STATE");
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s%s", argv[1], folders[i]);
		must(mkdir(path, 0700) == 0 || errno == EEXIST, path);
	}
	must(mkdir(argv[2], 0755) == 0 || errno == EEXIST, argv[2]);
	must(lease_tree_open(&tree, argv[1]) == 0, argv[1]);
	state = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(state >= 0, argv[2]);
	write_beacon(argv[2]);
	puts("ready");
	fflush(stdout);
	for (;;) {
		(void)lease_list(tree.queue, look_at, NULL);
		look_for_withdrawals();
		look_for_ends();
		poll(NULL, 0, 5);
	}
}
