#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "lease/error.h"
#include "lease/fields.h"
#include "lease/text.h"

static uint64_t get(const struct lease_field *f, const void *at)
{
	int64_t i64;
	int32_t i32;
	uint32_t u32;

	if (f->type == LEASE_F_I32) {
		memcpy(&i32, at, sizeof(i32));
		return (uint64_t)i32;
	}
	if (f->type == LEASE_F_U32) {
		memcpy(&u32, at, sizeof(u32));
		return u32;
	}
	memcpy(&i64, at, sizeof(i64));
	return (uint64_t)i64;
}

void lease_fields_out(struct lease_kv_out *o, const struct lease_field *f, size_t n, const void *what)
{
	for (; n > 0; n--, f++) {
		const char *at = (const char *)what + f->offset;

		if (f->type == LEASE_F_TEXT) {
			if (*at)
				lease_kv_out_str(o, f->key, at);
		} else if (get(f, at) != 0) {
			/* What no int64 holds comes out negative, and no reader takes it. */
			lease_kv_out_int(o, f->key, (long long)get(f, at));
		}
	}
}

static int put(const struct lease_field *f, void *at, const struct lease_pair *kv, struct lease_error *err)
{
	static const uint64_t max[] = { [LEASE_F_I32] = INT32_MAX, [LEASE_F_U32] = UINT32_MAX, [LEASE_F_I64] = INT64_MAX,
					[LEASE_F_U64] = INT64_MAX };
	uint64_t n;

	if (f->type == LEASE_F_TEXT) {
		if (strlen(kv->value) >= f->size)
			return lease_error_set(err, kv->line, kv->key, " is too long", "");
		memcpy(at, kv->value, strlen(kv->value) + 1);
		return 0;
	}
	if (lease_text_number(kv->value, max[f->type], &n) < 0)
		return lease_error_set(err, kv->line, "bad ", kv->key, ": a number in range");
	if (f->type == LEASE_F_I32 || f->type == LEASE_F_U32) {
		uint32_t u = (uint32_t)n;
		memcpy(at, &u, sizeof(u));
	} else {
		memcpy(at, &n, sizeof(n));
	}
	return 0;
}

int lease_fields_in(const char *buf, size_t len, const struct lease_field *f, size_t n, void *what, struct lease_error *err)
{
	struct lease_kv kv;
	struct lease_pair pair;
	int e = lease_kv_begin(&kv, buf, len, LEASE_FILE_MAX, err);

	if (e < 0)
		return e;
	while ((e = lease_kv_next(&kv, &pair, err)) > 0)
		for (size_t i = 0; i < n; i++)
			if (strcmp(f[i].key, pair.key) == 0 &&
			    (e = put(&f[i], (char *)what + f[i].offset, &pair, err)) < 0)
				return e;
	return e;
}
