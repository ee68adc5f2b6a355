#include "config.h"

#include <errno.h>
#include <string.h>

#include "lease/duration.h"
#include "lease/error.h"
#include "lease/record.h"
#include "lease/text.h"

enum key {
	KEY_ID,
	KEY_SURFACE,
	KEY_SESSION,
	KEY_PROFILE,
	KEY_RUNTIME,
	KEY_TTL,
	KEY_LINGER,
	KEY_USAGE,
	KEY_PRIORITY,
	KEY_PID,
	KEY_PID_START,
	KEY_LEADER,
	KEY_LEADER_START,
	KEY_WAITER,
	KEY_WAITER_START,
	KEY_BOOT,
	KEY_RUN,
	KEY_KIND,
	KEY_LABEL,
	KEY_MAX,
};

/* Arrays, not pointers: no relocation, so the tables stay in read-only memory of a shared object too. */
static const char key_names[KEY_MAX][16] = {
    [KEY_ID] = "id",
    [KEY_SURFACE] = "surface",
    [KEY_SESSION] = "session",
    [KEY_PROFILE] = "profile",
    [KEY_RUNTIME] = "runtime",
    [KEY_TTL] = "ttl",
    [KEY_LINGER] = "linger",
    [KEY_USAGE] = "usage",
    [KEY_PRIORITY] = "priority",
    [KEY_PID] = "pid",
    [KEY_PID_START] = "pid_start",
    [KEY_LEADER] = "leader",
    [KEY_LEADER_START] = "leader_start",
    [KEY_WAITER] = "waiter",
    [KEY_WAITER_START] = "waiter_start",
    [KEY_BOOT] = "boot",
    [KEY_RUN] = "run",
    [KEY_KIND] = "kind",
    [KEY_LABEL] = "label",
};

static const char usage_names[][12] = {
    [LEASE_USAGE_UNSET] = "",
    [LEASE_USAGE_EXPLICIT] = "explicit",
    [LEASE_USAGE_OBSERVED] = "observed",
    [LEASE_USAGE_HYBRID] = "hybrid",
};
#define N_USAGES (sizeof(usage_names) / sizeof(usage_names[0]))

void lease_record_init(struct lease_record *r)
{
	memset(r, 0, sizeof(*r));
	r->linger = -1;
	r->priority = -1;
}

bool lease_word_valid(const char *s)
{
	size_t n = 0;

	if (!lease_is_lower(s[0]))
		return false;
	while (n < LEASE_WORD_SIZE &&
	       (lease_is_lower(s[n]) || lease_is_digit(s[n]) || s[n] == '_' || s[n] == '-'))
		n++;
	return n < LEASE_WORD_SIZE && s[n] == '\0';
}

bool lease_label_valid(const char *s)
{
	const size_t key_max = 31;
	size_t n = 0;

	if (!lease_is_lower(s[0]))
		return false;
	while (lease_is_lower(s[n]) || lease_is_digit(s[n]) || s[n] == '_' || s[n] == '.' || s[n] == '-')
		n++;
	if (n > key_max || s[n] != '=')
		return false;
	while (n < LEASE_LABEL_SIZE && s[n] != '\0' && !lease_is_control(s[n]))
		n++;
	return n < LEASE_LABEL_SIZE && s[n] == '\0';
}

const char *lease_usage_name(enum lease_usage u)
{
	return (size_t)u < N_USAGES ? usage_names[u] : "";
}

int lease_usage_parse(const char *s, enum lease_usage *ret)
{
	for (size_t i = LEASE_USAGE_EXPLICIT; i < N_USAGES; i++) {
		if (strcmp(s, usage_names[i]) == 0) {
			*ret = (enum lease_usage)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* As the kernel prints it; any other spelling of the same number would never compare equal. */
static bool boot_valid(const char *s)
{
	for (size_t i = 0; i < LEASE_BOOT_SIZE - 1; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : !lease_is_digit(s[i]) && !(s[i] >= 'a' && s[i] <= 'f'))
			return false;
	}
	return s[LEASE_BOOT_SIZE - 1] == '\0';
}

/* The caller has checked that it fits: a value that is valid is never longer than its field. */
static void copy(char *field, const char *value)
{
	memcpy(field, value, strlen(value) + 1);
}

static int set_pid(int32_t *pid, const struct lease_pair *kv, struct lease_error *err)
{
	uint64_t n;

	if (lease_text_number(kv->value, INT32_MAX, &n) < 0 || n == 0)
		return lease_error_set(err, kv->line, "bad ", kv->key,
				       ": the number of a process, from 1 up");
	*pid = (int32_t)n;
	return 0;
}

static int set_start(uint64_t *start, const struct lease_pair *kv, struct lease_error *err)
{
	if (lease_text_number(kv->value, INT64_MAX, start) < 0)
		return lease_error_set(
		    err, kv->line, "bad ", kv->key,
		    ": the start time in clock ticks since boot, field 22 of /proc/PID/stat");
	return 0;
}

static int set_duration(int64_t *ns, const struct lease_pair *kv, struct lease_error *err)
{
	switch (lease_duration_parse(kv->value, ns)) {
	case 0:
		return 0;
	case -ERANGE:
		return lease_error_set(err, kv->line, kv->key, " is too long: at most 3650d", "");
	default:
		return lease_error_set(err, kv->line, "bad ", kv->key,
				       ": a number and a unit, such as 800ms 90s 5m 2h 7d");
	}
}

static int set_priority(int *priority, const struct lease_pair *kv, struct lease_error *err)
{
	uint64_t n;

	if (lease_text_number(kv->value, 9, &n) < 0)
		return lease_error_set(err, kv->line, "bad priority: a number from 0 to 9 (kept longest)", "",
				       "");
	*priority = (int)n;
	return 0;
}

static int set_run(bool *run, const struct lease_pair *kv, struct lease_error *err)
{
	*run = strcmp(kv->value, "yes") == 0;
	if (!*run && strcmp(kv->value, "no") != 0)
		return lease_error_set(err, kv->line, "bad run: yes or no", "", "");
	return 0;
}

static int set_kind(bool *is_session, const struct lease_pair *kv, struct lease_error *err)
{
	*is_session = strcmp(kv->value, "session") == 0;
	if (!*is_session && strcmp(kv->value, "workload") != 0)
		return lease_error_set(err, kv->line, "bad kind: session or workload", "", "");
	return 0;
}

static int add_label(struct lease_record *r, const struct lease_pair *kv, struct lease_error *err)
{
	if (!lease_label_valid(kv->value))
		return lease_error_set(err, kv->line, "bad label: name=text, at most 127 bytes; ",
				       "a name is 1-31 of a-z 0-9 _ . - and begins with a letter", "");
	if (r->n_labels == LEASE_LABELS_MAX)
		return lease_error_set(err, kv->line, "one label too many: at most 16", "", "");
	copy(r->labels[r->n_labels++], kv->value);
	return 0;
}

static int set_id(char *id, const struct lease_pair *kv, struct lease_error *err)
{
	if (!lease_id_valid(kv->value))
		return lease_error_set(err, kv->line, "bad ", kv->key,
				       ": kls- and ten characters of a-z 2-7");
	copy(id, kv->value);
	return 0;
}

static int set_word(char *word, const struct lease_pair *kv, struct lease_error *err)
{
	if (!lease_word_valid(kv->value))
		return lease_error_set(err, kv->line, "bad ", kv->key,
				       ": 1-32 of a-z 0-9 _ -, beginning with a letter");
	copy(word, kv->value);
	return 0;
}

static int set(struct lease_record *r, enum key key, const struct lease_pair *kv, struct lease_error *err)
{
	int e;

	switch (key) {
	case KEY_ID:
		return set_id(r->id, kv, err);
	case KEY_SURFACE:
		if (!lease_surface_valid(kv->value))
			return lease_error_set(err, kv->line, "bad surface: 1-32 of A-Z a-z 0-9 _ . -, ",
					       "beginning with a letter or digit", "");
		copy(r->surface, kv->value);
		return 0;
	case KEY_SESSION:
		return set_id(r->session, kv, err);
	case KEY_PROFILE:
		return set_word(r->profile, kv, err);
	case KEY_RUNTIME:
		return set_word(r->runtime, kv, err);
	case KEY_TTL:
		e = set_duration(&r->ttl, kv, err);
		if (e == 0 && lease_ttl_check(r->ttl, 0, LEASE_NEVER, &r->ttl) == LEASE_TTL_ZERO)
			return lease_error_set(err, kv->line, "bad ttl: a ttl must be longer than 0", "", "");
		return e;
	case KEY_LINGER:
		return set_duration(&r->linger, kv, err);
	case KEY_USAGE:
		if (lease_usage_parse(kv->value, &r->usage) < 0)
			return lease_error_set(err, kv->line, "bad usage: explicit, observed or hybrid", "",
					       "");
		return 0;
	case KEY_PRIORITY:
		return set_priority(&r->priority, kv, err);
	case KEY_PID:
		return set_pid(&r->workload.pid, kv, err);
	case KEY_PID_START:
		return set_start(&r->workload.start, kv, err);
	case KEY_LEADER:
		return set_pid(&r->leader.pid, kv, err);
	case KEY_LEADER_START:
		return set_start(&r->leader.start, kv, err);
	case KEY_WAITER:
		return set_pid(&r->waiter.pid, kv, err);
	case KEY_WAITER_START:
		return set_start(&r->waiter.start, kv, err);
	case KEY_BOOT:
		if (!boot_valid(kv->value))
			return lease_error_set(
			    err, kv->line,
			    "bad boot: what /proc/sys/kernel/random/boot_id says, a uuid in small letters",
			    "", "");
		copy(r->boot, kv->value);
		return 0;
	case KEY_RUN:
		return set_run(&r->run, kv, err);
	case KEY_KIND:
		return set_kind(&r->is_session, kv, err);
	case KEY_LABEL:
		return add_label(r, kv, err);
	case KEY_MAX:
		break;
	}
	return lease_error_set(err, kv->line, "unknown key ", kv->key, ": notices(5) has the list");
}

static enum key find_key(const char *name)
{
	size_t i = 0;

	while (i < KEY_MAX && strcmp(name, key_names[i]) != 0)
		i++;
	return (enum key)i;
}

/* A process needs all three of number, start time and boot: each alone may name another process. */
static int check_process(const int line[KEY_MAX], enum key pid, enum key start, struct lease_error *err)
{
	if (line[pid] && !line[start])
		return lease_error_set(err, line[pid], key_names[pid], " without its start time: say too ",
				       key_names[start]);
	if (line[start] && !line[pid])
		return lease_error_set(err, line[start], key_names[start], " without the process: say too ",
				       key_names[pid]);
	if (line[pid] && !line[KEY_BOOT])
		return lease_error_set(err, line[pid], key_names[pid],
				       " without the boot it belongs to: say too boot", "");
	return 0;
}

int lease_record_parse(const char *buf, size_t len, struct lease_record *ret, struct lease_error *err)
{
	int line[KEY_MAX] = {0}; /* where a key stands, 0 = nowhere */
	struct lease_record r;
	struct lease_pair pair;
	struct lease_kv kv;
	int e;

	lease_record_init(&r);
	e = lease_kv_begin(&kv, buf, len, LEASE_FILE_MAX, err);
	if (e < 0)
		return e;
	while ((e = lease_kv_next(&kv, &pair, err)) > 0) {
		enum key key = find_key(pair.key);

		if (key != KEY_MAX && key != KEY_LABEL && line[key])
			return lease_error_set(err, pair.line, pair.key,
					       " is said twice: only label may repeat", "");
		e = set(&r, key, &pair, err);
		if (e < 0)
			return e;
		line[key] = pair.line;
	}
	if (e < 0)
		return e;
	if ((e = check_process(line, KEY_PID, KEY_PID_START, err)) < 0 ||
	    (e = check_process(line, KEY_LEADER, KEY_LEADER_START, err)) < 0 ||
	    (e = check_process(line, KEY_WAITER, KEY_WAITER_START, err)) < 0)
		return e;
	memcpy(ret, &r, sizeof(r));
	return 0;
}

static void out_word(struct lease_kv_out *o, enum key key, const char *value)
{
	if (*value)
		lease_kv_out_str(o, key_names[key], value);
}

static void out_process(struct lease_kv_out *o, enum key pid, enum key start, const struct lease_process *p)
{
	if (!p->pid)
		return;
	lease_kv_out_int(o, key_names[pid], p->pid);
	/* What does not fit comes out negative, and the reading back below refuses it. */
	lease_kv_out_int(o, key_names[start], (long long)p->start);
}

static void out_duration(struct lease_kv_out *o, enum key key, int64_t ns)
{
	char text[LEASE_DURATION_SIZE];

	lease_duration_format(text, ns);
	lease_kv_out_str(o, key_names[key], text);
}

int lease_record_format(const struct lease_record *r, char *buf, size_t size, size_t *ret_len)
{
	struct lease_record again;
	struct lease_error err;
	struct lease_kv_out o;
	size_t len;
	int e;

	if (r->linger < -1 || r->priority < -1 || (size_t)r->usage >= N_USAGES || r->n_labels < 0 ||
	    r->n_labels > LEASE_LABELS_MAX)
		return -EINVAL;
	lease_kv_out_begin(&o, buf, size);
	out_word(&o, KEY_ID, r->id);
	out_word(&o, KEY_SURFACE, r->surface);
	out_word(&o, KEY_SESSION, r->session);
	out_word(&o, KEY_PROFILE, r->profile);
	out_word(&o, KEY_RUNTIME, r->runtime);
	if (r->ttl)
		out_duration(&o, KEY_TTL, r->ttl);
	if (r->linger != -1)
		out_duration(&o, KEY_LINGER, r->linger);
	out_word(&o, KEY_USAGE, lease_usage_name(r->usage));
	if (r->priority != -1)
		lease_kv_out_int(&o, key_names[KEY_PRIORITY], r->priority);
	out_process(&o, KEY_PID, KEY_PID_START, &r->workload);
	out_process(&o, KEY_LEADER, KEY_LEADER_START, &r->leader);
	out_process(&o, KEY_WAITER, KEY_WAITER_START, &r->waiter);
	out_word(&o, KEY_BOOT, r->boot);
	if (r->run)
		lease_kv_out_str(&o, key_names[KEY_RUN], "yes");
	if (r->is_session)
		lease_kv_out_str(&o, key_names[KEY_KIND], "session");
	for (int i = 0; i < r->n_labels; i++)
		lease_kv_out_str(&o, key_names[KEY_LABEL], r->labels[i]);
	e = lease_kv_out_end(&o, &len);
	if (e < 0)
		return e;
	if (len > LEASE_FILE_MAX)
		return -ENOSPC;
	/* The one rule book is the parser's: what it would refuse is not written. */
	if (lease_record_parse(buf, len, &again, &err) < 0)
		return -EINVAL;
	*ret_len = len;
	return 0;
}
