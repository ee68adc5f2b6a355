/*
 * conf/file.h: the bytes of a configuration file, once it is clear that they are the administrator's.
 */
#ifndef CONF_FILE_H
#define CONF_FILE_H

#include <stddef.h>

#define CONF_FILE_MAX (1024 * 1024)

/*
 * Reads path whole into a buffer of malloc's. Never blocks on a FIFO. -ENOENT with what ""; else -errno,
 * -EINVAL (no regular file), -EFBIG or -EPERM (others can write it) with a sentence in what.
 */
int conf_file_read(const char *path, char **ret, size_t *ret_len, char what[200]);

#endif
