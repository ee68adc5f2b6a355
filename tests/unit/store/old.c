#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/lease/test.h"
#include "tests/unit/store/old.h"

void old_format(sqlite3 *db, int format)
{
	char path[] = TOP_SRCDIR "/tests/unit/store/format-N.sql";
	static char sql[1 << 16];
	FILE *f;
	size_t n;

	*strrchr(path, 'N') = (char)('0' + format);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(sql, 1, sizeof(sql) - 1, f);
	(void)fclose(f);
	assert_in_range(n, 1, sizeof(sql) - 2);
	sql[n] = '\0';
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", path, sqlite3_errmsg(db));
}
