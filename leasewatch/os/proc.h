/*
 * os/proc.h: runs a helper program without waiting for it.
 *
 * Calling sequence: proc_start, proc_watch; then proc_step whenever a descriptor of it is ready or proc_due has
 * come, until it gives true; read how it ended, and proc_free. `now` is the caller's monotonic clock; nothing
 * here reads one, sleeps or blocks.
 *
 * The program gets: its own argv and environment and nothing of ours, stdin /dev/null, stdout and stderr pipes
 * to us, no other descriptor, no signal blocked or ignored, a process group of its own. (No session of its own:
 * where the kernel shares out CPU by session, sched_autogroup, whoever begins one goes to the end of the queue,
 * and on a busy host that was most of what an end was late by.) It is started by vfork(2): memory is shared until
 * the exec, and the size of the caller doesn't matter. It is killed when the caller ends.
 *
 * Past its deadline the whole group gets SIGTERM, and PROC_TERM_GRACE later SIGKILL; one that even then hangs
 * in the kernel is given up after another such time. Ended in good time, what it left running in its group is
 * left alone. proc_free of a program that still runs forgets it: it goes on by itself, for as long as we live.
 */
#ifndef OS_PROC_H
#define OS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lease/duration.h"

#define PROC_TERM_GRACE LEASE_NS_PER_S
#define PROC_ERR_SIZE 1024

struct proc_options {
	const char *path; /* absolute */
	char *const *argv, *const *envp;
	int cwd;	/* descriptor of its working directory; -1 = "/" */
	size_t out_max; /* bytes of stdout that are kept; the rest is read, thrown away and told by out_cut */
};

enum proc_end {
	PROC_RUNNING,
	PROC_EXITED,   /* by itself: status is its exit status */
	PROC_SIGNALLED, /* by a signal that wasn't ours: status is the signal */
	PROC_DEADLINE, /* past its deadline, however it ended after that */
};

struct proc {
	pid_t pid;
	int pidfd, out_fd, err_fd; /* -1 = closed */
	int64_t deadline;
	bool termed, killed; /* what the deadline has done so far */

	enum proc_end end;
	int status;
	char *out; /* what it printed, a NUL behind it; NULL = nothing */
	size_t out_len, out_size, out_max;
	bool out_cut;
	char err[PROC_ERR_SIZE]; /* the last part of stderr, a NUL behind it */
	size_t err_len;
};

/* -errno: why it could not be run (of a failed exec as well); *p then needs no proc_free. */
int proc_start(struct proc *p, const struct proc_options *o, int64_t deadline);
/* Puts its descriptors into an epoll, level-triggered, each with this data.ptr; closing takes them out again. */
int proc_watch(const struct proc *p, int epfd, void *data);
/*
 * Reads what is there, looks whether it ended, does what the deadline asks for. True once it has ended and all
 * is read.
 */
bool proc_step(struct proc *p, int64_t now);
/* When proc_step must be called next though no descriptor is ready; INT64_MAX = never. */
int64_t proc_due(const struct proc *p);
/* The last line that isn't empty of what it said on stderr, cut into p->err; "" when it said nothing. */
const char *proc_last_line(struct proc *p);
void proc_free(struct proc *p);

#endif
