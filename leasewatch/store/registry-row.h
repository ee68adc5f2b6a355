/*
 * store/registry-row.h: the columns of the table `lease`: one table that binding, reading and the two
 * statements are made from.
 *
 * Private to the registry. A column that the schema has not fails registry_open.
 */
#ifndef STORE_REGISTRY_ROW_H
#define STORE_REGISTRY_ROW_H

#include <sqlite3.h>

#include "core/lease.h"

#define ROW_SQL_SIZE 4096

/*
 * "INSERT INTO lease … ON CONFLICT(id) DO UPDATE …" and "SELECT … FROM lease" with where ("", " WHERE …").
 * -ENOSPC cannot happen while the table fits.
 */
int row_sql_put(char sql[ROW_SQL_SIZE]);
int row_sql_load(char sql[ROW_SQL_SIZE], const char *where);
/* -EINVAL: not a lease that can be kept (no id, an ended state, a record that does not format). */
int row_bind(sqlite3_stmt *st, const struct lease *l);
/* Of "SELECT lock, rest …": sets what the rest holds, and nothing else. -EBADMSG: none that we know. */
int row_read_rest(sqlite3_stmt *st, struct lease *l);
/* -EBADMSG with what is wrong and in which column; *ret is whole on success only. */
int row_read(sqlite3_stmt *st, struct lease *ret, char what[160]);

#endif
