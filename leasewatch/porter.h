/*
 * porter.h: the third process of leasewatch, in system mode: root, forked by main beside watcher and actor. It runs commands in
 * leases for users who must not have their engine's socket: core/porter.h says how klease talks to it.
 *
 * It takes two fixed structs and nothing else. From the actor a *ticket*: the runtime let in this process of this user, and
 * these words go before its command. From klease the command, as words without a shell, which are put behind the ticket's. A
 * ticket is good once, for its one process, for a short time. The command runs as root, for the words are root's (an engine's
 * own client), with a clean environment, in a session of its own, without a controlling terminal.
 *
 * When the actor has gone it takes nobody in any more, and ends when the last command has.
 */
#ifndef PORTER_H
#define PORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "lease/duration.h"
#include "lease/id.h"
#include "lease/record.h"
#include "wire.h"

#define PORTER_TICKET_MAGIC UINT32_C(0x6b6c7074) /* "klpt" */
#define PORTER_TICKET_FOR (INT64_C(30) * LEASE_NS_PER_S)
#define PORTER_CONNECTIONS 256
#define PORTER_USER_CONNECTIONS 16
#define PORTER_TICKETS 1024

struct porter_ticket {
	uint32_t magic, size;
	uint32_t uid;
	uint32_t pad;
	struct lease_process process; /* who may come with it */
	uint64_t generation;
	int64_t until; /* mono */
	char id[LEASE_ID_SIZE];
	char words[sizeof(((struct act_answer *)0)->argv)]; /* as in act_answer */
};

/* Hands a ticket over; -errno: nobody takes it. */
int porter_give(int tickets, const struct porter_ticket *t);
/* The process itself: listening socket, and the end of a SOCK_SEQPACKET that tickets come from. Gives its exit status. */
int porter_run(int listening, int tickets);

#endif
