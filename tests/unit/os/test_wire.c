/* A message that isn't whole and plain never passes. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lease/duration.h"
#include "wire.h"

static struct act_request good_request(void)
{
	struct act_request r;

	memset(&r, 0, sizeof r);
	r.magic = WIRE_MAGIC;
	r.size = sizeof r;
	r.verb = ACT_CREATE;
	r.generation = 1;
	r.deadline = 1;
	memcpy(r.id, "kls-aaaaaaaaaa", sizeof r.id);
	memcpy(r.runtime, "process", 8);
	assert_true(wire_request_valid(&r));
	return r;
}

static struct act_answer good_answer(void)
{
	struct act_answer a;

	memset(&a, 0, sizeof a);
	a.magic = WIRE_MAGIC;
	a.size = sizeof a;
	a.verb = ACT_STAT;
	a.outcome = ACT_DONE;
	a.generation = 1;
	memcpy(a.id, "kls-aaaaaaaaaa", sizeof a.id);
	assert_true(wire_answer_valid(&a));
	return a;
}

#define REFUSED(make, valid, change)           \
	do {                                   \
		__typeof__(make()) m = make(); \
		change;                        \
		assert_false(valid(&m));       \
	} while (0)
#define REQUEST(change) REFUSED(good_request, wire_request_valid, change)
#define ANSWER(change) REFUSED(good_answer, wire_answer_valid, change)

static void a_wrong_request_is_seen(void **state)
{
	(void)state;
	REQUEST(m.magic++);
	REQUEST(m.size--);
	REQUEST(m.verb = ACT_NONE);
	REQUEST(m.verb = ACT_VERBS);
	REQUEST(m.generation = 0);
	REQUEST(m.deadline = 0);
	REQUEST(m.deadline = -1);
	REQUEST(m.deadline = 3601 * LEASE_NS_PER_S);
	REQUEST(m.id[0] = '\0');
	REQUEST(m.id[4] = '/');
	REQUEST(memset(m.id, 'a', sizeof m.id));
	REQUEST(memcpy(m.runtime, "../x", 5));
	REQUEST(m.runtime[0] = '\0');
	REQUEST(memset(m.runtime, 'a', sizeof m.runtime));
	REQUEST(memset(m.profile, 'a', sizeof m.profile));
	REQUEST(memcpy(m.profile, "a b", 4));
	REQUEST(m.uid = UINT32_MAX);
	REQUEST(m.process.pid = -5);
	REQUEST(m.verb = ACT_LIST); /* takes no id */
}

static void a_wrong_answer_is_seen(void **state)
{
	(void)state;
	ANSWER(m.magic++);
	ANSWER(m.size++);
	ANSWER(m.verb = ACT_VERBS);
	ANSWER(m.outcome = ACT_UNKNOWN);
	ANSWER(m.outcome = ACT_OUTCOMES);
	ANSWER(m.state = ACT_STATES);
	ANSWER(m.caps = ACT_CAPS + 1);
	ANSWER(m.more = 1);
	ANSWER(m.more = 2);
	ANSWER(m.generation = 0);
	ANSWER(m.cpu_usec = -2);
	ANSWER(m.tree.pid = -1);
	ANSWER(memset(m.line, 'a', sizeof m.line));
	ANSWER(memcpy(m.line, "a\033b", 4));
	ANSWER(memcpy(m.line, "\303\244", 3));
	ANSWER(memcpy(m.cgroup, "x", 2));
	ANSWER(memcpy(m.cgroup, "/a/..", 6));
	ANSWER(memcpy(m.cgroup, "/../a", 6));
	ANSWER(memset(m.argv, 'a', sizeof m.argv));
	ANSWER((memset(m.argv, 'a', sizeof m.argv), m.argv[sizeof m.argv - 1] = '\0'));
}

static void dots_that_lead_nowhere_are_fine(void **state)
{
	struct act_answer a = good_answer();

	(void)state;
	memcpy(a.cgroup, "/a/..b/.c", 10);
	assert_true(wire_answer_valid(&a));
}

static void every_verb_and_outcome_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned v = 0; v < ACT_VERBS; v++)
		for (unsigned w = 0; w < v; w++)
			assert_string_not_equal(act_verb_name((enum act_verb)v),
						act_verb_name((enum act_verb)w));
	for (unsigned v = 0; v < ACT_OUTCOMES; v++)
		for (unsigned w = 0; w < v; w++)
			assert_string_not_equal(act_outcome_name((enum act_outcome)v),
						act_outcome_name((enum act_outcome)w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_wrong_request_is_seen),
	    cmocka_unit_test(a_wrong_answer_is_seen),
	    cmocka_unit_test(dots_that_lead_nowhere_are_fine),
	    cmocka_unit_test(every_verb_and_outcome_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
