#include "config.h"

#include "klease/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/say.h"
#include "lease/duration.h"
#include "lease/process.h"

const struct arg_row arg_table[ARG_MAX] = {
	[ARG_PROFILE] = { "profile", "P", false, "what to make, by the administrator's name for it" },
	[ARG_TTL] = { "ttl", "D", false, "how long the lease lasts without a renewal (90s, 5m, 2h)" },
	[ARG_SESSION] = { "session", "ID", false, "bind to this session's lease [KLEASE_SESSION]" },
	[ARG_PRIORITY] = { "priority", "N", false, "0 to 9; 9 is kept longest" },
	[ARG_LABEL] = { "label", "K=V", false, "a label for reports; may be given many times" },
	[ARG_SURFACE] = { "surface", "S", false, "where the lease comes from [cli]" },
	[ARG_LEADER] = { "leader", "PID", false, "this process renews the lease while it lives" },
	[ARG_LINGER] = { "linger", "D", false, "how long it stays when its session has ended" },
	[ARG_USAGE] = { "usage", "U", false, "where use is read from: explicit, observed or hybrid" },
	[ARG_WAIT] = { "wait", "D", true, "wait until active; with D, give up and withdraw after it" },
	[ARG_NO_DAEMON_OK] = { "no-daemon-ok", NULL, false, "run the command even when no daemon watches" },
	[ARG_TIMEOUT] = { "timeout", "D", false, "give up after this long" },
	[ARG_JSON] = { "json", NULL, false, "print JSON" },
	[ARG_ALL] = { "all", NULL, false, "leases that are over, too" },
	[ARG_MINE] = { "mine", NULL, false, "only your own" },
	[ARG_OF_USER] = { "user", "U", false, "only this user's" },
	[ARG_LEASE] = { "lease", "ID", false, "only this lease's" },
	[ARG_SINCE] = { "since", "D", false, "only what is younger than this" },
	[ARG_LIMIT] = { "limit", "N", false, "only the last N" },
	[ARG_FOR] = { "for", "D", false, "how long [1h]" },
	[ARG_LIFT] = { "lift", NULL, false, "end the hold" },
	[ARG_LET_GO] = { "release", NULL, false, "let reaping go on: what is silent ends now" },
	[ARG_DRY_RUN] = { "dry-run", NULL, false, "say what would be done, do nothing" },
	[ARG_AGENT] = { "agent", NULL, false, "take a coding agent's JSON on standard input" },
	[ARG_SHELL] = { "shell", NULL, false, "print what a shell should evaluate" },
	[ARG_QUIET] = { "quiet", NULL, false, "a session that is over is no failure" },
	[ARG_VERBOSE] = { "verbose", NULL, false, "say when no daemon watches" },
};

void args_usage(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	say("%s (see `%s help%s%s`)", line, say_program(), say_command() ? " " : "", say_command() ? say_command() : "");
	exit(KX_USAGE);
}

static const char *need_id(const char *s)
{
	char buf[SAFE_SIZE];

	if (!lease_id_valid(s))
		args_usage("'%s' is no lease's id: kls- and ten of a-z2-7", safe(buf, s));
	return s;
}

static int64_t need_duration(enum arg a, const char *s, bool zero_ok)
{
	const char *name = arg_table[a].name;
	char buf[SAFE_SIZE];
	int64_t d = 0;
	int r = lease_duration_parse(s, &d);

	if (r == -ERANGE)
		args_usage("--%s %s: longer than ten years", name, safe(buf, s));
	if (r < 0)
		args_usage("--%s '%s' is no duration: a number and a unit, as in 500ms 90s 5m 2h 7d", name,
			   safe(buf, s));
	if (d == 0 && !zero_ok)
		args_usage("--%s %s: must be longer than nothing", name, safe(buf, s));
	return d;
}

static int need_number(enum arg a, const char *s, int min, int max)
{
	char buf[SAFE_SIZE];
	const char *bad = NULL;
	long long n = strtonum(s, min, max, &bad);

	if (bad)
		args_usage("--%s '%s' is %s: %d to %d", arg_table[a].name, safe(buf, s), bad, min, max);
	return (int)n;
}

static int need_port(const char *s)
{
	char buf[SAFE_SIZE];
	const char *bad = NULL;
	long long n = strtonum(s, 1, 65535, &bad);

	if (bad)
		args_usage("'%s' is no port: a number from 1 to 65535", safe(buf, s));
	return (int)n;
}

static void copy_word(enum arg a, char *to, size_t size, const char *s, bool valid)
{
	char buf[SAFE_SIZE];

	if (!valid || strlcpy(to, s, size) >= size)
		args_usage("--%s '%s' is no name: 1 to %zu letters, digits, '-' or '_', a letter first",
			   arg_table[a].name, safe(buf, s), size - 1);
}

static void take_leader(struct lease_record *r, const char *s)
{
	int pid = need_number(ARG_LEADER, s, 1, INT32_MAX);

	if (lease_process_stat(pid, &r->leader.start, NULL, NULL) < 0)
		args_usage("--leader %d: there is no such process", pid);
	r->leader.pid = pid;
}

static void take_label(struct lease_record *r, const char *s)
{
	char buf[SAFE_SIZE];

	if (!lease_label_valid(s) || strlen(s) >= LEASE_LABEL_SIZE)
		args_usage("--label '%s' is no label: key=value, in all up to %d bytes", safe(buf, s),
			   LEASE_LABEL_SIZE - 1);
	if (r->n_labels == LEASE_LABELS_MAX)
		args_usage("--label: %d at most", LEASE_LABELS_MAX);
	(void)strlcpy(r->labels[r->n_labels++], s, LEASE_LABEL_SIZE);
}

static void take_ttl(struct args *a, const char *s)
{
	int64_t d = need_duration(ARG_TTL, s, true);

	if (lease_ttl_check(d, 0, LEASE_NEVER, &d) == LEASE_TTL_ZERO)
		args_usage("--ttl %s: a lease lasts longer than nothing", s);
	a->ttl = a->record.ttl = d;
}

static void take(struct args *a, enum arg which, const char *s)
{
	struct lease_record *r = &a->record;

	a->given |= ARG_BIT(which);
	switch (which) {
	case ARG_PROFILE: copy_word(which, r->profile, sizeof r->profile, s, lease_word_valid(s)); break;
	case ARG_TTL: take_ttl(a, s); break;
	case ARG_SESSION: (void)strlcpy(r->session, need_id(s), sizeof r->session); break;
	case ARG_PRIORITY: r->priority = need_number(which, s, 0, 9); break;
	case ARG_LABEL: take_label(r, s); break;
	case ARG_SURFACE: copy_word(which, r->surface, sizeof r->surface, s, lease_surface_valid(s)); break;
	case ARG_LEADER: take_leader(r, s); break;
	case ARG_LINGER: r->linger = need_duration(which, s, true); break;
	case ARG_USAGE:
		if (lease_usage_parse(s, &r->usage) < 0)
			args_usage("--usage is explicit, observed or hybrid");
		break;
	case ARG_WAIT:
		a->wait = true;
		a->wait_for = s ? need_duration(which, s, true) : -1;
		break;
	case ARG_NO_DAEMON_OK: a->no_daemon_ok = true; break;
	case ARG_TIMEOUT: a->timeout = need_duration(which, s, false); break;
	case ARG_JSON: a->json = true; break;
	case ARG_ALL: a->all = true; break;
	case ARG_MINE: a->mine = true; break;
	case ARG_OF_USER: a->user = s; break;
	case ARG_LEASE: a->lease = need_id(s); break;
	case ARG_SINCE: a->since = need_duration(which, s, false); break;
	case ARG_LIMIT: a->limit = need_number(which, s, 1, INT32_MAX); break;
	case ARG_FOR: a->hold_for = need_duration(which, s, false); break;
	case ARG_LIFT: a->lift = true; break;
	case ARG_LET_GO: a->let_go = true; break;
	case ARG_DRY_RUN: a->dry_run = true; break;
	case ARG_AGENT: a->agent = true; break;
	case ARG_SHELL: a->shell = true; break;
	case ARG_QUIET: a->quiet = true; break;
	case ARG_VERBOSE: a->verbose = true; break;
	case ARG_MAX: break;
	}
}

#define LONG_HELP 1000
#define LONG_NOTICES 1001
#define LONG_FIRST 1002

static void parse_options(const struct command *c, int argc, char **argv, struct args *a,
			  const char **ret_notices, bool stop)
{
	struct option o[ARG_MAX + 3];
	int n = 0, v;

	for (int i = 0; i < ARG_MAX; i++)
		if (c->takes & ARG_BIT(i))
			o[n++] = (struct option){ arg_table[i].name,
						  !arg_table[i].value     ? no_argument
						  : arg_table[i].optional ? optional_argument
									  : required_argument,
						  NULL, LONG_FIRST + i };
	o[n++] = (struct option){ "notices", required_argument, NULL, LONG_NOTICES };
	o[n++] = (struct option){ "help", no_argument, NULL, LONG_HELP };
	o[n] = (struct option){ 0 };
	while ((v = getopt_long(argc, argv, stop ? "+:h" : ":h", o, NULL)) != -1) {
		char buf[SAFE_SIZE];

		if (v == ':')
			args_usage("%s wants a value", safe(buf, argv[optind - 1]));
		if (v == '?' && optopt >= LONG_FIRST)
			args_usage("--%s takes no value", arg_table[optopt - LONG_FIRST].name);
		if (v == '?')
			args_usage("%s has no option '%s'", c->name, safe(buf, argv[optind - 1]));
		if (v == 'h' || v == LONG_HELP) {
			command_help(c, stdout);
			exit(KX_OK);
		}
		if (v == LONG_NOTICES)
			*ret_notices = optarg;
		else
			take(a, (enum arg)(v - LONG_FIRST), optarg);
	}
}

void args_parse(const struct command *c, int argc, char **argv, struct args *a, const char **ret_notices)
{
	bool has_id = c->operands == OPERANDS_ID || c->operands == OPERANDS_ID_STATE || c->operands == OPERANDS_ID_PORT ||
		      c->operands == OPERANDS_ID_COMMAND;
	bool has_command = c->operands == OPERANDS_COMMAND || c->operands == OPERANDS_COMMAND_MAYBE ||
			   c->operands == OPERANDS_ID_COMMAND;
	char buf[SAFE_SIZE];

	memset(a, 0, sizeof *a);
	lease_record_init(&a->record);
	optind = 0; /* getopt_long of glibc: begin anew, the caller has used it */
	parse_options(c, argc, argv, a, ret_notices, has_command);
	if (has_id) {
		if (optind >= argc)
			args_usage("%s needs a lease's id", c->name);
		a->id = need_id(argv[optind++]);
	}
	if (c->operands == OPERANDS_ID_COMMAND) /* exec ID --timeout 5s -- CMD */
		parse_options(c, argc, argv, a, ret_notices, true);
	if (c->operands == OPERANDS_ID_STATE) {
		if (optind >= argc)
			args_usage("%s needs a state to wait for", c->name);
		a->state = argv[optind++];
		if (!state_public_valid(a->state))
			args_usage("'%s' is no state: requested, denied, admitted, active, idle, hibernated, "
				   "expired, failed or reaped",
				   safe(buf, a->state));
	}
	if (c->operands == OPERANDS_ID_PORT) {
		if (optind >= argc)
			args_usage("%s needs a port", c->name);
		a->port = need_port(argv[optind++]);
	}
	if (c->operands == OPERANDS_VERB) {
		if (optind >= argc)
			args_usage("%s needs a verb", c->name);
		a->verb = argv[optind++];
		if (optind < argc)
			a->id = need_id(argv[optind++]);
	}
	if (has_command && optind < argc)
		a->command = &argv[optind];
	else if (has_command && c->operands != OPERANDS_COMMAND_MAYBE)
		args_usage("%s needs a command, after --", c->name);
	if (!has_command && optind < argc)
		args_usage("%s: '%s' is one word too many", c->name, safe(buf, argv[optind]));
}
