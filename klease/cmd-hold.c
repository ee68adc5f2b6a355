/*
 * klease hold: nothing is ended until the hold is lifted or over. Who may is the daemon's to say: root in
 * system mode.
 */
#include "config.h"

#include <stdio.h>

#include "klease/ask.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/say.h"
#include "lease/duration.h"

#define HOLD_DEFAULT (INT64_C(3600) * LEASE_NS_PER_S)

int cmd_hold(struct world *w, struct args *a)
{
	struct ask ask = { .verb = a->lift ? ASK_UNHOLD : ASK_HOLD };
	struct ask_answer answer;
	char text[LEASE_DURATION_SIZE], what[SAFE_SIZE];
	int status;

	if (a->lift && a->hold_for)
		args_usage("--lift ends the hold now: --for has no place beside it");
	if (!a->lift)
		ask.ttl = a->hold_for ? a->hold_for : HOLD_DEFAULT;
	status = ask_daemon(w, &ask, ASK_TIMEOUT, -1, &answer);
	if (status != KX_OK)
		return status;
	lease_duration_human(text, ask.ttl);
	if (answer.what[0])
		printf("%s\n", safe(what, answer.what));
	else if (a->lift)
		printf("the hold is lifted\n");
	else
		printf("nothing is ended for %s\n", text);
	return KX_OK;
}
