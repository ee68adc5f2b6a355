/* core/view.h: what is written to state/ID is read back, whole, whatever it holds; and nothing else is believed. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/view.h"
#include "desk.h"

static char text[LEASE_STATE_FILE_MAX + 1];
static size_t len;
static struct lease_error err;

static void fill(char *s, size_t size, char c)
{
	memset(s, c, size - 1);
	s[size - 1] = '\0';
}

/* Every field as long and as large as it can be. */
static void fullest(struct view *v)
{
	memset(v, 0, sizeof(*v));
	memcpy(v->id, "kls-abcdefghij", LEASE_ID_SIZE);
	memcpy(v->session, "kls-klmnopqrst", LEASE_ID_SIZE);
#define FILL(f, c) fill(v->f, sizeof(v->f), c)
	FILL(lock, 'l');
	FILL(user, 'u');
	FILL(surface, 's');
	FILL(runtime, 'r');
	FILL(profile, 'p');
	FILL(state, 'a');
	FILL(hibernated, 'h');
	FILL(usage, 'o');
	FILL(renewed_by, 'b');
	FILL(why, 'w');
	FILL(signals, 'g');
	FILL(warning, 'n');
	FILL(held, '=');
	FILL(degraded, '~');
	v->generation = INT64_MAX;
	v->requester = UINT32_MAX;
	v->priority = INT32_MIN;
	v->leader = INT32_MAX;
	v->run = true;
	v->ttl = LEASE_DURATION_MAX;
	v->renew_grace = LEASE_NEVER;
	v->linger = 0;
	v->created_at = v->since = v->expires_at = v->last_beat = v->last_use = INT64_MAX;
	v->mtime = INT64_MIN;
	v->n_labels = LEASE_LABELS_MAX;
	for (int i = 0; i < LEASE_LABELS_MAX; i++) {
		FILL(labels[i], 'v');
		memcpy(v->labels[i], "key=", 4);
	}
	v->n_history = VIEW_HISTORY;
	for (int i = 0; i < VIEW_HISTORY; i++) {
		v->history[i] = (struct view_step){ .seq = (uint64_t)i + 1000, .at = INT64_C(1800000000000) + i };
		FILL(history[i].from, 'f');
		FILL(history[i].to, 't');
		FILL(history[i].why, 'y');
	}
}

static void round_trip(const struct view *v)
{
	struct view back;

	assert_int_equal(view_format(v, text, LEASE_STATE_FILE_MAX, &len), 0);
	assert_int_equal(view_parse(text, len, &back, &err), 0);
	assert_memory_equal(&back, v, sizeof(*v));
}

static void the_fullest_view_fits_and_is_read_back(void **state)
{
	static struct view v;

	(void)state;
	fullest(&v);
	round_trip(&v);
}

static void the_emptiest_view_is_read_back(void **state)
{
	static struct view v;

	(void)state;
	memcpy(v.id, "kls-abcdefghij", LEASE_ID_SIZE);
	round_trip(&v);
}

static void text_for_people_is_read_back_as_it_was(void **state)
{
	static const char *const whys[] = { "a=b", "=", " two  blanks ", "#leasewatch 1", "history=1 2 - x",
					    "gr\xc3\xbc\xc3\x9f" };
	static struct view v;

	(void)state;
	for (size_t i = 0; i < N_OF(whys); i++) {
		memset(&v, 0, sizeof(v));
		memcpy(v.id, "kls-abcdefghij", LEASE_ID_SIZE);
		memcpy(v.why, whys[i], strlen(whys[i]));
		v.n_history = 1;
		v.history[0] = (struct view_step){ .seq = 1, .from = "-", .to = "requested" };
		memcpy(v.history[0].why, whys[i], strlen(whys[i]));
		round_trip(&v);
	}
}

static void a_control_byte_never_gets_into_the_file(void **state)
{
	static const char bytes[] = { '\n', '\r', '\t', '\033', 1, 127 };
	static struct view v;

	(void)state;
	for (size_t i = 0; i < N_OF(bytes); i++) {
		memset(&v, 0, sizeof(v));
		memcpy(v.id, "kls-abcdefghij", LEASE_ID_SIZE);
		memcpy(v.why, "x", 1);
		v.why[1] = bytes[i];
		assert_int_equal(view_format(&v, text, LEASE_STATE_FILE_MAX, &len), -EINVAL);
	}
}

static void a_buffer_that_is_too_small_is_said(void **state)
{
	static struct view v;

	(void)state;
	fullest(&v);
	assert_int_equal(view_format(&v, text, LEASE_STATE_FILE_MAX, &len), 0);
	size_t needed = len;
	for (size_t size = 0; size < needed; size += 97)
		assert_int_equal(view_format(&v, text, size, &len), -ENOSPC);
	assert_int_equal(view_format(&v, text, needed, &len), 0);
}

static int parse(const char *lines, struct view *v)
{
	size_t n = strlen(lines);
	size_t header = strlen(LEASE_HEADER "id=kls-abcdefghij\n");

	memcpy(text, LEASE_HEADER "id=kls-abcdefghij\n", header);
	memcpy(text + header, lines, n);
	return view_parse(text, header + n, v, &err);
}

static void a_lock_that_was_touched_before_1970_has_a_view(void **state)
{
	static struct view v;

	(void)state;
	memset(&v, 0, sizeof(v));
	memcpy(v.id, "kls-abcdefghij", LEASE_ID_SIZE);
	v.mtime = -86400 * S;
	v.requester = UINT32_MAX - 1;
	round_trip(&v);
	assert_int_equal(parse("mtime=-0\npriority=-7\n", &v), 0);
	assert_int_equal(v.mtime, 0);
	assert_int_equal(v.priority, -7);
}

static void what_a_newer_daemon_adds_is_skipped(void **state)
{
	static struct view v;

	(void)state;
	assert_int_equal(parse("colour=blue\nttl=5m\nlabel=no label\n", &v), 0);
	assert_int_equal(v.ttl, 5 * M);
	assert_int_equal(v.n_labels, 0);
}

static void what_is_wrong_is_refused_with_its_line(void **state)
{
	static const char *const wrong[] = {
		"ttl=5\n", "ttl=-5m\n", "linger=\n", "requester=4294967296\n", "requester=-1\n", "priority=2147483648\n",
		"leader=x\n", "generation=-1\n", "mtime=9223372036854775808\n", "mtime=--1\n", "mtime=-\n", "mtime= 1\n",
		"created_at=1.5\n", "history=\n", "history=x 1 - a\n", "history=1 x - a\n", "history=1\n",
		"history=18446744073709551616 1 - a\n", "why=\001\n", "run\n",
	};
	struct view v, untouched;

	(void)state;
	memset(&v, 0x55, sizeof(v));
	untouched = v;
	for (size_t i = 0; i < N_OF(wrong); i++) {
		memset(&err, 0, sizeof(err));
		if (parse(wrong[i], &v) != -EINVAL)
			fail_msg("taken: %s", wrong[i]);
		assert_int_equal(err.line, 3);
		assert_true(err.what[0]);
		assert_memory_equal(&v, &untouched, sizeof(v));
	}
	assert_int_equal(view_parse("", 0, &v, &err), -ENODATA);
	assert_int_equal(view_parse(LEASE_HEADER, strlen(LEASE_HEADER), &v, &err), -EINVAL);
	assert_int_equal(parse("id=kls-ABC\n", &v), -EINVAL);
}

static void of_a_long_history_the_last_steps_stay(void **state)
{
	static struct view v;

	(void)state;
	memset(&v, 0, sizeof(v));
	for (int i = 1; i <= 100; i++) {
		struct view_step s = { .seq = (uint64_t)i, .from = "-", .to = "active" };
		view_step_add(&v, &s);
		assert_int_equal(v.n_history, i < VIEW_HISTORY ? i : VIEW_HISTORY);
	}
	for (int i = 0; i < VIEW_HISTORY; i++)
		assert_int_equal(v.history[i].seq, 100 - VIEW_HISTORY + 1 + i);
	/* The same from a file that holds more. */
	char lines[4000] = "";
	size_t n = 0;
	for (int i = 0; i < 60; i++) {
		static const char line[] = "history=10 1800000000000 idle active a beat\n";
		memcpy(lines + n, line, sizeof(line));
		n += sizeof(line) - 1;
	}
	assert_int_equal(parse(lines, &v), 0);
	assert_int_equal(v.n_history, VIEW_HISTORY);
	assert_string_equal(v.history[0].why, "a beat");
	assert_string_equal(v.history[23].from, "idle");
}

static void words_that_are_too_long_are_cut(void **state)
{
	static struct view v;

	(void)state;
	assert_int_equal(parse("history=1 2 abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz why\n"
			       "state=abcdefghijklmnopqrstuvwxyz\n", &v), 0);
	assert_string_equal(v.history[0].from, "abcdefghijklmno");
	assert_string_equal(v.history[0].to, "abcdefghijklmno");
	assert_string_equal(v.history[0].why, "why");
	assert_string_equal(v.state, "abcdefghijklmno");
}

/* --- what a lease looks like --- */

static int64_t ms(int64_t ns)
{
	return ns / MS;
}

static void a_view_says_what_the_lease_is(void **state)
{
	struct desk d;
	static struct view v;

	(void)state;
	desk_set_up(&d);
	d.l.generation = 7;
	d.l.record.leader.pid = 4711;
	desk_run(&d, DESK_T0 + 10 * S);
	desk_beat(&d);
	desk_run(&d, DESK_T0 + 30 * S);
	view_of(&d.l, d.now, desk_wall(&d), "held by uid 0", &v);
	assert_string_equal(v.id, "kls-abcdefghij");
	assert_string_equal(v.state, "active");
	assert_string_equal(v.usage, "explicit");
	assert_string_equal(v.runtime, "process");
	assert_string_equal(v.renewed_by, "own beat");
	assert_string_equal(v.held, "held by uid 0");
	assert_string_equal(v.hibernated, "");
	assert_string_equal(v.warning, "");
	assert_int_equal(v.generation, 7);
	assert_int_equal(v.requester, 1000);
	assert_int_equal(v.priority, 5);
	assert_int_equal(v.leader, 4711);
	assert_int_equal(v.ttl, 5 * M);
	assert_int_equal(v.created_at, ms(DESK_WALL0));
	assert_int_equal(v.last_beat, ms(DESK_WALL0 + 10 * S));
	assert_int_equal(v.last_use, ms(DESK_WALL0 + 10 * S));
	assert_int_equal(v.expires_at, ms(DESK_WALL0 + 10 * S + 5 * M + LEASE_TICK));
	assert_int_equal(v.mtime, d.lock);
	round_trip(&v);
}

static void what_a_life_holds_has_no_expiry(void **state)
{
	struct desk d;
	static struct view v;

	(void)state;
	desk_set_up(&d);
	d.l.leader_alive = true;
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	assert_int_equal(v.expires_at, 0);
	assert_string_equal(v.renewed_by, "leader alive");
	d.l.leader_alive = false;
	d.l.session_alive = true;
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	assert_int_equal(v.expires_at, 0);
	assert_string_equal(v.renewed_by, "session alive");
}

static void the_warning_says_how_long(void **state)
{
	struct desk d;
	static struct view v;

	(void)state;
	desk_set_up(&d);
	desk_run(&d, DESK_T0 + 4 * M + 30 * S);
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	assert_string_equal(v.warning, "expires in 30 s unless it is renewed");
	desk_run(&d, d.now + M);
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	assert_string_equal(v.warning, "");
	assert_string_equal(v.state, "expired");
	assert_string_equal(v.renewed_by, "");
	assert_string_equal(v.signals, "");
	assert_int_equal(v.expires_at, 0);
}

static void how_it_sleeps_is_said(void **state)
{
	struct desk d;
	static struct view v;

	(void)state;
	desk_set_up(&d);
	desk_take(&d, EV_ASK_HIBERNATE);
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	assert_string_equal(v.state, "idle");
	assert_string_equal(v.hibernated, "");
	desk_take(&d, EV_HIBERNATED);
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	assert_string_equal(v.state, "hibernated");
	assert_string_equal(v.hibernated, "frozen");
	d.l.disk = true;
	desk_take(&d, EV_ASK_RESUME);
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	assert_string_equal(v.state, "hibernated");
	assert_string_equal(v.hibernated, "disk");
	desk_take(&d, EV_RESUMED);
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	assert_string_equal(v.hibernated, "");
}

/* --- view_refresh: an active lease's beat writes nothing, a reader stats --- */

static void a_view(struct view *v, struct desk *d)
{
	desk_set_up(d);
	view_of(&d->l, d->now, desk_wall(d), "", v);
}

static void a_fresher_mtime_moves_beat_use_and_expiry(void **state)
{
	static struct view v;
	struct desk d;

	(void)state;
	a_view(&v, &d);
	view_refresh(&v, DESK_WALL0 + 20 * S);
	assert_int_equal(v.mtime, DESK_WALL0 + 20 * S);
	assert_int_equal(v.last_beat, ms(DESK_WALL0 + 20 * S));
	assert_int_equal(v.last_use, ms(DESK_WALL0 + 20 * S));
	assert_int_equal(v.expires_at, ms(DESK_WALL0 + 20 * S + 5 * M));
}

static void an_mtime_that_was_seen_or_is_older_says_nothing(void **state)
{
	static const int64_t stamps[] = { DESK_WALL0, DESK_WALL0 + 10 * S, DESK_WALL0 + 19 * S, 0, -1, INT64_MIN };
	static struct view v, before;
	struct desk d;

	(void)state;
	a_view(&v, &d);
	view_refresh(&v, DESK_WALL0 + 20 * S);
	before = v;
	for (size_t i = 0; i < N_OF(stamps); i++) {
		view_refresh(&v, stamps[i]);
		assert_memory_equal(&v, &before, sizeof(v));
	}
}

static void what_is_over_is_not_renewed_by_a_touch(void **state)
{
	static const enum state over[] = { ST_EXPIRED, ST_REAPING, ST_ROLLBACK, ST_REAPED, ST_DENIED };
	static struct view v, before;
	struct desk d;

	(void)state;
	for (size_t i = 0; i < N_OF(over); i++) {
		a_view(&v, &d);
		d.l.state = over[i];
		view_of(&d.l, d.now, desk_wall(&d), "", &v);
		before = v;
		view_refresh(&v, DESK_WALL0 + 20 * S);
		assert_memory_equal(&v, &before, sizeof(v));
	}
}

static void a_beat_is_no_use_where_use_is_observed_and_no_end_where_there_is_none(void **state)
{
	static struct view v;
	struct desk d;

	(void)state;
	a_view(&v, &d);
	d.l.policy.usage = LEASE_USAGE_OBSERVED;
	d.l.leader_alive = true;
	view_of(&d.l, d.now, desk_wall(&d), "", &v);
	view_refresh(&v, DESK_WALL0 + 20 * S);
	assert_int_equal(v.last_beat, ms(DESK_WALL0 + 20 * S));
	assert_int_equal(v.last_use, ms(DESK_WALL0));
	assert_int_equal(v.expires_at, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fullest_view_fits_and_is_read_back),
		cmocka_unit_test(the_emptiest_view_is_read_back),
		cmocka_unit_test(text_for_people_is_read_back_as_it_was),
		cmocka_unit_test(a_control_byte_never_gets_into_the_file),
		cmocka_unit_test(a_buffer_that_is_too_small_is_said),
		cmocka_unit_test(what_a_newer_daemon_adds_is_skipped),
		cmocka_unit_test(what_is_wrong_is_refused_with_its_line),
		cmocka_unit_test(of_a_long_history_the_last_steps_stay),
		cmocka_unit_test(words_that_are_too_long_are_cut),
		cmocka_unit_test(a_view_says_what_the_lease_is),
		cmocka_unit_test(what_a_life_holds_has_no_expiry),
		cmocka_unit_test(the_warning_says_how_long),
		cmocka_unit_test(how_it_sleeps_is_said),
		cmocka_unit_test(a_fresher_mtime_moves_beat_use_and_expiry),
		cmocka_unit_test(an_mtime_that_was_seen_or_is_older_says_nothing),
		cmocka_unit_test(what_is_over_is_not_renewed_by_a_touch),
		cmocka_unit_test(a_beat_is_no_use_where_use_is_observed_and_no_end_where_there_is_none),
		cmocka_unit_test(a_lock_that_was_touched_before_1970_has_a_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
