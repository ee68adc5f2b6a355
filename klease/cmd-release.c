/*
 * klease release: moves the lock to archive/, or takes a request out of queue/. A file act: it works without
 * a daemon, which finds it later.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/say.h"
#include "klease/views.h"

static int refuse(const char *id, int r)
{
	if (r == -EPERM || r == -EACCES) {
		say("%s is not yours", id);
		return KX_REFUSED;
	}
	say("cannot release %s: %s", id, strerror(-r));
	return KX_FAILED;
}

int cmd_release(struct world *w, struct args *a)
{
	char name[LEASE_NAME_SIZE], why[SAFE_SIZE];
	struct view v;
	int r = -ENOENT;

	if (lease_find(w->tree.queue, a->id, name) == 0)
		r = unlinkat(w->tree.queue, name, 0) < 0 ? -errno : 0;
	/* A request may be admitted between the two looks; and what another has put into queue/ under its name is none. */
	if (r < 0 && lease_find(w->tree.active, a->id, name) == 0)
		r = lease_move(w->tree.active, name, w->tree.archive, name);
	if (r == 0) {
		if (!w->daemon)
			say("no daemon watches %s: what the lease keeps is ended when one does", w->notices);
		return KX_OK;
	}
	if (r != -ENOENT)
		return refuse(a->id, r);
	if (views_get_ever(w, a->id, &v) < 0)
		say("there is no lease %s", a->id);
	else if (!view_living(&v))
		say("%s is over already: %s%s%s", a->id, v.state, v.why[0] ? ": " : "", safe(why, v.why));
	else
		say("%s is %s and its lock is gone: nothing is left to move, and it ends by its ttl", a->id, v.state);
	return KX_LOST;
}
