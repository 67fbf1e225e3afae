/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: their ranges and order. Which rules one must obey is in cost/layout_rules.c. */
#include "spec/layout.h"

#include <stdlib.h>
#include <string.h>
#include "spec/layout_parts.h"

int64_t kerf_layout_devices(const struct kerf_layout *layout) {
    int64_t devices;
    int64_t shards = layout_is_hybrid(layout) ? layout->cp : layout->tp2;
    if (__builtin_mul_overflow(layout->dp, layout->tp1, &devices) ||
        __builtin_mul_overflow(devices, shards, &devices) || __builtin_mul_overflow(devices, layout->pp, &devices))
        return INT64_MAX;
    return devices;
}

void kerf_layout_release(struct kerf_layout *layout) {
    free((void *)(uintptr_t)layout->stage_layers); /* const for those that belong to others */
    layout->stage_layers = NULL;
}

/* ---- Order -------------------------------------------------------------------------------------------- */

static int32_t compare_splits(const struct kerf_layout *a, const struct kerf_layout *b) {
    const int32_t *x = a->has_best_split ? NULL : a->stage_layers, *y = b->has_best_split ? NULL : b->stage_layers;
    if (x == NULL || y == NULL) return (x != NULL) - (y != NULL);
    for (int64_t i = 0; i < a->pp * a->vpp; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* -1, 0 or 1, like all that follows */
static int32_t order_of(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* In the order in which a search chooses them. */
static int32_t compare_hybrid(const struct kerf_layout *a, const struct kerf_layout *b) {
    int32_t order = order_of(a->cp, b->cp);
    if (order == 0) order = order_of(a->cp_comm, b->cp_comm);
    if (order == 0) order = order_of(a->ep, b->ep);
    if (order == 0) order = order_of(a->etp, b->etp);
    if (order == 0) order = order_of(a->recompute, b->recompute);
    if (order == 0) order = order_of(a->vpp, b->vpp);
    if (order == 0) order = order_of(strncmp(a->schedule, b->schedule, sizeof a->schedule), 0);
    if (order == 0) order = order_of(a->order, b->order);
    if (order == 0) order = order_of(a->recompute_layers, b->recompute_layers);
    if (order == 0) order = order_of(a->zero, b->zero);
    return order ? order : compare_splits(a, b);
}

int32_t kerf_layout_compare(const struct kerf_layout *a, const struct kerf_layout *b) {
    for (size_t i = 0; i < TENSOR_PARTS; i++) {
        int64_t x = layout_get(a, &layout_tensor_parts[i]), y = layout_get(b, &layout_tensor_parts[i]);
        if (x != y) return x < y ? -1 : 1;
    }
    int a_is = layout_is_hybrid(a), b_is = layout_is_hybrid(b);
    return a_is && b_is ? compare_hybrid(a, b) : a_is - b_is;
}

/* ---- Ranges: of layouts that a program made itself -------------------------------------------------------- */

static int32_t out_of_range(const char *group, const char *key, int64_t least, int64_t most, int64_t value,
                            struct kerf_error *err) {
    return kerf_error_set(err, KERF_EINVALID, "%s%s%s must lie between %lld and %lld, not %lld", group ? group : "",
                          group ? "." : "", key, (long long)least, (long long)most, (long long)value);
}

static int32_t check_numbers(const struct kerf_layout *layout, const struct layout_part *parts, int32_t count,
                             struct kerf_error *err) {
    for (int32_t i = 0; i < count; i++) {
        const struct layout_part *part = &parts[i];
        int64_t value = layout_get(layout, part);
        if (value == part->unnamed || (value >= part->least && value <= part->most)) continue;
        return out_of_range(part->group, part->key, part->least, part->most, value, err);
    }
    return KERF_OK;
}

static int32_t check_words(const struct kerf_layout *l, struct kerf_error *err) {
    enum { RECOMPUTE_LAYERS_MAX = 1 << 20 };
    int is_block = l->recompute == KERF_RECOMPUTE_BLOCK;
    if (l->recompute < 0 || l->recompute >= KERF_RECOMPUTE_COUNT)
        return out_of_range(NULL, "recompute", 0, KERF_RECOMPUTE_COUNT - 1, l->recompute, err);
    if (l->recompute_layers < is_block || l->recompute_layers > (is_block ? RECOMPUTE_LAYERS_MAX : 0))
        return out_of_range(NULL, "recompute_layers", is_block, is_block ? RECOMPUTE_LAYERS_MAX : 0,
                            l->recompute_layers, err);
    if (l->order < 0 || l->order >= KERF_ORDER_COUNT)
        return out_of_range(NULL, "order", 0, KERF_ORDER_COUNT - 1, l->order, err);
    if (l->cp_comm < 0 || l->cp_comm >= KERF_CP_COMM_COUNT)
        return out_of_range(NULL, "cp_comm", 0, KERF_CP_COMM_COUNT - 1, l->cp_comm, err);
    if (memchr(l->schedule, 0, sizeof l->schedule) == NULL)
        return kerf_error_set(err, KERF_EINVALID, "the schedule's name has more than %d letters",
                              KERF_SCHEDULE_NAME_SIZE - 1);
    return KERF_OK;
}

int32_t layout_check_ranges(const struct kerf_layout *layout, struct kerf_error *err) {
    if (!layout_is_hybrid(layout)) return check_numbers(layout, layout_tensor_parts, TENSOR_PARTS, err);
    int32_t code = check_numbers(layout, layout_hybrid_numbers, HYBRID_NUMBERS, err);
    if (code == KERF_OK) code = check_words(layout, err);
    if (code != KERF_OK) return code;
    for (int32_t i = 0; i < TENSOR_PARTS; i++) {
        const struct layout_part *part = &layout_tensor_parts[i];
        int is_shared = part->group == NULL && strcmp(part->key, "tp2") != 0 && strcmp(part->key, "summa_blocks") != 0;
        if (is_shared || layout_get(layout, part) == part->unnamed) continue;
        return kerf_error_set(err, KERF_EINVALID, "%s%s%s is for layouts of 1d, summa and seqp, and must be %lld here",
                              part->group ? part->group : "", part->group ? "." : "", part->key,
                              (long long)part->unnamed);
    }
    return KERF_OK;
}
