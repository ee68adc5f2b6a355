#include "config.h"

#include <string.h>

#include "tests/fault/memdisk-private.h"

static struct file *file_of(sqlite3_file *f)
{
	return (struct file *)f;
}

bool file_dead(const struct file *f)
{
	return f->md->dead || f->life != f->md->life;
}

/* A change by a process that may be dead, or dies of this one. */
static bool may_change(struct file *f)
{
	return f->life == f->md->life && memdisk_alive(f->md);
}

static int vfs_close(sqlite3_file *file)
{
	struct file *f = file_of(file);

	(void)memdisk_shm_unmap(file, 0);
	(void)memdisk_unlock(file, SQLITE_LOCK_NONE);
	if (f->remove_on_close && f->name && name_inode(f->name) == f->inode && may_change(f))
		name_set(f->md, f->name, NULL);
	inode_unref(f->inode);
	f->base.pMethods = NULL;
	return SQLITE_OK;
}

static int vfs_read(sqlite3_file *file, void *buf, int len, sqlite3_int64 off)
{
	struct file *f = file_of(file);
	const struct bytes *b = &f->inode->now;
	size_t there, want = (size_t)len;

	if (file_dead(f) || trouble_now(f->md, &f->md->reads) != SQLITE_OK)
		return SQLITE_IOERR_READ;
	there = (size_t)off >= b->len ? 0 : b->len - (size_t)off;
	if (there > want)
		there = want;
	if (there > 0)
		memcpy(buf, b->at + off, there);
	memset((char *)buf + there, 0, want - there);
	return there == want ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int vfs_write(sqlite3_file *file, const void *buf, int len, sqlite3_int64 off)
{
	struct file *f = file_of(file);
	size_t n = (size_t)len;
	int rc;

	if (!may_change(f))
		return SQLITE_IOERR_WRITE;
	f->md->n_writes++;
	rc = trouble_now(f->md, &f->md->writes);
	if (rc != SQLITE_OK)
		n /= 2;
	if (n > 0) {
		inode_write(f->inode, off, buf, n);
		record_op(f->md, OP_WRITE, f->name, off, buf, n);
	}
	return rc;
}

static int vfs_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct file *f = file_of(file);
	int rc;

	if (!may_change(f))
		return SQLITE_IOERR_TRUNCATE;
	rc = trouble_now(f->md, &f->md->writes);
	if (rc != SQLITE_OK)
		return SQLITE_IOERR_TRUNCATE;
	inode_truncate(f->inode, size);
	record_op(f->md, OP_TRUNCATE, f->name, size, NULL, 0);
	return SQLITE_OK;
}

static void sync_dir_of(struct memdisk *md, const char *path)
{
	char dir[1024];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (len >= sizeof(dir))
		return;
	memcpy(dir, path, len);
	dir[len] = '\0';
	memdisk_sync_dir(md, dir);
}

static int vfs_sync(sqlite3_file *file, int flags)
{
	struct file *f = file_of(file);
	int rc;

	(void)flags;
	if (!may_change(f))
		return SQLITE_IOERR_FSYNC;
	f->md->n_syncs++;
	rc = trouble_now(f->md, &f->md->syncs);
	if (rc != SQLITE_OK) {
		inode_forget(f->inode);
		record_op(f->md, OP_SYNC_FAILED, f->name, 0, NULL, 0);
		return rc;
	}
	inode_sync(f->inode);
	record_op(f->md, OP_SYNC, f->name, 0, NULL, 0);
	if (f->sync_dir && f->name)
		sync_dir_of(f->md, f->name->path);
	f->sync_dir = false;
	return SQLITE_OK;
}

static int vfs_file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	struct file *f = file_of(file);

	if (file_dead(f))
		return SQLITE_IOERR_FSTAT;
	*ret = (sqlite3_int64)f->inode->now.len;
	return SQLITE_OK;
}

static int vfs_file_control(sqlite3_file *file, int op, void *arg)
{
	(void)file;
	(void)op;
	(void)arg;
	return SQLITE_NOTFOUND;
}

/* As the VFS for Unix says of a disk that it knows nothing of. */
static int vfs_sector_size(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int vfs_characteristics(sqlite3_file *file)
{
	(void)file;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = vfs_close,
	.xRead = vfs_read,
	.xWrite = vfs_write,
	.xTruncate = vfs_truncate,
	.xSync = vfs_sync,
	.xFileSize = vfs_file_size,
	.xLock = memdisk_lock,
	.xUnlock = memdisk_unlock,
	.xCheckReservedLock = memdisk_check_reserved,
	.xFileControl = vfs_file_control,
	.xSectorSize = vfs_sector_size,
	.xDeviceCharacteristics = vfs_characteristics,
	.xShmMap = memdisk_shm_map,
	.xShmLock = memdisk_shm_lock,
	.xShmBarrier = memdisk_shm_barrier,
	.xShmUnmap = memdisk_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
	struct memdisk *md = vfs->pAppData;
	struct file *f = file_of(file);
	struct name *n = path ? name_get(md, path) : NULL;
	bool make = (flags & (SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB)) != 0;

	memset(f, 0, sizeof(*f));
	if (md->dead || (n && !name_inode(n) && (!make || !memdisk_alive(md))))
		return SQLITE_CANTOPEN;
	if (n && !name_inode(n))
		name_set(md, n, inode_new());
	f->md = md;
	f->life = md->life;
	f->name = n;
	f->inode = n ? name_inode(n) : inode_new();
	f->inode->refs++;
	f->sync_dir = (flags & SQLITE_OPEN_CREATE) &&
		      (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL));
	f->remove_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
	if (out)
		*out = flags;
	f->base.pMethods = &methods;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_dir)
{
	struct memdisk *md = vfs->pAppData;
	struct name *n = name_find(md, path);

	if (!memdisk_alive(md))
		return SQLITE_IOERR_DELETE;
	if (!name_inode(n))
		return SQLITE_IOERR_DELETE_NOENT;
	name_set(md, n, NULL);
	if (sync_dir)
		sync_dir_of(md, path);
	return SQLITE_OK;
}

/* An empty file does not exist, for the VFS for Unix. */
static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *ret)
{
	struct memdisk *md = vfs->pAppData;
	const struct inode *i = name_inode(name_find(md, path));

	if (md->dead)
		return SQLITE_IOERR_ACCESS;
	*ret = i && (flags != SQLITE_ACCESS_EXISTS || i->now.len > 0);
	return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *path, int size, char *ret)
{
	size_t len = strlen(path);

	(void)vfs;
	if (len >= (size_t)size)
		return SQLITE_CANTOPEN;
	memcpy(ret, path, len + 1);
	return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *vfs, int len, char *ret)
{
	struct memdisk *md = vfs->pAppData;

	for (int i = 0; i < len; i++)
		ret[i] = (char)md->choose(md->arg, 256);
	return len;
}

void memdisk_on_sleep(struct memdisk *md, void (*slept)(void *arg, int us), void *arg)
{
	md->slept = slept;
	md->slept_arg = arg;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	struct memdisk *md = vfs->pAppData;

	if (md->slept)
		md->slept(md->slept_arg, us);
	return us;
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
	struct memdisk *md = vfs->pAppData;

	*ret = INT64_C(210866760000000) + md->wall / 1000000; /* ms since noon of November 24, 4714 BC */
	return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *ret)
{
	(void)vfs;
	(void)size;
	(void)ret;
	return 0;
}

void memdisk_set_now(struct memdisk *md, int64_t wall)
{
	md->wall = wall;
}

int memdisk_register(struct memdisk *md, const char *name, bool by_default)
{
	int rc;

	md->vfs = (sqlite3_vfs){
		.iVersion = 2,
		.szOsFile = sizeof(struct file),
		.mxPathname = 1024,
		.zName = name,
		.pAppData = md,
		.xOpen = vfs_open,
		.xDelete = vfs_delete,
		.xAccess = vfs_access,
		.xFullPathname = vfs_full_pathname,
		.xRandomness = vfs_randomness,
		.xSleep = vfs_sleep,
		.xGetLastError = vfs_last_error,
		.xCurrentTimeInt64 = vfs_time,
	};
	rc = sqlite3_vfs_register(&md->vfs, by_default);
	md->registered = rc == SQLITE_OK;
	return rc;
}
