/*
 * os/drop.h: what a process of ours is to the kernel: hard to kill for memory, and without privilege where it
 * reads what users write.
 */
#ifndef OS_DROP_H
#define OS_DROP_H

#include <sys/types.h>

/*
 * The judge must survive the thrash that it judges: oom_score_adj -900 and all its memory locked, where it may
 * (root, or an unlimited RLIMIT_MEMLOCK). Call before drop_to: the limit is raised for what comes after. Not to
 * be had is no error. Gives what could not be had, for a log line; NULL = all of it.
 */
const char *drop_oom_and_lock(void);
/*
 * Around the start of a child: the score it inherits is 0, as every other process's, for what it starts may be
 * a container that is to be the kernel's victim long before us. Does nothing where the score was never lowered.
 */
void drop_oom_lend(void);
void drop_oom_take_back(void);
/* For good: groups, gid, uid, no new privileges, no core dump. 0 or -errno; checks that there is no way back. */
int drop_to(uid_t uid, gid_t gid);

#endif
