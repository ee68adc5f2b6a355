#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/fault/memdisk-private.h"

void record_op(struct memdisk *md, enum op_kind kind, const struct name *n, int64_t off, const void *buf, size_t len)
{
	if (!md->recording || !n)
		return;
	if (md->n_ops == md->ops_room) {
		md->ops_room = md->ops_room ? 2 * md->ops_room : 256;
		md->ops = memdisk_alloc(md->ops, md->ops_room * sizeof(md->ops[0]));
	}
	md->ops[md->n_ops++] = (struct op){ .kind = kind, .name = n, .off = off, .len = len, .data = md->op_data.len };
	bytes_put(&md->op_data, (int64_t)md->op_data.len, buf, len);
}

void memdisk_record(struct memdisk *md)
{
	md->recording = true;
}

size_t memdisk_recorded(const struct memdisk *md)
{
	return md->n_ops;
}

void memdisk_redo(struct memdisk *to, const struct memdisk *from, size_t op)
{
	const struct op *o = &from->ops[op];
	struct name *n = name_get(to, o->name->path);
	struct inode *i = name_inode(n);

	if (o->kind == OP_MAKE)
		name_set(to, n, inode_new());
	else if (o->kind == OP_REMOVE)
		name_set(to, n, NULL);
	else if (o->kind == OP_SYNC_DIR)
		name_settle(n, n->n - 1);
	else if (i && o->kind == OP_WRITE)
		inode_write(i, o->off, from->op_data.at + o->data, o->len);
	else if (i && o->kind == OP_TRUNCATE)
		inode_truncate(i, o->off);
	else if (i && o->kind == OP_SYNC)
		inode_sync(i);
	else if (i)
		inode_forget(i);
}

void memdisk_describe(const struct memdisk *md, size_t op, char *buf, size_t size)
{
	static const char *const words[] = { [OP_MAKE] = "make",         [OP_REMOVE] = "remove",
					     [OP_WRITE] = "write",       [OP_TRUNCATE] = "truncate",
					     [OP_SYNC] = "sync",         [OP_SYNC_FAILED] = "failed sync",
					     [OP_SYNC_DIR] = "sync name" };
	const struct op *o = &md->ops[op];

	(void)snprintf(buf, size, "%s %s %lld+%zu", words[o->kind], o->name->path, (long long)o->off, o->len);
}

static void copy_bytes(struct bytes *to, const struct bytes *from)
{
	to->len = 0;
	bytes_put(to, 0, from->at, from->len);
}

static struct inode *copy_inode(const struct inode *from)
{
	struct inode *i;

	if (!from)
		return NULL;
	i = inode_new();
	i->refs = 1;
	copy_bytes(&i->now, &from->now);
	copy_bytes(&i->durable, &from->durable);
	copy_bytes(&i->pending, &from->pending);
	if (from->n_changes > 0) {
		i->changes = memdisk_alloc(NULL, from->n_changes * sizeof(i->changes[0]));
		memcpy(i->changes, from->changes, from->n_changes * sizeof(i->changes[0]));
		i->n_changes = i->changes_room = from->n_changes;
	}
	return i;
}

void memdisk_copy(struct memdisk *to, const struct memdisk *from)
{
	for (struct name *n = to->names; n; n = n->next) {
		for (int v = 0; v < n->n; v++)
			inode_unref(n->versions[v]);
		n->versions[0] = NULL;
		n->n = 1;
	}
	for (const struct name *f = from->names; f; f = f->next) {
		struct name *n = name_get(to, f->path);

		for (int v = 0; v < f->n; v++)
			n->versions[v] = copy_inode(f->versions[v]);
		n->n = f->n;
	}
}

int memdisk_make(struct memdisk *md, const char *path)
{
	struct name *n = name_get(md, path);

	if (name_inode(n))
		return -EEXIST;
	name_set(md, n, inode_new());
	return 0;
}

int64_t memdisk_size(const struct memdisk *md, const char *path)
{
	const struct inode *i = name_inode(name_find(md, path));

	return i ? (int64_t)i->now.len : -ENOENT;
}

int memdisk_read(const struct memdisk *md, const char *path, int64_t at, void *buf, size_t len)
{
	const struct inode *i = name_inode(name_find(md, path));

	if (!i)
		return -ENOENT;
	if (at < 0 || (size_t)at + len > i->now.len)
		return -ENODATA;
	memcpy(buf, i->now.at + at, len);
	return 0;
}

int memdisk_write(struct memdisk *md, const char *path, int64_t at, const void *buf, size_t len)
{
	struct name *n = name_find(md, path);
	struct inode *i = name_inode(n);

	if (!i)
		return -ENOENT;
	inode_write(i, at, buf, len);
	record_op(md, OP_WRITE, n, at, buf, len);
	return 0;
}
