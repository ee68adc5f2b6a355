/* From a path to an inode, and who may do what. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/k.h"

#define LINKS_MAX 40
#define PATH_LONGEST 4096

bool is_folder(const struct inode *i)
{
	return i && S_ISDIR(i->mode);
}

int may(const struct inode *i, const struct cred *c, unsigned rwx)
{
	unsigned bits = c->uid == i->uid ? i->mode >> 6 : c->gid == i->gid ? i->mode >> 3 : i->mode;

	if ((bits & rwx) == rwx)
		return 0;
	/* CAP_DAC_OVERRIDE: all but to run what nobody may run. */
	if (c->uid == 0 && (S_ISDIR(i->mode) || !(rwx & 1) || (i->mode & 0111)))
		return 0;
	return -EACCES;
}

bool owns(const struct inode *i, const struct cred *c)
{
	return c->uid == 0 || c->uid == i->uid;
}

int may_add(const struct inode *dir, const struct cred *c)
{
	return dir->nlink == 0 ? -ENOENT : may(dir, c, 3);
}

int may_remove(const struct inode *dir, const struct inode *i, const struct cred *c)
{
	int r = may(dir, c, 3);

	if (r == 0 && (dir->mode & S_ISVTX) && !owns(i, c) && !owns(dir, c))
		r = -EPERM;
	return r;
}

static int of_descriptor(struct path *p, const struct file *f)
{
	if (!f || f->kind != F_INODE)
		return f ? -ENOTDIR : -EBADF;
	p->dir = NULL;
	p->dentry = f->dentry;
	p->inode = f->inode;
	p->len = 0;
	return 0;
}

static const char *proc_fd(const char *path)
{
	static const char before[] = "/proc/self/fd/";

	return strncmp(path, before, sizeof(before) - 1) == 0 ? path + sizeof(before) - 1 : NULL;
}

static int step_in(const struct cred *c, struct path *p, const char *name, size_t len, unsigned flags)
{
	struct inode *dir = p->inode;
	int r;

	if (!dir)
		return -ENOENT;
	if (!is_folder(dir))
		return -ENOTDIR;
	r = may(dir, c, 1);
	if (r < 0)
		return r;
	p->dir = NULL;
	p->len = 0;
	p->up = len == 2 && name[0] == '.' && name[1] == '.';
	if (len == 1 && name[0] == '.')
		return 0;
	if (p->up) {
		if (flags & WALK_BENEATH)
			return -EXDEV; /* it may lead out; what is asked of us never has one */
		if (dir->self && dir->self->dir) {
			p->inode = dir->self->dir;
			p->dentry = p->inode->self;
		}
		return 0;
	}
	if (len > NAME_LONGEST)
		return -ENAMETOOLONG;
	p->dir = dir;
	p->len = len;
	memcpy(p->name, name, len);
	p->name[len] = '\0';
	p->dentry = dentry_find(dir, name, len);
	p->inode = p->dentry ? p->dentry->inode : NULL;
	if (p->inode && (flags & WALK_NO_XDEV) && p->inode->sb != dir->sb)
		return -EXDEV;
	return 0;
}

static int walk_on(const struct cred *c, const char *path, unsigned flags, struct path *p, int links);

/* The target first, then what was left behind the link. */
static int follow(const struct cred *c, const struct path *at, const char *rest, unsigned flags,
		  struct path *p, int links)
{
	char path[PATH_LONGEST];

	if ((flags & WALK_NO_LINKS) || links >= LINKS_MAX)
		return -ELOOP;
	if (snprintf(path, sizeof(path), "%.*s%s", (int)p->inode->size, p->inode->data, rest) >= PATH_LONGEST)
		return -ENAMETOOLONG;
	*p = *at;
	if (path[0] == '/') {
		if (flags & WALK_BENEATH)
			return -EXDEV;
		p->inode = k.root;
		p->dentry = k.root->self;
	}
	return walk_on(c, path, flags, p, links + 1);
}

static int walk_on(const struct cred *c, const char *path, unsigned flags, struct path *p, int links)
{
	int r = 0;

	for (;;) {
		const struct path at = {.inode = p->inode, .dentry = p->dentry};

		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		if (len == 0)
			break;
		r = step_in(c, p, path, len, flags);
		if (r < 0)
			return r;
		path += len;
		p->slash = path[0] == '/';
		bool stays = p->slash && path[strspn(path, "/")] == '\0' && (flags & WALK_PARENT);
		if (p->inode && S_ISLNK(p->inode->mode) && !stays && (p->slash || (flags & WALK_FOLLOW)))
			return follow(c, &at, path, flags, p, links);
	}
	return p->slash && p->inode && !is_folder(p->inode) && !(flags & WALK_PARENT) ? -ENOTDIR : 0;
}

int walk(const struct cred *c, int dirfd, const char *path, unsigned flags, struct path *p)
{
	const char *fd = proc_fd(path);
	int r;

	memset(p, 0, offsetof(struct path, name));
	if (fd && (flags & WALK_FOLLOW)) {
		unsigned n = 0;
		return sscanf(fd, "%u", &n) == 1 ? of_descriptor(p, fd_file((int)n)) : -ENOENT;
	}
	if (path[0] == '\0')
		return flags & WALK_EMPTY ? of_descriptor(p, fd_file(dirfd)) : -ENOENT;
	if (strlen(path) >= PATH_LONGEST)
		return -ENAMETOOLONG;
	if (path[0] == '/') {
		if (flags & WALK_BENEATH)
			return -EXDEV;
		p->inode = k.root;
		p->dentry = k.root->self;
	} else {
		r = of_descriptor(p, fd_file(dirfd));
		if (r < 0)
			return r;
	}
	return walk_on(c, path, flags, p, 0);
}

int path_of(const struct inode *dir, char *buf, size_t size)
{
	size_t at = size - 1;

	buf[at] = '\0';
	for (; dir->self && dir->self->dir; dir = dir->self->dir) {
		size_t len = dir->self->len + 1u;

		if (len > at)
			return -ENAMETOOLONG;
		at -= len;
		buf[at] = '/';
		memcpy(buf + at + 1, dir->self->name, len - 1);
	}
	memmove(buf, buf + at, size - at);
	return 0;
}
