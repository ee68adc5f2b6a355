/*
 * klease connect: standard input and output, joined with a TCP port inside of a lease: for ssh's ProxyCommand. It is exec with
 * a command of ours, so all that holds for exec holds here: it wakes the lease, is use while it lives, and goes in the way that
 * the lease's runtime has. What joins them is a program that the workload has; one of our own could not be run in there.
 */
#include "config.h"

#include <stdio.h>

#include "klease/commands.h"

/* The first of them that is there. bash has no half-closed connections: over is over then. */
static char connector[] =
	"for c in nc ncat 'busybox nc'; do\n"
	"	command -v \"${c%% *}\" >/dev/null 2>&1 && exec $c 127.0.0.1 \"$1\"\n"
	"done\n"
	"command -v bash >/dev/null 2>&1 && exec bash -c 'exec 3<>\"/dev/tcp/127.0.0.1/$1\" || exit 1\n"
	"	{ cat <&3; kill $$; } & exec cat >&3' connect \"$1\"\n"
	"echo 'klease connect: there is neither nc nor busybox nor bash inside' >&2\n"
	"exit 127\n";

int cmd_connect(struct world *w, struct args *a)
{
	static char sh[] = "sh", option[] = "-c", name[] = "connect";
	char port[8], *command[] = { sh, option, connector, name, port, NULL };

	(void)snprintf(port, sizeof port, "%d", a->port);
	a->command = command;
	return cmd_exec(w, a);
}
