/* store/door.h: a socket with a name, in a folder that only we can write. */
#ifndef STORE_DOOR_H
#define STORE_DOOR_H

/*
 * A SOCK_SEQPACKET that listens, non-blocking, in place of what has that name in the folder; everybody may connect. Before there
 * is a second thread or signal handler that makes files: the umask is changed for a moment. -errno.
 */
int door_open(const char *path, const char *name, int waiting, int *ret);

#endif
