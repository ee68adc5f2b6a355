/*
 * tests/pam/stack.h: a service file of the test's own, and libpam on it. What the module logs is kept, not sent.
 */
#ifndef TESTS_PAM_STACK_H
#define TESTS_PAM_STACK_H

#include <stdbool.h>

#include <security/pam_appl.h>

#include "tests/unit/lease/scratch.h"

/* Who the tests are. */
const char *stack_user(void);
/*
 * Writes the service's file. `%` at the beginning of a line stands for `session optional MODULE notices=TREE`, and
 * `root` where the tests are root; other lines stand as they are.
 */
void stack_write(const struct scratch *s, const char *service, const char *lines);
/* pam_start with it; ends the test where that fails. */
pam_handle_t *stack_start(const struct scratch *s, const char *service, const char *user);
/* All that was logged since the last call of stack_log_clear. */
const char *stack_log(void);
void stack_log_clear(void);
int stack_log_lines(void);

#endif
