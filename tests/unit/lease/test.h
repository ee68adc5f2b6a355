/* tests/unit/lease/test.h: cmocka and what it needs before it, once. */
#ifndef TESTS_LEASE_TEST_H
#define TESTS_LEASE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Leaves a test out. Its program passes for automake all the same: run-tests finds this line in its log, and counts
 * it.
 */
#define skip_because(why)                                \
	do {                                             \
		print_message("skip %s: %s\n", __func__, why); \
		skip();                                  \
	} while (0)

#endif
