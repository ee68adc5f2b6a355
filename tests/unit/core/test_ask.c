/* Asks and their answers: queue/ask-ID is written by users, state/ask-ID is read by klease. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/view.h"
#include "desk.h"

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

static char text[LEASE_FILE_MAX * 2];
static size_t len;
static struct lease_error err;

static void every_ask_is_read_back(void **state)
{
	(void)state;
	for (int verb = ASK_NONE + 1; verb < ASK_VERBS; verb++) {
		struct ask a = { .verb = (enum ask_verb)verb, .ttl = 5 * M }, back;

		if (verb != ASK_HOLD && verb != ASK_UNHOLD && verb != ASK_BREAKER_RELEASE)
			memcpy(a.lease, "kls-abcdefghij", LEASE_ID_SIZE);
		if (verb == ASK_EXEC) {
			a.process = (struct lease_process){ .pid = INT32_MAX, .start = INT64_MAX };
			memcpy(a.boot, BOOT, sizeof(a.boot));
		}
		assert_true(*ask_verb_name(a.verb));
		assert_int_equal(ask_format(&a, text, LEASE_FILE_MAX, &len), 0);
		assert_int_equal(ask_parse(text, len, &back, &err), 0);
		assert_memory_equal(&back, &a, sizeof(a));
	}
	assert_string_equal(ask_verb_name(ASK_VERBS), "");
}

static int parse(const char *lines, struct ask *a)
{
	size_t n = strlen(lines), header = strlen(LEASE_HEADER);

	memcpy(text, LEASE_HEADER, header);
	memcpy(text + header, lines, n);
	memset(&err, 0, sizeof(err));
	return ask_parse(text, header + n, a, &err);
}

#define LEASE "lease=kls-abcdefghij\n"

static void a_malformed_ask_is_refused_with_a_sentence(void **state)
{
	static const char *const wrong[] = {
		"", LEASE, "verb=\n", "verb=destroy\n" LEASE, "verb=EXEC\n" LEASE, "verb=resume\nverb=destroy\n" LEASE,
		"verb=resume\n", "verb=resume\nlease=\n", "verb=resume\nlease=kls-abc\n", "verb=resume\nlease=../../etc\n",
		"verb=renew\nttl=0s\n" LEASE, "verb=renew\nttl=never\n" LEASE, "verb=renew\nttl=-1s\n" LEASE,
		"verb=hold\nttl=99999d\n", "verb=exec\n" LEASE, "verb=exec\npid=1\npid_start=5\nboot=" BOOT "\n" LEASE,
		"verb=exec\npid=0\npid_start=5\nboot=" BOOT "\n" LEASE, "verb=exec\npid=77\nboot=" BOOT "\n" LEASE,
		"verb=exec\npid=77\npid_start=5\n" LEASE, "verb=exec\npid=-1\npid_start=5\nboot=" BOOT "\n" LEASE,
		"verb=exec\npid=2147483648\npid_start=5\nboot=" BOOT "\n" LEASE, "verb=resume\nuid=0\n" LEASE,
		"verb=resume\nlease=kls-abcdefghij", "verb=resume\n\n" LEASE, "verb=resume\r\n" LEASE,
	};

	(void)state;
	for (size_t i = 0; i < N_OF(wrong); i++) {
		struct ask a, untouched;
		memset(&a, 0x55, sizeof(a));
		untouched = a;
		if (parse(wrong[i], &a) != -EINVAL)
			fail_msg("taken: %s", wrong[i]);
		assert_true(err.what[0]);
		assert_memory_equal(&a, &untouched, sizeof(a));
	}
	struct ask a;
	assert_int_equal(ask_parse("verb=resume\n", 12, &a, &err), -ENODATA);
}

static void an_ask_is_no_larger_than_a_lock(void **state)
{
	struct ask a;
	size_t n = strlen(LEASE_HEADER);

	(void)state;
	memcpy(text, LEASE_HEADER, n);
	while (n <= LEASE_FILE_MAX) {
		memcpy(text + n, "verb=resume\n", 12);
		n += 12;
	}
	assert_int_equal(ask_parse(text, n, &a, &err), -EINVAL);
}

static void every_answer_is_read_back(void **state)
{
	struct ask_answer a = { .result = "refused", .what = "you are not its owner" }, back;

	(void)state;
	for (a.n_words = 0; a.n_words <= ASK_WORDS; a.n_words++) {
		if (a.n_words > 0)
			memset(a.words[a.n_words - 1], 'a' + a.n_words, sizeof(a.words[0]) - 1);
		assert_int_equal(ask_answer_format(&a, text, LEASE_FILE_MAX, &len), 0);
		assert_int_equal(ask_answer_parse(text, len, &back, &err), 0);
		assert_memory_equal(&back, &a, sizeof(a));
	}
}

/* A command line that was cut is another command: refused, not cut. */
static void words_that_do_not_fit_are_refused(void **state)
{
	struct ask_answer a;

	(void)state;
	for (int words = 1; words <= ASK_WORDS + 1; words++) {
		size_t n = (size_t)snprintf(text, sizeof(text), LEASE_HEADER);

		for (int i = 0; i < words; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "word=%d\n", i);
		assert_int_equal(ask_answer_parse(text, n, &a, &err), words <= ASK_WORDS ? 0 : -EINVAL);
	}
	for (int bytes = (int)sizeof(a.words[0]) - 2; bytes <= (int)sizeof(a.words[0]); bytes++) {
		size_t n = (size_t)snprintf(text, sizeof(text), LEASE_HEADER "word=%0*d\n", bytes, 1);

		assert_int_equal(ask_answer_parse(text, n, &a, &err), bytes < (int)sizeof(a.words[0]) ? 0 : -EINVAL);
	}
}

static void a_control_byte_is_not_answered(void **state)
{
	struct ask_answer a = { .result = "done", .what = "two\nlines" };

	(void)state;
	assert_int_equal(ask_answer_format(&a, text, LEASE_FILE_MAX, &len), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_ask_is_read_back),
		cmocka_unit_test(a_malformed_ask_is_refused_with_a_sentence),
		cmocka_unit_test(an_ask_is_no_larger_than_a_lock),
		cmocka_unit_test(every_answer_is_read_back),
		cmocka_unit_test(words_that_do_not_fit_are_refused),
		cmocka_unit_test(a_control_byte_is_not_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
