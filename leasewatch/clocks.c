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
/* So often they are read anew, on a host that lets us stand still in the middle of each. */
#define READINGS 10

static bool moved(int64_t distance, int64_t before)
{
	return distance - before > NOISE || before - distance > NOISE;
}

static bool uneven(const struct clocks *c, const struct clock_now *now)
{
	return moved(now->wall - now->boot, c->wall_boot) || moved(now->boot - now->mono, c->boot_mono);
}

/*
 * We may have been stopped between two of the clocks, which moves them as well, each time by something else. One that was
 * set stays so: two readings in a row agree.
 */
static bool read_surely(const struct clocks *c, struct clock_now *now)
{
	for (int i = 0; uneven(c, now) && i < READINGS; i++) {
		struct clock_now before = *now;

		clock_read(now);
		if (!moved(now->wall - now->boot, before.wall - before.boot) &&
		    !moved(now->boot - now->mono, before.boot - before.mono))
			break;
	}
	return uneven(c, now);
}

void clocks_seen(struct watcher *w, struct clock_now *now)
{
	struct clocks *c = &w->clocks;

	if (!read_surely(c, now))
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
