#include "config.h"

#include <errno.h>
#include <string.h>

#include "lease/error.h"
#include "lease/fields.h"
#include "lease/twin.h"

static const struct lease_field fields[] = {
	LEASE_FIELD_TEXT(lease_twin, "id", id),
	LEASE_FIELD(lease_twin, "uid", LEASE_F_U32, uid),
	LEASE_FIELD_TEXT(lease_twin, "surface", surface),
	LEASE_FIELD_TEXT(lease_twin, "service", service),
	LEASE_FIELD(lease_twin, "leader", LEASE_F_I32, leader.pid),
	LEASE_FIELD(lease_twin, "leader_start", LEASE_F_U64, leader.start),
	LEASE_FIELD_TEXT(lease_twin, "boot", boot),
	LEASE_FIELD(lease_twin, "audit", LEASE_F_U32, audit),
	LEASE_FIELD(lease_twin, "closed", LEASE_F_I64, closed),
};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

int lease_twin_format(const struct lease_twin *t, char *buf, size_t size, size_t *ret_len)
{
	struct lease_kv_out o;

	lease_kv_out_begin(&o, buf, size);
	lease_fields_out(&o, fields, N_FIELDS, t);
	return lease_kv_out_end(&o, ret_len);
}

int lease_twin_parse(const char *buf, size_t len, struct lease_twin *ret, struct lease_error *err)
{
	struct lease_twin t;

	memset(&t, 0, sizeof(t));
	int e = lease_fields_in(buf, len, fields, N_FIELDS, &t, err);
	if (e < 0)
		return e;
	if (!lease_id_valid(t.id))
		return lease_error_set(err, 0, "no id", "", "");
	*ret = t;
	return 0;
}
