#include "config.h"

#include <errno.h>

#include "lease/text.h"

void lease_text_begin(struct lease_text *t, char *buf, size_t size)
{
	*t = (struct lease_text){.buf = buf, .size = size};
	buf[0] = '\0';
}

void lease_text_add(struct lease_text *t, const char *s)
{
	for (; *s; s++) {
		if (t->len + 1 >= t->size) {
			t->cut = true;
			return;
		}
		t->buf[t->len++] = *s;
		t->buf[t->len] = '\0';
	}
}

void lease_text_add_number(struct lease_text *t, uint64_t n)
{
	char digits[21];
	char *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	lease_text_add(t, p);
}

int lease_text_number(const char *s, uint64_t max, uint64_t *ret)
{
	uint64_t n = 0;
	bool too_large = false;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (!lease_is_digit(*s))
			return -EINVAL;
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n))
			too_large = true;
	}
	if (too_large || n > max)
		return -ERANGE;
	*ret = n;
	return 0;
}
