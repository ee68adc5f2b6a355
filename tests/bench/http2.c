#include "config.h"

#include "tests/bench/http2.h"

#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/peer.h"

enum { DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PING = 6, GOAWAY = 7, WINDOW_UPDATE = 8 };
#define ACK 1
#define END_STREAM 1
#define END_HEADERS 4
#define FRAME_HEAD 9
#define WINDOW_START 65535

static unsigned char *head(unsigned char *p, size_t len, int type, int flags, uint32_t stream)
{
	const unsigned char bytes[FRAME_HEAD] = {
		(unsigned char)(len >> 16), (unsigned char)(len >> 8), (unsigned char)len, (unsigned char)type,
		(unsigned char)flags, (unsigned char)(stream >> 24), (unsigned char)(stream >> 16),
		(unsigned char)(stream >> 8), (unsigned char)stream,
	};

	memcpy(p, bytes, sizeof(bytes));
	return p + FRAME_HEAD;
}

static uint32_t number(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

void h2_open(struct h2 *h, int fd)
{
	static const unsigned char hello[] =
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
		/* SETTINGS: no push, streams' windows as large as can be */
		"\0\0\x0c\x04\0\0\0\0\0" "\0\x02\0\0\0\0" "\0\x04\x7f\xff\xff\xff"
		/* and the connection's */
		"\0\0\x04\x08\0\0\0\0\0" "\x7f\xff\0";

	h->fd = fd;
	h->next = 1;
	h->have = h->part_len = 0;
	h->window = h->initial_window = WINDOW_START;
	h->long_lived = 0;
	peer_send(fd, hello, sizeof(hello));
}

static unsigned char *text(unsigned char *p, const char *s)
{
	size_t len = strlen(s);

	*p++ = (unsigned char)len;
	memcpy(p, s, len);
	return p + len;
}

/* A call's header frame; the fields are not to be indexed, so that nobody has to remember them. */
static size_t headers(struct h2 *h, unsigned char *buf, const char *path)
{
	unsigned char *p = buf + FRAME_HEAD;

	*p++ = 0x83; /* :method POST */
	*p++ = 0x86; /* :scheme http */
	*p++ = 0x04;
	p = text(p, path);
	*p++ = 0x01;
	p = text(p, "localhost");
	*p++ = 0x0f;
	*p++ = 0x10;
	p = text(p, "application/grpc");
	*p++ = 0x00;
	p = text(p, "te");
	p = text(p, "trailers");
	(void)head(buf, (size_t)(p - buf) - FRAME_HEAD, HEADERS, END_HEADERS, h->next);
	return (size_t)(p - buf);
}

static size_t message(unsigned char *buf, uint32_t stream, const void *msg, size_t len, int flags)
{
	unsigned char *p = head(buf, len + 5, DATA, flags, stream);

	if (len > H2_MESSAGE_MAX)
		bench_fail("a message that is too long", 0);
	*p++ = 0;
	*p++ = (unsigned char)(len >> 24);
	*p++ = (unsigned char)(len >> 16);
	*p++ = (unsigned char)(len >> 8);
	*p++ = (unsigned char)len;
	memcpy(p, msg, len);
	return FRAME_HEAD + 5 + len;
}

static void await_window(struct h2 *h, uint32_t stream, size_t len)
{
	while (h->window < (int64_t)len || (stream == h->long_lived && h->long_window < (int64_t)len))
		h2_read(h, LEASE_NS_PER_S);
	h->window -= (int64_t)len;
	if (stream == h->long_lived)
		h->long_window -= (int64_t)len;
}

uint32_t h2_call(struct h2 *h, const char *path, const void *msg, size_t len)
{
	unsigned char buf[H2_MESSAGE_MAX + 512];
	size_t n;

	await_window(h, h->next, len + 5);
	n = headers(h, buf, path);
	n += message(buf + n, h->next, msg, len, END_STREAM);
	peer_send(h->fd, buf, n);
	h->next += 2;
	return h->next - 2;
}

uint32_t h2_begin(struct h2 *h, const char *path)
{
	unsigned char buf[512];

	peer_send(h->fd, buf, headers(h, buf, path));
	h->long_lived = h->next;
	h->long_window = h->initial_window;
	h->next += 2;
	return h->long_lived;
}

void h2_send(struct h2 *h, uint32_t stream, const void *msg, size_t len)
{
	unsigned char buf[H2_MESSAGE_MAX + 64];

	await_window(h, stream, len + 5);
	peer_send(h->fd, buf, message(buf, stream, msg, len, 0));
}

/* Whole messages out of what has come on a stream. */
static void data(struct h2 *h, uint32_t stream, const unsigned char *p, size_t len)
{
	if (h->part_len > 0 && stream != h->part_stream)
		bench_fail("two messages in parts at once", 0);
	if (h->part_len + len > sizeof(h->part))
		bench_fail("a message that is too long", 0);
	memcpy(h->part + h->part_len, p, len);
	h->part_len += len;
	h->part_stream = stream;
	size_t at = 0;
	while (h->part_len - at >= 5 && h->part_len - at - 5 >= number(h->part + at + 1)) {
		size_t n = number(h->part + at + 1);

		h->got(h->arg, stream, h->part + at + 5, n);
		at += 5 + n;
	}
	memmove(h->part, h->part + at, h->part_len - at);
	h->part_len -= at;
}

static void settings(struct h2 *h, const unsigned char *p, size_t len)
{
	unsigned char ack[FRAME_HEAD];

	for (size_t i = 0; i + 6 <= len; i += 6)
		if (p[i] == 0 && p[i + 1] == 4) {
			h->long_window += (int64_t)number(p + i + 2) - h->initial_window;
			h->initial_window = number(p + i + 2);
		}
	(void)head(ack, 0, SETTINGS, ACK, 0);
	peer_send(h->fd, ack, sizeof(ack));
}

static void refused(int type, const unsigned char *p, size_t len)
{
	size_t at = type == GOAWAY ? 4 : 0; /* behind the last stream */
	char what[80];

	/* Code 0: all was said, and no more is to be sent. */
	if (len < at + 4 || number(p + at) == 0)
		return;
	(void)snprintf(what, sizeof(what), "a call was refused: frame %d, code %u", type, number(p + at));
	bench_fail(what, 0);
}

static void frame(struct h2 *h, int type, int flags, uint32_t stream, const unsigned char *p, size_t len)
{
	if (type == DATA) {
		data(h, stream, p, len);
	} else if (type == SETTINGS && !(flags & ACK)) {
		settings(h, p, len);
	} else if (type == PING && !(flags & ACK) && len == 8) {
		unsigned char pong[FRAME_HEAD + 8];

		memcpy(head(pong, 8, PING, ACK, 0), p, 8);
		peer_send(h->fd, pong, sizeof(pong));
	} else if (type == WINDOW_UPDATE && len == 4) {
		*(stream == 0 ? &h->window : &h->long_window) += stream == 0 || stream == h->long_lived ? number(p) : 0;
	} else if (type == RST_STREAM || type == GOAWAY) {
		refused(type, p, len);
	}
	if ((type == DATA || type == HEADERS) && flags & END_STREAM && h->closed)
		h->closed(h->arg, stream);
}

void h2_read(struct h2 *h, int64_t wait)
{
	size_t at = 0;

	h->have += peer_receive(h->fd, (char *)h->in + h->have, sizeof(h->in) - h->have, wait);
	while (h->have - at >= FRAME_HEAD) {
		const unsigned char *p = h->in + at;
		size_t len = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];

		if (h->have - at < FRAME_HEAD + len)
			break;
		frame(h, p[3], p[4], number(p + 5) & 0x7fffffff, p + FRAME_HEAD, len);
		at += FRAME_HEAD + len;
	}
	memmove(h->in, h->in + at, h->have - at);
	h->have -= at;
	/* What was received is taken: the connection's window is two gigabytes, more than is ever sent here. */
}

static unsigned char *varint(unsigned char *p, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*p++ = (unsigned char)(v | 128);
	*p++ = (unsigned char)v;
	return p;
}

unsigned char *pb_int(unsigned char *p, int field, int64_t value)
{
	*p++ = (unsigned char)(field << 3);
	return varint(p, (uint64_t)value);
}

unsigned char *pb_bytes(unsigned char *p, int field, const void *bytes, size_t len)
{
	*p++ = (unsigned char)(field << 3 | 2);
	p = varint(p, len);
	memcpy(p, bytes, len);
	return p + len;
}

static uint64_t read_varint(const unsigned char **p, const unsigned char *end)
{
	uint64_t v = 0;

	for (int shift = 0; *p < end && shift < 64; shift += 7) {
		unsigned char c = *(*p)++;

		v |= (uint64_t)(c & 127) << shift;
		if (c < 128)
			break;
	}
	return v;
}

int pb_next(const unsigned char **p, const unsigned char *end, int64_t *value, const unsigned char **bytes, size_t *len)
{
	uint64_t tag;

	if (*p >= end)
		return 0;
	tag = read_varint(p, end);
	*value = 0;
	*bytes = NULL;
	*len = 0;
	if ((tag & 7) == 0) {
		*value = (int64_t)read_varint(p, end);
	} else if ((tag & 7) == 2) {
		*len = (size_t)read_varint(p, end);
		if (*len > (size_t)(end - *p))
			bench_fail("an answer that is none", 0);
		*bytes = *p;
		*p += *len;
	} else {
		bench_fail("an answer that is none", 0);
	}
	return (int)(tag >> 3);
}
