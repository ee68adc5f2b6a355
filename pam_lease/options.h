/*
 * pam_lease/options.h: what stands behind pam_lease.so in a service's file, and which surface a service is.
 */
#ifndef PAM_LEASE_OPTIONS_H
#define PAM_LEASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <security/pam_modules.h>

#include "lease/name.h"

/* The texts point into argv. */
struct options {
	const char *notices;  /* an absolute path */
	const char *surfaces; /* the services that get a lease: "sshd,login" */
	const char *surface;  /* NULL, or what every session of this service is */
	int64_t ttl;	      /* ns; 0 = not said */
	int64_t linger;	      /* ns; -1 = not said */
	bool root;	      /* sessions of uid 0 get a lease too */
	bool debug;
};

/* A wrong option is logged with its name and counts as not given. */
void options_read(struct options *ret, pam_handle_t *pamh, int argc, const char **argv);
/*
 * False: sessions of this service get no lease. A service is a surface where it is listed, else by what stands
 * before its first '-' (sshd-admin is sshd).
 */
bool options_surface(const struct options *o, const char *service, char ret[LEASE_SURFACE_SIZE]);

#endif
