/* Inodes, names and file systems. What a dentry of the kernel does for open files that lost their name, ours
 * does too. */
#include "config.h"

#include <string.h>
#include <sys/inotify.h>

#include "tests/sim/k.h"

static struct dentry **table; /* by folder and name */
static size_t table_size, n_names;
static struct super *supers;
static struct inode *detached[64];
static int n_detached;
static uint32_t devices;

struct super *super_new(uint64_t blocks, uint64_t inodes)
{
	struct super *s = k_alloc(sizeof(*s));

	s->dev = ++devices;
	s->blocks = blocks;
	s->inodes = inodes;
	s->next_ino = 1;
	s->next = supers;
	supers = s;
	return s;
}

static uint64_t number(struct super *s)
{
	if (s->n_freed > 0 && draw_one_in(STREAM_KERNEL, kernel_faults.ino_again))
		return s->freed[--s->n_freed];
	return s->next_ino++;
}

struct inode *inode_make(struct super *sb, uint32_t mode, const struct cred *c)
{
	struct inode *i;

	if (sb->inodes && sb->used_inodes >= sb->inodes)
		return NULL;
	sb->used_inodes++;
	i = k_alloc(sizeof(*i));
	i->sb = sb;
	i->ino = number(sb);
	i->mode = mode;
	i->uid = c->uid;
	i->gid = c->gid;
	i->nlink = S_ISDIR(mode) ? 2 : 1;
	i->mtime = i->ctime = stamp_now();
	return i;
}

static uint64_t blocks_of(size_t size)
{
	return (size + 4095) / 4096;
}

bool inode_room(struct inode *i, size_t size)
{
	uint64_t used = i->sb->used - blocks_of(i->size) + blocks_of(size);

	if (i->sb->blocks && size > i->size && used > i->sb->blocks)
		return false;
	if (size > i->room) {
		i->room = size < 128 ? 128 : size * 2;
		i->data = realloc(i->data, i->room);
		if (!i->data)
			mistake("no memory");
	}
	if (size > i->size)
		memset(i->data + i->size, 0, size - i->size);
	i->sb->used = used;
	i->size = size;
	return true;
}

void inode_put(struct inode *i)
{
	if (--i->refs > 0)
		return;
	if (i->watches)
		tell_gone(i);
	if (i->entries > 0)
		mistake("a folder with %zu names goes", i->entries);
	(void)inode_room(i, 0);
	i->sb->used_inodes--;
	if (i->sb->n_freed < 16)
		i->sb->freed[i->sb->n_freed++] = i->ino;
	free(i->data);
	free(i);
}

static uint64_t hash_of(const struct inode *dir, const char *name, size_t len)
{
	uint64_t h = (uint64_t)(uintptr_t)dir * UINT64_C(0x9e3779b97f4a7c15);

	for (size_t n = 0; n < len; n++)
		h = (h ^ (unsigned char)name[n]) * UINT64_C(0x100000001b3);
	return h ^ (h >> 29);
}

static void grow(void)
{
	size_t size = table_size ? table_size * 2 : 4096;
	struct dentry **to = k_alloc(size * sizeof(struct dentry *));

	for (size_t n = 0; n < table_size; n++)
		while (table[n]) {
			struct dentry *d = table[n];
			table[n] = d->chain;
			d->chain = to[d->hash & (size - 1)];
			to[d->hash & (size - 1)] = d;
		}
	free(table);
	table = to;
	table_size = size;
}

struct dentry *dentry_find(const struct inode *dir, const char *name, size_t len)
{
	uint64_t h = hash_of(dir, name, len);
	struct dentry *d = table_size ? table[h & (table_size - 1)] : NULL;

	for (; d; d = d->chain)
		if (d->hash == h && d->dir == dir && d->len == len && memcmp(d->name, name, len) == 0)
			return d;
	return NULL;
}

/* In no list and not hashed. */
void dentry_name(struct dentry *d, struct inode *dir, const char *name, size_t len)
{
	if (dir)
		dir->refs++;
	if (d->dir)
		inode_put(d->dir);
	d->dir = dir;
	free(d->name);
	d->name = k_alloc(len + 1);
	memcpy(d->name, name, len);
	d->len = (uint8_t)len;
	d->hash = hash_of(dir, name, len);
}

/* Has what it stands for, and the folder it is in, for as long as it is. */
struct dentry *dentry_new(struct inode *dir, const char *name, size_t len, struct inode *i)
{
	struct dentry *d = k_alloc(sizeof(*d));

	d->inode = i;
	dentry_name(d, dir, name, len);
	i->refs++;
	if (S_ISDIR(i->mode) && !i->self)
		i->self = d;
	return d;
}

void dentry_hash(struct dentry *d)
{
	struct inode *dir = d->dir;

	if (n_names >= table_size)
		grow();
	d->chain = table[d->hash & (table_size - 1)];
	table[d->hash & (table_size - 1)] = d;
	n_names++;
	d->hashed = true;
	d->prev = NULL;
	d->next = dir->first;
	if (dir->first)
		dir->first->prev = d;
	else
		dir->last = d;
	dir->first = d;
	dir->entries++;
}

void dentry_unhash(struct dentry *d)
{
	struct dentry **at = &table[d->hash & (table_size - 1)];
	struct inode *dir = d->dir;

	while (*at != d)
		at = &(*at)->chain;
	*at = d->chain;
	n_names--;
	d->hashed = false;
	for (struct file *f = dir->readers; f; f = f->next_reader)
		if (f->cursor == d)
			f->cursor = d->next;
	*(d->prev ? &d->prev->next : &dir->first) = d->next;
	*(d->next ? &d->next->prev : &dir->last) = d->prev;
	dir->entries--;
}

void dentry_put(struct dentry *d)
{
	struct inode *i = d->inode;

	if (d->hashed || d->refs > 0)
		return;
	if (i->nlink == 0 && i->watches)
		tell_gone(i);
	if (i->self == d)
		i->self = NULL;
	inode_put(i);
	if (d->dir)
		inode_put(d->dir);
	free(d->name);
	free(d);
}

void mount_on(struct dentry *d, struct super *sb)
{
	static const struct cred root;
	struct inode *top = inode_make(sb, S_IFDIR | 0755, &root);

	top->covered = d->inode; /* d's hold of it is the mount's now */
	top->refs++;
	top->self = d;
	d->inode = top;
}

/* Who has something of it open keeps that; what is left goes with the machine. */
void mount_off(struct dentry *d)
{
	struct inode *top = d->inode;

	d->inode = top->covered;
	top->covered = NULL;
	top->self = NULL;
	if (n_detached == sizeof(detached) / sizeof(detached[0]))
		mistake("too many mounts were taken off between two boots");
	detached[n_detached++] = top;
}

static void clear_detached(void)
{
	while (n_detached > 0) {
		struct inode *top = detached[--n_detached];

		tree_clear(top);
		inode_put(top);
	}
}

static struct dentry *place(struct dentry *at, const char *name, struct super *sb)
{
	static const struct cred root;
	struct inode *i = inode_make(sb, S_IFDIR | 0755, &root);
	struct dentry *d = dentry_new(at->inode, name, strlen(name), i);

	if (i->sb == at->inode->sb)
		at->inode->nlink++;
	dentry_hash(d);
	return d;
}

/* /sim/run is gone with every boot; the rest stays. */
void tree_boot(void)
{
	static const struct cred root;
	struct dentry *sim;

	if (!k.root) {
		struct super *disk = super_new(0, 0);

		k.root = inode_make(disk, S_IFDIR | 0755, &root);
		k.root->self = dentry_new(NULL, "/", 1, k.root);
		k.root->self->refs++;
		sim = place(k.root->self, "sim", disk);
		(void)place(sim, "var", disk);
		(void)place(sim, "etc", disk);
	} else {
		struct dentry *run;

		sim = dentry_find(k.root, "sim", 3);
		run = dentry_find(sim->inode, "run", 3);
		tree_clear(run->inode);
		dentry_unhash(run);
		run->inode->nlink = 0;
		dentry_put(run);
		clear_detached();
	}
	(void)place(dentry_find(k.root, "sim", 3), "run", super_new(0, 0));
}

void tree_clear(struct inode *dir)
{
	while (dir->first) {
		struct dentry *d = dir->first;

		while (d->inode->covered)
			mount_off(d);
		if (S_ISDIR(d->inode->mode)) {
			tree_clear(d->inode);
			d->inode->nlink = 0;
		} else {
			d->inode->nlink--;
		}
		dentry_unhash(d);
		dentry_put(d);
	}
}

void tree_free(void)
{
	if (k.root) {
		struct dentry *self = k.root->self;

		tree_clear(k.root);
		clear_detached();
		self->refs--;
		dentry_put(self);
		k.root = NULL;
	}
	while (supers) {
		struct super *s = supers;
		supers = s->next;
		free(s);
	}
	free(table);
	table = NULL;
	table_size = n_names = 0;
	devices = 0;
}
