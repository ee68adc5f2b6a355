/*
 * lease/kv.h: the one text format of leasewatch's small files (locks, asks, state files, `.leasewatch`): a
 * header line that begins with '#', then lines of key=value.
 *
 *	#leasewatch 1
 *	ttl=5m
 *	label=project=kruze
 *
 * Keys are 1-31 of [a-z0-9_.-] and begin with a letter; a key may repeat; a value is the rest of the line,
 * 0-1000 bytes, no control byte (what is below 32, and 127). Every line, the last one too, ends in a newline. A
 * file is at most LEASE_FILE_MAX bytes. Reader and writer keep no state, allocate nothing and point into the
 * caller's buffer.
 */
#ifndef LEASE_KV_H
#define LEASE_KV_H

#include <stddef.h>

#define LEASE_FILE_MAX 4096
#define LEASE_STATE_FILE_MAX 16384 /* the daemon's own files may be larger */
#define LEASE_HEADER "#leasewatch 1\n"

struct lease_error {
	int line; /* 1 = the first; 0 = the file as a whole */
	char what[120]; /* one sentence fragment, plain ASCII: what is wrong, and what is right */
};

struct lease_kv {
	const char *p, *end;
	int line;
};
struct lease_pair {
	char key[32];
	char value[1001];
	int line;
};

/*
 * Checks size (<= max), NUL bytes and header; then lease_kv_next until it gives 0. -EINVAL with err filled;
 * -ENODATA: no header of ours; -EPROTO: a file of another format than 1, so of a newer leasewatch.
 */
int lease_kv_begin(struct lease_kv *kv, const char *buf, size_t len, size_t max, struct lease_error *err);
/* 1 = a pair, 0 = the end, -EINVAL with err filled. */
int lease_kv_next(struct lease_kv *kv, struct lease_pair *ret, struct lease_error *err);

/*
 * Writing: begin, add…, end. Errors stick: only lease_kv_end has to be looked at. A value with a control byte
 * is -EINVAL.
 */
struct lease_kv_out {
	char *buf;
	size_t size, len;
	int error;
};
void lease_kv_out_begin(struct lease_kv_out *o, char *buf, size_t size);
void lease_kv_out_str(struct lease_kv_out *o, const char *key, const char *value);
void lease_kv_out_int(struct lease_kv_out *o, const char *key, long long value);
/* 0 and the length, or -EINVAL / -ENOSPC. */
int lease_kv_out_end(struct lease_kv_out *o, size_t *ret_len);

#endif
