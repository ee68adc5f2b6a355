/* tests/unit/lease/scratch.h: a directory of the test's own, and looks into it. Every function ends the test
 * when it cannot. */
#ifndef TESTS_LEASE_SCRATCH_H
#define TESTS_LEASE_SCRATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct scratch {
	char path[PATH_MAX];
	int fd;
};

void scratch_make(struct scratch *s);
void scratch_remove(struct scratch *s);
/* The tree's three folders in it. */
void scratch_make_tree(struct scratch *s);
void scratch_write(int dirfd, const char *name, const void *buf, size_t len);
/* Its whole content is this. */
bool scratch_holds(int dirfd, const char *name, const void *buf, size_t len);
bool scratch_exists(int dirfd, const char *name);
/* Entries but "." and "..", the hidden ones too. */
int scratch_count(int dirfd);
/* Descriptors this process has open. */
int scratch_open_fds(void);

#endif
