/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SPEC_SYSTEM_H
#define KERF_SPEC_SYSTEM_H

#include "base/json_read.h"
#include "kerf/spec.h"

/* Reads a system from a JSON object; name is its name when the object has none. */
int32_t system_from_object(const struct json_object *object, const char *name, struct kerf_system *ret_system,
                           struct kerf_error *err);
/* Every field within its bounds. */
int32_t system_check(const struct kerf_system *system, struct kerf_error *err);
void system_json(struct kerf_json *json, const struct kerf_system *system);

#endif
