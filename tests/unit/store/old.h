/* tests/unit/store/old.h: registries as older versions left them. Each function ends the test when it cannot. */
#ifndef TESTS_STORE_OLD_H
#define TESTS_STORE_OLD_H

#include <sqlite3.h>

/*
 * Fills an empty database with format-N.sql: leases, one in each state that has a row, and from format 2 on three more that
 * rest; 4 that are over; a hold.
 */
void old_format(sqlite3 *db, int format);

#endif
