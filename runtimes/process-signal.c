/*
 * process-signal.c: stopping and waking a whole process tree where there is no cgroup to freeze: pass after
 * pass, until a look finds nobody who has not heard.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <signal.h>

/*
 * In 'D' a process sits in the kernel, such as a shell whose vfork(2)ed child has just been stopped: with a
 * stop pending it runs nothing of its own before it gets SIGCONT. So from the second look on, when it has
 * been sent one, that counts as standing.
 */
static bool has_heard(const struct member *m, bool stop, unsigned pass)
{
	if (stop)
		return member_stopped(m) || (m->state == 'D' && pass > 0);
	return m->state != 'T'; /* 't' is its debugger's to end */
}

static int tree_signal(const struct workload *w, const char *work, int limit, int sig)
{
	bool stop = sig == SIGSTOP;
	unsigned pass = 0;
	int r = 0;

	while (r == 0) {
		struct members l;
		size_t left = 0;

		r = members_find(w, work, false, &l);
		for (size_t i = 0; r == 0 && i < l.n; i++) {
			/* Parents stop first and wake last: neither sees the other stand. */
			const struct member *m = &l.m[stop ? i : l.n - 1 - i];

			if (m->keeper)
				continue;
			left += !has_heard(m, stop, pass);
			/* One in 'D' may wait for a child that waits for SIGCONT: at first all get it. */
			if (has_heard(m, stop, 0) && (stop || pass > 0))
				continue;
			r = member_signal(w, m, sig);
			r = r == -ESRCH ? 0 : r;
		}
		members_free(&l);
		if (r == 0 && left == 0)
			return 0;
		r = r < 0 ? r : limit_nap(limit, &pass);
	}
	return r;
}

int tree_stop(const struct workload *w, const char *work, int limit)
{
	return tree_signal(w, work, limit, SIGSTOP);
}

int tree_continue(const struct workload *w, const char *work, int limit)
{
	return tree_signal(w, work, limit, SIGCONT);
}
