#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lease/process.h"
#include "os/log.h"
#include "watcher.h"

/* A claim about a process counts only if it is its owner's, of this boot, and has the start time it says. */
static int follow(struct watcher *w, struct entry *e, struct source *s, enum source_kind kind, const struct lease_process *p,
		  uint32_t uid)
{
	int fd, r;

	if (s->fd >= 0)
		return 0;
	if (strcmp(e->l.record.boot, w->boot) != 0)
		return -ESRCH;
	r = lease_process_open(p, uid, &fd);
	return r < 0 ? r : source_add(w, s, kind, fd, e);
}

static void leader_died(struct watcher *w, struct entry *e)
{
	bool run = e->l.record.run;

	if (!e->l.leader_alive && e->l.state != ST_REQUESTED)
		return;
	if (e->l.record.is_session) {
		session_lost_leader(w, e);
		return;
	}
	e->l.leader_alive = false;
	/* Until now it was renewed by a life: the ttl runs from its end. */
	e->l.renewed = e->l.used = w->now.mono;
	e->l.restart_credit = 0;
	e->row_dirty = true;
	entry_changed(w, e);
	if (run || e->l.policy.linger == 0)
		step(w, e, EV_LEADER_DIED, w->now.mono, run ? "klease run died" : "its leader died");
	else
		step(w, e, EV_SESSION_ORPHANED, w->now.mono, "its leader died: lingering");
}

/* One that can't be followed for want of memory or descriptors may be, later: else nobody hears of its death. */
#define FOLLOW_AGAIN (INT64_C(10) * LEASE_NS_PER_S)

/*
 * A claim about a process that can't be followed. A request is denied; what runs already is kept in doubt,
 * unless it is proven wrong.
 */
static void cannot_follow(struct watcher *w, struct entry *e, const char *who, const struct lease_process *p, int r)
{
	char why[LEASE_WHY_SIZE];

	if (r == -ESRCH || r == -EPERM)
		(void)snprintf(why, sizeof(why), "%s %d is not a live process of uid %u with that start time", who,
			       p->pid, e->l.uid);
	else
		(void)snprintf(why, sizeof(why), "%s %d cannot be watched (%s): is /proc mounted with hidepid?", who, p->pid,
			       strerror(-r));
	if (e->l.state == ST_REQUESTED)
		step(w, e, EV_DENY, w->now.mono, why);
	else if (!e->doubted)
		log_warn("%s: %s: %s", e->l.id, why, r == -EPERM ? "not followed" : "taken as alive");
	if (e->l.state != ST_REQUESTED && r != -ESRCH && r != -EPERM) {
		e->doubted = true;
		e->follow_at = w->now.mono + FOLLOW_AGAIN;
	}
}

static void follow_leader(struct watcher *w, struct entry *e)
{
	uint32_t uid;
	struct lease_process leader = session_leader(w, e, &uid);

	if (leader.pid == 0)
		return;
	int r = follow(w, e, &e->leader, SRC_LEADER, &leader, uid);

	e->l.leader_alive = r != -ESRCH && r != -EPERM;
	if (r == -ESRCH && e->l.state != ST_REQUESTED) {
		e->l.leader_alive = true;
		leader_died(w, e);
	} else if (r < 0) {
		cannot_follow(w, e, "leader", &leader, r);
	}
}

/*
 * On disk, or on their way there and back, its processes are gone and come again. What its runtime answers counts then,
 * and they are followed anew behind that. But nothing is on its way while the act still waits for its place.
 */
static bool may_be_gone(const struct entry *e)
{
	bool way = e->l.state == ST_HIBERNATING || e->l.state == ST_RESUMING;
	bool waits = e->in_out && e->act != ACT_STAT;

	return (way && !waits) || ((way || e->l.state == ST_HIBERNATED) && e->l.disk);
}

void life_follow(struct watcher *w, struct entry *e)
{
	const struct lease_record *rec = &e->l.record;
	int r;

	e->follow_at = LEASE_NEVER;
	follow_leader(w, e);
	if (e->top_lost)
		engine_lost_top(w, e);
	if (rec->workload.pid > 0 && !state_ended(e->l.state) && !may_be_gone(e)) {
		r = follow(w, e, &e->work, SRC_WORK, &rec->workload, e->l.uid);
		if (r == -ESRCH && e->l.state != ST_REQUESTED)
			step(w, e, EV_STOPPED, w->now.mono, "its process tree has ended");
		else if (r < 0)
			cannot_follow(w, e, "process", &rec->workload, r);
	}
	if (rec->waiter.pid > 0 && (e->l.state == ST_REQUESTED || e->l.state == ST_STARTING)) {
		r = follow(w, e, &e->waiter, SRC_WAITER, &rec->waiter, e->l.uid);
		if (r == -ESRCH || r == -EPERM)
			step(w, e, EV_WITHDRAWN, w->now.mono, "who waited for it has gone");
	}
	if (e->follow_at == LEASE_NEVER)
		e->doubted = false;
}

void life_died(struct watcher *w, struct source *s)
{
	struct entry *e = s->owner;
	enum source_kind kind = s->kind;

	source_drop(w, s);
	if (kind == SRC_LEADER)
		leader_died(w, e);
	else if (kind == SRC_WORK && may_be_gone(e))
		return;
	else if (kind == SRC_WORK && engine_drives(e) && e->l.record.workload.pid == 0)
		engine_lost_top(w, e);
	else if (kind == SRC_WORK)
		step(w, e, EV_STOPPED, w->now.mono, "its process tree has ended");
	else
		step(w, e, EV_WITHDRAWN, w->now.mono, "who waited for it has gone");
}
