/*
 * lease/beacon.h: notices/.leasewatch, the readable line that says where a tree's daemon keeps things and
 * whether it lives.
 *
 *	state=PATH (folder of the state files) db=PATH sessions=PATH (twins) pid= pid_start= boot= mode=system|user
 *	hold=WALLMS hold_by= (while a hold is in force) degraded= (what is wrong with its hearing, for people)
 *	breaker=WALLMS breaker_why= (while the breaker has tripped)
 *
 * Written by the daemon, whole; read by klease and pam_lease, who look at its owner first. A daemon lives when
 * boot is this boot's and lease_process_open() finds the process. Unknown keys are a newer daemon's and are skipped.
 */
#ifndef LEASE_BEACON_H
#define LEASE_BEACON_H

#include "lease/kv.h"
#include "lease/record.h"

#define LEASE_BEACON_NAME ".leasewatch"
#define LEASE_PATH_SIZE 512

struct lease_beacon {
	char state[LEASE_PATH_SIZE], db[LEASE_PATH_SIZE], sessions[LEASE_PATH_SIZE];
	struct lease_process daemon;
	char boot[LEASE_BOOT_SIZE];
	bool user_mode;
	int64_t hold_until; /* wall ms; 0 = none */
	char hold_by[64];
	char degraded[LEASE_PATH_SIZE]; /* "" = nothing is wrong */
	int64_t breaker_until; /* wall ms; 0 = not tripped */
	char breaker_why[96];
};
int lease_beacon_format(const struct lease_beacon *b, char *buf, size_t size, size_t *ret_len);
int lease_beacon_parse(const char *buf, size_t len, struct lease_beacon *ret, struct lease_error *err);

#endif
