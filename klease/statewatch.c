#include "config.h"

#include "klease/statewatch.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "klease/clock.h"
#include "lease/duration.h"

#define LOOK_AGAIN (500 * LEASE_NS_PER_MS) /* for a dead daemon */
#define LOOK_BLIND (100 * LEASE_NS_PER_MS) /* without inotify */
#define MASK                                                                                     \
	(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF | \
	 IN_MOVE_SELF | IN_ONLYDIR)

/* After these nothing said so far can be relied on: look at all. */
#define MASK_ALL (IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)

static void arm(struct statewatch *s)
{
	char path[64];

	if (s->inotify >= 0)
		close(s->inotify);
	if (s->daemon >= 0)
		close(s->daemon);
	s->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", s->w->state);
	if (s->inotify >= 0 && (s->w->state < 0 || inotify_add_watch(s->inotify, path, MASK) < 0)) {
		close(s->inotify);
		s->inotify = -1;
	}
	s->daemon = world_daemon_fd(s->w);
	s->dead_since = s->daemon >= 0 ? 0 : clock_mono();
}

void statewatch_open(struct statewatch *s, struct world *w, const char *only)
{
	*s = (struct statewatch){ .w = w, .inotify = -1, .daemon = -1, .only = only };
	arm(s);
}

void statewatch_close(struct statewatch *s)
{
	if (s->inotify >= 0)
		close(s->inotify);
	if (s->daemon >= 0)
		close(s->daemon);
	s->inotify = s->daemon = -1;
}

static bool tell(struct statewatch *s, const char *name)
{
	if (name && s->only && strcmp(name, s->only))
		return false;
	if (s->changed)
		s->changed(s->arg, name);
	return true;
}

static bool drain(struct statewatch *s)
{
	char buf[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool any = false;
	ssize_t n;

	while ((n = read(s->inotify, buf, sizeof buf)) > 0) {
		const struct inotify_event *e;

		for (const char *p = buf; p < buf + n; p += sizeof *e + e->len) {
			e = (const struct inotify_event *)(const void *)p;
			any |= tell(s, (e->mask & MASK_ALL) || !e->len ? NULL : e->name);
		}
	}
	return any;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a == 0 || b < a ? b : a;
}

enum statewatch_result statewatch_wait(struct statewatch *s, int64_t deadline, int fd)
{
	for (;;) {
		struct pollfd p[3] = { { s->inotify, POLLIN, 0 },
				       { s->daemon, POLLIN, 0 },
				       { fd, POLLIN, 0 } };
		int64_t until = deadline;

		if (s->dead_since)
			until = earlier(until, clock_mono() + LOOK_AGAIN);
		if (s->inotify < 0)
			until = earlier(until, clock_mono() + LOOK_BLIND);
		(void)poll(p, 3, clock_poll_ms(until));
		if (fd >= 0 && p[2].revents)
			return STATEWATCH_FD;
		if (p[0].revents && drain(s))
			return STATEWATCH_CHANGED;
		if (s->daemon >= 0 && p[1].revents) {
			close(s->daemon);
			s->daemon = -1;
			s->dead_since = clock_mono();
		}
		if (s->dead_since && world_look(s->w)) {
			arm(s);
			(void)tell(s, NULL);
			return STATEWATCH_CHANGED;
		}
		if (deadline && clock_mono() >= deadline)
			return STATEWATCH_DEADLINE;
		if (s->dead_since && clock_mono() - s->dead_since >= STATEWATCH_DAEMON_GONE)
			return STATEWATCH_GONE;
		if (s->inotify < 0 && tell(s, NULL))
			return STATEWATCH_CHANGED;
	}
}
