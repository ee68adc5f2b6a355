#include "config.h"

#include "klease/commands.h"

#include <string.h>

#include "klease/exits.h"
#include "klease/say.h"

#define ASKING                                                                                    \
	(ARG_BIT(ARG_PROFILE) | ARG_BIT(ARG_TTL) | ARG_BIT(ARG_SESSION) | ARG_BIT(ARG_PRIORITY) | \
	 ARG_BIT(ARG_LABEL) | ARG_BIT(ARG_SURFACE) | ARG_BIT(ARG_LINGER) | ARG_BIT(ARG_USAGE) |   \
	 ARG_BIT(ARG_WAIT))

const struct command command_table[] = {
	{ "create",
	  "Ask for a lease and print its id; a command is started once it is active, and left to itself.",
	  OPERANDS_COMMAND_MAYBE, ASKING | ARG_BIT(ARG_LEADER) | ARG_BIT(ARG_JSON), NEED_DAEMON | NEED_STATE,
	  cmd_create },
	{ "run", "Take a lease, run a command in it, and give the lease back when the command ends.",
	  OPERANDS_COMMAND, ASKING | ARG_BIT(ARG_NO_DAEMON_OK), NEED_TREE, cmd_run },
	{ "exec", "Run a command inside a lease that is there already, waking it first.", OPERANDS_ID_COMMAND,
	  ARG_BIT(ARG_TIMEOUT), NEED_DAEMON | NEED_STATE, cmd_exec },
	{ "connect", "Join standard input and output with a TCP port inside of a lease, waking it first.", OPERANDS_ID_PORT,
	  ARG_BIT(ARG_TIMEOUT), NEED_DAEMON | NEED_STATE, cmd_connect },
	{ "renew", "Push a lease's end away by one ttl, and say how long it has.", OPERANDS_ID,
	  ARG_BIT(ARG_TTL), NEED_TREE, cmd_renew },
	{ "release", "End a lease now, or withdraw a request.", OPERANDS_ID, 0, NEED_TREE, cmd_release },
	{ "hibernate", "Hibernate a lease now, and wait until it is.", OPERANDS_ID, ARG_BIT(ARG_TIMEOUT),
	  NEED_DAEMON | NEED_STATE, cmd_hibernate },
	{ "resume", "Wake a hibernated lease, and wait until it is active.", OPERANDS_ID, ARG_BIT(ARG_TIMEOUT),
	  NEED_DAEMON | NEED_STATE, cmd_resume },
	{ "list", "Show leases and requests.", OPERANDS_NONE,
	  ARG_BIT(ARG_JSON) | ARG_BIT(ARG_ALL) | ARG_BIT(ARG_MINE) | ARG_BIT(ARG_OF_USER), NEED_TREE,
	  cmd_list },
	{ "show", "Show all there is to know of one lease.", OPERANDS_ID, ARG_BIT(ARG_JSON), NEED_TREE,
	  cmd_show },
	{ "wait", "Wait until a lease is in a state.", OPERANDS_ID_STATE, ARG_BIT(ARG_TIMEOUT),
	  NEED_DAEMON | NEED_STATE, cmd_wait },
	{ "events", "Follow what happens to leases, a line each.", OPERANDS_NONE,
	  ARG_BIT(ARG_JSON) | ARG_BIT(ARG_LEASE), NEED_DAEMON | NEED_STATE, cmd_events },
	{ "ledger", "Print what has happened to leases, oldest first.", OPERANDS_NONE,
	  ARG_BIT(ARG_JSON) | ARG_BIT(ARG_LEASE) | ARG_BIT(ARG_SINCE) | ARG_BIT(ARG_OF_USER) |
		  ARG_BIT(ARG_LIMIT),
	  NEED_TREE, cmd_ledger },
	{ "session", "Begin, renew, end or show the lease of a login, an agent's run or a CI job.", OPERANDS_VERB,
	  ARG_BIT(ARG_SURFACE) | ARG_BIT(ARG_LEADER) | ARG_BIT(ARG_TTL) | ARG_BIT(ARG_LINGER) | ARG_BIT(ARG_LABEL) |
	      ARG_BIT(ARG_AGENT) | ARG_BIT(ARG_SHELL) | ARG_BIT(ARG_JSON) | ARG_BIT(ARG_QUIET) | ARG_BIT(ARG_VERBOSE),
	  0, cmd_session },
	{ "init", "Make what the daemon needs before its first start.", OPERANDS_NONE, ARG_BIT(ARG_DRY_RUN),
	  0, cmd_init },
	{ "hold", "Stop every destructive act until lifted, or until the time is over.", OPERANDS_NONE,
	  ARG_BIT(ARG_FOR) | ARG_BIT(ARG_LIFT), NEED_DAEMON | NEED_STATE, cmd_hold },
	{ "breaker", "Show whether mass silence is held instead of reaped, or let reaping go on.", OPERANDS_NONE,
	  ARG_BIT(ARG_LET_GO), NEED_DAEMON | NEED_STATE, cmd_breaker },
	{ 0 },
};

static const struct {
	int status;
	const char *text;
} exit_table[] = {
	{ KX_OK, "done" },
	{ KX_FAILED, "failed" },
	{ KX_USAGE, "usage: nothing was changed" },
	{ KX_LOST, "the lease is lost, over or unknown: do not write" },
	{ KX_REFUSED, "refused" },
	{ KX_TIMEOUT, "timed out" },
	{ KX_NODAEMON, "no daemon" },
	{ KX_OURS, "run, exec: klease itself failed" },
	{ KX_NOEXEC, "run, exec, create: the command cannot be run" },
	{ KX_NOTFOUND, "run, exec, create: there is no such command" },
};

static bool in_kbox(const char *name)
{
	return !strcmp(name, "create") || !strcmp(name, "renew") || !strcmp(name, "release") ||
	       !strcmp(name, "list");
}

const struct command *command_find(const char *name, bool kbox)
{
	for (const struct command *c = command_table; c->name; c++)
		if (!strcmp(c->name, name))
			return kbox && !in_kbox(name) ? NULL : c;
	return NULL;
}

/* How many letters are wrong, missing, too many or swapped (optimal string alignment). */
static int distance(const char *a, const char *b)
{
	int d[16][16];
	int m = (int)strlen(a), n = (int)strlen(b);

	if (m > 15 || n > 15)
		return 16;
	for (int i = 0; i <= m; i++)
		d[i][0] = i;
	for (int j = 0; j <= n; j++)
		d[0][j] = j;
	for (int i = 1; i <= m; i++)
		for (int j = 1; j <= n; j++) {
			int least = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			if (d[i - 1][j] + 1 < least)
				least = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < least)
				least = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < least)
				least = d[i - 2][j - 2] + 1;
			d[i][j] = least;
		}
	return d[m][n];
}

const char *command_near(const char *name, bool kbox)
{
	const char *near = NULL;
	int least = 3;

	for (const struct command *c = command_table; c->name; c++) {
		int d = kbox && !in_kbox(c->name) ? least : distance(name, c->name);

		if (d < least && d < (int)strlen(c->name) / 2 + 1) {
			least = d;
			near = c->name;
		}
	}
	return near;
}

static const char *operand_words(enum operands o)
{
	switch (o) {
	case OPERANDS_ID: return " ID";
	case OPERANDS_ID_STATE: return " ID STATE";
	case OPERANDS_ID_PORT: return " ID PORT";
	case OPERANDS_COMMAND: return " -- COMMAND...";
	case OPERANDS_COMMAND_MAYBE: return " [-- COMMAND...]";
	case OPERANDS_ID_COMMAND: return " ID -- COMMAND...";
	case OPERANDS_VERB: return " start|beat|archive|list [ID]";
	case OPERANDS_NONE: break;
	}
	return "";
}

static void print_option(FILE *out, const char *name, const char *value, bool optional, const char *text)
{
	char left[64];

	(void)snprintf(left, sizeof left, "--%s%s%s%s", name,
		       !value ? "" : (optional ? "[=" : " "), value ? value : "", optional ? "]" : "");
	fprintf(out, "  %-18s %s\n", left, text);
}

void command_help(const struct command *c, FILE *out)
{
	fprintf(out, "usage: %s %s%s%s\n%s\n", say_program(), c->name, c->takes ? " [option...]" : "",
		operand_words(c->operands), c->sentence);
	fputc('\n', out);
	for (int i = 0; i < ARG_MAX; i++)
		if (c->takes & ARG_BIT(i))
			print_option(out, arg_table[i].name, arg_table[i].value, arg_table[i].optional,
				     arg_table[i].text);
	print_option(out, "notices", "DIR", false, "the notices tree to use");
	print_option(out, "help", NULL, false, "this text");
}

void commands_help(FILE *out, bool kbox)
{
	fprintf(out, "usage: %s [--notices DIR] [--user] COMMAND...\n\n", say_program());
	for (const struct command *c = command_table; c->name; c++)
		if (!kbox || in_kbox(c->name))
			fprintf(out, "  %-9s %s\n", c->name, c->sentence);
	fprintf(out, "  %-9s %s\n\n", "help", "Show this, or `help COMMAND`: a command's options.");
	print_option(out, "notices", "DIR", false, "the notices tree to use [KLEASE_NOTICES]");
	print_option(out, "user", NULL, false, "your own tree and daemon (root: believe the environment)");
	print_option(out, "version", NULL, false, "print the version");
	fputs("\nexit status:\n", out);
	for (size_t i = 0; i < sizeof exit_table / sizeof *exit_table; i++)
		fprintf(out, "  %-4d %s\n", exit_table[i].status, exit_table[i].text);
}

void commands_words(FILE *out)
{
	for (const struct command *c = command_table; c->name; c++) {
		fprintf(out, "command %s\n", c->name);
		for (int i = 0; i < ARG_MAX; i++)
			if (c->takes & ARG_BIT(i))
				fprintf(out, "option %s --%s\n", c->name, arg_table[i].name);
	}
	for (size_t i = 0; i < sizeof exit_table / sizeof *exit_table; i++)
		fprintf(out, "exit %d\n", exit_table[i].status);
}
