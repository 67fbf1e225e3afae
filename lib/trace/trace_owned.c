/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_owned.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "schedule/order.h"

struct kerf_trace *kerf_trace_free(struct kerf_trace *trace) {
    if (trace == NULL) return NULL;
    struct owned_trace *owned = (struct owned_trace *)(void *)trace;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

static int add_input(const struct owned_trace *owned, int32_t device, int32_t at, int backward, int32_t stage,
                     int32_t microbatch, struct trace_input *ret) {
    int32_t from_stage = backward ? stage + 1 : stage - 1;
    if (from_stage < 0 || from_stage >= owned->schedule.stages) return 0;
    *ret =
        (struct trace_input){.from = owned->maker[order_output(&owned->schedule, backward, from_stage, microbatch, 0)],
                             .receive = {NAN, NAN},
                             .boundary = backward ? stage : from_stage,
                             .backward = backward};
    if (owned->receives) ret->receive = owned->receives[device][2 * at + backward];
    return ret->from.device >= 0 && ret->from.device != device;
}

int trace_inputs(const struct owned_trace *owned, int32_t device, int32_t at, struct trace_input ret_inputs[2]) {
    assert(device >= 0 && device < owned->schedule.devices && at >= 0 && at < owned->schedule.num_ops[device]);
    const struct kerf_op *op = &owned->schedule.ops[device][at];
    int count = 0;
    if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB)
        count += add_input(owned, device, at, 0, op->stage, op->microbatch, &ret_inputs[count]);
    if (op->kind == KERF_OP_B || op->kind == KERF_OP_I)
        count += add_input(owned, device, at, 1, op->stage, op->microbatch, &ret_inputs[count]);
    if (op->kind == KERF_OP_FB)
        count += add_input(owned, device, at, 1, op->with_stage, op->with_microbatch, &ret_inputs[count]);
    return count;
}

void trace_shift(struct owned_trace *owned, int32_t device, double by_s) {
    for (int32_t k = 0; k < owned->schedule.num_ops[device]; k++) {
        owned->start[device][k] -= by_s;
        owned->end[device][k] -= by_s;
        for (int part = 0; owned->receives && part < 2; part++) {
            owned->receives[device][2 * k + part].posted_s -= by_s;
            owned->receives[device][2 * k + part].arrived_s -= by_s;
        }
    }
}
