/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERF_SPEC_LAYOUT_H
#define KERF_SPEC_LAYOUT_H

#include "base/json_read.h"
#include "kerf/spec.h"
#include "spec/layout_kind.h"

/* Reads an object. The layout is given back with kerf_layout_release. */
int32_t layout_from_object(const struct json_object *object, enum layout_kind kind, struct kerf_layout *ret_layout,
                           struct kerf_error *err);

static inline int layout_is_hybrid(const struct kerf_layout *layout) { return layout->schedule[0] != 0; }

/* Every member of its kind within its range, or not named. */
int32_t layout_check_ranges(const struct kerf_layout *layout, struct kerf_error *err);

/* Appends "dp=16,tp=8,pp=4,vpp=2": what is not as it would be unnamed, and dp, tp and pp. */
void layout_hybrid_text(struct kerf_text *out, const struct kerf_layout *layout);

#endif
