/* porter-run.h: starts a command of the porter's: words without a shell, three descriptors, a clean environment. */
#ifndef PORTER_RUN_H
#define PORTER_RUN_H

#include <sys/types.h>

#include "core/porter.h"
#include "porter.h"

/* What klease sent is what it may send. */
bool porter_ask_valid(const struct porter_ask *a);
/* 0: it runs as *ret, the leader of its own session. -errno of exec, or of what comes before. */
int porter_start(const struct porter_ticket *t, const struct porter_ask *a, const int fds[PORTER_FDS], pid_t *ret);

#endif
