#include "config.h"

#include "klease/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "klease/exits.h"

static sigset_t old_mask, old_ignored;

void child_remember_signals(void)
{
	struct sigaction sa;

	(void)sigprocmask(SIG_SETMASK, NULL, &old_mask);
	sigemptyset(&old_ignored);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sigaction(sig, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN)
			sigaddset(&old_ignored, sig);
	/* Ignored, it would make the kernel reap our children behind our back. */
	sa = (struct sigaction){ .sa_handler = SIG_DFL };
	(void)sigaction(SIGCHLD, &sa, NULL);
}

bool child_was_ignored(int sig)
{
	return sigismember(&old_ignored, sig) == 1;
}

static void restore_signals(void)
{
	struct sigaction sa = { 0 };

	for (int sig = 1; sig < SIGRTMIN; sig++) {
		sa.sa_handler = child_was_ignored(sig) ? SIG_IGN : SIG_DFL;
		(void)sigaction(sig, &sa, NULL);
	}
	(void)sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

int child_exec(char *const *words, const char *id, const char *lock)
{
	if (setenv("KLEASE_ID", id, 1) < 0 || setenv("KLEASE_LOCK", lock, 1) < 0)
		return errno;
	restore_signals();
	(void)execvp(words[0], words);
	return errno;
}

int child_exec_status(int error)
{
	return error == ENOENT ? KX_NOTFOUND : KX_NOEXEC;
}

static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

int child_check(const char *file)
{
	const char *path = getenv("PATH"), *end;
	int e, worst = ENOENT;
	char full[4096];

	if (!*file || strchr(file, '/') || !path)
		return *file ? (strchr(file, '/') ? check_file(file) : 0) : ENOENT;
	for (;; path = end + 1) {
		end = strchrnul(path, ':');
		if (snprintf(full, sizeof full, "%.*s%s%s", (int)(end - path), path, end > path ? "/" : "",
			     file) < (int)sizeof full) {
			e = check_file(full);
			if (e == 0)
				return 0;
			if (e == EACCES)
				worst = EACCES;
		}
		if (!*end)
			return worst;
	}
}

int child_status(int wstatus)
{
	return WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
}
