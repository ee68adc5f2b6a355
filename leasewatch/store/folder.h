/*
 * store/folder.h: one folder: opened by descriptor, made where it is missing, checked where it is there, never
 * repaired.
 *
 * Private to house.c.
 */
#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "store/sentence.h"

struct folder_rule {
	mode_t make;  /* the mode of one that this call makes, whatever the umask */
	mode_t must;  /* bits that one that is there has to have */
	mode_t never; /* and may not have */
	uid_t owner;
	gid_t group; /* (gid_t)-1: any */
};

/* What the folders above have to be. */
struct folder_parents {
	/* no link, each of them root's (or also's), and nobody else may write there, but where it is sticky */
	bool guarded;
	uid_t also;
	mode_t make;
};

/* dirfd/name. *ret_fd is open for reading (listing, fchmod, flock). path is for the sentence in err only. */
int folder_at(int dirfd, const char *name, const char *path, const struct folder_rule *rule, int *ret_fd,
	      char err[SENTENCE_SIZE]);
/* The folder at an absolute path, its parents made where they are missing. */
int folder_path(const char *path, const struct folder_parents *parents, const struct folder_rule *rule, int *ret_fd,
		char err[SENTENCE_SIZE]);
/* 1 when another file system begins here, 0 when not. */
int folder_is_mount(int fd);
/* 1 when nothing is in it, 0 when something is. */
int folder_is_empty(int fd);

#endif
