/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/order.h"

#include <stdlib.h>
#include <string.h>

static int makes(const struct kerf_op *op, int backward, int32_t stage, int32_t microbatch) {
    int forward_kind = op->kind == KERF_OP_F || op->kind == KERF_OP_FB;
    int backward_kind = op->kind == KERF_OP_B || op->kind == KERF_OP_I;
    if (!backward) return forward_kind && op->stage == stage && op->microbatch == microbatch;
    if (op->kind == KERF_OP_FB) return op->with_stage == stage && op->with_microbatch == microbatch;
    return backward_kind && op->stage == stage && op->microbatch == microbatch;
}

/* The operation that makes an output, on its device; -1 when there is none. */
static int32_t find_maker(const struct kerf_schedule *schedule, int64_t output, int32_t *ret_device) {
    int backward = (int)(output & 1);
    int32_t stage = (int32_t)(output / 2 / schedule->microbatches),
            microbatch = (int32_t)(output / 2 % schedule->microbatches);
    *ret_device = order_device(schedule, stage, microbatch);
    for (int32_t k = 0; k < schedule->num_ops[*ret_device]; k++)
        if (makes(&schedule->ops[*ret_device][k], backward, stage, microbatch)) return k;
    return -1;
}

int32_t order_explain_cycle(const struct kerf_schedule *schedule, const int32_t *next, const int64_t *waits_for,
                            struct kerf_error *err) {
    enum { LINKS_MAX = 6 };
    struct kerf_text chain = {0};
    int32_t device = 0, links = 0;
    unsigned char *seen = calloc((size_t)schedule->devices, 1);
    if (seen == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory to explain the deadlock");
    while (next[device] >= schedule->num_ops[device]) device++;
    /* Every blocked device waits for an operation that stands behind another blocked device's: first into the cycle. */
    while (!seen[device]) {
        int32_t maker_device, maker;
        seen[device] = 1;
        maker = find_maker(schedule, waits_for[device], &maker_device);
        if (maker < 0) {
            struct kerf_text op = {0};
            kerf_op_text(&op, &schedule->ops[device][next[device]]);
            int64_t output = waits_for[device] / 2;
            kerf_error_set(err, KERF_EINVALID, "%s on device %d waits for %d%c%d, which no device runs",
                           op.data ? op.data : "?", device, (int)(output / schedule->microbatches),
                           waits_for[device] & 1 ? 'B' : 'F', (int)(output % schedule->microbatches));
            kerf_text_free(&op);
            free(seen);
            return KERF_EINVALID;
        }
        device = maker_device;
    }
    int32_t begin = device;
    do {
        int32_t maker_device, maker = find_maker(schedule, waits_for[device], &maker_device);
        if (links < LINKS_MAX) {
            kerf_text_add(&chain, links ? ", which waits for " : "");
            if (links == 0) kerf_op_text(&chain, &schedule->ops[device][next[device]]);
            if (links == 0) kerf_text_printf(&chain, " on device %d waits for ", device);
            kerf_op_text(&chain, &schedule->ops[maker_device][maker]);
            kerf_text_printf(&chain, ", on device %d behind ", maker_device);
            kerf_op_text(&chain, &schedule->ops[maker_device][next[maker_device]]);
        }
        links++;
        device = maker_device;
    } while (device != begin);
    kerf_error_set(err, KERF_EINVALID, "deadlock: %s%s", chain.data ? chain.data : "?",
                   links > LINKS_MAX ? ", ..." : "");
    kerf_text_free(&chain);
    free(seen);
    return KERF_EINVALID;
}
