/*
 * klease/commands.h: the one table of subcommands. Help, completions' test and the manual's test read it.
 */
#ifndef KLEASE_COMMANDS_H
#define KLEASE_COMMANDS_H

#include <stdio.h>

#include "klease/args.h"
#include "klease/world.h"

struct command {
	const char *name;
	const char *sentence;
	enum operands operands;
	uint32_t takes;                              /* ARG_BIT()s */
	unsigned needs;                              /* NEED_* of world.h, seen to before run is called */
	int (*run)(struct world *w, struct args *a); /* gives the exit status */
};
extern const struct command command_table[]; /* ends with name NULL */

/* Under the name kbox-lease only what its own protocol has. */
const struct command *command_find(const char *name, bool kbox);
/* What was meant by a word that is no command; NULL: nobody knows. */
const char *command_near(const char *name, bool kbox);
void command_help(const struct command *c, FILE *out);
void commands_help(FILE *out, bool kbox);
/* For tests: `command NAME`, `option NAME --OPT`, `exit N`, a line each. */
void commands_words(FILE *out);

int cmd_create(struct world *w, struct args *a);
int cmd_run(struct world *w, struct args *a);
int cmd_exec(struct world *w, struct args *a);
int cmd_connect(struct world *w, struct args *a);
int cmd_renew(struct world *w, struct args *a);
int cmd_release(struct world *w, struct args *a);
int cmd_list(struct world *w, struct args *a);
int cmd_show(struct world *w, struct args *a);
int cmd_wait(struct world *w, struct args *a);
int cmd_events(struct world *w, struct args *a);
int cmd_ledger(struct world *w, struct args *a);
int cmd_init(struct world *w, struct args *a);
int cmd_session(struct world *w, struct args *a);
int cmd_hibernate(struct world *w, struct args *a);
int cmd_resume(struct world *w, struct args *a);
int cmd_hold(struct world *w, struct args *a);
int cmd_breaker(struct world *w, struct args *a);

#endif
