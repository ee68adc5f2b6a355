/*
 * store/house-private.h: the system's own places, and the lock of a tree.
 */
#ifndef STORE_HOUSE_PRIVATE_H
#define STORE_HOUSE_PRIVATE_H

#include "store/house.h"

#define SYSTEM_RUN RUNDIR "/leasewatch"
#define SYSTEM_LIB LOCALSTATEDIR "/lib"
#define SYSTEM_NOTICES SYSTEM_RUN "/notices"

/* .leasewatch.lock in the tree's root: one daemon a tree. Waits up to wait_ms. */
int house_lock(int root, const struct house_paths *p, int wait_ms, int *ret_fd, char err[256]);

#endif
