#include "config.h"

#include "klease/world.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "klease/args.h"
#include "klease/exits.h"
#include "klease/paths.h"
#include "klease/say.h"
#include "lease/process.h"

#define SYSTEM_NOTICES RUNDIR "/leasewatch/notices"

/* Somebody else's beacon counts where he alone can have put it: the daemon may run as any user ([daemon] user). */
static bool trusted(uid_t uid, int root)
{
	struct passwd *pw;
	struct stat st;

	if (uid == 0 || uid == geteuid())
		return true;
	if (fstat(root, &st) == 0 && st.st_uid == uid && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return true;
	pw = getpwnam("leasewatch");
	return pw && pw->pw_uid == uid;
}

static bool beacon_read(struct world *w)
{
	char buf[LEASE_STATE_FILE_MAX];
	struct lease_error err;
	struct lease_stat st;
	size_t len;
	int r;

	w->has_beacon = w->newer = false;
	if (w->tree.root < 0 ||
	    lease_read(w->tree.root, LEASE_BEACON_NAME, (uid_t)-1, buf, sizeof buf, &len, &st) < 0 ||
	    !trusted(st.uid, w->tree.root))
		return false;
	r = lease_beacon_parse(buf, len, &w->beacon, &err);
	w->newer = r == -EPROTO;
	if (r < 0)
		return false;
	w->beacon_uid = st.uid;
	w->has_beacon = true;
	return true;
}

int world_daemon_fd(const struct world *w)
{
	int fd, r;

	if (!w->has_beacon || strcmp(w->beacon.boot, w->boot))
		return -ESRCH;
	r = lease_process_open(&w->beacon.daemon, (uid_t)-1, &fd);
	if (r == -ESRCH && kill(w->beacon.daemon.pid, 0) < 0 && errno == EPERM) {
		/* /proc is mounted with hidepid: its start time is not ours to read, but somebody's process
		 * it is. */
		fd = (int)syscall(SYS_pidfd_open, w->beacon.daemon.pid, 0);
		return fd < 0 ? -errno : fd;
	}
	return r < 0 ? r : fd;
}

bool world_look(struct world *w)
{
	int fd;

	w->daemon = false;
	if (!beacon_read(w))
		return false;
	/* Anew each time: a restarted daemon may have made the folder again. */
	if (w->state >= 0)
		close(w->state);
	w->state = open(w->beacon.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = world_daemon_fd(w);
	if (fd < 0)
		return false;
	close(fd);
	w->daemon = true;
	return true;
}

static bool try_tree(struct world *w, const char *path)
{
	char *full;

	lease_tree_close(&w->tree);
	if (w->state >= 0)
		close(w->state);
	w->state = -1;
	w->has_beacon = w->daemon = false;
	/* Commands are told where their lock is, and may have gone elsewhere: the whole path, always. */
	full = path[0] == '/' ? NULL : realpath(path, NULL);
	if (strlcpy(w->notices, full ? full : path, sizeof w->notices) >= sizeof w->notices)
		args_usage("the path of the notices tree is too long");
	free(full);
	w->system = !strcmp(w->notices, SYSTEM_NOTICES);
	w->tree_error = lease_tree_open(&w->tree, w->notices);
	if (w->tree_error < 0)
		w->tree = (struct lease_tree)LEASE_TREE_CLOSED;
	return world_look(w);
}

void world_user(const struct world *w, char user[LEASE_USER_SIZE])
{
	struct passwd *pw = getpwuid(w->uid);

	if (pw && strlen(pw->pw_name) < LEASE_USER_SIZE)
		(void)strlcpy(user, pw->pw_name, LEASE_USER_SIZE);
	else
		(void)snprintf(user, LEASE_USER_SIZE, "%u", w->uid);
}

void world_find(struct world *w, const char *notices, bool user)
{
	char own[sizeof w->notices] = "";
	const char *env;

	memset(w, 0, sizeof *w);
	w->tree = (struct lease_tree)LEASE_TREE_CLOSED;
	w->state = -1;
	w->uid = geteuid();
	if (lease_boot_id(w->boot) < 0)
		w->boot[0] = '\0';
	w->trust_env = !getauxval(AT_SECURE) && (w->uid != 0 || user);
	env = w->trust_env ? getenv("KLEASE_NOTICES") : NULL;
	if (notices || (env && *env)) {
		(void)try_tree(w, notices ? notices : env);
		return;
	}
	if (!w->trust_env) {
		(void)try_tree(w, SYSTEM_NOTICES);
		return;
	}
	if (paths_notices(own, sizeof own) < 0)
		own[0] = '\0';
	if (own[0] && (try_tree(w, own) || user))
		return;
	if (user)
		args_usage("--user: you have no home folder, so no tree of your own");
	(void)try_tree(w, SYSTEM_NOTICES);
	if (!w->has_beacon && own[0])
		(void)try_tree(w, own);
}

void world_say_no_daemon(const struct world *w)
{
	bool ours = w->system || (w->has_beacon && !w->beacon.user_mode) || (w->uid == 0 && !w->trust_env);

	/* A running daemon cannot be told from none without them. */
	if (w->tree.root < 0 && access(w->notices, F_OK) == 0)
		say("%s has not all of queue/, active/ and archive/: a daemon makes them when it starts (start it again "
		    "where one runs)",
		    w->notices);
	else if (w->newer)
		say("%s/" LEASE_BEACON_NAME " is of another format, a newer leasewatch's: this klease is too old for it",
		    w->notices);
	else if (!ours)
		say("no daemon watches %s; `leasewatch --user` starts it", w->notices);
	else
		say("no daemon watches %s; `%s`%s starts it", w->notices,
		    access("/run/systemd/system", F_OK) == 0 ? "systemctl start leasewatch" : "leasewatch",
		    w->uid == 0 ? "" : ", as root,");
}

void world_say_degraded(const struct world *w)
{
	char text[SAFE_SIZE];

	if (w->daemon && w->beacon.degraded[0])
		say("degraded: %s", safe(text, w->beacon.degraded));
}

int world_need(struct world *w, unsigned needs)
{
	if (needs != 0 && w->tree.root < 0 && w->tree_error != -ENOENT) {
		say("cannot open the notices tree %s: %s", w->notices, strerror(-w->tree_error));
		return KX_FAILED;
	}
	if (needs != 0 && w->tree.root < 0) {
		world_say_no_daemon(w);
		return KX_NODAEMON;
	}
	if ((needs & NEED_DAEMON) && !w->daemon) {
		world_say_no_daemon(w);
		return KX_NODAEMON;
	}
	if ((needs & NEED_STATE) && w->state < 0) {
		say("cannot look into %s, where the daemon keeps its state files: check its mode",
		    w->beacon.state);
		return KX_FAILED;
	}
	return KX_OK;
}

void world_close(struct world *w)
{
	lease_tree_close(&w->tree);
	if (w->state >= 0)
		close(w->state);
	w->state = -1;
}
