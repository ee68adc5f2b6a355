/*
 * klease/ledger-sqlite.h: SQLite, loaded when the ledger is read and not before. A renewal is a process of its own
 * and should cost what touch(1) does; SQLite alone would make each klease start half as slow again.
 */
#ifndef KLEASE_LEDGER_SQLITE_H
#define KLEASE_LEDGER_SQLITE_H

#include <sqlite3.h>

#define SQLITE_CALLS(X)                                                                                 \
	X(open_v2)                                                                                      \
	X(close) X(errmsg) X(busy_timeout) X(prepare_v2) X(bind_text) X(bind_int) X(bind_int64) X(step) \
		X(finalize) X(column_text) X(column_int64) X(column_type)

struct sqlite {
#define X(f) __typeof__(sqlite3_##f) *f;
	SQLITE_CALLS(X)
#undef X
};
/* NULL: it cannot be loaded. */
const struct sqlite *sqlite_load(void);

#endif
