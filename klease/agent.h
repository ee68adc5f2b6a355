/*
 * klease/agent.h: what a coding agent tells its hooks: a JSON object on standard input with session_id, cwd,
 * hook_event_name and more.
 */
#ifndef KLEASE_AGENT_H
#define KLEASE_AGENT_H

#include <stdbool.h>

#include "lease/record.h"

#define AGENT_ID_SIZE 121 /* with "agent=" it is a label */

struct agent {
	char id[AGENT_ID_SIZE];         /* session_id: of [A-Za-z0-9._-]; "" = no agent spoke */
	char project[LEASE_LABEL_SIZE]; /* "project=" and cwd's last part; "" = none that would do for a label
					 */
};

/* The first byte of standard input that is no blank, which is left there; 0 = a terminal, an end, or nothing
 * for a moment. */
char agent_peek(void);
/* Reads standard input to its end. KX_OK, or KX_USAGE with a sentence said. */
int agent_read(struct agent *ret);

#endif
