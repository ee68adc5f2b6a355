/* Descriptors: open, read, write, close. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>

#include "tests/sim/k.h"

struct file *file_new(enum file_kind kind, int flags)
{
	struct file *f = k_alloc(sizeof(*f));

	f->kind = kind;
	f->flags = flags;
	return f;
}

struct file *file_of_inode(struct dentry *d, struct inode *i, int flags)
{
	struct file *f = file_new(F_INODE, flags);

	f->dentry = d;
	f->inode = i;
	d->refs++;
	i->refs++;
	if (S_ISDIR(i->mode) && !(flags & O_PATH)) {
		f->next_reader = i->readers;
		i->readers = f;
	}
	return f;
}

static bool writes(const struct file *f)
{
	return (f->flags & O_ACCMODE) != O_RDONLY;
}

static void close_inode(struct file *f)
{
	struct file **at = &f->inode->readers;

	while (*at && *at != f)
		at = &(*at)->next_reader;
	if (*at)
		*at = f->next_reader;
	if (f->holds_lock)
		f->inode->locked = false;
	if (!(f->flags & O_PATH))
		tell_dentry(f->dentry, f->inode, writes(f) ? IN_CLOSE_WRITE : IN_CLOSE_NOWRITE);
	f->dentry->refs--;
	dentry_put(f->dentry);
	inode_put(f->inode);
}

void file_unlist(struct file **list, const struct file *f)
{
	while (*list && *list != f)
		list = &(*list)->next;
	if (*list)
		*list = f->next;
}

void file_close(struct file *f)
{
	epoll_forget(f);
	switch (f->kind) {
	case F_INODE:
		close_inode(f);
		break;
	case F_INOTIFY:
		inotify_free(f);
		break;
	case F_TIMER:
		file_unlist(&k.timers, f);
		break;
	case F_CLOCK:
		k.clock_timer = NULL;
		break;
	case F_SIGNAL:
		k.signals = NULL;
		break;
	case F_PROCESS:
	case F_CGROUP:
	case F_TASKS:
		process_let_go(f);
		break;
	case F_PEER:
		k.peer = NULL;
		break;
	case F_EPOLL:
		k.epoll = NULL;
		break;
	case F_TEXT:
		break;
	}
	free(f->text);
	free(f);
}

int fd_new(struct file *f)
{
	int n = k.fd_low;

	while (n < K_FDS && k.fds[n])
		n++;
	if (n == K_FDS) {
		file_close(f);
		return -EMFILE;
	}
	k.fds[n] = f;
	k.fd_low = n + 1;
	if (n >= k.fd_top)
		k.fd_top = n + 1;
	return KERNEL_FD + n;
}

struct file *fd_file(int fd)
{
	return fd >= KERNEL_FD && fd < KERNEL_FD + K_FDS ? k.fds[fd - KERNEL_FD] : NULL;
}

int fd_close(int fd)
{
	struct file *f = fd_file(fd);

	if (!f)
		return -EBADF;
	k.fds[fd - KERNEL_FD] = NULL;
	if (fd - KERNEL_FD < k.fd_low)
		k.fd_low = fd - KERNEL_FD;
	file_close(f);
	return 0;
}

static int open_unnamed(const struct cred *c, struct path *p, int flags, uint32_t mode, struct file **ret)
{
	struct inode *i;
	struct dentry *d;
	char name[24];
	int r;

	if (!is_folder(p->inode))
		return p->inode ? -ENOTDIR : -ENOENT;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return -EINVAL;
	r = may(p->inode, c, 3); /* also in a folder that has gone */
	if (r < 0)
		return r;
	i = inode_make(p->inode->sb, S_IFREG | (mode & 07777 & ~022u), c);
	if (!i)
		return -ENOSPC;
	i->nlink = 0;
	i->linkable = !(flags & O_EXCL);
	(void)snprintf(name, sizeof(name), "#%llu", (unsigned long long)i->ino);
	d = dentry_new(p->inode, name, strlen(name), i);
	*ret = file_of_inode(d, i, flags);
	tell_dentry(d, i, IN_OPEN);
	return 0;
}

static int check_open(const struct cred *c, const struct path *p, int flags)
{
	unsigned want = (flags & O_ACCMODE) == O_RDONLY ? 4 : (flags & O_ACCMODE) == O_WRONLY ? 2 : 6;
	const struct inode *i = p->inode;

	if (flags & O_TRUNC)
		want |= 2;
	if ((flags & O_DIRECTORY) && !S_ISDIR(i->mode))
		return -ENOTDIR;
	if (flags & O_PATH)
		return 0;
	if (S_ISLNK(i->mode))
		return -ELOOP;
	if (S_ISDIR(i->mode) && ((want & 2) || (flags & O_CREAT)))
		return -EISDIR;
	return may(i, c, want);
}

int open_at(const struct cred *c, int dirfd, const char *path, int flags, uint32_t mode, unsigned how,
	    struct file **ret)
{
	struct path p;
	bool made = false;
	int r;

	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	if (!(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL))
		how |= WALK_FOLLOW;
	if (flags & O_CREAT)
		how |= WALK_PARENT;
	r = walk(c, dirfd, path, how, &p);
	if (r < 0)
		return r;
	if ((flags & O_CREAT) && p.slash)
		return -EISDIR;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return open_unnamed(c, &p, flags, mode, ret);
	if ((flags & O_CREAT) && p.inode && (flags & O_EXCL))
		return -EEXIST;
	if (!p.inode) {
		if (!(flags & O_CREAT) || !p.dir)
			return -ENOENT;
		p.dentry = tree_create(c, &p, S_IFREG | (mode & 07777 & ~022u), &r);
		if (!p.dentry)
			return r;
		p.inode = p.dentry->inode;
		made = true;
	}
	r = made ? 0 : check_open(c, &p, flags);
	if (r < 0)
		return r;
	if (S_ISFIFO(p.inode->mode) && !(flags & O_PATH) && (flags & O_ACCMODE) == O_WRONLY)
		return -ENXIO;
	if ((flags & O_TRUNC) && !made && S_ISREG(p.inode->mode)) {
		(void)inode_room(p.inode, 0);
		inode_resize(p.dentry, p.inode);
	}
	*ret = file_of_inode(p.dentry, p.inode, flags);
	if (!(flags & O_PATH))
		tell_dentry(p.dentry, p.inode, IN_OPEN);
	return 0;
}

static ssize_t read_bytes(const char *from, size_t size, size_t *at, void *buf, size_t len)
{
	size_t n = *at < size ? size - *at : 0;

	if (n > len)
		n = len;
	if (n > 0)
		memcpy(buf, from + *at, n);
	*at += n;
	return (ssize_t)n;
}

static ssize_t read_number(uint64_t *what, void *buf, size_t len)
{
	if (len < sizeof(*what))
		return -EINVAL;
	if (*what == 0)
		return -EAGAIN;
	memcpy(buf, what, sizeof(*what));
	*what = 0;
	return sizeof(*what);
}

ssize_t file_read(struct file *f, void *buf, size_t len)
{
	ssize_t n;

	switch (f->kind) {
	case F_INODE:
		if ((f->flags & O_PATH) || (f->flags & O_ACCMODE) == O_WRONLY)
			return -EBADF;
		if (!S_ISREG(f->inode->mode))
			return S_ISDIR(f->inode->mode) ? -EISDIR : 0;
		n = read_bytes(f->inode->data, f->inode->size, &f->at, buf, len);
		if (n > 0)
			tell_dentry(f->dentry, f->inode, IN_ACCESS);
		return n;
	case F_TEXT:
		return read_bytes(f->text, f->len, &f->at, buf, len);
	case F_INOTIFY:
		return inotify_take(f, buf, len);
	case F_CLOCK:
		return clock_timer_take(f);
	case F_TIMER:
		timers_look();
		return read_number(&f->ticks, buf, len);
	case F_SIGNAL:
		return signals_take(buf, len);
	case F_CGROUP:
	case F_TASKS:
		return -EISDIR;
	case F_EPOLL:
	case F_PROCESS:
	case F_PEER:
		break;
	}
	return -EINVAL;
}

ssize_t file_write(struct file *f, const void *buf, size_t len)
{
	struct inode *i = f->inode;

	if (f->kind != F_INODE || (f->flags & O_PATH) || !writes(f))
		return -EBADF;
	if (!S_ISREG(i->mode))
		return -EPIPE;
	if (len == 0)
		return 0;
	if (f->flags & O_APPEND)
		f->at = i->size;
	if (f->at + len > i->size && !inode_room(i, f->at + len))
		return -ENOSPC;
	memcpy(i->data + f->at, buf, len);
	f->at += len;
	i->mtime = i->ctime = stamp_now();
	tell_dentry(f->dentry, i, IN_MODIFY);
	return (ssize_t)len;
}

static bool list_one(char *buf, size_t size, size_t *at, const char *name, uint64_t ino, unsigned char type)
{
	size_t len = strlen(name), need = (offsetof(struct dirent64, d_name) + len + 1 + 7) & ~(size_t)7;
	struct dirent64 *d = (void *)(buf + *at);

	if (*at + need > size)
		return false;
	d->d_ino = ino;
	d->d_off = 0;
	d->d_reclen = (unsigned short)need;
	d->d_type = type;
	memcpy(d->d_name, name, len + 1);
	*at += need;
	return true;
}

/* getdents64 */
ssize_t file_list(struct file *f, void *buf, size_t size)
{
	static const char *const dots[] = {".", ".."};
	size_t at = 0;

	if (f->kind == F_TASKS)
		return tasks_list(f, buf, size);
	if (f->kind != F_INODE || !S_ISDIR(f->inode->mode))
		return f->kind == F_INODE ? -ENOTDIR : -EBADF;
	if (f->flags & O_PATH)
		return -EBADF;
	if (f->inode->nlink == 0)
		return -ENOENT;
	tell_dentry(f->dentry, f->inode, IN_ACCESS);
	for (; f->listed < 2; f->listed++)
		if (!list_one(buf, size, &at, dots[f->listed], f->inode->ino, DT_DIR))
			return at > 0 ? (ssize_t)at : -EINVAL;
	if (f->listed == 2) {
		f->cursor = f->inode->first;
		f->listed = 3;
	}
	for (; f->cursor; f->cursor = f->cursor->next) {
		const struct inode *i = f->cursor->inode;
		if (!list_one(buf, size, &at, f->cursor->name, i->ino, (unsigned char)IFTODT(i->mode)))
			return at > 0 ? (ssize_t)at : -EINVAL;
	}
	return (ssize_t)at;
}
