/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/file/torch_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
