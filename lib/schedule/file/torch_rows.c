/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's actions in memory and as text, and whether their sends and receives fit together. */
#include "schedule/file/torch_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "schedule/file/read_schedule.h"

int torch_row_add(struct torch_row *row, struct torch_action action) {
    if (row->count == row->capacity) {
        int32_t capacity = row->capacity ? row->capacity * 2 : 64;
        if (row->capacity > INT32_MAX / 2) return 0;
        struct torch_action *actions = realloc(row->actions, (size_t)capacity * sizeof *actions);
        if (actions == NULL) return 0;
        row->actions = actions;
        row->capacity = capacity;
    }
    row->actions[row->count++] = action;
    return 1;
}

struct torch_action torch_action_of(const struct kerf_op *op) {
    return (struct torch_action){op->microbatch, op->with_microbatch, op->stage, op->with_stage, op->kind, 0};
}

void torch_action_text(struct kerf_text *out, const struct torch_action *action) {
    static const char *const comms[] = {"SEND_F", "SEND_B", "RECV_F", "RECV_B", "BW"};
    if (action->kind >= KERF_OP_KINDS) {
        kerf_text_printf(out, "%d%s%d", action->stage, comms[action->kind - KERF_OP_KINDS], action->microbatch);
        return;
    }
    const struct kerf_op op = {
        action->microbatch, action->with_microbatch, action->stage, action->with_stage, action->kind, 0};
    kerf_op_text(out, &op);
    if (op.kind == KERF_OP_FB) kerf_text_add(out, "OVERLAP_F_B");
}

int32_t torch_fail(const struct torch_rows *rows, int32_t row, const struct torch_action *action,
                   struct kerf_error *err, const char *format, ...) {
    char message[sizeof err->message];
    struct kerf_text name = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    torch_action_text(&name, action);
    file_fail(err, KERF_EINVALID, rows->file, row + 1, action->column, "%s on rank %d %s", name.data ? name.data : "?",
              row, message);
    kerf_text_free(&name);
    return KERF_EINVALID;
}

/* ---- Sends and receives ------------------------------------------------------------------------------------------ */

/*
 * Whether the sends and receives of PyTorch's compute_comms rows fit together. PyTorch runs such a file as it is: what
 * is missing or in another order on the other rank hangs there. NCCL matches the messages of two ranks by their order
 * alone, so that the k-th receive must be the k-th send. All passes are linear in the actions.
 */

struct comms {
    const struct torch_rows *rows;
    int32_t *sent;      /* [2 * stages * microbatches] by edge: 1 + where its row sends it; 0: nowhere */
    unsigned char *got; /* the same: 1: made, 2: received, 4: sent while the rows run */
    int32_t *last;      /* [rows] 1 + the latest receive from each rank */
};

enum { MADE = 1, RECEIVED = 2, DELIVERED = 4 };

/* What F (backward 0) or B or I (1) of a stage and micro-batch makes. */
static size_t edge(const struct comms *comms, int backward, int32_t stage, int32_t microbatch) {
    return 2 * ((size_t)stage * (size_t)comms->rows->microbatches + (size_t)microbatch) + (size_t)backward;
}

/* The rank of a stage, -1 where there is none. */
static int32_t rank_of(const struct comms *comms, int32_t stage) {
    return stage < 0 || stage >= comms->rows->stages ? -1 : comms->rows->row_of[stage];
}

/* The parts of an operation: a forward and a backward, either may be missing. */
struct parts {
    int forward, backward;
    int32_t forward_stage, forward_microbatch, backward_stage, backward_microbatch;
};

static struct parts parts_of(const struct torch_action *a) {
    int fused = a->kind == KERF_OP_FB;
    return (struct parts){.forward = fused || a->kind == KERF_OP_F,
                          .backward = fused || a->kind == KERF_OP_B || a->kind == KERF_OP_I,
                          .forward_stage = a->stage,
                          .forward_microbatch = a->microbatch,
                          .backward_stage = fused ? a->with_stage : a->stage,
                          .backward_microbatch = fused ? a->with_microbatch : a->microbatch};
}

static int is_comm(const struct torch_action *a) { return a->kind >= TORCH_SEND_F && a->kind <= TORCH_RECV_B; }
static int is_send(const struct torch_action *a) { return a->kind == TORCH_SEND_F || a->kind == TORCH_SEND_B; }
static int is_backward(const struct torch_action *a) { return a->kind == TORCH_SEND_B || a->kind == TORCH_RECV_B; }
static char letter(const struct torch_action *a) { return is_backward(a) ? 'B' : 'F'; }

/* The stage at the other end: that a send goes to, or a receive comes from. */
static int32_t other_stage(const struct torch_action *a) {
    int onward = is_send(a) != is_backward(a);
    return a->stage + (onward ? 1 : -1);
}

static size_t edge_of(const struct comms *comms, const struct torch_action *a) {
    return edge(comms, is_backward(a), is_send(a) ? a->stage : other_stage(a), a->microbatch);
}

/* A send or receive between two ranks, of a stage of its own. */
static int32_t check_ends(const struct comms *comms, int32_t row, const struct torch_action *a,
                          struct kerf_error *err) {
    const struct torch_rows *rows = comms->rows;
    int32_t here = rank_of(comms, a->stage), there = rank_of(comms, other_stage(a));
    if (here != row && here >= 0)
        return torch_fail(rows, row, a, err, "must be on rank %d, which has stage %d", here, a->stage);
    if (here < 0 || a->microbatch >= rows->microbatches)
        return torch_fail(rows, row, a, err,
                          "belongs to no operation: there are stages 0 to %d and micro-batches 0 to %d",
                          rows->stages - 1, rows->microbatches - 1);
    if (there < 0)
        return torch_fail(rows, row, a, err, "has no other end: stage %d is the %s one", a->stage,
                          a->stage ? "last" : "first");
    if (there == row)
        return torch_fail(rows, row, a, err, "is not needed: stages %d and %d are both on this rank", a->stage,
                          other_stage(a));
    return KERF_OK;
}

/* First pass: where everything is made and sent. */
static int32_t pass_sends(struct comms *comms, int32_t row, struct kerf_error *err) {
    const struct torch_rows *rows = comms->rows;
    const struct torch_row *actions = &rows->rows[row];
    for (int32_t k = 0; k < actions->count; k++) {
        const struct torch_action *a = &actions->actions[k];
        struct parts parts = parts_of(a);
        if (parts.forward) comms->got[edge(comms, 0, parts.forward_stage, parts.forward_microbatch)] |= MADE;
        if (parts.backward) comms->got[edge(comms, 1, parts.backward_stage, parts.backward_microbatch)] |= MADE;
        if (!is_comm(a)) continue;
        int32_t code = check_ends(comms, row, a, err);
        if (code != KERF_OK) return code;
        if (!is_send(a)) continue;
        size_t at = edge_of(comms, a);
        if (!(comms->got[at] & MADE))
            return torch_fail(rows, row, a, err, "comes before %d%c%d, which computes what it sends", a->stage,
                              letter(a), a->microbatch);
        if (comms->sent[at]) return torch_fail(rows, row, a, err, "appears twice");
        comms->sent[at] = k + 1;
    }
    return KERF_OK;
}

static int32_t check_receive(struct comms *comms, int32_t row, int32_t k, struct kerf_error *err) {
    const struct torch_rows *rows = comms->rows;
    const struct torch_action *a = &rows->rows[row].actions[k];
    int32_t from = rank_of(comms, other_stage(a)), *last = &comms->last[from];
    size_t at = edge_of(comms, a);
    if (comms->got[at] & RECEIVED) return torch_fail(rows, row, a, err, "appears twice");
    if (!comms->sent[at])
        return torch_fail(rows, row, a, err, "has no %dSEND_%c%d on rank %d; it must come after %d%c%d there",
                          other_stage(a), letter(a), a->microbatch, from, other_stage(a), letter(a), a->microbatch);
    const struct torch_action *before = *last ? &rows->rows[row].actions[*last - 1] : NULL;
    if (before && comms->sent[edge_of(comms, before)] > comms->sent[at])
        return torch_fail(rows, row, a, err,
                          "comes after %dRECV_%c%d, but rank %d sends it first: two ranks must send and receive in the "
                          "same order, or both hang",
                          before->stage, letter(before), before->microbatch, from);
    comms->got[at] |= RECEIVED;
    *last = k + 1;
    return KERF_OK;
}

/* What an operation needs of another rank must have been received. */
static int32_t check_input(const struct comms *comms, int32_t row, const struct torch_action *a, int backward,
                           int32_t stage, int32_t microbatch, struct kerf_error *err) {
    int32_t from_stage = backward ? stage + 1 : stage - 1, from = rank_of(comms, from_stage);
    if (from < 0 || from == row || comms->got[edge(comms, backward, from_stage, microbatch)] & RECEIVED) return KERF_OK;
    char what = backward ? 'B' : 'F';
    return torch_fail(
        comms->rows, row, a, err,
        "needs what rank %d computes: %dRECV_%c%d must come before it, and %dSEND_%c%d after %d%c%d there", from, stage,
        what, microbatch, from_stage, what, microbatch, from_stage, what, microbatch);
}

/* Second pass: receives against sends, operations against receives. */
static int32_t pass_receives(struct comms *comms, int32_t row, struct kerf_error *err) {
    const struct torch_row *actions = &comms->rows->rows[row];
    int32_t code = KERF_OK;
    memset(comms->last, 0, (size_t)comms->rows->num_rows * sizeof *comms->last);
    for (int32_t k = 0; k < actions->count && code == KERF_OK; k++) {
        const struct torch_action *a = &actions->actions[k];
        struct parts parts = parts_of(a);
        if (is_comm(a) && !is_send(a)) code = check_receive(comms, row, k, err);
        if (parts.forward) code = check_input(comms, row, a, 0, parts.forward_stage, parts.forward_microbatch, err);
        if (parts.backward && code == KERF_OK)
            code = check_input(comms, row, a, 1, parts.backward_stage, parts.backward_microbatch, err);
    }
    return code;
}

/* ---- Deadlocks -------------------------------------------------------------------------------------------- */

struct run {
    struct comms *comms;
    int32_t *next;  /* [rows] the action at hand */
    int32_t *turns; /* rows to take up; a stack */
    int32_t num_turns;
};

/* Runs a row until it waits for a message or is done. */
static void run_row(struct run *run, int32_t row) {
    struct comms *comms = run->comms;
    const struct torch_row *actions = &comms->rows->rows[row];
    for (; run->next[row] < actions->count; run->next[row]++) {
        const struct torch_action *a = &actions->actions[run->next[row]];
        if (!is_comm(a)) continue;
        size_t at = edge_of(comms, a);
        if (!is_send(a)) {
            if (!(comms->got[at] & DELIVERED)) return;
            continue;
        }
        int32_t to = rank_of(comms, other_stage(a));
        const struct torch_row *peer = &comms->rows->rows[to];
        const struct torch_action *waits =
            run->next[to] < peer->count && to != row ? &peer->actions[run->next[to]] : NULL;
        comms->got[at] |= DELIVERED;
        if (waits && is_comm(waits) && !is_send(waits) && edge_of(comms, waits) == at)
            run->turns[run->num_turns++] = to;
    }
}

static int32_t waits_for_rank(const struct run *run, int32_t row) {
    return rank_of(run->comms, other_stage(&run->comms->rows->rows[row].actions[run->next[row]]));
}

/* "1RECV_F3 on rank 1 waits for rank 0, which is at 0RECV_B2 and waits for rank 1" */
static int32_t explain_deadlock(const struct run *run, int32_t row, struct kerf_error *err) {
    enum { LINKS_MAX = 6 };
    const struct torch_rows *rows = run->comms->rows;
    struct kerf_text chain = {0};
    for (int32_t k = 0; k < rows->num_rows; k++) row = waits_for_rank(run, row); /* into the cycle */
    int32_t begin = row, links = 0;
    do {
        row = waits_for_rank(run, row);
        if (++links > LINKS_MAX) continue;
        kerf_text_printf(&chain, "%srank %d", links > 1 ? " and waits for " : "", row);
        if (row == begin) continue;
        kerf_text_add(&chain, ", which is at ");
        torch_action_text(&chain, &rows->rows[row].actions[run->next[row]]);
    } while (row != begin);
    torch_fail(rows, begin, &rows->rows[begin].actions[run->next[begin]], err, "is in a deadlock: it waits for %s%s",
               chain.data ? chain.data : "?", links > LINKS_MAX ? ", and so on" : "");
    kerf_text_free(&chain);
    return KERF_EINVALID;
}

static int32_t check_deadlock(struct comms *comms, struct kerf_error *err) {
    int32_t num_rows = comms->rows->num_rows, code = KERF_OK;
    struct run run = {
        .comms = comms,
        .next = calloc((uint32_t)num_rows, sizeof *run.next),
        .turns = calloc(2 * (size_t)(uint32_t)num_rows, sizeof *run.turns)}; /* a row stands in it at most twice */
    if (run.next && run.turns) {
        for (int32_t i = num_rows; i-- > 0;) run.turns[run.num_turns++] = i;
        while (run.num_turns > 0) run_row(&run, run.turns[--run.num_turns]);
        for (int32_t i = 0; i < num_rows && code == KERF_OK; i++)
            if (run.next[i] < comms->rows->rows[i].count) code = explain_deadlock(&run, i, err);
    } else {
        code = kerf_error_set(err, KERF_ENOMEM, "not enough memory to check sends and receives");
    }
    free(run.next);
    free(run.turns);
    return code;
}

int32_t torch_rows_check_comms(const struct torch_rows *rows, struct kerf_error *err) {
    size_t edges = 2 * (size_t)rows->stages * (size_t)rows->microbatches;
    struct comms comms = {.rows = rows,
                          .sent = calloc(edges, sizeof *comms.sent),
                          .got = calloc(edges, 1),
                          .last = calloc((size_t)rows->num_rows, sizeof *comms.last)};
    int32_t code = KERF_OK;
    if (!comms.sent || !comms.got || !comms.last)
        code = kerf_error_set(err, KERF_ENOMEM, "not enough memory to check sends and receives");
    for (int32_t i = 0; i < rows->num_rows && code == KERF_OK; i++) code = pass_sends(&comms, i, err);
    for (int32_t i = 0; i < rows->num_rows && code == KERF_OK; i++) code = pass_receives(&comms, i, err);
    if (code == KERF_OK) code = check_deadlock(&comms, err);
    free(comms.sent);
    free(comms.got);
    free(comms.last);
    return code;
}
