/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of schedules, evaluated: sizes and placement first, then each device by the first block that is for it.
 * Every statement and every step of an expression counts, and so does every operation; both are bounded by the size of
 * the schedule, so that a loop without an end is an error.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "schedule/build.h"
#include "schedule/file/read_schedule.h"
#include "schedule/file/sched_program.h"

/* One chunk of the device at hand. */
struct chunk {
    int32_t stage;
    int32_t first, count;        /* its micro-batches: those of its replica */
    int64_t forwards, backwards; /* taken so far, those left out too */
    int64_t weights, waiting;    /* W run; I whose W is still to come */
    int64_t moves[3];            /* R, O and L taken so far, those left out too */
    int32_t oldest, newest;      /* of those in pending, -1: none */
};

/* An I whose W is waiting, or was. */
struct pending {
    int32_t chunk, microbatch, slice;
    int32_t next; /* of the chunk */
    int taken;
};

struct run {
    const struct program *program;
    struct kerf_error *err;
    int32_t code; /* of the first error */
    int64_t values[BUILTINS];
    int32_t devices, microbatches, slices, stages, replicas;
    int32_t chunks; /* of a device, at most, in one replica */
    int32_t *device_of;
    int64_t steps; /* that are left */

    /* of the device at hand */
    struct chunk *chunk; /* [num_chunks] */
    int32_t num_chunks;
    struct pending *pending; /* in the order of their I */
    int32_t num_pending, pending_capacity, oldest_pending;
    struct kerf_op *ops;
    int64_t num_ops, ops_capacity, ops_most;
    int32_t moves; /* 1: there is an R, O or L */
};

__attribute__((format(printf, 3, 4))) static void run_fail(struct run *run, struct place place, const char *format,
                                                           ...) {
    char message[sizeof run->err->message];
    va_list args;
    if (run->code != KERF_OK) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    run->code = file_fail(run->err, KERF_EINVALID, run->program->file, place.line, place.column, "%s", message);
}

static void run_no_memory(struct run *run) {
    if (run->code == KERF_OK)
        run->code = file_fail(run->err, KERF_ENOMEM, run->program->file, 0, 0, "not enough memory for the schedule");
}

/* 0 after an error, or when there have been too many. */
static int run_step(struct run *run, struct place place) {
    if (run->steps-- <= 0) run_fail(run, place, "too many steps for so few operations; does a loop not end?");
    return run->code == KERF_OK;
}

/* ---- Expressions ------------------------------------------------------------------------------------------ */

/* Expressions of the text form of schedules: 64-bit integers, in which nothing overflows unseen; division rounds down,
 * so that a remainder has the divisor's sign. How deep evaluation goes is bounded by the parser. */

/* The value, 0 after an error; slots are those of the names in scope. */
static int64_t run_eval(struct run *run, const struct expr *expr, const int64_t *slots);

static char letter(enum kerf_op_kind kind) {
    static const char letters[KERF_OP_KINDS] = {'F', 'B', 'I', 'W', 0, 'R', 'O', 'L'};
    return letters[kind];
}

static int32_t device_at(const struct run *run) { return (int32_t)run->values[VALUE_I]; }

/* The device's chunk that an operation names; NULL after an error. */
static struct chunk *run_chunk(struct run *run, const struct op_name *name, const int64_t *slots) {
    int64_t c = name->chunk ? run_eval(run, name->chunk, slots) : name->number;
    if (run->code != KERF_OK) return NULL;
    if (run->num_chunks == 0) {
        run_fail(run, name->place, "an operation is only allowed in the block of a device");
        return NULL;
    }
    if (c >= 0 && c < run->num_chunks) return &run->chunk[c];
    run_fail(run, name->place, "device %d has chunks 0 to %d, not %lld", device_at(run), run->num_chunks - 1,
             (long long)c);
    return NULL;
}

/* What counts the operations of a kind. */
static int64_t *counter_of(struct chunk *chunk, enum kerf_op_kind kind) {
    if (kind >= KERF_OP_R) return &chunk->moves[kind - KERF_OP_R];
    return kind == KERF_OP_F ? &chunk->forwards : kind == KERF_OP_W ? &chunk->weights : &chunk->backwards;
}

static int64_t total(const struct run *run, const struct op_name *op, int waiting) {
    int64_t sum = 0;
    for (int32_t c = 0; c < run->num_chunks; c++) {
        sum += waiting ? run->chunk[c].waiting : *counter_of(&run->chunk[c], op->kind);
    }
    return sum;
}

static int64_t eval_counter(struct run *run, const struct expr *expr, const int64_t *slots) {
    int waiting = expr->kind == EXPR_WAITING;
    const struct op_name *op = expr->op;
    if (op->any_chunk) return total(run, op, waiting);
    struct chunk *chunk = run_chunk(run, op, slots);
    if (chunk == NULL) return 0;
    return waiting ? chunk->waiting : *counter_of(chunk, op->kind);
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

static int64_t run_eval(struct run *run, const struct expr *expr, const int64_t *slots) {
    int64_t value;
    if (!run_step(run, expr->place)) return 0;
    switch (expr->kind) {
    case EXPR_NUMBER: return expr->value;
    case EXPR_BUILTIN:
        if (expr->value == VALUE_I && run->values[VALUE_I] < 0)
            run_fail(run, expr->place, "i is the number of a device, and is only known in the block of a device");
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

/*
 * Operations of the text form of schedules, as a device comes to them. F takes the next micro-batch of its chunk that
 * has had no F, B and I the next one that has had no backward pass, W the one of the chunk's I that has waited longest
 * (W[*]: of any chunk). With slices the next is a slice: forwards in their order, backwards in reverse within each
 * micro-batch. Where there is no next one `?` leaves the operation out; the counters move on all the same, so that a
 * pattern keeps its shape. An operation with @ is outside of the counters.
 */

/* ---- Weights that wait ------------------------------------------------------------------------------------ */

static void push_pending(struct run *run, struct chunk *chunk, int32_t microbatch, int32_t slice) {
    if (run->num_pending == run->pending_capacity) {
        int32_t capacity = run->pending_capacity ? 2 * run->pending_capacity : 64;
        struct pending *grown = realloc(run->pending, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            run_no_memory(run);
            return;
        }
        run->pending = grown;
        run->pending_capacity = capacity;
    }
    int32_t at = run->num_pending++;
    run->pending[at] = (struct pending){(int32_t)(chunk - run->chunk), microbatch, slice, -1, 0};
    if (chunk->newest >= 0)
        run->pending[chunk->newest].next = at;
    else
        chunk->oldest = at;
    chunk->newest = at;
    chunk->waiting++;
}

/* The oldest of the chunk, or with NULL of any; NULL when none waits. */
static struct pending *take_pending(struct run *run, struct chunk *chunk) {
    int32_t *oldest = chunk ? &chunk->oldest : &run->oldest_pending;
    while (*oldest >= 0 && *oldest < run->num_pending && run->pending[*oldest].taken)
        *oldest = chunk ? run->pending[*oldest].next : *oldest + 1;
    if (*oldest < 0 || *oldest == run->num_pending) return NULL;
    struct pending *taken = &run->pending[*oldest];
    struct chunk *of = &run->chunk[taken->chunk];
    taken->taken = 1;
    of->waiting--;
    of->weights++;
    return taken;
}

/* ---- Parts ------------------------------------------------------------------------------------------------ */

/* Which micro-batch a part is of; kind -1: it is left out. */
struct resolved {
    int16_t kind, stage, slice;
    int32_t microbatch;
};

static const struct resolved left_out = {.kind = -1};

static struct resolved resolve_weight(struct run *run, const struct part *part, struct chunk *chunk) {
    const struct pending *waited = take_pending(run, chunk);
    if (waited)
        return (struct resolved){KERF_OP_W, (int16_t)run->chunk[waited->chunk].stage, (int16_t)waited->slice,
                                 waited->microbatch};
    if (!part->optional)
        run_fail(run, part->name.place, "no I%s waits for its W on device %d; write `?` behind it to leave it out",
                 chunk ? " of this chunk" : "", device_at(run));
    return left_out;
}

static struct resolved resolve_next(struct run *run, const struct part *part, struct chunk *chunk) {
    const int forward = part->name.kind == KERF_OP_F || part->name.kind == KERF_OP_O; /* slices in their order */
    const int64_t unit = (*counter_of(chunk, part->name.kind))++;
    if (unit >= (int64_t)chunk->count * run->slices) {
        if (!part->optional)
            run_fail(run, part->name.place,
                     "no micro-batch is left for this %c on device %d: stage %d has run all %d; write `?` behind it to "
                     "leave it out",
                     letter(part->name.kind), device_at(run), chunk->stage, chunk->count);
        return left_out;
    }
    int32_t slice = (int32_t)(unit % run->slices), microbatch = chunk->first + (int32_t)(unit / run->slices);
    if (!forward) slice = run->slices - 1 - slice;
    if (part->name.kind == KERF_OP_I) push_pending(run, chunk, microbatch, slice);
    return (struct resolved){(int16_t)part->name.kind, (int16_t)chunk->stage, (int16_t)slice, microbatch};
}

static struct resolved resolve_explicit(struct run *run, const struct part *part, const struct chunk *chunk,
                                        const int64_t *slots) {
    int64_t microbatch = run_eval(run, part->microbatch, slots);
    int64_t slice = part->slice ? run_eval(run, part->slice, slots) : 0;
    if (run->code != KERF_OK) return left_out;
    if (run->slices > 1 && part->slice == NULL) {
        run_fail(run, part->name.place, "name one of the %d slices; @3.0 is the first slice of micro-batch 3",
                 run->slices);
        return left_out;
    }
    if (slice < 0 || slice >= run->slices) {
        run_fail(run, part->slice->place, "a micro-batch has slices 0 to %d, not %lld", run->slices - 1,
                 (long long)slice);
        return left_out;
    }
    if (microbatch < chunk->first || microbatch >= (int64_t)chunk->first + chunk->count) {
        if (!part->optional)
            run_fail(run, part->microbatch->place,
                     "stage %d of device %d has micro-batches %d to %d, not %lld; write `?` behind it to leave it out",
                     chunk->stage, device_at(run), chunk->first, chunk->first + chunk->count - 1,
                     (long long)microbatch);
        return left_out;
    }
    return (struct resolved){(int16_t)part->name.kind, (int16_t)chunk->stage, (int16_t)slice, (int32_t)microbatch};
}

static struct resolved resolve(struct run *run, const struct part *part, const int64_t *slots) {
    if (part->name.any_chunk) return resolve_weight(run, part, NULL);
    struct chunk *chunk = run_chunk(run, &part->name, slots);
    if (chunk == NULL) return left_out;
    if (part->microbatch) return resolve_explicit(run, part, chunk, slots);
    return part->name.kind == KERF_OP_W ? resolve_weight(run, part, chunk) : resolve_next(run, part, chunk);
}

/* ---- Operations ------------------------------------------------------------------------------------------- */

static void append(struct run *run, struct place place, struct kerf_op op) {
    if (run->num_ops == run->ops_most) {
        run_fail(run, place,
                 "device %d has more operations than its %d chunk%s can: each F, and each B or I and W, and R, O and "
                 "L, once",
                 device_at(run), run->num_chunks, run->num_chunks == 1 ? "" : "s");
        return;
    }
    if (run->num_ops == run->ops_capacity) {
        int64_t capacity = run->ops_capacity ? 2 * run->ops_capacity : 64;
        struct kerf_op *grown = realloc(run->ops, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            run_no_memory(run);
            return;
        }
        run->ops = grown;
        run->ops_capacity = capacity;
    }
    run->ops[run->num_ops++] = op;
}

static void append_one(struct run *run, struct place place, const struct resolved *part) {
    if (part->kind < 0 || run->code != KERF_OK) return;
    run->moves |= part->kind >= KERF_OP_R;
    append(run, place, (struct kerf_op){part->microbatch, -1, part->stage, -1, part->kind, part->slice});
}

static void run_op(struct run *run, const struct statement *statement, const int64_t *slots) {
    struct resolved first = resolve(run, statement->part, slots), second = left_out;
    if (statement->second && run->code == KERF_OK) second = resolve(run, statement->second, slots);
    if (run->code != KERF_OK) return;
    if (first.kind < 0 || second.kind < 0) { /* of a pair whose other half is left out, the one runs alone */
        append_one(run, statement->place, &first);
        append_one(run, statement->place, &second);
    } else if (run->slices > 1) {
        run_fail(run, statement->place, "slices do not run together; write F B");
    } else {
        append(run, statement->place,
               (struct kerf_op){first.microbatch, second.microbatch, first.stage, second.stage, KERF_OP_FB, 0});
    }
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

static void run_body(struct run *run, const struct statement *statement, int64_t *slots);

static void run_repeat(struct run *run, const struct statement *statement, int64_t *slots) {
    int64_t count = run_eval(run, statement->value, slots);
    if (count < 0)
        run_fail(run, statement->place,
                 "repeat %lld times on device %lld: the number is below 0; with max(0, ...) the block would not run",
                 (long long)count, (long long)run->values[VALUE_I]);
    for (int64_t k = 0; k < count && run->code == KERF_OK; k++) {
        if (!run_step(run, statement->place)) return;
        if (statement->slot >= 0) slots[statement->slot] = k;
        run_body(run, statement->body, slots);
    }
}

static void run_body(struct run *run, const struct statement *statement, int64_t *slots) {
    for (; statement && run_step(run, statement->place); statement = statement->next) {
        switch (statement->kind) {
        case STATEMENT_OP: run_op(run, statement, slots); break;
        case STATEMENT_LET: slots[statement->slot] = run_eval(run, statement->value, slots); break;
        case STATEMENT_REPEAT: run_repeat(run, statement, slots); break;
        case STATEMENT_WHILE:
            while (run_eval(run, statement->value, slots) && run->code == KERF_OK)
                run_body(run, statement->body, slots);
            break;
        case STATEMENT_IF:
            run_body(run, run_eval(run, statement->value, slots) ? statement->body : statement->otherwise, slots);
            break;
        }
    }
}

/* ---- Sizes and placement ---------------------------------------------------------------------------------- */

static int32_t fail(struct run *run, const char *message) {
    run->code = file_fail(run->err, KERF_EINVALID, run->program->file, 0, 0, "%s", message);
    return run->code;
}

/* Stages of a device in one replica, as asked, said, or of the placement. */
static int32_t choose_chunks(struct run *run, int32_t asked) {
    const struct program *program = run->program;
    const struct placement *place = &placements[program->placement];
    int32_t own = place->default_chunks;
    int32_t said = asked ? asked : program->chunks ? program->chunks : own;
    run->chunks = asked ? asked : program->chunks; /* of a list, which has its own */
    if (program->device_of) return KERF_OK;
    if (place->fixed_chunks && said != own)
        run_fail(run, program->placement_place, "with the placement %s a device has %d chunk%s of each replica, not %d",
                 place->word, own, own == 1 ? "" : "s", said);
    if (said < 1 || (int64_t)said * run->devices > STAGES_MAX) return fail(run, "there may be 1 to 32767 stages");
    run->chunks = said;
    return run->code;
}

static int32_t choose_sizes(struct run *run, const struct kerf_schedule_file_request *request) {
    const struct program *program = run->program;
    run->devices = request && request->devices ? request->devices : program->devices;
    run->microbatches = request && request->microbatches ? request->microbatches : program->microbatches;
    run->slices = program->slices ? program->slices : 1;
    if (run->devices == 0) return fail(run, "the number of devices is missing; write `devices 4` in the file");
    if (run->microbatches == 0)
        return fail(run, "the number of micro-batches is missing; write `microbatches 8` in the file");
    if (run->devices < 1 || run->devices > DEVICES_MAX) return fail(run, "devices must lie between 1 and 4096");
    if (run->microbatches < 1 || run->microbatches > MICROBATCHES_MAX)
        return fail(run, "microbatches must lie between 1 and 1048576");
    return choose_chunks(run, request ? request->chunks : 0);
}

/* placement 0 1 1 0: as it stands */
static int32_t place_list(struct run *run) {
    const struct program *program = run->program;
    const struct place place = program->placement_place;
    int32_t *counts = arena_alloc(program->arena, (size_t)run->devices, sizeof *counts), chunks = 0;
    int32_t *of_replica = arena_alloc(program->arena, (size_t)run->devices, sizeof *of_replica);
    if (counts == NULL || of_replica == NULL) return KERF_ENOMEM;
    for (int32_t k = 0; k < run->replicas * program->stages && run->code == KERF_OK; k++) {
        const int32_t device = program->device_of[k], stage = k % program->stages;
        if (device >= run->devices) {
            run_fail(run, place, "stage %d is on device %d; with %d devices they are 0 to %d", stage, device,
                     run->devices, run->devices - 1);
            break;
        }
        if (stage == 0) memset(of_replica, 0, (size_t)run->devices * sizeof *of_replica);
        counts[device]++;
        if (++of_replica[device] > chunks) chunks = of_replica[device];
    }
    for (int32_t i = 0; i < run->devices && run->code == KERF_OK; i++)
        if (counts[i] == 0) run_fail(run, place, "device %d has no stage", i);
    if (run->code == KERF_OK && run->chunks && run->chunks != chunks)
        run_fail(run, place, "the placement has %d chunk%s on a device, not %d", chunks, chunks == 1 ? "" : "s",
                 run->chunks);
    run->chunks = chunks;
    run->stages = program->stages;
    run->device_of = program->device_of;
    return run->code;
}

static int32_t place_stages(struct run *run) {
    const struct program *program = run->program;
    const int32_t p = run->devices;
    run->replicas = program->replicas ? program->replicas : 1;
    if (program->device_of) return place_list(run);
    if (run->replicas > 1 && p % (run->replicas / 2) != 0)
        run_fail(run, program->placement_place, "%d pairs of replicas do not go evenly around %d devices",
                 run->replicas / 2, p);
    run->stages = p * run->chunks;
    if ((int64_t)run->stages * run->replicas > HOMES_MAX)
        run_fail(run, program->placement_place, "%d stages in %d replicas are more than %d", run->stages, run->replicas,
                 HOMES_MAX);
    if (run->code != KERF_OK) return run->code;
    run->device_of = arena_alloc(program->arena, (size_t)run->stages * (size_t)run->replicas, sizeof *run->device_of);
    if (run->device_of == NULL) return KERF_ENOMEM;
    placement_fill(program->placement, p, run->chunks, run->replicas, run->device_of);
    return KERF_OK;
}

static void check_requirements(struct run *run) {
    const struct program *program = run->program;
    int64_t slots[SLOTS_MAX] = {0};
    for (const struct requirement *r = program->requirements; r && run->code == KERF_OK; r = r->next) {
        int64_t holds = run_eval(run, r->condition, slots);
        if (!holds)
            run_fail(run, r->condition->place, "the schedule requires %s; here p is %d, m %d and v %lld", r->text,
                     run->devices, run->microbatches, (long long)run->values[VALUE_V]);
    }
}

static int32_t prepare(struct run *run, const struct kerf_schedule_file_request *request) {
    int32_t code = choose_sizes(run, request);
    if (code == KERF_OK) code = place_stages(run);
    if (code == KERF_OK && (int64_t)run->stages * run->microbatches * run->slices > OPS_MAX)
        code = fail(run, "more than 134217728 operations of a kind");
    if (code == KERF_ENOMEM) run_no_memory(run);
    if (code != KERF_OK) return code;
    run->values[VALUE_P] = run->devices;
    run->values[VALUE_M] = run->microbatches;
    run->values[VALUE_V] = run->replicas > 1 ? run->replicas * run->chunks : run->chunks;
    run->values[VALUE_S] = run->slices;
    run->values[VALUE_I] = -1;
    run->steps = 1000000 + 256 * (int64_t)run->stages * run->microbatches * run->slices;
    check_requirements(run);
    return run->code;
}

/* ---- Devices ---------------------------------------------------------------------------------------------- */

/* The chunks of each device, from its first stage on: begin[i] to begin[i + 1] in stages. */
struct homes {
    int32_t *begin;  /* [devices + 1] */
    int32_t *stages; /* [replicas * stages]; those of the second replica are counted on */
    int32_t most;    /* of a device */
};

static int find_homes(const struct run *run, struct homes *ret_homes) {
    struct arena *arena = run->program->arena;
    int32_t all = run->stages * run->replicas, p = run->devices;
    int32_t *begin = arena_alloc(arena, (size_t)p + 2, sizeof *begin);
    int32_t *stages = arena_alloc(arena, (size_t)all, sizeof *stages);
    if (!begin || !stages) return 0;
    for (int32_t k = 0; k < all; k++) begin[run->device_of[k] + 2]++;
    for (int32_t i = 2; i <= p + 1; i++) begin[i] += begin[i - 1];
    for (int32_t k = 0; k < all; k++) stages[begin[run->device_of[k] + 1]++] = k;
    *ret_homes = (struct homes){begin, stages, 0};
    for (int32_t i = 0; i < p; i++)
        if (begin[i + 1] - begin[i] > ret_homes->most) ret_homes->most = begin[i + 1] - begin[i];
    return 1;
}

/* Makes the device the one at hand. */
static void enter_device(struct run *run, const struct homes *homes, int32_t device) {
    run->values[VALUE_I] = device;
    run->num_chunks = homes->begin[device + 1] - homes->begin[device];
    run->ops_most = 0;
    for (int32_t c = 0; c < run->num_chunks; c++) {
        int32_t k = homes->stages[homes->begin[device] + c], replica = k / run->stages;
        struct chunk *chunk = &run->chunk[c];
        *chunk = (struct chunk){.stage = k % run->stages, .oldest = -1, .newest = -1};
        chunk->first = (int32_t)((int64_t)replica * run->microbatches / run->replicas);
        chunk->count = (int32_t)((int64_t)(replica + 1) * run->microbatches / run->replicas) - chunk->first;
        run->ops_most += 6 * (int64_t)chunk->count * run->slices;
    }
    run->num_pending = run->oldest_pending = 0;
    run->ops = NULL;
    run->num_ops = run->ops_capacity = 0;
}

static const struct device_block *find_block(struct run *run) {
    int64_t slots[SLOTS_MAX] = {0}, device = run->values[VALUE_I];
    for (const struct device_block *block = run->program->blocks; block; block = block->next) {
        const struct expr *first = block->first;
        if (first->kind == EXPR_NUMBER && first->value > device) continue; /* as good as free: a block a device */
        if (first->kind == EXPR_NUMBER && block->last == NULL && first->value != device) continue;
        int64_t from = run_eval(run, first, slots), to = block->last ? run_eval(run, block->last, slots) : from;
        if (run->code != KERF_OK) return NULL;
        if (from <= device && device <= to) return block;
    }
    file_fail(run->err, KERF_EINVALID, run->program->file, 0, 0,
              "no block is for device %lld; `device i { ... }` at the end is for all remaining devices",
              (long long)device);
    run->code = KERF_EINVALID;
    return NULL;
}

static int32_t run_devices(struct run *run, const struct homes *homes, struct kerf_op **ops, int32_t *num_ops) {
    for (int32_t i = 0; i < run->devices && run->code == KERF_OK; i++) {
        int64_t slots[SLOTS_MAX] = {0};
        enter_device(run, homes, i);
        const struct device_block *block = find_block(run);
        if (block) run_body(run, block->body, slots);
        ops[i] = run->ops;
        num_ops[i] = (int32_t)run->num_ops;
    }
    return run->code;
}

static int32_t finish(const struct run *run, struct kerf_op *const *ops, const int32_t *num_ops,
                      struct kerf_schedule **ret_schedule) {
    const struct read_schedule read = {.name = run->program->name,
                                       .devices = run->devices,
                                       .stages = run->stages,
                                       .microbatches = run->microbatches,
                                       .chunks = run->chunks,
                                       .replicas = run->replicas,
                                       .slices = run->slices,
                                       .moves = run->moves,
                                       .device_of = run->device_of,
                                       .ops = ops,
                                       .num_ops = num_ops};
    return read_schedule_finish(&read, run->program->file, ret_schedule, run->err);
}

int32_t sched_run(const struct program *program, const struct kerf_schedule_file_request *request,
                  struct kerf_schedule **ret_schedule, struct kerf_error *err) {
    struct run run = {.program = program, .err = err};
    struct homes homes = {0};
    int32_t code = prepare(&run, request);
    if (code != KERF_OK) return code;
    size_t p = (size_t)run.devices;
    struct kerf_op **ops = arena_alloc(program->arena, p, sizeof *ops);
    int32_t *num_ops = arena_alloc(program->arena, p, sizeof *num_ops);
    const int found = find_homes(&run, &homes);
    if (found) run.chunk = arena_alloc(program->arena, (size_t)homes.most, sizeof *run.chunk);
    if (ops && num_ops && run.chunk)
        code = run_devices(&run, &homes, ops, num_ops);
    else
        code = file_fail(err, KERF_ENOMEM, program->file, 0, 0, "not enough memory for the schedule");
    if (code == KERF_OK) code = finish(&run, ops, num_ops, ret_schedule);
    for (size_t i = 0; ops && i < p; i++) free(ops[i]);
    free(run.pending);
    return code;
}
