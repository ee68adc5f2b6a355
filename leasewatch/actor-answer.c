#include "config.h"

#include "actor-answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/log.h"

#define LINE_MAX_BYTES 1024 /* of an answer; longer is wrong */

void answer_begin(struct act_answer *a, const struct act_request *r, enum act_outcome outcome)
{
	memset(a, 0, sizeof *a);
	a->magic = WIRE_MAGIC;
	a->size = sizeof *a;
	a->verb = r->verb;
	a->outcome = outcome;
	a->serial = r->serial;
	a->generation = r->generation;
	a->cpu_usec = a->memory = a->net_bytes = -1;
	memcpy(a->id, r->id, sizeof a->id);
}

void answer_line(struct act_answer *a, const char *fmt, ...)
{
	char buf[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof buf, fmt, ap);
	va_end(ap);
	log_escape(a->line, sizeof a->line, buf);
}

/* The next line of out, without its newline, in line. 1, 0 at the end, -EBADMSG: too long, or a byte that is
 * no text. */
static int next_line(const char *out, size_t len, size_t *at, char line[LINE_MAX_BYTES])
{
	const char *s = out + *at, *nl;
	size_t n;

	if (*at >= len)
		return 0;
	nl = memchr(s, '\n', len - *at);
	n = nl ? (size_t)(nl - s) : len - *at;
	*at += n + (nl ? 1 : 0);
	if (n >= LINE_MAX_BYTES)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < 32 || s[i] == 127)
			return -EBADMSG;
	memcpy(line, s, n);
	line[n] = '\0';
	return 1;
}

static int parse_number(const char *s, int64_t max, int64_t *ret)
{
	const char *error = NULL;
	int64_t v;

	if (*s < '0' || *s > '9')
		return -EBADMSG;
	v = strtonum(s, 0, max, &error);
	if (error)
		return -EBADMSG;
	*ret = v;
	return 0;
}

static int parse_word(const char *s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (words[i] && !strcmp(s, words[i]))
			return (int)i;
	return -EBADMSG;
}

static int parse_state(const char *s, uint32_t *ret)
{
	static const char *const word[ACT_STATES] = {
	    [ACT_ST_RUNNING] = "running", [ACT_ST_FROZEN] = "frozen", [ACT_ST_DISK] = "disk",
	    [ACT_ST_STOPPED] = "stopped", [ACT_ST_ABSENT] = "absent",
	};
	int i = parse_word(s, word, ACT_STATES);

	if (i < 0)
		return i;
	*ret = (uint32_t)i;
	return 0;
}

/* PID:START */
static int parse_process(const char *s, struct lease_process *ret)
{
	const char *colon = strchr(s, ':');
	int64_t pid, start;
	char number[16];

	if (!colon || (size_t)(colon - s) >= sizeof number)
		return -EBADMSG;
	memcpy(number, s, (size_t)(colon - s));
	number[colon - s] = '\0';
	if (parse_number(number, INT32_MAX, &pid) < 0 || pid <= 1 ||
	    parse_number(colon + 1, INT64_MAX, &start) < 0)
		return -EBADMSG;
	ret->pid = (int32_t)pid;
	ret->start = (uint64_t)start;
	return 0;
}

/* ID:GENERATION:STATE */
static int parse_workload(const char *s, struct act_answer *a)
{
	char number[32], id[LEASE_ID_SIZE];
	const char *state = strrchr(s, ':');
	int64_t generation;
	size_t n;

	if (strlen(s) < LEASE_ID_SIZE || s[LEASE_ID_SIZE - 1] != ':' || state == s + LEASE_ID_SIZE - 1)
		return -EBADMSG;
	memcpy(id, s, LEASE_ID_SIZE - 1);
	id[LEASE_ID_SIZE - 1] = '\0';
	n = (size_t)(state - (s + LEASE_ID_SIZE));
	if (!lease_id_valid(id) || n >= sizeof number)
		return -EBADMSG;
	memcpy(number, s + LEASE_ID_SIZE, n);
	number[n] = '\0';
	if (parse_number(number, INT64_MAX, &generation) < 0 || !generation ||
	    parse_state(state + 1, &a->state) < 0)
		return -EBADMSG;
	memcpy(a->id, id, sizeof a->id);
	a->generation = (uint64_t)generation;
	return 0;
}

static int parse_cgroup(struct act_answer *a, const char *value)
{
	struct act_answer probe = *a;

	if (value[0] != '/' || strlen(value) >= sizeof a->cgroup)
		return -EBADMSG;
	snprintf(probe.cgroup, sizeof probe.cgroup, "%s", value);
	if (!wire_answer_valid(&probe))
		return -EBADMSG;
	memcpy(a->cgroup, probe.cgroup, sizeof a->cgroup);
	return 0;
}

static int parse_argv_word(struct act_answer *a, const char *word)
{
	size_t at = 0, n = strlen(word);

	while (a->argv[at])
		at += strlen(a->argv + at) + 1;
	/* An empty word would read as the end. */
	if (!n || at + n + 2 > sizeof a->argv)
		return -EBADMSG;
	memcpy(a->argv + at, word, n + 1);
	return 0;
}

static int parse_capability(struct act_answer *a, const char *key, const char *value)
{
	static const char *const yes_no[] = {"no", "yes"};
	static const char *const how[] = {"none", "frozen", "disk"};
	static const struct {
		const char *key;
		uint32_t bit;
	} can[] = {{"snapshot", ACT_CAP_SNAPSHOT}, {"enter", ACT_CAP_ENTER}, {"adopts", ACT_CAP_ADOPTS}};
	static const uint32_t hibernate_bit[] = {0, ACT_CAP_HIBERNATE_FROZEN, ACT_CAP_HIBERNATE_DISK};
	int i;

	if (!strcmp(key, "hibernate")) {
		i = parse_word(value, how, 3);
		a->caps |= i < 0 ? 0 : hibernate_bit[i];
		return i < 0 ? i : 0;
	}
	if (!strcmp(key, "why"))
		answer_line(a, "%s", value);
	for (size_t n = 0; n < sizeof can / sizeof *can; n++) {
		if (strcmp(key, can[n].key))
			continue;
		i = parse_word(value, yes_no, 2);
		a->caps |= i == 1 ? can[n].bit : 0;
		return i < 0 ? i : 0;
	}
	return strcmp(key, "protocol") || !strcmp(value, "1") ? 0 : -EBADMSG;
}

/* cold=yes, why=TEXT */
static int parse_started(struct act_answer *a, const char *key, const char *value)
{
	static const char *const yes_no[] = {"no", "yes"};
	int i;

	if (!strcmp(key, "why"))
		answer_line(a, "%s", value);
	if (strcmp(key, "cold"))
		return 0;
	i = parse_word(value, yes_no, 2);
	a->flags |= i == 1 ? ACT_FLAG_COLD : 0;
	return i < 0 ? i : 0;
}

static int parse_place(struct act_answer *a, const char *key, const char *value)
{
	if (!strcmp(key, "cgroup"))
		return parse_cgroup(a, value);
	return strcmp(key, "tree") ? 0 : parse_process(value, &a->tree);
}

static int parse_create(struct act_answer *a, const char *key, const char *value)
{
	int r = parse_started(a, key, value);

	return r < 0 ? r : parse_place(a, key, value);
}

static int parse_stat(struct act_answer *a, const char *key, const char *value)
{
	if (!strcmp(key, "state"))
		return parse_state(value, &a->state);
	if (!strcmp(key, "cpu_usec"))
		return parse_number(value, INT64_MAX, &a->cpu_usec);
	if (!strcmp(key, "memory"))
		return parse_number(value, INT64_MAX, &a->memory);
	if (!strcmp(key, "net_bytes"))
		return parse_number(value, INT64_MAX, &a->net_bytes);
	return parse_place(a, key, value);
}

static int parse_hibernate(struct act_answer *a, const char *key, const char *value)
{
	if (strcmp(key, "hibernated"))
		return 0;
	if (parse_state(value, &a->state) < 0 || (a->state != ACT_ST_FROZEN && a->state != ACT_ST_DISK))
		return -EBADMSG;
	return 0;
}

static int parse_list(struct act_answer *a, const char *key, const char *value)
{
	struct act_answer one = *a;

	return strcmp(key, "workload") ? -EBADMSG : parse_workload(value, &one);
}

static int parse_enter(struct act_answer *a, const char *key, const char *value)
{
	return strcmp(key, "word") ? 0 : parse_argv_word(a, value);
}

/* What each verb's answer is made of: the reader of one line, and the key that has to be there. An unknown
 * key says nothing to us. */
static const struct {
	int (*line)(struct act_answer *, const char *key, const char *value);
	const char *must;
} verbs[ACT_VERBS] = {
    [ACT_CAPABILITIES] = {parse_capability, "protocol"},
    [ACT_CREATE] = {parse_create, NULL},
    [ACT_STAT] = {parse_stat, "state"},
    [ACT_HIBERNATE] = {parse_hibernate, "hibernated"},
    [ACT_RESUME] = {parse_create, NULL},
    [ACT_LIST] = {parse_list, NULL},
    [ACT_ENTER] = {parse_enter, NULL},
};

static int wrong(struct act_answer *a, const char *what, const char *text)
{
	/* Nothing of a wrong answer is passed on. */
	memset(a->cgroup, 0, sizeof a->cgroup);
	memset(a->argv, 0, sizeof a->argv);
	a->state = ACT_ST_UNSAID;
	a->caps = a->flags = 0;
	a->cpu_usec = a->memory = a->net_bytes = -1;
	a->tree = (struct lease_process){0};
	a->outcome = ACT_FAILED;
	answer_line(a, "wrong answer to %s: %s%s", act_verb_name(a->verb), what, text);
	return -EBADMSG;
}

int answer_parse(struct act_answer *a, const char *out, size_t len)
{
	char line[LINE_MAX_BYTES];
	bool found = false;
	size_t at = 0;
	int r;

	if (a->verb >= ACT_VERBS || !verbs[a->verb].line)
		return 0;
	while ((r = next_line(out, len, &at, line)) > 0) {
		char *eq = strchr(line, '=');

		if (!eq)
			return wrong(a, "no key=value: ", line);
		*eq = '\0';
		r = verbs[a->verb].line(a, line, eq + 1);
		found = found || (verbs[a->verb].must && !strcmp(line, verbs[a->verb].must));
		*eq = '=';
		if (r < 0)
			return wrong(a, "", line);
	}
	if (r < 0)
		return wrong(a, "a line too long, or a byte that is no text", "");
	if (verbs[a->verb].must && !found)
		return wrong(a, verbs[a->verb].must, "= is missing");
	return 0;
}

int answer_next_workload(struct act_answer *a, const struct act_request *r, const char *out, size_t len,
			 size_t *at)
{
	char line[LINE_MAX_BYTES];

	if (next_line(out, len, at, line) <= 0)
		return 0;
	answer_begin(a, r, ACT_DONE);
	a->more = 1;
	return parse_workload(strchr(line, '=') + 1, a) == 0;
}
