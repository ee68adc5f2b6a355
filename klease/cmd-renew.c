/*
 * klease renew: touches the lock and says what that was worth, only after the lock was seen to be still in
 * active/ by the inode that was touched.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/renew.h"
#include "core/state.h"
#include "klease/ask.h"
#include "klease/clock.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/say.h"
#include "klease/views.h"
#include "lease/duration.h"

static int lost(struct world *w, const char *id)
{
	struct view v;
	char why[SAFE_SIZE];
	int r = views_get_ever(w, id, &v);

	if (r == 0)
		say("lease lost: do not write: %s is %s%s%s", id, v.state, v.why[0] ? ": " : "",
		    safe(why, v.why));
	else
		say("lease lost: do not write: there is no lease %s", id);
	return KX_LOST;
}

static int print_left(const struct view *v, const struct lease_stat *st)
{
	struct renewable l = { .living = view_living(v), .in_active = true };
	int64_t now = clock_wall();
	struct renewal r = renew(&l, v->ttl, st->mtime > now ? now : st->mtime);
	char left[LEASE_DURATION_SIZE];

	if (r.outcome != RENEW_OK)
		return KX_LOST;
	lease_duration_human(left, r.expires - now);
	printf("renewed, %s left\n", left);
	return KX_OK;
}

static int ask_ttl(struct world *w, const struct args *a)
{
	struct ask ask = { .verb = ASK_RENEW, .ttl = a->ttl };
	struct ask_answer answer;

	(void)strlcpy(ask.lease, a->id, sizeof ask.lease);
	return ask_daemon(w, &ask, ASK_TIMEOUT, -1, &answer);
}

/* The lock's name: as the daemon knows it, else found by looking through active/. */
static int find_lock(struct world *w, const char *id, const struct view *known, char name[LEASE_NAME_SIZE])
{
	struct lease_stat st;

	if (known && known->lock[0] && lease_stat(w->tree.active, known->lock, &st) == 0) {
		(void)strlcpy(name, known->lock, LEASE_NAME_SIZE);
		return 0;
	}
	return lease_find(w->tree.active, id, name);
}

int cmd_renew(struct world *w, struct args *a)
{
	char name[LEASE_NAME_SIZE], ttl[LEASE_DURATION_SIZE];
	struct lease_stat st;
	struct view v;
	int r, status, known = views_get(w, a->id, &v);

	if (known == 0 && !view_living(&v))
		return lost(w, a->id);
	r = find_lock(w, a->id, known == 0 ? &v : NULL, name);
	if (r == -ENOENT && lease_find(w->tree.queue, a->id, name) == 0) {
		say("%s waits for admission: there is nothing to renew yet", a->id);
		return KX_FAILED;
	}
	if (r < 0)
		return lost(w, a->id);
	if (a->ttl) {
		status = ask_ttl(w, a);
		if (status != KX_OK)
			return status;
		known = views_get(w, a->id, &v);
		if (known == 0 && v.ttl != a->ttl) {
			lease_duration_format(ttl, v.ttl);
			say("its ttl is %s: that is the limit here", ttl);
		}
	}
	r = lease_touch(w->tree.active, name, &st);
	if (r == -EPERM || r == -EACCES) {
		say("%s is not yours", a->id);
		return KX_REFUSED;
	}
	/* A file without a record is what a shell's beat makes where the lock has just gone: nobody's lease. */
	if (r < 0 || st.size <= 1)
		return lost(w, a->id);
	if (!w->daemon)
		say("no daemon watches %s: the beat counts when one does", w->notices);
	if (known < 0 || v.ttl <= 0) {
		/* The beat stands; how long it lasts only the daemon knows. */
		printf("renewed\n");
		return KX_OK;
	}
	return print_left(&v, &st) == KX_OK ? KX_OK : lost(w, a->id);
}
