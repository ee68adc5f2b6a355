#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/house-private.h"
#include "store/sentence.h"

#define LOCK_NAME ".leasewatch.lock"
#define LOCK_STEP_MS 20

static int open_lock_file(int root, const struct house_paths *p, int *ret_fd, char err[256])
{
	struct stat st;
	int r = 0, fd;

	for (;;) {
		bool made = false, cut_off;

		/*
		 * Never O_CREAT on a file that may be there: fs.protected_regular(5) refuses that even to root
		 * (proc(5)).
		 */
		fd = openat(root, LOCK_NAME, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT) {
			fd = openat(root, LOCK_NAME, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
			if (fd < 0 && errno == EEXIST)
				continue;
			made = fd >= 0;
		}
		if (fd < 0)
			return sentence(err, -errno, p->notices, "%s cannot be opened: %m", LOCK_NAME);
		/* Ours, empty, and for nobody else: of one who was killed before he had given it away. */
		cut_off = !made && p->uid != geteuid() && fstat(fd, &st) == 0 && st.st_uid == geteuid() && S_ISREG(st.st_mode) &&
			  st.st_nlink == 1 && st.st_size == 0 && (st.st_mode & 07777) == 0600;
		if ((made && fchmod(fd, 0600) < 0) ||
		    ((made || cut_off) && p->uid != geteuid() && fchown(fd, p->uid, p->gid) < 0))
			r = sentence(err, -errno, p->notices, "%s cannot be given to its owner: %m", LOCK_NAME);
		break;
	}
	if (r == 0 && fstat(fd, &st) < 0)
		r = sentence(err, -errno, p->notices, "%s cannot be looked at: %m", LOCK_NAME);
	else if (r == 0 && (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != p->uid || (st.st_mode & 077)))
		r = sentence(err, -EPERM, p->notices, "%s is not a plain file of uid %u with mode 0600: move it away",
			     LOCK_NAME, p->uid);
	if (r < 0)
		close(fd);
	else
		*ret_fd = fd;
	return r;
}

/*
 * The lock counts on the file that has the name now: what was opened may have been removed while it was waited
 * for.
 */
static bool still_there(int root, int fd)
{
	struct stat named, held;

	return fstat(fd, &held) == 0 && fstatat(root, LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

int house_lock(int root, const struct house_paths *p, int wait_ms, int *ret_fd, char err[256])
{
	for (;;) {
		int fd = -1, r = open_lock_file(root, p, &fd, err);

		if (r < 0)
			return r;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			if (still_there(root, fd)) {
				*ret_fd = fd;
				return 0;
			}
		} else if (errno != EWOULDBLOCK && errno != EINTR) {
			r = sentence(err, -errno, p->notices, "%s cannot be locked: %m", LOCK_NAME);
		} else if (wait_ms <= 0) {
			r = sentence(err, -EBUSY, p->notices, "another leasewatch serves this tree");
		}
		close(fd);
		if (r < 0)
			return r;
		(void)poll(NULL, 0, LOCK_STEP_MS);
		wait_ms -= LOCK_STEP_MS;
	}
}
