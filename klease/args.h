/*
 * klease/args.h: every option of every subcommand in one table, and one parser. A command (commands.c) only
 * says which it takes and what operands follow; an option means the same everywhere and is checked here, so
 * that bad input is exit 2 before anything is touched.
 */
#ifndef KLEASE_ARGS_H
#define KLEASE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "lease/record.h"

enum arg {
	ARG_PROFILE,
	ARG_TTL,
	ARG_SESSION,
	ARG_PRIORITY,
	ARG_LABEL,
	ARG_SURFACE,
	ARG_LEADER,
	ARG_LINGER,
	ARG_USAGE,
	ARG_WAIT,
	ARG_NO_DAEMON_OK,
	ARG_TIMEOUT,
	ARG_JSON,
	ARG_ALL,
	ARG_MINE,
	ARG_OF_USER,
	ARG_LEASE,
	ARG_SINCE,
	ARG_LIMIT,
	ARG_FOR,
	ARG_LIFT,
	ARG_LET_GO,
	ARG_DRY_RUN,
	ARG_AGENT,
	ARG_SHELL,
	ARG_QUIET,
	ARG_VERBOSE,
	ARG_MAX,
};
#define ARG_BIT(a) (UINT32_C(1) << (a))

struct arg_row {
	const char *name, *value; /* value NULL = a switch */
	bool optional;            /* --name or --name=value */
	const char *text;
};
extern const struct arg_row arg_table[ARG_MAX];

enum operands {
	OPERANDS_NONE,
	OPERANDS_ID,
	OPERANDS_ID_STATE,
	OPERANDS_ID_PORT,
	OPERANDS_COMMAND, /* parsing stops at the first operand */
	OPERANDS_COMMAND_MAYBE,
	OPERANDS_ID_COMMAND,
	OPERANDS_VERB, /* session: a verb, maybe an id */
};

struct args {
	struct lease_record record; /* what create and run ask for */
	int64_t ttl;                /* 0 = not said */
	uint32_t given;             /* ARG_BIT()s */
	bool wait, no_daemon_ok, json, all, mine, lift, let_go, dry_run, agent, shell, quiet, verbose;
	int64_t wait_for;                 /* -1 = as long as it takes */
	int64_t timeout, since, hold_for; /* 0 = not said */
	int limit;                        /* 0 = all */
	int port;                         /* connect; 0 = it is none */
	const char *user;                 /* NULL = all */
	const char *lease;                /* NULL = all */
	const char *id, *state, *verb;
	char **command; /* NULL-terminated; NULL = none */
};

struct command;
/*
 * argv[0] is the subcommand. Prints help and exits 0 at --help, exits 2 with a sentence at bad input.
 * --notices DIR is taken here as well as before the subcommand.
 */
void args_parse(const struct command *c, int argc, char **argv, struct args *ret, const char **ret_notices);
/* Prints why and where to look, exits 2. */
void args_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
