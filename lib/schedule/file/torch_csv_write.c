/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing PyTorch's schedule CSV (torch/distributed/pipelining/schedules.py: _Action, _load_csv): a row for each rank,
 * its actions in order. compute_only has the operations; compute_comms also has sends and receives, a send behind the
 * operation that makes what it sends, and I and W of one micro-batch that stand next to each other as B (_merge_bw).
 *
 * A receive stands, early, where _add_send_recv puts it: ranks take turns in ascending order, one action each, and the
 * receive is appended to the other rank's row at once. All messages are then in one order that every rank keeps, so
 * that nothing hangs even where a send waits for its receive. Or, late, right before the operation that needs it, as
 * PyTorch's pull request 172833 proposes, so that no message is kept back by one that is needed later; this takes sends
 * that do not wait. Where a rank needs two messages of another in a different order than they are sent (zb_v,
 * dualpipe_v), those sent before the needed one are received first, without which both ranks would hang.
 */
#include <stdlib.h>
#include "base/error_fill.h"
#include "schedule/order.h"
#include "schedule/file/torch_rows.h"

struct lowering {
    const struct kerf_schedule *schedule;
    enum kerf_torch_form form;
    struct torch_row *rows; /* [devices] */
    int32_t *next;          /* [devices] */
    unsigned char *done;    /* [edges] 1: made, or received where receives are late */
    int32_t *before;        /* late: [edges] 1 + the message sent before from the same rank to the same one, 0: none */
    struct torch_row due;   /* late: receives, the last first */
    int failed;             /* memory ran out */
};

static void append(struct lowering *low, int32_t rank, struct torch_action action) {
    if (!torch_row_add(&low->rows[rank], action)) low->failed = 1;
}

static void append_comm(struct lowering *low, int32_t rank, enum torch_kind kind, int32_t stage, int32_t microbatch) {
    append(low, rank, (struct torch_action){microbatch, -1, (int16_t)stage, -1, (int16_t)kind, 0});
}

/* The rank of a stage where it is another than this one, or -1. */
static int32_t other_rank(const struct lowering *low, int32_t rank, int32_t stage, int32_t microbatch) {
    if (stage < 0 || stage >= low->schedule->stages) return -1;
    int32_t there = order_device(low->schedule, stage, microbatch);
    return there == rank ? -1 : there;
}

/* The parts of an operation that take and hand on something. */
struct pass {
    int backward;
    int32_t stage, microbatch;
};

static int passes_of(const struct kerf_op *op, struct pass passes[2]) {
    int count = 0;
    if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB) passes[count++] = (struct pass){0, op->stage, op->microbatch};
    if (op->kind == KERF_OP_B || op->kind == KERF_OP_I) passes[count++] = (struct pass){1, op->stage, op->microbatch};
    if (op->kind == KERF_OP_FB) passes[count++] = (struct pass){1, op->with_stage, op->with_microbatch};
    return count;
}

/* What a pass of a stage makes. */
static size_t edge(const struct lowering *low, int backward, int32_t stage, int32_t microbatch) {
    return 2 * ((size_t)stage * (size_t)low->schedule->microbatches + (size_t)microbatch) + (size_t)backward;
}

static int32_t next_stage(const struct pass *pass) { return pass->backward ? pass->stage - 1 : pass->stage + 1; }

static void send(struct lowering *low, int32_t rank, const struct pass *pass) {
    int32_t to = other_rank(low, rank, next_stage(pass), pass->microbatch);
    if (to < 0) return;
    append_comm(low, rank, pass->backward ? TORCH_SEND_B : TORCH_SEND_F, pass->stage, pass->microbatch);
    if (low->form == KERF_TORCH_COMMS)
        append_comm(low, to, pass->backward ? TORCH_RECV_B : TORCH_RECV_F, next_stage(pass), pass->microbatch);
}

/* ---- Late receives ---------------------------------------------------------------------------------------- */

/* Links the messages that the rank sends to each other one, in the order of its operations. */
static void link_messages(struct lowering *low, int32_t rank, int32_t *last) {
    const struct kerf_schedule *schedule = low->schedule;
    for (int32_t i = 0; i < schedule->devices; i++) last[i] = 0;
    for (int32_t k = 0; k < schedule->num_ops[rank]; k++) {
        struct pass passes[2];
        int count = passes_of(&schedule->ops[rank][k], passes);
        for (int i = 0; i < count; i++) {
            int32_t to = other_rank(low, rank, next_stage(&passes[i]), passes[i].microbatch);
            if (to < 0) continue;
            size_t message = edge(low, passes[i].backward, passes[i].stage, passes[i].microbatch);
            low->before[message] = last[to];
            last[to] = (int32_t)message + 1;
        }
    }
}

/* What the pass needs of another rank, behind everything that rank has sent here before. */
static void receive_late(struct lowering *low, int32_t rank, const struct pass *pass) {
    const int32_t microbatches = low->schedule->microbatches;
    int32_t from = pass->backward ? pass->stage + 1 : pass->stage - 1;
    if (other_rank(low, rank, from, pass->microbatch) < 0) return;
    size_t needed = edge(low, pass->backward, from, pass->microbatch) + 1;
    low->due.count = 0;
    for (size_t at = needed; at > 0 && !low->done[at - 1]; at = (size_t)low->before[at - 1]) {
        int backward = (int)((at - 1) & 1);
        int32_t stage = (int32_t)((at - 1) / 2 / (size_t)microbatches) + (backward ? -1 : 1);
        low->done[at - 1] = 1;
        if (!torch_row_add(&low->due,
                           (struct torch_action){(int32_t)((at - 1) / 2 % (size_t)microbatches), -1, (int16_t)stage, -1,
                                                 backward ? TORCH_RECV_B : TORCH_RECV_F, 0}))
            low->failed = 1;
    }
    while (low->due.count > 0) append(low, rank, low->due.actions[--low->due.count]);
}

/* ---- Operations with their messages ------------------------------------------------------------------------ */

/* The rank's next operation, with the W that merges into it. */
static struct kerf_op take(struct lowering *low, int32_t rank) {
    const struct kerf_schedule *schedule = low->schedule;
    int32_t at = low->next[rank]++;
    struct kerf_op op = schedule->ops[rank][at];
    if (op.kind != KERF_OP_I || at + 1 == schedule->num_ops[rank]) return op;
    const struct kerf_op *after = &schedule->ops[rank][at + 1];
    if (after->kind != KERF_OP_W || after->stage != op.stage || after->microbatch != op.microbatch) return op;
    low->next[rank]++;
    op.kind = KERF_OP_B;
    return op;
}

static void lower(struct lowering *low, int32_t rank) {
    const struct kerf_op op = take(low, rank);
    struct pass passes[2];
    int count = passes_of(&op, passes);
    for (int i = 0; i < count && low->form == KERF_TORCH_COMMS_LATE; i++) receive_late(low, rank, &passes[i]);
    append(low, rank, torch_action_of(&op));
    for (int i = 0; i < count; i++) send(low, rank, &passes[i]);
}

/* ---- Early receives: in the order in which the ranks take turns --------------------------------------------- */

static int is_ready(const struct lowering *low, const struct pass *pass) {
    int32_t from = pass->backward ? pass->stage + 1 : pass->stage - 1;
    return from < 0 || from == low->schedule->stages || low->done[edge(low, pass->backward, from, pass->microbatch)];
}

/* The rank's next action, if its inputs are there. */
static int take_turn(struct lowering *low, int32_t rank) {
    const struct kerf_schedule *schedule = low->schedule;
    if (low->next[rank] == schedule->num_ops[rank]) return 0;
    struct pass passes[2];
    int count = passes_of(&schedule->ops[rank][low->next[rank]], passes);
    for (int i = 0; i < count; i++)
        if (!is_ready(low, &passes[i])) return 0;
    for (int i = 0; i < count; i++) low->done[edge(low, passes[i].backward, passes[i].stage, passes[i].microbatch)] = 1;
    lower(low, rank);
    return 1;
}

static void lower_in_turns(struct lowering *low) {
    for (int progress = 1; progress;) {
        progress = 0;
        for (int32_t rank = 0; rank < low->schedule->devices; rank++) progress |= take_turn(low, rank);
    }
}

static void lower_by_rank(struct lowering *low) {
    const int32_t devices = low->schedule->devices;
    int32_t *last = calloc((size_t)devices, sizeof *last);
    low->before = calloc(2 * (size_t)low->schedule->stages * (size_t)low->schedule->microbatches, sizeof *low->before);
    low->failed = !last || !low->before;
    for (int32_t rank = 0; rank < devices && !low->failed; rank++) link_messages(low, rank, last);
    for (int32_t rank = 0; rank < devices && !low->failed; rank++)
        while (low->next[rank] < low->schedule->num_ops[rank]) lower(low, rank);
    free(last);
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

static void print_rows(struct kerf_text *out, const struct torch_row *rows, int32_t num_rows) {
    for (int32_t i = 0; i < num_rows; i++) {
        for (int32_t k = 0; k < rows[i].count; k++) {
            if (k) kerf_text_add(out, ",");
            torch_action_text(out, &rows[i].actions[k]);
        }
        kerf_text_add(out, "\n");
    }
}

/* A file that would hang is not written. */
static int32_t check_order(const struct lowering *low, struct kerf_error *err) {
    struct kerf_error why;
    const struct torch_rows rows = {.rows = low->rows,
                                    .num_rows = low->schedule->devices,
                                    .stages = low->schedule->stages,
                                    .microbatches = low->schedule->microbatches,
                                    .row_of = low->schedule->device_of};
    int32_t code = torch_rows_check_comms(&rows, &why);
    if (code == KERF_OK) return KERF_OK;
    return kerf_error_set(err, code, "%s would hang: %s", low->schedule->name, why.message);
}

static int32_t write_comms(struct kerf_text *out, const struct kerf_schedule *schedule, enum kerf_torch_form form,
                           struct kerf_error *err) {
    size_t devices = (size_t)schedule->devices;
    struct lowering low = {.schedule = schedule,
                           .form = form,
                           .rows = calloc(devices, sizeof *low.rows),
                           .done = calloc(2 * (size_t)schedule->stages, (size_t)schedule->microbatches),
                           .next = calloc(devices, sizeof *low.next)};
    low.failed = !low.rows || !low.done || !low.next;
    if (!low.failed && form == KERF_TORCH_COMMS) lower_in_turns(&low);
    if (!low.failed && form == KERF_TORCH_COMMS_LATE) lower_by_rank(&low);
    int32_t code = low.failed ? error_no_memory(err, "the CSV") : check_order(&low, err);
    if (code == KERF_OK) print_rows(out, low.rows, schedule->devices);
    for (size_t i = 0; low.rows && i < devices; i++) free(low.rows[i].actions);
    free(low.rows);
    free(low.next);
    free(low.done);
    free(low.before);
    free(low.due.actions);
    return code;
}

static void write_compute(struct kerf_text *out, const struct kerf_schedule *schedule) {
    for (int32_t i = 0; i < schedule->devices; i++) {
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            const struct torch_action action = torch_action_of(&schedule->ops[i][k]);
            if (k) kerf_text_add(out, ",");
            torch_action_text(out, &action);
        }
        kerf_text_add(out, "\n");
    }
}

int32_t kerf_schedule_torch(struct kerf_text *out, const struct kerf_schedule *schedule, enum kerf_torch_form form,
                            struct kerf_error *err) {
    if ((uint32_t)form > KERF_TORCH_COMMS_LATE)
        return kerf_error_set(err, KERF_EINVALID, "form %d does not exist", (int)form);
    if (schedule->replicas > 1)
        return kerf_error_set(err, KERF_EINVALID,
                              "PyTorch's CSV has each stage on one device, but %s has it on two; use dualpipe_v",
                              schedule->name);
    if (schedule->moves)
        return kerf_error_set(err, KERF_EINVALID,
                              "PyTorch's CSV has no recomputation and no offload: write the schedule without them, and "
                              "let the stages recompute (torch.utils.checkpoint)");
    if (schedule->slices > 1)
        return kerf_error_set(err, KERF_EINVALID,
                              "PyTorch's CSV has whole micro-batches, but %s cuts them into %d slices; use 1f1b",
                              schedule->name, schedule->slices);
    if (form != KERF_TORCH_COMPUTE) return write_comms(out, schedule, form, err);
    write_compute(out, schedule);
    return KERF_OK;
}
