#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "os/log.h"
#include "watcher.h"

int send_request(struct watcher *w, struct act_request *r)
{
	r->magic = WIRE_MAGIC;
	r->size = sizeof(*r);
	r->serial = ++w->serial;
	if (!wire_request_valid(r)) {
		log_err("%s %s: a request of our own is not valid; please report it",
			act_verb_name((enum act_verb)r->verb), r->id);
		return -EINVAL;
	}
	ssize_t n = send(w->peer.fd, r, sizeof(*r), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n != (ssize_t)sizeof(*r))
		return n < 0 ? -errno : -EIO;
	return 0;
}

static void capabilities(struct watcher *w, const struct act_answer *a)
{
	char words[LEASE_WHY_SIZE];
	struct runtime *r;

	SLIST_FOREACH(r, &w->runtimes, all) {
		if (r->known || r->serial != a->serial)
			continue;
		r->known = true;
		r->works = a->outcome == ACT_DONE;
		r->caps = a->caps;
		memcpy(r->line, a->line, sizeof(r->line));
		runtime_words(w, r->name, words);
		if (r->works)
			log_info("runtime %s: %s", r->name, words);
		else
			log_warn("runtime %s does not work here: %s", r->name, a->line);
	}
	w->admit = true;
}

/* Where its CPU can be read, as the runtime says. */
static void take_place(struct entry *e, const struct act_answer *a)
{
	free(e->cgroup);
	e->cgroup = a->cgroup[0] ? strdup(a->cgroup) : NULL;
	e->tree = a->tree;
}

/* Brought back from disk, a process has its old number and another birth; a VM has neither. */
static void take_woken(struct watcher *w, struct entry *e, const struct act_answer *a)
{
	struct lease_record *rec = &e->l.record;

	if (a->cgroup[0] || a->tree.pid > 0)
		take_place(e, a);
	if (rec->workload.pid == 0 || a->tree.pid != rec->workload.pid ||
	    (a->tree.start == rec->workload.start && strcmp(rec->boot, w->boot) == 0))
		return;
	source_drop(w, &e->work);
	rec->workload = a->tree;
	memcpy(rec->boot, w->boot, sizeof(rec->boot));
	e->row_dirty = true;
	entry_changed(w, e);
}

/* What brought it to life: as it was, or anew. */
static const char *why_alive(const struct act_answer *a, const char *why, char buf[LEASE_WHY_SIZE])
{
	if (!(a->flags & ACT_FLAG_COLD))
		return why;
	(void)snprintf(buf, LEASE_WHY_SIZE, COLD_WORDS "%s%.100s", a->line[0] ? ": " : "", a->line);
	return buf;
}

static void answered(struct watcher *w, struct entry *e, const struct act_answer *a)
{
	bool done = a->outcome == ACT_DONE, absent = a->outcome == ACT_ABSENT;
	const char *line = a->line[0] ? a->line : act_outcome_name((enum act_outcome)a->outcome);
	int64_t now = w->now.mono;
	char why[LEASE_WHY_SIZE];

	if (a->verb == ACT_CREATE || a->verb == ACT_STAT)
		e->unplaced = false;
	/* A late answer, to an act that was given up, must not take the deadline off the one that is under way. */
	if (a->serial == e->serial)
		e->l.act_deadline = 0;
	switch ((enum act_verb)a->verb) {
	case ACT_CREATE:
		if (done) {
			take_place(e, a);
			engine_follow(w, e);
		}
		if (!done)
			step(w, e, EV_START_FAILED, now, line);
		else
			step(w, e, EV_STARTED, now,
			     why_alive(a, e->l.record.is_session ? "the session has begun" : "its workload runs", why));
		break;
	case ACT_STAT:
		e->stat_sent = false;
		if (e->l.record.is_session) {
			session_told(w, e, a);
			break;
		}
		if (done)
			take_place(e, a);
		if (absent || (done && a->state == ACT_ST_ABSENT))
			step(w, e, EV_STOPPED, now, "the runtime has no such workload");
		else if (engine_drives(e))
			engine_told(w, e, a);
		break;
	case ACT_SNAPSHOT:
		engine_copied(w, e, a);
		break;
	case ACT_HIBERNATE:
		e->l.disk = done && a->state == ACT_ST_DISK;
		if (absent)
			step(w, e, EV_STOPPED, now, "the runtime has no such workload");
		else
			step(w, e, done ? EV_HIBERNATED : EV_HIBERNATE_FAILED, now, done ? e->l.why : line);
		if (state_living(e->l.state))
			life_follow(w, e);
		break;
	case ACT_RESUME:
		if (done)
			take_woken(w, e, a);
		if (absent)
			step(w, e, EV_STOPPED, now, a->line[0] ? a->line : "the runtime has no such workload");
		else
			step(w, e, done ? EV_RESUMED : EV_RESUME_FAILED, now, done ? why_alive(a, e->l.why, why) : line);
		if (done && (a->flags & ACT_FLAG_COLD))
			log_warn("%s: " COLD_WORDS " (uid %u)", e->l.id, e->l.uid);
		if (state_living(e->l.state))
			life_follow(w, e);
		if (done)
			engine_follow(w, e);
		break;
	case ACT_DESTROY:
		if (done || absent)
			/* what is asked of a lease that is over is why it ended */
			step(w, e, EV_DESTROYED, now, e->l.why);
		else
			step(w, e, EV_DESTROY_FAILED, now, line);
		break;
	case ACT_NONE:
	case ACT_CAPABILITIES:
	case ACT_LIST:
	case ACT_ENTER:
	case ACT_WARN:
	case ACT_PERMIT:
	case ACT_VERBS:
		break;
	}
	if (!state_ended(e->l.state))
		entry_due(w, e, now);
}

void answers_read(struct watcher *w)
{
	struct act_answer a;
	struct user *u;
	bool enter;

	while (!w->broken) {
		ssize_t n = recv(w->peer.fd, &a, sizeof(a), MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n == 0) {
			w->stop = true; /* the actor has gone: so do we */
			return;
		}
		if (n != (ssize_t)sizeof(a) || !wire_answer_valid(&a)) {
			log_err("the actor sent what is no answer (%zd bytes): ending", n);
			w->broken = true;
			return;
		}
		/* There may have been no room in the socket for what admission asks of a runtime; there is now. */
		if (!TAILQ_EMPTY(&w->requests))
			w->admit = true;
		if (!a.more && (u = flight_landed(w, a.serial, &enter)) != NULL && enter)
			ask_execs_enter(w, u);
		if (a.verb == ACT_CAPABILITIES) {
			capabilities(w, &a);
			continue;
		}
		if (a.verb == ACT_PERMIT) {
			admit_permitted(w, &a);
			continue;
		}
		if (a.verb == ACT_ENTER) {
			ask_entered(w, &a);
			continue;
		}
		struct entry *e = entry_find(w, a.id);
		/* An answer about another life of that id is nobody's. */
		if (e && e->l.generation == a.generation)
			answered(w, e, &a);
	}
}
