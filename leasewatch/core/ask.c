#include <errno.h>
#include <string.h>

#include "core/fields.h"
#include "core/view.h"
#include "lease/duration.h"

static const char *const verbs[ASK_VERBS] = {
	[ASK_NONE] = "",	   [ASK_EXEC] = "exec",	  [ASK_RESUME] = "resume",
	[ASK_HIBERNATE] = "hibernate", [ASK_RENEW] = "renew", [ASK_HOLD] = "hold",
	[ASK_UNHOLD] = "unhold",   [ASK_BREAKER_RELEASE] = "breaker-release",
};

const char *ask_verb_name(enum ask_verb v)
{
	return v < ASK_VERBS ? verbs[v] : "";
}

static int take_pid(const struct lease_pair *p, int32_t *ret, struct lease_error *err)
{
	uint64_t n;

	if (fields_number(p, INT32_MAX, &n, err) < 0)
		return -EINVAL;
	*ret = (int32_t)n;
	return 0;
}

/* --- the answer --- */

int ask_answer_format(const struct ask_answer *a, char *buf, size_t size, size_t *ret_len)
{
	struct lease_kv_out o;

	lease_kv_out_begin(&o, buf, size);
	lease_kv_out_str(&o, "result", a->result);
	lease_kv_out_str(&o, "what", a->what);
	for (int i = 0; i < a->n_words; i++)
		lease_kv_out_str(&o, "word", a->words[i]);
	if (a->porter)
		lease_kv_out_str(&o, "porter", "yes");
	return lease_kv_out_end(&o, ret_len);
}

static int take_answer(void *what, const struct lease_pair *p, struct lease_error *err)
{
	struct ask_answer *a = what;

	if (strcmp(p->key, "result") == 0)
		fields_copy(a->result, sizeof(a->result), p->value);
	else if (strcmp(p->key, "what") == 0)
		fields_copy(a->what, sizeof(a->what), p->value);
	else if (strcmp(p->key, "porter") == 0)
		a->porter = strcmp(p->value, "yes") == 0;
	else if (strcmp(p->key, "word") == 0) {
		if (a->n_words == ASK_WORDS || strlen(p->value) >= sizeof(a->words[0]))
			return fields_bad(err, p->line, "too many words, or too long a one");
		fields_copy(a->words[a->n_words++], sizeof(a->words[0]), p->value);
	}
	return 0;
}

int ask_answer_parse(const char *buf, size_t len, struct ask_answer *ret, struct lease_error *err)
{
	struct ask_answer a = { 0 };
	int r = fields_read(buf, len, LEASE_FILE_MAX, &a, err, take_answer);

	if (r == 0)
		*ret = a;
	return r;
}

/* --- the ask --- */

int ask_format(const struct ask *a, char *buf, size_t size, size_t *ret_len)
{
	struct lease_kv_out o;
	char ttl[LEASE_DURATION_SIZE];

	lease_kv_out_begin(&o, buf, size);
	lease_kv_out_str(&o, "verb", ask_verb_name(a->verb));
	if (a->lease[0])
		lease_kv_out_str(&o, "lease", a->lease);
	if (a->ttl) {
		lease_duration_format(ttl, a->ttl);
		lease_kv_out_str(&o, "ttl", ttl);
	}
	if (a->process.pid) {
		lease_kv_out_int(&o, "pid", a->process.pid);
		lease_kv_out_int(&o, "pid_start", (long long)a->process.start);
		lease_kv_out_str(&o, "boot", a->boot);
	}
	if (a->tty)
		lease_kv_out_str(&o, "tty", "yes");
	return lease_kv_out_end(&o, ret_len);
}

static int take_ask(void *what, const struct lease_pair *p, struct lease_error *err)
{
	struct ask *a = what;

	if (strcmp(p->key, "verb") == 0) {
		a->verb = ASK_NONE;
		for (int v = ASK_NONE + 1; v < ASK_VERBS; v++)
			if (strcmp(verbs[v], p->value) == 0)
				a->verb = (enum ask_verb)v;
		return a->verb ? 0 : fields_bad(err, p->line, "verb: exec, resume, hibernate, renew, hold, unhold or "
							      "breaker-release");
	}
	if (strcmp(p->key, "lease") == 0) {
		if (!lease_id_valid(p->value))
			return fields_bad(err, p->line, "lease: an id such as kls-abcdefghij");
		fields_copy(a->lease, sizeof(a->lease), p->value);
		return 0;
	}
	if (strcmp(p->key, "ttl") == 0)
		return lease_duration_parse(p->value, &a->ttl) < 0 ||
				       lease_ttl_check(a->ttl, 0, LEASE_NEVER, &a->ttl) == LEASE_TTL_ZERO
			   ? fields_bad(err, p->line, "ttl: a duration longer than 0, such as 5m")
			   : 0;
	if (strcmp(p->key, "pid") == 0)
		return take_pid(p, &a->process.pid, err);
	if (strcmp(p->key, "pid_start") == 0)
		return fields_number(p, INT64_MAX, &a->process.start, err);
	if (strcmp(p->key, "boot") == 0) {
		fields_copy(a->boot, sizeof(a->boot), p->value);
		return 0;
	}
	if (strcmp(p->key, "tty") == 0) {
		a->tty = strcmp(p->value, "yes") == 0;
		return a->tty || strcmp(p->value, "no") == 0 ? 0 : fields_bad(err, p->line, "tty: yes or no");
	}
	return fields_bad(err, p->line, "unknown key: verb, lease, ttl, pid, pid_start, boot or tty");
}

int ask_parse(const char *buf, size_t len, struct ask *ret, struct lease_error *err)
{
	struct ask a = { 0 };
	int r = fields_read(buf, len, LEASE_FILE_MAX, &a, err, take_ask);

	if (r < 0)
		return r;
	if (a.verb == ASK_NONE)
		return fields_bad(err, 0, "no verb");
	if (!a.lease[0] && a.verb != ASK_HOLD && a.verb != ASK_UNHOLD && a.verb != ASK_BREAKER_RELEASE)
		return fields_bad(err, 0, "this verb needs lease=ID");
	if (a.verb == ASK_EXEC && (a.process.pid <= 1 || a.process.start == 0 || !a.boot[0]))
		return fields_bad(err, 0, "exec needs pid=, pid_start= and boot=");
	*ret = a;
	return 0;
}
