/*
 * tests/fault/memdisk.h: a disk in memory for SQLite, that can lose its power. A VFS whose files live here and
 * nowhere else: what was written, what was synced, and what of the rest a real disk might have kept.
 *
 *	struct memdisk *md = memdisk_new(choose, arg);	choose: the only source of randomness
 *	memdisk_register(md, "memdisk", true);		now the default VFS: registry_open() uses it
 *	... work ...
 *	memdisk_die(md);				from here on every call fails and changes nothing
 *	registry_close(r);				gives back the dead process's memory, touches no file
 *	memdisk_crash(md); or memdisk_power_loss(md, choose, arg);
 *	registry_open(...)				the next process
 *
 * A disk is one object and there may be several, each a VFS of its own name. One thread at a time (SQLite's own
 * threading mode doesn't matter), one process; connections in it lock each other out as processes would. No
 * clock, no system call but malloc(3); without memory it aborts.
 *
 * Files are known by their absolute path, byte for byte. The database itself is made by whoever opens it first:
 * store/registry-open.c makes it on the real file system, with open(2), and SQLite then opens what is here. Its
 * name is not durable until memdisk_sync_dir; that of a journal is after the first sync of it, since SQLite's
 * VFS for Unix syncs the folder then.
 */
#ifndef TESTS_MEMDISK_H
#define TESTS_MEMDISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memdisk;

/* A number below `below` (1 or more). The same numbers give the same disk. */
typedef uint32_t memdisk_choose(void *arg, uint32_t below);

/* choose: for what SQLite wants to be random (the salts of its WAL). */
struct memdisk *memdisk_new(memdisk_choose *choose, void *arg);
/* Every connection is closed before. */
void memdisk_free(struct memdisk *md);
/* name: kept by reference. 0, or SQLite's code. */
int memdisk_register(struct memdisk *md, const char *name, bool by_default);
/* What SQLite's date functions say; ns since 1970. 0 until set. */
void memdisk_set_now(struct memdisk *md, int64_t wall);

/* What happens while SQLite waits for a lock of somebody else's (it never really does): us microseconds go by. */
void memdisk_on_sleep(struct memdisk *md, void (*slept)(void *arg, int us), void *arg);

/* The process dies now, or after that many more changes (writes, truncates, syncs, removals). */
void memdisk_die(struct memdisk *md);
void memdisk_die_after(struct memdisk *md, int changes);
bool memdisk_dead(const struct memdisk *md);
/*
 * After a death by kill -9: what was written stays, as it lies in the page cache; locks and shared memory are
 * gone. Connections that are still open are of the dead process: they fail for ever, and are closed as usual.
 */
void memdisk_crash(struct memdisk *md);
/*
 * As memdisk_crash, and the power went as well. What was synced stays. Of each file's changes since its last
 * sync any subset survives: a write whole, not at all, or torn (any of its 512-byte sectors); a file may have
 * grown without what was written into it, then zeros are there. Of the names made and removed in a folder since
 * its last sync, any.
 */
void memdisk_power_loss(struct memdisk *md, memdisk_choose *choose, void *arg);

/*
 * The at-th write (or truncate) from now, the at-th sync gives this code of SQLite's; for_good: all after it, too. 0
 * = none. A write that fails has written its first half. A sync that fails has given up what it should have
 * made durable: as on Linux, the next one does not try it again.
 */
void memdisk_fail_writes(struct memdisk *md, int at, int code, bool for_good);
void memdisk_fail_syncs(struct memdisk *md, int at, int code, bool for_good);
void memdisk_fail_reads(struct memdisk *md, int at, int code); /* once */
/* How many calls were made to fail since it was asked last. */
int memdisk_failed(struct memdisk *md);
/* How many writes and syncs there were at all. */
uint64_t memdisk_writes(const struct memdisk *md);
uint64_t memdisk_syncs(const struct memdisk *md);

/* By hand: open(O_CREAT | O_EXCL); fsync of a folder; the size; pread and pwrite. -errno. */
int memdisk_make(struct memdisk *md, const char *path);
void memdisk_sync_dir(struct memdisk *md, const char *dir);
int64_t memdisk_size(const struct memdisk *md, const char *path);
int memdisk_read(const struct memdisk *md, const char *path, int64_t at, void *buf, size_t len);
int memdisk_write(struct memdisk *md, const char *path, int64_t at, const void *buf, size_t len);

/*
 * The record: every change from memdisk_record on, numbered from 0. memdisk_redo does one of them on another disk,
 * so that a disk which had all before it becomes what this one was right after it. memdisk_describe: for a failure's
 * message.
 */
void memdisk_record(struct memdisk *md);
size_t memdisk_recorded(const struct memdisk *md);
void memdisk_redo(struct memdisk *to, const struct memdisk *from, size_t op);
void memdisk_describe(const struct memdisk *md, size_t op, char *buf, size_t size);
/* All files of `from`, what is durable and what is not; nothing else of it. No connection to `to` is open. */
void memdisk_copy(struct memdisk *to, const struct memdisk *from);

#endif
