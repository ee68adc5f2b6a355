#include "config.h"

#include "klease/agent.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "klease/clock.h"
#include "klease/exits.h"
#include "klease/say.h"
#include "lease/duration.h"

#define MOMENT_MS 200                 /* for a writer that has not come to it yet */
#define PATIENCE (2 * LEASE_NS_PER_S) /* an agent must not wait for a hook that waits for the agent */
#define JSON_MAX (1024 * 1024)        /* what a tool answered stands in it, too */
#define PEEK 64

static bool readable(int timeout_ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN);
}

/* The first bytes of a pipe, copied: tee(2) takes nothing out. */
static ssize_t peek_pipe(char buf[PEEK])
{
	int fds[2];
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	n = tee(STDIN_FILENO, fds[1], PEEK, SPLICE_F_NONBLOCK);
	if (n > 0)
		n = read(fds[0], buf, PEEK);
	close(fds[0]);
	close(fds[1]);
	return n;
}

char agent_peek(void)
{
	char buf[PEEK];
	ssize_t n = 0;
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		n = pread(STDIN_FILENO, buf, PEEK, lseek(STDIN_FILENO, 0, SEEK_CUR));
	else if (S_ISFIFO(st.st_mode) && readable(MOMENT_MS))
		n = peek_pipe(buf);
	else if (S_ISSOCK(st.st_mode) && readable(MOMENT_MS))
		n = recv(STDIN_FILENO, buf, PEEK, MSG_PEEK | MSG_DONTWAIT);
	for (ssize_t i = 0; i < n; i++)
		if (!isspace((unsigned char)buf[i]))
			return buf[i];
	return 0;
}

/* Up to its end, JSON_MAX + 1 bytes, or for PATIENCE: what has come by then may be whole. */
static int read_all(char *buf, size_t *ret_len)
{
	int64_t deadline = clock_mono() + PATIENCE;
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	ssize_t n;

	*ret_len = 0;
	while (*ret_len < JSON_MAX + 1 && poll(&p, 1, clock_poll_ms(deadline)) > 0) {
		n = read(STDIN_FILENO, buf + *ret_len, JSON_MAX + 1 - *ret_len);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n == 0)
			break;
		if (n > 0)
			*ret_len += (size_t)n;
		if (clock_mono() >= deadline)
			break;
	}
	return 0;
}

static bool id_valid(const char *s)
{
	return s[0] && strlen(s) < AGENT_ID_SIZE &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == strlen(s);
}

static int take(const json_t *o, struct agent *ret)
{
	const char *id = json_string_value(json_object_get(o, "session_id"));
	const char *cwd = json_string_value(json_object_get(o, "cwd"));
	char buf[SAFE_SIZE];
	const char *last;

	if (!id) {
		say("the JSON on standard input has no session_id");
		return KX_USAGE;
	}
	if (!id_valid(id)) {
		say("session_id '%.200s' is none: 1 to %d of letters, digits, '.', '_' and '-'",
		    safe(buf, id), AGENT_ID_SIZE - 1);
		return KX_USAGE;
	}
	(void)strlcpy(ret->id, id, sizeof ret->id);
	last = cwd ? strrchr(cwd, '/') : NULL;
	if (last && last[1]) {
		int n = snprintf(ret->project, sizeof ret->project, "project=%s", last + 1);

		if (n < 0 || (size_t)n >= sizeof ret->project || !lease_label_valid(ret->project))
			ret->project[0] = '\0';
	}
	return KX_OK;
}

static int parse(const char *text, size_t len, struct agent *ret)
{
	char buf[SAFE_SIZE];
	json_error_t err;
	json_t *o;
	int status;

	o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &err);
	if (!json_is_object(o)) {
		say("standard input is no JSON object: %s", o ? "it is something else" : safe(buf, err.text));
		json_decref(o);
		return KX_USAGE;
	}
	status = take(o, ret);
	json_decref(o);
	return status;
}

int agent_read(struct agent *ret)
{
	struct agent heard = {0};
	int r, status = KX_USAGE;
	size_t len;
	char *text;

	if (isatty(STDIN_FILENO)) {
		say("--agent wants the agent's JSON on standard input, not a terminal");
		return KX_USAGE;
	}
	text = malloc(JSON_MAX + 1);
	if (!text) {
		say("out of memory");
		return KX_FAILED;
	}
	r = read_all(text, &len);
	if (r < 0)
		say("cannot read standard input: %s", strerror(-r));
	else if (len > JSON_MAX)
		say("standard input is longer than %d bytes: no agent's JSON is", JSON_MAX);
	else
		status = parse(text, len, &heard);
	free(text);
	if (status == KX_OK)
		*ret = heard;
	return status;
}
