/*
 * tests/pam/session.h: a tree of the test's own, perhaps with a daemon's folders, and sessions in it. Every function
 * ends the test where it cannot.
 */
#ifndef TESTS_PAM_SESSION_H
#define TESTS_PAM_SESSION_H

#include "lease/record.h"
#include "lease/tree.h"
#include "lease/twin.h"
#include "tests/pam/stack.h"
#include "tests/unit/lease/test.h"

extern struct scratch dir;
extern struct lease_tree tree;
extern int sessions; /* the folder of the twins, or -1 */

int setup(void **state);
int teardown(void **state);
#define SESSION_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

void make_house(mode_t mode);
const char *only(int dirfd);
void read_record(const char *name, struct lease_record *r);
void read_twin(struct lease_twin *t);
pam_handle_t *opened(const char *service);
void closed(pam_handle_t *pamh);
int locks_of(const char *service, const char *lines);

#endif
