/*
 * ear.c: LD_PRELOADed into a daemon: inotify as it is on a bad day. What is wrong is named by files in the folder $EAR, so
 * that it comes and goes while the daemon runs:
 *	deaf	    events are lost without a word
 *	noinstance  there is no instance left for us (EMFILE)
 *	nowatch	    there is no watch left for a single lock (ENOSPC)
 *	nfs	    every file system says that it is NFS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

static int bad(const char *word)
{
	char path[4096];
	const char *dir = getenv("EAR");

	(void)snprintf(path, sizeof(path), "%s/%s", dir ? dir : "", word);
	return dir && access(path, F_OK) == 0;
}

static int is_inotify(int fd)
{
	char link[64], to[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, to, sizeof(to) - 1);
	to[n < 0 ? 0 : n] = '\0';
	return strcmp(to, "anon_inode:inotify") == 0;
}

ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*real)(int, void *, size_t) = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");

	if (!is_inotify(fd) || !bad("deaf"))
		return real(fd, buf, size);
	while (real(fd, buf, size) > 0)
		;
	errno = EAGAIN;
	return -1;
}

int inotify_init1(int flags)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "inotify_init1");

	if (!bad("noinstance"))
		return real(flags);
	errno = EMFILE;
	return -1;
}

int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	int (*real)(int, const char *, uint32_t) =
		(int (*)(int, const char *, uint32_t))dlsym(RTLD_NEXT, "inotify_add_watch");

	if (!(mask & IN_ATTRIB) || !bad("nowatch"))
		return real(fd, path, mask);
	errno = ENOSPC;
	return -1;
}

int fstatfs(int fd, struct statfs *buf)
{
	int (*real)(int, struct statfs *) = (int (*)(int, struct statfs *))dlsym(RTLD_NEXT, "fstatfs");
	int r = real(fd, buf);

	if (r == 0 && bad("nfs"))
		buf->f_type = 0x6969;
	return r;
}
