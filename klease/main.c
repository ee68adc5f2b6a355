/*
 * klease: the command. Finds the subcommand in the table, lets args.c read its words, sets up what it needs,
 * runs it.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

#include "klease/child.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/say.h"

/* A closed stdin, stdout or stderr would give its number to a file of ours. */
static void fill_stdio(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd)
			_exit(KX_FAILED);
}

static _Noreturn void no_command(const char *word, bool kbox)
{
	const char *near = command_near(word, kbox);
	char buf[SAFE_SIZE];

	args_usage("there is no command '%s'%s%s", safe(buf, word), near ? ": the nearest is " : "", near ? near : "");
}

static int help(int argc, char **argv, bool kbox)
{
	const struct command *c;

	if (argc < 2) {
		commands_help(stdout, kbox);
		return KX_OK;
	}
	if (!strcmp(argv[1], "--words")) {
		commands_words(stdout);
		return KX_OK;
	}
	c = command_find(argv[1], kbox);
	if (!c)
		no_command(argv[1], kbox);
	command_help(c, stdout);
	return KX_OK;
}

static int finish(int status)
{
	if (fflush(stdout) == EOF || ferror(stdout)) {
		say("cannot write the output: %m");
		return status == KX_OK ? KX_FAILED : status;
	}
	return status;
}

int main(int argc, char **argv)
{
	enum { OPT_NOTICES = 1000, OPT_USER, OPT_VERSION };
	static const struct option globals[] = {
		{ "notices", required_argument, NULL, OPT_NOTICES },
		{ "user", no_argument, NULL, OPT_USER },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *base = argc > 0 && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1
			   : argc > 0                        ? argv[0]
							     : "klease";
	bool kbox = !strcmp(base, "kbox-lease"), user = false;
	const char *notices = NULL;
	const struct command *c;
	char buf[SAFE_SIZE];
	struct world w;
	struct args a;
	int v;

	fill_stdio();
	child_remember_signals();
	say_as(kbox ? "kbox-lease" : "klease", NULL);
	while ((v = getopt_long(argc, argv, "+:h", globals, NULL)) != -1) {
		switch (v) {
		case OPT_NOTICES: notices = optarg; break;
		case OPT_USER: user = true; break;
		case OPT_VERSION:
			printf("%s (leasewatch) %s\n", say_program(), PACKAGE_VERSION);
			return finish(KX_OK);
		case 'h': commands_help(stdout, kbox); return finish(KX_OK);
		case ':': args_usage("%s wants a value", safe(buf, argv[optind - 1]));
		default: args_usage("no option '%s' before the command", safe(buf, argv[optind - 1]));
		}
	}
	argc -= optind;
	argv += optind;
	if (argc < 1 && (notices || user))
		args_usage("which command? None stands behind the options");
	if (argc < 1) {
		commands_help(stderr, kbox);
		return KX_USAGE;
	}
	if (!strcmp(argv[0], "help"))
		return finish(help(argc, argv, kbox));
	c = command_find(argv[0], kbox);
	if (!c)
		no_command(argv[0], kbox);
	say_as(say_program(), c->name);
	args_parse(c, argc, argv, &a, &notices);
	world_find(&w, notices, user);
	v = world_need(&w, c->needs);
	if (v == KX_OK)
		v = c->run(&w, &a);
	world_close(&w);
	return finish(v);
}
