/*
 * klease/paths.h: a user's own folders, by libxdg-basedir.
 */
#ifndef KLEASE_PATHS_H
#define KLEASE_PATHS_H

#include <stddef.h>

/* $XDG_DATA_HOME/leasewatch/notices. -ENOENT: no home; -ENAMETOOLONG. */
int paths_notices(char *buf, size_t size);
/* $XDG_CONFIG_HOME/leasewatch */
int paths_config(char *buf, size_t size);

#endif
