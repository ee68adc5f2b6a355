/*
 * tests/sim/k.h: what the parts of the simulated machine share. Calls give -errno; the wrappers (k-wrap*.c)
 * turn that into what libc gives.
 *
 *	k-chance.c   the seed's streams, the ring of notes, mistakes of the simulation's own
 *	k-time.c     clocks, what is to happen, the way into each of the daemon's calls
 *	k-inode.c    inodes, names, file systems
 *	k-path.c     from a path to an inode, permissions
 *	k-file.c     descriptors: open, read, write, close
 *	k-tree.c     stat, link, rename, unlink, utimensat, chmod
 *	k-inotify.c  as fs/notify has it
 *	k-poll.c     epoll, timerfd, signalfd, pidfd
 *	k-process.c  processes, /proc, cgroups
 *	k-memory.c   the daemon's heap
 *	k-daemon.c   its life: run, kill, reboot; the socket to the actor, the disk
 *	k-world.c    the tree as others use it
 *	k-wrap.c, k-wrap-files.c  what ld puts in the place of the daemon's calls
 */
#ifndef SIM_K_H
#define SIM_K_H

#include <setjmp.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/fault/memdisk.h"
#include "tests/sim/kernel.h"

#define K_FDS 65536
#define K_S INT64_C(1000000000)
#define JIFFY INT64_C(4000000) /* CONFIG_HZ=250: stamps of files are of the last tick */
#define NAME_LONGEST 255

struct cred {
	uint32_t uid, gid;
};

struct super {
	struct super *next;
	uint32_t dev;
	uint64_t next_ino, blocks, used, inodes, used_inodes; /* of 4096 bytes; 0 = no bound */
	uint64_t freed[16];                                   /* numbers that may come again */
	int n_freed;
};

struct inode {
	struct super *sb;
	uint64_t ino;
	uint32_t mode, uid, gid, nlink;
	int64_t mtime, ctime;
	unsigned refs; /* dentries and open files */
	bool linkable; /* of O_TMPFILE: has no name yet, may get one */
	bool locked;   /* flock(2), exclusive: all there is */
	char *data;    /* a file's bytes, a link's target */
	size_t size, room;
	struct dentry *first, *last; /* a folder's, newest first, as tmpfs lists them */
	size_t entries;
	struct dentry *self; /* a folder's own name */
	struct file *readers;
	struct inode *covered; /* a root's: what it is mounted over */
	struct watch *watches;
};

struct dentry {
	struct dentry *chain, *next, *prev;
	struct inode *dir, *inode;
	uint64_t hash;
	unsigned refs; /* open files */
	bool hashed;
	uint8_t len;
	char *name;
};

enum file_kind {
	F_INODE,
	F_TEXT,
	F_CGROUP,
	F_TASKS,
	F_INOTIFY,
	F_EPOLL,
	F_TIMER,
	F_CLOCK, /* a timer of the wall clock */
	F_SIGNAL,
	F_PROCESS,
	F_PEER
};
struct epoll_item {
	struct file *file;
	uint32_t events;
	uint64_t data;
	bool ready;
	struct epoll_item *next, *prev; /* of those that may be ready */
};
struct file {
	enum file_kind kind;
	int flags;
	struct dentry *dentry;
	struct inode *inode;
	size_t at;
	struct dentry *cursor; /* of a folder: what is to be listed next */
	int listed;            /* ., .., then the rest */
	struct file *next_reader;
	bool holds_lock;
	char *text;
	size_t len;
	struct inotify *inotify;
	struct epoll_item *item;                     /* in the one epoll there is */
	struct epoll_item *ready_first, *ready_last; /* an epoll's */
	int64_t expires;                             /* a timer's: on the true clock; INT64_MAX = off */
	uint64_t ticks;
	struct process *process;
	struct file *next; /* of timers; of a process's pidfds */
};

struct process {
	int32_t pid;
	uint32_t uid;
	uint64_t start;
	int64_t cpu;
	bool alive;
	int refs;         /* itself, while it lives, and descriptors */
	struct file *fds; /* pidfds */
};

struct path {
	struct inode *dir;     /* where the last name is, NULL = none (/, ., a descriptor) */
	struct dentry *dentry; /* NULL = not there */
	struct inode *inode;
	bool up;    /* .. was the last one */
	bool slash; /* something was behind the name: it must be a folder */
	size_t len;
	char name[NAME_LONGEST + 1];
};
#define WALK_FOLLOW 1u   /* the last one, too */
#define WALK_NO_LINKS 2u /* RESOLVE_NO_SYMLINKS */
#define WALK_NO_XDEV 4u
#define WALK_BENEATH 8u
#define WALK_PARENT 32u /* for who makes or removes the last name: a slash behind it is told, no more */
#define WALK_EMPTY 16u  /* "" is the descriptor */

struct k_event {
	int64_t at;
	uint64_t order;
	kernel_event *what;
	void *arg;
	uint64_t n;
};

struct machine {
	uint64_t seed;
	struct kernel_hooks hooks;
	int64_t now, boot; /* ns since the machine was made, and when it was booted: mono is the difference */
	int64_t slept, slept_ever; /* suspended since boot; asleep or down since ever */
	int64_t wall_off;          /* wall - now */
	int64_t held_until;
	int64_t rested; /* when the daemon last had nothing to do */
	uint64_t calls, fail_at; /* fail_at: this call fails, if it can; 0 = none */
	uint64_t allocations, no_memory_at;
	uint64_t one[ONE_READ]; /* so many more of its kind, then one fails; 0 = none */
	bool running, killed, rebooting, power_loss;
	int64_t down_for;
	int outside; /* the world has the word, though the daemon runs */
	jmp_buf out;
	struct cred daemon, as;
	struct process *self;
	struct file *fds[K_FDS];
	int fd_low, fd_top;
	struct file *timers, *clock_timer, *signals, *peer, *epoll;
	uint64_t signals_pending;
	char boot_id[40];
	struct inode *root;
	struct memdisk *disk;
};
extern struct machine k;

/* k-chance.c */
void chance_seed(uint64_t seed);
void mistake(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *k_alloc(size_t size); /* zeroed */
void notes_free(void);

/* k-time.c */
void advance(int64_t to);
int64_t next_event(void); /* INT64_MAX = none */
int64_t stamp_now(void);
int call(const char *name,
	 const int *errors); /* the daemon makes a call: time, what is due, faults; may not return */
void events_free(void);
void events_begin(void);

/* k-inode.c */
struct inode *inode_make(struct super *sb, uint32_t mode, const struct cred *c); /* NULL = full */
void inode_put(struct inode *i);
bool inode_room(struct inode *i, size_t size); /* makes it so large; false = full */
struct super *super_new(uint64_t blocks, uint64_t inodes);
struct dentry *dentry_new(struct inode *dir, const char *name, size_t len,
			  struct inode *i);                                          /* without a place */
void dentry_name(struct dentry *d, struct inode *dir, const char *name, size_t len); /* another one */
void dentry_hash(struct dentry *d);
void dentry_unhash(struct dentry *d);
void dentry_put(struct dentry *d); /* once without a name and without a file it goes */
void mount_on(struct dentry *d, struct super *sb);
void mount_off(struct dentry *d);
struct dentry *dentry_find(const struct inode *dir, const char *name, size_t len);
void tree_boot(void);
void tree_free(void);
void tree_clear(struct inode *dir);

/* k-path.c */
int may(const struct inode *i, const struct cred *c, unsigned rwx);
bool owns(const struct inode *i, const struct cred *c);
int may_remove(const struct inode *dir, const struct inode *i, const struct cred *c);
int may_add(const struct inode *dir, const struct cred *c);
int walk(const struct cred *c, int dirfd, const char *path, unsigned flags, struct path *ret);
bool is_folder(const struct inode *i);
int path_of(const struct inode *dir, char *buf, size_t size); /* a folder's */

/* k-file.c */
struct file *file_new(enum file_kind kind, int flags);
struct file *file_of_inode(struct dentry *d, struct inode *i, int flags);
void file_close(struct file *f);
void file_unlist(struct file **list, const struct file *f);
int fd_new(struct file *f);   /* takes it over, also when it fails */
struct file *fd_file(int fd); /* NULL = not open */
int fd_close(int fd);
int open_at(const struct cred *c, int dirfd, const char *path, int flags, uint32_t mode, unsigned how,
	    struct file **ret);
ssize_t file_read(struct file *f, void *buf, size_t len);
ssize_t file_write(struct file *f, const void *buf, size_t len);
ssize_t file_list(struct file *f, void *buf, size_t size);

/* k-tree.c */
void stat_of(const struct inode *i, struct stat *ret);
int tree_mkdir(const struct cred *c, int dirfd, const char *path, uint32_t mode);
int tree_unlink(const struct cred *c, int dirfd, const char *path, bool folder);
int tree_rename(const struct cred *c, int from, const char *old, int to, const char *name, bool replace);
int link_inode(const struct cred *c, struct inode *i, struct path *b);
int tree_link(const struct cred *c, int from, const char *old, int to, const char *name, unsigned flags);
int tree_make(const struct cred *c, const char *path, uint32_t mode, const char *target);
int inode_utime(const struct cred *c, struct dentry *d, struct inode *i, const int64_t *mtime);
int inode_chmod(const struct cred *c, struct dentry *d, struct inode *i, uint32_t mode);
int inode_chown(const struct cred *c, struct dentry *d, struct inode *i, uint32_t uid, uint32_t gid);
void inode_resize(struct dentry *d, struct inode *i);
struct dentry *tree_create(const struct cred *c, struct path *p, uint32_t mode, int *ret_error);

/* k-inotify.c */
int inotify_make(int flags);
int inotify_add(struct file *f, struct inode *i, uint32_t mask);
int inotify_remove(struct file *f, int wd);
ssize_t inotify_take(struct file *f, void *buf, size_t len);
bool inotify_waiting(const struct file *f);
void inotify_free(struct file *f);
void tell_name(struct inode *dir, uint32_t mask, const char *name, const struct inode *of, uint32_t cookie);
void tell_inode(struct inode *i, uint32_t mask);
void tell_dentry(struct dentry *d, struct inode *i, uint32_t mask); /* the folder it is in and itself */
void tell_gone(struct inode *i);
uint32_t tell_cookie(void);

/* k-poll.c */
void file_wake(struct file *f);
bool file_readable(struct file *f);
int epoll_make(void);
int epoll_change(struct file *ep, int op, int fd, uint32_t events, uint64_t data);
int epoll_take(struct file *ep, void *events, int max, int timeout_ms);
int timer_make(int flags);
int clock_timer_make(int flags); /* of the wall clock: all it tells is that somebody set it */
void clock_was_set(void);
ssize_t clock_timer_take(struct file *f);
void timers_look(void);
ssize_t signals_take(void *buf, size_t len);
int timer_set(struct file *f, int64_t mono); /* 0 = off */
void epoll_forget(struct file *f);

/* k-process.c */
struct process *process_find(int32_t pid);
int process_open(int32_t pid);
void process_let_go(struct file *f);
ssize_t tasks_list(struct file *f, void *buf, size_t size);
int proc_open(const char *path, int flags, struct file **ret);
bool proc_there(const char *path);
void processes_end(void); /* all of them, as with the power */
void processes_free(void);
int cgroup_open(const struct file *dir, const char *name, struct file **ret);

/* k-memory.c */
void memory_reset(void);
void memory_for_sqlite(void);
bool the_one(enum kernel_one kind);

/* k-daemon.c */
ssize_t peer_send(const void *buf, size_t len);
ssize_t peer_take(void *buf, size_t len, bool true_length);
bool peer_waiting(void);
void disk_faults(void);
void die(void) __attribute__((noreturn));
bool dying(void);

/* k-world.c */
void held_free(void);

static inline bool simulated(void)
{
	return k.running && k.outside == 0;
}

#endif
