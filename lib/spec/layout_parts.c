/* SPDX-License-Identifier: Apache-2.0 */
#include "spec/layout_parts.h"

#include <assert.h>
#include <stdio.h>

#define PART(group, key, member, least, most, unnamed)                                                                 \
    { group, key, least, most, unnamed, offsetof(struct kerf_layout, member), sizeof((struct kerf_layout *)0)->member }
#define TOP(key, least, unnamed) PART(NULL, #key, key, least, KERF_COUNT_MAX, unnamed)
#define PLACED(key)              PART("scale_up", #key, scale_up.key, 1, KERF_COUNT_MAX, 0)

const struct layout_part layout_tensor_parts[TENSOR_PARTS] = {
    TOP(dp, 1, 1),           TOP(tp1, 1, 1), TOP(tp2, 1, 1), TOP(pp, 1, 1), TOP(micro_batch, 1, 1),
    TOP(summa_blocks, 0, 0), PLACED(tp1),    PLACED(tp2),    PLACED(dp),    PLACED(pp),
};

const struct layout_part layout_hybrid_numbers[HYBRID_NUMBERS] = {
    TOP(dp, 1, 1),          PART(NULL, "tp", tp1, 1, KERF_COUNT_MAX, 1),
    TOP(cp, 1, 1),          TOP(pp, 1, 1),
    TOP(vpp, 1, 1),         TOP(ep, 1, 1),
    TOP(etp, 1, 1),         PART(NULL, "zero", zero, 0, 3, 0), /* unnamed: layout_default_zero */
    TOP(micro_batch, 1, 1),
};

static const char *const hybrid_words[] = {"recompute", "schedule", "order", "cp_comm", "stage_layers"};

int64_t layout_get(const struct kerf_layout *layout, const struct layout_part *part) {
    const void *at = (const char *)layout + part->offset;
    if (part->size == sizeof(int64_t)) return *(const int64_t *)at;
    if (part->size == sizeof(int32_t)) return *(const int32_t *)at;
    assert(part->size == 1);
    return *(const int8_t *)at;
}

void layout_set(struct kerf_layout *layout, const struct layout_part *part, int64_t value) {
    void *at = (char *)layout + part->offset;
    assert(value >= 0 && value <= part->most);
    if (part->size == sizeof(int64_t))
        *(int64_t *)at = value;
    else if (part->size == sizeof(int32_t))
        *(int32_t *)at = (int32_t)value;
    else
        *(int8_t *)at = (int8_t)value;
}

void layout_tensor_key(int32_t part, char key[32]) {
    const struct layout_part *p = &layout_tensor_parts[part];
    snprintf(key, 32, "%s%s%s", p->group ? p->group : "", p->group ? "." : "", p->key);
}

const char *layout_hybrid_key(int32_t part) {
    return part < HYBRID_NUMBERS ? layout_hybrid_numbers[part].key : hybrid_words[part - HYBRID_NUMBERS];
}

int8_t layout_default_zero(const struct kerf_layout *layout) { return layout->dp > 1 || layout->cp > 1; }

const char *layout_default_schedule(const struct kerf_layout *layout) {
    return layout->vpp > 1 ? "interleaved_1f1b" : "1f1b";
}
