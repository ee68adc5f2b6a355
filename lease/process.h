/*
 * lease/process.h: a process, named so that a reused number is noticed: pid, start time, boot id.
 *
 * Who calls: pam_lease and klease (to say who leads a lease), the daemon (to check such a claim), the process
 * runtime. No allocation, no stdio. Source of the rule: proc(5), field 22 of /proc/PID/stat; pidfd_open(2) on
 * why to check again after opening.
 */
#ifndef LEASE_PROCESS_H
#define LEASE_PROCESS_H

#include <sys/types.h>

#include "lease/record.h"

/* Start time, parent and state letter of a live process. -ESRCH when there is none. Any pointer may be NULL. */
int lease_process_stat(int32_t pid, uint64_t *ret_start, int32_t *ret_ppid, char *ret_state);
int lease_process_self(struct lease_process *ret);
/*
 * A pidfd for exactly this process: opened, then owner (real uid; (uid_t)-1 = any) and start time looked at.
 * -ESRCH gone or a zombie or another one with its number, -EPERM another owner's. O_CLOEXEC.
 */
int lease_process_open(const struct lease_process *p, uid_t uid, int *ret_pidfd);
/* This boot's id (/proc/sys/kernel/random/boot_id). */
int lease_boot_id(char boot[LEASE_BOOT_SIZE]);

#endif
