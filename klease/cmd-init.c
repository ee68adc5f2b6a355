/*
 * klease init: what a daemon needs before its first start. May be run again: what is there is left as it is.
 * The daemon makes its own folders.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/paths.h"
#include "klease/say.h"

#define SYSTEM_CONFIG SYSCONFDIR "/leasewatch"

static const char example[] =
	"# leasewatch.conf(5). Every key has a default; these are the ones people change first.\n"
	"#\n"
	"#[defaults]\n"
	"#ttl = 5m\n"
	"#renew_grace = 90s\n"
	"#hibernate_after = 30m\n"
	"#\n"
	"#[surface sshd]\n"
	"#linger = 5m\n";

static int make_folder(const char *path, mode_t mode, bool dry)
{
	struct stat st;

	if (stat(path, &st) == 0) {
		if (!S_ISDIR(st.st_mode)) {
			say("%s is there and is no folder: move it away", path);
			return KX_FAILED;
		}
		printf("is there   %s\n", path);
		return KX_OK;
	}
	if (!dry && mkdir(path, mode) < 0) {
		say("cannot make %s: %m", path);
		return KX_FAILED;
	}
	printf("%s %s\n", dry ? "would make" : "made      ", path);
	return KX_OK;
}

/* The parents of a user's folder may be missing on a new account; they are that user's. */
static int make_parents(const char *path, bool dry)
{
	char part[512];
	struct stat st;

	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		(void)snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
		if (stat(part, &st) < 0 && make_folder(part, 0700, dry) != KX_OK)
			return KX_FAILED;
	}
	return KX_OK;
}

static int make_example(const char *folder, bool dry)
{
	char path[640];
	int fd;

	(void)snprintf(path, sizeof path, "%s/leasewatch.conf", folder);
	if (faccessat(AT_FDCWD, path, F_OK, 0) == 0) {
		printf("is there   %s\n", path);
		return KX_OK;
	}
	if (dry) {
		printf("would make %s\n", path);
		return KX_OK;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || write(fd, example, sizeof example - 1) != (ssize_t)sizeof example - 1) {
		say("cannot write %s: %m", path);
		if (fd >= 0)
			close(fd);
		return KX_FAILED;
	}
	close(fd);
	printf("made       %s\n", path);
	return KX_OK;
}

static int spawn(const char *path, char *const *argv)
{
	char *const env[] = { (char[]){ "PATH=/usr/sbin:/usr/bin:/sbin:/bin" }, (char[]){ "LC_ALL=C.UTF-8" },
			      NULL };
	pid_t pid;
	int status, r;

	r = posix_spawn(&pid, path, NULL, NULL, argv, env);
	if (r)
		return -r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int make_user(bool dry)
{
	char *const useradd[] = { (char[]){ "useradd" },
				  (char[]){ "-r" },
				  (char[]){ "-M" },
				  (char[]){ "-s" },
				  (char[]){ "/usr/sbin/nologin" },
				  (char[]){ "leasewatch" },
				  NULL };
	struct passwd *pw = getpwnam("leasewatch");
	int r;

	if (pw) {
		if (pw->pw_uid == 0) {
			say("the user leasewatch is root by another name: it must have a number of its own");
			return KX_FAILED;
		}
		printf("is there   user leasewatch (uid %u)\n", pw->pw_uid);
		return KX_OK;
	}
	if (dry) {
		printf("would make user leasewatch\n");
		return KX_OK;
	}
	r = spawn("/usr/sbin/useradd", useradd);
	if (r < 0) {
		say("/usr/sbin/useradd could not make the user leasewatch: %s",
		    r == -EIO ? "see above" : strerror(-r));
		return KX_FAILED;
	}
	printf("made       user leasewatch\n");
	return KX_OK;
}

static int init_system(bool dry)
{
	int status = make_user(dry);

	if (status == KX_OK)
		status = make_folder(SYSTEM_CONFIG, 0755, dry);
	if (status == KX_OK)
		status = make_example(SYSTEM_CONFIG, dry);
	if (status == KX_OK)
		printf("next       systemctl enable --now leasewatch   (or, without systemd: leasewatch)\n");
	return status;
}

/* Debian has no sbin in a user's PATH. */
static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	char file[512];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		(void)snprintf(file, sizeof file, "%.*s/%s", (int)n, path, program);
		if (access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

static int init_user(const struct world *w, bool dry)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	char config[512];
	struct stat st;
	int status;

	if (paths_config(config, sizeof config) < 0) {
		say("you have no home folder: set HOME");
		return KX_FAILED;
	}
	status = make_parents(config, dry);
	if (status == KX_OK)
		status = make_folder(config, 0700, dry);
	if (status == KX_OK)
		status = make_example(config, dry);
	if (status != KX_OK)
		return status;
	if (!run || stat(run, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != w->uid)
		printf("note       XDG_RUNTIME_DIR is no folder of yours: state files go beside lease.db\n");
	if (w->daemon)
		printf("next       nothing: a daemon watches already\n");
	else
		printf("next       %s --user   (or: systemctl --user enable --now leasewatch)\n",
		       in_path("leasewatch") ? "leasewatch" : SBINDIR "/leasewatch");
	return KX_OK;
}

int cmd_init(struct world *w, struct args *a)
{
	return w->uid == 0 && !w->trust_env ? init_system(a->dry_run) : init_user(w, a->dry_run);
}
