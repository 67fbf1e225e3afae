/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of the text form of schedules: 64-bit integers, in which nothing overflows unseen; division rounds down,
 * so that a remainder has the divisor's sign. How deep evaluation goes is bounded by the parser. */
#include "schedule/file/sched_run.h"

static int64_t total(const struct run *run, const struct op_name *op, int waiting) {
    int64_t sum = 0;
    for (int32_t c = 0; c < run->num_chunks; c++) {
        const struct chunk *chunk = &run->chunk[c];
        sum += waiting                 ? chunk->waiting
               : op->kind == KERF_OP_F ? chunk->forwards
               : op->kind == KERF_OP_W ? chunk->weights
                                       : chunk->backwards;
    }
    return sum;
}

static int64_t eval_counter(struct run *run, const struct expr *expr, const int64_t *slots) {
    int waiting = expr->kind == EXPR_WAITING;
    const struct op_name *op = expr->op;
    if (op->any_chunk) return total(run, op, waiting);
    const struct chunk *chunk = run_chunk(run, op, slots);
    if (chunk == NULL) return 0;
    if (waiting) return chunk->waiting;
    return op->kind == KERF_OP_F ? chunk->forwards : op->kind == KERF_OP_W ? chunk->weights : chunk->backwards;
}

static int64_t eval_call(struct run *run, const struct expr *expr, const int64_t *slots) {
    int64_t frame[SLOTS_MAX];
    int32_t count = 0;
    for (const struct expr *value = expr->first; value; value = value->next)
        frame[count++] = run_eval(run, value, slots);
    return run_eval(run, expr->function->body, frame);
}

static int64_t eval_least(struct run *run, const struct expr *expr, const int64_t *slots) {
    int64_t best = run_eval(run, expr->first, slots);
    for (const struct expr *other = expr->first->next; other; other = other->next) {
        int64_t value = run_eval(run, other, slots);
        if (expr->kind == EXPR_MIN ? value < best : value > best) best = value;
    }
    return best;
}

static int64_t divide(struct run *run, const struct expr *expr, int64_t a, int64_t b) {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        run_fail(run, expr->place, b == 0 ? "division by zero" : "the result is beyond 64 bits");
        return 0;
    }
    int64_t quotient = a / b, rest = a % b;
    int down = rest != 0 && (rest < 0) != (b < 0);
    if (expr->kind == EXPR_DIVIDE) return quotient - down;
    return down ? rest + b : rest;
}

static int64_t arithmetic(struct run *run, const struct expr *expr, int64_t a, int64_t b) {
    int64_t result = 0;
    int overflow = 0;
    switch (expr->kind) {
    case EXPR_ADD: overflow = __builtin_add_overflow(a, b, &result); break;
    case EXPR_SUBTRACT: overflow = __builtin_sub_overflow(a, b, &result); break;
    case EXPR_MULTIPLY: overflow = __builtin_mul_overflow(a, b, &result); break;
    default: return divide(run, expr, a, b);
    }
    if (overflow) run_fail(run, expr->place, "the result is beyond 64 bits");
    return result;
}

static int64_t eval_two(struct run *run, const struct expr *expr, const int64_t *slots) {
    int64_t a = run_eval(run, expr->first, slots);
    if (expr->kind == EXPR_OR && a) return 1;
    if (expr->kind == EXPR_AND && !a) return 0;
    int64_t b = run_eval(run, expr->first->next, slots);
    switch (expr->kind) {
    case EXPR_OR:
    case EXPR_AND: return b != 0;
    case EXPR_EQUAL: return a == b;
    case EXPR_UNEQUAL: return a != b;
    case EXPR_LESS: return a < b;
    case EXPR_AT_MOST: return a <= b;
    case EXPR_GREATER: return a > b;
    case EXPR_AT_LEAST: return a >= b;
    default: return run->code == KERF_OK ? arithmetic(run, expr, a, b) : 0;
    }
}

int64_t run_eval(struct run *run, const struct expr *expr, const int64_t *slots) {
    int64_t value;
    if (!run_step(run, expr->place)) return 0;
    switch (expr->kind) {
    case EXPR_NUMBER: return expr->value;
    case EXPR_BUILTIN:
        if (expr->value == VALUE_I && run->values[VALUE_I] < 0)
            run_fail(run, expr->place, "i is a device's number, and no device is at hand here");
        return run->values[expr->value];
    case EXPR_LOCAL: return slots[expr->value];
    case EXPR_CALL: return eval_call(run, expr, slots);
    case EXPR_COUNT:
    case EXPR_WAITING: return eval_counter(run, expr, slots);
    case EXPR_MIN:
    case EXPR_MAX: return eval_least(run, expr, slots);
    case EXPR_NOT: return !run_eval(run, expr->first, slots);
    case EXPR_NEGATE:
        value = run_eval(run, expr->first, slots);
        if (value == INT64_MIN) run_fail(run, expr->place, "the result is beyond 64 bits");
        return value == INT64_MIN ? 0 : -value;
    default: return eval_two(run, expr, slots);
    }
}
