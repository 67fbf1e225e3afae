/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a layout: the keys of its text and of its JSON. There are two kinds of layouts, which share dp, pp and
 * micro_batch; the first part that one kind alone has decides.
 */
#ifndef KERF_SPEC_LAYOUT_PARTS_H
#define KERF_SPEC_LAYOUT_PARTS_H

#include <stddef.h>
#include "kerf/spec.h"
#include "spec/layout_kind.h"

/* A number in a layout. */
struct layout_part {
    const char *group, *key;
    int64_t least, most, unnamed; /* what may be named, and what it is where it is not */
    size_t offset, size;          /* in struct kerf_layout */
};

enum { TENSOR_PARTS = 10, TENSOR_TOP_PARTS = 6, HYBRID_NUMBERS = 9, HYBRID_PARTS = 14 };

/* The order of a layout's JSON, and of kerf_layout_compare. */
extern const struct layout_part layout_tensor_parts[TENSOR_PARTS];

/* The order of a layout's JSON. Behind the numbers are words. */
extern const struct layout_part layout_hybrid_numbers[HYBRID_NUMBERS];
enum layout_word {
    HYBRID_RECOMPUTE = HYBRID_NUMBERS,
    HYBRID_SCHEDULE,
    HYBRID_ORDER,
    HYBRID_CP_COMM,
    HYBRID_STAGE_LAYERS
};
_Static_assert(HYBRID_STAGE_LAYERS + 1 == HYBRID_PARTS, "every part has a number");

int64_t layout_get(const struct kerf_layout *layout, const struct layout_part *part);
void layout_set(struct kerf_layout *layout, const struct layout_part *part, int64_t value);

/* "dp", "scale_up.tp1", "recompute". */
void layout_tensor_key(int32_t part, char key[32]);
const char *layout_hybrid_key(int32_t part);

/* The ZeRO stage and the schedule of a layout of hybrid that names none. */
int8_t layout_default_zero(const struct kerf_layout *layout);
const char *layout_default_schedule(const struct kerf_layout *layout);

#endif
