#include "core/view.h"

#include <errno.h>
#include <string.h>

#include "core/fields.h"
#include "lease/duration.h"
#include "lease/text.h"

static int64_t to_ms(int64_t ns)
{
	return ns / LEASE_NS_PER_MS;
}

/* The wall time, in ms, of an instant on the mono clock. */
static int64_t wall_ms(int64_t mono, int64_t now, int64_t wall)
{
	return to_ms(wall - (now - mono));
}

static void warning(const struct lease *l, int64_t now, char buf[LEASE_WHY_SIZE])
{
	struct lease_text t;
	char left[LEASE_DURATION_SIZE];

	lease_text_begin(&t, buf, LEASE_WHY_SIZE);
	if (!l->warned || !state_living(l->state))
		return;
	lease_duration_human(left, lease_expires(l) - now);
	lease_text_add(&t, "expires in ");
	lease_text_add(&t, left);
	lease_text_add(&t, " unless it is renewed");
}

void view_of(const struct lease *l, int64_t now, int64_t wall, const char *held, struct view *v)
{
	int64_t expires = lease_expires(l);
	bool living = state_living(l->state);

	*v = (struct view){ 0 };
	fields_copy(v->id, sizeof(v->id), l->id);
	fields_copy(v->session, sizeof(v->session), l->record.session);
	fields_copy(v->lock, sizeof(v->lock), l->name);
	fields_copy(v->user, sizeof(v->user), l->user);
	fields_copy(v->surface, sizeof(v->surface), l->record.surface);
	fields_copy(v->runtime, sizeof(v->runtime), l->policy.runtime);
	fields_copy(v->profile, sizeof(v->profile), l->record.profile);
	fields_copy(v->state, sizeof(v->state), state_public(l->state));
	if (l->state == ST_HIBERNATED || l->state == ST_RESUMING)
		fields_copy(v->hibernated, sizeof(v->hibernated), l->disk ? "disk" : "frozen");
	fields_copy(v->usage, sizeof(v->usage), lease_usage_name(l->policy.usage));
	v->generation = l->generation;
	v->requester = l->uid;
	v->priority = l->policy.priority;
	v->leader = l->record.leader.pid;
	v->run = l->record.run;
	v->ttl = l->policy.ttl;
	v->renew_grace = l->policy.renew_grace;
	v->linger = l->policy.linger;
	v->created_at = to_ms(l->created_wall);
	v->since = to_ms(l->since_wall);
	v->expires_at = living && expires != LEASE_NEVER ? wall_ms(expires, now, wall) : 0;
	v->last_beat = to_ms(l->last_beat_wall);
	v->last_use = living ? wall_ms(l->used, now, wall) : 0;
	v->mtime = l->mtime;
	fields_copy(v->renewed_by, sizeof(v->renewed_by), living ? lease_renewed_by(l) : "");
	fields_copy(v->why, sizeof(v->why), l->why);
	if (living)
		lease_signals(l, now, v->signals);
	warning(l, now, v->warning);
	fields_copy(v->held, sizeof(v->held), held);
	v->n_labels = l->record.n_labels;
	memcpy(v->labels, l->record.labels, sizeof(v->labels));
}

static void put_duration(struct lease_kv_out *o, const char *key, int64_t ns)
{
	char buf[LEASE_DURATION_SIZE];

	lease_duration_format(buf, ns);
	lease_kv_out_str(o, key, buf);
}

static void put_step(struct lease_kv_out *o, const struct view_step *s)
{
	char buf[80 + LEASE_WHY_SIZE]; /* two numbers of 20 digits, two words of 15, and the blanks */
	struct lease_text t;

	lease_text_begin(&t, buf, sizeof(buf));
	lease_text_add_number(&t, s->seq);
	lease_text_add(&t, " ");
	lease_text_add_number(&t, (uint64_t)(s->at > 0 ? s->at : 0));
	lease_text_add(&t, " ");
	lease_text_add(&t, s->from);
	lease_text_add(&t, " ");
	lease_text_add(&t, s->to);
	lease_text_add(&t, " ");
	lease_text_add(&t, s->why);
	lease_kv_out_str(o, "history", buf);
}

/* The fields that are plain text or numbers, once, for writer and reader. */
#define TEXTS(X)                                                                                             \
	X(id) X(state) X(hibernated) X(user) X(surface) X(session) X(runtime) X(profile) X(lock) X(usage)   \
	X(renewed_by) X(why) X(signals) X(warning) X(held) X(degraded) X(can) X(cold)
#define NUMBERS(X)                                                                                           \
	X(generation) X(requester) X(priority) X(leader) X(created_at) X(since) X(expires_at) X(last_beat)   \
	X(last_use) X(mtime)
#define DURATIONS(X) X(ttl) X(renew_grace) X(linger)

int view_format(const struct view *v, char *buf, size_t size, size_t *ret_len)
{
	struct lease_kv_out o;

	lease_kv_out_begin(&o, buf, size);
#define X(f)                                                                                                 \
	if (v->f[0])                                                                                         \
		lease_kv_out_str(&o, #f, v->f);
	TEXTS(X)
#undef X
#define X(f)                                                                                                 \
	if (v->f)                                                                                            \
		lease_kv_out_int(&o, #f, (long long)v->f);
	NUMBERS(X)
#undef X
#define X(f) put_duration(&o, #f, v->f);
	DURATIONS(X)
#undef X
	if (v->run)
		lease_kv_out_str(&o, "run", "yes");
	for (int i = 0; i < v->n_labels; i++)
		lease_kv_out_str(&o, "label", v->labels[i]);
	for (int i = 0; i < v->n_history; i++)
		put_step(&o, &v->history[i]);
	return lease_kv_out_end(&o, ret_len);
}

/* "0s" is a duration here: a linger of none. */
static int get_duration(const struct lease_pair *p, int64_t *ret, struct lease_error *err)
{
	if (strcmp(p->value, "never") == 0)
		*ret = LEASE_NEVER;
	else if (lease_duration_parse(p->value, ret) < 0)
		return fields_bad(err, p->line, "not a duration such as 90s or 5m");
	return 0;
}

/* Cuts the next blank-ended word off *p. */
static void word(const char **p, char *to, size_t size)
{
	size_t n = strcspn(*p, " ");
	size_t keep = n < size ? n : size - 1;

	memcpy(to, *p, keep);
	to[keep] = '\0';
	*p += n + ((*p)[n] == ' ');
}

static int get_step(struct view *v, const struct lease_pair *pair, struct lease_error *err)
{
	struct view_step s = { 0 };
	const char *p = pair->value;
	char seq[24], at[24];
	uint64_t n;

	word(&p, seq, sizeof(seq));
	word(&p, at, sizeof(at));
	if (lease_text_number(seq, UINT64_MAX, &s.seq) < 0 || lease_text_number(at, INT64_MAX, &n) < 0)
		return fields_bad(err, pair->line, "history needs a number and a time in ms first");
	s.at = (int64_t)n;
	word(&p, s.from, sizeof(s.from));
	word(&p, s.to, sizeof(s.to));
	fields_copy(s.why, sizeof(s.why), p);
	view_step_add(v, &s);
	return 0;
}

/* A lock may say that it was touched before 1970; a uid may need all of its 32 bits. */
static int get_number(const struct lease_pair *p, bool is_signed, size_t size, int64_t *ret, struct lease_error *err)
{
	uint64_t max = size == sizeof(int32_t) ? (is_signed ? INT32_MAX : UINT32_MAX) : INT64_MAX, n;
	bool minus = is_signed && p->value[0] == '-';

	if (lease_text_number(p->value + minus, max + minus, &n) < 0)
		return fields_bad(err, p->line, "not a number in range");
	*ret = minus ? (int64_t)(0 - n) : (int64_t)n;
	return 0;
}

static int view_take(void *what, const struct lease_pair *p, struct lease_error *err)
{
	struct view *v = what;
	int64_t n;

#define X(f)                                                                                                 \
	if (strcmp(p->key, #f) == 0) {                                                                       \
		fields_copy(v->f, sizeof(v->f), p->value);                                                          \
		return 0;                                                                                    \
	}
	TEXTS(X)
#undef X
#define X(f)                                                                                                 \
	if (strcmp(p->key, #f) == 0) {                                                                       \
		if (get_number(p, (__typeof__(v->f))-1 < 1, sizeof(v->f), &n, err) < 0)                      \
			return -EINVAL;                                                                      \
		v->f = (__typeof__(v->f))n;                                                                  \
		return 0;                                                                                    \
	}
	NUMBERS(X)
#undef X
#define X(f)                                                                                                 \
	if (strcmp(p->key, #f) == 0)                                                                         \
		return get_duration(p, &v->f, err);
	DURATIONS(X)
#undef X
	if (strcmp(p->key, "run") == 0)
		v->run = strcmp(p->value, "yes") == 0;
	else if (strcmp(p->key, "history") == 0)
		return get_step(v, p, err);
	else if (strcmp(p->key, "label") == 0 && v->n_labels < LEASE_LABELS_MAX && lease_label_valid(p->value))
		fields_copy(v->labels[v->n_labels++], LEASE_LABEL_SIZE, p->value);
	return 0; /* a key of a newer daemon: shown by a newer klease */
}

int view_parse(const char *buf, size_t len, struct view *ret, struct lease_error *err)
{
	struct view v = { 0 };
	int r = fields_read(buf, len, LEASE_STATE_FILE_MAX, &v, err, view_take);

	if (r < 0)
		return r;
	if (!lease_id_valid(v.id))
		return fields_bad(err, 0, "no id");
	*ret = v;
	return 0;
}

void view_step_add(struct view *v, const struct view_step *s)
{
	if (v->n_history == VIEW_HISTORY) {
		memmove(&v->history[0], &v->history[1], sizeof(v->history[0]) * (VIEW_HISTORY - 1));
		v->n_history--;
	}
	v->history[v->n_history++] = *s;
}

bool view_living(const struct view *v)
{
	static const enum state over[] = { ST_DENIED, ST_EXPIRED, ST_ROLLBACK, ST_REAPED };

	for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++)
		if (strcmp(v->state, state_public(over[i])) == 0)
			return false;
	return true;
}

void view_refresh(struct view *v, int64_t mtime)
{
	int64_t at = to_ms(mtime);

	/* Only what still lives can be renewed, and a stamp that was seen already says nothing new. */
	if (mtime == v->mtime || at <= v->last_beat || !view_living(v))
		return;
	v->mtime = mtime;
	v->last_beat = at;
	/* Where use is observed a beat is none. */
	if (at > v->last_use && strcmp(v->usage, lease_usage_name(LEASE_USAGE_OBSERVED)) != 0)
		v->last_use = at;
	if (v->expires_at != 0) {
		v->expires_at = at + to_ms(v->ttl);
		fields_copy(v->renewed_by, sizeof(v->renewed_by), "own beat");
	}
}
