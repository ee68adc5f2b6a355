/* The daemon's life: run, kill, reboot; the socket to its actor, the disk below its registry. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/k.h"

#define CONNECTIONS 8

struct packet {
	struct packet *next;
	size_t len;
	char buf[];
};

struct machine k;
static struct packet *first, *last;
static bool actor_gone;
static sqlite3 *connections[CONNECTIONS];

static uint32_t choose(void *arg, uint32_t below)
{
	(void)arg;
	return (uint32_t)(draw(STREAM_KERNEL) % below);
}

static void begin_boot(void)
{
	uint64_t a = draw(STREAM_KERNEL), b = draw(STREAM_KERNEL);

	k.boot = k.now - draw_between(STREAM_KERNEL, 2 * K_S, 20 * K_S);
	k.slept = 0;
	(void)snprintf(k.boot_id, sizeof(k.boot_id), "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(a >> 32),
		       (unsigned)(a & 0xffff), (unsigned)((a >> 16) & 0xfff), (unsigned)((b >> 48) & 0xfff),
		       (unsigned long long)(b & 0xffffffffffff));
	tree_boot();
}

/* SQLite waits for whoever has its lock. */
static void slept(void *arg, int us)
{
	(void)arg;
	if (!dying())
		advance(k.now + us * INT64_C(1000));
}

void kernel_boot(uint64_t seed, const struct kernel_hooks *hooks)
{
	chance_seed(seed);
	memset(&k, 0, sizeof(k));
	memset(&kernel_faults, 0, sizeof(kernel_faults));
	k.seed = seed;
	k.hooks = *hooks;
	k.now = 100 * K_S;
	k.wall_off = INT64_C(1790000000) * K_S;
	memory_for_sqlite();
	k.disk = memdisk_new(choose, NULL);
	if (memdisk_register(k.disk, "memdisk", true) != 0)
		mistake("SQLite does not take the disk");
	memdisk_on_sleep(k.disk, slept, NULL);
	sqlite3_randomness(0, NULL); /* its own generator begins anew, too */
	begin_boot();
}

static void forget_answers(void)
{
	while (first) {
		struct packet *p = first;
		first = p->next;
		free(p);
	}
	last = NULL;
	actor_gone = false;
}

void kernel_free(void)
{
	held_free();
	tree_free();
	processes_free();
	events_free();
	forget_answers();
	memory_reset();
	memdisk_free(k.disk);
	k.disk = NULL;
	notes_free();
}

bool kernel_running(void)
{
	return k.running;
}

void kernel_aside(bool begins)
{
	k.outside += begins ? 1 : -1;
	memdisk_fail_reads(k.disk, 0, SQLITE_OK);
}

void kernel_fail_one(enum kernel_one kind, uint64_t nth)
{
	if (kind < ONE_READ)
		k.one[kind] = nth;
	else if (kind == ONE_READ)
		memdisk_fail_reads(k.disk, (int)nth, SQLITE_IOERR_READ);
	else if (kind == ONE_WRITE)
		memdisk_fail_writes(k.disk, (int)nth, draw_one_in(STREAM_KERNEL, 2) ? SQLITE_FULL : SQLITE_IOERR_WRITE, false);
	else
		memdisk_fail_syncs(k.disk, (int)nth, SQLITE_IOERR_FSYNC, false);
	(void)memdisk_failed(k.disk);
}

bool kernel_failed(enum kernel_one kind)
{
	return kind < ONE_READ ? k.one[kind] == 0 : memdisk_failed(k.disk) > 0;
}

bool the_one(enum kernel_one kind)
{
	return k.one[kind] > 0 && --k.one[kind] == 0;
}

bool dying(void)
{
	return k.running && (k.killed || k.rebooting || memdisk_dead(k.disk));
}

void die(void)
{
	longjmp(k.out, 1);
}

/* What SQLite does until the daemon's next call changes nothing. */
void kernel_kill(void)
{
	if (!k.running)
		return;
	kernel_note("the daemon is killed");
	k.killed = true;
	memdisk_die(k.disk);
}

static void close_connections(void)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		sqlite3_stmt *st;

		if (!connections[i])
			continue;
		while ((st = sqlite3_next_stmt(connections[i], NULL)) != NULL)
			(void)sqlite3_finalize(st);
		if (sqlite3_close(connections[i]) != SQLITE_OK)
			mistake("a connection of the dead daemon cannot be closed");
		connections[i] = NULL;
	}
}

static void reboot_now(void)
{
	processes_end();
	held_free();
	k.slept_ever += k.down_for;
	k.wall_off += k.down_for;
	k.held_until = 0;
	begin_boot();
	kernel_note("booted");
}

void kernel_reboot(int64_t down_ns, bool power_loss)
{
	kernel_note("the machine goes down for %.3f s%s", (double)down_ns / 1e9,
		    power_loss ? ", without power" : "");
	if (k.rebooting)
		return;
	k.down_for = down_ns;
	k.power_loss = power_loss;
	memdisk_die(k.disk);
	if (k.running) {
		k.rebooting = true;
		return;
	}
	if (power_loss)
		memdisk_power_loss(k.disk, choose, NULL);
	else
		memdisk_crash(k.disk);
	reboot_now();
}

/* What is done once a start is as likely to fail as what is done for ever: one of its first calls does. */
static void start_faults(void)
{
	k.fail_at = k.no_memory_at = 0;
	if (kernel_faults.call_fails && draw_one_in(STREAM_KERNEL, 2))
		k.fail_at = k.calls + 1 + draw(STREAM_KERNEL) % 400;
	if (kernel_faults.no_memory && draw_one_in(STREAM_KERNEL, 4))
		k.no_memory_at = k.allocations + 1 + draw(STREAM_KERNEL) % 300;
	if (kernel_faults.disk_write && draw_one_in(STREAM_KERNEL, 4))
		memdisk_fail_writes(k.disk, 1 + (int)(draw(STREAM_KERNEL) % 16), SQLITE_FULL, false);
	if (kernel_faults.disk_sync && draw_one_in(STREAM_KERNEL, 4))
		memdisk_fail_syncs(k.disk, 1 + (int)(draw(STREAM_KERNEL) % 6), SQLITE_IOERR_FSYNC, false);
}

enum kernel_end kernel_run(int (*main)(void *arg), void *arg, int *ret_status)
{
	volatile enum kernel_end end = END_KILLED;

	if (k.running)
		mistake("a second daemon");
	k.daemon = (struct cred){0, 0};
	k.self = process_find(kernel_spawn(0).pid);
	k.signals_pending = 0;
	k.killed = k.rebooting = false;
	k.fd_low = k.fd_top = 0;
	forget_answers();
	start_faults();
	k.rested = k.now;
	k.running = true;
	if (setjmp(k.out) == 0) {
		*ret_status = main(arg);
		end = END_RETURNED;
	}
	if (k.rebooting)
		end = END_REBOOTED;
	k.running = false;
	k.outside = 0;
	memdisk_die(k.disk);
	close_connections();
	if (k.rebooting && k.power_loss)
		memdisk_power_loss(k.disk, choose, NULL);
	else
		memdisk_crash(k.disk);
	for (int i = 0; i < k.fd_top; i++)
		if (k.fds[i])
			(void)fd_close(KERNEL_FD + i);
	kernel_end_process(k.self->pid);
	forget_answers();
	memory_reset();
	if (k.rebooting)
		reboot_now();
	k.killed = k.rebooting = false;
	return end;
}

void kernel_pass(int64_t until_mono)
{
	if (k.running)
		mistake("time without a daemon, but it runs");
	advance(until_mono + k.boot);
}

void kernel_become(uint32_t uid, uint32_t gid)
{
	k.daemon = (struct cred){uid, gid};
	k.self->uid = uid;
}

struct memdisk *kernel_disk(void)
{
	return k.disk;
}

/* Asked for once a turn: the next few writes may be the ones. */
void disk_faults(void)
{
	int n = 1 + (int)(draw(STREAM_KERNEL) % 8);

	memdisk_set_now(k.disk, kernel_wall());
	if (draw_one_in(STREAM_KERNEL, kernel_faults.disk_write))
		memdisk_fail_writes(k.disk, n, draw(STREAM_KERNEL) & 1 ? SQLITE_FULL : SQLITE_IOERR_WRITE,
				    false);
	if (draw_one_in(STREAM_KERNEL, kernel_faults.disk_read))
		memdisk_fail_reads(k.disk, 4 * n, SQLITE_IOERR_READ);
	if (draw_one_in(STREAM_KERNEL, kernel_faults.disk_sync))
		memdisk_fail_syncs(k.disk, 1, SQLITE_IOERR_FSYNC, false);
	if (kernel_faults.crash && draw_one_in(STREAM_KERNEL, kernel_faults.crash / 16 + 1))
		memdisk_die_after(k.disk, n);
}

/* --- the socket --- */

int kernel_peer_fd(void)
{
	int fd;

	k.peer = file_new(F_PEER, O_RDWR);
	fd = fd_new(k.peer);
	if (fd < 0)
		mistake("no descriptor for the actor's socket");
	return fd;
}

void kernel_answer_raw(const void *buf, size_t len)
{
	struct packet *p;

	if (!k.running)
		return;
	if (len == 0) {
		actor_gone = true;
	} else {
		p = k_alloc(sizeof(*p) + len);
		p->len = len;
		memcpy(p->buf, buf, len);
		*(last ? &last->next : &first) = p;
		last = p;
	}
	if (k.peer)
		file_wake(k.peer);
}

void kernel_answer(const struct act_answer *a)
{
	kernel_answer_raw(a, sizeof(*a));
}

bool peer_waiting(void)
{
	return first || actor_gone;
}

ssize_t peer_send(const void *buf, size_t len)
{
	if (actor_gone)
		return -EPIPE;
	if (draw_one_in(STREAM_KERNEL, kernel_faults.peer_full))
		return -EAGAIN;
	if (len != sizeof(struct act_request) || !wire_request_valid(buf))
		mistake("the daemon sent what is no request");
	if (k.hooks.request) {
		k.outside++;
		k.hooks.request(k.hooks.arg, buf);
		k.outside--;
	}
	return (ssize_t)len;
}

ssize_t peer_take(void *buf, size_t len, bool true_length)
{
	struct packet *p = first;
	size_t whole;

	if (!p)
		return actor_gone ? 0 : -EAGAIN;
	whole = p->len;
	memcpy(buf, p->buf, whole < len ? whole : len);
	first = p->next;
	if (!first)
		last = NULL;
	free(p);
	return (ssize_t)(true_length || whole < len ? whole : len);
}

/* --- SQLite's connections: a daemon that is killed closes none --- */

int __real_sqlite3_open_v2(const char *path, sqlite3 **ret, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **ret, int flags, const char *vfs);
int __real_sqlite3_close(sqlite3 *db);
int __wrap_sqlite3_close(sqlite3 *db);

int __wrap_sqlite3_open_v2(const char *path, sqlite3 **ret, int flags, const char *vfs)
{
	int rc = __real_sqlite3_open_v2(path, ret, flags, vfs);

	for (int i = 0; simulated() && *ret && i < CONNECTIONS; i++)
		if (!connections[i]) {
			connections[i] = *ret;
			break;
		}
	return rc;
}

int __wrap_sqlite3_close(sqlite3 *db)
{
	for (int i = 0; i < CONNECTIONS; i++)
		if (connections[i] == db)
			connections[i] = NULL;
	return __real_sqlite3_close(db);
}
