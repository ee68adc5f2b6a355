/*
 * os/drop.h: what a process of ours is to the kernel: hard to kill for memory, and without privilege where it reads what users write.
 */
#ifndef OS_DROP_H
#define OS_DROP_H

#include <sys/types.h>

/*
 * The judge must survive the thrash that it judges: oom_score_adj -900 and all its memory locked, where it may (root, or an unlimited
 * RLIMIT_MEMLOCK). Call before drop_to: the limit is raised for what comes after. Not to be had is no error. Children are
 * given a score of 0 back by os/proc.c. Gives what could not be had, for a log line; NULL = all of it.
 */
const char *drop_oom_and_lock(void);
/* For good: groups, gid, uid, no new privileges, no core dump. 0 or -errno; checks that there is no way back. */
int drop_to(uid_t uid, gid_t gid);

#endif
