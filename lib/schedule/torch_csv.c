/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's schedule CSV (torch/distributed/pipelining/schedules.py: _Action, _load_csv): a row for each rank, its
 * actions in order. compute_only has the operations; compute_comms also has sends and receives, placed as
 * _add_send_recv places them: ranks take turns in ascending order, one action each, a send follows its action at once,
 * and so does the receive on the other rank. Before that, I and W of one micro-batch that stand next to each other
 * become B (_merge_bw).
 */
#include <stdlib.h>
#include "schedule/order.h"

static void action_text(struct kerf_text *row, const struct kerf_op *op) {
    if (row->length) kerf_text_add(row, ",");
    kerf_op_text(row, op);
    if (op->kind == KERF_OP_FB) kerf_text_add(row, "OVERLAP_F_B");
}

static void compute_only(struct kerf_text *out, const struct kerf_schedule *schedule) {
    for (int32_t i = 0; i < schedule->devices; i++) {
        struct kerf_text row = {0};
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) action_text(&row, &schedule->ops[i][k]);
        kerf_text_printf(out, "%s\n", row.data ? row.data : "");
        out->failed |= row.failed;
        kerf_text_free(&row);
    }
}

struct lowering {
    const struct kerf_schedule *schedule;
    unsigned char *done;    /* [stages * microbatches] 1: F, 2: B or I */
    struct kerf_text *rows; /* [devices] */
    int32_t *next;          /* [devices] */
};

static unsigned char *place(const struct lowering *low, int32_t stage, int32_t microbatch) {
    return &low->done[(size_t)stage * (size_t)low->schedule->microbatches + (size_t)microbatch];
}

static int is_ready(const struct lowering *low, int backward, int32_t stage, int32_t microbatch) {
    if (!backward) return stage == 0 || *place(low, stage - 1, microbatch) & 1;
    return stage + 1 == low->schedule->stages || *place(low, stage + 1, microbatch) & 2;
}

/* What a pass hands to the next stage, or back to the one before. */
static void hand_over(struct lowering *low, int32_t rank, int backward, int32_t stage, int32_t microbatch) {
    int32_t to_stage = backward ? stage - 1 : stage + 1;
    *place(low, stage, microbatch) |= backward ? 2 : 1;
    if (to_stage < 0 || to_stage >= low->schedule->stages) return;
    int32_t to = order_device(low->schedule, to_stage, microbatch);
    if (to == rank) return;
    char letter = backward ? 'B' : 'F';
    kerf_text_printf(&low->rows[rank], ",%dSEND_%c%d", stage, letter, microbatch);
    kerf_text_printf(&low->rows[to], "%s%dRECV_%c%d", low->rows[to].length ? "," : "", to_stage, letter, microbatch);
}

/* The rank's next action, if its inputs are there. */
static int take_turn(struct lowering *low, int32_t rank) {
    const struct kerf_schedule *schedule = low->schedule;
    int32_t at = low->next[rank];
    if (at == schedule->num_ops[rank]) return 0;
    struct kerf_op op = schedule->ops[rank][at];
    const struct kerf_op *after = at + 1 < schedule->num_ops[rank] ? &schedule->ops[rank][at + 1] : NULL;
    int forward = op.kind == KERF_OP_F || op.kind == KERF_OP_FB,
        backward = op.kind != KERF_OP_F && op.kind != KERF_OP_W;
    int32_t back_stage = op.kind == KERF_OP_FB ? op.with_stage : op.stage;
    int32_t back_microbatch = op.kind == KERF_OP_FB ? op.with_microbatch : op.microbatch;
    if (forward && !is_ready(low, 0, op.stage, op.microbatch)) return 0;
    if (backward && !is_ready(low, 1, back_stage, back_microbatch)) return 0;
    low->next[rank]++;
    if (op.kind == KERF_OP_I && after && after->kind == KERF_OP_W && after->stage == op.stage &&
        after->microbatch == op.microbatch) {
        op.kind = KERF_OP_B;
        low->next[rank]++;
    }
    action_text(&low->rows[rank], &op);
    if (forward) hand_over(low, rank, 0, op.stage, op.microbatch);
    if (backward) hand_over(low, rank, 1, back_stage, back_microbatch);
    return 1;
}

static int32_t compute_comms(struct kerf_text *out, const struct kerf_schedule *schedule, struct kerf_error *err) {
    size_t devices = (size_t)schedule->devices;
    struct lowering low = {.schedule = schedule,
                           .done = calloc((size_t)schedule->stages, (size_t)schedule->microbatches),
                           .rows = calloc(devices, sizeof *low.rows),
                           .next = calloc(devices, sizeof *low.next)};
    int good = low.done && low.rows && low.next;
    for (int progress = good; progress;) {
        progress = 0;
        for (int32_t rank = 0; rank < schedule->devices; rank++) progress |= take_turn(&low, rank);
    }
    for (size_t i = 0; low.rows && i < devices; i++) {
        kerf_text_printf(out, "%s\n", low.rows[i].data ? low.rows[i].data : "");
        out->failed |= low.rows[i].failed;
        kerf_text_free(&low.rows[i]);
    }
    free(low.done);
    free(low.rows);
    free(low.next);
    return good ? KERF_OK : kerf_error_set(err, KERF_ENOMEM, "not enough memory for the CSV");
}

int32_t kerf_schedule_torch(struct kerf_text *out, const struct kerf_schedule *schedule, int32_t with_comms,
                            struct kerf_error *err) {
    if (schedule->replicas > 1)
        return kerf_error_set(
            err, KERF_EINVALID,
            "PyTorch's CSV has each stage on one device, and %s has it on two; dualpipe_v can be written",
            schedule->name);
    if (with_comms) return compute_comms(out, schedule, err);
    compute_only(out, schedule);
    return KERF_OK;
}
