/* A small file of a format that is not known yet: whoever reads it says so, and believes nothing of it. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/view.h"
#include "desk.h"
#include "lease/beacon.h"
#include "lease/twin.h"

#define REST "\nid=kls-abcdefghij\nverb=release\nlease=kls-abcdefghij\nstate=active\nkey=of a later time\n"
static const char newer[] = "#leasewatch 2" REST, ours[] = "#leasewatch 1" REST;

static union {
	struct lease_record record;
	struct lease_twin twin;
	struct lease_beacon beacon;
	struct view view;
	struct ask ask;
	struct ask_answer answer;
	unsigned char bytes[sizeof(struct view) + sizeof(struct ask)];
} got;

static int a_lock(const char *buf, size_t len, struct lease_error *err)
{
	return lease_record_parse(buf, len, &got.record, err);
}

static int a_twin(const char *buf, size_t len, struct lease_error *err)
{
	return lease_twin_parse(buf, len, &got.twin, err);
}

static int a_beacon(const char *buf, size_t len, struct lease_error *err)
{
	return lease_beacon_parse(buf, len, &got.beacon, err);
}

static int a_state_file(const char *buf, size_t len, struct lease_error *err)
{
	return view_parse(buf, len, &got.view, err);
}

static int an_ask(const char *buf, size_t len, struct lease_error *err)
{
	return ask_parse(buf, len, &got.ask, err);
}

static int an_answer(const char *buf, size_t len, struct lease_error *err)
{
	return ask_answer_parse(buf, len, &got.answer, err);
}

static void every_reader_tells_a_newer_format_and_believes_nothing_of_it(void **state)
{
	static int (*const readers[])(const char *buf, size_t len, struct lease_error *err) = {
		a_lock, a_twin, a_beacon, a_state_file, an_ask, an_answer,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		struct lease_error err = { 0 };

		memset(&got, 0x5a, sizeof(got));
		assert_int_equal(readers[i](newer, strlen(newer), &err), -EPROTO);
		assert_int_equal(err.line, 1);
		assert_non_null(strstr(err.what, "a newer leasewatch's"));
		assert_int_not_equal(readers[i](ours, strlen(ours), &err), -EPROTO);
	}
}

static void results_are_untouched(void **state)
{
	unsigned char before[sizeof(got)];
	struct lease_error err;

	(void)state;
	memset(&got, 0x5a, sizeof(got));
	memcpy(before, &got, sizeof(got));
	(void)a_twin(newer, strlen(newer), &err);
	(void)a_beacon(newer, strlen(newer), &err);
	(void)a_state_file(newer, strlen(newer), &err);
	(void)an_ask(newer, strlen(newer), &err);
	(void)an_answer(newer, strlen(newer), &err);
	assert_memory_equal(before, &got, sizeof(got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reader_tells_a_newer_format_and_believes_nothing_of_it),
		cmocka_unit_test(results_are_untouched),
	};

	return cmocka_run_group_tests_name("files of a newer leasewatch", tests, NULL, NULL);
}
