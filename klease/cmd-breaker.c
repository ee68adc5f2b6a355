/*
 * klease breaker: whether mass silence is being held, and the word that lets reaping go on. Who may say it is the
 * daemon's to judge: root in system mode.
 */
#include "config.h"

#include <stdio.h>

#include "klease/ask.h"
#include "klease/commands.h"
#include "klease/exits.h"
#include "klease/say.h"
#include "klease/table.h"

int cmd_breaker(struct world *w, struct args *a)
{
	struct ask ask = { .verb = ASK_BREAKER_RELEASE };
	struct ask_answer answer;
	char when[WHEN_SIZE], what[SAFE_SIZE];
	int status;

	if (a->let_go) {
		status = ask_daemon(w, &ask, ASK_TIMEOUT, -1, &answer);
		if (status == KX_OK)
			printf("%s\n", safe(what, answer.what));
		return status;
	}
	if (w->beacon.breaker_until == 0)
		printf("not tripped: what falls silent ends when it is due\n");
	else
		printf("tripped until %s: %s; they are held, not reaped\n", when_text(when, w->beacon.breaker_until),
		       safe(what, w->beacon.breaker_why));
	return KX_OK;
}
