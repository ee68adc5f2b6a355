/*
 * clocks.c: that the wall clock was set, or the host slept. A stamp says when its beat came only as long as the clock that
 * made it runs evenly with ours. Slewing (NTP) moves all three clocks alike, so each change of their distances is one of
 * these two: a sleep moves wall and boot alike away from mono, and whoever sets the clock moves wall away from boot.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "os/log.h"
#include "watcher.h"

/* Between the readings of two clocks. */
#define NOISE LEASE_NS_PER_MS

static bool moved(int64_t distance, int64_t before)
{
	return distance - before > NOISE || before - distance > NOISE;
}

static bool uneven(const struct clocks *c, const struct clock_now *now)
{
	return moved(now->wall - now->boot, c->wall_boot) || moved(now->boot - now->mono, c->boot_mono);
}

void clocks_seen(struct watcher *w, struct clock_now *now)
{
	struct clocks *c = &w->clocks;

	if (!uneven(c, now))
		return;
	clock_read(now); /* we may have been stopped between two of them */
	if (!uneven(c, now))
		return;
	if (moved(now->wall - now->boot, c->wall_boot))
		c->set = now->mono;
	c->even = now->mono;
	c->wall_boot = now->wall - now->boot;
	c->boot_mono = now->boot - now->mono;
}

void clocks_read(struct watcher *w)
{
	clock_read(&w->now);
	clocks_seen(w, &w->now);
}

void clocks_woken(struct watcher *w)
{
	struct clocks *c = &w->clocks;
	uint64_t ticks;

	if (read(c->source.fd, &ticks, sizeof(ticks)) >= 0 || errno != ECANCELED)
		return;
	/* Nothing is to be seen of it: set, and set back again. */
	if (c->even <= c->woken)
		c->even = c->set = w->now.mono;
	c->woken = w->now.mono;
}

int clocks_open(struct watcher *w)
{
	/* It never comes: only whoever sets the clock, and a host that awakes, cancels it. */
	const struct itimerspec never = { .it_value.tv_sec = INT64_MAX / LEASE_NS_PER_S };
	int r, fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	if ((r = source_add(w, &w->clocks.source, SRC_CLOCK, fd, NULL)) < 0)
		return r;
	if (timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) < 0 && errno != ECANCELED)
		return -errno;
	return 0;
}

void clocks_begin(struct watcher *w, const struct registry_clock *last)
{
	struct clocks *c = &w->clocks;

	if (last) {
		c->even = last->even;
		c->set = last->set;
		c->wall_boot = last->wall - last->boot;
		c->boot_mono = last->boot - last->mono;
		clocks_seen(w, &w->now);
		return;
	}
	c->even = c->set = w->now.mono;
	c->wall_boot = w->now.wall - w->now.boot;
	c->boot_mono = w->now.boot - w->now.mono;
}
