/* The tree as everybody but the daemon uses it. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>

#include "tests/sim/k.h"

#define HELD_MAX 65536

static struct file *held[HELD_MAX];
static int n_held;

void kernel_as(uint32_t uid)
{
	k.as = (struct cred){uid, uid};
}

int kernel_mkdirs(const char *path, uint32_t uid, uint32_t mode)
{
	static const struct cred root;
	char upto[1024];
	struct path p;
	int r = 0;

	for (size_t n = 1; r == 0; n++) {
		if (path[n] != '/' && path[n] != '\0')
			continue;
		if (n >= sizeof(upto))
			return -ENAMETOOLONG;
		memcpy(upto, path, n);
		upto[n] = '\0';
		bool whole = path[n] == '\0';
		r = tree_mkdir(&root, -1, upto, 0755);
		if (r == 0 && whole) {
			(void)walk(&root, -1, upto, 0, &p);
			p.inode->uid = p.inode->gid = uid;
			p.inode->mode = S_IFDIR | (mode & 07777);
		}
		if (r == -EEXIST && !whole)
			r = 0;
		if (whole)
			break;
	}
	return r;
}

static int open_as(const char *path, int flags, uint32_t mode, struct file **ret)
{
	return open_at(&k.as, -1, path, flags, mode, 0, ret);
}

/* As lease_create(): an unnamed file, filled, then named. */
int kernel_create(const char *path, const void *buf, size_t len)
{
	char dir[1024];
	const char *slash = strrchr(path, '/');
	struct file *f;
	struct path p;
	ssize_t n;
	int r;

	if (!slash || (size_t)(slash - path) >= sizeof(dir))
		return -ENAMETOOLONG;
	memcpy(dir, path, (size_t)(slash - path));
	dir[slash - path] = '\0';
	r = open_as(dir, O_TMPFILE | O_WRONLY, 0644, &f);
	if (r < 0)
		return r;
	n = file_write(f, buf, len);
	r = n < 0 ? (int)n : walk(&k.as, -1, path, 0, &p);
	if (r == 0)
		r = link_inode(&k.as, f->inode, &p);
	file_close(f);
	return r;
}

int kernel_create_empty(const char *path)
{
	struct file *f;
	int r = open_as(path, O_CREAT | O_EXCL | O_WRONLY, 0644, &f);

	if (r == 0)
		file_close(f);
	return r;
}

static int write_and_close(struct file *f, const void *buf, size_t len)
{
	ssize_t n = file_write(f, buf, len);

	file_close(f);
	return n < 0 ? (int)n : 0;
}

int kernel_write(const char *path, const void *buf, size_t len)
{
	struct file *f;
	int r = open_as(path, O_WRONLY | O_TRUNC, 0, &f);

	return r < 0 ? r : write_and_close(f, buf, len);
}

int kernel_beat_byte(const char *path)
{
	struct file *f;
	int r = open_as(path, O_RDWR | O_CREAT, 0644, &f);

	if (r < 0)
		return r;
	return write_and_close(f, f->inode->size > 0 ? f->inode->data : "\n", 1);
}

static int find(const char *path, struct path *p)
{
	int r = walk(&k.as, -1, path, 0, p);

	return r == 0 && !p->inode ? -ENOENT : r;
}

int kernel_beat(const char *path)
{
	struct path p;
	int r = find(path, &p);

	return r < 0 ? r : inode_utime(&k.as, p.dentry, p.inode, NULL);
}

int kernel_utime(const char *path, int64_t mtime)
{
	struct path p;
	int r = find(path, &p);

	return r < 0 ? r : inode_utime(&k.as, p.dentry, p.inode, &mtime);
}

int kernel_chmod(const char *path, uint32_t mode)
{
	struct path p;
	int r = find(path, &p);

	return r < 0 ? r : inode_chmod(&k.as, p.dentry, p.inode, mode);
}

int kernel_rename(const char *from, const char *to)
{
	return tree_rename(&k.as, -1, from, -1, to, true);
}

int kernel_link(const char *from, const char *to)
{
	return tree_link(&k.as, -1, from, -1, to, 0);
}

int kernel_symlink(const char *target, const char *path)
{
	return tree_make(&k.as, path, S_IFLNK | 0777, target);
}

int kernel_mkfifo(const char *path)
{
	return tree_make(&k.as, path, S_IFIFO | 0644, NULL);
}

int kernel_unlink(const char *path)
{
	int r = tree_unlink(&k.as, -1, path, false);

	return r == -EISDIR ? tree_unlink(&k.as, -1, path, true) : r;
}

int kernel_stat(const char *path, struct lease_stat *ret)
{
	struct path p;
	int r = find(path, &p);

	if (r < 0)
		return r;
	const struct inode *i = p.inode;
	struct stat st;
	stat_of(i, &st);
	*ret = (struct lease_stat){.dev = st.st_dev,
				   .ino = i->ino,
				   .mtime = i->mtime,
				   .ctime = i->ctime,
				   .uid = i->uid,
				   .mode = i->mode,
				   .nlink = i->nlink,
				   .size = (uint64_t)st.st_size};
	return 0;
}

int kernel_read(const char *path, char *buf, size_t size)
{
	struct path p;
	int r = walk(&k.as, -1, path, WALK_FOLLOW, &p);

	if (r == 0 && !p.inode)
		r = -ENOENT;
	if (r == 0 && !S_ISREG(p.inode->mode))
		r = -EINVAL;
	if (r == 0)
		r = may(p.inode, &k.as, 4);
	if (r < 0)
		return r;
	if (p.inode->size > 0)
		memcpy(buf, p.inode->data, p.inode->size < size ? p.inode->size : size);
	return (int)p.inode->size;
}

int kernel_list(const char *dir, int (*each)(void *arg, const char *name), void *arg)
{
	struct file *f;
	int r = open_as(dir, O_RDONLY | O_DIRECTORY, 0, &f);

	if (r < 0)
		return r;
	f->listed = 3; /* the cursor is looked after by whoever removes a name */
	f->cursor = f->inode->first;
	while (r == 0 && f->cursor) {
		char name[NAME_LONGEST + 1];

		memcpy(name, f->cursor->name, f->cursor->len + 1u);
		f->cursor = f->cursor->next;
		r = each(arg, name);
	}
	file_close(f);
	return r;
}

int kernel_hold_open(const char *path)
{
	struct file *f;
	int r = open_as(path, O_RDWR, 0, &f);

	if (r < 0)
		return r;
	for (int n = 0; n < HELD_MAX; n++)
		if (!held[n]) {
			held[n] = f;
			if (n >= n_held)
				n_held = n + 1;
			return n;
		}
	mistake("too many files are held open");
}

int kernel_beat_held(int n)
{
	return held[n] ? inode_utime(&k.as, held[n]->dentry, held[n]->inode, NULL) : -EBADF;
}

void kernel_let_go(int n)
{
	if (held[n])
		file_close(held[n]);
	held[n] = NULL;
}

void held_free(void)
{
	for (int n = 0; n < n_held; n++)
		kernel_let_go(n);
	n_held = 0;
}

static int find_folder(const char *path, struct path *p)
{
	static const struct cred root;
	int r = walk(&root, -1, path, 0, p);

	if (r < 0)
		return r;
	return !p->inode ? -ENOENT : is_folder(p->inode) ? 0 : -ENOTDIR;
}

int kernel_mount(const char *path, uint64_t blocks, uint64_t inodes)
{
	struct path p;
	int r = find_folder(path, &p);

	if (r == 0)
		mount_on(p.dentry, super_new(blocks, inodes));
	return r;
}

int kernel_umount(const char *path)
{
	struct path p;
	int r = find_folder(path, &p);

	if (r < 0)
		return r;
	if (!p.inode->covered)
		return -EINVAL;
	mount_off(p.dentry);
	return 0;
}
