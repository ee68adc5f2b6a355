#include "config.h"

#include "os/drop.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

const char *drop_oom_and_lock(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	const char *missing = NULL;
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "-900", 4) != 4)
		missing = "oom_score_adj stays as it is";
	if (fd >= 0)
		close(fd);
	/* With a finite limit, MCL_FUTURE would make malloc fail: then rather none of it. */
	if (setrlimit(RLIMIT_MEMLOCK, &all) < 0 && (getrlimit(RLIMIT_MEMLOCK, &all) < 0 || all.rlim_cur != RLIM_INFINITY))
		return missing ? "oom_score_adj stays as it is, and memory cannot be locked" : "memory cannot be locked";
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		return missing ? "oom_score_adj stays as it is, and memory cannot be locked" : "memory cannot be locked";
	return missing;
}

int drop_to(uid_t uid, gid_t gid)
{
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	/* Ours was the real user too, so nothing may lead back. */
	if (uid != 0 && (setuid(0) == 0 || seteuid(0) == 0))
		return -EPERM;
	return 0;
}
