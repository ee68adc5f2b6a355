/*
 * lease/at.h: the calls by directory descriptor that tree.c and change.c share. Nobody outside lease/
 * includes this.
 */
#ifndef LEASE_AT_H
#define LEASE_AT_H

#include <stdbool.h>

#include "lease/tree.h"

/* One part of a path: not "", ".", ".." and without '/'. Only such a name can never lead out of its
 * directory. */
bool lease_at_name_valid(const char *name);
/*
 * Opens dirfd/name, never through a link or into a mount. What had no openat2 gets O_NOFOLLOW, which is as
 * good for a single name but for the mount: that is seen by its device. -ELOOP says link, with O_DIRECTORY
 * too.
 */
int lease_at_open(int dirfd, const char *name, int flags, int *ret_fd);
/* As lease_stat, for any path. */
int lease_at_stat(int dirfd, const char *path, struct lease_stat *ret);
/* sync: one of statx(2)'s AT_STATX_… */
int lease_at_statx(int dirfd, const char *path, int sync, struct lease_stat *ret);
void lease_at_close(int fd);

#endif
