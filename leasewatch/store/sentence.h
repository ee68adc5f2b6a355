/*
 * store/sentence.h: errors as a sentence that begins with the path it is about.
 */
#ifndef STORE_SENTENCE_H
#define STORE_SENTENCE_H

#define SENTENCE_SIZE 256

/*
 * Writes "PATH: …" into err and gives r back. A path that is too long loses its beginning: what is wrong is
 * always readable.
 */
int sentence(char err[SENTENCE_SIZE], int r, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
