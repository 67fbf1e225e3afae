/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SPEC_LAYOUT_H
#define KERF_SPEC_LAYOUT_H

#include "base/json_read.h"
#include "kerf/spec.h"

int32_t layout_from_object(const struct json_object *object, struct kerf_layout *ret_layout, struct kerf_error *err);

/* Every member within its range, or not named. */
int32_t layout_check_ranges(const struct kerf_layout *layout, struct kerf_error *err);

#endif
