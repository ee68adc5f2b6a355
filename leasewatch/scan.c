#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/log.h"
#include "watcher.h"

/* Rubbish is reported this often a user and hour: enough to find it, too little to fill a disk with. */
#define REPORTS 10
#define REPORTS_WINDOW (INT64_C(3600) * LEASE_NS_PER_S)
/*
 * So many files a user and hour may lie about that are no locks: the tree has a bounded number of inodes, for
 * all users together.
 */
#define STRAYS 500
/* One that is on its way to another name counts for so much less: requests by hand begin like that. */
#define STRAY_WEIGHT 10

void report_rubbish(struct watcher *w, uint32_t uid, const char *name, const char *why)
{
	struct user *u = user_get(w, uid);
	char shown[LEASE_NAME_SIZE * 2];

	if (!u)
		return;
	if (u->reports == 0 || w->now.mono - u->reports_from > REPORTS_WINDOW) {
		u->reports = 0;
		u->reports_from = w->now.mono;
	}
	if (++u->reports > REPORTS + 1)
		return;
	if (u->reports == REPORTS + 1) {
		log_warn("uid %u: more such files; no more of them is said for an hour", uid);
		return;
	}
	log_warn("\"%s\" of uid %u: %s", log_escape(shown, sizeof(shown), name), uid, why);
}

void stray(struct watcher *w, int dirfd, const char *name, const struct lease_stat *st, const char *why)
{
	struct user *u = user_get(w, st->uid);
	int most = STRAYS * STRAY_WEIGHT, weight = why ? STRAY_WEIGHT : 1;

	/* Each is counted once, however often the folders are read. */
	if (w->scan.phase != RESCAN_NONE && st->ctime < w->scan.since_wall)
		return;
	if (why)
		report_rubbish(w, st->uid, name, why);
	if (!u || w->paths.user_mode || st->uid == 0 || st->uid == w->paths.uid)
		return;
	if (u->strays == 0 || w->now.mono - u->strays_from > REPORTS_WINDOW) {
		u->strays = 0;
		u->strays_from = w->now.mono;
	}
	if (u->strays <= most && u->strays + weight > most)
		log_warn("uid %u: more than %d files in the tree that are no locks: removed at sight for an hour",
			 st->uid, STRAYS);
	if (u->strays <= most)
		u->strays += weight;
	if (u->strays > most && locks_remove(dirfd, name) < 0)
		report_rubbish(w, st->uid, name, "cannot be removed");
}

void refuse_file(struct watcher *w, int dirfd, const char *name, uint32_t uid, const char *why)
{
	struct lease_stat st;
	int r;

	/* The quarantine is for people to look into; of a flood they need not see all. */
	if (lease_stat(dirfd, name, &st) == 0 && st.uid == uid)
		stray(w, dirfd, name, &st, why);
	else
		report_rubbish(w, uid, name, why);
	r = locks_quarantine(&w->house, dirfd, name, w->now.wall);
	if (r < 0 && r != -ENOENT)
		report_rubbish(w, uid, name, "cannot be moved to the quarantine");
}

/* Of an inode that a lock of ours cannot be; NULL = it may be one. */
static const char *rubbish(const struct lease_stat *st)
{
	if (S_ISLNK(st->mode))
		return "a link: skipped";
	if (!S_ISREG(st->mode))
		return "no regular file: skipped";
	if (st->nlink != 1)
		return "has more than one link: skipped";
	if (st->size > LEASE_FILE_MAX)
		return "longer than 4096 bytes: skipped";
	return NULL;
}

int scan_folder(const struct watcher *w, enum watch_kind kind)
{
	return kind == WATCH_QUEUE ? w->house.tree.queue : w->house.tree.active;
}

bool scan_doubt(struct watcher *w, enum watch_kind kind, const char *name, uint32_t uid)
{
	struct user *u = user_get(w, uid);
	struct doubt *d;

	TAILQ_FOREACH(d, &w->doubts, all)
		if (d->kind == kind && strcmp(d->name, name) == 0)
			return true;
	/* One who makes them by the thousand gets no second looks. */
	if (!u || u->doubts >= DOUBTS_USER || w->n_doubts >= DOUBTS_MAX || !(d = calloc(1, sizeof(*d))))
		return false;
	d->kind = kind;
	d->user = u;
	u->doubts++;
	d->due = w->now.mono + DOUBT_FOR;
	(void)snprintf(d->name, sizeof(d->name), "%s", name);
	TAILQ_INSERT_TAIL(&w->doubts, d, all);
	w->n_doubts++;
	return true;
}

/* A name in active/ or queue/ that no lease is known for. */
static void newcomer(struct watcher *w, enum watch_kind kind, const char *name, bool final)
{
	int dirfd = scan_folder(w, kind);
	struct lease_stat st;
	const char *why;

	int r = lease_stat(dirfd, name, &st);
	/* No event will tell of it again. The look is the daemon's own: whose file it is could not be seen. */
	if (r < 0 && r != -ENOENT)
		(void)scan_doubt(w, kind, name, w->paths.uid);
	if (r < 0 || unreadable(w, lease_name_lock_id(name)))
		return;
	if ((why = rubbish(&st)) != NULL) {
		stray(w, dirfd, name, &st, why);
		return;
	}
	/* `1<>` makes a file where the lock has just gone: one byte, and nobody's lease. */
	if (st.size <= 1) {
		if (!final && scan_doubt(w, kind, name, st.uid))
			return;
		report_rubbish(w, st.uid, name, "a ghost (a beat that came after its lock had gone): removed");
		(void)locks_remove(dirfd, name);
		return;
	}
	admit_receive(w, kind, name, &st, final);
}

/* Its own lock under another name, given by its owner: the new name counts. False: it has not got that name alone. */
static bool renamed(struct watcher *w, struct entry *e, const char *name, const struct lease_stat *st)
{
	struct lock_ref ref = lock_of(e);
	struct lease_stat old;

	if (!S_ISREG(st->mode) || st->uid != e->l.uid || st->dev != e->l.dev || st->ino != e->l.ino)
		return false;
	/* While its old name stands somewhere this is no new name but one link more, and anybody may have made it. */
	if (locks_place(&w->house, &ref, &old) != AT_NOWHERE)
		return false;
	/* A look that failed does not say that it has gone. */
	int r = lease_stat(w->house.tree.active, e->l.name, &old);
	if (r == 0 && old.dev == st->dev && old.ino == st->ino)
		return false;
	if (r < 0 && r != -ENOENT) {
		w->rescan = true;
		return true;
	}
	report_rubbish(w, st->uid, name, "is the name of that lease's lock now");
	(void)snprintf(e->l.name, sizeof(e->l.name), "%s", name);
	e->missed = false;
	e->row_dirty = e->view_dirty = true;
	entry_changed(w, e);
	return true;
}

/* A name of a known lease where that lease's own lock does not stand: a second file with its id. */
static void namesake(struct watcher *w, struct entry *e, int dirfd, const char *name)
{
	struct lease_stat st;

	if (lease_stat(dirfd, name, &st) < 0 || renamed(w, e, name, &st))
		return;
	if (S_ISREG(st.mode) && st.uid == e->l.uid && st.dev == e->l.dev && st.ino == e->l.ino)
		refuse_file(w, dirfd, name, st.uid, "is one more link to a lock: moved to the quarantine");
	else if (st.size <= 1 && S_ISREG(st.mode) && st.uid == e->l.uid)
		(void)locks_remove(dirfd, name);
	else
		refuse_file(w, dirfd, name, st.uid,
			    "has the id of another lease: moved to the quarantine, the earlier one stands");
}

/*
 * Another user's file under the name of a lock that stands in active/: in archive/ no release gets past it, in queue/ it is
 * found first by who looks for a request. The owner's own is left: he can move it, and it may be his lock in a moment.
 */
static void squatter(struct watcher *w, const struct entry *e, int dirfd, const char *name)
{
	struct lease_stat st;

	if (e->place == AT_ACTIVE && state_living(e->l.state) && strcmp(e->l.name, name) == 0 &&
	    lease_stat(dirfd, name, &st) == 0 && st.uid != e->l.uid)
		refuse_file(w, dirfd, name, st.uid, "has the name of another's lock: moved to the quarantine");
}

static void scan_lock(struct watcher *w, enum watch_kind kind, const char *name)
{
	int dirfd = scan_folder(w, kind);
	const char *id = lease_name_lock_id(name);
	struct entry *e;

	if (id && kind == WATCH_ACTIVE && rest_look(w, id, name))
		return;
	if (!id) {
		struct lease_stat st;
		bool half = strncmp(name, LEASE_TMP_PREFIX, strlen(LEASE_TMP_PREFIX)) == 0;
		if (lease_stat(dirfd, name, &st) == 0)
			stray(w, dirfd, name, &st, half ? NULL : "not the name of a lock (lock-SURFACE-USER-ID): skipped");
		return;
	}
	e = entry_find(w, id);
	if (w->broken)
		return; /* it may be known, and could not be read */
	if (!e) {
		newcomer(w, kind, name, false);
		return;
	}
	if (strcmp(e->l.name, name) != 0)
		namesake(w, e, dirfd, name);
	look(w, e);
	if (kind == WATCH_QUEUE)
		squatter(w, e, dirfd, name);
}

void scan_name(struct watcher *w, enum watch_kind kind, const char *name)
{
	const char *id;
	struct entry *e;

	if (kind == WATCH_ACTIVE) {
		scan_lock(w, kind, name);
	} else if (kind == WATCH_QUEUE) {
		if (lease_name_ask_id(name))
			ask_receive(w, name);
		else
			scan_lock(w, kind, name);
	} else if (kind == WATCH_ARCHIVE) {
		/* Whatever else lies there is nobody's business but prune's, in moderation; days are ours. */
		struct lease_stat st;
		if ((id = lease_name_lock_id(name)) && (e = entry_find(w, id))) {
			/* Released under another name than it had. */
			if (strcmp(e->l.name, name) != 0 && lease_stat(w->house.tree.archive, name, &st) == 0)
				(void)renamed(w, e, name, &st);
			look(w, e);
			squatter(w, e, w->house.tree.archive, name);
		} else if (lease_stat(w->house.tree.archive, name, &st) == 0 && !(S_ISDIR(st.mode) && st.uid == w->paths.uid)) {
			stray(w, w->house.tree.archive, name, &st, "in archive/, and no living lease's: left there for now");
		}
	} else if (kind == WATCH_LOCK) {
		if ((e = entry_find(w, name)))
			look(w, e);
	}
}

void scan_doubts(struct watcher *w)
{
	struct doubt *d;

	while (!w->broken && (d = TAILQ_FIRST(&w->doubts)) != NULL && d->due <= w->now.mono) {
		const char *id = lease_name_lock_id(d->name);
		TAILQ_REMOVE(&w->doubts, d, all);
		w->n_doubts--;
		d->user->doubts--;
		if (id && !entry_known(w, id))
			newcomer(w, d->kind, d->name, true);
		free(d);
	}
}
