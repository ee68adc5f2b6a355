/*
 * tests/fault/turns.h: a registry's life on a disk in memory, with a recording of it: what was done to the disk, and
 * what was in the registry when each turn was acknowledged. Each function ends the test when it cannot.
 */
#ifndef TESTS_TURNS_H
#define TESTS_TURNS_H

#include "store/registry.h"
#include "tests/fault/memdisk.h"

#define TURNS_MAX 512

struct turns {
	char path[4096];
	struct memdisk *disk;
	size_t first; /* before so many changes there was no registry to be lost */
	int n; /* acknowledged; [0] is the new registry itself */
	struct acknowledged {
		size_t ops; /* how many changes of the disk were recorded when it was */
		uint64_t digest, generation;
	} after[TURNS_MAX + 1];
	char ended[LEASE_ID_SIZE]; /* a lease that has had its end, from turn .ended_at on */
	int ended_at;
};

/* The same numbers for the same *seed. arg is a uint64_t *seed. */
uint32_t turns_seeded(void *arg, uint32_t below);
/* synchronous: NULL = as the registry sets it. The disk is the default VFS until turns_end. */
void turns_record(struct turns *t, const char *path, int n, const char *synchronous);
/* A file of format 1, written and synced long ago and never checkpointed, that today's daemon opens. */
void turns_record_upgrade(struct turns *t, const char *path);
void turns_end(struct turns *t);
/* All that is in the three tables. */
uint64_t turns_digest(struct registry *r);
/* What the file itself says of its pages and indexes. */
bool turns_intact(struct registry *r);
/* One more turn, of a lease that no recorded one has. */
int turns_one_more(struct registry *r, uint64_t *ret_generation);
/* -EEXIST, if it has. */
int turns_end_again(struct registry *r, const char *id);
/* fsync of a folder by the registry means this disk's. */
void turns_folder_is_on(struct memdisk *disk, const char *path);

#endif
