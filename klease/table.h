/*
 * klease/table.h: tables for people. Cells come from files that others wrote: each is made safe here. On a
 * terminal a row is a line: where it is narrow the columns in spare (first ones first) are left out, and the last
 * column is cut. In a pipe all columns stand: whoever counts them counts right.
 */
#ifndef KLEASE_TABLE_H
#define KLEASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table {
	size_t columns, n, size;
	char **cells;
	const unsigned char *spare; /* ended by 0; NULL: none */
};
void table_begin(struct table *t, size_t columns);
void table_cell(struct table *t, const char *text);
void table_print(struct table *t); /* on stdout; lets go of it */

#define WHEN_SIZE 32
/* "2026-03-01 12:00:00", local; "-" for 0. Gives buf. */
const char *when_text(char buf[WHEN_SIZE], int64_t wall_ms);
/* How long ago, or how long until: "12 s"; "-" for 0. */
const char *when_ago(char buf[WHEN_SIZE], int64_t wall_ms, int64_t now_ms);
const char *when_left(char buf[WHEN_SIZE], int64_t wall_ms, int64_t now_ms);

#endif
