/*
 * actor.h: the process that acts. Root in system mode; in user mode the user. Reads no byte that a user wrote: the
 * configuration is root's, requests come as the fixed struct of wire.h, answers of runtimes are parsed by key from programs
 * that root installed.
 *
 * Called by main.c after the fork, in the parent: returns when told to stop or when the watcher has gone.
 */
#ifndef ACTOR_H
#define ACTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "conf/settings.h"

struct actor_options {
	int peer;		 /* socket to the watcher, SOCK_SEQPACKET, non-blocking */
	pid_t watcher;		 /* to wait for, and to pass SIGHUP and SIGTERM on to */
	/* folder of runtime programs: absolute, root's (or ours) alone to write: checked at start */
	const char *runtimes;
	/* folder for private directories, one a lease and generation (0700, ours): WORK/RUNTIME/ID.GENERATION */
	const char *work;
	int porter;		 /* where tickets go (porter.h); -1 = there is none, and words are klease's to run */
	const char *sessions;	 /* folder of the twins that pam_lease writes: named to runtimes, never read here */
	bool user_mode;
	struct settings *settings; /* taken over; NULL = the defaults */
	const char *config;	 /* read again at SIGHUP; NULL = there is none */
	bool config_named;	 /* by --config: it must be there */
};
/*
 * 0 = the watcher ended in good order or SIGTERM/SIGINT was obeyed; 1 = it broke. Never touches a workload on
 * its way out.
 */
int actor_run(const struct actor_options *o);

#endif
