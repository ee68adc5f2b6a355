/*
 * tests/fault/memdisk-private.h: what the parts of the disk in memory share.
 *
 *	memdisk.c         files and their changes, what a crash leaves, trouble on demand
 *	memdisk-record.c  the record of changes, copies of a disk
 *	memdisk-vfs.c     SQLite's methods
 *	memdisk-lock.c    locks and shared memory between connections
 */
#ifndef TESTS_MEMDISK_PRIVATE_H
#define TESTS_MEMDISK_PRIVATE_H

#include <sqlite3.h>

#include "tests/fault/memdisk.h"

#define SECTOR 512
#define MAX_PAGES 64 /* of shared memory, 32 KiB each: a WAL of some 250,000 frames */
#define MAX_VERSIONS 8

struct bytes {
	unsigned char *at;
	size_t len, room;
};

struct change { /* of a file, not synced yet */
	bool truncate; /* to .off */
	int64_t off;
	size_t len, data; /* .data: where in the inode's .pending */
};

struct shm {
	int refs;
	void *pages[MAX_PAGES];
	int shared[SQLITE_SHM_NLOCK];
	const struct file *exclusive[SQLITE_SHM_NLOCK];
};

struct inode {
	int refs; /* names and open files */
	struct bytes now, durable, pending;
	struct change *changes;
	size_t n_changes, changes_room;
	int shared; /* connections with a shared lock, or more */
	const struct file *reserved, *exclusive;
	bool want_exclusive; /* .reserved waits for the readers to go: no new ones */
	struct shm *shm;
};

struct name {
	struct name *next;
	/* [0] is durable, the last is what the process sees; NULL = no such file. */
	struct inode *versions[MAX_VERSIONS];
	int n;
	char path[];
};

enum op_kind { OP_MAKE, OP_REMOVE, OP_WRITE, OP_TRUNCATE, OP_SYNC, OP_SYNC_FAILED, OP_SYNC_DIR };

struct op {
	enum op_kind kind;
	const struct name *name; /* OP_SYNC_DIR: any in the folder */
	int64_t off;
	size_t len, data;
};

struct trouble {
	int at, code;
	bool for_good;
};

struct memdisk {
	sqlite3_vfs vfs;
	bool registered, dead, recording;
	int die_after; /* -1 = not */
	unsigned life; /* files of an earlier life are of a dead process */
	memdisk_choose *choose;
	void *arg;
	int64_t wall;
	void (*slept)(void *arg, int us);
	void *slept_arg;
	struct name *names;
	struct trouble reads, writes, syncs;
	int failed;
	uint64_t n_writes, n_syncs;
	struct op *ops;
	size_t n_ops, ops_room;
	struct bytes op_data;
};

struct file { /* begins as SQLite wants it */
	sqlite3_file base;
	struct memdisk *md;
	struct inode *inode;
	struct name *name; /* NULL = a file without one */
	unsigned life;
	int lock;
	bool sync_dir, remove_on_close;
	struct shm *shm;
	unsigned shm_shared, shm_exclusive; /* bits: the locks in it that this connection has */
};

void *memdisk_alloc(void *old, size_t size); /* realloc(3) that aborts */
void bytes_put(struct bytes *b, int64_t off, const void *buf, size_t len); /* zeros in between */
void bytes_cut(struct bytes *b, size_t len);

struct name *name_find(const struct memdisk *md, const char *path);
struct name *name_get(struct memdisk *md, const char *path); /* makes it */
struct inode *name_inode(const struct name *n); /* as the process sees it; NULL */
void name_set(struct memdisk *md, struct name *n, struct inode *i);
struct inode *inode_new(void);
void inode_unref(struct inode *i);
void inode_write(struct inode *i, int64_t off, const void *buf, size_t len);
void inode_truncate(struct inode *i, int64_t size);
void inode_sync(struct inode *i);
void inode_forget(struct inode *i); /* changes that will never be durable */
void name_settle(struct name *n, int version);

/* Before a change: false = the process is dead. */
bool memdisk_alive(struct memdisk *md);
/* SQLite's code for this call, 0 = it works. */
int trouble_now(struct memdisk *md, struct trouble *t);
void record_op(struct memdisk *md, enum op_kind kind, const struct name *n, int64_t off, const void *buf, size_t len);
void shm_unref(struct shm *s);

int memdisk_lock(sqlite3_file *file, int level);
int memdisk_unlock(sqlite3_file *file, int level);
int memdisk_check_reserved(sqlite3_file *file, int *ret);
int memdisk_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret);
int memdisk_shm_lock(sqlite3_file *file, int offset, int n, int flags);
void memdisk_shm_barrier(sqlite3_file *file);
int memdisk_shm_unmap(sqlite3_file *file, int remove);
bool file_dead(const struct file *f);

#endif
