/*
 * lease/fields.h: reading a small key=value file into a struct by a table of its fields, and writing it back.
 * For beacon.c and twin.c; nobody outside lease/ includes this. No allocation, no static data that is written.
 */
#ifndef LEASE_FIELDS_H
#define LEASE_FIELDS_H

#include "lease/kv.h"

enum lease_field_type { LEASE_F_TEXT, LEASE_F_I32, LEASE_F_U32, LEASE_F_I64, LEASE_F_U64 };

struct lease_field {
	char key[16];
	enum lease_field_type type;
	size_t offset, size;
};
#define LEASE_FIELD_TEXT(struct_, key_, member) \
	{ key_, LEASE_F_TEXT, offsetof(struct struct_, member), sizeof(((struct struct_ *)0)->member) }
#define LEASE_FIELD(struct_, key_, type_, member) { key_, type_, offsetof(struct struct_, member), 0 }

/* Empty texts and zeros are not written. */
void lease_fields_out(struct lease_kv_out *o, const struct lease_field *f, size_t n, const void *what);
/* Unknown keys are skipped; a text that does not fit and a number out of range are refused. what must be zeroed. */
int lease_fields_in(const char *buf, size_t len, const struct lease_field *f, size_t n, void *what, struct lease_error *err);

#endif
