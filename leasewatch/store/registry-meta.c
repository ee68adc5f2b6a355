#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/registry-private.h"

#define KEY_GENERATION "generation"
#define KEY_CHECKPOINT "checkpoint"
#define CHECKPOINT_SIZE 256

static int meta_set(struct registry *r, const char *key, const char *value)
{
	sqlite3_stmt *st = r->st[value ? Q_META_SET : Q_META_DELETE];
	int error;

	/* A statement outside of a transaction is one of its own. */
	error = r->in_turn ? registry_change(r) : 0;
	if (error < 0)
		return error;
	(void)sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	if (value)
		(void)sqlite3_bind_text(st, 2, value, -1, SQLITE_STATIC);
	return registry_run(r, st);
}

int registry_get(struct registry *r, const char *key, char *value, size_t size)
{
	sqlite3_stmt *st = r->st[Q_META_GET];
	int rc, error = 0;

	(void)sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		const unsigned char *s = sqlite3_column_text(st, 0);
		size_t len = (size_t)sqlite3_column_bytes(st, 0);

		if (!s)
			error = registry_fail(r, SQLITE_NOMEM);
		else if (len >= size)
			error = registry_say(r, -ENOSPC, "the value of %s is too long: %zu bytes", key, len);
		else
			memcpy(value, s, len + 1);
	} else if (rc == SQLITE_DONE) {
		error = -ENOENT;
	} else {
		error = registry_fail(r, rc);
	}
	registry_reset(st);
	return error;
}

int registry_set(struct registry *r, const char *key, const char *value)
{
	if (strcmp(key, KEY_GENERATION) == 0 || strcmp(key, KEY_CHECKPOINT) == 0)
		return registry_say(r, -EINVAL, "%s is not set by this way", key);
	return meta_set(r, key, value);
}

static int largest_generation(struct registry *r, const char *sql, uint64_t *largest)
{
	sqlite3_stmt *st;
	int64_t n = 0;
	int error = 0, rc = sqlite3_prepare_v2(r->db, sql, -1, &st, NULL);

	if (rc != SQLITE_OK)
		return registry_fail(r, rc);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	else
		error = registry_fail(r, rc);
	(void)sqlite3_finalize(st);
	if (error == 0 && n > 0 && (uint64_t)n > *largest)
		*largest = (uint64_t)n;
	return error;
}

int registry_find_generation(struct registry *r)
{
	char value[32];
	uint64_t largest = 0;
	int error = registry_get(r, KEY_GENERATION, value, sizeof(value));

	if (error == 0) {
		const char *wrong;
		long long n = strtonum(value, 0, INT64_MAX, &wrong);

		if (wrong)
			return registry_say(r, -EBADMSG, "meta.generation is no number: %.20s", value);
		largest = (uint64_t)n;
	} else if (error != -ENOENT) {
		return error;
	}
	error = largest_generation(r, "SELECT max(generation) FROM ledger", &largest);
	if (error == 0)
		error = largest_generation(r, "SELECT max(generation) FROM lease WHERE typeof(generation) = 'integer'", &largest);
	if (error == 0)
		r->generation = largest;
	return error;
}

int registry_next_generation(struct registry *r, uint64_t *ret)
{
	char value[32];
	int error;

	if (r->generation >= INT64_MAX)
		return registry_say(r, -EOVERFLOW, "no generation is left");
	(void)snprintf(value, sizeof(value), "%" PRIu64, r->generation + 1);
	error = meta_set(r, KEY_GENERATION, value);
	if (error == 0)
		*ret = ++r->generation;
	return error;
}

int registry_checkpoint(struct registry *r, const struct registry_clock *c)
{
	char value[CHECKPOINT_SIZE];

	(void)snprintf(value, sizeof(value),
		       "mono=%" PRId64 " boot=%" PRId64 " wall=%" PRId64 " away=%" PRId64 " even=%" PRId64 " set=%" PRId64
		       " boot_id=%.36s",
		       c->mono, c->boot, c->wall, c->away, c->even, c->set, c->boot_id);
	return meta_set(r, KEY_CHECKPOINT, value);
}

/* Takes "KEY=NUMBER " off the front of *s. */
static int take_number(const char **s, const char *key, int64_t *ret)
{
	size_t len = strlen(key);
	char *end;

	if (strncmp(*s, key, len) != 0 || (*s)[len] != '=')
		return -EBADMSG;
	errno = 0;
	*ret = strtoll(*s + len + 1, &end, 10);
	if (errno != 0 || end == *s + len + 1 || *end != ' ')
		return -EBADMSG;
	*s = end + 1;
	return 0;
}

int registry_last_checkpoint(struct registry *r, struct registry_clock *ret)
{
	static const char boot_id[] = "boot_id=";
	struct registry_clock c = { 0 };
	char value[CHECKPOINT_SIZE];
	const char *s = value;
	int error = registry_get(r, KEY_CHECKPOINT, value, sizeof(value));

	if (error < 0)
		return error;
	/* Without away: written by a version that wrote all rows anew at each start. */
	if (take_number(&s, "mono", &c.mono) < 0 || take_number(&s, "boot", &c.boot) < 0 ||
	    take_number(&s, "wall", &c.wall) < 0 || (*s == 'a' && take_number(&s, "away", &c.away) < 0))
		goto damaged;
	/* A version that did not look whether the clock was set: it may have been. */
	c.even = c.set = c.mono;
	if ((*s == 'e' && (take_number(&s, "even", &c.even) < 0 || take_number(&s, "set", &c.set) < 0)) ||
	    strncmp(s, boot_id, sizeof(boot_id) - 1) != 0 ||
	    strlen(s) - (sizeof(boot_id) - 1) >= sizeof(c.boot_id))
		goto damaged;
	memcpy(c.boot_id, s + sizeof(boot_id) - 1, strlen(s) - (sizeof(boot_id) - 1) + 1);
	*ret = c;
	return 0;
damaged:
	return registry_say(r, -EBADMSG, "meta.checkpoint cannot be read: %.80s", value);
}
