/*
 * core/porter.h: what passes between `klease exec` and the porter: the part of leasewatch, root's, that runs a command in a lease
 * whose runtime's way in is not for users (an engine's socket), with the descriptors that klease hands over.
 *
 *	klease exec (the gated process)            porter (SESSIONS/.exec, a SOCK_SEQPACKET)
 *	one struct porter_ask, 3 descriptors  -->  who is it (SO_PEERCRED), and has the actor given it a ticket?
 *	                                     <--   struct porter_word: STARTED or REFUSED
 *	a byte a signal, of porter_signals   -->   to the command's process group
 *	                                     <--   struct porter_word: ENDED, with what waitpid said
 *	hangs up: the command gets SIGHUP, and SIGKILL five seconds later
 *
 * klease looks at the other end's uid too: it must be root.
 */
#ifndef CORE_PORTER_H
#define CORE_PORTER_H

#include <stdint.h>

#define PORTER_SOCKET ".exec" /* in the folder of the sessions, which only root can write */
#define PORTER_MAGIC UINT32_C(0x6b6c7065) /* "klpe" */
#define PORTER_FDS 3
#define PORTER_TERM_SIZE 32
#define PORTER_ARGS_SIZE 32768

struct porter_ask {
	uint32_t magic, size;
	char term[PORTER_TERM_SIZE];  /* TERM; "" = there is no terminal */
	char args[PORTER_ARGS_SIZE]; /* the words of the command, each ended by NUL, then an empty one */
};

enum porter_kind { PORTER_NONE, PORTER_STARTED, PORTER_REFUSED, PORTER_ENDED };
struct porter_word {
	uint32_t kind;
	int32_t value; /* ENDED: what waitpid said; REFUSED: an errno of exec, or 0 */
	char line[128]; /* REFUSED: why, printable */
};

/* Signals that are passed on, and nothing else. */
#define PORTER_SIGNALS { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH }

#endif
