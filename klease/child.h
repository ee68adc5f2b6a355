/*
 * klease/child.h: starting the user's command as if its shell had started it: signals, descriptors and errors
 * of exec.
 */
#ifndef KLEASE_CHILD_H
#define KLEASE_CHILD_H

#include <signal.h>
#include <stdbool.h>

/* At the start of main: what was ignored and blocked when we came is what a command must find. SIGCHLD is ours. */
void child_remember_signals(void);
bool child_was_ignored(int sig);
/*
 * In the child: sets KLEASE_ID and KLEASE_LOCK, gives back the signals, runs the command. Comes back with
 * errno only when that failed.
 */
int child_exec(char *const *words, const char *id, const char *lock);
/* 126 or 127, as shells have it. */
int child_exec_status(int error);
/* 0 or the errno with which an exec of this name would fail now: so that a detached command's absence is told
 * at once. */
int child_check(const char *file);
/* What waitpid said, as an exit status. */
int child_status(int wstatus);

#endif
