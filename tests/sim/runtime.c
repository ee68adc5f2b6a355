/*
 * tests/sim/runtime.c: the actor and what it drives: acts on one lease one after the other, each with its
 * deadline, engines that are slow, fail, hang or are away.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/world.h"

struct act {
	struct act_request r;
	struct truth *t; /* NULL: of no lease */
	uint64_t birth;
	bool running, lost; /* lost: it is done, or not, and never answered */
	int64_t asked;
	struct act *next;
	SLIST_ENTRY(act) free;
};

static struct act *pool;
static SLIST_HEAD(, act) unused;
static uint64_t lives; /* of the daemon, and so of the actor */
static int64_t outage_until, stalled_until;
static bool has_lost; /* in this life: each takes a place for good */
static size_t n_acts;

void runtime_init(size_t n)
{
	pool = calloc(n, sizeof(*pool));
	n_acts = n;
	SLIST_INIT(&unused);
	for (size_t i = n; i > 0; i--)
		SLIST_INSERT_HEAD(&unused, &pool[i - 1], free);
	outage_until = stalled_until = -DAY;
}

void runtime_exit(void)
{
	free(pool);
}

void runtime_outage(int64_t for_ns)
{
	kernel_note("engines are away for %lld s", (long long)(for_ns / SEC));
	outage_until = now() + for_ns;
}

void runtime_stall(int64_t for_ns)
{
	kernel_note("the actor is stopped for %lld s", (long long)(for_ns / SEC));
	stalled_until = now() + for_ns;
}

static bool troubled(void)
{
	return (world.o.faults & F_ENGINE) && !world.ending;
}

/* --- what an act does to a workload --- */

static bool is(const struct act *a, const char *runtime)
{
	return strcmp(a->r.runtime, runtime) == 0;
}

static void answer_about(const struct act *a, enum act_outcome o, struct act_answer *ret)
{
	*ret = (struct act_answer){ .magic = WIRE_MAGIC, .size = sizeof(*ret), .verb = a->r.verb, .outcome = (uint32_t)o,
				    .serial = a->r.serial, .generation = a->r.generation, .cpu_usec = -1, .memory = -1,
				    .net_bytes = -1 };
	memcpy(ret->id, a->r.id, sizeof(ret->id));
}

static void do_create(const struct act *a, struct truth *t, struct act_answer *ret)
{
	struct lease_process p = a->r.process;

	if (t->work == WORK_RUNNING)
		return;
	if (is(a, "process") && !kernel_process_alive(t->work_pid)) {
		ret->outcome = ACT_FAILED;
		(void)snprintf(ret->line, sizeof(ret->line), "no such process");
		return;
	}
	if (is(a, "box")) {
		p = kernel_spawn(0);
		t->work_pid = p.pid;
	}
	t->work = WORK_RUNNING;
	if (is(a, "process") || is(a, "box"))
		(void)snprintf(ret->cgroup, sizeof(ret->cgroup), KERNEL_CGROUP "%d", t->work_pid);
	ret->tree = p;
}

static void do_destroy(struct truth *t)
{
	t->work = WORK_ABSENT;
	t->destroyed = true;
	truth_killed(&t->work_pid);
}

static void do_freeze(const struct act *a, struct truth *t, struct act_answer *ret)
{
	ret->state = is(a, "box") ? ACT_ST_DISK : ACT_ST_FROZEN;
	if (t->work != WORK_RUNNING)
		return;
	t->work = is(a, "box") ? WORK_DISK : WORK_FROZEN;
	if (is(a, "box"))
		truth_killed(&t->work_pid);
}

static void do_thaw(const struct act *a, struct truth *t)
{
	if (is(a, "box") && t->work == WORK_DISK)
		t->work_pid = kernel_spawn(0).pid;
	t->work = WORK_RUNNING;
}

static void session_stat(const struct truth *t, struct act_answer *ret)
{
	if (!truth_session_alive(t))
		ret->outcome = ACT_ABSENT;
	else if (t->second.pid > 0 && kernel_process_alive(t->second.pid))
		ret->tree = t->second;
	else
		ret->tree = t->record.leader;
}

static void do_act(const struct act *a, struct truth *t, struct act_answer *ret)
{
	bool there = t->work != WORK_ABSENT;

	switch ((int)a->r.verb) {
	case ACT_CREATE:
		do_create(a, t, ret);
		break;
	case ACT_STAT:
		if (is(a, "session"))
			session_stat(t, ret);
		else if (!there)
			ret->outcome = ACT_ABSENT;
		else if (t->work_pid > 0)
			(void)snprintf(ret->cgroup, sizeof(ret->cgroup), KERNEL_CGROUP "%d", t->work_pid);
		ret->state = !there ? ACT_ST_ABSENT : t->work == WORK_RUNNING ? ACT_ST_RUNNING : ACT_ST_FROZEN;
		break;
	case ACT_HIBERNATE:
		if (there)
			do_freeze(a, t, ret);
		else
			ret->outcome = ACT_ABSENT;
		break;
	case ACT_RESUME:
		if (there)
			do_thaw(a, t);
		else
			ret->outcome = ACT_ABSENT;
		break;
	case ACT_DESTROY:
		ret->outcome = there || one_in(2) ? ACT_DONE : ACT_ABSENT;
		do_destroy(t);
		break;
	case ACT_ENTER:
		if (t->work != WORK_RUNNING)
			ret->outcome = there ? ACT_FAILED : ACT_ABSENT;
		else if (one_in(20))
			memset(ret->argv, 'x', 70); /* longer than an answer holds */
		else
			memcpy(ret->argv, "nsenter\0-t\0" "1\0", sizeof("nsenter\0-t\0" "1\0"));
		break;
	case ACT_WARN:
	default:
		break;
	}
}

/* --- the actor --- */

static void start(struct act *a);

static void act_free(struct act *a)
{
	SLIST_INSERT_HEAD(&unused, a, free);
}

static void note(const struct act *a, enum act_outcome o)
{
	kernel_note("actor: %s %s gen %llu: %s", act_verb_name((enum act_verb)a->r.verb), a->r.id[0] ? a->r.id : a->r.runtime,
		    (unsigned long long)a->r.generation, act_outcome_name(o));
}

/* What became known to the world by an answer that is on its way. */
static void told(struct truth *t, const struct act *a, const struct act_answer *ans)
{
	if (a->r.verb == ACT_CREATE && ans->outcome != ACT_DONE && t->start_failed == NEVER)
		t->start_failed = now();
	if ((ans->outcome == ACT_ABSENT || ans->state == ACT_ST_ABSENT) && !t->record.is_session && t->stopped == NEVER)
		t->stopped = now();
}

static void ended(void *arg, uint64_t life)
{
	struct act *a = arg;
	struct truth *t = a->t && a->t->birth == a->birth ? a->t : NULL;
	struct act_answer ans;

	if (life != lives) /* that actor is gone, and took what was under way with it */
		return;
	happens();
	if (now() < stalled_until) {
		at(stalled_until + between(0, 10 * LEASE_NS_PER_MS), ended, a, life);
		return;
	}
	answer_about(a, ACT_DONE, &ans);
	bool late = now() - a->asked >= a->r.deadline;
	bool fails = late || (troubled() && (now() < outage_until || percent(is(a, "flaky") ? 20 : 3)));
	if (a->lost && one_in(2))
		fails = true;
	/* What failed by its deadline may have done all of it. */
	if (t && (!fails || (late && one_in(2))) && a->r.verb != ACT_CAPABILITIES)
		do_act(a, t, &ans);
	if (fails && ans.outcome != ACT_ABSENT) {
		answer_about(a, late ? ACT_TIMEOUT : one_in(3) ? ACT_LATER : one_in(20) ? ACT_REFUSED : ACT_FAILED, &ans);
		(void)snprintf(ans.line, sizeof(ans.line), "the engine says no");
	}
	if (a->r.verb == ACT_CAPABILITIES) {
		ans.outcome = is(a, "nowhere") || (fails && !is(a, "session")) ? ACT_FAILED : ACT_DONE;
		ans.caps = is(a, "box") ? ACT_CAP_HIBERNATE_DISK | ACT_CAP_SNAPSHOT : 0;
		if (!is(a, "box") && !is(a, "session"))
			ans.caps = ACT_CAP_HIBERNATE_FROZEN;
	}
	note(a, a->lost ? ACT_UNKNOWN : (enum act_outcome)ans.outcome);
	if (t) {
		t->acts--;
		t->first = a->next;
		if (!a->lost)
			told(t, a, &ans);
	}
	if (!a->lost) {
		if (world.acts-- >= ACTS_FULL)
			world.last_full = now();
		kernel_answer(&ans);
	}
	if (t)
		bound_changed(t);
	if (a->next)
		start(a->next);
	act_free(a);
}

static int64_t takes(const struct act *a)
{
	if (!troubled())
		return between(LEASE_NS_PER_MS, 300 * LEASE_NS_PER_MS);
	if (now() < outage_until && one_in(2))
		return a->r.deadline + between(0, 2 * SEC);
	if (one_in(60))
		return between(SEC, a->r.deadline + 2 * SEC);
	return between(100000, one_in(5) ? 5 * SEC : 200 * LEASE_NS_PER_MS);
}

static void start(struct act *a)
{
	a->running = true;
	a->asked = now();
	after(takes(a), ended, a, lives);
}

static void check_request(const struct act_request *r, struct truth *t)
{
	bool over = !t || t->state == P_REAPED || t->state == P_DENIED;

	if (over && r->verb != ACT_WARN && r->verb != ACT_ENTER)
		broken("I4", "%s of %s, which %s", act_verb_name((enum act_verb)r->verb), r->id, t ? "is over" : "nobody knows");
	if (t && r->generation != t->generation)
		broken("I5", "%s of %s with generation %llu, the ledger says %llu", act_verb_name((enum act_verb)r->verb), r->id,
		       (unsigned long long)r->generation, (unsigned long long)t->generation);
	if (r->verb == ACT_CREATE && t->state != P_ADMITTED)
		broken("I4", "create of %s, which is %s", r->id, public_name(t->state));
	if ((r->verb == ACT_HIBERNATE || r->verb == ACT_RESUME) && (t->state == P_EXPIRED || t->state == P_FAILED))
		broken("I4", "%s of %s, which is over", act_verb_name((enum act_verb)r->verb), r->id);
}

/* An answer alone, in a life. Most of all of a destroy behind another act, whose answer must not be taken for its own. */
static bool gets_lost(const struct act *a, const struct truth *t)
{
	int verb = (int)a->r.verb;

	if (!troubled() || has_lost || (verb != ACT_CREATE && verb != ACT_HIBERNATE && verb != ACT_RESUME && verb != ACT_DESTROY))
		return false;
	has_lost = one_in(verb == ACT_DESTROY && t->first ? 2 : 100);
	return has_lost;
}

/* About a life that nobody lives: the next one's generation, or that of the one before. */
void runtime_stray(void)
{
	static const enum act_verb verbs[] = { ACT_CREATE, ACT_STAT, ACT_HIBERNATE, ACT_RESUME, ACT_DESTROY };
	struct truth *t;
	int left = 20;

	LIST_FOREACH(t, &world.all, all) {
		if (t->generation == 0 || !one_in(3))
			continue;
		struct act_answer a = { .magic = WIRE_MAGIC, .size = sizeof(a), .verb = verbs[between(0, 4)], .outcome = ACT_DONE,
					.generation = t->generation + 1, .cpu_usec = -1, .memory = -1, .net_bytes = -1 };
		memcpy(a.id, t->id, sizeof(a.id));
		if (t->generation > 1 && one_in(2))
			a.generation = t->generation - 1;
		if (one_in(2))
			a.outcome = one_in(2) ? ACT_ABSENT : ACT_FAILED;
		kernel_answer(&a);
		if (--left == 0)
			break;
	}
}

void runtime_mad(struct act_answer *a)
{
	*a = (struct act_answer){ .magic = WIRE_MAGIC, .size = sizeof(*a), .verb = ACT_STAT, .outcome = ACT_DONE,
				  .id = "kls-aaaaaaaaaa", .generation = 1, .cpu_usec = -1, .memory = -1, .net_bytes = -1 };
	switch (between(0, 24)) {
	case 0: a->magic++; break;
	case 1: a->size--; break;
	case 2: a->verb = ACT_NONE; break;
	case 3: a->verb = ACT_VERBS; break;
	case 4: a->outcome = ACT_UNKNOWN; break;
	case 5: a->outcome = ACT_OUTCOMES; break;
	case 6: a->state = ACT_STATES; break;
	case 7: memset(a->id, 'a', sizeof(a->id)); break;
	case 8: memset(a->cgroup, '/', sizeof(a->cgroup)); break;
	case 9: memset(a->line, 'x', sizeof(a->line)); break;
	case 10: memset(a->argv, 'x', sizeof(a->argv)); break;
	case 11: a->more = 2; break;
	case 12: a->more = 1; break;
	case 13: a->verb = ACT_LIST; a->more = 1; a->outcome = ACT_FAILED; break;
	case 14: a->id[0] = '\0'; break;
	case 15: a->generation = 0; break;
	case 16: a->caps = ~0u; break;
	case 17: a->cpu_usec = -2; break;
	case 18: a->memory = -2; break;
	case 19: a->net_bytes = -2; break;
	case 20: a->tree.pid = -1; break;
	case 21: memcpy(a->cgroup, "here", 5); break;
	case 22: memcpy(a->cgroup, "/a/../b", 8); break;
	case 23: memcpy(a->cgroup, "/a\n", 4); break;
	default: memcpy(a->line, "\033", 2); break;
	}
}

void runtime_request(void *arg, const struct act_request *r)
{
	struct truth *t = r->id[0] ? truth_find(r->id) : NULL;
	struct act *a = SLIST_FIRST(&unused);

	(void)arg;
	if (!a)
		broken("the simulation", "more acts are under way than there is room for");
	if (r->id[0])
		check_request(r, t);
	SLIST_REMOVE_HEAD(&unused, free);
	*a = (struct act){ .r = *r, .t = t, .birth = t ? t->birth : 0 };
	world.acts++;
	if (!t) {
		start(a);
		return;
	}
	t->acts++;
	a->lost = gets_lost(a, t);
	if (r->verb == ACT_CREATE)
		t->create_asked = now();
	if (r->verb == ACT_DESTROY) {
		check_destroy(t);
		t->destroy_asked = now();
		bound_changed(t);
	}
	if (!t->first) {
		t->first = a;
		start(a);
		return;
	}
	struct act *last = t->first;
	while (last->next)
		last = last->next;
	last->next = a;
}

void runtime_daemon_gone(void)
{
	struct truth *t;
	struct act *a;

	lives++;
	if (world.acts >= ACTS_FULL)
		world.last_full = now();
	has_lost = false;
	world.acts = 0;
	stalled_until = -DAY;
	LIST_FOREACH(t, &world.all, all) {
		/* The program under way may have come to its end. */
		if (t->first && t->first->running && one_in(2)) {
			struct act_answer ans;
			answer_about(t->first, ACT_DONE, &ans);
			do_act(t->first, t, &ans);
		}
		t->first = NULL;
		t->acts = 0;
	}
	/* Every act is of that life: all come back. */
	SLIST_INIT(&unused);
	for (a = pool; a < pool + n_acts; a++)
		SLIST_INSERT_HEAD(&unused, a, free);
}

void runtime_boot(void)
{
	outage_until = -DAY;
}
