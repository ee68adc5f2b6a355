#include "config.h"

#include "klease/views.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "klease/clock.h"
#include "klease/exits.h"
#include "klease/ledger.h"
#include "klease/say.h"
#include "lease/duration.h"

bool view_over(const struct view *v)
{
	return !strcmp(v->state, "reaped") || !strcmp(v->state, "denied");
}

int views_say_error(const char *id, int error)
{
	if (error == -ENOENT) {
		say("there is no lease %s", id);
		return KX_LOST;
	}
	if (error == -EPROTO)
		say("the state of %s is in another format, a newer leasewatch's: this klease is too old for it", id);
	else
		say("cannot read the state of %s: %s", id, strerror(-error));
	return KX_FAILED;
}

const char *view_state_words(const struct view *v, char buf[32])
{
	if (v->hibernated[0])
		(void)snprintf(buf, 32, "%s (%s)", v->state, v->hibernated);
	else
		(void)snprintf(buf, 32, "%s", v->state);
	return buf;
}

static void freshen(struct world *w, struct view *v)
{
	struct lease_stat st;
	int64_t now = clock_wall();

	/* A stamp from the future is a beat of now, as it is to the daemon. */
	if (v->lock[0] && lease_stat(w->tree.active, v->lock, &st) == 0 && st.uid == v->requester && st.mtime != v->mtime)
		view_refresh(v, st.mtime < now ? st.mtime : now);
}

static int from_lock(int dirfd, const char *id, const char *name, struct view *ret)
{
	char buf[LEASE_FILE_MAX];
	struct lease_record r;
	struct lease_error err;
	struct lease_stat st;
	size_t len;
	int e;

	e = lease_read(dirfd, name, (uid_t)-1, buf, sizeof buf, &len, &st);
	if (e < 0)
		return e;
	if (lease_record_parse(buf, len, &r, &err) < 0 || (r.id[0] && strcmp(r.id, id)))
		return -ENOENT;
	memset(ret, 0, sizeof *ret);
	(void)strlcpy(ret->id, id, sizeof ret->id);
	(void)strlcpy(ret->lock, name, sizeof ret->lock);
	(void)strlcpy(ret->state, "requested", sizeof ret->state);
	(void)strlcpy(ret->surface, r.surface, sizeof ret->surface);
	(void)strlcpy(ret->session, r.session, sizeof ret->session);
	(void)strlcpy(ret->runtime, r.runtime, sizeof ret->runtime);
	(void)strlcpy(ret->profile, r.profile, sizeof ret->profile);
	(void)strlcpy(ret->usage, lease_usage_name(r.usage), sizeof ret->usage);
	(void)strlcpy(ret->why, "the daemon has said nothing of it yet", sizeof ret->why);
	ret->requester = st.uid;
	ret->priority = r.priority;
	ret->leader = r.leader.pid;
	ret->run = r.run;
	ret->ttl = r.ttl;
	ret->linger = r.linger < 0 ? 0 : r.linger;
	ret->created_at = ret->since = st.mtime / LEASE_NS_PER_MS;
	ret->n_labels = r.n_labels;
	memcpy(ret->labels, r.labels, sizeof ret->labels);
	lease_name_user(ret->user, name, r.surface);
	if (!ret->user[0])
		(void)snprintf(ret->user, sizeof ret->user, "%u", ret->requester);
	return 0;
}

int views_get(struct world *w, const char *id, struct view *ret)
{
	char buf[LEASE_STATE_FILE_MAX], name[LEASE_NAME_SIZE];
	struct lease_error err;
	size_t len;
	int r = -ENOENT;

	if (w->state >= 0)
		r = lease_read(w->state, id, w->beacon_uid, buf, sizeof buf, &len, NULL);
	if (r == 0) {
		r = view_parse(buf, len, ret, &err);
		if (r == -EPROTO)
			return r;
		if (r < 0 || strcmp(ret->id, id) || !state_public_valid(ret->state))
			return -EBADMSG;
		freshen(w, ret);
		return 0;
	}
	if (r != -ENOENT)
		return r;
	/* What has a lease's name and is none (a link, a FIFO, rubbish) is nothing to us. */
	if (lease_find(w->tree.queue, id, name) == 0 && from_lock(w->tree.queue, id, name, ret) == 0)
		return 0;
	if (lease_find(w->tree.active, id, name) == 0 && from_lock(w->tree.active, id, name, ret) == 0)
		return 0;
	return -ENOENT;
}

int views_get_ever(struct world *w, const char *id, struct view *ret)
{
	int r = views_get(w, id, ret);

	return r == -ENOENT ? ledger_view(w, id, ret) : r;
}

struct gathering {
	struct world *w;
	struct views *vs;
	size_t n_sorted; /* the first so many of vs are sorted by id: what take_lock looks in */
	int bad;
	int dirfd; /* where locks are looked for */
};

static int keep(struct views *vs, const struct view *v)
{
	struct view *copy;

	if (vs->n == vs->size) {
		size_t size = vs->size ? 2 * vs->size : 64;
		struct view **more = reallocarray(vs->v, size, sizeof *more);

		if (!more)
			return -ENOMEM;
		vs->v = more;
		vs->size = size;
	}
	copy = malloc(sizeof *copy);
	if (!copy)
		return -ENOMEM;
	*copy = *v;
	vs->v[vs->n++] = copy;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	return strcmp((*(struct view *const *)a)->id, (*(struct view *const *)b)->id);
}

static int by_age(const void *a, const void *b)
{
	const struct view *x = *(struct view *const *)a, *y = *(struct view *const *)b;

	if (x->created_at != y->created_at)
		return x->created_at < y->created_at ? -1 : 1;
	return strcmp(x->id, y->id);
}

static int take_state(void *arg, const char *name)
{
	struct gathering *g = arg;
	struct view v;
	int r;

	if (!lease_id_valid(name))
		return 0;
	r = views_get(g->w, name, &v);
	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		g->bad++;
		return 0;
	}
	return keep(g->vs, &v);
}

static int take_lock(void *arg, const char *name)
{
	struct gathering *g = arg;
	const char *id = lease_name_lock_id(name);
	struct view v, *key = &v;

	if (!id)
		return 0;
	(void)strlcpy(v.id, id, sizeof v.id);
	if (g->n_sorted && bsearch(&key, g->vs->v, g->n_sorted, sizeof *g->vs->v, by_id))
		return 0;
	/* Rubbish in the tree is the daemon's to report, not a lease. */
	return from_lock(g->dirfd, id, name, &v) < 0 ? 0 : keep(g->vs, &v);
}

int views_all(struct world *w, struct views *ret, int *ret_bad)
{
	struct views vs = { 0 };
	struct gathering g = { .w = w, .vs = &vs };
	int r = 0;

	if (w->state >= 0)
		r = lease_list(w->state, take_state, &g);
	for (int i = 0; i < 2 && r == 0; i++) {
		g.dirfd = i ? w->tree.active : w->tree.queue;
		g.n_sorted = vs.n;
		if (vs.n)
			qsort(vs.v, vs.n, sizeof *vs.v, by_id);
		r = lease_list(g.dirfd, take_lock, &g);
	}
	if (r < 0) {
		views_free(&vs);
		return r;
	}
	if (vs.n)
		qsort(vs.v, vs.n, sizeof *vs.v, by_age);
	*ret = vs;
	*ret_bad = g.bad;
	return 0;
}

void views_free(struct views *vs)
{
	for (size_t i = 0; i < vs->n; i++)
		free(vs->v[i]);
	free(vs->v);
	*vs = (struct views){ 0 };
}
