/* rests.h and what it is made of: heap.h, slots.h, intern.h; each against the plainest thing that does the same. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lease/duration.h"
#include "rests.h"

#define DEV 7
#define MANY 3000

static uint64_t seed = 2463534242;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static void make(struct lease *l, uint32_t number)
{
	memset(l, 0, sizeof(*l));
	memcpy(l->id, "kls-aaaaaaaaaa", LEASE_ID_SIZE);
	for (int at = LEASE_ID_SIZE - 2; number > 0; at--, number /= 32)
		l->id[at] = "abcdefghijklmnopqrstuvwxyz234567"[number % 32];
	(void)snprintf(l->name, sizeof(l->name), "lock-cli-rosa-%s", l->id);
	l->state = ST_ACTIVE;
	l->uid = 1000;
	l->dev = DEV;
	l->policy = (struct policy){ .ttl = 300 * LEASE_NS_PER_S, .renew_grace = 90 * LEASE_NS_PER_S, .runtime = "bench" };
}

/* --- rests --- */

struct model {
	bool is_in;
	uint32_t n;
	int64_t due;
};

static int64_t model_first(const struct model *m)
{
	int64_t first = LEASE_NEVER;

	for (int i = 0; i < MANY; i++)
		if (m[i].is_in && m[i].due < first)
			first = m[i].due;
	return first;
}

static int64_t any_due(void)
{
	return any(10) ? (int64_t)any(1000) : LEASE_NEVER;
}

static void what_is_laid_down_is_found_by_id_and_by_when_it_is_due(void **state)
{
	static struct model m[MANY];
	static struct rests s;
	uint32_t n_in = 0;
	struct lease l;

	(void)state;
	rests_begin(&s, 42, DEV);
	for (int step = 0; step < 20 * MANY; step++) {
		uint32_t i = (uint32_t)any(MANY);
		bool peeked = any(3) == 0;

		make(&l, i);
		assert_int_equal(rests_find(&s, l.id), m[i].is_in ? m[i].n : RESTS_NONE);
		if (!m[i].is_in) {
			l.renewed = i;
			m[i].due = any_due();
			assert_int_equal(rests_add(&s, &l, m[i].due, peeked, &m[i].n), 0);
			m[i].is_in = true;
			n_in++;
		} else if (any(3) == 0) {
			rests_remove(&s, m[i].n);
			m[i].is_in = false;
			n_in--;
		} else {
			m[i].due = any_due();
			rests_due(&s, m[i].n, m[i].due, peeked);
		}
		if (m[i].is_in) {
			assert_int_equal(rests_due_at(&s, m[i].n), m[i].due);
			rests_get(&s, m[i].n, &l);
			assert_int_equal(l.renewed, i);
		}
		assert_int_equal(s.n, n_in);
		if (step % 50 == 0)
			assert_int_equal(rests_first_due(&s), model_first(m));
	}
	/* Each is met once. */
	uint32_t met = 0;
	for (uint32_t n = rests_next(&s, 0); n != RESTS_NONE; n = rests_next(&s, n + 1), met++)
		;
	assert_int_equal(met, n_in);
	rests_end(&s);
}

static void a_lease_keeps_its_name_and_numbers_when_others_leave(void **state)
{
	static struct rests s;
	struct lease a, b, got = { .generation = 3 };
	uint32_t na, nb;

	(void)state;
	rests_begin(&s, 1, DEV);
	make(&a, 1);
	make(&b, 2);
	(void)snprintf(b.name, sizeof(b.name), "lock-k-go-eva-%s", b.id);
	b.policy.ttl++;
	assert_int_equal(rests_add(&s, &a, 5, false, &na), 0);
	assert_int_equal(rests_add(&s, &b, 6, false, &nb), 0);
	rests_remove(&s, na);
	rests_get(&s, nb, &got);
	assert_string_equal(got.name, b.name);
	assert_string_equal(got.id, b.id);
	assert_int_equal(got.policy.ttl, b.policy.ttl);
	assert_int_equal(got.dev, DEV);
	assert_int_equal(got.generation, 3); /* what a rest does not hold is left alone */
	assert_true(rests_named(&s, nb, b.name));
	assert_false(rests_named(&s, nb, "lock-cli-rosa-kls-aaaaaaaaac"));
	rests_end(&s);
}

static void whoever_was_peeked_at_is_in_the_exact_heap(void **state)
{
	static struct rests s;
	struct lease l;
	uint32_t a, b;

	(void)state;
	rests_begin(&s, 1, DEV);
	make(&l, 1);
	assert_int_equal(rests_add(&s, &l, 10, false, &a), 0);
	make(&l, 2);
	assert_int_equal(rests_add(&s, &l, 20, true, &b), 0);
	assert_int_equal(heap_first(&s.peeks)->item, a);
	assert_int_equal(heap_first(&s.exact)->item, b);
	rests_due(&s, a, 10, true);
	assert_null(heap_first(&s.peeks));
	assert_int_equal(heap_first(&s.exact)->item, a);
	rests_due(&s, a, 500, false);
	assert_int_equal(heap_first(&s.exact)->item, b);
	assert_int_equal(rests_first_due(&s), 20);
	rests_end(&s);
}

/* --- intern --- */

static void equal_bytes_have_one_number_until_the_last_lets_go(void **state)
{
	struct intern t;
	uint32_t a, b, c;

	(void)state;
	intern_begin(&t, 9);
	assert_int_equal(intern_take(&t, "abc", 4, &a), 0);
	assert_int_equal(intern_take(&t, "abc", 4, &b), 0);
	assert_int_equal(intern_take(&t, "abd", 4, &c), 0);
	assert_true(a == b && a != c);
	intern_drop(&t, a);
	assert_string_equal(intern_bytes(&t, b), "abc");
	intern_drop(&t, b);
	assert_int_equal(intern_take(&t, "xyz", 4, &b), 0);
	assert_int_equal(b, a); /* a number that nobody has is given out again */
	assert_string_equal(intern_bytes(&t, b), "xyz");
	assert_string_equal(intern_bytes(&t, c), "abd");
	intern_end(&t);
}

static void a_thousand_names_that_come_and_go_are_told_apart(void **state)
{
	static uint32_t number[1000];
	static int taken[1000];
	struct intern t;
	char name[32];

	(void)state;
	intern_begin(&t, 9);
	for (int step = 0; step < 20000; step++) {
		int i = (int)any(1000);
		uint32_t n;

		(void)snprintf(name, sizeof(name), "lock-surface-user%d-", i);
		if (any(2) && taken[i] > 0) {
			intern_drop(&t, number[i]);
			taken[i]--;
			continue;
		}
		assert_int_equal(intern_take(&t, name, strlen(name) + 1, &n), 0);
		assert_true(taken[i] == 0 || n == number[i]);
		number[i] = n;
		taken[i]++;
		assert_string_equal(intern_bytes(&t, n), name);
	}
	assert_true(t.n <= 1000);
	intern_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_laid_down_is_found_by_id_and_by_when_it_is_due),
		cmocka_unit_test(a_lease_keeps_its_name_and_numbers_when_others_leave),
		cmocka_unit_test(whoever_was_peeked_at_is_in_the_exact_heap),
		cmocka_unit_test(equal_bytes_have_one_number_until_the_last_lets_go),
		cmocka_unit_test(a_thousand_names_that_come_and_go_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
