/*
 * store/fstype.h: whether inotify hears of all that changes on a file system. It hears what goes through this kernel's
 * own view of it, and nothing else (inotify(7)): not what another machine does, nor what is done behind the file system.
 */
#ifndef STORE_FSTYPE_H
#define STORE_FSTYPE_H

enum fs_kind {
	FS_LOCAL,   /* everything */
	FS_LAYERED, /* all but what is done in a layer below, where nobody ought to write (overlayfs) */
	FS_PROGRAM, /* a program's (FUSE): what it shows may be another machine's, and change by itself */
	FS_FAR,	    /* another machine's, or several machines' */
};
struct fs_type {
	enum fs_kind kind;
	const char *name; /* for people; "" = one that is not told apart */
};

/* Of the file system that fd is on. -errno. */
int fs_type_of(int fd, struct fs_type *ret);

#endif
