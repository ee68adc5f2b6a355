#include "config.h"

#include <errno.h>
#include <string.h>

#include "lease/beacon.h"
#include "lease/error.h"
#include "lease/fields.h"

/* mode is a word on disk and a bool here. */
struct on_disk {
	struct lease_beacon b;
	char mode[8];
};

static const struct lease_field fields[] = {
	LEASE_FIELD_TEXT(on_disk, "state", b.state),
	LEASE_FIELD_TEXT(on_disk, "db", b.db),
	LEASE_FIELD_TEXT(on_disk, "sessions", b.sessions),
	LEASE_FIELD(on_disk, "pid", LEASE_F_I32, b.daemon.pid),
	LEASE_FIELD(on_disk, "pid_start", LEASE_F_U64, b.daemon.start),
	LEASE_FIELD_TEXT(on_disk, "boot", b.boot),
	LEASE_FIELD_TEXT(on_disk, "mode", mode),
	LEASE_FIELD(on_disk, "hold", LEASE_F_I64, b.hold_until),
	LEASE_FIELD_TEXT(on_disk, "hold_by", b.hold_by),
	LEASE_FIELD_TEXT(on_disk, "degraded", b.degraded),
	LEASE_FIELD(on_disk, "breaker", LEASE_F_I64, b.breaker_until),
	LEASE_FIELD_TEXT(on_disk, "breaker_why", b.breaker_why),
};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

int lease_beacon_format(const struct lease_beacon *b, char *buf, size_t size, size_t *ret_len)
{
	struct lease_kv_out o;
	struct on_disk d = { .b = *b };

	memcpy(d.mode, b->user_mode ? "user" : "system", b->user_mode ? 5 : 7);
	lease_kv_out_begin(&o, buf, size);
	lease_fields_out(&o, fields, N_FIELDS, &d);
	return lease_kv_out_end(&o, ret_len);
}

int lease_beacon_parse(const char *buf, size_t len, struct lease_beacon *ret, struct lease_error *err)
{
	struct on_disk d;

	memset(&d, 0, sizeof(d));
	int e = lease_fields_in(buf, len, fields, N_FIELDS, &d, err);
	if (e < 0)
		return e;
	d.b.user_mode = strcmp(d.mode, "user") == 0;
	*ret = d.b;
	return 0;
}
