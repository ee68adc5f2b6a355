/* inotify, as fs/notify/ has it: inotify(7). */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>

#include "tests/sim/k.h"

#define QUEUE_MAX 16384 /* fs.inotify.max_queued_events */
#define WATCHES_MAX 1048576

struct watch {
	struct watch *next, *chain; /* of the inode; of those with this remainder of the descriptor */
	struct inotify *of;
	struct inode *inode;
	int wd;
	uint32_t mask;
};

struct happened { /* struct inotify_event, with the name behind it */
	struct happened *next;
	int wd;
	uint32_t mask, cookie, len;
	char name[];
};

struct inotify {
	struct file *file;
	struct happened *first, *last;
	uint32_t waiting;
	bool overflown; /* it is said in the queue already */
	struct watch **table;
	size_t size, n;
	int next_wd;
};

static uint32_t cookies;

uint32_t tell_cookie(void)
{
	return ++cookies;
}

int inotify_make(int flags)
{
	struct file *f = file_new(F_INOTIFY, flags);

	f->inotify = k_alloc(sizeof(*f->inotify));
	f->inotify->file = f;
	f->inotify->next_wd = 1;
	f->inotify->size = 64;
	f->inotify->table = k_alloc(64 * sizeof(struct watch *));
	return fd_new(f);
}

static size_t padded(size_t name_len)
{
	const size_t one = sizeof(struct inotify_event);

	return name_len ? (name_len + 1 + one - 1) / one * one : 0;
}

static bool same(const struct happened *h, int wd, uint32_t mask, const char *name, uint32_t len)
{
	return !(h->mask & IN_IGNORED) && h->mask == mask && h->wd == wd && h->len == len &&
	       (len == 0 || strcmp(h->name, name) == 0);
}

/* fsnotify_insert_event: full comes before equal to the last. */
static void queue(struct inotify *n, int wd, uint32_t mask, uint32_t cookie, const char *name)
{
	uint32_t max = kernel_faults.queue_max ? kernel_faults.queue_max : QUEUE_MAX;
	size_t len = name ? padded(strlen(name)) : 0;

	if (!(mask & IN_IGNORED) && draw_one_in(STREAM_KERNEL, kernel_faults.event_lost))
		return;
	if (n->waiting >= max) {
		if (n->overflown)
			return;
		n->overflown = true;
		wd = -1;
		mask = IN_Q_OVERFLOW;
		cookie = 0;
		len = 0;
	} else if (n->last && same(n->last, wd, mask, name, (uint32_t)len)) {
		return;
	}
	struct happened *h = k_alloc(sizeof(*h) + len);
	h->wd = wd;
	h->mask = mask;
	h->cookie = cookie;
	h->len = (uint32_t)len;
	if (len > 0)
		memcpy(h->name, name, strlen(name));
	*(n->last ? &n->last->next : &n->first) = h;
	n->last = h;
	n->waiting++;
	file_wake(n->file);
}

static struct watch *find(const struct inotify *n, int wd)
{
	struct watch *w = wd > 0 ? n->table[(size_t)wd & (n->size - 1)] : NULL;

	while (w && w->wd != wd)
		w = w->chain;
	return w;
}

static void put(struct inotify *n, struct watch *w)
{
	w->chain = n->table[(size_t)w->wd & (n->size - 1)];
	n->table[(size_t)w->wd & (n->size - 1)] = w;
}

static void grow(struct inotify *n)
{
	struct watch **old = n->table;
	size_t size = n->size;

	n->size *= 2;
	n->table = k_alloc(n->size * sizeof(struct watch *));
	for (size_t i = 0; i < size; i++)
		while (old[i]) {
			struct watch *w = old[i];
			old[i] = w->chain;
			put(n, w);
		}
	free(old);
}

static void forget(struct watch *w)
{
	struct watch **at = &w->of->table[(size_t)w->wd & (w->of->size - 1)];

	while (*at != w)
		at = &(*at)->chain;
	*at = w->chain;
	for (at = &w->inode->watches; *at != w;)
		at = &(*at)->next;
	*at = w->next;
	w->of->n--;
	free(w);
}

int inotify_add(struct file *f, struct inode *i, uint32_t mask)
{
	struct inotify *n = f->inotify;
	struct watch *w = i->watches;
	uint32_t kept = mask & (IN_ALL_EVENTS | IN_EXCL_UNLINK | IN_ONESHOT);

	while (w && w->of != n)
		w = w->next;
	if (w) {
		if (mask & IN_MASK_CREATE)
			return -EEXIST;
		w->mask = mask & IN_MASK_ADD ? w->mask | kept : kept;
		return w->wd;
	}
	if (n->n >= WATCHES_MAX)
		return -ENOSPC;
	if (n->n >= n->size)
		grow(n);
	w = k_alloc(sizeof(*w));
	w->of = n;
	w->inode = i;
	w->mask = kept;
	w->wd = n->next_wd;
	n->next_wd = n->next_wd == INT_MAX ? 1 : n->next_wd + 1;
	n->n++;
	put(n, w);
	w->next = i->watches;
	i->watches = w;
	return w->wd;
}

static void end_watch(struct watch *w)
{
	struct inotify *n = w->of;
	int wd = w->wd;

	forget(w);
	queue(n, wd, IN_IGNORED, 0, NULL);
}

int inotify_remove(struct file *f, int wd)
{
	struct watch *w = find(f->inotify, wd);

	if (!w)
		return -EINVAL;
	end_watch(w);
	return 0;
}

void inotify_free(struct file *f)
{
	struct inotify *n = f->inotify;

	for (size_t i = 0; i < n->size; i++)
		while (n->table[i])
			forget(n->table[i]);
	while (n->first) {
		struct happened *h = n->first;
		n->first = h->next;
		free(h);
	}
	free(n->table);
	free(n);
}

bool inotify_waiting(const struct file *f)
{
	return f->inotify->first != NULL;
}

ssize_t inotify_take(struct file *f, void *buf, size_t len)
{
	struct inotify *n = f->inotify;
	size_t at = 0;

	if (!n->first)
		return -EAGAIN;
	while (n->first) {
		struct happened *h = n->first;
		size_t need = sizeof(struct inotify_event) + h->len;

		if (at + need > len)
			return at > 0 ? (ssize_t)at : -EINVAL;
		const struct inotify_event e = {.wd = h->wd, .mask = h->mask, .cookie = h->cookie, .len = h->len};
		memcpy((char *)buf + at, &e, sizeof(e));
		memcpy((char *)buf + at + sizeof(e), h->name, h->len);
		at += need;
		if (h->mask & IN_Q_OVERFLOW)
			n->overflown = false;
		n->first = h->next;
		if (!n->first)
			n->last = NULL;
		n->waiting--;
		free(h);
	}
	return (ssize_t)at;
}

static void tell(struct inode *at, uint32_t mask, uint32_t is_dir, const char *name, uint32_t cookie)
{
	struct watch *next;

	for (struct watch *w = at->watches; w; w = next) {
		next = w->next;
		if (!(w->mask & mask))
			continue;
		/* Of its own end and of its own move a folder is not told that it is one. */
		uint32_t said = mask | (mask & (IN_MOVE_SELF | IN_DELETE_SELF) ? 0 : is_dir);
		struct watch *once = w->mask & IN_ONESHOT ? w : NULL;
		queue(w->of, w->wd, said, cookie, name);
		if (once)
			end_watch(once);
	}
}

static uint32_t dir_bit(const struct inode *i)
{
	return S_ISDIR(i->mode) ? IN_ISDIR : 0;
}

void tell_name(struct inode *dir, uint32_t mask, const char *name, const struct inode *of, uint32_t cookie)
{
	if (dir->watches)
		tell(dir, mask, dir_bit(of), name, cookie);
}

void tell_inode(struct inode *i, uint32_t mask)
{
	if (i->watches)
		tell(i, mask, dir_bit(i), NULL, 0);
}

void tell_dentry(struct dentry *d, struct inode *i, uint32_t mask)
{
	if (d->dir && d->dir->watches)
		tell(d->dir, mask, dir_bit(i), d->name, 0);
	tell_inode(i, mask);
}

/* It is nobody's any more. */
void tell_gone(struct inode *i)
{
	tell_inode(i, IN_DELETE_SELF);
	while (i->watches)
		end_watch(i->watches);
}
