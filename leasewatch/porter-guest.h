/* porter-guest.h: one who has come to the porter, in a process of his own: what he wants runs there, and its end is told. */
#ifndef PORTER_GUEST_H
#define PORTER_GUEST_H

#include <sys/socket.h>

#include "porter.h"

enum guest_end { GUEST_SERVED, GUEST_NO_ROOM, GUEST_NO_REQUEST, GUEST_NO_COMMAND, GUEST_NO_TICKET, GUEST_NOT_RUN, GUEST_ENDS };

/* Printable. */
const char *guest_why(int end);
/* Comes back when all is over. t: NULL = he has none. !room: he is told so. */
enum guest_end guest_serve(int sock, const struct ucred *who, const struct porter_ticket *t, bool room);

#endif
