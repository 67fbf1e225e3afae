/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts: their parts and words, their ranges and order. Which rules one must obey is in cost/strategies.c. */
#include "spec/layout.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/spec.h"

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

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

/* ---- Words: names and numbers of enums --------------------------------------------------------------------------- */

static const char *const recomputes[] = {
    [KERF_RECOMPUTE_NONE] = "none",
    [KERF_RECOMPUTE_SELECTIVE] = "selective",
    [KERF_RECOMPUTE_FULL] = "full",
};
static const char *const orders[] = {
    [KERF_ORDER_TP_CP_DP_PP] = "tp-cp-dp-pp",
    [KERF_ORDER_TP_CP_PP_DP] = "tp-cp-pp-dp",
};
static const char *const cp_comms[] = {
    [KERF_CP_COMM_ANY] = "any",
    [KERF_CP_COMM_RING] = "ring",
    [KERF_CP_COMM_ALL_GATHER] = "all_gather",
    [KERF_CP_COMM_ALL_TO_ALL] = "all_to_all",
};
#define COUNT(list) ((int32_t)(sizeof(list) / sizeof *(list)))
_Static_assert(COUNT(recomputes) == KERF_RECOMPUTE_BLOCK, "a name for each but full:K");
_Static_assert(COUNT(orders) == KERF_ORDER_COUNT, "a name for each order");
_Static_assert(COUNT(cp_comms) == KERF_CP_COMM_COUNT, "a name for each kind");

const char *kerf_recompute_name(enum kerf_recompute recompute) {
    assert((uint32_t)recompute < KERF_RECOMPUTE_COUNT);
    return recomputes[recompute == KERF_RECOMPUTE_BLOCK ? KERF_RECOMPUTE_FULL : recompute];
}

const char *kerf_order_name(enum kerf_order order) {
    assert((uint32_t)order < KERF_ORDER_COUNT);
    return orders[order];
}

const char *kerf_cp_comm_name(enum kerf_cp_comm cp_comm) {
    assert((uint32_t)cp_comm < KERF_CP_COMM_COUNT);
    return cp_comms[cp_comm];
}

/* The index of the name; below 0 where there is none. */
static int32_t find(const char *const *names, int32_t count, const char *name) {
    for (int32_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

int32_t kerf_recompute_parse(const char *name, enum kerf_recompute *ret, int32_t *ret_layers, struct kerf_error *err) {
    enum { LAYERS_MAX = 1 << 20 };
    int32_t found = find(recomputes, COUNT(recomputes), name);
    if (found >= 0) {
        *ret = (enum kerf_recompute)found, *ret_layers = 0;
        return KERF_OK;
    }
    if (strncmp(name, "full:", 5) == 0) {
        char *end;
        long layers = strtol(name + 5, &end, 10);
        if (name[5] < '0' || name[5] > '9' || *end || layers < 1 || layers > LAYERS_MAX)
            return kerf_error_set(err, KERF_EINVALID,
                                  "recompute full:K needs a whole number of layers from 1 to %d, not '%.32s'",
                                  (int)LAYERS_MAX, name + 5);
        *ret = KERF_RECOMPUTE_BLOCK, *ret_layers = (int32_t)layers;
        return KERF_OK;
    }
    return kerf_error_set(err, KERF_EUNKNOWN, "unknown recompute '%.32s'; there are none, selective, full and full:K",
                          name);
}

int32_t kerf_order_parse(const char *name, enum kerf_order *ret, struct kerf_error *err) {
    int32_t found = find(orders, COUNT(orders), name);
    if (found < 0)
        return kerf_error_set(err, KERF_EUNKNOWN, "unknown order '%.32s'; there are tp-cp-dp-pp and tp-cp-pp-dp", name);
    *ret = (enum kerf_order)found;
    return KERF_OK;
}

int32_t kerf_cp_comm_parse(const char *name, enum kerf_cp_comm *ret, struct kerf_error *err) {
    int32_t found = find(cp_comms, COUNT(cp_comms), name);
    if (found < 0)
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "unknown cp_comm '%.32s'; there are ring, all_gather, all_to_all and any", name);
    *ret = (enum kerf_cp_comm)found;
    return KERF_OK;
}
