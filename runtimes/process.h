/*
 * process.h: what the parts of the `process` runtime share. The runtime's protocol is lease-runtime(7).
 *
 * A workload is the tree below a *keeper*, a process that klease forked as the requester: a child subreaper
 * that ignores the terminal's signals, runs the command once the lease is active, and waits for all that
 * comes of it. create adopts the keeper: into a cgroup of its own where one can be made, else the tree is found by
 * parents and by the label KLEASE_ID in the environment.
 *
 *	process.c	 the verbs' table, the environment, the lock
 *	process-verbs.c	 create, stat, list, enter, capabilities
 *	process-rest.c	 hibernate, resume
 *	process-end.c	 destroy
 *	process-record.c what LEASE_DIR/process says
 *	process-cgroup.c cgroup v2, cgroup v1 freezer + cpuacct
 *	process-tree.c	 who belongs to a workload, and signals to them
 *	process-wait.c	 limits of time
 *	process-disk.c	 to disk and back; process-image.c, process-criu.c, process-probe.c
 *
 * Functions give -errno; verbs give exit statuses, and say why on stderr.
 */
#ifndef RUNTIMES_PROCESS_H
#define RUNTIMES_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lease/process.h"

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_ABSENT 3
#define EXIT_LATER 75
#define PATH_SIZE 512

enum mode { MODE_NONE, MODE_CGROUP2, MODE_CGROUP1, MODE_SUBREAPER };

/* What create wrote down: all that later verbs know. */
struct workload {
	char id[LEASE_ID_SIZE];
	char boot[LEASE_BOOT_SIZE];
	uint64_t generation;
	uid_t uid;
	struct lease_process keeper;
	enum mode mode;
	bool frozen;             /* subreaper: stopped by us (a cgroup says so itself) */
	bool disk;               /* it is on disk: that nobody lives is as it should be */
	char cgroup[PATH_SIZE];  /* v2 folder, or v1 freezer's; "" in subreaper mode */
	char cpuacct[PATH_SIZE]; /* v1 only; "" = none */
};

/* What the environment asks for. */
struct request {
	char id[LEASE_ID_SIZE]; /* "" for capabilities and list */
	uint64_t generation;
	uid_t uid;
	const char *work;             /* LEASE_WORK, or NULL */
	int dir;                      /* LEASE_DIR, locked by all that change something; -1 = there is none */
	struct lease_process process; /* pid 0 = none given */
	char boot[LEASE_BOOT_SIZE];   /* the true one */
	int64_t ms;       /* until our own deadline, which is earlier than the actor's; LIMIT_NONE */
	int64_t grace_ms; /* between TERM and KILL */
	enum mode only;   /* the administrator's word on which way; MODE_NONE = the best that works */
};

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *mode_name(enum mode m);
enum mode mode_parse(const char *s); /* MODE_NONE: no such */

/* process-record.c. -ENOENT: no record; -EINVAL: one that can't be read (said). Written whole, replacing. */
int record_read(int dir, struct workload *ret);
int record_write(int dir, const struct workload *w);

/* process-wait.c: a limit is a timerfd that becomes readable when it has passed: no clock is read anywhere in
 * the runtime. */
#define LIMIT_NONE INT64_MAX
int limit_start(int64_t ms, int *ret);
/* Waits until a descriptor is ready: >= 0 its place, -ETIME the limit came first. fd -1 is skipped. */
int limit_poll(int limit, const int *fd, size_t n, short events);
/* A pause between two looks, growing from 1 ms with *pass; -ETIME. */
int limit_nap(int limit, unsigned *pass);

/* process-image.c, process-criu.c, process-probe.c, process-disk.c: hibernated to disk. */
#define GROUPS_MAX 256
#define WHY_SIZE 256
struct owner {
	uid_t uid;
	gid_t gid;
	size_t n_groups;
	gid_t groups[GROUPS_MAX];
};
struct members;
/* A folder for an image, its owner's for as long as it is written; -EEXIST. */
int image_make(int dir, const char *name, const struct owner *o, int *ret);
/* It is whole: from here on root's, on the disk, and with a list of what is in it and of who its members were. */
int image_seal(int images, const struct owner *o, const struct members *l);
/* Whether it is as it was sealed; -EINVAL. each number of a process that it has is handed to each. */
int image_check(int images, struct owner *ret, int (*each)(void *arg, int32_t pid), void *arg);
int image_remove(int dir, const char *name);
bool image_fits(int dir, int64_t memory);
struct criu {
	const struct workload *w; /* NULL: the probe's; in whose cgroups it runs */
	const struct owner *owner;
	int32_t root;
	int images, lock, limit; /* lock: LEASE_DIR, or -1 */
};
int criu_find(void);
/* 0, -EIO with why, -ETIME it is still at it. */
int criu_run(const struct criu *c, bool dump, char why[WHY_SIZE]);
/* Tried out once a boot and criu(8). why: "" or the reason why not. */
bool disk_works(const struct request *r, char why[WHY_SIZE]);
bool disk_has(int dir);
bool disk_was_cut_off(int dir);
int disk_forget(int dir);
/* Done, nobody is left. Else they all run, and why says why; -ETIME: criu(8) is still at it, with the lock. */
int disk_dump(const struct request *r, struct workload *w, const struct members *l, int limit, char why[WHY_SIZE]);
/* -ENODATA lost, -EINVAL damaged, -EBUSY a number is another's, -EIO it failed, -ETIME as above. */
int disk_restore(const struct request *r, struct workload *w, int limit, char why[WHY_SIZE]);
int kill_all(const struct workload *w, const char *work, int limit); /* process-end.c */

/* process-cgroup.c */
int cgroup_place(enum mode m, const char *name, char cgroup[PATH_SIZE], char cpuacct[PATH_SIZE]);
int cgroup_make(const char *path);
int cgroup_move(const char *path, int32_t pid);
/* Moves all that is in there, or this one if it is, to the folder above the one for leases. */
void cgroup_evacuate(const char *path);
void cgroup_evict(const char *path, int32_t pid);
int cgroup_each(const char *path, int (*each)(void *arg, int32_t pid), void *arg);
int cgroup_freeze(const struct workload *w, int limit);
int cgroup_thaw(const struct workload *w, int limit);
bool cgroup_frozen(const struct workload *w);
int cgroup_kill(const char *path);
int cgroup_remove(const char *path, int limit);
int64_t cgroup_cpu_usec(const struct workload *w); /* -1 = can't be read */

/* process-tree.c */
struct member {
	struct lease_process p;
	char state;
	bool keeper;
	bool by_tree; /* not in the cgroup: there is none, or it has been moved out of it */
};
struct members {
	struct member *m;
	size_t n, size;
};
/*
 * Everybody alive in the workload, parents before their children. say_all: escapes and other users' processes
 * are told on stderr. -EBUSY: the daemon itself is among them (said). Free with members_free, whatever came
 * back.
 */
int members_find(const struct workload *w, const char *work, bool say_all, struct members *ret);
void members_free(struct members *l);
int member_open(const struct workload *w, const struct member *m, int *ret_pidfd);
int member_signal(const struct workload *w, const struct member *m, int sig);
bool member_stopped(const struct member *m);
int64_t members_memory(const struct members *l);
/* Subreaper mode: SIGSTOP until a look finds none running; SIGCONT until none stands. The keeper goes on. */
int tree_stop(const struct workload *w, const char *work, int limit);
int tree_continue(const struct workload *w, const char *work, int limit);
void process_name(int32_t pid, char name[32]);

/* The verbs. */
int verb_capabilities(struct request *r);
int verb_create(struct request *r);
int verb_stat(struct request *r);
int verb_hibernate(struct request *r);
int verb_resume(struct request *r);
int verb_snapshot(struct request *r);
int verb_destroy(struct request *r);
int verb_list(struct request *r);
int verb_enter(struct request *r);
/* The record that is there, if it is this boot's and this lease's: EXIT_DONE, or the status to exit with. */
int take_record(const struct request *r, struct workload *ret);
int workload_thaw(const struct workload *w, const char *work, int limit);
int move_rest(const struct request *r, const struct workload *w); /* into its cgroup, whoever isn't there */
void print_place(const struct workload *w);
int verb_failed(const char *what, int error); /* said; the status to exit with */

#endif
