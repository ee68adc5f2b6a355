/*
 * klease/exits.h: what klease's exit statuses mean. klease(1) has the same list; a test compares them
 * (`klease help --words`).
 */
#ifndef KLEASE_EXITS_H
#define KLEASE_EXITS_H

enum {
	KX_OK = 0,
	KX_FAILED = 1,
	KX_USAGE = 2,
	KX_LOST = 3,    /* the lease is lost, over or unknown */
	KX_REFUSED = 4, /* by policy, quota or ownership */
	KX_TIMEOUT = 5,
	KX_NODAEMON = 75,
	KX_OURS = 125,    /* run, exec: klease itself failed */
	KX_NOEXEC = 126,  /* run, exec, create: the command cannot be run */
	KX_NOTFOUND = 127 /* run, exec, create: there is no such command */
};

#endif
