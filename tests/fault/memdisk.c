#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fault/memdisk-private.h"

void *memdisk_alloc(void *old, size_t size)
{
	void *p = realloc(old, size);

	if (!p)
		abort();
	return p;
}

static void bytes_grow(struct bytes *b, size_t len)
{
	if (len > b->room) {
		b->room = len < 4096 ? 4096 : len + len / 2;
		b->at = memdisk_alloc(b->at, b->room);
	}
	if (len > b->len) {
		memset(b->at + b->len, 0, len - b->len);
		b->len = len;
	}
}

void bytes_put(struct bytes *b, int64_t off, const void *buf, size_t len)
{
	if (len == 0)
		return;
	bytes_grow(b, (size_t)off + len);
	memcpy(b->at + off, buf, len);
}

void bytes_cut(struct bytes *b, size_t len)
{
	if (len < b->len)
		b->len = len;
}

struct inode *inode_new(void)
{
	struct inode *i = memdisk_alloc(NULL, sizeof(*i));

	memset(i, 0, sizeof(*i));
	return i;
}

void shm_unref(struct shm *s)
{
	if (!s || --s->refs > 0)
		return;
	for (int i = 0; i < MAX_PAGES; i++)
		free(s->pages[i]);
	free(s);
}

void inode_unref(struct inode *i)
{
	if (!i || --i->refs > 0)
		return;
	shm_unref(i->shm);
	free(i->now.at);
	free(i->durable.at);
	free(i->pending.at);
	free(i->changes);
	free(i);
}

static struct change *add_change(struct inode *i)
{
	if (i->n_changes == i->changes_room) {
		i->changes_room = i->changes_room ? 2 * i->changes_room : 16;
		i->changes = memdisk_alloc(i->changes, i->changes_room * sizeof(i->changes[0]));
	}
	return &i->changes[i->n_changes++];
}

void inode_write(struct inode *i, int64_t off, const void *buf, size_t len)
{
	*add_change(i) = (struct change){ .off = off, .len = len, .data = i->pending.len };
	bytes_put(&i->pending, (int64_t)i->pending.len, buf, len);
	bytes_put(&i->now, off, buf, len);
}

void inode_truncate(struct inode *i, int64_t size)
{
	*add_change(i) = (struct change){ .truncate = true, .off = size };
	bytes_cut(&i->now, (size_t)size);
}

void inode_forget(struct inode *i)
{
	i->n_changes = 0;
	i->pending.len = 0;
}

void inode_sync(struct inode *i)
{
	for (size_t n = 0; n < i->n_changes; n++) {
		const struct change *c = &i->changes[n];

		if (c->truncate)
			bytes_cut(&i->durable, (size_t)c->off);
		else
			bytes_put(&i->durable, c->off, i->pending.at + c->data, c->len);
	}
	inode_forget(i);
}

/* A write of which the disk has taken some sectors only. */
static void put_torn(struct inode *i, const struct change *c, memdisk_choose *choose, void *arg)
{
	const unsigned char *data = i->pending.at + c->data;
	size_t len;

	for (size_t done = 0; done < c->len; done += len) {
		size_t in_sector = SECTOR - ((size_t)c->off + done) % SECTOR;

		len = c->len - done < in_sector ? c->len - done : in_sector;
		if (choose(arg, 2))
			bytes_put(&i->durable, c->off + (int64_t)done, data + done, len);
	}
}

static void lose_power(struct inode *i, memdisk_choose *choose, void *arg)
{
	for (size_t n = 0; n < i->n_changes; n++) {
		const struct change *c = &i->changes[n];
		bool tearable = !c->truncate && c->off / SECTOR != (c->off + (int64_t)c->len - 1) / SECTOR;
		uint32_t how = choose(arg, tearable ? 3 : 2);

		if (how == 1 && c->truncate)
			bytes_cut(&i->durable, (size_t)c->off);
		else if (how == 1)
			bytes_put(&i->durable, c->off, i->pending.at + c->data, c->len);
		else if (how == 2)
			put_torn(i, c, choose, arg);
		if (how != 1 && !c->truncate && (size_t)c->off + c->len > i->durable.len && choose(arg, 2))
			bytes_grow(&i->durable, (size_t)c->off + c->len);
	}
	inode_forget(i);
	i->now.len = 0;
	bytes_put(&i->now, 0, i->durable.at, i->durable.len);
}

struct name *name_find(const struct memdisk *md, const char *path)
{
	struct name *n = md->names;

	while (n && strcmp(n->path, path) != 0)
		n = n->next;
	return n;
}

struct name *name_get(struct memdisk *md, const char *path)
{
	struct name *n = name_find(md, path);
	size_t len = strlen(path);

	if (n)
		return n;
	n = memdisk_alloc(NULL, sizeof(*n) + len + 1);
	memset(n, 0, sizeof(*n));
	n->n = 1;
	memcpy(n->path, path, len + 1);
	n->next = md->names;
	md->names = n;
	return n;
}

struct inode *name_inode(const struct name *n)
{
	return n ? n->versions[n->n - 1] : NULL;
}

void name_set(struct memdisk *md, struct name *n, struct inode *i)
{
	if (n->n == MAX_VERSIONS) { /* one of those in between is forgotten */
		inode_unref(n->versions[1]);
		memmove(&n->versions[1], &n->versions[2], (MAX_VERSIONS - 2) * sizeof(n->versions[0]));
		n->n--;
	}
	n->versions[n->n++] = i;
	if (i)
		i->refs++;
	record_op(md, i ? OP_MAKE : OP_REMOVE, n, 0, NULL, 0);
}

void name_settle(struct name *n, int version)
{
	struct inode *i = n->versions[version];

	for (int v = 0; v < n->n; v++)
		if (v != version)
			inode_unref(n->versions[v]);
	n->versions[0] = i;
	n->n = 1;
}

void memdisk_sync_dir(struct memdisk *md, const char *dir)
{
	size_t len = strlen(dir);

	for (struct name *n = md->names; n; n = n->next) {
		if (strncmp(n->path, dir, len) != 0 || n->path[len] != '/' || strchr(n->path + len + 1, '/'))
			continue;
		name_settle(n, n->n - 1);
		record_op(md, OP_SYNC_DIR, n, 0, NULL, 0);
	}
}

struct memdisk *memdisk_new(memdisk_choose *choose, void *arg)
{
	struct memdisk *md = memdisk_alloc(NULL, sizeof(*md));

	memset(md, 0, sizeof(*md));
	md->die_after = -1;
	md->choose = choose;
	md->arg = arg;
	return md;
}

void memdisk_free(struct memdisk *md)
{
	struct name *next;

	if (!md)
		return;
	if (md->registered)
		(void)sqlite3_vfs_unregister(&md->vfs);
	for (struct name *n = md->names; n; n = next) {
		next = n->next;
		for (int v = 0; v < n->n; v++)
			inode_unref(n->versions[v]);
		free(n);
	}
	free(md->ops);
	free(md->op_data.at);
	free(md);
}

void memdisk_die(struct memdisk *md)
{
	md->dead = true;
}

void memdisk_die_after(struct memdisk *md, int changes)
{
	md->die_after = changes;
}

bool memdisk_dead(const struct memdisk *md)
{
	return md->dead;
}

bool memdisk_alive(struct memdisk *md)
{
	if (!md->dead && md->die_after >= 0 && md->die_after-- == 0)
		md->dead = true;
	return !md->dead;
}

static void drop_locks(struct inode *i)
{
	i->shared = 0;
	i->reserved = i->exclusive = NULL;
	i->want_exclusive = false;
	shm_unref(i->shm);
	i->shm = NULL;
}

void memdisk_crash(struct memdisk *md)
{
	md->dead = false;
	md->die_after = -1;
	md->life++;
	for (struct name *n = md->names; n; n = n->next)
		for (int v = 0; v < n->n; v++)
			if (n->versions[v])
				drop_locks(n->versions[v]);
}

void memdisk_power_loss(struct memdisk *md, memdisk_choose *choose, void *arg)
{
	memdisk_crash(md);
	for (struct name *n = md->names; n; n = n->next) {
		if (n->n > 1)
			name_settle(n, (int)choose(arg, (uint32_t)n->n));
		if (n->versions[0])
			lose_power(n->versions[0], choose, arg);
	}
}

int trouble_now(struct memdisk *md, struct trouble *t)
{
	if (t->at == 0 || (t->at > 1 && t->at--))
		return SQLITE_OK;
	if (!t->for_good)
		t->at = 0;
	md->failed++;
	return t->code;
}

void memdisk_fail_writes(struct memdisk *md, int at, int code, bool for_good)
{
	md->writes = (struct trouble){ .at = at, .code = code, .for_good = for_good };
}

void memdisk_fail_syncs(struct memdisk *md, int at, int code, bool for_good)
{
	md->syncs = (struct trouble){ .at = at, .code = code, .for_good = for_good };
}

void memdisk_fail_reads(struct memdisk *md, int at, int code)
{
	md->reads = (struct trouble){ .at = at, .code = code };
}

int memdisk_failed(struct memdisk *md)
{
	int n = md->failed;

	md->failed = 0;
	return n;
}

uint64_t memdisk_writes(const struct memdisk *md)
{
	return md->n_writes;
}

uint64_t memdisk_syncs(const struct memdisk *md)
{
	return md->n_syncs;
}
