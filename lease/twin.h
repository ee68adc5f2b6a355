/*
 * lease/twin.h: sessions/ID, the root-owned twin of a login's lock. What only root may claim stands here: who
 * leads the session, and that PAM (not a hand) closed it.
 *
 *	id= uid= surface= service= leader= leader_start= boot= audit=SESSIONID (0 = not set) closed=WALLMS (0,
 *	or not said: open)
 *
 * Written whole by pam_lease at open; at close a line is added (closed). Read by the daemon, which believes it only
 * when root owns it and nobody else can write it. Removed by the daemon when the session's lease has ended.
 */
#ifndef LEASE_TWIN_H
#define LEASE_TWIN_H

#include "lease/kv.h"
#include "lease/record.h"

struct lease_twin {
	char id[LEASE_ID_SIZE];
	char surface[LEASE_SURFACE_SIZE], service[LEASE_SURFACE_SIZE];
	uint32_t uid;
	struct lease_process leader;
	char boot[LEASE_BOOT_SIZE];
	uint32_t audit;	    /* /proc/PID/sessionid; 0 = not set */
	int64_t closed;	    /* wall ms; 0 = open */
};
int lease_twin_format(const struct lease_twin *t, char *buf, size_t size, size_t *ret_len);
int lease_twin_parse(const char *buf, size_t len, struct lease_twin *ret, struct lease_error *err);

#endif
