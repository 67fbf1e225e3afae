/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a layout and of a precision: names and numbers of enums. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/spec.h"

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
static const char *const precisions[] = {
    [KERF_PRECISION_BF16] = "bf16",
    [KERF_PRECISION_FP16] = "fp16",
    [KERF_PRECISION_FP8] = "fp8",
};
#define COUNT(list) ((int32_t)(sizeof(list) / sizeof *(list)))
_Static_assert(COUNT(recomputes) == KERF_RECOMPUTE_BLOCK, "a name for each but full:K");
_Static_assert(COUNT(orders) == KERF_ORDER_COUNT, "a name for each order");
_Static_assert(COUNT(cp_comms) == KERF_CP_COMM_COUNT, "a name for each kind");
_Static_assert(COUNT(precisions) == KERF_PRECISION_COUNT, "a name for each precision");

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

const char *kerf_precision_name(enum kerf_precision precision) {
    assert((uint32_t)precision < KERF_PRECISION_COUNT);
    return precisions[precision];
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

int32_t kerf_precision_parse(const char *name, enum kerf_precision *ret, struct kerf_error *err) {
    int32_t found = find(precisions, COUNT(precisions), name);
    if (found < 0)
        return kerf_error_set(err, KERF_EUNKNOWN, "unknown precision '%.32s'; there are bf16, fp16 and fp8", name);
    *ret = (enum kerf_precision)found;
    return KERF_OK;
}
