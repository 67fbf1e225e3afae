/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: their kinds, their parts, and how they are read. */
#ifndef KERF_SPEC_LAYOUT_H
#define KERF_SPEC_LAYOUT_H

#include <stddef.h>
#include "base/json_read.h"
#include "kerf/spec.h"

/* The two kinds of layouts, by the members that they have. */
enum layout_kind {
    LAYOUT_ANY,    /* as its parts say; hybrid where they do not */
    LAYOUT_TENSOR, /* of 1d, summa and seqp */
    LAYOUT_HYBRID
};

/* Reads an object. The layout is given back with kerf_layout_release. */
int32_t layout_from_object(const struct json_object *object, enum layout_kind kind, struct kerf_layout *ret_layout,
                           struct kerf_error *err);

static inline int layout_is_hybrid(const struct kerf_layout *layout) { return layout->schedule[0] != 0; }

/* Every member of its kind within its range, or not named. */
int32_t layout_check_ranges(const struct kerf_layout *layout, struct kerf_error *err);

/* Appends "dp=16,tp=8,pp=4,vpp=2": what is not as it would be unnamed, and dp, tp and pp. */
void layout_hybrid_text(struct kerf_text *out, const struct kerf_layout *layout);

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/*
 * The parts of a layout: the keys of its text and of its JSON. There are two kinds of layouts, which share dp, pp and
 * micro_batch; the first part that only one kind has decides the kind.
 */

/* A number in a layout. */
struct layout_part {
    const char *group, *key;
    int64_t least, most, unnamed; /* the least and largest value that may be named, and the value where none is named */
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

/* ---- Reading the parts, from text or from JSON (layout_reading.c) ------------------------------------------------ */

/* A layout that is being read. */
struct layout_reading {
    struct kerf_layout layout;
    uint32_t tensor, hybrid; /* bits of the parts that were given; those that both kinds have are in both */
    int32_t num_stage_layers;
};

void layout_reading_begin(struct layout_reading *reading);
int32_t layout_set_word(struct layout_reading *reading, enum layout_word word, const char *text,
                        struct kerf_error *err);
/* Ends the reading: decides the kind, checks the parts together and fills in those that were not named. After an error
 * there is nothing to free. */
int32_t layout_reading_end(struct layout_reading *reading, enum layout_kind kind, struct kerf_layout *ret_layout,
                           struct kerf_error *err);

#endif
