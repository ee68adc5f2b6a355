/*
 * tests/sim/kernel.h: the machine that the daemon believes it runs on. The watcher's own objects are linked with
 * the system calls they make replaced (ld --wrap); here is what stands behind them: clocks, a file tree, inotify,
 * epoll, timers, processes, the socket to the actor, and the disk below SQLite (memdisk). One thread, one seed, no
 * real clock: the same seed gives the same run to the last call.
 *
 * Who calls: world.c and what belongs to it play everybody else (holders, runtimes, users, faults, time). Calling
 * sequence:
 *	kernel_boot()                  a machine, no daemon
 *	kernel_at()                    what is to happen later
 *	kernel_run(main, arg)          the daemon, until it returns, is killed, or its machine goes down
 *	kernel_pass(until)             time without a daemon
 *	...                            and again, for years
 *	kernel_free()
 * Time passes in two ways: the daemon waits (epoll_wait: the clocks jump to the next thing that happens), and each
 * of its calls takes a little. What is due by then happens in between, before the call itself: so a touch can come
 * between any two calls of the daemon. A crash can be asked for at any call.
 *
 * Paths that begin with KERNEL_ROOT, /proc/ and /sys/fs/cgroup/sim/ are the simulated ones, descriptors from
 * KERNEL_FD up too; everything else goes to the real calls (a report to stdout, for example).
 * Errors in the use of this header are the simulation's own mistakes: it prints the seed and aborts.
 */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lease/tree.h"
#include "wire.h"

struct memdisk;

#define KERNEL_ROOT "/sim/"
#define KERNEL_FD 100000

/* --- chance: one stream for the kernel, one for the world, so that a fault more does not change all that
 * follows --- */
enum stream { STREAM_KERNEL, STREAM_WORLD, STREAMS };
uint64_t draw(enum stream s);
int64_t draw_between(enum stream s, int64_t low, int64_t high); /* both included */
bool draw_one_in(enum stream s, uint64_t n);                    /* n 0 = never */

/* --- the machine --- */
/* What goes wrong by itself; one in so many, 0 = never. May be changed at any time. */
struct kernel_faults {
	uint64_t crash; /* calls: the daemon is killed before the call */
	uint64_t stall; /* calls: it takes stall_ns (drawn up to) */
	int64_t stall_ns;
	uint64_t call_fails;  /* calls that may fail (EIO, ENOSPC, EMFILE, ENOMEM, EACCES as fits the call) */
	uint64_t no_memory;   /* malloc(3) and its like: NULL */
	uint64_t sql_no_memory; /* SQLite's own: SQLITE_NOMEM */
	uint64_t interrupted; /* waits: EINTR */
	uint64_t event_lost;  /* inotify events: never delivered, nothing said (a file system without events) */
	uint64_t watch_refused;         /* inotify_add_watch: ENOSPC; inotify_init1: EMFILE */
	uint32_t queue_max;             /* inotify: overflow beyond so many; 0 = 16384 */
	uint64_t peer_full;             /* sends to the actor: EAGAIN */
	uint64_t disk_write, disk_sync, disk_read; /* SQLite's: SQLITE_FULL or SQLITE_IOERR */
	uint64_t ino_again; /* new files: the number of one that has gone, as most file systems do it */
	uint32_t fs_magic;  /* what fstatfs says of the file system; 0 = tmpfs */
};
struct kernel_hooks {
	void *arg;
	/* The daemon asks the actor for an act (after its checks: it is valid). Answer by kernel_answer, now
	 * or later. */
	void (*request)(void *arg, const struct act_request *r);
	/* The daemon moved or removed a file; just done. A folder is told by its own name. to_name NULL =
	 * removed. */
	void (*moved)(void *arg, const char *from_dir, const char *name, const char *to_dir,
		      const char *to_name);
	/* A line of the log. */
	void (*logged)(void *arg, int level, const char *line);
	/* Before each call of the daemon, with its name; for counting and for asking for a crash. May be
	 * NULL. */
	void (*called)(void *arg, const char *call);
};
void kernel_boot(uint64_t seed, const struct kernel_hooks *hooks);
void kernel_free(void);
extern struct kernel_faults kernel_faults;
/* One alone: the nth of its kind from now on, of those that can fail. False: not yet. */
enum kernel_one { ONE_CALL, ONE_ALLOCATION, ONE_OF_SQLITE, ONE_READ, ONE_WRITE, ONE_SYNC, ONES };
void kernel_fail_one(enum kernel_one kind, uint64_t nth);
bool kernel_failed(enum kernel_one kind);
uint64_t kernel_calls(void); /* of the daemon so far */

/* --- time, ns --- */
int64_t kernel_mono(void);
int64_t kernel_busy(void); /* for how long the daemon has not waited for anything */
int64_t kernel_boottime(void);
int64_t kernel_wall(void);
void kernel_step_wall(int64_t by); /* somebody sets the clock */
/* boot time and wall go on, mono does not, and nothing happens meanwhile. */
void kernel_suspend(int64_t for_ns);
void kernel_hold_up(int64_t for_ns); /* the daemon is stopped (SIGSTOP, swap): all else goes on */
/*
 * Power goes or the host is restarted: the daemon is gone, processes too; what stood below KERNEL_ROOT "run/"
 * (a tmpfs) is gone, the disk below SQLite keeps what power_loss says; mono and boot begin anew, after
 * down_ns of wall; the boot id is another one. While the daemon runs (an event, a hook) this returns, and the
 * daemon is gone at its next call: kernel_run gives END_REBOOTED. What kernel_at was asked for is still to
 * come, as long after the boot as it would have come after this.
 */
void kernel_reboot(int64_t down_ns, bool power_loss);
/* Since the first boot, down and asleep too; nobody steps it, no reboot begins it anew. */
int64_t kernel_true(void);

/* --- what happens later; on the mono clock. Events of the same time in the order they were asked for. --- */
typedef void kernel_event(void *arg, uint64_t n);
void kernel_at(int64_t mono, kernel_event *what, void *arg, uint64_t n);
size_t kernel_pending(void);

/* --- the daemon --- */
enum kernel_end { END_RETURNED, END_KILLED, END_REBOOTED };
/*
 * main is called, its memory is ours (malloc and the rest are wrapped for the daemon's objects, so a killed
 * one leaks nothing), its descriptors are closed at its end, locks too. *ret_status: what main gave.
 */
enum kernel_end kernel_run(int (*main)(void *arg), void *arg, int *ret_status);
void kernel_kill(void);               /* kill -9, before its next call; from an event or a hook */
void kernel_signal(int signo);        /* into its signalfd */
void kernel_pass(int64_t until_mono); /* time without a daemon */
bool kernel_running(void);
void kernel_aside(bool begins); /* in the middle of a call of the daemon's: what is done is not the daemon's */
/* Within main: who the daemon is from here on (it begins as root). As drop_to() of os/drop.h does it. */
void kernel_become(uint32_t uid, uint32_t gid);
size_t kernel_memory(void); /* bytes that the daemon has of malloc(3) */

/*
 * --- the tree, as everybody but the daemon uses it. Errors as the kernel gives them (-errno), permissions
 * included (sticky folders). ---
 */
void kernel_as(uint32_t uid); /* who does the following calls; 0 = root */
int kernel_mkdirs(const char *path, uint32_t uid, uint32_t mode);
int kernel_create(const char *path, const void *buf, size_t len); /* whole, 0644, O_EXCL */
int kernel_create_empty(const char *path);                        /* as a person does it: first empty, */
int kernel_write(const char *path, const void *buf, size_t len);  /* then filled; truncates */
int kernel_beat(const char *path);      /* utimensat(NULL): now, but by up to a jiffy late */
int kernel_beat_byte(const char *path); /* the shell's `1<>`: makes a ghost where the file has gone */
int kernel_utime(const char *path, int64_t mtime); /* any stamp */
int kernel_chmod(const char *path, uint32_t mode);
int kernel_rename(const char *from, const char *to);
int kernel_link(const char *from, const char *to);
int kernel_symlink(const char *target, const char *path);
int kernel_unlink(const char *path); /* an empty folder too */
int kernel_mkfifo(const char *path);
int kernel_stat(const char *path, struct lease_stat *ret);
int kernel_read(const char *path, char *buf, size_t size); /* the length, or -errno */
int kernel_list(const char *dir, int (*each)(void *arg, const char *name), void *arg);
/* A file held open by its owner: beats reach it wherever its name goes, also when it has none any more. */
int kernel_hold_open(const char *path);
int kernel_beat_held(int held);
void kernel_let_go(int held);

/* A file system of its own on this folder; 4096-byte blocks and inodes it has room for, 0 = no bound. */
int kernel_mount(const char *path, uint64_t blocks, uint64_t inodes);
int kernel_umount(const char *path); /* MNT_DETACH: who has something of it open keeps that */

/* --- processes --- */
struct lease_process kernel_spawn(uint32_t uid);
void kernel_end_process(int32_t pid);         /* its pidfds become readable, /proc/PID goes */
void kernel_use_cpu(int32_t pid, int64_t ns); /* what /proc/PID/stat and the cgroup KERNEL_CGROUP "PID" say */
bool kernel_process_alive(int32_t pid);
const char *kernel_boot_id(void);
#define KERNEL_CGROUP "/sys/fs/cgroup/sim/" /* + pid: what act_answer.cgroup may name */

/* --- the socket from the actor --- */
void kernel_answer(
    const struct act_answer *a); /* lies in the daemon's socket now; lost when no daemon runs */
int kernel_peer_fd(void);        /* what struct watcher's peer.fd is to be set to, inside main */

void kernel_answer_raw(const void *buf, size_t len); /* a broken actor; 0 bytes = it has gone */

/* --- the disk below SQLite. For a connection of the world's own (sqlite3_open_v2 takes this VFS by default):
 * to look. */
struct memdisk *kernel_disk(void);

/* --- the log of what happened: kept in a ring, printed when something is found wrong --- */
void kernel_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kernel_print_notes(int last);
extern bool kernel_trace; /* each call of the daemon is noted too */

#endif
