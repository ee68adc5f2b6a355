/*
 * core/policy.h: the numbers a lease is judged by: settings in force for its profile and surface, then the
 * record's own wishes, capped.
 */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "lease/record.h"

struct policy {
	/* ns; LEASE_NEVER where a setting may say `never` */
	int64_t ttl, renew_grace, hibernate_after, warn_before, linger;
	int64_t min_ttl;	/* 0 = none */
	int64_t max_ttl, max_lifetime, hibernated_retention;
	int64_t cpu_floor_ppm;	/* millionths of one core: 1% = 10000 */
	int priority, max_priority; /* max_priority: what a user may claim */
	enum lease_usage usage;
	char runtime[LEASE_WORD_SIZE];
};

/*
 * What the record asks for, over the settings' defaults in *p, capped by the settings' limits. 0, or -EPERM
 * with a sentence in why (a ttl of zero, a priority above the cap). What was capped is said in note ("" = nothing).
 */
int policy_apply_record(struct policy *p, const struct lease_record *r, char why[160], char note[160]);
bool policy_equal(const struct policy *a, const struct policy *b);

#endif
