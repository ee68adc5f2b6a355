/*
 * tests/bench/http2.h: as much of HTTP/2 and gRPC as a client needs that sends many small calls without waiting: literal header
 * fields, no push, answers' headers not looked at. One connection, any number of streams.
 */
#ifndef BENCH_HTTP2_H
#define BENCH_HTTP2_H

#include <stddef.h>
#include <stdint.h>

#define H2_MESSAGE_MAX 16000

struct h2 {
	int fd;
	uint32_t next;	     /* the next stream */
	int64_t window;	     /* bytes of DATA that the server takes on the connection */
	uint32_t long_lived; /* the one stream that is sent on more than once: its own window is kept */
	int64_t long_window, initial_window;
	size_t have;
	unsigned char in[1 << 17];
	/* A whole message on a stream. */
	void (*got)(void *arg, uint32_t stream, const unsigned char *msg, size_t len);
	void (*closed)(void *arg, uint32_t stream);
	void *arg;
	/* A message that came in parts: of one stream at a time. */
	uint32_t part_stream;
	size_t part_len;
	unsigned char part[1 << 17];
};

/* h->got, closed and arg are set before. */
void h2_open(struct h2 *h, int fd);
/* A call with one message: /SERVICE/METHOD. Gives its stream. */
uint32_t h2_call(struct h2 *h, const char *path, const void *msg, size_t len);
/* One that is sent on: h2_send as often as wanted. Its messages come by got. */
uint32_t h2_begin(struct h2 *h, const char *path);
void h2_send(struct h2 *h, uint32_t stream, const void *msg, size_t len);
/* Reads what is there, or waits so long for something. */
void h2_read(struct h2 *h, int64_t wait);

/* Protocol buffers, as far as etcd's few messages need them: appended at p, gives the end. */
unsigned char *pb_int(unsigned char *p, int field, int64_t value);
unsigned char *pb_bytes(unsigned char *p, int field, const void *bytes, size_t len);
/* The next field of [*p, end): its number, or 0 at the end; value or bytes. */
int pb_next(const unsigned char **p, const unsigned char *end, int64_t *value, const unsigned char **bytes, size_t *len);

#endif
