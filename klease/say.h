/*
 * klease/say.h: words for people on stderr, and text from other people's files made harmless before it
 * reaches a terminal.
 */
#ifndef KLEASE_SAY_H
#define KLEASE_SAY_H

#include <stddef.h>

/* Who speaks: "klease" or "klease run". Kept by pointer pieces: both live as long as the program. */
void say_as(const char *program, const char *command);
const char *say_program(void);
const char *say_command(void); /* NULL before it is known */
/* "klease run: …\n" on stderr, in one write. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define SAFE_SIZE 1024
/* s with control bytes and what is no text of the locale written as vis(3) does; cut at the buffer's end.
 * Gives buf. */
const char *safe(char buf[SAFE_SIZE], const char *s);

#endif
