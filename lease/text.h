/*
 * lease/text.h: the little text work of lease/ itself, in place of stdio: bounded appending, numbers out,
 * numbers in.
 *
 * Nobody outside lease/ includes this. No allocation, no static data; what does not fit is cut and marked.
 */
#ifndef LEASE_TEXT_H
#define LEASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lease_text {
	char *buf; /* NUL-terminated at any time */
	size_t size, len;
	bool cut;
};

/* size > 0. */
void lease_text_begin(struct lease_text *t, char *buf, size_t size);
void lease_text_add(struct lease_text *t, const char *s);
void lease_text_add_number(struct lease_text *t, uint64_t n);

/* Decimal digits and nothing else, at most max: 0, -EINVAL or -ERANGE. *ret is set on success only. */
int lease_text_number(const char *s, uint64_t max, uint64_t *ret);

/* ASCII whatever the locale says. */
static inline bool lease_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool lease_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool lease_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool lease_is_control(char c)
{
	return (unsigned char)c < 32 || c == 127;
}

#endif
