/*
 * process-rest.c: hibernate and resume: to disk where that works, else frozen where it stands.
 */
#include "config.h"

#include "process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int workload_thaw(const struct workload *w, const char *work, int limit)
{
	return w->mode == MODE_SUBREAPER ? tree_continue(w, work, limit) : cgroup_thaw(w, limit);
}

static int freeze(const struct request *r, struct workload *w, int limit)
{
	int e;

	if (w->mode == MODE_SUBREAPER) {
		w->frozen = true;
		e = record_write(r->dir, w);
		return e ? e : tree_stop(w, r->work, limit);
	}
	/* What was moved out of it would run on. */
	e = move_rest(r, w);
	return e ? e : cgroup_freeze(w, limit);
}

static int unfreeze(const struct request *r, struct workload *w)
{
	int back, e = limit_start(r->ms == LIMIT_NONE ? 1000 : r->ms / 4 + 200, &back);

	if (e == 0) {
		e = workload_thaw(w, r->work, back);
		close(back);
	}
	if (w->mode == MODE_SUBREAPER) {
		w->frozen = false;
		(void)record_write(r->dir, w);
	}
	return e;
}

/* A dump that was cut off, or a resume, left them stopped: they run first. */
static int run_again(const struct request *r, struct workload *w, const struct members *l, int limit)
{
	int e;

	if (!w->disk && !disk_has(r->dir) && !disk_was_cut_off(r->dir))
		return 0;
	/* Brought back by one that did not come to write it down: the same number, another birth. */
	for (size_t i = 0; i < l->n; i++)
		if (l->m[i].p.pid == w->keeper.pid)
			w->keeper.start = l->m[i].p.start;
	e = tree_continue(w, r->work, limit);
	w->disk = false;
	e = e ? e : record_write(r->dir, w);
	return e ? e : disk_forget(r->dir);
}

static bool stands(const struct workload *w)
{
	return w->mode == MODE_SUBREAPER ? w->frozen : cgroup_frozen(w);
}

static int hibernate(const struct request *r, struct workload *w, const struct members *l, int limit)
{
	char why[WHY_SIZE];
	int e = 0;

	if (!stands(w)) {
		e = run_again(r, w, l, limit);
		e = e ? e : disk_dump(r, w, l, limit, why);
		if (e == 0) {
			puts("hibernated=disk");
			return EXIT_DONE;
		}
		if (e == -ETIME) {
			say("criu is still at it");
			return EXIT_LATER;
		}
		say("not to disk: %s", why);
	}
	e = freeze(r, w, limit);
	if (e == 0) {
		puts("hibernated=frozen");
		return EXIT_DONE;
	}
	(void)verb_failed("doesn't freeze", e);
	e = unfreeze(r, w);
	if (e < 0)
		(void)verb_failed("nor thaw again", e);
	return EXIT_FAILED;
}

static int on_disk(const struct request *r, const struct workload *w)
{
	if (!w->disk)
		return EXIT_ABSENT;
	if (!disk_has(r->dir)) {
		say("the hibernated image is lost");
		return EXIT_ABSENT;
	}
	puts("hibernated=disk");
	return EXIT_DONE;
}

int verb_hibernate(struct request *r)
{
	struct workload w;
	struct members l;
	int limit, e, status = take_record(r, &w);

	if (status != EXIT_DONE)
		return status;
	/* Some time is kept for the way back. */
	e = limit_start(r->ms == LIMIT_NONE ? r->ms : r->ms * 3 / 4, &limit);
	if (e < 0)
		return verb_failed("timer", e);
	e = members_find(&w, r->work, true, &l);
	if (e < 0)
		status = verb_failed("can't see who belongs to it", e);
	else
		status = l.n ? hibernate(r, &w, &l, limit) : on_disk(r, &w);
	members_free(&l);
	close(limit);
	return status;
}

static int from_disk(const struct request *r, struct workload *w, int limit)
{
	char why[WHY_SIZE];
	int e;

	if (!w->disk)
		return EXIT_ABSENT;
	e = disk_restore(r, w, limit, why);
	switch (e) {
	case 0:
		return EXIT_DONE;
	case -ENODATA:
		say("the hibernated image is lost");
		return EXIT_ABSENT;
	case -EINVAL:
		say("the hibernated image is damaged: what it was can't be made anew");
		return EXIT_ABSENT;
	case -EBUSY:
		say("%s", why);
		return EXIT_LATER;
	case -ETIME:
		say("criu is still at it");
		return EXIT_LATER;
	default:
		return why[0] ? (say("%s", why), EXIT_FAILED) : verb_failed("it doesn't come back", e);
	}
}

static int resume(const struct request *r, struct workload *w, const struct members *l, int limit)
{
	int e;

	if (l->n == 0)
		return from_disk(r, w, limit);
	e = run_again(r, w, l, limit);
	/* A tree that wasn't stopped by us has nothing of ours to undo. */
	if (e == 0 && (w->mode != MODE_SUBREAPER || w->frozen)) {
		e = workload_thaw(w, r->work, limit);
		if (e == 0 && w->mode == MODE_SUBREAPER) {
			w->frozen = false;
			e = record_write(r->dir, w);
		}
	}
	return e < 0 ? verb_failed("doesn't thaw", e) : EXIT_DONE;
}

int verb_resume(struct request *r)
{
	struct workload w;
	struct members l;
	int limit, e, status = take_record(r, &w);

	if (status != EXIT_DONE)
		return status;
	e = limit_start(r->ms, &limit);
	if (e < 0)
		return verb_failed("timer", e);
	e = members_find(&w, r->work, true, &l);
	status = e < 0 ? verb_failed("can't see who belongs to it", e) : resume(r, &w, &l, limit);
	members_free(&l);
	close(limit);
	/* Brought back from disk it has another start: who follows it has to know. */
	if (status == EXIT_DONE)
		print_place(&w);
	return status;
}
