#include "config.h"

#include <errno.h>
#include <string.h>

#include "lease/error.h"
#include "lease/kv.h"
#include "lease/text.h"

#define HEADER_WORD "#leasewatch "

int lease_error_set(struct lease_error *err, int line, const char *a, const char *b, const char *c)
{
	struct lease_text t;

	err->line = line;
	lease_text_begin(&t, err->what, sizeof(err->what));
	lease_text_add(&t, a);
	lease_text_add(&t, b);
	lease_text_add(&t, c);
	return -EINVAL;
}

static int too_large(size_t max, struct lease_error *err)
{
	char number[24];
	struct lease_text t;

	lease_text_begin(&t, number, sizeof(number));
	lease_text_add_number(&t, max);
	return lease_error_set(err, 0, "the file is too long: at most ", number, " bytes are read");
}

/* A whole number and a line's end, and the number is not ours. */
static bool is_newer(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && lease_is_digit(s[n]))
		n++;
	return n > 0 && n < len && s[n] == '\n' && !(n == 1 && s[0] == '1');
}

int lease_kv_begin(struct lease_kv *kv, const char *buf, size_t len, size_t max, struct lease_error *err)
{
	const size_t word = strlen(HEADER_WORD), header = strlen(LEASE_HEADER);
	const char *nul;
	int line = 1;

	if (len < word || memcmp(buf, HEADER_WORD, word) != 0) {
		lease_error_set(err, 1, "no file of leasewatch: the first line must be \"#leasewatch 1\"", "",
				"");
		return -ENODATA;
	}
	if (len > max)
		return too_large(max, err);
	nul = memchr(buf, '\0', len);
	if (nul) {
		for (const char *p = buf; p < nul; p++)
			line += *p == '\n';
		return lease_error_set(err, line, "a NUL byte: the file must be lines of text", "", "");
	}
	if (is_newer(buf + word, len - word)) {
		lease_error_set(err, 1, "another format, a newer leasewatch's: here the first line is \"#leasewatch 1\"", "", "");
		return -EPROTO;
	}
	if (len < header || memcmp(buf, LEASE_HEADER, header) != 0)
		return lease_error_set(err, 1, "another format: the first line must be \"#leasewatch 1\"", "",
				       "");
	*kv = (struct lease_kv){.p = buf + header, .end = buf + len, .line = 1};
	return 0;
}

/* The length of the key at s, 0 when it is none; what follows it is the caller's to look at. */
static size_t key_len(const char *s, size_t len)
{
	size_t n = 0;

	if (!len || !lease_is_lower(s[0]))
		return 0;
	while (n < len &&
	       (lease_is_lower(s[n]) || lease_is_digit(s[n]) || s[n] == '_' || s[n] == '.' || s[n] == '-'))
		n++;
	return n < sizeof(((struct lease_pair *)NULL)->key) ? n : 0;
}

static bool has_control(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (lease_is_control(s[i]))
			return true;
	return false;
}

int lease_kv_next(struct lease_kv *kv, struct lease_pair *ret, struct lease_error *err)
{
	const char *line = kv->p, *value;
	size_t len, key;

	if (line == kv->end)
		return 0;
	kv->line++;
	len = (size_t)(kv->end - line);
	value = memchr(line, '\n', len);
	if (!value)
		return lease_error_set(err, kv->line, "the line is cut off: every line must end in a newline",
				       "", "");
	len = (size_t)(value - line);
	if (len == 0)
		return lease_error_set(err, kv->line, "an empty line: every line must be key=value", "", "");
	key = key_len(line, len);
	if (key == len || line[key] != '=')
		return lease_error_set(
		    err, kv->line, "not key=value: a key is 1-31 of a-z 0-9 _ . - and begins with a letter",
		    "", "");
	if (key == 0)
		return lease_error_set(err, kv->line, "no key before '=': a key is 1-31 of a-z 0-9 _ . -", "",
				       "");
	value = line + key + 1;
	len -= key + 1;
	if (len >= sizeof(ret->value))
		return lease_error_set(err, kv->line, "the value is too long: at most 1000 bytes", "", "");
	if (has_control(value, len))
		return lease_error_set(err, kv->line,
				       "a control byte in the value: only printable text is allowed", "", "");
	memcpy(ret->key, line, key);
	ret->key[key] = '\0';
	memcpy(ret->value, value, len);
	ret->value[len] = '\0';
	ret->line = kv->line;
	kv->p = value + len + 1;
	return 1;
}

static void put(struct lease_kv_out *o, const char *s, size_t len)
{
	if (o->error)
		return;
	if (len > o->size - o->len) {
		o->error = -ENOSPC;
		return;
	}
	memcpy(o->buf + o->len, s, len);
	o->len += len;
}

void lease_kv_out_begin(struct lease_kv_out *o, char *buf, size_t size)
{
	*o = (struct lease_kv_out){.buf = buf, .size = size};
	put(o, LEASE_HEADER, strlen(LEASE_HEADER));
}

void lease_kv_out_str(struct lease_kv_out *o, const char *key, const char *value)
{
	size_t n = strlen(key), len = strlen(value);

	if (!o->error && (n == 0 || key_len(key, n) != n ||
			  len >= sizeof(((struct lease_pair *)NULL)->value) || has_control(value, len)))
		o->error = -EINVAL;
	put(o, key, n);
	put(o, "=", 1);
	put(o, value, len);
	put(o, "\n", 1);
}

void lease_kv_out_int(struct lease_kv_out *o, const char *key, long long value)
{
	char number[24];
	struct lease_text t;

	lease_text_begin(&t, number, sizeof(number));
	if (value < 0)
		lease_text_add(&t, "-");
	lease_text_add_number(&t, value < 0 ? -(uint64_t)value : (uint64_t)value);
	lease_kv_out_str(o, key, number);
}

int lease_kv_out_end(struct lease_kv_out *o, size_t *ret_len)
{
	if (o->error)
		return o->error;
	*ret_len = o->len;
	return 0;
}
