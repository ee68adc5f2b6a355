/*
 * os/sample.h: how much CPU a workload has used, read by the daemon itself, without starting a program.
 *
 * Two ways: a cgroup's folder (cgroup v2 cpu.stat usage_usec, or v1 cpuacct.usage), or a process tree
 * (utime+stime+cutime+cstime of the root and all its descendants, by /proc/PID/task/TID/children). -EAGAIN or
 * another error = unreadable: the caller counts that as use. The sum can step back when a process between dies:
 * callers add positive steps only.
 */
#ifndef OS_SAMPLE_H
#define OS_SAMPLE_H

#include <stdint.h>

#include "lease/record.h"

int sample_cgroup_cpu(const char *cgroup, int64_t *ret_ns);
int sample_tree_cpu(const struct lease_process *root, int64_t *ret_ns);

#endif
