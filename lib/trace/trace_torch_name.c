/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of PyTorch's ranges (torch/distributed/pipelining/schedules.py: _get_profiler_function_name is "PP:" and
 * the action, _Action.__repr__): stage, type and micro-batch, and two of them in "(...;...)OVERLAP_F_B". torch.profiler
 * adds ProfilerStep#N.
 */
#include <string.h>
#include "trace/trace_torch.h"

static int take_number(const char **at, int32_t most, int32_t *ret) {
    const char *c = *at;
    int32_t value = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        value = value * 10 + (*c - '0');
        if (value > most) return 0;
    }
    if (c == *at) return 0;
    *at = c;
    *ret = value;
    return 1;
}

static int take(const char **at, const char *word) {
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return 0;
    *at += length;
    return 1;
}

/* Longer types before those that they begin with. */
static const struct {
    const char *name;
    int16_t kind;
    int8_t sends; /* to the stage behind (1) or before (-1) */
} TYPES[] = {
    {"SEND_F", TRACE_NOTHING, 1},
    {"SEND_B", TRACE_NOTHING, -1},
    {"RECV_F", TRACE_RECEIVE_F, 0},
    {"RECV_B", TRACE_RECEIVE_B, 0},
    {"UNSHARD", TRACE_NOTHING, 0},
    {"RESHARD", TRACE_NOTHING, 0},
    {"REDUCE_GRAD", TRACE_NOTHING, 0},
    {"BW", TRACE_OLD_WHOLE, 0},
    {"F", KERF_OP_F, 0},
    {"B", KERF_OP_B, 0},
    {"I", KERF_OP_I, 0},
    {"W", KERF_OP_W, 0},
};
enum { NUM_TYPES = sizeof TYPES / sizeof *TYPES };

/* "3F12" */
static int take_action(const char **at, struct kerf_op *ret, int32_t *ret_next_stage) {
    int32_t stage, microbatch = -1;
    if (!take_number(at, TRACE_STAGES_MAX - 1, &stage)) return 0;
    size_t type = 0;
    while (type < NUM_TYPES && !take(at, TYPES[type].name)) type++;
    if (type == NUM_TYPES) return 0;
    int numbered = take_number(at, TRACE_MICROBATCHES_MAX - 1, &microbatch);
    if (!numbered && TYPES[type].kind != TRACE_NOTHING) return 0;
    *ret = (struct kerf_op){microbatch, -1, (int16_t)stage, -1, TYPES[type].kind, 0};
    *ret_next_stage = TYPES[type].sends > 0 ? stage + 1 : 0;
    return 1;
}

/* "(0F7;7B3)OVERLAP_F_B", its parts in either order. */
static int take_overlap(const char **at, struct kerf_op *ret) {
    struct kerf_op first, second;
    int32_t ignored;
    if (!take(at, "(") || !take_action(at, &first, &ignored) || !take(at, ";")) return 0;
    if (!take_action(at, &second, &ignored) || !take(at, ")OVERLAP_F_B")) return 0;
    const struct kerf_op *f = first.kind == KERF_OP_F ? &first : &second, *b = f == &first ? &second : &first;
    if (f->kind != KERF_OP_F || b->kind != KERF_OP_B) return 0;
    *ret = (struct kerf_op){f->microbatch, b->microbatch, f->stage, b->stage, KERF_OP_FB, 0};
    return 1;
}

int torch_parse_name(const char *name, struct kerf_op *ret_op, int32_t *ret_next_stage) {
    *ret_next_stage = 0;
    if (take(&name, "ProfilerStep#")) {
        *ret_op = (struct kerf_op){0, -1, 0, -1, TRACE_STEP, 0};
        return take_number(&name, INT32_MAX / 16, &ret_op->microbatch) && *name == 0;
    }
    if (!take(&name, "PP:")) return 0;
    return (*name == '(' ? take_overlap(&name, ret_op) : take_action(&name, ret_op, ret_next_stage)) && *name == 0;
}
