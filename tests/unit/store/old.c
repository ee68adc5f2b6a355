#include "config.h"

#include <stdio.h>

#include "tests/unit/lease/test.h"
#include "tests/unit/store/old.h"

void old_format_1(sqlite3 *db)
{
	static char sql[1 << 16];
	FILE *f = fopen(TOP_SRCDIR "/tests/unit/store/format-1.sql", "re");
	size_t n;

	assert_non_null(f);
	n = fread(sql, 1, sizeof(sql) - 1, f);
	(void)fclose(f);
	assert_in_range(n, 1, sizeof(sql) - 2);
	sql[n] = '\0';
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("format-1.sql: %s", sqlite3_errmsg(db));
}
