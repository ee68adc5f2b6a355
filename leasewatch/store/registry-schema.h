/*
 * store/registry-schema.h: the tables of lease.db, as SQL: one step for each format.
 *
 * Private to the registry. REGISTRY_FORMAT is in the file's user_version, REGISTRY_MAGIC in its application_id
 * ("kls1").
 */
#ifndef STORE_REGISTRY_SCHEMA_H
#define STORE_REGISTRY_SCHEMA_H

#define REGISTRY_FORMAT 2
#define REGISTRY_MAGIC 0x6b6c7331

/* registry_steps[n] leads from format n to n + 1; all that are needed run in one transaction. */
extern const char *const registry_steps[REGISTRY_FORMAT];

#endif
