/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's schedule CSV in memory: a row for each rank, its actions in order. What the reader and the writer share.
 */
#ifndef KERF_SCHEDULE_FILE_TORCH_ROWS_H
#define KERF_SCHEDULE_FILE_TORCH_ROWS_H

#include "kerf/schedule.h"

enum torch_kind { /* those of enum kerf_op_kind, and: */
                  TORCH_SEND_F = KERF_OP_KINDS,
                  TORCH_SEND_B,
                  TORCH_RECV_F,
                  TORCH_RECV_B,
                  TORCH_OLD_BW /* the whole backward pass where B is that of the input */
};

struct torch_action {
    int32_t microbatch, with_microbatch;
    int16_t stage, with_stage;
    int16_t kind;
    int32_t column; /* of its cell, 0: not from a file */
};

struct torch_row {
    struct torch_action *actions;
    int32_t count, capacity;
};

struct torch_rows {
    const char *file; /* for errors; NULL: not from a file. Row r is its line r + 1 */
    struct torch_row *rows;
    int32_t num_rows, stages, microbatches;
    const int32_t *row_of; /* [stages] */
};

int torch_row_add(struct torch_row *row, struct torch_action action); /* 0 when memory runs out */
struct torch_action torch_action_of(const struct kerf_op *op);
void torch_action_text(struct kerf_text *out, const struct torch_action *action);

/* KERF_EINVALID at an action, with its place in the file. */
int32_t torch_fail(const struct torch_rows *rows, int32_t row, const struct torch_action *action,
                   struct kerf_error *err, const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Sends and receives: what one rank makes and another needs is sent once behind the operation that makes it and
 * received once before the one that needs it; between two ranks the order of receives is that of sends; and no rank
 * waits for itself when a receive keeps its rank until the message is there, and a send does not. Every stage and
 * micro-batch must have its operations.
 */
int32_t torch_rows_check_comms(const struct torch_rows *rows, struct kerf_error *err);

#endif
