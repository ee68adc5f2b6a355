#include <errno.h>
#include <string.h>

#include "core/fields.h"
#include "core/view.h"

int beacon_format(const struct beacon *b, char *buf, size_t size, size_t *ret_len)
{
	struct lease_kv_out o;

	lease_kv_out_begin(&o, buf, size);
	lease_kv_out_str(&o, "state", b->state);
	lease_kv_out_str(&o, "db", b->db);
	lease_kv_out_int(&o, "pid", b->daemon.pid);
	lease_kv_out_int(&o, "pid_start", (long long)b->daemon.start);
	lease_kv_out_str(&o, "boot", b->boot);
	lease_kv_out_str(&o, "mode", b->user_mode ? "user" : "system");
	if (b->hold_until) {
		lease_kv_out_int(&o, "hold", b->hold_until);
		lease_kv_out_str(&o, "hold_by", b->hold_by);
	}
	return lease_kv_out_end(&o, ret_len);
}

static int take_beacon(void *what, const struct lease_pair *p, struct lease_error *err)
{
	struct beacon *b = what;
	uint64_t n;

	if (strcmp(p->key, "state") == 0)
		fields_copy(b->state, sizeof(b->state), p->value);
	else if (strcmp(p->key, "db") == 0)
		fields_copy(b->db, sizeof(b->db), p->value);
	else if (strcmp(p->key, "pid") == 0)
		{
		if (fields_number(p, INT32_MAX, &n, err) < 0)
			return -EINVAL;
		b->daemon.pid = (int32_t)n;
	}
	else if (strcmp(p->key, "pid_start") == 0)
		return fields_number(p, INT64_MAX, &b->daemon.start, err);
	else if (strcmp(p->key, "boot") == 0)
		fields_copy(b->boot, sizeof(b->boot), p->value);
	else if (strcmp(p->key, "mode") == 0)
		b->user_mode = strcmp(p->value, "user") == 0;
	else if (strcmp(p->key, "hold_by") == 0)
		fields_copy(b->hold_by, sizeof(b->hold_by), p->value);
	else if (strcmp(p->key, "hold") == 0) {
		if (fields_number(p, INT64_MAX, &n, err) < 0)
			return -EINVAL;
		b->hold_until = (int64_t)n;
	}
	return 0; /* a key of a newer daemon */
}

int beacon_parse(const char *buf, size_t len, struct beacon *ret, struct lease_error *err)
{
	struct beacon b = { 0 };
	int r = fields_read(buf, len, LEASE_FILE_MAX, &b, err, take_beacon);

	if (r == 0)
		*ret = b;
	return r;
}
