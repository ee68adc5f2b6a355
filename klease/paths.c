#include "config.h"

#include "klease/paths.h"

#include <basedir.h>
#include <errno.h>
#include <stdio.h>

static int below(char *buf, size_t size, const char *(*home)(xdgHandle *), const char *rest)
{
	xdgHandle h;
	const char *dir;
	int n, r = 0;

	if (!xdgInitHandle(&h))
		return -ENOENT;
	dir = home(&h);
	if (!dir || dir[0] != '/') {
		r = -ENOENT;
	} else {
		n = snprintf(buf, size, "%s/%s", dir, rest);
		if (n < 0 || (size_t)n >= size)
			r = -ENAMETOOLONG;
	}
	xdgWipeHandle(&h);
	return r;
}

int paths_notices(char *buf, size_t size)
{
	return below(buf, size, xdgDataHome, "leasewatch/notices");
}

int paths_config(char *buf, size_t size)
{
	return below(buf, size, xdgConfigHome, "leasewatch");
}
