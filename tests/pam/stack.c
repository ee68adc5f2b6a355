#include "config.h"

#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <security/pam_ext.h>

#include "tests/pam/stack.h"

static char log_text[65536];
static size_t log_len;

/* In libpam's place, for the module. */
__attribute__((visibility("default"))) void pam_syslog(const pam_handle_t *pamh, int priority, const char *fmt,
						       ...)
{
	size_t room = sizeof(log_text) - log_len;
	va_list args;
	int n;

	(void)pamh, (void)priority;
	va_start(args, fmt);
	n = vsnprintf(log_text + log_len, room, fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n + 2 > room)
		return;
	log_len += (size_t)n;
	log_text[log_len++] = '\n';
	log_text[log_len] = '\0';
}

const char *stack_log(void)
{
	return log_text;
}

void stack_log_clear(void)
{
	log_len = 0;
	log_text[0] = '\0';
}

int stack_log_lines(void)
{
	int n = 0;

	for (const char *p = log_text; *p; p++)
		n += *p == '\n';
	return n;
}

const char *stack_user(void)
{
	const struct passwd *pw = getpwuid(geteuid());

	return pw ? pw->pw_name : "";
}

void stack_write(const struct scratch *s, const char *service, const char *lines)
{
	char text[4096] = "";
	size_t len = 0;

	for (const char *p = lines; *p;) {
		size_t n = strcspn(p, "\n");

		if (*p == '%')
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"session optional " MODULE " notices=%s%s", s->path,
						geteuid() == 0 ? " root" : "");
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s\n", (int)(*p == '%' ? n - 1 : n),
					*p == '%' ? p + 1 : p);
		p += n + (p[n] == '\n');
	}
	scratch_write(s->fd, service, text, len);
	/* libpam looks for it whatever the service, and complains where it is missing. */
	scratch_write(s->fd, "other", "", 0);
}

static int no_conversation(int n, const struct pam_message **msg, struct pam_response **resp, void *data)
{
	(void)n, (void)msg, (void)resp, (void)data;
	abort();
}

pam_handle_t *stack_start(const struct scratch *s, const char *service, const char *user)
{
	static const struct pam_conv conv = {.conv = no_conversation};
	pam_handle_t *pamh = NULL;
	int r = pam_start_confdir(service, user, &conv, s->path, &pamh);

	if (r != PAM_SUCCESS) {
		fprintf(stderr, "pam_start_confdir: %s\n", pam_strerror(pamh, r));
		abort();
	}
	return pamh;
}
