/* core/rest.h: the verdict over a lease that rested is the one over the lease that was laid to rest. */
#include "config.h"

#include "desk.h"

#include <stdio.h>
#include <string.h>

#include "core/rest.h"

#define TRIES 200000

/* xorshift64: the same leases at every run. */
static uint64_t seed = 88172645463325252;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static int64_t span(void)
{
	static const int64_t some[] = { 0, 1, LEASE_TICK, S, 30 * S, 90 * S, 5 * M, H, 7 * D, LEASE_NEVER };

	return any(2) ? some[any(N_OF(some))] : (int64_t)any((uint64_t)(10 * M));
}

static int64_t ago(int64_t now)
{
	return now - (int64_t)any((uint64_t)(any(4) ? 10 * M : 8 * D));
}

static void any_lease(struct desk *d)
{
	struct lease *l = &d->l;

	desk_set_up(d);
	d->now += (int64_t)any((uint64_t)(10 * D));
	for (int i = LEASE_ID_SIZE - 2; i > 3; i--)
		l->id[i] = "abcdefghijklmnopqrstuvwxyz234567"[any(32)];
	(void)snprintf(l->name, sizeof(l->name), "lock-%s-%s-%s", any(2) ? "cli" : "k-go", any(2) ? "rosa" : "x%20y", l->id);
	l->policy = (struct policy){ .ttl = span(), .renew_grace = span(), .hibernate_after = span(),
				     .warn_before = span(), .linger = span(), .max_ttl = span(), .max_lifetime = span(),
				     .hibernated_retention = span(), .cpu_floor_ppm = (int64_t)any(1000000),
				     .priority = (int)any(10), .max_priority = (int)any(10),
				     .usage = (enum lease_usage)(1 + any(3)), .runtime = "process" };
	if (l->policy.ttl == 0)
		l->policy.ttl = 1;
	l->uid = (uint32_t)any(UINT32_MAX);
	l->dev = 7;
	l->ino = any(UINT64_MAX);
	l->created = ago(d->now);
	l->since = ago(d->now);
	l->renewed = ago(d->now);
	l->used = ago(d->now);
	l->looked = ago(d->now);
	l->restart_credit = any(2) ? 0 : (int64_t)any((uint64_t)(90 * S));
	l->skew = any(3) ? d->skew + (int64_t)any((uint64_t)S) : 0;
	l->last_beat_wall = any(2) ? 0 : ago(desk_wall(d));
	if (l->policy.usage == LEASE_USAGE_EXPLICIT && any(2)) {
		l->cpu_at = ago(d->now);
		l->cpu_from = ago(d->now);
		l->cpu_quiet_at = ago(d->now);
		l->cpu_broken = any(2);
	}
	if (any(20) == 0)
		l->warned = true;
	d->lock = any(2) ? l->mtime : ago(desk_wall(d)) + (int64_t)any((uint64_t)M);
	d->j.hold_until = any(3) ? 0 : d->now + (int64_t)any((uint64_t)H) - 30 * M;
	d->j.grace_until = any(3) ? 0 : d->now + (int64_t)any((uint64_t)H) - 30 * M;
	d->j.observe_every = any(2) ? 30 * S : (int64_t)any((uint64_t)M);
}

static void laid_to_rest(const struct lease *l, struct lease *ret)
{
	char prefix[LEASE_NAME_SIZE];
	struct rest_terms t = rest_terms(&l->policy);
	struct rest r;

	memset(&r, 0xa5, sizeof(r));
	rest_pack(l, &r);
	(void)snprintf(prefix, sizeof(prefix), "%.*s", (int)(lease_name_lock_id(l->name) - l->name), l->name);
	memset(ret, 0, sizeof(*ret));
	rest_unpack(&r, &t, prefix, l->dev, ret);
}

static void same_verdict(const struct lease *a, const struct lease *b, const struct judge *j, int64_t now)
{
	struct verdict x, y;

	lease_verdict(a, j, now, &x);
	lease_verdict(b, j, now, &y);
	assert_int_equal(x.event, y.event);
	assert_int_equal(x.want_cpu, y.want_cpu);
	assert_int_equal(x.warn, y.warn);
	assert_int_equal(x.look_at, y.look_at);
	assert_string_equal(x.why, y.why);
}

static void the_verdict_over_a_lease_at_rest_is_the_one_over_the_lease_itself(void **state)
{
	int rested = 0, due = 0, beaten = 0;

	(void)state;
	for (int i = 0; i < TRIES; i++) {
		struct desk d;
		struct lease b;
		struct verdict v;

		any_lease(&d);
		if (!rest_may(&d.l))
			continue;
		rested++;
		laid_to_rest(&d.l, &b);
		assert_string_equal(b.id, d.l.id);
		assert_string_equal(b.name, d.l.name);
		same_verdict(&d.l, &b, &d.j, d.now);
		const struct lease_clock clock = desk_clock(&d);
		int64_t at = lease_looked(&d.l, d.lock, &clock);
		assert_int_equal(lease_looked(&b, d.lock, &clock), at);
		if (at != 0) {
			beaten++;
			lease_apply(&d.l, EV_BEAT, at, d.now, desk_wall(&d), NULL);
			lease_apply(&b, EV_BEAT, at, d.now, desk_wall(&d), NULL);
		}
		same_verdict(&d.l, &b, &d.j, d.now);
		assert_int_equal(b.last_beat_wall, d.l.last_beat_wall);
		assert_int_equal(lease_expires(&b), lease_expires(&d.l));
		lease_verdict(&b, &d.j, d.now, &v);
		due += v.event != EV_NONE;
		/* And again, by what it is now. */
		laid_to_rest(&d.l, &b);
		same_verdict(&d.l, &b, &d.j, d.now + span() / 2);
	}
	/* The leases were of all kinds. */
	assert_true(rested > TRIES / 2 && due > TRIES / 20 && beaten > TRIES / 10);
}

static void only_the_quiet_may_rest(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	assert_true(rest_may(&d.l));
#define NOT_WITH(field, value)                                                                               \
	do {                                                                                                 \
		struct lease l = d.l;                                                                        \
		l.field = value;                                                                             \
		assert_false(rest_may(&l));                                                                  \
	} while (0)
	NOT_WITH(state, ST_IDLE);
	NOT_WITH(lock_lost, true);
	NOT_WITH(warned, true);
	NOT_WITH(wanted, true);
	NOT_WITH(leader_alive, true);
	NOT_WITH(session_alive, true);
	NOT_WITH(execs, 1);
	NOT_WITH(act_deadline, 1);
	NOT_WITH(record.is_session, true);
	NOT_WITH(record.session[0], 'k');
	NOT_WITH(record.leader.pid, 1);
	NOT_WITH(record.workload.pid, 1);
#undef NOT_WITH
}

static void a_window_of_cpu_use_is_not_slept_through(void **state)
{
	struct desk d;

	(void)state;
	desk_set_up(&d);
	d.l.policy.usage = LEASE_USAGE_HYBRID;
	assert_true(rest_may(&d.l));
	(void)lease_saw_cpu(&d.l, &d.j, d.now, 0);
	assert_false(rest_may(&d.l));
	d.l.policy.usage = LEASE_USAGE_EXPLICIT;
	assert_true(rest_may(&d.l));
}

static void every_id_has_a_key_of_its_own(void **state)
{
	uint64_t a, b;

	(void)state;
	assert_true(rest_key("kls-aaaaaaaaaa", &a) && a == 0);
	assert_true(rest_key("kls-7777777777", &a) && a == (UINT64_C(1) << 50) - 1);
	assert_true(rest_key("kls-aaaaaaaaab", &a) && rest_key("kls-aaaaaaaaba", &b) && a == 1 && b == 32);
	assert_false(rest_key("kls-aaaaaaaaa", &a));
	assert_false(rest_key("kls-aaaaaaaaaaa", &a));
	assert_false(rest_key("lock-aaaaaaaaa", &a));
	assert_false(rest_key("kls-aaaaaaaaa1", &a));
}

static void a_rest_takes_a_hundred_bytes_at_most(void **state)
{
	(void)state;
	assert_true(sizeof(struct rest) <= 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_over_a_lease_at_rest_is_the_one_over_the_lease_itself),
		cmocka_unit_test(only_the_quiet_may_rest),
		cmocka_unit_test(a_window_of_cpu_use_is_not_slept_through),
		cmocka_unit_test(every_id_has_a_key_of_its_own),
		cmocka_unit_test(a_rest_takes_a_hundred_bytes_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
