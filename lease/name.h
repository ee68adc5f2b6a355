/*
 * lease/name.h: names of files in a notices tree.
 *
 *	lock-<surface>-<user>-<id>	a lease (in active/ or queue/)
 *	ask-<id>			a request for something else than a lease (in queue/)
 *
 * Only the trailing id is ever parsed; surface and user are for people who type ls. Bytes that are odd in a
 * file name are written as %XX, so a name never holds '/', a blank, a control byte or a byte above 126.
 */
#ifndef LEASE_NAME_H
#define LEASE_NAME_H

#include <stdbool.h>

#include "lease/id.h"

#define LEASE_SURFACE_SIZE 33 /* with the NUL: a surface is 1-32 of [A-Za-z0-9_.-] and begins with a letter or digit */
#define LEASE_USER_SIZE 65
#define LEASE_NAME_SIZE 256

bool lease_surface_valid(const char *s);
/* -EINVAL: bad surface or id; -ENAMETOOLONG. user is encoded, and cut where it would not fit. */
int lease_name_make(char name[LEASE_NAME_SIZE], const char *surface, const char *user, const char *id);
/* The id at the end of a `lock-…-<id>` (or `ask-<id>`) name, pointing into name; NULL when name is no such name. */
const char *lease_name_lock_id(const char *name);
const char *lease_name_ask_id(const char *name);
/* USER of a lock's name as far as it fits, "" where it can't be told. For people: the owner is who the kernel says it is. */
void lease_name_user(char user[LEASE_USER_SIZE], const char *name, const char *surface);

#endif
