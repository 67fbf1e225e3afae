/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/order.h"

#include <stdlib.h>

void kerf_op_text(struct kerf_text *out, const struct kerf_op *op) {
    static const char letters[KERF_OP_KINDS] = {'F', 'B', 'I', 'W', 0, 'R', 'O', 'L'};
    if (op->kind == KERF_OP_FB)
        kerf_text_printf(out, "(%dF%d;%dB%d)", op->stage, op->microbatch, op->with_stage, op->with_microbatch);
    else
        kerf_text_printf(out, "%d%c%d", op->stage, letters[op->kind], op->microbatch);
    if (op->slice) kerf_text_printf(out, ".%d", op->slice);
}

/* What an output is of. */
struct output {
    int32_t stage, microbatch, slice;
    int backward;
};

static struct output output_of(const struct kerf_schedule *schedule, int64_t number) {
    int64_t unit = number / 2 % order_row(schedule);
    return (struct output){(int32_t)(number / 2 / order_row(schedule)), (int32_t)(unit / schedule->slices),
                           (int32_t)(unit % schedule->slices), (int)(number & 1)};
}

static int makes(const struct kerf_op *op, const struct output *output) {
    if (op->kind == KERF_OP_FB && output->backward)
        return op->with_stage == output->stage && op->with_microbatch == output->microbatch;
    int kind_makes = output->backward ? op->kind == KERF_OP_B || op->kind == KERF_OP_I
                                      : op->kind == KERF_OP_F || op->kind == KERF_OP_FB;
    return kind_makes && op->stage == output->stage && op->microbatch == output->microbatch &&
           op->slice == output->slice;
}

/* The operation that makes an output, on its device; -1 when there is none. */
static int32_t find_maker(const struct kerf_schedule *schedule, int64_t number, int32_t *ret_device) {
    struct output output = output_of(schedule, number);
    *ret_device = order_device(schedule, output.stage, output.microbatch);
    for (int32_t k = 0; k < schedule->num_ops[*ret_device]; k++)
        if (makes(&schedule->ops[*ret_device][k], &output)) return k;
    return -1;
}

static int32_t explain_missing(const struct kerf_schedule *schedule, const struct order_stand *stand, int32_t device,
                               struct kerf_error *err) {
    struct kerf_text op = {0};
    struct output output = output_of(schedule, stand->waits_for);
    kerf_op_text(&op, &schedule->ops[device][stand->next]);
    kerf_error_set(err, KERF_EINVALID, "%s on device %d waits for %d%c%d, which no device runs",
                   op.data ? op.data : "?", device, output.stage, output.backward ? 'B' : 'F', output.microbatch);
    kerf_text_free(&op);
    return KERF_EINVALID;
}

/* A chain that comes back to where it began. */
static int32_t explain_chain(const struct kerf_schedule *schedule, const struct order_stand *stands, int32_t begin,
                             struct kerf_error *err) {
    enum { LINKS_MAX = 6 };
    struct kerf_text chain = {0};
    int32_t device = begin, links = 0;
    do {
        int32_t maker_device, maker = find_maker(schedule, stands[device].waits_for, &maker_device);
        if (links < LINKS_MAX) {
            if (links == 0) {
                kerf_op_text(&chain, &schedule->ops[device][stands[device].next]);
                kerf_text_printf(&chain, " on device %d", device);
            }
            kerf_text_add(&chain, links ? ", which waits for " : " waits for ");
            kerf_op_text(&chain, &schedule->ops[maker_device][maker]);
            kerf_text_printf(&chain, ", on device %d behind ", maker_device);
            kerf_op_text(&chain, &schedule->ops[maker_device][stands[maker_device].next]);
        }
        links++;
        device = maker_device;
    } while (device != begin);
    kerf_error_set(err, KERF_EINVALID, "deadlock: %s%s", chain.data ? chain.data : "?",
                   links > LINKS_MAX ? ", and so on" : "");
    kerf_text_free(&chain);
    return KERF_EINVALID;
}

int32_t order_explain_cycle(const struct kerf_schedule *schedule, const struct order_stand *stands,
                            struct kerf_error *err) {
    unsigned char *seen = calloc((size_t)schedule->devices, 1);
    if (seen == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory to explain the deadlock");
    int32_t device = 0;
    while (stands[device].next >= schedule->num_ops[device]) device++;
    /* Every blocked device waits for an operation that stands behind another blocked device's: first into the cycle. */
    while (!seen[device]) {
        int32_t maker_device;
        seen[device] = 1;
        if (find_maker(schedule, stands[device].waits_for, &maker_device) < 0) {
            free(seen);
            return explain_missing(schedule, &stands[device], device, err);
        }
        device = maker_device;
    }
    free(seen);
    return explain_chain(schedule, stands, device, err);
}
