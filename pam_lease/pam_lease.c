/*
 * pam_lease.c: PAM in, lease/ out. Every path returns PAM_SUCCESS, because a login without a lease is better than no
 * login: where this is the only session module, PAM_IGNORE and PAM_SESSION_ERR make pam_open_session(3) fail,
 * `optional` or not.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <syslog.h>

#include <security/pam_ext.h>
#include <security/pam_modutil.h>

#include "pam_lease/login.h"

#define ENTRY __attribute__((visibility("default")))
#define DATA "pam_lease"

/* pam_end(3) runs it in forked children too, as whoever they are: memory, and no more. */
static void forget(pam_handle_t *pamh, void *data, int status)
{
	(void)pamh;
	(void)status;
	free(data);
}

static struct login *open_login(pam_handle_t *pamh)
{
	const void *data = NULL;

	return pam_get_data(pamh, DATA, &data) == PAM_SUCCESS ? (struct login *)(uintptr_t)data : NULL;
}

static const char *item(pam_handle_t *pamh, int what)
{
	const void *text = NULL;

	return pam_get_item(pamh, what, &text) == PAM_SUCCESS && text ? text : "";
}

/* 0, also where this session is none of ours; -errno. */
static int open_session(pam_handle_t *pamh, const struct options *o)
{
	const char *service = item(pamh, PAM_SERVICE);
	char surface[LEASE_SURFACE_SIZE];
	const struct passwd *pw;
	struct login *l;
	int e;

	if (!options_surface(o, service, surface))
		return 0;
	/* Not pam_get_user(3), which asks where there is no name. */
	pw = pam_modutil_getpwnam(pamh, item(pamh, PAM_USER));
	if (!pw)
		return -ESRCH;
	if (pw->pw_uid == 0 && !o->root)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	e = login_open(l, pamh, o, pw, service, surface);
	if (e == 0 && pam_set_data(pamh, DATA, l, forget) != PAM_SUCCESS) {
		(void)login_close(l, pamh, clock_wall_ms());
		e = -ENOMEM;
	}
	if (e < 0) {
		free(l);
		return e;
	}
	l->opens = 1;
	errno = -l->twin_error;
	if (errno && errno != ENOENT)
		pam_syslog(pamh, LOG_WARNING, "%s/%s: nobody learns who leads this session: %m", l->sessions, l->twin.id);
	login_tell(l, pamh);
	if (o->debug)
		pam_syslog(pamh, LOG_DEBUG, "%s/active/%s made", l->notices, l->name);
	return 0;
}

ENTRY int pam_sm_open_session(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
	struct login *l = open_login(pamh);
	struct options o;

	(void)flags;
	if (l) {
		l->opens++;
		return PAM_SUCCESS;
	}
	options_read(&o, pamh, argc, argv);
	errno = -open_session(pamh, &o);
	if (errno)
		pam_syslog(pamh, LOG_WARNING, "no lease for this session of %s in %s: %m", item(pamh, PAM_USER), o.notices);
	return PAM_SUCCESS;
}

ENTRY int pam_sm_close_session(pam_handle_t *pamh, int flags, int argc, const char **argv)
{
	struct login *l = open_login(pamh);

	(void)flags;
	(void)argc;
	(void)argv;
	if (!l || --l->opens > 0)
		return PAM_SUCCESS;
	errno = -login_close(l, pamh, clock_wall_ms());
	/* Gone or archived by hand: there is nothing to close. */
	if (errno && errno != ENOENT && errno != EALREADY)
		pam_syslog(pamh, LOG_WARNING, "%s/active/%s stays: %m", l->notices, l->name);
	(void)pam_set_data(pamh, DATA, NULL, NULL);
	return PAM_SUCCESS;
}
