#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/rest.h"
#include "lease/duration.h"
#include "store/registry-row.h"

enum kind { K_REST, K_TEXT, K_BOOL, K_INT, K_U32, K_U64, K_I64, K_DURATION, K_STATE, K_USAGE, K_RECORD };

struct column {
	const char *name;
	enum kind kind;
	size_t offset, size;
};

#define COLUMN(column, kind, field) { column, kind, offsetof(struct lease, field), sizeof(((struct lease *)0)->field) }

/*
 * K_REST: see rest_fields below. What a start reads comes first: SQLite finds a column by going through those before it.
 * K_DURATION: NULL in the table is LEASE_NEVER here. K_U64: the same 64 bits, since SQLite's integers have a
 * sign.
 */
static const struct column columns[] = {
	COLUMN("id", K_TEXT, id),
	COLUMN("lock", K_TEXT, name),
	{ "rest", K_REST, 0, 0 },
	COLUMN("user", K_TEXT, user),
	COLUMN("uid", K_U32, uid),
	COLUMN("state", K_STATE, state),
	COLUMN("why", K_TEXT, why),
	COLUMN("generation", K_U64, generation),
	COLUMN("record", K_RECORD, record),
	COLUMN("runtime", K_TEXT, policy.runtime),
	COLUMN("usage", K_USAGE, policy.usage),
	COLUMN("priority", K_INT, policy.priority),
	COLUMN("max_priority", K_INT, policy.max_priority),
	COLUMN("cpu_floor_ppm", K_I64, policy.cpu_floor_ppm),
	COLUMN("ttl_ns", K_DURATION, policy.ttl),
	COLUMN("renew_grace_ns", K_DURATION, policy.renew_grace),
	COLUMN("hibernate_after_ns", K_DURATION, policy.hibernate_after),
	COLUMN("warn_before_ns", K_DURATION, policy.warn_before),
	COLUMN("linger_ns", K_DURATION, policy.linger),
	COLUMN("min_ttl_ns", K_DURATION, policy.min_ttl),
	COLUMN("max_ttl_ns", K_DURATION, policy.max_ttl),
	COLUMN("max_lifetime_ns", K_DURATION, policy.max_lifetime),
	COLUMN("hibernated_retention_ns", K_DURATION, policy.hibernated_retention),
	COLUMN("dev", K_U64, dev),
	COLUMN("ino", K_U64, ino),
	COLUMN("mtime_ns", K_I64, mtime),
	COLUMN("created_mono_ns", K_I64, created),
	COLUMN("since_mono_ns", K_I64, since),
	COLUMN("renewed_mono_ns", K_I64, renewed),
	COLUMN("used_mono_ns", K_I64, used),
	COLUMN("restart_credit_ns", K_I64, restart_credit),
	COLUMN("created_wall_ns", K_I64, created_wall),
	COLUMN("since_wall_ns", K_I64, since_wall),
	COLUMN("last_beat_wall_ns", K_I64, last_beat_wall),
	COLUMN("work_ended_mono_ns", K_I64, work_ended),
	COLUMN("attempts", K_INT, attempts),
	COLUMN("disk", K_BOOL, disk),
	COLUMN("wanted", K_BOOL, wanted),
	COLUMN("lock_lost", K_BOOL, lock_lost),
	COLUMN("leader_alive", K_BOOL, leader_alive),
	COLUMN("warned", K_BOOL, warned),
	COLUMN("away_ns", K_I64, away),
	COLUMN("written_mono_ns", K_I64, written),
};
#define N_COLUMNS (int)(sizeof(columns) / sizeof(columns[0]))

/*
 * The column `rest`, of a lease that may rest (core/rest.h): a second copy of these numbers of its row, as 64-bit integers
 * of this host, for they mean something in one boot only. A start reads a hundred thousand of them in the time in which it
 * would read ten thousand whole rows. NULL: this lease does not rest, read the row.
 */
static const size_t rest_fields[] = {
#define REST(field) offsetof(struct lease, field)
	REST(dev), REST(ino), REST(mtime), REST(created), REST(since), REST(renewed), REST(used), REST(restart_credit),
	REST(since_wall), REST(last_beat_wall), REST(written), REST(away), REST(policy.ttl), REST(policy.renew_grace),
	REST(policy.warn_before), REST(policy.max_lifetime),
#undef REST
};
#define REST_FIELDS (int)(sizeof(rest_fields) / sizeof(rest_fields[0]))
/* Behind these: uid and usage. */
#define REST_NUMBERS (REST_FIELDS + 2)

static int add(char *sql, size_t *len, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int add(char *sql, size_t *len, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(sql + *len, ROW_SQL_SIZE - *len, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= ROW_SQL_SIZE - *len)
		return -ENOSPC;
	*len += (size_t)n;
	return 0;
}

int row_sql_put(char sql[ROW_SQL_SIZE])
{
	size_t len = 0;
	int r = add(sql, &len, "INSERT INTO lease(");

	for (int i = 0; r == 0 && i < N_COLUMNS; i++)
		r = add(sql, &len, "%s%s", i ? "," : "", columns[i].name);
	if (r == 0)
		r = add(sql, &len, ") VALUES(");
	for (int i = 0; r == 0 && i < N_COLUMNS; i++)
		r = add(sql, &len, "%s?%d", i ? "," : "", i + 1);
	if (r == 0)
		r = add(sql, &len, ") ON CONFLICT(id) DO UPDATE SET ");
	for (int i = 1; r == 0 && i < N_COLUMNS; i++)
		r = add(sql, &len, "%s%s=excluded.%s", i > 1 ? "," : "", columns[i].name, columns[i].name);
	return r;
}

int row_sql_load(char sql[ROW_SQL_SIZE], const char *where)
{
	size_t len = 0;
	int r = add(sql, &len, "SELECT ");

	for (int i = 0; r == 0 && i < N_COLUMNS; i++)
		r = add(sql, &len, "%s%s", i ? "," : "", columns[i].name);
	return r < 0 ? r : add(sql, &len, " FROM lease%s", where);
}

static int bind_text(sqlite3_stmt *st, int at, const char *s, size_t size)
{
	size_t len = strnlen(s, size);

	return len == size ? SQLITE_TOOBIG : sqlite3_bind_text(st, at, s, (int)len, SQLITE_STATIC);
}

static int bind_record(sqlite3_stmt *st, int at, const struct lease_record *record)
{
	char text[LEASE_FILE_MAX];
	size_t len;

	if (lease_record_format(record, text, sizeof(text), &len) < 0)
		return SQLITE_MISMATCH;
	return sqlite3_bind_text(st, at, text, (int)len, SQLITE_TRANSIENT);
}

static int bind_rest(sqlite3_stmt *st, int at, const struct lease *l)
{
	int64_t n[REST_NUMBERS];

	if (!rest_may(l))
		return sqlite3_bind_null(st, at);
	for (int i = 0; i < REST_FIELDS; i++)
		memcpy(&n[i], (const char *)l + rest_fields[i], sizeof(n[i]));
	n[REST_FIELDS] = l->uid;
	n[REST_FIELDS + 1] = l->policy.usage;
	return sqlite3_bind_blob(st, at, n, sizeof(n), SQLITE_TRANSIENT);
}

int row_read_rest(sqlite3_stmt *st, struct lease *l)
{
	const unsigned char *lock = sqlite3_column_text(st, 0);
	int len = sqlite3_column_bytes(st, 0);
	const void *rest = sqlite3_column_blob(st, 1);
	int64_t n[REST_NUMBERS];

	if (!lock || len >= (int)sizeof(l->name) || !rest || sqlite3_column_bytes(st, 1) != (int)sizeof(n))
		return -EBADMSG;
	memcpy(l->name, lock, (size_t)len + 1);
	const char *id = lease_name_lock_id(l->name);
	if (!id)
		return -EBADMSG;
	memcpy(l->id, id, sizeof(l->id));
	memcpy(n, rest, sizeof(n));
	for (int i = 0; i < REST_FIELDS; i++)
		memcpy((char *)l + rest_fields[i], &n[i], sizeof(n[i]));
	l->uid = (uint32_t)n[REST_FIELDS];
	l->policy.usage = (enum lease_usage)n[REST_FIELDS + 1];
	l->state = ST_ACTIVE;
	return 0;
}

static int bind_column(sqlite3_stmt *st, int at, const struct column *c, const struct lease *l)
{
	const char *field = (const char *)l + c->offset;
	int64_t i64;
	uint64_t u64;
	uint32_t u32;
	int i;
	bool b;

	switch (c->kind) {
	case K_REST:
		return bind_rest(st, at, l);
	case K_TEXT:
		return bind_text(st, at, field, c->size);
	case K_BOOL:
		memcpy(&b, field, sizeof(b));
		return sqlite3_bind_int(st, at, b);
	case K_INT:
		memcpy(&i, field, sizeof(i));
		return sqlite3_bind_int(st, at, i);
	case K_U32:
		memcpy(&u32, field, sizeof(u32));
		return sqlite3_bind_int64(st, at, u32);
	case K_U64:
		memcpy(&u64, field, sizeof(u64));
		return sqlite3_bind_int64(st, at, (int64_t)u64);
	case K_I64:
	case K_DURATION:
		memcpy(&i64, field, sizeof(i64));
		if (c->kind == K_DURATION && i64 == LEASE_NEVER)
			return sqlite3_bind_null(st, at);
		return sqlite3_bind_int64(st, at, i64);
	case K_STATE:
		return sqlite3_bind_text(st, at, state_name(l->state), -1, SQLITE_STATIC);
	case K_USAGE:
		return sqlite3_bind_text(st, at, lease_usage_name(l->policy.usage), -1, SQLITE_STATIC);
	case K_RECORD:
		return bind_record(st, at, &l->record);
	}
	return SQLITE_MISMATCH;
}

int row_bind(sqlite3_stmt *st, const struct lease *l)
{
	if (!lease_id_valid(l->id) || l->state <= ST_NONE || l->state >= ST_MAX || state_ended(l->state))
		return -EINVAL;
	for (int i = 0; i < N_COLUMNS; i++) {
		int rc = bind_column(st, i + 1, &columns[i], l);

		if (rc == SQLITE_NOMEM)
			return -ENOMEM;
		if (rc != SQLITE_OK)
			return -EINVAL;
	}
	return 0;
}

static const char *read_text(sqlite3_stmt *st, int at, char *field, size_t size)
{
	const unsigned char *s = sqlite3_column_text(st, at);
	size_t len = (size_t)sqlite3_column_bytes(st, at);

	if (!s)
		return "no text";
	if (len >= size)
		return "too long";
	if (memchr(s, '\0', len))
		return "a NUL byte in it";
	memcpy(field, s, len);
	field[len] = '\0';
	return NULL;
}

static const char *read_record(sqlite3_stmt *st, int at, struct lease_record *record)
{
	char text[LEASE_FILE_MAX + 1];
	struct lease_error err;
	const char *wrong = read_text(st, at, text, sizeof(text));

	if (!wrong && lease_record_parse(text, strlen(text), record, &err) < 0)
		return "not a record of ours";
	return wrong;
}

static const char *read_number(int64_t n, const struct column *c, char *field)
{
	int i = (int)n;
	uint32_t u32 = (uint32_t)n;
	bool b = n != 0;

	switch (c->kind) {
	case K_BOOL:
		if (n != 0 && n != 1)
			return "neither 0 nor 1";
		memcpy(field, &b, sizeof(b));
		return NULL;
	case K_INT:
		if (i != n)
			return "out of range";
		memcpy(field, &i, sizeof(i));
		return NULL;
	case K_U32:
		if (u32 != n)
			return "out of range";
		memcpy(field, &u32, sizeof(u32));
		return NULL;
	case K_DURATION:
		if (n < 0)
			return "a duration below zero";
		memcpy(field, &n, sizeof(n));
		return NULL;
	case K_U64:
	case K_I64:
		memcpy(field, &n, sizeof(n));
		return NULL;
	case K_REST:
	case K_TEXT:
	case K_STATE:
	case K_USAGE:
	case K_RECORD:
		break;
	}
	return "no number";
}

static const char *read_column(sqlite3_stmt *st, int at, const struct column *c, struct lease *l)
{
	char *field = (char *)l + c->offset, word[32];
	int type = sqlite3_column_type(st, at);
	const char *wrong;

	if (c->kind == K_REST)
		return NULL; /* a copy */
	if (c->kind == K_DURATION && type == SQLITE_NULL) {
		int64_t never = LEASE_NEVER;

		memcpy(field, &never, sizeof(never));
		return NULL;
	}
	if (c->kind == K_TEXT || c->kind == K_STATE || c->kind == K_USAGE || c->kind == K_RECORD) {
		if (type != SQLITE_TEXT)
			return "no text";
	} else {
		return type != SQLITE_INTEGER ? "no number" : read_number(sqlite3_column_int64(st, at), c, field);
	}
	if (c->kind == K_TEXT)
		return read_text(st, at, field, c->size);
	if (c->kind == K_RECORD)
		return read_record(st, at, &l->record);
	wrong = read_text(st, at, word, sizeof(word));
	if (wrong)
		return wrong;
	if (c->kind == K_STATE) {
		l->state = state_by_name(word);
		return l->state == ST_NONE ? "no state that we know" : NULL;
	}
	if (word[0] == '\0')
		l->policy.usage = LEASE_USAGE_UNSET;
	else if (lease_usage_parse(word, &l->policy.usage) < 0)
		return "no usage that we know";
	return NULL;
}

/* What holds between the columns. */
static const char *inconsistent(const struct lease *l)
{
	const char *id = lease_name_lock_id(l->name);

	if (!lease_id_valid(l->id))
		return "id is not an id";
	if (!id || strcmp(id, l->id) != 0)
		return "lock is not the name of this lease's lock";
	if (l->record.id[0] && strcmp(l->record.id, l->id) != 0)
		return "record has another id";
	if (state_ended(l->state))
		return "state is an end, and what has ended has no row";
	if (l->policy.ttl == 0)
		return "ttl_ns is zero";
	return NULL;
}

int row_read(sqlite3_stmt *st, struct lease *ret, char what[160])
{
	struct lease l;
	const char *wrong;

	memset(&l, 0, sizeof(l));
	for (int i = 0; i < N_COLUMNS; i++) {
		wrong = read_column(st, i, &columns[i], &l);
		if (wrong) {
			(void)snprintf(what, 160, "%s: %s", columns[i].name, wrong);
			return -EBADMSG;
		}
	}
	wrong = inconsistent(&l);
	if (wrong) {
		(void)snprintf(what, 160, "%s", wrong);
		return -EBADMSG;
	}
	*ret = l;
	return 0;
}
