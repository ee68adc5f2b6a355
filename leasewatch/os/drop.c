#include "config.h"

#include "os/drop.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define OOM_OURS "-900"

static bool oom_lowered;

static bool set_oom(const char *score)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, score, strlen(score)) == (ssize_t)strlen(score);

	if (fd >= 0)
		close(fd);
	return done;
}

void drop_oom_lend(void)
{
	if (oom_lowered)
		(void)set_oom("0");
}

void drop_oom_take_back(void)
{
	if (oom_lowered)
		(void)set_oom(OOM_OURS);
}

const char *drop_oom_and_lock(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	const char *missing = NULL;

	oom_lowered = set_oom(OOM_OURS);
	if (!oom_lowered)
		missing = "oom_score_adj stays as it is";
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
