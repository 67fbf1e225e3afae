/* SPDX-License-Identifier: Apache-2.0 */
/* A layout while its parts are read, from text or from JSON. */
#ifndef KERF_SPEC_LAYOUT_READING_H
#define KERF_SPEC_LAYOUT_READING_H

#include "spec/layout_parts.h"

/* A layout that is being read. */
struct layout_reading {
    struct kerf_layout layout;
    uint32_t tensor, hybrid; /* bits of the parts that were given; those that both kinds have are in both */
    int32_t num_stage_layers;
};

void layout_reading_begin(struct layout_reading *reading);
int32_t layout_set_word(struct layout_reading *reading, enum layout_word word, const char *text,
                        struct kerf_error *err);
/* All is read: decides the kind, checks how parts go together and fills in what was not named. After an error nothing
 * is left to give back. */
int32_t layout_reading_end(struct layout_reading *reading, enum layout_kind kind, struct kerf_layout *ret_layout,
                           struct kerf_error *err);

#endif
