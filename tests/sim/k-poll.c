/* epoll(7), level-triggered; timerfd, signalfd and pidfd below it. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "tests/sim/k.h"

static bool readable(struct file *f)
{
	switch (f->kind) {
	case F_INOTIFY:
		return inotify_waiting(f);
	case F_TIMER:
	case F_CLOCK:
		return f->ticks > 0;
	case F_SIGNAL:
		return k.signals_pending != 0;
	case F_PROCESS:
		return !f->process->alive;
	case F_PEER:
		return peer_waiting();
	case F_INODE:
	case F_TEXT:
	case F_CGROUP:
	case F_TASKS:
	case F_EPOLL:
		break;
	}
	return false;
}

bool file_readable(struct file *f)
{
	timers_look();
	return readable(f);
}

static void unready(struct epoll_item *it)
{
	struct file *ep = k.epoll;

	if (!it->ready)
		return;
	*(it->prev ? &it->prev->next : &ep->ready_first) = it->next;
	*(it->next ? &it->next->prev : &ep->ready_last) = it->prev;
	it->next = it->prev = NULL;
	it->ready = false;
}

/* It may be readable now. */
void file_wake(struct file *f)
{
	struct epoll_item *it = f->item;
	struct file *ep = k.epoll;

	if (!it || it->ready)
		return;
	it->ready = true;
	it->prev = ep->ready_last;
	it->next = NULL;
	*(ep->ready_last ? &ep->ready_last->next : &ep->ready_first) = it;
	ep->ready_last = it;
}

void epoll_forget(struct file *f)
{
	if (f->kind == F_EPOLL)
		for (int i = 0; i < k.fd_top; i++)
			if (k.fds[i] && k.fds[i]->item)
				epoll_forget(k.fds[i]);
	if (!f->item)
		return;
	unready(f->item);
	free(f->item);
	f->item = NULL;
}

int epoll_make(void)
{
	if (k.epoll)
		mistake("a second epoll");
	k.epoll = file_new(F_EPOLL, 0);
	return fd_new(k.epoll);
}

int epoll_change(struct file *ep, int op, int fd, uint32_t events, uint64_t data)
{
	struct file *f = fd_file(fd);

	if (!f)
		return -EBADF;
	if (f == ep || ep->kind != F_EPOLL)
		return -EINVAL;
	if (f->kind == F_INODE || f->kind == F_TEXT || f->kind == F_CGROUP || f->kind == F_TASKS)
		return -EPERM;
	if (op == EPOLL_CTL_ADD) {
		if (f->item)
			return -EEXIST;
		f->item = k_alloc(sizeof(*f->item));
		f->item->file = f;
	} else if (!f->item) {
		return -ENOENT;
	}
	if (op == EPOLL_CTL_DEL) {
		epoll_forget(f);
		return 0;
	}
	f->item->events = events;
	f->item->data = data;
	if (file_readable(f))
		file_wake(f);
	return 0;
}

/* Those that were told go to the end, and are looked at again the next time. */
static int collect(struct file *ep, struct epoll_event *events, int max)
{
	struct epoll_item *last = ep->ready_last, *it, *next;
	int n = 0;

	timers_look();
	for (it = ep->ready_first; it && n < max; it = next) {
		bool at_end = it == last;

		next = it->next;
		unready(it);
		if (readable(it->file) && (it->events & EPOLLIN)) {
			events[n].events = EPOLLIN;
			events[n++].data.u64 = it->data;
			file_wake(it->file);
		}
		if (at_end)
			break;
	}
	return n;
}

static int64_t next_timer(void)
{
	int64_t at = INT64_MAX;

	for (struct file *f = k.timers; f; f = f->next)
		if (f->expires < at)
			at = f->expires;
	return at;
}

int epoll_take(struct file *ep, void *events, int max, int timeout_ms)
{
	int64_t until = timeout_ms < 0 ? INT64_MAX : k.now + timeout_ms * INT64_C(1000000);
	bool waited = false;
	int n;

	if (max <= 0 || ep->kind != F_EPOLL)
		return -EINVAL;
	while ((n = collect(ep, events, max)) == 0 && k.now < until) {
		int64_t at = next_event(), timer = next_timer();

		if (timer < at)
			at = timer;
		if (until < at)
			at = until;
		if (at == INT64_MAX)
			mistake("the daemon waits, and nothing is ever to happen");
		advance(at);
		if (dying())
			die();
		waited = true;
		if (draw_one_in(STREAM_KERNEL, kernel_faults.interrupted))
			return -EINTR;
	}
	/* Somebody else had the processor. */
	if (waited) {
		k.rested = k.now;
		advance(k.now + draw_between(STREAM_KERNEL, 5000, 60000));
		if (dying())
			die();
	}
	return n;
}

int timer_make(int flags)
{
	struct file *f = file_new(F_TIMER, flags);
	int fd;

	f->expires = INT64_MAX;
	fd = fd_new(f);
	if (fd >= 0) {
		f->next = k.timers;
		k.timers = f;
	}
	return fd;
}

int clock_timer_make(int flags)
{
	struct file *f = file_new(F_CLOCK, flags);
	int fd = fd_new(f);

	if (fd >= 0)
		k.clock_timer = f;
	return fd;
}

/* A host that awakes has its clock set, too (timekeeping_resume). */
void clock_was_set(void)
{
	if (!k.clock_timer)
		return;
	k.clock_timer->ticks = 1;
	file_wake(k.clock_timer);
}

ssize_t clock_timer_take(struct file *f)
{
	if (f->ticks == 0)
		return -EAGAIN;
	f->ticks = 0;
	return -ECANCELED;
}

void timers_look(void)
{
	for (struct file *f = k.timers; f; f = f->next)
		if (f->expires <= k.now) {
			f->expires = INT64_MAX;
			f->ticks = 1;
			file_wake(f);
		}
}

/* On the clock that stands still in a suspend. */
int timer_set(struct file *f, int64_t mono)
{
	if (f->kind != F_TIMER)
		return -EINVAL;
	f->ticks = 0;
	f->expires = mono <= 0 ? INT64_MAX : mono > INT64_MAX - k.boot ? INT64_MAX : mono + k.boot;
	return 0;
}

void kernel_signal(int signo)
{
	if (!k.running)
		return;
	k.signals_pending |= UINT64_C(1) << signo;
	if (k.signals)
		file_wake(k.signals);
}

ssize_t signals_take(void *buf, size_t len)
{
	struct signalfd_siginfo si = {0};

	if (len < sizeof(si))
		return -EINVAL;
	if (k.signals_pending == 0)
		return -EAGAIN;
	si.ssi_signo = (uint32_t)__builtin_ctzll(k.signals_pending);
	k.signals_pending &= k.signals_pending - 1;
	memcpy(buf, &si, sizeof(si));
	return sizeof(si);
}
