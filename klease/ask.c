#include "config.h"

#include "klease/ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "klease/clock.h"
#include "klease/exits.h"
#include "klease/foreground.h"
#include "klease/say.h"
#include "klease/statewatch.h"
#include "lease/duration.h"

/* 0, -ENOENT: no answer yet. */
static int read_answer(struct world *w, const char *name, struct ask_answer *ret)
{
	char buf[LEASE_STATE_FILE_MAX];
	struct lease_error err;
	size_t len;
	int r;

	r = w->state < 0 ? -ENOENT : lease_read(w->state, name, w->beacon_uid, buf, sizeof buf, &len, NULL);
	if (r < 0)
		return r;
	return ask_answer_parse(buf, len, ret, &err);
}

static int answer_status(const struct ask_answer *a)
{
	char buf[SAFE_SIZE];

	if (!strcmp(a->result, "done"))
		return KX_OK;
	if (!strcmp(a->result, "lost")) {
		say("lease lost: do not write%s%s", a->what[0] ? ": " : "", safe(buf, a->what));
		return KX_LOST;
	}
	say("%s: %s", !strcmp(a->result, "refused") ? "refused" : "failed",
	    a->what[0] ? safe(buf, a->what) : "the daemon gives no reason");
	return !strcmp(a->result, "refused") ? KX_REFUSED : KX_FAILED;
}

static int wait_answer(struct world *w, const char *name, int64_t deadline, int sigfd, struct ask_answer *ret)
{
	struct statewatch s;
	bool terminal;
	int status = -1, sig, r;

	statewatch_open(&s, w, name);
	do {
		r = read_answer(w, name, ret);
		if (r != -ENOENT) {
			if (r == -EPROTO)
				say("the daemon's answer is of another format, a newer leasewatch's: this klease is too "
				    "old for it");
			else if (r < 0)
				say("the daemon's answer cannot be read: %s", strerror(-r));
			status = r < 0 ? KX_FAILED : answer_status(ret);
			break;
		}
		switch (statewatch_wait(&s, deadline, sigfd)) {
		case STATEWATCH_CHANGED: break;
		case STATEWATCH_DEADLINE: status = KX_TIMEOUT; break;
		case STATEWATCH_GONE: status = KX_NODAEMON; break;
		case STATEWATCH_FD:
			sig = foreground_read(sigfd, &terminal);
			status = sig > 0 ? 128 + sig : -1;
			break;
		}
	} while (status < 0);
	statewatch_close(&s);
	return status;
}

int ask_daemon(struct world *w, const struct ask *a, int64_t timeout, int sigfd, struct ask_answer *ret)
{
	char id[LEASE_ID_SIZE], name[LEASE_ID_SIZE + 4], buf[LEASE_FILE_MAX], text[32];
	size_t len;
	int r, status;

	if (!w->daemon) {
		world_say_no_daemon(w);
		return KX_NODAEMON;
	}
	lease_id_make(id);
	(void)snprintf(name, sizeof name, "ask-%s", id);
	r = ask_format(a, buf, sizeof buf, &len);
	if (r == 0)
		r = lease_create(w->tree.queue, name, buf, len);
	if (r < 0) {
		say("cannot ask in %s/queue: %s", w->notices, strerror(-r));
		return r == -EACCES || r == -EPERM ? KX_REFUSED : KX_FAILED;
	}
	status = wait_answer(w, name, clock_mono() + timeout, sigfd, ret);
	if (status == KX_OK || (status != KX_TIMEOUT && status != KX_NODAEMON && status < 128))
		return status;
	if (unlinkat(w->tree.queue, name, 0) < 0 && read_answer(w, name, ret) == 0)
		return answer_status(ret); /* it came at the last moment */
	if (status == KX_TIMEOUT) {
		lease_duration_human(text, timeout);
		say("no answer within %s: the question is withdrawn", text);
	} else if (status == KX_NODAEMON) {
		world_say_no_daemon(w);
	}
	return status;
}
