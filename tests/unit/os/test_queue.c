/* Which act may start next: pure. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actor-queue.h"

static struct act *add(struct act_queue *q, int lease, uint32_t uid, const char *runtime)
{
	struct act *a = calloc(1, sizeof *a);

	assert_non_null(a);
	if (lease)
		snprintf(a->r.id, sizeof a->r.id, "%d", lease);
	snprintf(a->r.runtime, sizeof a->r.runtime, "%s", runtime);
	a->r.uid = uid;
	queue_add(q, a);
	return a;
}

static void over(struct act_queue *q, struct act *a)
{
	queue_ended(q, a);
	queue_drop(q);
}

static void acts_on_a_lease_never_overlap(void **state)
{
	struct act_queue q = {0};
	struct act *a = add(&q, 1, 1, "r"), *b = add(&q, 1, 1, "r"), *c = add(&q, 1, 2, "s"),
		   *d = add(&q, 2, 1, "r");

	(void)state;
	assert_ptr_equal(queue_next(&q), a);
	assert_ptr_equal(queue_next(&q), d);
	assert_null(queue_next(&q));
	over(&q, a);
	assert_ptr_equal(queue_next(&q), b);
	assert_null(queue_next(&q));
	over(&q, b);
	assert_ptr_equal(queue_next(&q), c);
	queue_free(&q);
}

static void acts_without_a_lease_wait_for_none(void **state)
{
	struct act_queue q = {0};
	struct act *a = add(&q, 0, 1, "r"), *b = add(&q, 0, 1, "r");

	(void)state;
	assert_ptr_equal(queue_next(&q), a);
	assert_ptr_equal(queue_next(&q), b);
	queue_free(&q);
}

static void a_refused_one_holds_nobody_up(void **state)
{
	struct act_queue q = {0};
	struct act *a = add(&q, 1, 1, "r"), *refused = calloc(1, sizeof *refused), *b;

	(void)state;
	assert_non_null(refused);
	memcpy(refused->r.id, a->r.id, sizeof a->r.id);
	queue_add_over(&q, refused);
	b = add(&q, 1, 1, "r");
	assert_ptr_equal(queue_next(&q), a);
	queue_drop(&q); /* the refused one's answer */
	over(&q, a);
	assert_ptr_equal(queue_next(&q), b);
	queue_free(&q);
}

static void the_last_places_are_for_those_who_have_none(void **state)
{
	struct act_queue q = {0};
	struct act *other;

	(void)state;
	for (int i = 0; i < 20; i++)
		add(&q, i + 1, 1, "r");
	for (int i = 0; i < QUEUE_RUNNING - QUEUE_SPARE; i++)
		assert_non_null(queue_next(&q));
	assert_null(queue_next(&q));
	other = add(&q, 30, 1, "another");
	add(&q, 31, 1, "another");
	assert_ptr_equal(queue_next(&q), other);
	assert_null(queue_next(&q));
	other = add(&q, 32, 2, "r");
	assert_ptr_equal(queue_next(&q), other);
	assert_null(queue_next(&q));
	assert_int_equal(q.n_running, QUEUE_RUNNING);
	queue_free(&q);
}

static void who_has_fewest_running_is_first(void **state)
{
	struct act_queue q = {0};
	struct act *second;

	(void)state;
	add(&q, 1, 1, "r");
	add(&q, 2, 1, "r");
	second = add(&q, 3, 2, "r");
	assert_non_null(queue_next(&q));
	assert_ptr_equal(queue_next(&q), second);
	queue_free(&q);
}

static void order_holds_among_many(void **state)
{
	struct act_queue q = {0};
	size_t done = 0;

	(void)state;
	for (int i = 0; i < 300; i++)
		add(&q, i % 7 + 1, (uint32_t)(i % 3), "r");
	while (q.n > 0) {
		struct act *a = queue_next(&q);

		while (a) {
			for (struct act *p = a->prev; p; p = p->prev)
				if (p->step == ACT_WAITING || p->step == ACT_RUNNING)
					assert_string_not_equal(p->r.id, a->r.id);
			a = queue_next(&q);
		}
		assert_true(q.n_running > 0);
		over(&q, q.running[done++ % q.n_running]);
	}
	assert_int_equal(done, 300);
	queue_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(acts_on_a_lease_never_overlap),
	    cmocka_unit_test(acts_without_a_lease_wait_for_none),
	    cmocka_unit_test(a_refused_one_holds_nobody_up),
	    cmocka_unit_test(the_last_places_are_for_those_who_have_none),
	    cmocka_unit_test(who_has_fewest_running_is_first),
	    cmocka_unit_test(order_holds_among_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
