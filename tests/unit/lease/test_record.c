#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lease/duration.h"
#include "lease/record.h"
#include "tests/unit/lease/test.h"

#define H LEASE_HEADER
#define ID "kls-abcdefghij"
#define BOOT "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0"
#define S LEASE_NS_PER_S

static const char whole[] = H "id=" ID "\n"
			      "surface=sshd\n"
			      "session=kls-2222222222\n"
			      "profile=build\n"
			      "runtime=process\n"
			      "ttl=5m\n"
			      "linger=0s\n"
			      "usage=hybrid\n"
			      "priority=0\n"
			      "pid=1234\n"
			      "pid_start=0\n"
			      "leader=2147483647\n"
			      "leader_start=9223372036854775807\n"
			      "waiter=1\n"
			      "waiter_start=99\n"
			      "boot=" BOOT "\n"
			      "run=yes\n"
			      "label=project=kruze\n"
			      "label=surface=build/kruze\n"
			      "label=keep=\n";

static void every_key_is_read(void **state)
{
	struct lease_record r;
	struct lease_error err;

	(void)state;
	assert_int_equal(lease_record_parse(whole, strlen(whole), &r, &err), 0);
	assert_string_equal(r.id, ID);
	assert_string_equal(r.surface, "sshd");
	assert_string_equal(r.session, "kls-2222222222");
	assert_string_equal(r.profile, "build");
	assert_string_equal(r.runtime, "process");
	assert_true(r.ttl == 300 * S);
	assert_true(r.linger == 0);
	assert_int_equal(r.usage, LEASE_USAGE_HYBRID);
	assert_int_equal(r.priority, 0);
	assert_int_equal(r.workload.pid, 1234);
	assert_true(r.workload.start == 0);
	assert_int_equal(r.leader.pid, INT32_MAX);
	assert_true(r.leader.start == INT64_MAX);
	assert_int_equal(r.waiter.pid, 1);
	assert_true(r.waiter.start == 99);
	assert_string_equal(r.boot, BOOT);
	assert_true(r.run);
	assert_int_equal(r.n_labels, 3);
	assert_string_equal(r.labels[0], "project=kruze");
	assert_string_equal(r.labels[1], "surface=build/kruze");
	assert_string_equal(r.labels[2], "keep=");
}

static void a_whole_record_is_written_as_it_was_read(void **state)
{
	char buf[LEASE_FILE_MAX];
	struct lease_record r;
	struct lease_error err;
	size_t len = 0;

	(void)state;
	assert_int_equal(lease_record_parse(whole, strlen(whole), &r, &err), 0);
	assert_int_equal(lease_record_format(&r, buf, sizeof(buf), &len), 0);
	assert_int_equal(len, strlen(whole));
	assert_memory_equal(buf, whole, len);
}

static void what_is_not_said_stays_unsaid(void **state)
{
	struct lease_record r, init;
	struct lease_error err;
	char buf[LEASE_FILE_MAX];
	size_t len = 0;

	(void)state;
	lease_record_init(&init);
	assert_int_equal(lease_record_parse(H, strlen(H), &r, &err), 0);
	assert_memory_equal(&r, &init, sizeof(r));
	assert_true(r.ttl == 0 && r.linger == -1 && r.priority == -1 && r.leader.pid == 0);
	assert_int_equal(lease_record_format(&init, buf, sizeof(buf), &len), 0);
	assert_int_equal(len, strlen(H));
}

static void a_wrong_line_is_refused_with_its_number_and_what_is_right(void **state)
{
	static const struct {
		const char *text;
		int line;
		const char *what;
	} cases[] = {
	    {H "colour=red\n", 2, "unknown key colour"},
	    {H "#leasewatch 1\n", 2, "key=value"},
	    {H "ttl=5m\nttl=5m\n", 3, "ttl is said twice"},
	    {H "run=no\nttl=5m\nrun=no\n", 4, "run is said twice"},
	    {H "id=\n", 2, "kls-"},
	    {H "id=kls-ABCDEFGHIJ\n", 2, "kls-"},
	    {H "session=none\n", 2, "bad session: kls-"},
	    {H "surface=\n", 2, "1-32"},
	    {H "surface=build/kruze\n", 2, "1-32"},
	    {H "profile=Build\n", 2, "bad profile: 1-32"},
	    {H "runtime=../../bin/sh\n", 2, "bad runtime: 1-32"},
	    {H "runtime=r2345678901234567890123456789012x\n", 2, "bad runtime: 1-32"},
	    {H "ttl=\n", 2, "a number and a unit"},
	    {H "ttl=300\n", 2, "a number and a unit"},
	    {H "ttl=-5m\n", 2, "a number and a unit"},
	    {H "ttl=never\n", 2, "a number and a unit"},
	    {H "ttl=0s\n", 2, "a ttl must be longer than 0"},
	    {H "ttl=0d\n", 2, "a ttl must be longer than 0"},
	    {H "ttl=4000d\n", 2, "at most 3650d"},
	    {H "linger=never\n", 2, "bad linger: a number and a unit"},
	    {H "linger=-1s\n", 2, "bad linger: a number and a unit"},
	    {H "usage=\n", 2, "explicit, observed or hybrid"},
	    {H "usage=Hybrid\n", 2, "explicit, observed or hybrid"},
	    {H "priority=10\n", 2, "0 to 9"},
	    {H "priority=-1\n", 2, "0 to 9"},
	    {H "priority=\n", 2, "0 to 9"},
	    {H "pid=0\npid_start=1\nboot=" BOOT "\n", 2, "bad pid: the number of a process"},
	    {H "pid=-1\n", 2, "bad pid: the number of a process"},
	    {H "leader=2147483648\n", 2, "bad leader: the number of a process"},
	    {H "leader=4294967297\n", 2, "bad leader: the number of a process"},
	    {H "waiter=1 \n", 2, "bad waiter: the number of a process"},
	    {H "waiter=0x1\n", 2, "bad waiter: the number of a process"},
	    {H "pid_start=9223372036854775808\n", 2, "clock ticks"},
	    {H "pid_start=\n", 2, "clock ticks"},
	    {H "leader=5\nboot=" BOOT "\n", 2, "say too leader_start"},
	    {H "ttl=5m\nleader_start=5\n", 3, "say too leader"},
	    {H "leader_start=5\nleader=7\n", 3, "say too boot"},
	    {H "pid=5\npid_start=6\n", 2, "say too boot"},
	    {H "waiter=5\nwaiter_start=6\n", 2, "say too boot"},
	    {H "boot=\n", 2, "a uuid"},
	    {H "boot=0b1c2d3e4f5061728394a5b6c7d8e9f0\n", 2, "a uuid"},
	    {H "boot=0B1C2D3E-4F50-6172-8394-A5B6C7D8E9F0\n", 2, "a uuid"},
	    {H "boot=" BOOT "0\n", 2, "a uuid"},
	    {H "boot=0b1c2d3e-4f50-6172-8394-a5b6c7d8e9g0\n", 2, "a uuid"},
	    {H "run=1\n", 2, "yes or no"},
	    {H "run=\n", 2, "yes or no"},
	    {H "label=\n", 2, "name=text"},
	    {H "label=project\n", 2, "name=text"},
	    {H "label==x\n", 2, "name=text"},
	    {H "label=Project=x\n", 2, "name=text"},
	    {H "label=k2345678901234567890123456789012=x\n", 2, "name=text"},
	    {H "label=a=\x1b[2J\n", 2, "control byte"},
	    {H "ttl=5m", 2, "newline"},
	};
	struct lease_record r, before;
	struct lease_error err;

	(void)state;
	memset(&before, 'x', sizeof(before));
	for (size_t i = 0; i < N_OF(cases); i++) {
		r = before;
		memset(&err, 'x', sizeof(err));
		assert_int_equal(lease_record_parse(cases[i].text, strlen(cases[i].text), &r, &err), -EINVAL);
		if (err.line != cases[i].line || !strstr(err.what, cases[i].what))
			fail_msg("\"%s\" says line %d: %s", cases[i].text + strlen(H), err.line, err.what);
		/* One byte less than the field means that nothing was cut off. */
		assert_true(strlen(err.what) < sizeof(err.what) - 1);
		assert_memory_equal(&r, &before, sizeof(r));
	}
}

static void a_file_without_our_header_is_no_record(void **state)
{
	static const char *const cases[] = {"", "#", "x", "ttl=5m\n", "pid 1234\n", "\177ELF"};
	struct lease_record r;
	struct lease_error err;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(lease_record_parse(cases[i], strlen(cases[i]), &r, &err), -ENODATA);
}

static void a_record_of_4097_bytes_is_refused(void **state)
{
	char text[LEASE_FILE_MAX + 1] = H;
	struct lease_record r;
	struct lease_error err;

	(void)state;
	memset(text + strlen(H), '\n', sizeof(text) - strlen(H));
	assert_int_equal(lease_record_parse(text, sizeof(text), &r, &err), -EINVAL);
	assert_int_equal(err.line, 0);
	assert_non_null(strstr(err.what, "too long"));
}

static void sixteen_labels_fit_and_a_seventeenth_is_an_error(void **state)
{
	char text[1024] = H;
	struct lease_record r;
	struct lease_error err;
	size_t at = strlen(H);

	(void)state;
	for (int i = 0; i < LEASE_LABELS_MAX; i++, at += 10)
		memcpy(text + at, "label=a=b\n", 10);
	assert_int_equal(lease_record_parse(text, at, &r, &err), 0);
	assert_int_equal(r.n_labels, 16);
	memcpy(text + at, "label=a=b\n", 10);
	assert_int_equal(lease_record_parse(text, at + 10, &r, &err), -EINVAL);
	assert_int_equal(err.line, 18);
}

static void a_label_is_at_most_127_bytes(void **state)
{
	char label[LEASE_LABEL_SIZE + 1] = "a=";

	(void)state;
	memset(label + 2, 'v', sizeof(label) - 3);
	label[sizeof(label) - 1] = '\0';
	assert_false(lease_label_valid(label));
	label[sizeof(label) - 2] = '\0';
	assert_true(lease_label_valid(label));
}

static void usages_have_names_that_read_back(void **state)
{
	enum lease_usage u;

	(void)state;
	for (int i = LEASE_USAGE_EXPLICIT; i <= LEASE_USAGE_HYBRID; i++) {
		assert_int_equal(lease_usage_parse(lease_usage_name((enum lease_usage)i), &u), 0);
		assert_int_equal(u, i);
	}
	assert_string_equal(lease_usage_name(LEASE_USAGE_UNSET), "");
	assert_int_equal(lease_usage_parse("", &u), -EINVAL);
	assert_int_equal(lease_usage_parse("hybrid ", &u), -EINVAL);
}

static void set_bad_surface(struct lease_record *r)
{
	memcpy(r->surface, "a/b", sizeof("a/b"));
}
static void set_bad_label(struct lease_record *r)
{
	memcpy(r->labels[0], "a=\nttl=5m", sizeof("a=\nttl=5m"));
	r->n_labels = 1;
}
static void set_injection(struct lease_record *r)
{
	memcpy(r->profile, "x\nrun=yes", sizeof("x\nrun=yes"));
}
static void set_many_labels(struct lease_record *r)
{
	r->n_labels = LEASE_LABELS_MAX + 1;
}
static void set_minus_labels(struct lease_record *r)
{
	r->n_labels = -1;
}
static void set_minus_ttl(struct lease_record *r)
{
	r->ttl = -1;
}
static void set_ttl_never(struct lease_record *r)
{
	r->ttl = LEASE_NEVER;
}
static void set_minus_linger(struct lease_record *r)
{
	r->linger = -2;
}
static void set_high_priority(struct lease_record *r)
{
	r->priority = 10;
}
static void set_minus_pid(struct lease_record *r)
{
	r->leader = (struct lease_process){.pid = -5, .start = 1};
	memcpy(r->boot, BOOT, sizeof(BOOT));
}
static void set_huge_start(struct lease_record *r)
{
	r->leader = (struct lease_process){.pid = 5, .start = UINT64_MAX};
	memcpy(r->boot, BOOT, sizeof(BOOT));
}
static void set_leader_without_boot(struct lease_record *r)
{
	r->leader = (struct lease_process){.pid = 5, .start = 1};
}
static void set_usage(struct lease_record *r)
{
	r->usage = (enum lease_usage)(LEASE_USAGE_HYBRID + 1);
}

static void what_parse_would_refuse_is_not_written(void **state)
{
	static void (*const cases[])(struct lease_record *) = {
	    set_bad_surface, set_bad_label,           set_injection,    set_many_labels,   set_minus_labels,
	    set_minus_ttl,   set_ttl_never,           set_minus_linger, set_high_priority, set_minus_pid,
	    set_huge_start,  set_leader_without_boot, set_usage,
	};
	char buf[LEASE_FILE_MAX];
	struct lease_record r;
	size_t len = 77;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		lease_record_init(&r);
		cases[i](&r);
		if (lease_record_format(&r, buf, sizeof(buf), &len) != -EINVAL || len != 77)
			fail_msg("case %zu was written", i);
	}
}

static void a_small_buffer_is_said_and_never_overrun(void **state)
{
	char buf[sizeof(whole) + 1];
	struct lease_record r;
	struct lease_error err;
	size_t len;

	(void)state;
	assert_int_equal(lease_record_parse(whole, strlen(whole), &r, &err), 0);
	for (size_t size = 0; size < strlen(whole); size++) {
		memset(buf, '!', sizeof(buf));
		assert_int_equal(lease_record_format(&r, buf, size, &len), -ENOSPC);
		assert_int_equal(buf[size], '!');
	}
	assert_int_equal(lease_record_format(&r, buf, strlen(whole), &len), 0);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 33) % n;
}

static void random_text(char *s, size_t size, const char *first, const char *rest)
{
	size_t len = 1 + random_below(size - 1);

	s[0] = first[random_below(strlen(first))];
	for (size_t i = 1; i < len; i++)
		s[i] = rest[random_below(strlen(rest))];
	s[len] = '\0';
}

static struct lease_process random_process(void)
{
	uint64_t start = random_below(2) ? random_below(UINT32_MAX) : (uint64_t)INT64_MAX - random_below(9);

	return (struct lease_process){.pid = (int32_t)(1 + random_below(INT32_MAX)), .start = start};
}

static void random_label(char *label)
{
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
	char key[32];

	random_text(key, sizeof(key), lower, "abcz09_.-");
	memcpy(label, key, strlen(key));
	label[strlen(key)] = '=';
	if (random_below(5))
		random_text(label + strlen(key) + 1, LEASE_LABEL_SIZE - strlen(key) - 1, "a =#%~\xc3",
			    "z =#%~\"'\xb6");
}

static void random_record(struct lease_record *r)
{
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz";

	lease_record_init(r);
	if (random_below(2))
		lease_id_make(r->id);
	if (random_below(2))
		random_text(r->surface, sizeof(r->surface), "abcXYZ019", "abcXYZ019_.-");
	if (random_below(2))
		lease_id_make(r->session);
	if (random_below(2))
		random_text(r->profile, sizeof(r->profile), lower, "abcz09_-");
	if (random_below(2))
		random_text(r->runtime, sizeof(r->runtime), lower, "abcz09_-");
	if (random_below(2))
		r->ttl = (int64_t)(1 + random_below(LEASE_DURATION_MAX / LEASE_NS_PER_MS)) * LEASE_NS_PER_MS;
	if (random_below(2))
		r->linger = (int64_t)random_below(100000) * LEASE_NS_PER_S;
	r->usage = (enum lease_usage)random_below(4);
	r->priority = (int)random_below(11) - 1;
	if (random_below(2))
		memcpy(r->boot, BOOT, sizeof(BOOT));
	if (r->boot[0] && random_below(2))
		r->workload = random_process();
	if (r->boot[0] && random_below(2))
		r->leader = random_process();
	if (r->boot[0] && random_below(2))
		r->waiter = random_process();
	r->run = random_below(2);
	r->n_labels = (int)random_below(LEASE_LABELS_MAX + 1);
	for (int i = 0; i < r->n_labels; i++)
		random_label(r->labels[i]);
}

static void any_record_that_is_written_reads_back_the_same(void **state)
{
	char buf[LEASE_FILE_MAX];
	struct lease_record r, back;
	struct lease_error err;
	size_t len;

	(void)state;
	random_state = 20260101;
	for (int i = 0; i < 20000; i++) {
		random_record(&r);
		assert_int_equal(lease_record_format(&r, buf, sizeof(buf), &len), 0);
		if (lease_record_parse(buf, len, &back, &err) < 0)
			fail_msg("record %d, line %d: %s", i, err.line, err.what);
		assert_memory_equal(&r, &back, sizeof(r));
	}
}

/* Any one byte changed: still a record or an error with a sentence, and never a byte beyond the text
 * (sanitizers look on). */
static void any_damage_is_survived(void **state)
{
	struct lease_record r;
	struct lease_error err;
	int refused = 0;

	(void)state;
	random_state = 7;
	for (int i = 0; i < 50000; i++) {
		size_t len = 1 + random_below(strlen(whole));
		char *text = malloc(len);

		assert_non_null(text);
		memcpy(text, whole, len);
		text[random_below(len)] = (char)random_below(256);
		err.what[0] = '\0';
		if (lease_record_parse(text, len, &r, &err) < 0) {
			assert_true(err.what[0] != '\0');
			refused++;
		}
		free(text);
	}
	assert_true(refused > 40000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_key_is_read),
	    cmocka_unit_test(a_whole_record_is_written_as_it_was_read),
	    cmocka_unit_test(what_is_not_said_stays_unsaid),
	    cmocka_unit_test(a_wrong_line_is_refused_with_its_number_and_what_is_right),
	    cmocka_unit_test(a_file_without_our_header_is_no_record),
	    cmocka_unit_test(a_record_of_4097_bytes_is_refused),
	    cmocka_unit_test(sixteen_labels_fit_and_a_seventeenth_is_an_error),
	    cmocka_unit_test(a_label_is_at_most_127_bytes),
	    cmocka_unit_test(usages_have_names_that_read_back),
	    cmocka_unit_test(what_parse_would_refuse_is_not_written),
	    cmocka_unit_test(a_small_buffer_is_said_and_never_overrun),
	    cmocka_unit_test(any_record_that_is_written_reads_back_the_same),
	    cmocka_unit_test(any_damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
