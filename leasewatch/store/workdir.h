/*
 * store/workdir.h: the folders the actor trusts, by descriptor: runtimes/ (programs of root's or ours) and
 * WORK/RUNTIME/ID.GENERATION (a private directory for each lease and generation). No link is followed,
 * nothing that others could have made is used.
 */
#ifndef STORE_WORKDIR_H
#define STORE_WORKDIR_H

#include <stdbool.h>
#include <stdint.h>

/* Opens a folder that root or we own and nobody else may write. -EPERM: others could; else why it can't be
 * opened. */
int workdir_open(const char *path, int *ret_fd);
/* 0 when name is a program that may be run from there; -ENOENT, -EACCES (not executable), -EPERM (others
 * could have made it). */
int workdir_program(int runtimes, const char *name);
/* Makes what isn't there and opens it; *ret_made: the last part wasn't there. id NULL = WORK/RUNTIME itself.
 */
int workdir_private(int work, const char *runtime, const char *id, uint64_t generation, int *ret_fd,
		      bool *ret_made);
/* Removes the private directory with all that is in it; whole = false: only when it is empty. 0 when there is
 * none. */
int workdir_remove(int work, const char *runtime, const char *id, uint64_t generation, bool whole);

#endif
