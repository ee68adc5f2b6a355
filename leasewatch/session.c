/*
 * session.c: leases that are sessions (a login's, an agent's), and the leases that are bound to them.
 *
 * A session lives while its leader does. sshd's monitor can be killed and the session go on, so the leader's
 * death only asks: the runtime `session` looks for another process of it, and that one is followed next; when
 * there is none, the session was orphaned. What only root may claim, a login's leader and that PAM closed it,
 * stands in the twin, which is believed when root owns it.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lease/process.h"
#include "lease/twin.h"
#include "os/log.h"
#include "store/statefiles.h"
#include "watcher.h"

/* When nobody could say whether it lives, it does; and is asked about again. */
#define ASK_AGAIN (INT64_C(10) * LEASE_NS_PER_S)

static bool read_twin(struct watcher *w, const struct entry *e, struct lease_twin *t)
{
	char buf[LEASE_FILE_MAX];
	struct lease_error err;
	size_t len;
	int r;
	/*
	 * In user mode there is no root to write one: ours then are our own claims, which is what they would be
	 * in the lock.
	 */
	uid_t owner = w->paths.user_mode ? geteuid() : 0;

	if (lease_read(w->house.sessions, e->l.id, owner, buf, sizeof(buf), &len, NULL) < 0)
		return false;
	r = lease_twin_parse(buf, len, t, &err);
	if (r == -EPROTO)
		log_warn("%s: its twin in sessions/: %s", e->l.id, err.what);
	return r == 0 && strcmp(t->id, e->l.id) == 0 && t->uid == e->l.uid;
}

struct lease_process session_leader(struct watcher *w, struct entry *e, uint32_t *ret_uid)
{
	struct lease_record *rec = &e->l.record;
	struct lease_twin t;

	*ret_uid = e->l.uid;
	if (!rec->is_session || !read_twin(w, e, &t) || strcmp(t.boot, w->boot) != 0)
		return rec->leader;
	memcpy(rec->boot, t.boot, sizeof(rec->boot));
	if (rec->leader.pid == 0)
		rec->leader = t.leader;
	/* The twin's may be root's own process; one that was found after its death is the user's. */
	if (rec->leader.pid == t.leader.pid && rec->leader.start == t.leader.start)
		*ret_uid = (uint32_t)-1;
	return rec->leader;
}

bool session_closed_by_pam(struct watcher *w, const struct entry *e)
{
	struct lease_twin t;

	return read_twin(w, e, &t) && t.closed != 0;
}

void session_lost_leader(struct watcher *w, struct entry *e)
{
	if (e->act == ACT_NONE && !e->stat_sent && state_living(e->l.state))
		want_act(w, e, ACT_STAT);
}

void session_told(struct watcher *w, struct entry *e, const struct act_answer *a)
{
	int fd, r;

	if (!state_living(e->l.state) || e->leader.fd >= 0)
		return;
	if (a->outcome == ACT_ABSENT) {
		step(w, e, EV_LEADER_DIED, w->now.mono, "orphaned: no process of the session lives");
		return;
	}
	r = a->outcome == ACT_DONE && a->tree.pid > 0 ? lease_process_open(&a->tree, e->l.uid, &fd) : -EAGAIN;
	if (r == 0)
		r = source_add(w, &e->leader, SRC_LEADER, fd, e);
	if (r == -ESRCH) { /* died since: ask about the next one */
		session_lost_leader(w, e);
		return;
	}
	if (r < 0) {
		log_warn("%s: it cannot be told whether its session lives (%s): taken as alive", e->l.id,
			 a->line[0] ? a->line : strerror(-r));
		entry_due(w, e, w->now.mono + ASK_AGAIN);
		return;
	}
	log_info("%s: its leader has died; the session goes on by process %d", e->l.id, a->tree.pid);
	e->l.record.leader = a->tree;
	memcpy(e->l.record.boot, w->boot, sizeof(e->l.record.boot));
	e->row_dirty = e->view_dirty = true;
	entry_changed(w, e);
}

/* --- what is bound --- */

static bool bound_to(const struct entry *b, const struct entry *s)
{
	return b != s && b->l.uid == s->l.uid && strcmp(b->l.record.session, s->l.id) == 0;
}

static struct entry *session_of(struct watcher *w, const struct entry *e)
{
	struct entry *s = entry_find(w, e->l.record.session);

	return s && s->l.record.is_session && bound_to(e, s) ? s : NULL;
}

/* A session of the same user and surface that could take over what another one leaves. */
static struct entry *heir(struct watcher *w, uint32_t uid, const char *surface, const struct entry *not_this)
{
	for (struct entry *e = entry_next(w, NULL); e; e = entry_next(w, e))
		if (e != not_this && e->l.record.is_session && e->l.uid == uid && strcmp(e->l.record.surface, surface) == 0 &&
		    (e->l.state == ST_ACTIVE || e->l.state == ST_IDLE))
			return e;
	return NULL;
}

static void take_over(struct watcher *w, struct entry *b, const struct entry *s)
{
	char why[LEASE_WHY_SIZE];

	memcpy(b->l.record.session, s->l.id, sizeof(b->l.record.session));
	b->l.session_alive = s->l.leader_alive;
	(void)snprintf(why, sizeof(why), "taken over by session %s of the same user and surface", s->l.id);
	step(w, b, EV_TAKEN_OVER, w->now.mono, why);
	b->row_dirty = b->view_dirty = true;
	entry_changed(w, b);
}

void session_begun(struct watcher *w, struct entry *s)
{
	for (struct entry *b = entry_next(w, NULL); b; b = entry_next(w, b))
		if (b->l.state == ST_LINGERING && b->l.uid == s->l.uid && strcmp(b->linger_surface, s->l.record.surface) == 0)
			take_over(w, b, s);
}

static void notice_name(char name[32], const struct entry *s)
{
	(void)snprintf(name, 32, "notice-%s", s->l.id);
}

static void notice_remove(struct watcher *w, struct entry *s)
{
	char name[32];

	notice_name(name, s);
	(void)statefile_remove(w->house.state, name);
	s->notice = false;
}

void session_over(struct watcher *w, struct entry *s, enum event ev)
{
	bool by_hand = ev == EV_RELEASED && !s->by_pam;
	enum event told = by_hand ? EV_RELEASED : ev == EV_RELEASED ? EV_SESSION_CLOSED : EV_SESSION_ORPHANED;
	struct entry *next_session = by_hand ? NULL : heir(w, s->l.uid, s->l.record.surface, s);
	char why[LEASE_WHY_SIZE];

	(void)snprintf(why, sizeof(why), "its session %s: %.100s", s->l.id, s->l.why);
	if (s->notice)
		notice_remove(w, s);
	for (struct entry *b = entry_next(w, NULL); b; b = entry_next(w, b)) {
		if (!bound_to(b, s) || state_ended(b->l.state))
			continue;
		look_at_lock(w, b); /* a beat that nobody has seen yet counts from when it was */
		if (!state_living(b->l.state) && b->l.state != ST_REQUESTED)
			continue;
		if (b->l.session_alive) { /* until now it was renewed by that life */
			b->l.renewed = w->now.mono;
			b->l.restart_credit = 0;
		}
		b->l.session_alive = false;
		if (b->l.record.linger < 0)
			b->l.policy.linger = s->l.policy.linger;
		memcpy(b->linger_surface, s->l.record.surface, sizeof(b->linger_surface));
		step(w, b, told, w->now.mono, why);
		if (next_session && b->l.state == ST_LINGERING)
			take_over(w, b, next_session);
	}
}

void session_look(struct watcher *w, struct entry *e)
{
	struct entry *s = session_of(w, e);

	/* In doubt it lives. */
	e->l.session_alive = s ? state_living(s->l.state) && s->l.leader_alive : unreadable(w, e->l.record.session);
	if (!s || !state_living(s->l.state) || e->l.state == ST_LINGERING)
		return;
	look_at_lock(w, s);
	if (state_living(s->l.state) && s->l.renewed > e->l.renewed)
		step(w, e, EV_RENEWED, s->l.renewed, "its session was beaten");
}

/* --- telling --- */

static int seconds_left(const struct watcher *w, const struct entry *e)
{
	int64_t left = (lease_expires(&e->l) - w->now.mono) / LEASE_NS_PER_S;

	return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

void session_warn(struct watcher *w, const struct entry *e)
{
	struct entry *s = session_of(w, e);
	struct act_request r = { .verb = ACT_WARN, .uid = e->l.uid, .deadline = 5 * LEASE_NS_PER_S, .runtime = "session" };

	/*
	 * It takes a look at every process of the host: not for each of a thousand leases that are beaten too
	 * late on purpose.
	 */
	if (!s || s->l.generation == 0 || w->now.mono < s->tell_at)
		return;
	s->tell_at = w->now.mono + LEASE_NS_PER_S;
	r.generation = s->l.generation;
	r.seconds = seconds_left(w, e);
	memcpy(r.id, s->l.id, sizeof(r.id));
	memcpy(r.about, e->l.id, sizeof(r.about));
	/* one that can't be sent now stands in the notice and the state file all the same */
	(void)send_request(w, &r);
}

/*
 * state/notice-SESSION: at most one line, which the shell reads at its prompt without a fork. Written with the
 * lease's state file.
 */
void session_notice(struct watcher *w, const struct entry *e)
{
	struct entry *s = session_of(w, e);
	char name[32], line[200];
	int r = 0;

	if (!s)
		return;
	notice_name(name, s);
	if (e->l.warned && state_living(e->l.state)) {
		int n = snprintf(line, sizeof(line),
				 "leasewatch: %s expires in %d s unless it is renewed: klease renew %s\n", e->l.id,
				 seconds_left(w, e), e->l.id);
		r = statefile_write(w->house.state, name, line, (size_t)n);
		s->notice = true;
	} else if (s->notice) {
		notice_remove(w, s);
	}
	if (r < 0)
		log_warn("%s/%s: %s", w->paths.state, name, strerror(-r));
}
