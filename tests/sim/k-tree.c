/* What is done to names and inodes, with the events that fs/namei.c and fs/attr.c give, in their order. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/sysmacros.h>

#include "tests/sim/k.h"

static struct timespec spec(int64_t ns)
{
	struct timespec t = {.tv_sec = ns / K_S, .tv_nsec = ns % K_S};

	if (t.tv_nsec < 0) {
		t.tv_nsec += K_S;
		t.tv_sec--;
	}
	return t;
}

void stat_of(const struct inode *i, struct stat *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->st_dev = makedev(0, i->sb->dev);
	ret->st_ino = i->ino;
	ret->st_mode = i->mode;
	ret->st_nlink = i->nlink;
	ret->st_uid = i->uid;
	ret->st_gid = i->gid;
	ret->st_size = (off_t)(S_ISDIR(i->mode) ? 20 * (i->entries + 2) : i->size);
	ret->st_blksize = 4096;
	ret->st_mtim = ret->st_atim = spec(i->mtime);
	ret->st_ctim = spec(i->ctime);
}

static void changed_dir(struct inode *dir)
{
	dir->mtime = dir->ctime = stamp_now();
}

/* A name that is not there yet, for an inode of its own. */
struct dentry *tree_create(const struct cred *c, struct path *p, uint32_t mode, int *ret_error)
{
	struct inode *i;
	struct dentry *d;

	*ret_error = may_add(p->dir, c);
	if (*ret_error < 0)
		return NULL;
	i = inode_make(p->dir->sb, mode, c);
	if (!i) {
		*ret_error = -ENOSPC;
		return NULL;
	}
	d = dentry_new(p->dir, p->name, p->len, i);
	dentry_hash(d);
	if (S_ISDIR(mode))
		p->dir->nlink++;
	changed_dir(p->dir);
	tell_name(p->dir, IN_CREATE, d->name, i, 0);
	return d;
}

int tree_mkdir(const struct cred *c, int dirfd, const char *path, uint32_t mode)
{
	struct path p;
	int r = walk(c, dirfd, path, WALK_PARENT, &p);

	if (r < 0)
		return r;
	if (p.inode)
		return -EEXIST;
	if (!p.dir)
		return -ENOENT;
	return tree_create(c, &p, S_IFDIR | (mode & 01777 & ~022u), &r) ? 0 : r;
}

int tree_make(const struct cred *c, const char *path, uint32_t mode, const char *target)
{
	struct path p;
	int r = walk(c, -1, path, WALK_PARENT, &p);

	if (r < 0)
		return r;
	if (p.inode)
		return -EEXIST;
	if (!p.dir || p.slash)
		return -ENOENT;
	if (!tree_create(c, &p, mode, &r))
		return r;
	struct inode *i = dentry_find(p.dir, p.name, p.len)->inode;
	if (target) {
		(void)inode_room(i, strlen(target));
		memcpy(i->data, target, strlen(target));
	}
	return 0;
}

int tree_unlink(const struct cred *c, int dirfd, const char *path, bool folder)
{
	struct path p;
	int r = walk(c, dirfd, path, WALK_PARENT, &p);

	if (r == 0 && !p.dir)
		r = !folder ? -EISDIR : p.up ? -ENOTEMPTY : p.inode == k.root ? -EBUSY : -EINVAL;
	if (r == 0 && !p.inode)
		r = -ENOENT;
	if (r == 0 && !folder && p.slash)
		r = is_folder(p.inode) ? -EISDIR : -ENOTDIR;
	if (r == 0)
		r = may_remove(p.dir, p.inode, c);
	if (r < 0)
		return r;
	if (folder && !is_folder(p.inode))
		return -ENOTDIR;
	if (!folder && is_folder(p.inode))
		return -EISDIR;
	if (p.inode->covered)
		return -EBUSY;
	if (folder && p.inode->entries > 0)
		return -ENOTEMPTY;
	struct inode *i = p.inode, *dir = p.dir;
	struct dentry *d = p.dentry;
	changed_dir(dir);
	i->ctime = dir->ctime;
	dentry_unhash(d);
	i->refs++;
	if (folder) {
		i->nlink = 0;
		dir->nlink--;
	} else {
		i->nlink--;
		tell_inode(i, IN_ATTRIB);
	}
	/* d_delete_notify: what nobody holds is told of its end before its folder is. */
	if (d->refs == 0 && i->nlink == 0 && i->watches)
		tell_gone(i);
	tell_name(dir, IN_DELETE, p.name, i, 0);
	dentry_put(d);
	inode_put(i);
	return 0;
}

int link_inode(const struct cred *c, struct inode *i, struct path *b)
{
	int r;

	if (b->inode)
		return -EEXIST;
	if (!b->dir || b->slash)
		return -ENOENT;
	if (i->sb != b->dir->sb)
		return -EXDEV;
	/* fs.protected_hardlinks */
	if (!owns(i, c) && (!S_ISREG(i->mode) || may(i, c, 6) < 0))
		return -EPERM;
	r = may_add(b->dir, c);
	if (r < 0)
		return r;
	if (is_folder(i))
		return -EPERM;
	if (i->nlink == 0 && !i->linkable)
		return -ENOENT;
	i->nlink++;
	i->linkable = false;
	changed_dir(b->dir);
	i->ctime = b->dir->ctime;
	struct dentry *d = dentry_new(b->dir, b->name, b->len, i);
	dentry_hash(d);
	tell_inode(i, IN_ATTRIB);
	tell_name(b->dir, IN_CREATE, d->name, i, 0);
	return 0;
}

int tree_link(const struct cred *c, int from, const char *old, int to, const char *name, unsigned flags)
{
	struct path a, b;
	int r = walk(c, from, old, flags, &a);

	if (r == 0 && !a.inode)
		r = -ENOENT;
	if (r == 0)
		r = walk(c, to, name, WALK_PARENT, &b);
	return r < 0 ? r : link_inode(c, a.inode, &b);
}

static int may_rename(const struct cred *c, const struct path *a, const struct path *b)
{
	int r = may_remove(a->dir, a->inode, c);

	if (r == 0)
		r = b->inode ? may_remove(b->dir, b->inode, c) : may_add(b->dir, c);
	if (r < 0)
		return r;
	if (b->inode && is_folder(a->inode) != is_folder(b->inode))
		return is_folder(a->inode) ? -ENOTDIR : -EISDIR;
	/* Its .. is another one then. */
	if (is_folder(a->inode) && a->dir != b->dir && may(a->inode, c, 2) < 0)
		return -EACCES;
	if (a->inode->covered || (b->inode && b->inode->covered))
		return -EBUSY;
	return b->inode && is_folder(b->inode) && b->inode->entries > 0 ? -ENOTEMPTY : 0;
}

static bool below(const struct inode *dir, const struct inode *top)
{
	for (; dir; dir = dir->self ? dir->self->dir : NULL)
		if (dir == top)
			return true;
	return false;
}

static void replaced(struct path *b)
{
	struct inode *i = b->inode;

	if (is_folder(i)) {
		i->nlink = 0;
		b->dir->nlink--;
	} else {
		i->nlink--;
	}
	i->ctime = stamp_now();
	dentry_unhash(b->dentry);
}

int tree_rename(const struct cred *c, int from, const char *old, int to, const char *name, bool replace)
{
	struct path a, b;
	int r = walk(c, from, old, WALK_PARENT, &a);

	if (r == 0)
		r = walk(c, to, name, WALK_PARENT, &b);
	if (r < 0)
		return r;
	if (!a.dir)
		return -EBUSY;
	if (!b.dir)
		return replace ? -EBUSY : -EEXIST;
	if (a.dir->sb != b.dir->sb)
		return -EXDEV;
	if (!a.inode || b.dir->nlink == 0)
		return -ENOENT;
	if (b.inode && !replace)
		return -EEXIST;
	if ((a.slash || b.slash) && !is_folder(a.inode))
		return -ENOTDIR;
	if (is_folder(a.inode) && below(b.dir, a.inode))
		return -EINVAL;
	if (b.inode && below(a.dir, b.inode))
		return -ENOTEMPTY;
	if (a.inode == b.inode)
		return 0;
	r = may_rename(c, &a, &b);
	if (r < 0)
		return r;
	if (b.inode)
		replaced(&b);
	dentry_unhash(a.dentry);
	dentry_name(a.dentry, b.dir, b.name, b.len);
	dentry_hash(a.dentry);
	if (is_folder(a.inode)) {
		a.dir->nlink--;
		b.dir->nlink++;
	}
	changed_dir(a.dir);
	changed_dir(b.dir);
	a.inode->ctime = stamp_now();
	uint32_t cookie = tell_cookie();
	tell_name(a.dir, IN_MOVED_FROM, a.name, a.inode, cookie);
	tell_name(b.dir, IN_MOVED_TO, b.name, a.inode, cookie);
	if (b.inode)
		tell_inode(b.inode, IN_ATTRIB);
	tell_inode(a.inode, IN_MOVE_SELF);
	if (b.inode)
		dentry_put(b.dentry);
	return 0;
}

/* NULL: now. */
int inode_utime(const struct cred *c, struct dentry *d, struct inode *i, const int64_t *mtime)
{
	if (!owns(i, c)) {
		if (mtime)
			return -EPERM;
		if (may(i, c, 2) < 0)
			return -EACCES;
	}
	i->ctime = stamp_now();
	i->mtime = mtime ? *mtime : i->ctime;
	tell_dentry(d, i, IN_ATTRIB);
	return 0;
}

int inode_chmod(const struct cred *c, struct dentry *d, struct inode *i, uint32_t mode)
{
	if (!owns(i, c))
		return -EPERM;
	i->mode = (i->mode & S_IFMT) | (mode & 07777);
	i->ctime = stamp_now();
	tell_dentry(d, i, IN_ATTRIB);
	return 0;
}

int inode_chown(const struct cred *c, struct dentry *d, struct inode *i, uint32_t uid, uint32_t gid)
{
	if (c->uid != 0 && (c->uid != i->uid || (uid != UINT32_MAX && uid != i->uid) ||
			    (gid != UINT32_MAX && gid != i->gid && gid != c->gid)))
		return -EPERM;
	if (uid != UINT32_MAX)
		i->uid = uid;
	if (gid != UINT32_MAX)
		i->gid = gid;
	i->ctime = stamp_now();
	tell_dentry(d, i, IN_ATTRIB);
	return 0;
}

/* After a truncation. */
void inode_resize(struct dentry *d, struct inode *i)
{
	i->mtime = i->ctime = stamp_now();
	tell_dentry(d, i, IN_MODIFY);
}
