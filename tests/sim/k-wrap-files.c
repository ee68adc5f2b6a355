/* What ld puts in the place of the daemon's calls: those on files. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <string.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/sim/k-wrap.h"

static bool below(const char *path, const char *top)
{
	return strncmp(path, top, strlen(top)) == 0;
}

/* Is this path the machine's? */
static bool ours(int dirfd, const char *path)
{
	static const char fds[] = "/proc/self/fd/";

	if (!simulated())
		return false;
	if (path[0] != '/')
		return dirfd >= KERNEL_FD;
	if (below(path, fds))
		return strlen(path + sizeof(fds) - 1) >= 6; /* KERNEL_FD and up */
	return path[1] == '\0' || below(path, KERNEL_ROOT) || below(path, "/proc/") ||
	       below(path, KERNEL_CGROUP) || strcmp(path, "/sim") == 0;
}

static unsigned how_of(uint64_t resolve)
{
	return (resolve & RESOLVE_NO_SYMLINKS ? WALK_NO_LINKS : 0) |
	       (resolve & RESOLVE_NO_XDEV ? WALK_NO_XDEV : 0) |
	       (resolve & RESOLVE_BENEATH ? WALK_BENEATH : 0);
}

static int open_ours(int dirfd, const char *path, int flags, uint32_t mode, unsigned how)
{
	const struct file *dir = fd_file(dirfd);
	struct file *f;
	int r;

	CALL(flags & O_CREAT ? "openat O_CREAT" : "openat", EMFILE, ENFILE, ENOMEM, EIO);
	if (path[0] != '/' && dir && dir->kind == F_CGROUP)
		r = cgroup_open(dir, path, &f);
	else if (below(path, "/proc/") || below(path, KERNEL_CGROUP))
		r = proc_open(path, flags, &f);
	else
		r = open_at(&k.daemon, dirfd, path, flags, mode, how, &f);
	return result(r < 0 ? r : fd_new(f));
}

static uint32_t mode_of(int flags, va_list ap)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, uint32_t) : 0;
}

int __wrap_openat(int dirfd, const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	uint32_t mode = mode_of(flags, ap);
	va_end(ap);
	if (!ours(dirfd, path))
		return __real_openat(dirfd, path, flags, mode);
	return open_ours(dirfd, path, flags, mode, 0);
}

int __wrap___openat_2(int dirfd, const char *path, int flags)
{
	return __wrap_openat(dirfd, path, flags);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	uint32_t mode = mode_of(flags, ap);
	va_end(ap);
	return __wrap_openat(AT_FDCWD, path, flags, mode);
}

int __wrap___open_2(const char *path, int flags)
{
	return __wrap_openat(AT_FDCWD, path, flags);
}

long __wrap_syscall(long number, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number != SYS_openat2 || !ours((int)a[0], (const char *)a[1]))
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	const struct open_how *how = (const void *)a[2];
	return open_ours((int)a[0], (const char *)a[1], (int)how->flags, (uint32_t)how->mode,
			 how_of(how->resolve));
}

int __wrap_close(int fd)
{
	if (fd < KERNEL_FD)
		return __real_close(fd);
	CALL("close", 0);
	return result(fd_close(fd));
}

ssize_t __wrap_read(int fd, void *buf, size_t len)
{
	if (fd < KERNEL_FD)
		return __real_read(fd, buf, len);
	struct file *f = fd_file(fd);
	CALL("read", EINTR, EIO);
	return (ssize_t)result(f ? file_read(f, buf, len) : -EBADF);
}

ssize_t __wrap___read_chk(int fd, void *buf, size_t len, size_t room)
{
	return len > room ? -1 : __wrap_read(fd, buf, len);
}

ssize_t __wrap_write(int fd, const void *buf, size_t len)
{
	if (fd < KERNEL_FD)
		return __real_write(fd, buf, len);
	struct file *f = fd_file(fd);
	CALL("write", EINTR, ENOSPC, EIO);
	return (ssize_t)result(f ? file_write(f, buf, len) : -EBADF);
}

static int look(int dirfd, const char *path, int flags, struct inode **ret)
{
	struct path p;
	int r = walk(
	    &k.daemon, dirfd, path,
	    (flags & AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW) | (flags & AT_EMPTY_PATH ? WALK_EMPTY : 0), &p);

	if (r == 0 && !p.inode)
		r = -ENOENT;
	if (r == 0)
		*ret = p.inode;
	return r;
}

int __wrap_fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	struct inode *i = NULL;

	if (!ours(dirfd, path))
		return __real_fstatat(dirfd, path, st, flags);
	CALL("fstatat", ENOMEM);
	int r = look(dirfd, path, flags, &i);
	if (r == 0)
		stat_of(i, st);
	return result(r);
}

int __wrap_lstat(const char *path, struct stat *st)
{
	return __wrap_fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int __wrap_stat(const char *path, struct stat *st)
{
	return __wrap_fstatat(AT_FDCWD, path, st, 0);
}

int __wrap_fstat(int fd, struct stat *st)
{
	if (fd < KERNEL_FD)
		return __real_fstat(fd, st);
	const struct file *f = fd_file(fd);
	CALL("fstat", 0);
	if (!f)
		return result(-EBADF);
	memset(st, 0, sizeof(*st));
	if (f->kind == F_INODE)
		stat_of(f->inode, st);
	return 0;
}

int __wrap_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *x)
{
	struct inode *i = NULL;
	struct stat st;

	if (!ours(dirfd, path))
		return __real_statx(dirfd, path, flags, mask, x);
	CALL("statx", ENOMEM);
	int r = look(dirfd, path, flags, &i);
	if (r < 0)
		return result(r);
	stat_of(i, &st);
	memset(x, 0, sizeof(*x));
	x->stx_mask = STATX_BASIC_STATS;
	x->stx_nlink = i->nlink;
	x->stx_uid = i->uid;
	x->stx_gid = i->gid;
	x->stx_mode = (uint16_t)i->mode;
	x->stx_ino = i->ino;
	x->stx_size = (uint64_t)st.st_size;
	x->stx_dev_minor = i->sb->dev;
	x->stx_mtime.tv_sec = st.st_mtim.tv_sec;
	x->stx_mtime.tv_nsec = (uint32_t)st.st_mtim.tv_nsec;
	x->stx_ctime.tv_sec = st.st_ctim.tv_sec;
	x->stx_ctime.tv_nsec = (uint32_t)st.st_ctim.tv_nsec;
	x->stx_attributes_mask = STATX_ATTR_MOUNT_ROOT;
	x->stx_attributes = i == k.root || (is_folder(i) && i->covered) ? STATX_ATTR_MOUNT_ROOT : 0;
	return 0;
}

int __wrap_fstatfs(int fd, struct statfs *fs)
{
	if (fd < KERNEL_FD)
		return __real_fstatfs(fd, fs);
	const struct file *f = fd_file(fd);
	CALL("fstatfs", EIO);
	if (!f || f->kind != F_INODE)
		return result(-EBADF);
	const struct super *s = f->inode->sb;
	memset(fs, 0, sizeof(*fs));
	fs->f_type = kernel_faults.fs_magic ? kernel_faults.fs_magic : 0x01021994; /* tmpfs */
	fs->f_bsize = 4096;
	fs->f_blocks = s->blocks;
	fs->f_bfree = fs->f_bavail = s->blocks ? s->blocks - s->used : 0;
	fs->f_files = s->inodes;
	fs->f_ffree = s->inodes ? s->inodes - s->used_inodes : 0;
	return 0;
}

int __wrap_flock(int fd, int how)
{
	if (fd < KERNEL_FD)
		return __real_flock(fd, how);
	struct file *f = fd_file(fd);
	CALL("flock", ENOLCK);
	if (!f || f->kind != F_INODE || (f->flags & O_PATH))
		return result(-EBADF);
	if ((how & LOCK_EX) && !f->holds_lock) {
		if (f->inode->locked)
			return result(-EWOULDBLOCK);
		f->inode->locked = f->holds_lock = true;
	} else if ((how & LOCK_UN) && f->holds_lock) {
		f->inode->locked = f->holds_lock = false;
	}
	return 0;
}

/* Only a folder's matters: that the registry's name is in it. What the tree itself holds is in memory anyway.
 */
int __wrap_fsync(int fd)
{
	char path[1024];

	if (fd < KERNEL_FD)
		return __real_fsync(fd);
	const struct file *f = fd_file(fd);
	CALL("fsync", EIO);
	if (!f || f->kind != F_INODE || (f->flags & O_PATH))
		return result(-EBADF);
	if (is_folder(f->inode) && path_of(f->inode, path, sizeof(path)) == 0)
		memdisk_sync_dir(k.disk, path);
	return 0;
}

int __wrap_fchmod(int fd, mode_t mode)
{
	if (fd < KERNEL_FD)
		return __real_fchmod(fd, mode);
	struct file *f = fd_file(fd);
	CALL("fchmod", EIO);
	if (!f || f->kind != F_INODE || (f->flags & O_PATH))
		return result(-EBADF);
	return result(inode_chmod(&k.daemon, f->dentry, f->inode, mode));
}

int __wrap_fchown(int fd, uid_t uid, gid_t gid)
{
	if (fd < KERNEL_FD)
		return __real_fchown(fd, uid, gid);
	struct file *f = fd_file(fd);
	CALL("fchown", EIO);
	if (!f || f->kind != F_INODE || (f->flags & O_PATH))
		return result(-EBADF);
	return result(inode_chown(&k.daemon, f->dentry, f->inode, uid, gid));
}

int __wrap_mkdirat(int dirfd, const char *path, mode_t mode)
{
	if (!ours(dirfd, path))
		return __real_mkdirat(dirfd, path, mode);
	CALL("mkdirat", ENOSPC, EIO);
	return result(tree_mkdir(&k.daemon, dirfd, path, mode));
}

/* Who lies where, before it is moved: told after. */
static const char *folder_of(int dirfd)
{
	const struct file *f = fd_file(dirfd);

	return f && f->kind == F_INODE && f->inode->self ? f->inode->self->name : "";
}

static void moved(int from, const char *name, int to, const char *to_name)
{
	if (!k.hooks.moved)
		return;
	k.outside++;
	k.hooks.moved(k.hooks.arg, folder_of(from), name, to_name ? folder_of(to) : NULL, to_name);
	k.outside--;
}

int __wrap_unlinkat(int dirfd, const char *path, int flags)
{
	if (!ours(dirfd, path))
		return __real_unlinkat(dirfd, path, flags);
	CALL("unlinkat", EIO, ENOMEM);
	int r = tree_unlink(&k.daemon, dirfd, path, flags & AT_REMOVEDIR);
	if (r == 0)
		moved(dirfd, path, -1, NULL);
	return result(r);
}

int __wrap_renameat2(int from, const char *old, int to, const char *name, unsigned flags)
{
	if (!ours(from, old))
		return __real_renameat2(from, old, to, name, flags);
	CALL("renameat2", EIO, ENOSPC, ENOMEM);
	int r = tree_rename(&k.daemon, from, old, to, name, !(flags & RENAME_NOREPLACE));
	if (r == 0)
		moved(from, old, to, name);
	return result(r);
}

int __wrap_renameat(int from, const char *old, int to, const char *name)
{
	if (!ours(from, old))
		return __real_renameat(from, old, to, name);
	return __wrap_renameat2(from, old, to, name, 0);
}

int __wrap_linkat(int from, const char *old, int to, const char *name, int flags)
{
	if (!ours(from, old))
		return __real_linkat(from, old, to, name, flags);
	CALL("linkat", EIO, ENOSPC);
	return result(tree_link(&k.daemon, from, old, to, name, flags & AT_SYMLINK_FOLLOW ? WALK_FOLLOW : 0));
}

int __wrap_utimensat(int dirfd, const char *path, const struct timespec times[2], int flags)
{
	struct path p;

	if (!ours(dirfd, path))
		return __real_utimensat(dirfd, path, times, flags);
	CALL("utimensat", EIO);
	int r = walk(&k.daemon, dirfd, path, flags & AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW, &p);
	if (r == 0 && !p.inode)
		r = -ENOENT;
	if (r < 0)
		return result(r);
	int64_t mtime = times ? times[1].tv_sec * K_S + times[1].tv_nsec : 0;
	return result(inode_utime(&k.daemon, p.dentry, p.inode, times ? &mtime : NULL));
}

int __wrap_access(const char *path, int mode)
{
	struct inode *i = NULL;

	if (!ours(AT_FDCWD, path))
		return __real_access(path, mode);
	CALL("access", 0);
	if (below(path, "/proc/"))
		return result(proc_there(path) ? 0 : -ENOENT);
	int r = look(AT_FDCWD, path, 0, &i);
	return result(r < 0 ? r : may(i, &k.daemon, (unsigned)mode & 7));
}
