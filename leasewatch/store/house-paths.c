#include "config.h"

#include <basedir.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/house-private.h"
#include "store/sentence.h"

/*
 * A line of .leasewatch names these, so a byte that a line cannot hold is refused here, where the sentence can
 * say it.
 */
static bool plain(const char *path)
{
	for (const char *s = path; *s; s++)
		if ((unsigned char)*s < 32 || *s == 127)
			return false;
	return true;
}

static int join(char to[512], char err[256], const char *first, const char *second)
{
	int n = snprintf(to, 512, "%s%s", first, second);

	if (n < 0 || n >= 512)
		return sentence(err, -ENAMETOOLONG, first, "is too long a path (at most 511 bytes with what is below)");
	if (!plain(to))
		return sentence(err, -EINVAL, "path", "has a control byte in it");
	return 0;
}

/* What a user has said: from the folder the daemon is started in, without the slashes at its end. */
static int absolute(char to[512], char err[256], const char *said, const char *option)
{
	char cwd[512];
	size_t len;
	int r;

	if (said[0] == '\0')
		return sentence(err, -EINVAL, option, "needs a folder");
	if (said[0] == '/') {
		r = join(to, err, said, "");
	} else {
		if (!getcwd(cwd, sizeof(cwd) - 1))
			return sentence(err, -errno, said, "cannot be told from the current folder: %m");
		len = strlen(cwd);
		if (len > 1) { /* not / itself */
			cwd[len] = '/';
			cwd[len + 1] = '\0';
		}
		r = join(to, err, cwd, said);
	}
	if (r < 0)
		return r;
	for (len = strlen(to); len > 1 && to[len - 1] == '/'; len--)
		to[len - 1] = '\0';
	return len > 1 ? 0 : sentence(err, -EINVAL, option, "cannot be /");
}

/* The rule of the base directory specification: a path that is not absolute is as if it had not been set. */
static const char *if_absolute(const char *path)
{
	return path && path[0] == '/' ? path : NULL;
}

static int home(const char *below, const char *set, const char *variable, char to[512], char err[256])
{
	const char *dir = if_absolute(getenv("HOME"));

	if (if_absolute(set))
		return join(to, err, set, "");
	if (!dir)
		return sentence(err, -EINVAL, variable, "is not set, and HOME neither: say --notices DIR and --state DIR");
	return join(to, err, dir, below);
}

static int user_notices(struct house_paths *p, char err[256])
{
	char data[512];
	/* once a process, kept: xdgWipeHandle of 1.2.0 forgets to free the runtime folder's name */
	static xdgHandle xdg;
	const char *set = getenv("XDG_DATA_HOME");
	int r;

	/* Without HOME the library gives up; the variable may be there all the same. */
	if (getenv("HOME") && xdgInitHandle(&xdg))
		set = xdgDataHome(&xdg);
	r = home("/.local/share", set, "XDG_DATA_HOME", data, err);
	return r < 0 ? r : join(p->notices, err, data, "/leasewatch/notices");
}

/* The two that libxdg-basedir 1.2 has no (state) or no validated (runtime) answer for. */
static int user_state(struct house_paths *p, char err[256])
{
	const char *runtime = if_absolute(getenv("XDG_RUNTIME_DIR"));
	char state[512], run[512];
	int r = home("/.local/state", getenv("XDG_STATE_HOME"), "XDG_STATE_HOME", state, err);

	if (r == 0)
		r = join(run, err, runtime ? runtime : state, "/leasewatch");
	if (r == 0)
		r = join(p->db, err, state, "/leasewatch/lease.db");
	if (r == 0)
		r = join(p->state, err, run, "/state");
	if (r == 0)
		r = join(p->tokens, err, run, "/tokens");
	if (r == 0)
		r = join(p->sessions, err, run, "/sessions");
	if (r == 0)
		r = join(p->work, err, run, "/work");
	return r;
}

static int system_state(struct house_paths *p, char err[256])
{
	int r = join(p->db, err, SYSTEM_LIB, "/leasewatch/lease.db");

	if (r == 0)
		r = join(p->state, err, SYSTEM_RUN, "/state");
	if (r == 0)
		r = join(p->tokens, err, SYSTEM_RUN, "/tokens");
	if (r == 0)
		r = join(p->sessions, err, SYSTEM_RUN, "/sessions");
	if (r == 0)
		r = join(p->work, err, SYSTEM_LIB, "/leasewatch-work");
	return r;
}

static int all_below(struct house_paths *p, const char *said, char err[256])
{
	char dir[512];
	int r = absolute(dir, err, said, "--state");

	if (r == 0)
		r = join(p->db, err, dir, "/lease.db");
	if (r == 0)
		r = join(p->state, err, dir, "/state");
	if (r == 0)
		r = join(p->tokens, err, dir, "/tokens");
	if (r == 0)
		r = join(p->sessions, err, dir, "/sessions");
	if (r == 0)
		r = join(p->work, err, dir, "/work");
	return r;
}

int house_paths(struct house_paths *p, const char *notices, const char *state, char err[256])
{
	int r;

	if (p->user_mode) {
		p->uid = geteuid();
		p->gid = getegid();
	}
	if (notices)
		r = absolute(p->notices, err, notices, "--notices");
	else if (p->user_mode)
		r = user_notices(p, err);
	else
		r = join(p->notices, err, SYSTEM_NOTICES, "");
	if (r < 0)
		return r;
	if (state)
		return all_below(p, state, err);
	return p->user_mode ? user_state(p, err) : system_state(p, err);
}
