/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SPEC_LAYOUT_H
#define KERF_SPEC_LAYOUT_H

#include "base/json_read.h"
#include "kerf/spec.h"

int32_t layout_from_object(const struct json_object *object, struct kerf_layout *ret_layout, struct kerf_error *err);

/* Into how many shards the tokens of a micro-batch are cut, which must divide them. */
int64_t layout_sequence_shards(enum kerf_strategy strategy, int64_t tp1, int64_t tp2);

#endif
