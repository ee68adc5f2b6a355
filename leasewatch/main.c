/*
 * leasewatch: the daemon that watches leases. leasewatch(8).
 *
 *	main ── reads options and configuration, makes the folders, takes the tree's lock, forks
 *	 ├── actor (this process; root in system mode): runs runtimes          actor.c
 *	 ├── watcher (user leasewatch): reads what users write, decides        watcher.c
 *	 └── porter (root; none in user mode): runs users' commands in leases  porter.c
 */
#include "config.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "actor.h"
#include "os/drop.h"
#include "os/log.h"
#include "core/porter.h"
#include "porter.h"
#include "store/door.h"
#include "runtimes.h"
#include "watcher.h"

/* A predecessor that was killed takes this long to let go at most. */
#define LOCK_WAIT_MS 5000

struct options {
	bool user_mode, foreground, check, verbose;
	const char *notices, *state, *config;
	char config_default[512];
	char config_whole[PATH_MAX]; /* --config's, from the root: the daemon reads it again from elsewhere */
};

#define TRY_HELP "leasewatch --help names the options.\n" /* behind what was wrong: the whole of it would hide that */

static void usage(FILE *out)
{
	fputs("usage: leasewatch [--user] [--notices DIR] [--state DIR] [--config FILE] [--foreground] [--check] [--verbose]\n"
	      "\n"
	      "Watches the leases of a notices tree: hibernates what is idle, reaps what expired, keeps the ledger.\n"
	      "\n"
	      "  --user         for yourself, without root: tree and state in your own folders\n"
	      "  --notices DIR  the tree (default /run/leasewatch/notices; with --user, under XDG_DATA_HOME)\n"
	      "  --state DIR    where registry, state files and the rest go, instead of the usual places\n"
	      "  --config FILE  instead of /etc/leasewatch/leasewatch.conf (with --user, under XDG_CONFIG_HOME)\n"
	      "  --foreground   stay, and log to standard error\n"
	      "  --check        read the configuration, say what is wrong with it, and end; with --verbose, print it\n"
	      "  --verbose      log debugging lines too\n"
	      "  --help, --version\n"
	      "\n"
	      "SIGHUP reads the configuration again; SIGTERM ends the daemon and no workload. See leasewatch(8).\n",
	      out);
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "user", no_argument, NULL, 'u' },	   { "notices", required_argument, NULL, 'n' },
		{ "state", required_argument, NULL, 's' },  { "config", required_argument, NULL, 'c' },
		{ "foreground", no_argument, NULL, 'f' },   { "check", no_argument, NULL, 'k' },
		{ "verbose", no_argument, NULL, 'v' },	   { "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },	   { 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "+h", longs, NULL)) != -1) {
		switch (c) {
		case 'u': o->user_mode = true; break;
		case 'n': o->notices = optarg; break;
		case 's': o->state = optarg; break;
		case 'c': o->config = optarg; break;
		case 'f': o->foreground = true; break;
		case 'k': o->check = true; break;
		case 'v': o->verbose = true; break;
		case 'h': usage(stdout); exit(0);
		case 'V': puts("leasewatch " PACKAGE_VERSION); exit(0);
		default: fputs(TRY_HELP, stderr); exit(2);
		}
	}
	if (optind < argc) {
		warnx("%s: no argument is expected", argv[optind]);
		fputs(TRY_HELP, stderr);
		exit(2);
	}
}

static void whole_config(struct options *o)
{
	/* One that isn't there is said by who reads it. */
	if (o->config && o->config[0] != '/' && realpath(o->config, o->config_whole))
		o->config = o->config_whole;
}

static void print_error(void *arg, const char *file, int line, const char *what)
{
	(void)arg;
	if (line > 0)
		fprintf(stderr, "%s:%d: %s\n", file, line, what);
	else
		fprintf(stderr, "%s: %s\n", file, what);
}

static void default_config(struct options *o)
{
	const char *dir = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (!o->user_mode)
		n = snprintf(o->config_default, sizeof(o->config_default), "%s/leasewatch/leasewatch.conf", SYSCONFDIR);
	else if (dir && dir[0] == '/')
		n = snprintf(o->config_default, sizeof(o->config_default), "%s/leasewatch/leasewatch.conf", dir);
	else if (home && home[0] == '/')
		n = snprintf(o->config_default, sizeof(o->config_default), "%s/.config/leasewatch/leasewatch.conf", home);
	else
		errx(1, "neither XDG_CONFIG_HOME nor HOME says where the configuration is: name it with --config");
	if (n >= (int)sizeof(o->config_default))
		errx(1, "the path of the configuration is too long");
}

static struct settings *load_settings(const struct options *o)
{
	const char *path = o->config ? o->config : o->config_default;
	struct settings *s;
	int r = settings_load(path, print_error, NULL, &s);

	if (r == -ENOENT && o->config)
		errx(1, "%s: %s", path, strerror(ENOENT));
	if (r == -ENOENT) {
		/* A file that has another name than it should is not good because it was not read. */
		if (o->check)
			warnx("there is no %s: these are the defaults", path);
		r = settings_load(NULL, print_error, NULL, &s);
	}
	if (r < 0)
		errx(1, "%s is not taken: mend what is said above", path);
	return s;
}

/* Who the watcher is to be. NSS is asked here, once, before there is a loop that it could hold up. */
static void find_user(const struct settings *s, struct house_paths *p)
{
	const char *user = settings_daemon(s)->user;

	if (p->user_mode) {
		p->uid = geteuid();
		p->gid = getegid();
		return;
	}
	if (geteuid() != 0)
		errx(1, "system mode needs root. For yourself alone: leasewatch --user");
	struct passwd *pw = getpwnam(user);
	if (!pw)
		errx(1, "there is no user %s: run \"klease init\" as root, which makes it (or name another in [daemon] user)",
		     user);
	if (pw->pw_uid == 0)
		errx(1, "[daemon] user = %s is root: what reads users' files must not be", user);
	p->uid = pw->pw_uid;
	p->gid = pw->pw_gid;
}

/*
 * To the background: the first process stays until the daemon is ready, so that its exit status says how the
 * start went.
 */
static int background(void)
{
	int ready[2], status;
	char byte;

	if (pipe2(ready, O_CLOEXEC) < 0)
		err(1, "pipe");
	pid_t pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid > 0) {
		close(ready[1]);
		if (read(ready[0], &byte, 1) == 1)
			_exit(0);
		_exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
	}
	close(ready[0]);
	if (setsid() < 0 || chdir("/") < 0)
		err(1, "setsid");
	return ready[1];
}

static void lose_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(null, STDOUT_FILENO);
	(void)dup2(null, STDERR_FILENO);
	close(null);
}

/*
 * Each lease may need three descriptors (leader, workload, waiter), and 1024 are soon used up. Nothing is ever
 * run from here.
 */
static void raise_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &r);
	}
}

static int run_watcher(const struct options *o, struct settings *s, const struct house_paths *paths,
		       const struct house *house, int peer, int ready)
{
	static struct watcher w; /* zero; large */

	log_open("watcher", o->foreground, o->verbose ? 7 : 6);
	raise_files();
	if (!paths->user_mode) {
		int r = drop_to(paths->uid, paths->gid);
		if (r < 0) {
			log_err("cannot become uid %u: %s", paths->uid, strerror(-r));
			return 1;
		}
	}
	w.house = *house;
	w.paths = *paths;
	w.settings = s;
	w.config = o->config ? o->config : o->config_default;
	w.config_named = o->config != NULL;
	w.peer.fd = peer;
	w.ready_fd = ready;
	return watcher_run(&w);
}

/* What it has open is two sockets and the log: it may outlive us, and must not hold the tree's lock. */
static void __attribute__((noreturn)) be_porter(const struct options *o, int listening, int tickets)
{
	enum { KEPT = STDERR_FILENO + 1 };
	int high = fcntl(tickets, F_DUPFD_CLOEXEC, KEPT + 2);

	if (high < 0 || dup2(listening, KEPT) < 0 || dup2(high, KEPT + 1) < 0 || close_range(KEPT + 2, ~0U, 0) < 0)
		_exit(1);
	(void)fcntl(KEPT, F_SETFD, FD_CLOEXEC);
	(void)fcntl(KEPT + 1, F_SETFD, FD_CLOEXEC);
	log_open("porter", o->foreground, o->verbose ? 7 : 6);
	if (!o->foreground)
		lose_terminal();
	exit(porter_run(KEPT, KEPT + 1));
}

/* -1: there is none. */
static int start_porter(const struct options *o, const struct house_paths *paths)
{
	int pair[2], listening, r;

	if (paths->user_mode)
		return -1; /* words of runtimes are run by klease itself: they are the user's own */
	r = door_open(paths->sessions, PORTER_SOCKET, PORTER_USER_CONNECTIONS, &listening);
	if (r < 0) {
		warnx("%s/%s: %s: klease exec works in no container", paths->sessions, PORTER_SOCKET, strerror(-r));
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		err(1, "socketpair");
	pid_t porter = fork();
	if (porter < 0)
		err(1, "fork");
	if (porter == 0)
		be_porter(o, listening, pair[1]);
	close(pair[1]);
	close(listening);
	return pair[0];
}

static int run_actor(const struct options *o, struct settings *s, const struct house_paths *paths, int peer, int porter,
		     pid_t watcher, int ready, int background)
{
	char byte;

	log_open("actor", o->foreground, o->verbose ? 7 : 6);
	/* The watcher says once that all is taken up; before, there is nothing to be told to anybody. */
	ssize_t n;
	while ((n = read(ready, &byte, 1)) < 0 && errno == EINTR)
		;
	close(ready);
	if (n == 1) {
#ifdef HAVE_LIBSYSTEMD
		(void)sd_notify(0, "READY=1");
#endif
		if (background >= 0) {
			if (write(background, "", 1) != 1)
				log_warn("who started us has gone");
			close(background);
			lose_terminal();
		}
	}
	struct actor_options a = { .peer = peer, .porter = porter, .watcher = watcher, .work = paths->work,
				   .runtimes = PKGLIBEXECDIR "/runtimes",
				   .sessions = paths->sessions, .user_mode = paths->user_mode, .settings = s,
				   .config = o->config ? o->config : o->config_default, .config_named = o->config != NULL };
	int r = actor_run(&a);
#ifdef HAVE_LIBSYSTEMD
	(void)sd_notify(0, "STOPPING=1");
#endif
	return r;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	struct house_paths paths = { 0 };
	struct house house;
	char text[256];
	int pair[2], ready[2], behind = -1;

	parse_options(argc, argv, &o);
	(void)umask(022);
	default_config(&o);
	whole_config(&o);
	struct settings *s = load_settings(&o);
	if (o.check) {
		if (o.verbose)
			settings_dump(s, stdout);
		paths.user_mode = o.user_mode;
		if (house_paths(&paths, o.notices, o.state, text) == 0) {
			struct actor_options a = { .runtimes = PKGLIBEXECDIR "/runtimes", .work = paths.work,
						   .user_mode = o.user_mode, .settings = s };
			runtimes_print(&a);
		}
		puts("configuration OK");
		settings_free(s);
		return 0;
	}
	const struct settings_daemon *d = settings_daemon(s);
	paths.user_mode = o.user_mode;
	paths.network = d->network;
	find_user(s, &paths);
	const char *notices = o.notices ? o.notices : d->n_notices > 0 ? d->notices[0] : NULL;
	if (!notices && o.user_mode)
		notices = getenv("KLEASE_NOTICES");
	if (house_paths(&paths, notices, o.state, text) < 0)
		errx(1, "%s", text);
	(void)signal(SIGPIPE, SIG_IGN);
	if (!o.foreground)
		behind = background();
	if (house_open(&paths, LOCK_WAIT_MS, &house, text) < 0)
		errx(1, "%s", text);
	if (text[0])
		warnx("%s", text);
	const char *missing = drop_oom_and_lock();
	if (missing && !o.user_mode)
		warnx("%s: under memory pressure this daemon may be slow or killed", missing);

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0 || pipe2(ready, O_CLOEXEC) < 0)
		err(1, "socketpair");
	pid_t watcher = fork();
	if (watcher < 0)
		err(1, "fork");
	if (watcher == 0) {
		close(pair[0]);
		close(ready[0]);
		if (behind >= 0)
			close(behind);
		/* mlockall is not inherited by a child. */
		(void)drop_oom_and_lock();
		exit(run_watcher(&o, s, &paths, &house, pair[1], ready[1]));
	}
	close(pair[1]);
	close(ready[1]);
	int porter = start_porter(&o, &paths);
	return run_actor(&o, s, &paths, pair[0], porter, watcher, ready[0], behind);
}
