/*
 * klease/json.h: leases and transitions as JSON. Keys are the fields' names; times are whole milliseconds
 * since 1970 (UTC), durations whole milliseconds; what is not said, or never, is null.
 */
#ifndef KLEASE_JSON_H
#define KLEASE_JSON_H

#include <jansson.h>

#include "core/view.h"

json_t *json_view(const struct view *v, bool history);
/* One transition of this lease. zombie_ms, lateness_ms: -1 = none. */
json_t *json_step(const struct view *v, const struct view_step *s, int64_t zombie_ms, int64_t lateness_ms);
/* Prints on one line, and lets go of it. KX_OK or KX_FAILED. */
int json_print(json_t *j);

#endif
