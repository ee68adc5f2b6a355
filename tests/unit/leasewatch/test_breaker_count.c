/*
 * leasewatch/breaker.c: what it keeps counted as leases come, fall silent, are beaten, end and change hands is what a
 * walk over all of them would count. By a seed; SEED=N plays one again.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lease/duration.h"
#include "leasewatch/watcher.h"

#define LEASES 60
#define SESSIONS 9
#define ENDS 4096
#define S LEASE_NS_PER_S

struct key {
	uint32_t uid;
	char id[LEASE_ID_SIZE];
	int64_t at;
};

static struct watcher w;
static struct entry *leases[LEASES];
static struct key ends[ENDS];
static int n_ends, made;
static unsigned long long seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

static void name(char id[LEASE_ID_SIZE], char kind, int n)
{
	(void)snprintf(id, LEASE_ID_SIZE, "kls-%caaa%c%c%c%c%c%c", kind, 'a' + n / 17576 / 26 % 26, 'a' + n / 17576 % 26,
		       'a' + n / 676 % 26, 'a' + n / 26 % 26, 'a' + n % 26, 'a');
}

static void ignore(void *arg, const char *file, int line, const char *what)
{
	(void)arg, (void)file, (void)line, (void)what;
}

static int set_up(void **state)
{
	static char conf[] = "/tmp/test-breaker.XXXXXX";
	static const char text[] = "[breaker]\nshare = 1\n"; /* counts, and holds nothing */
	int fd = mkstemp(conf);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(settings_load(conf, ignore, NULL, &w.settings), 0);
	(void)unlink(conf);
	RB_INIT(&w.by_id);
	RB_INIT(&w.by_due);
	RB_INIT(&w.users);
	RB_INIT(&w.silence.parties);
	TAILQ_INIT(&w.silence.leases);
	TAILQ_INIT(&w.silence.ended);
	rests_begin(&w.rests, 1, 0);
	w.now.mono = 1000 * S;
	return 0;
}

/* What counts as one session. */
static struct key key_of(const struct entry *e)
{
	struct key k = { .uid = e->l.uid };

	memcpy(k.id, e->l.record.is_session || !e->l.record.session[0] ? e->l.id : e->l.record.session, sizeof(k.id));
	return k;
}

static int add(struct key *all, int n, struct key k)
{
	for (int i = 0; i < n; i++)
		if (all[i].uid == k.uid && strcmp(all[i].id, k.id) == 0)
			return n;
	all[n] = k;
	return n + 1;
}

static struct breaker_count walk(void)
{
	static struct key silent[LEASES + ENDS], living[LEASES + ENDS];
	const struct breaker_rule *r = &settings_daemon(w.settings)->breaker;
	int n_silent = 0, n_living = 0;

	for (int i = 0; i < LEASES; i++) {
		const struct entry *e = leases[i];
		if (!e || !state_living(e->l.state) || e->l.state == ST_LINGERING)
			continue;
		n_living = add(living, n_living, key_of(e));
		if (breaker_silent_from(r, &e->l) <= w.now.mono)
			n_silent = add(silent, n_silent, key_of(e));
	}
	for (int i = 0; i < n_ends; i++)
		if (ends[i].at > w.now.mono - r->window) {
			n_silent = add(silent, n_silent, ends[i]);
			n_living = add(living, n_living, ends[i]);
		}
	return (struct breaker_count){ n_silent, n_living };
}

static void take(struct entry *e, enum event ev)
{
	int64_t expires = lease_expires(&e->l);

	lease_apply(&e->l, ev, w.now.mono, w.now.mono, w.now.mono, NULL);
	breaker_stepped(&w, e, ev, expires);
}

static struct entry *make(void)
{
	bool session = below(4) == 0;
	uint32_t uid = 1000 + below(2);
	char id[LEASE_ID_SIZE];
	struct entry *e;

	if (session)
		name(id, 's', (int)below(SESSIONS));
	else
		name(id, 'l', made++);
	if (entry_find(&w, id))
		return NULL;
	e = entry_new(&w, id, uid);
	assert_non_null(e);
	lease_record_init(&e->l.record);
	e->l.record.is_session = session;
	/* Of these some are another user's, have ended, or were never there. */
	if (below(2))
		name(e->l.record.session, 's', (int)below(SESSIONS));
	e->l.policy = (struct policy){ .ttl = (1 + below(5)) * 60 * S, .renew_grace = 90 * S, .max_lifetime = LEASE_NEVER,
				       .hibernated_retention = LEASE_NEVER, .hibernate_after = LEASE_NEVER };
	e->l.state = ST_REQUESTED;
	e->l.created = e->l.renewed = e->l.used = w.now.mono;
	take(e, EV_ADMIT);
	return e;
}

static void end(int i, enum event ev)
{
	struct entry *e = leases[i];

	if (ev == EV_EXPIRY_DUE && e->l.state != ST_LINGERING) {
		ends[n_ends] = key_of(e);
		ends[n_ends++].at = w.now.mono;
	}
	take(e, ev);
	assert_null(e->silent);
	e->l.state = ST_REAPED;
	entry_free(&w, e);
	leases[i] = NULL;
}

static void something_happens(int i)
{
	struct entry *e = leases[i];

	if (!e) {
		leases[i] = make();
		return;
	}
	switch (below(8)) {
	case 0:
		if (e->l.state == ST_STARTING)
			take(e, EV_STARTED);
		break;
	case 1:
	case 2:
		take(e, EV_BEAT);
		break;
	case 3:
		if (e->l.state != ST_STARTING && below(6) == 0)
			take(e, EV_SESSION_ORPHANED);
		break;
	case 4:
		if (e->l.state != ST_LINGERING)
			break;
		name(e->l.record.session, 's', (int)below(SESSIONS));
		take(e, EV_TAKEN_OVER);
		take(e, EV_RESUMED);
		break;
	case 5:
		if (below(4) == 0)
			end(i, EV_RELEASED);
		break;
	default:
		if (lease_expires(&e->l) <= w.now.mono && e->l.state != ST_STARTING)
			end(i, EV_EXPIRY_DUE);
		break;
	}
}

static void what_is_kept_counted_is_what_a_walk_counts(void **state)
{
	const char *given = getenv("SEED");
	unsigned long long began = given ? strtoull(given, NULL, 10) : 1;
	int64_t most = 0;

	(void)state;
	seed = began;
	for (int i = 0; i < 20000 && n_ends < ENDS; i++) {
		struct breaker_count want;

		something_happens((int)below(LEASES));
		if (below(10) == 0) {
			w.now.mono += below(20) * S;
			for (int k = 0; k < LEASES; k++)
				if (leases[k])
					(void)breaker_look(&w, leases[k]);
		}
		/* Being asked is what lets it forget what ended long ago. */
		for (int k = 0; k < LEASES; k++)
			if (leases[k])
				(void)breaker_ask(&w, leases[k]);
		want = walk();
		if (w.silence.count.silent != want.silent || w.silence.count.living != want.living)
			fail_msg("SEED=%llu, step %d: %lld of %lld, a walk has %lld of %lld", began, i,
				 (long long)w.silence.count.silent, (long long)w.silence.count.living,
				 (long long)want.silent, (long long)want.living);
		for (struct user *u = user_next(&w, NULL); u; u = user_next(&w, u)) {
			want.silent -= u->silence.silent;
			want.living -= u->silence.living;
		}
		assert_int_equal(want.silent, 0); /* the users' own add up to it */
		assert_int_equal(want.living, 0);
		want = walk();
		most = want.silent > most ? want.silent : most;
	}
	assert_true(most > 10);
	assert_true(n_ends > 200);
}

static int tear_down(void **state)
{
	(void)state;
	w.now.mono += 3600 * S;
	for (int i = 0; i < LEASES; i++)
		if (leases[i])
			end(i, EV_RELEASED);
	rests_end(&w.rests);
	settings_free(w.settings);
	return 0;
}

/* What is over and forgotten takes no memory. */
static void of_what_has_ended_nothing_stays(void **state)
{
	(void)state;
	for (int i = 0; i < LEASES; i++)
		if (leases[i] && i > 0)
			end(i, EV_RELEASED);
	if (!leases[0])
		while (!(leases[0] = make()))
			;
	w.now.mono += 3600 * S;
	leases[0]->l.renewed = w.now.mono;
	(void)breaker_look(&w, leases[0]);
	(void)breaker_ask(&w, leases[0]);
	end(0, EV_RELEASED);
	assert_true(RB_EMPTY(&w.silence.parties));
	assert_true(TAILQ_EMPTY(&w.silence.leases));
	assert_int_equal(w.silence.count.silent, 0);
	assert_int_equal(w.silence.count.living, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_counted_is_what_a_walk_counts),
		cmocka_unit_test(of_what_has_ended_nothing_stays),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
