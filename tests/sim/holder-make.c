/* tests/sim/holder-make.c: how a lease begins. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "lease/twin.h"
#include "tests/sim/world.h"

static bool tricks(void)
{
	return world.o.faults & F_TRICKS;
}

static void choose(struct holder *h)
{
	static const struct {
		enum character c;
		int weight;
	} weights[] = {
		{ C_BEATER, 25 }, { C_EDGE, 12 },   { C_RUN, 14 },    { C_LEADER, 8 },  { C_SESSION, 8 }, { C_BARE_SESSION, 4 },
		{ C_BOUND, 12 },  { C_WAITER, 5 },  { C_SILENT, 5 },  { C_PAUSER, 6 },	{ C_TRICKY, 6 },  { C_CHEAT, 3 },
		{ C_ASKER, 10 },
	};
	int sum = 0, at = 0;
	size_t i = 0;

	for (size_t k = 0; k < sizeof(weights) / sizeof(weights[0]); k++)
		sum += weights[k].weight;
	at = (int)between(0, sum - 1);
	while (at >= weights[i].weight)
		at -= weights[i++].weight;
	h->character = weights[i].c;
	if (!tricks() && (h->character == C_TRICKY || h->character == C_CHEAT))
		h->character = C_BEATER;
}

static struct truth *some_session(const struct holder *h)
{
	struct person *u = &world.users[h->uid - FIRST_UID];

	for (int i = 0, n = (int)between(0, USER_SESSIONS - 1); i < USER_SESSIONS; i++) {
		struct truth *s = u->session[(n + i) % USER_SESSIONS];
		if (s)
			return s;
	}
	return NULL;
}

static void times(struct truth *t, const char *surface)
{
	struct lease_record *r = &t->record;
	bool sshd = strcmp(surface, "sshd") == 0;

	t->ttl_low = TTL_LOW;
	t->ttl_high = TTL_HIGH;
	if (percent(75)) {
		r->ttl = between(20, 900) * SEC;
		truth_ttl(t, r->ttl);
	}
	t->linger_low = t->linger_high = 0;
	if (!r->is_session && percent(20)) {
		r->linger = between(0, 120) * SEC;
		t->linger_low = t->linger_high = r->linger;
	} else if (sshd) {
		t->linger_low = LINGER_LOW;
		t->linger_high = LINGER_HIGH;
	}
}

static void workload(struct holder *h, struct truth *t)
{
	struct lease_record *r = &t->record;
	int n = (int)between(0, 99);

	if (n < 60) {
		r->workload = kernel_spawn(h->uid);
		t->work_pid = r->workload.pid;
	} else if (n < 85) {
		(void)snprintf(r->profile, sizeof(r->profile), "lab");
		(void)snprintf(r->runtime, sizeof(r->runtime), "box");
	} else {
		(void)snprintf(r->runtime, sizeof(r->runtime), "%s", n < 98 ? "flaky" : "nowhere");
		(void)snprintf(r->profile, sizeof(r->profile), "%s", r->runtime); /* no other is for the asking */
	}
	if (percent(40))
		r->usage = (enum lease_usage)between(LEASE_USAGE_EXPLICIT, LEASE_USAGE_HYBRID);
	if (percent(20))
		r->priority = (int)between(0, 7 + (tricks() && one_in(10) ? 2 : 0));
	if (percent(10))
		(void)snprintf(r->labels[r->n_labels++], LEASE_LABEL_SIZE, "project=p%d", h->n);
}

static void put_twin(const struct truth *t, bool closed)
{
	struct lease_twin w = { .uid = t->uid, .leader = t->record.leader,
				.closed = closed ? kernel_wall() / LEASE_NS_PER_MS : 0 };
	char path[PATH_SIZE], buf[LEASE_FILE_MAX];
	size_t len;

	memcpy(w.id, t->id, sizeof(w.id));
	memcpy(w.surface, t->record.surface, sizeof(w.surface));
	(void)snprintf(w.service, sizeof(w.service), "sshd");
	(void)snprintf(w.boot, sizeof(w.boot), "%s", kernel_boot_id());
	(void)snprintf(path, sizeof(path), SESSIONS "%s", t->id);
	if (lease_twin_format(&w, buf, sizeof(buf), &len) < 0)
		broken("the simulation", "a twin that cannot be written");
	kernel_as(0);
	if (closed)
		(void)kernel_write(path, buf, len);
	else
		(void)kernel_create(path, buf, len);
}

void holder_close_session(struct truth *t)
{
	t->pam_closed = true;
	put_twin(t, true);
}

static void session(struct holder *h, struct truth *t)
{
	struct lease_record *r = &t->record;
	struct person *u = &world.users[h->uid - FIRST_UID];

	r->is_session = true;
	(void)snprintf(r->surface, sizeof(r->surface), "%s", one_in(2) ? "sshd" : "k-go");
	u->session[between(0, USER_SESSIONS - 1)] = t;
	if (h->character == C_BARE_SESSION)
		return;
	r->leader = kernel_spawn(h->uid);
	t->leader_pid = r->leader.pid;
	if (one_in(3))
		t->second = kernel_spawn(h->uid);
	if (strcmp(r->surface, "sshd") == 0)
		put_twin(t, false);
}

static void lies(struct truth *t)
{
	struct lease_record *r = &t->record;

	switch (between(0, 5)) {
	case 0: /* a process that is another's by now, or never was */
		r->leader = (struct lease_process){ .pid = (int32_t)between(2, 30000), .start = (uint64_t)between(1, 1000000) };
		break;
	case 1:
		r->run = true;
		break;
	case 2: /* kind=session in queue/, or with a workload */
		r->is_session = true;
		break;
	case 3:
		(void)snprintf(r->profile, sizeof(r->profile), "none-such");
		break;
	case 4:
		(void)snprintf(r->runtime, sizeof(r->runtime), "made-up-%d", (int)between(0, 200));
		break;
	default:
		(void)snprintf(r->runtime, sizeof(r->runtime), "session");
		break;
	}
	t->rubbish = now();
	t->unsure = true;
}

static size_t contents(const struct truth *t, char buf[LEASE_FILE_MAX])
{
	size_t len;

	if (lease_record_format(&t->record, buf, LEASE_FILE_MAX, &len) < 0)
		broken("the simulation", "a record that cannot be written");
	return len;
}

static void put(struct holder *h, struct truth *t)
{
	char path[PATH_SIZE], buf[LEASE_FILE_MAX];
	struct lease_stat st;
	size_t len = contents(t, buf);
	int r;

	t->where = h->hand || (t->record.is_session && t->rubbish == NEVER) ? W_ACTIVE : W_QUEUE;
	truth_path(t, path);
	kernel_as(h->uid);
	if (t->rubbish != NEVER && one_in(3)) { /* a byte that should not be there */
		buf[between(0, (int64_t)len - 1)] = (char)between(0, 255);
	}
	h->half = one_in(12);
	r = h->half ? kernel_create_empty(path) : kernel_create(path, buf, len);
	if (r == 0)
		r = kernel_stat(path, &st);
	if (r < 0) { /* no folder yet, or no room */
		t->where = W_NOWHERE;
		return;
	}
	t->ino = st.ino;
}

void holder_fill(struct holder *h)
{
	char path[PATH_SIZE], buf[LEASE_FILE_MAX];
	struct truth *t = h->lease;
	size_t len = contents(t, buf);

	h->half = false;
	truth_path(t, path);
	kernel_as(h->uid);
	/* Too late: it was taken for a ghost, or for rubbish. */
	if ((t->where != W_QUEUE && t->where != W_ACTIVE) || kernel_write(path, buf, len) < 0)
		t->rubbish = now();
}

void holder_make(struct holder *h)
{
	struct truth *t = truth_new(h->uid);
	struct lease_record *r = &t->record;
	char user[LEASE_USER_SIZE];

	choose(h);
	h->lease = t;
	h->held = -1;
	h->hand = one_in(15);
	t->holder = h;
	memcpy(r->id, t->id, sizeof(r->id));
	(void)snprintf(r->surface, sizeof(r->surface), "%s", one_in(2) ? "cli" : "ci");
	(void)snprintf(r->boot, sizeof(r->boot), "%s", kernel_boot_id());
	if (h->character == C_SESSION || h->character == C_BARE_SESSION) {
		session(h, t);
	} else {
		workload(h, t);
	}
	if (h->character == C_RUN || h->character == C_LEADER) {
		r->leader = kernel_spawn(h->uid);
		t->leader_pid = r->leader.pid;
		r->run = h->character == C_RUN;
	}
	if (h->character == C_WAITER || (!r->is_session && one_in(8))) {
		r->waiter = kernel_spawn(h->uid);
		t->waiter_pid = r->waiter.pid;
	}
	times(t, r->surface);
	struct truth *s = h->character == C_BOUND || (h->character == C_RUN && one_in(3)) ? some_session(h) : NULL;
	if (s) {
		memcpy(r->session, s->id, sizeof(r->session));
		truth_bind(t, s);
		if (r->linger < 0) {
			t->linger_low = s->linger_low < t->linger_low ? s->linger_low : t->linger_low;
			t->linger_high = s->linger_high > t->linger_high ? s->linger_high : t->linger_high;
		}
	}
	if (h->character == C_CHEAT)
		lies(t);
	(void)snprintf(user, sizeof(user), "u%u", h->uid);
	if (lease_name_make(t->name, r->surface, user, t->id) < 0)
		broken("the simulation", "a lock without a name");
	put(h, t);
	kernel_note("holder %d: %s (%d) uid %u ttl %.1f s in %s%s", h->n, t->id, h->character, h->uid, (double)t->ttl_high / SEC,
		    t->where == W_QUEUE ? "queue/" : "active/", h->half ? ", empty" : "");
	bound_watch(t);
}
