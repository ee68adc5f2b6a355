#include "config.h"

#include "store/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int door_open(const char *path, const char *name, int waiting, int *ret)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	int folder = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd, r = 0;
	mode_t mask;

	if (folder < 0)
		return -errno;
	/* Its whole path may be longer than a socket's name can be. */
	(void)snprintf(where.sun_path, sizeof where.sun_path, "/proc/self/fd/%d/%s", folder, name);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		r = -errno;
		close(folder);
		return r;
	}
	(void)unlinkat(folder, name, 0);
	/* Everybody may connect: who it is, and whether he has a ticket, is looked at then. */
	mask = umask(0111);
	if (bind(fd, (struct sockaddr *)&where, sizeof where) < 0)
		r = -errno;
	(void)umask(mask);
	if (r == 0 && listen(fd, waiting) < 0)
		r = -errno;
	close(folder);
	if (r < 0)
		close(fd);
	else
		*ret = fd;
	return r;
}
