#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "watcher.h"

static int cmp_id(const struct entry *a, const struct entry *b)
{
	return strcmp(a->l.id, b->l.id);
}

static int cmp_due(const struct entry *a, const struct entry *b)
{
	if (a->due != b->due)
		return a->due < b->due ? -1 : 1;
	return cmp_id(a, b);
}

static int cmp_uid(const struct user *a, const struct user *b)
{
	return (a->uid > b->uid) - (a->uid < b->uid);
}

RB_PROTOTYPE(entries_by_id, entry, by_id, cmp_id);
RB_PROTOTYPE(entries_by_due, entry, by_due, cmp_due);
RB_PROTOTYPE(users, user, by_uid, cmp_uid);
RB_GENERATE(entries_by_id, entry, by_id, cmp_id)
RB_GENERATE(entries_by_due, entry, by_due, cmp_due)
RB_GENERATE(users, user, by_uid, cmp_uid)

static struct entry *find_awake(struct watcher *w, const char *id)
{
	struct entry key;

	/* Of a file in state/ the name may be any. */
	if (strnlen(id, sizeof(key.l.id)) != sizeof(key.l.id) - 1)
		return NULL;
	memcpy(key.l.id, id, sizeof(key.l.id));
	return RB_FIND(entries_by_id, &w->by_id, &key);
}

struct entry *entry_find(struct watcher *w, const char *id)
{
	struct entry *e = find_awake(w, id);
	uint32_t n = e ? RESTS_NONE : rests_find(&w->rests, id);

	return n == RESTS_NONE ? e : entry_wake(w, n);
}

bool entry_known(struct watcher *w, const char *id)
{
	return find_awake(w, id) || rests_find(&w->rests, id) != RESTS_NONE;
}

struct entry *entry_next(struct watcher *w, struct entry *e)
{
	return e ? RB_NEXT(entries_by_id, &w->by_id, e) : RB_MIN(entries_by_id, &w->by_id);
}

struct entry *entry_after(struct watcher *w, const char *id)
{
	struct entry key, *e;

	(void)snprintf(key.l.id, sizeof(key.l.id), "%s", id);
	e = RB_NFIND(entries_by_id, &w->by_id, &key);
	return e && strcmp(e->l.id, id) == 0 ? RB_NEXT(entries_by_id, &w->by_id, e) : e;
}

struct entry *entry_first_due(struct watcher *w)
{
	return RB_MIN(entries_by_due, &w->by_due);
}

struct entry *entry_next_due(struct entry *e)
{
	return RB_NEXT(entries_by_due, &w->by_due, e);
}

struct user *user_get(struct watcher *w, uint32_t uid)
{
	struct user key = { .uid = uid };
	struct user *u = RB_FIND(users, &w->users, &key);

	if (u || !(u = calloc(1, sizeof(*u))))
		return u;
	u->uid = uid;
	TAILQ_INIT(&u->kept);
	TAILQ_INIT(&u->out);
	RB_INSERT(users, &w->users, u);
	return u;
}

struct user *user_next(struct watcher *w, struct user *u)
{
	return u ? RB_NEXT(users, &w->users, u) : RB_MIN(users, &w->users);
}

struct entry *entry_new(struct watcher *w, const char *id, uint32_t uid)
{
	struct entry *e = calloc(1, sizeof(*e));
	struct user *u = user_get(w, uid);

	if (!e || !u) {
		free(e);
		return NULL;
	}
	memcpy(e->l.id, id, sizeof(e->l.id));
	e->l.uid = uid;
	e->user = u;
	e->due = e->follow_at = LEASE_NEVER;
	e->leader.fd = e->work.fd = e->waiter.fd = -1;
	RB_INSERT(entries_by_id, &w->by_id, e);
	return e;
}

void entry_due(struct watcher *w, struct entry *e, int64_t at)
{
	if (at == e->due)
		return;
	if (e->due != LEASE_NEVER)
		RB_REMOVE(entries_by_due, &w->by_due, e);
	e->due = at;
	if (at != LEASE_NEVER)
		RB_INSERT(entries_by_due, &w->by_due, e);
}

void entry_changed(struct watcher *w, struct entry *e)
{
	if (!e->touched)
		LIST_INSERT_HEAD(&w->changed, e, changed);
	e->touched = true;
}

void entry_free(struct watcher *w, struct entry *e)
{
	entry_due(w, e, LEASE_NEVER);
	source_drop(w, &e->leader);
	source_drop(w, &e->work);
	source_drop(w, &e->waiter);
	if (w->watch && e->watched)
		watch_unlock(w->watch, e->l.id);
	degraded_lock(w, e, 0);
	if (e->touched)
		LIST_REMOVE(e, changed);
	fair_unwant(w, e);
	if (e->drowsy)
		LIST_REMOVE(e, dozing);
	RB_REMOVE(entries_by_id, &w->by_id, e);
	free(e->cgroup);
	free(e);
}

int source_add(struct watcher *w, struct source *s, enum source_kind kind, int fd, void *owner)
{
	/* mountinfo is readable at any time; that something was mounted is told as urgent, and as an error (proc(5)). */
	struct epoll_event ev = { .events = kind == SRC_MOUNTS ? EPOLLPRI : EPOLLIN, .data.ptr = s };

	*s = (struct source){ .kind = kind, .fd = fd, .owner = owner };
	if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev) == 0)
		return 0;
	int r = -errno;
	close(fd);
	s->fd = -1;
	return r;
}

void source_drop(struct watcher *w, struct source *s)
{
	if (s->fd < 0)
		return;
	(void)epoll_ctl(w->epoll, EPOLL_CTL_DEL, s->fd, NULL);
	close(s->fd);
	s->fd = -1;
}
