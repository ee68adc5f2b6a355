#include "config.h"

#include "klease/paths.h"

#include <basedir.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

static int below(char *buf, size_t size, const char *(*home)(xdgHandle *), const char *rest)
{
	/* Once a process, and kept: xdgWipeHandle of 1.2.0 forgets to free the runtime folder's name. */
	static xdgHandle h;
	static bool ready;
	const char *dir;
	int n;

	if (!ready && !xdgInitHandle(&h))
		return -ENOENT;
	ready = true;
	dir = home(&h);
	if (!dir || dir[0] != '/')
		return -ENOENT;
	n = snprintf(buf, size, "%s/%s", dir, rest);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int paths_notices(char *buf, size_t size)
{
	return below(buf, size, xdgDataHome, "leasewatch/notices");
}

int paths_config(char *buf, size_t size)
{
	return below(buf, size, xdgConfigHome, "leasewatch");
}
