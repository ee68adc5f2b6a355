#include "config.h"

#include "porter-run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/drop.h"

#define WORDS_MAX 4096

/* Words, each ended by NUL, then an empty one: how many, 0 = it is no such list. */
static size_t count_words(const char *words, size_t size)
{
	size_t n = 0;

	for (size_t at = 0; at < size; n++) {
		const char *nul = memchr(words + at, '\0', size - at);

		if (!nul)
			return 0;
		if (nul == words + at)
			return n;
		at = (size_t)(nul - words) + 1;
	}
	return 0;
}

bool porter_ask_valid(const struct porter_ask *a)
{
	size_t n;

	if (a->magic != PORTER_MAGIC || a->size != sizeof *a || !memchr(a->term, '\0', sizeof a->term))
		return false;
	if (a->term[strspn(a->term, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-")])
		return false;
	n = count_words(a->args, sizeof a->args);
	/* No engine's client must take it for an option of its own. */
	return n > 0 && n <= WORDS_MAX && a->args[0] != '-';
}

static size_t add_words(char **argv, size_t n, char *words)
{
	for (; *words; words += strlen(words) + 1)
		argv[n++] = words;
	return n;
}

static int become(char **argv, char **env, const int fds[PORTER_FDS])
{
	int safe[PORTER_FDS];
	sigset_t none;

	if (setsid() < 0 || chdir("/") < 0)
		return errno;
	(void)umask(022);
	/* Out of the way of each other first: what was passed may have any number. */
	for (int i = 0; i < PORTER_FDS; i++)
		if ((safe[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, PORTER_FDS)) < 0)
			return errno;
	for (int i = 0; i < PORTER_FDS; i++)
		if (dup2(safe[i], i) < 0)
			return errno;
	for (int s = 1; s < NSIG; s++)
		(void)signal(s, SIG_DFL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || close_range(PORTER_FDS, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return errno;
	execve(argv[0], argv, env);
	return errno;
}

/* Where the command is found, as a shell would, on root's own path. */
static const char root_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static int absolute(char *word, char full[4096])
{
	const char *p = root_path, *end;

	if (word[0] == '/')
		return (size_t)snprintf(full, 4096, "%s", word) < 4096 ? 0 : -ENAMETOOLONG;
	for (;; p = end + 1) {
		end = strchrnul(p, ':');
		if (snprintf(full, 4096, "%.*s/%s", (int)(end - p), p, word) < 4096 && access(full, X_OK) == 0)
			return 0;
		if (!*end)
			return -ENOENT;
	}
}

int porter_start(const struct porter_ticket *t, const struct porter_ask *a, const int fds[PORTER_FDS], pid_t *ret)
{
	char path[sizeof root_path + 8], home[] = "HOME=/root", term[PORTER_TERM_SIZE + 8], id[LEASE_ID_SIZE + 16], full[4096];
	char *env[] = {path, home, id, term, NULL};
	size_t n = count_words(a->args, sizeof a->args) + count_words(t->words, sizeof t->words);
	struct porter_ticket own = *t;
	struct porter_ask *asked = malloc(sizeof *asked);
	char **argv = calloc(n + 1, sizeof *argv);
	volatile int error = 0; /* written by the child: it has our memory until it has its own */
	pid_t pid;
	int r = -ENOMEM;

	if (!asked || !argv)
		goto out;
	*asked = *a;
	n = add_words(argv, 0, own.words);
	(void)add_words(argv, n, asked->args);
	(void)snprintf(path, sizeof path, "PATH=%s", root_path);
	(void)snprintf(id, sizeof id, "LEASE_ID=%s", t->id);
	(void)snprintf(term, sizeof term, "TERM=%s", a->term);
	if (!a->term[0])
		env[3] = NULL;
	r = absolute(argv[0], full);
	if (r < 0)
		goto out;
	argv[0] = full;
	drop_oom_lend();
	pid = vfork();
	if (pid == 0) {
		error = become(argv, env, fds);
		_exit(127);
	}
	r = pid < 0 ? -errno : -error;
	drop_oom_take_back();
	if (pid > 0 && error)
		(void)waitpid(pid, NULL, 0);
	if (r == 0)
		*ret = pid;
out:
	free(asked);
	free(argv);
	return r;
}
