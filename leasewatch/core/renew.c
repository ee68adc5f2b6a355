#include "core/renew.h"

struct renewal renew(const struct renewable *l, int64_t ttl, int64_t now)
{
	if (!l->living)
		return (struct renewal){ .outcome = RENEW_EXPIRED };
	if (!l->in_active)
		return (struct renewal){ .outcome = RENEW_LOST };
	if (ttl <= 0)
		return (struct renewal){ .outcome = RENEW_REFUSED };
	int64_t expires;
	if (__builtin_add_overflow(now, ttl, &expires))
		expires = INT64_MAX;
	return (struct renewal){ .outcome = RENEW_OK, .expires = expires };
}
