/*
 * klease events: transitions as they happen. Each state file carries its lease's last transitions with their
 * numbers: what is newer than the last one printed of that lease is printed, so nothing is told twice and
 * nothing is lost in between.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/tree.h>

#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/foreground.h"
#include "klease/json.h"
#include "klease/say.h"
#include "klease/statewatch.h"
#include "klease/table.h"
#include "klease/views.h"

struct seen {
	RB_ENTRY(seen) link;
	char id[LEASE_ID_SIZE];
	uint64_t seq;
};

static int by_id(struct seen *a, struct seen *b)
{
	return strcmp(a->id, b->id);
}

RB_HEAD(seen_tree, seen);
RB_GENERATE_INTERNAL(seen_tree, seen, link, by_id, __attribute__((unused)) static)

struct follower {
	struct world *w;
	const struct args *a;
	struct seen_tree seen;
	bool quiet; /* the first look: what is there already is no event */
	bool failed;
};

static void print(const struct follower *f, const struct view *v, const struct view_step *s)
{
	char when[WHEN_SIZE], why[SAFE_SIZE];

	if (f->a->json)
		(void)json_print(json_step(v, s, -1, -1));
	else
		printf("%s  %s  %s -> %s  %s\n", when_text(when, s->at), v->id, s->from, s->to,
		       safe(why, s->why));
}

static struct seen *find(struct follower *f, const char *id, bool make)
{
	struct seen key, *s;

	(void)strlcpy(key.id, id, sizeof key.id);
	s = RB_FIND(seen_tree, &f->seen, &key);
	if (s || !make)
		return s;
	s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	(void)strlcpy(s->id, id, sizeof s->id);
	(void)RB_INSERT(seen_tree, &f->seen, s);
	return s;
}

static void forget(struct follower *f, const char *id)
{
	struct seen *s = find(f, id, false);

	if (s) {
		(void)RB_REMOVE(seen_tree, &f->seen, s);
		free(s);
	}
}

static void look(struct follower *f, const char *id)
{
	struct lease_stat st;
	struct seen *s;
	struct view v;
	int r;

	if (!lease_id_valid(id) || (f->a->lease && strcmp(id, f->a->lease)))
		return;
	r = views_get(f->w, id, &v);
	if (r == -ENOENT) {
		forget(f, id);
		return;
	}
	/* Only what the daemon has said: a lock alone has no history. */
	if (r < 0 || lease_stat(f->w->state, id, &st) < 0)
		return;
	s = find(f, id, true);
	if (!s) {
		f->failed = true;
		return;
	}
	if (!f->quiet && s->seq && v.n_history == VIEW_HISTORY && v.history[0].seq > s->seq)
		say("%s has had more transitions than its state file holds: see `klease ledger --lease %s`",
		    id, id);
	for (int i = 0; i < v.n_history; i++)
		if (v.history[i].seq > s->seq) {
			if (!f->quiet)
				print(f, &v, &v.history[i]);
			s->seq = v.history[i].seq;
		}
}

static int look_at_entry(void *arg, const char *name)
{
	look(arg, name);
	return 0;
}

static void changed(void *arg, const char *name)
{
	struct follower *f = arg;

	if (name)
		look(f, name);
	else if (f->w->state >= 0)
		(void)lease_list(f->w->state, look_at_entry, f);
}

int cmd_events(struct world *w, struct args *a)
{
	struct follower f = { .w = w, .a = a, .quiet = true };
	struct statewatch s;
	int sig = foreground_open(false), status = KX_OK;
	bool terminal;

	if (sig < 0) {
		say("cannot wait for signals: %s", strerror(-sig));
		return KX_FAILED;
	}
	RB_INIT(&f.seen);
	statewatch_open(&s, w, a->lease);
	changed(&f, NULL);
	f.quiet = false;
	s.changed = changed;
	s.arg = &f;
	for (;;) {
		enum statewatch_result r = statewatch_wait(&s, 0, sig);

		if (fflush(stdout) == EOF || f.failed) {
			status = KX_FAILED;
			break;
		}
		if (r == STATEWATCH_FD && foreground_read(sig, &terminal) > 0)
			break;
		if (r == STATEWATCH_GONE) {
			world_say_no_daemon(w);
			status = KX_NODAEMON;
			break;
		}
	}
	statewatch_close(&s);
	while (!RB_EMPTY(&f.seen))
		forget(&f, RB_MIN(seen_tree, &f.seen)->id);
	return status;
}
