/*
 * lease/id.h: the id of a lease, `kls-` and ten characters of a-z2-7 (50 random bits).
 *
 * Who calls: everybody, pam_lease inside sshd included. No allocation, no static data, no stdio.
 * Ids are minted by whoever makes the lock, from the kernel's generator; a clash is found by the daemon, which
 * refuses the later one.
 */
#ifndef LEASE_ID_H
#define LEASE_ID_H

#include <stdbool.h>

#define LEASE_ID_SIZE 15 /* with the NUL */

/* Fills id with a new one. Cannot fail. */
void lease_id_make(char id[LEASE_ID_SIZE]);
/* True when s is an id and nothing else. */
bool lease_id_valid(const char *s);

#endif
