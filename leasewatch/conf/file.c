#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/file.h"

#define WHAT 200

static int trusted(const struct stat *st, char what[WHAT])
{
	uid_t me = geteuid();
	/* A user's own group is the user's own matter, as with umask 002. In system mode it is not. */
	bool own = st->st_uid == me && me != 0;

	if (st->st_uid != 0 && st->st_uid != me) {
		snprintf(what, WHAT, "belongs to uid %u: it must be root's or uid %u's (chown it)",
			 st->st_uid, me);
		return -EPERM;
	}
	if (st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !own)) {
		snprintf(what, WHAT, "others can write it (mode %04o): chmod go-w it", st->st_mode & 07777u);
		return -EPERM;
	}
	return 0;
}

static int read_whole(int fd, char *buf, size_t size, size_t *ret_len)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, buf + len, size - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			len += (size_t)n;
	} while (n != 0 && len < size);
	*ret_len = len;
	return 0;
}

int conf_file_read(const char *path, char **ret, size_t *ret_len, char what[WHAT])
{
	char *buf = NULL;
	struct stat st;
	size_t len;
	int fd, r = 0;

	*what = '\0';
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		r = -errno;
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(what, WHAT, "is not a regular file");
		r = -EINVAL;
		goto out;
	}
	r = trusted(&st, what);
	if (r < 0)
		goto out;
	/* One byte more than may be there: the file may have grown since. */
	buf = malloc(CONF_FILE_MAX + 1);
	if (!buf) {
		r = -ENOMEM;
		goto out;
	}
	r = read_whole(fd, buf, CONF_FILE_MAX + 1, &len);
	if (r < 0)
		goto out;
	if (len > CONF_FILE_MAX) {
		snprintf(what, WHAT, "is larger than 1 MiB: is it the right file?");
		r = -EFBIG;
		goto out;
	}
	*ret = buf;
	*ret_len = len;
	buf = NULL;
out:
	if (r < 0 && r != -ENOENT && !*what)
		snprintf(what, WHAT, "cannot be read: %s", strerror(-r));
	free(buf);
	if (fd >= 0)
		(void)close(fd);
	return r;
}
