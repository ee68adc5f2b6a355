#include "config.h"

#include "actor-env.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void __attribute__((format(printf, 2, 3))) add(struct actor_env *e, const char *fmt, ...)
{
	size_t room = sizeof e->text - e->used;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(e->text + e->used, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room || e->n == ENV_WORDS) {
		e->full = true;
		return;
	}
	e->word[e->n++] = e->text + e->used;
	e->used += (size_t)n + 1;
}

static void add_ours(struct actor_env *e, const char *key)
{
	const char *value = getenv(key);

	if (value)
		add(e, "%s=%s", key, value);
}

static void add_setting(void *arg, const char *key, const char *value)
{
	add(arg, "LEASE_%s=%s", key, value);
}

int actor_env_make(struct actor_env *e, const struct actor *x, const struct act_request *r)
{
	e->n = e->used = 0;
	e->full = false;
	add(e, "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
	add(e, "LC_ALL=C.UTF-8");
	add(e, "LEASE_PROTOCOL=1");
	add(e, "LEASE_UID=%" PRIu32, r->uid);
	add(e, "LEASE_BOOT=%s", x->boot);
	add(e, "LEASE_WORK=%s/%s", x->o->work, r->runtime);
	/* What is left, rounded up: 0 would say that it is over. */
	add(e, "LEASE_DEADLINE_MS=%" PRId64, (r->deadline + LEASE_NS_PER_MS - 1) / LEASE_NS_PER_MS);
	if (r->profile[0])
		add(e, "LEASE_PROFILE=%s", r->profile);
	if (r->id[0]) {
		add(e, "LEASE_ID=%s", r->id);
		add(e, "LEASE_GENERATION=%" PRIu64, r->generation);
		add(e, "LEASE_DIR=%s/%s/%s.%" PRIu64, x->o->work, r->runtime, r->id, r->generation);
	}
	if (r->process.pid && (r->verb == ACT_CREATE || r->verb == ACT_ENTER)) {
		add(e, "LEASE_PID=%" PRId32, r->process.pid);
		add(e, "LEASE_PID_START=%" PRIu64, r->process.start);
	}
	if (r->tty)
		add(e, "LEASE_TTY=1");
	if (x->o->sessions)
		add(e, "LEASE_SESSIONS=%s", x->o->sessions);
	if (r->verb == ACT_WARN) {
		add(e, "LEASE_ABOUT=%s", r->about);
		add(e, "LEASE_SECONDS=%" PRId32, r->seconds);
	}
	/* A profile that has gone says nothing any more: what it made is still to be hibernated and destroyed. */
	(void)settings_runtime_words(x->settings, r->runtime, r->profile, add_setting, e);
	if (x->o->user_mode) {
		add_ours(e, "HOME");
		add_ours(e, "XDG_RUNTIME_DIR");
	}
	e->word[e->n] = NULL;
	return e->full ? -ENAMETOOLONG : 0;
}
