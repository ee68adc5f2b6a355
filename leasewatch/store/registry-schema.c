#include "config.h"

#include <stddef.h>

#include "store/registry-schema.h"

/*
 * For people too: `sqlite3 lease.db 'SELECT id, state, why FROM lease'`. States are words, the record is the
 * text of the lock, a duration that is NULL is `never`. _mono_: CLOCK_MONOTONIC of the boot that
 * meta.checkpoint names; _wall_: since 1970.
 */
static const char format_1[] =
	"CREATE TABLE lease(\n"
	"	id TEXT NOT NULL PRIMARY KEY,\n"
	"	lock TEXT NOT NULL,\n"
	"	user TEXT NOT NULL,\n"
	"	uid INTEGER NOT NULL,\n"
	"	state TEXT NOT NULL,\n"
	"	why TEXT NOT NULL,\n"
	"	generation INTEGER NOT NULL,\n"
	"	record TEXT NOT NULL,\n"
	"	runtime TEXT NOT NULL,\n"
	"	usage TEXT NOT NULL,\n"
	"	priority INTEGER NOT NULL,\n"
	"	max_priority INTEGER NOT NULL,\n"
	"	cpu_floor_ppm INTEGER NOT NULL,\n"
	"	ttl_ns INTEGER,\n"
	"	renew_grace_ns INTEGER,\n"
	"	hibernate_after_ns INTEGER,\n"
	"	warn_before_ns INTEGER,\n"
	"	linger_ns INTEGER,\n"
	"	min_ttl_ns INTEGER,\n"
	"	max_ttl_ns INTEGER,\n"
	"	max_lifetime_ns INTEGER,\n"
	"	hibernated_retention_ns INTEGER,\n"
	"	dev INTEGER NOT NULL,\n"
	"	ino INTEGER NOT NULL,\n"
	"	mtime_ns INTEGER NOT NULL,\n"
	"	created_mono_ns INTEGER NOT NULL,\n"
	"	since_mono_ns INTEGER NOT NULL,\n"
	"	renewed_mono_ns INTEGER NOT NULL,\n"
	"	used_mono_ns INTEGER NOT NULL,\n"
	"	restart_credit_ns INTEGER NOT NULL,\n"
	"	created_wall_ns INTEGER NOT NULL,\n"
	"	since_wall_ns INTEGER NOT NULL,\n"
	"	last_beat_wall_ns INTEGER NOT NULL,\n"
	"	work_ended_mono_ns INTEGER NOT NULL,\n"
	"	attempts INTEGER NOT NULL,\n"
	"	disk INTEGER NOT NULL,\n"
	"	wanted INTEGER NOT NULL,\n"
	"	lock_lost INTEGER NOT NULL,\n"
	"	leader_alive INTEGER NOT NULL,\n"
	"	warned INTEGER NOT NULL\n"
	");\n"
	"CREATE TABLE ledger(\n"
	"	seq INTEGER PRIMARY KEY,\n"
	"	at INTEGER NOT NULL,\n" /* wall ms */
	"	id TEXT NOT NULL,\n"
	"	generation INTEGER NOT NULL,\n"
	"	from_state TEXT NOT NULL,\n"
	"	to_state TEXT NOT NULL,\n"
	"	requester INTEGER NOT NULL,\n"
	"	user TEXT NOT NULL,\n"
	"	surface TEXT NOT NULL,\n"
	"	runtime TEXT NOT NULL,\n"
	"	profile TEXT NOT NULL,\n"
	"	session TEXT NOT NULL,\n"
	"	labels TEXT NOT NULL,\n"
	"	zombie_ms INTEGER,\n"
	"	lateness_ms INTEGER,\n"
	"	why TEXT NOT NULL\n"
	");\n"
	"CREATE INDEX ledger_id ON ledger(id);\n"
	"CREATE INDEX ledger_generation ON ledger(generation);\n"
	/*
	 * Exactly one end a lease: a second one is refused by the file itself, not only by whoever wrote this
	 * program.
	 */
	"CREATE UNIQUE INDEX ledger_one_end ON ledger(id) WHERE to_state IN ('reaped', 'denied');\n"
	"CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger BEGIN\n"
	"	SELECT RAISE(ABORT, 'the ledger is append-only');\n"
	"END;\n"
	"CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN\n"
	"	SELECT RAISE(ABORT, 'the ledger is append-only');\n"
	"END;\n"
	/* INSERT OR REPLACE deletes without asking a delete trigger. */
	"CREATE TRIGGER ledger_no_replace BEFORE INSERT ON ledger\n"
	"WHEN EXISTS (SELECT 1 FROM ledger WHERE seq = NEW.seq) BEGIN\n"
	"	SELECT RAISE(ABORT, 'the ledger is append-only');\n"
	"END;\n"
	"CREATE TABLE meta(\n"
	"	key TEXT NOT NULL PRIMARY KEY,\n"
	"	value TEXT NOT NULL\n"
	") WITHOUT ROWID;\n";

const char *const registry_steps[REGISTRY_FORMAT] = { format_1 };
