#include "core/fields.h"

#include <errno.h>

#include "lease/text.h"

void fields_copy(char *to, size_t size, const char *from)
{
	struct lease_text t;

	lease_text_begin(&t, to, size);
	lease_text_add(&t, from);
}

int fields_bad(struct lease_error *err, int line, const char *what)
{
	err->line = line;
	fields_copy(err->what, sizeof(err->what), what);
	return -EINVAL;
}

int fields_number(const struct lease_pair *p, uint64_t max, uint64_t *ret, struct lease_error *err)
{
	return lease_text_number(p->value, max, ret) < 0 ? fields_bad(err, p->line, "not a number in range") : 0;
}

int fields_read(const char *buf, size_t len, size_t max, void *what, struct lease_error *err,
		int (*take)(void *what, const struct lease_pair *p, struct lease_error *err))
{
	struct lease_kv kv;
	struct lease_pair p;
	int r = lease_kv_begin(&kv, buf, len, max, err);

	if (r < 0)
		return r;
	while ((r = lease_kv_next(&kv, &p, err)) > 0)
		if ((r = take(what, &p, err)) < 0)
			return r;
	return r;
}
