#include "config.h"

#include <string.h>

#include "tests/fault/memdisk-private.h"

int memdisk_lock(sqlite3_file *file, int level)
{
	struct file *f = (struct file *)file;
	struct inode *i = f->inode;

	if (file_dead(f))
		return SQLITE_IOERR_LOCK;
	if (f->lock >= level)
		return SQLITE_OK;
	if (level == SQLITE_LOCK_SHARED) {
		if (i->exclusive || i->want_exclusive)
			return SQLITE_BUSY;
		i->shared++;
		f->lock = level;
		return SQLITE_OK;
	}
	if (i->reserved && i->reserved != f)
		return SQLITE_BUSY;
	i->reserved = f;
	if (level == SQLITE_LOCK_RESERVED) {
		f->lock = level;
		return SQLITE_OK;
	}
	i->want_exclusive = true;
	f->lock = SQLITE_LOCK_PENDING;
	if (i->shared > 1)
		return SQLITE_BUSY;
	i->exclusive = f;
	f->lock = SQLITE_LOCK_EXCLUSIVE;
	return SQLITE_OK;
}

int memdisk_unlock(sqlite3_file *file, int level)
{
	struct file *f = (struct file *)file;
	struct inode *i = f->inode;

	if (f->lock <= level)
		return SQLITE_OK;
	/* The locks of a dead process went with it. */
	if (f->life == f->md->life) {
		if (i->reserved == f) {
			i->reserved = i->exclusive = NULL;
			i->want_exclusive = false;
		}
		if (level == SQLITE_LOCK_NONE)
			i->shared--;
	}
	f->lock = level;
	return SQLITE_OK;
}

int memdisk_check_reserved(sqlite3_file *file, int *ret)
{
	struct file *f = (struct file *)file;

	if (file_dead(f))
		return SQLITE_IOERR_CHECKRESERVEDLOCK;
	*ret = f->inode->reserved != NULL;
	return SQLITE_OK;
}

static void shm_attach(struct file *f)
{
	struct inode *i = f->inode;

	if (!i->shm) {
		i->shm = memdisk_alloc(NULL, sizeof(*i->shm));
		memset(i->shm, 0, sizeof(*i->shm));
		i->shm->refs = 1;
	}
	f->shm = i->shm;
	f->shm->refs++;
}

int memdisk_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
	struct file *f = (struct file *)file;

	*ret = NULL;
	if (file_dead(f) || page >= MAX_PAGES)
		return SQLITE_IOERR_SHMMAP;
	if (!f->shm)
		shm_attach(f);
	if (!f->shm->pages[page] && !extend)
		return SQLITE_OK;
	for (int p = 0; p <= page; p++) {
		if (f->shm->pages[p])
			continue;
		f->shm->pages[p] = memdisk_alloc(NULL, (size_t)size);
		memset(f->shm->pages[p], 0, (size_t)size);
	}
	*ret = f->shm->pages[page];
	return SQLITE_OK;
}

static bool shm_held_by_others(const struct file *f, int lock, bool exclusive)
{
	const struct shm *s = f->shm;
	int mine = f->shm_shared >> lock & 1;

	return (s->exclusive[lock] && s->exclusive[lock] != f) || (exclusive && s->shared[lock] > mine);
}

int memdisk_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	struct file *f = (struct file *)file;
	bool exclusive = flags & SQLITE_SHM_EXCLUSIVE;

	if (file_dead(f) || !f->shm)
		return SQLITE_IOERR_SHMLOCK;
	for (int l = offset; flags & SQLITE_SHM_LOCK && l < offset + n; l++)
		if (shm_held_by_others(f, l, exclusive))
			return SQLITE_BUSY;
	for (int l = offset; l < offset + n; l++) {
		unsigned bit = 1u << l;

		if (f->shm_shared & bit)
			f->shm->shared[l]--;
		if (f->shm_exclusive & bit)
			f->shm->exclusive[l] = NULL;
		f->shm_shared &= ~bit;
		f->shm_exclusive &= ~bit;
		if (!(flags & SQLITE_SHM_LOCK))
			continue;
		if (exclusive) {
			f->shm->exclusive[l] = f;
			f->shm_exclusive |= bit;
		} else {
			f->shm->shared[l]++;
			f->shm_shared |= bit;
		}
	}
	return SQLITE_OK;
}

void memdisk_shm_barrier(sqlite3_file *file)
{
	(void)file;
}

int memdisk_shm_unmap(sqlite3_file *file, int remove)
{
	struct file *f = (struct file *)file;
	struct inode *i = f->inode;

	(void)remove; /* the last one takes it along: the next who comes finds it empty either way */
	if (!f->shm)
		return SQLITE_OK;
	for (int l = 0; l < SQLITE_SHM_NLOCK; l++) {
		if (f->shm_shared & 1u << l)
			f->shm->shared[l]--;
		if (f->shm_exclusive & 1u << l)
			f->shm->exclusive[l] = NULL;
	}
	f->shm_shared = f->shm_exclusive = 0;
	if (f->shm == i->shm && f->shm->refs == 2) {
		i->shm = NULL;
		f->shm->refs--;
	}
	shm_unref(f->shm);
	f->shm = NULL;
	return SQLITE_OK;
}
