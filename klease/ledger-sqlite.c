#include "config.h"

#include "klease/ledger-sqlite.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#define LIBRARY "libsqlite3.so.0"

const struct sqlite *sqlite_load(void)
{
	static struct sqlite loaded;
	static bool whole;
	void *lib, *f;

	if (whole)
		return &loaded;
	lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return NULL;
	/* By memcpy: C has no cast from an object's pointer to a function's. */
#define X(call)                           \
	f = dlsym(lib, "sqlite3_" #call); \
	if (!f)                           \
		return NULL;              \
	memcpy(&loaded.call, &f, sizeof loaded.call);
	SQLITE_CALLS(X)
#undef X
	whole = true;
	return &loaded;
}
