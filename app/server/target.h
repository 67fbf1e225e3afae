/* SPDX-License-Identifier: Apache-2.0 */
/* The target of a request, as it came: "/jobs/batch_size?job_id=a%20b", or behind a proxy "http://host/jobs". */
#ifndef KERF_SERVER_TARGET_H
#define KERF_SERVER_TARGET_H

#include <stddef.h>
#include "base/arena.h"

struct text_view {
    const char *bytes;
    size_t length;
};

/* The path and the query of a target, with their %-escapes; both are parts of it. */
void target_split(const char *target, struct text_view *ret_path, struct text_view *ret_query);

/* Without %-escapes, with a NUL behind it. bytes NULL: not enough memory. */
struct text_view target_decode(struct arena *arena, struct text_view escaped);

/* The value of a name in a query, decoded, where + is a space; the last one counts. NULL: it is not there. */
const char *target_query(struct arena *arena, struct text_view query, const char *name);

#endif
