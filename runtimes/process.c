/*
 * process.c: the `process` runtime: lease-runtime(7) for plain process trees. The verbs' table, what the
 * environment says, the lock.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRACE_MS 5000
#define EXIT_USAGE 2

enum needs {
	NEED_LEASE = 1, /* id, generation, uid, private directory */
	NEED_LOCK = 2,  /* alone on that directory */
};

static const struct verb {
	const char *name;
	int needs;
	int (*run)(struct request *r);
} verbs[] = {
    {"capabilities", 0, verb_capabilities},
    {"create", NEED_LEASE | NEED_LOCK, verb_create},
    {"stat", NEED_LEASE, verb_stat},
    {"hibernate", NEED_LEASE | NEED_LOCK, verb_hibernate},
    {"resume", NEED_LEASE | NEED_LOCK, verb_resume},
    {"snapshot", NEED_LEASE, verb_snapshot},
    {"destroy", NEED_LEASE | NEED_LOCK, verb_destroy},
    {"list", 0, verb_list},
    {"enter", NEED_LEASE | NEED_LOCK, verb_enter},
};

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* Not set gives without. */
static int number_of(const char *key, uint64_t max, uint64_t without, uint64_t *ret)
{
	const char *s = getenv(key);
	char *end;

	*ret = without;
	if (!s)
		return 0;
	errno = 0;
	*ret = strtoull(s, &end, 10);
	if (errno || *s < '0' || *s > '9' || *end || *ret > max) {
		say("%s=%s is no number from 0 to %" PRIu64, key, s, max);
		return -EINVAL;
	}
	return 0;
}

/* The private directory is ours alone, or it isn't the private directory. */
static int open_dir(struct request *r)
{
	const char *path = getenv("LEASE_DIR");
	struct stat st;

	if (!path || path[0] != '/') {
		say("LEASE_DIR must be an absolute path");
		return -EINVAL;
	}
	r->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r->dir < 0) {
		if (errno == ENOENT)
			return 0;
		say("%s: %s", path, strerror(errno));
		return -EINVAL;
	}
	if (fstat(r->dir, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		say("%s: others can write there", path);
		return -EINVAL;
	}
	return 0;
}

static int take_lease(struct request *r)
{
	const char *id = getenv("LEASE_ID");
	uint64_t uid;

	if (!id || !lease_id_valid(id)) {
		say("LEASE_ID is no id of a lease");
		return -EINVAL;
	}
	memcpy(r->id, id, sizeof r->id);
	if (number_of("LEASE_GENERATION", INT64_MAX, 0, &r->generation) < 0)
		return -EINVAL;
	if (!r->generation) {
		say("LEASE_GENERATION is missing or 0");
		return -EINVAL;
	}
	if (number_of("LEASE_UID", UINT32_MAX - 1, UINT32_MAX, &uid) < 0)
		return -EINVAL;
	if (uid == UINT32_MAX) {
		say("LEASE_UID is missing");
		return -EINVAL;
	}
	r->uid = (uid_t)uid;
	return open_dir(r);
}

static int take_process(struct request *r)
{
	uint64_t pid;

	if (number_of("LEASE_PID", INT32_MAX, 0, &pid) < 0 ||
	    number_of("LEASE_PID_START", UINT64_MAX, 0, &r->process.start) < 0)
		return -EINVAL;
	r->process.pid = (int32_t)pid;
	return 0;
}

static int take_environment(struct request *r, int needs)
{
	const char *protocol = getenv("LEASE_PROTOCOL"), *boot = getenv("LEASE_BOOT");
	const char *only = getenv("LEASE_PROFILE_ISOLATION");
	uint64_t ms, grace;

	if (protocol && strcmp(protocol, "1")) {
		say("LEASE_PROTOCOL=%s: this program speaks 1", protocol);
		return -EINVAL;
	}
	if (lease_boot_id(r->boot) < 0) {
		say("this boot's id can't be read");
		return -EINVAL;
	}
	if (boot && strcmp(boot, r->boot)) {
		say("LEASE_BOOT is another boot's");
		return -EINVAL;
	}
	if (only && (r->only = mode_parse(only)) == MODE_NONE) {
		say("LEASE_PROFILE_ISOLATION=%s is none of cgroup2, cgroup1, subreaper", only);
		return -EINVAL;
	}
	if (number_of("LEASE_DEADLINE_MS", INT32_MAX, 0, &ms) < 0 ||
	    number_of("LEASE_STOP_GRACE_MS", INT32_MAX, GRACE_MS, &grace) < 0)
		return -EINVAL;
	/* Done before the actor's patience ends, so that we say what is wrong ourselves. */
	r->ms = ms ? (int64_t)(ms - ms / 8) : LIMIT_NONE;
	r->grace_ms = (int64_t)grace;
	r->work = getenv("LEASE_WORK");
	if (criu_find() < 0)
		return -EINVAL;
	if (take_process(r) < 0)
		return -EINVAL;
	return needs & NEED_LEASE ? take_lease(r) : 0;
}

/* One that an earlier daemon started may still be at it. -ETIME: it didn't get done. */
static int lock_dir(const struct request *r)
{
	unsigned pass = 0;
	int limit = -1, e;

	if (r->dir < 0)
		return 0;
	e = limit_start(r->ms == LIMIT_NONE ? r->ms : r->ms / 2, &limit);
	while (e == 0 && flock(r->dir, LOCK_EX | LOCK_NB) < 0)
		e = errno == EWOULDBLOCK ? limit_nap(limit, &pass) : -errno;
	if (limit >= 0)
		close(limit);
	return e;
}

static int run(const struct verb *v)
{
	struct request r = {.dir = -1};
	int status, e;

	if (take_environment(&r, v->needs) < 0)
		return EXIT_FAILED;
	e = v->needs & NEED_LOCK ? lock_dir(&r) : 0;
	if (e < 0) {
		say("the lease is being worked on: %s", strerror(-e));
		status = e == -ETIME ? EXIT_LATER : EXIT_FAILED;
	} else {
		status = v->run(&r);
	}
	if (r.dir >= 0)
		close(r.dir);
	/* An answer that didn't arrive was no answer. */
	if (fflush(stdout) == EOF && status == EXIT_DONE) {
		say("can't write the answer: %s", strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

static void usage(FILE *f)
{
	fputs("usage: process VERB\n"
	      "Runs one verb of lease-runtime(7) on a process tree; what it is about stands in LEASE_* "
	      "variables.\n"
	      "Verbs:",
	      f);
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		fprintf(f, " %s", verbs[i].name);
	fputc('\n', f);
}

int main(int argc, char **argv)
{
	/* The daemon may go while we work: its pipes closing must not end a freeze in the middle. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		usage(stdout);
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--version")) {
		printf("process (%s)\n", PACKAGE_STRING);
		return 0;
	}
	for (size_t i = 0; argc == 2 && i < sizeof verbs / sizeof *verbs; i++)
		if (!strcmp(argv[1], verbs[i].name))
			return run(&verbs[i]);
	usage(stderr);
	return EXIT_USAGE;
}
