/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of schedules, evaluated: sizes and placement first, then each device by the first block that is for it.
 * Every statement and every step of an expression counts, and so does every operation; both are bounded by the size of
 * the schedule, so that a loop without an end is an error.
 */
#include "schedule/file/sched_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "schedule/build.h"
#include "schedule/file/schedule_file.h"

void run_fail(struct run *run, struct place place, const char *format, ...) {
    char message[sizeof run->err->message];
    va_list args;
    if (run->code != KERF_OK) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    run->code = file_fail(run->err, KERF_EINVALID, run->program->file, place.line, place.column, "%s", message);
}

void run_no_memory(struct run *run) {
    if (run->code == KERF_OK)
        run->code = file_fail(run->err, KERF_ENOMEM, run->program->file, 0, 0, "not enough memory for the schedule");
}

int run_step(struct run *run, struct place place) {
    if (run->steps-- <= 0) run_fail(run, place, "too many steps for so few operations; does a loop not end?");
    return run->code == KERF_OK;
}

/* ---- Statements ------------------------------------------------------------------------------------------- */

static void run_body(struct run *run, const struct statement *statement, int64_t *slots);

static void run_repeat(struct run *run, const struct statement *statement, int64_t *slots) {
    int64_t count = run_eval(run, statement->value, slots);
    if (count < 0)
        run_fail(run, statement->place, "repeat %lld times on device %lld; max(0, ...) would be none", (long long)count,
                 (long long)run->values[VALUE_I]);
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
    int32_t own = program->placement == SCHED_V ? 2 : 1, fixed = program->placement == SCHED_BOTH;
    int32_t said = asked ? asked : program->chunks ? program->chunks : own;
    run->chunks = asked ? asked : program->chunks; /* of a list, which has its own */
    if (program->placement == SCHED_LIST) return KERF_OK;
    if (fixed && said != 1) return fail(run, "with the placement both, a device has 1 chunk of each replica");
    if (said < 1 || (int64_t)said * run->devices > STAGES_MAX) return fail(run, "there may be 1 to 32767 stages");
    run->chunks = said;
    return KERF_OK;
}

static int32_t choose_sizes(struct run *run, const struct kerf_schedule_file_request *request) {
    const struct program *program = run->program;
    run->devices = request && request->devices ? request->devices : program->devices;
    run->microbatches = request && request->microbatches ? request->microbatches : program->microbatches;
    run->slices = program->slices ? program->slices : 1;
    if (run->devices == 0) return fail(run, "on how many devices? `devices 4` in the file says it");
    if (run->microbatches == 0) return fail(run, "of how many micro-batches? `microbatches 8` in the file says it");
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
    if (counts == NULL) return KERF_ENOMEM;
    for (int32_t k = 0; k < program->stages && run->code == KERF_OK; k++) {
        int32_t device = program->device_of[k];
        if (device >= run->devices)
            run_fail(run, place, "stage %d is on device %d; with %d devices they are 0 to %d", k, device, run->devices,
                     run->devices - 1);
        else if (++counts[device] > chunks)
            chunks = counts[device];
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
    static const enum kerf_placement placements[] = {
        [SCHED_LOOP] = KERF_PLACE_LOOP, [SCHED_V] = KERF_PLACE_V, [SCHED_BOTH] = KERF_PLACE_BOTH};
    int32_t p = run->devices;
    run->replicas = program->placement == SCHED_BOTH ? 2 : 1;
    if (program->placement == SCHED_LIST) return place_list(run);
    run->stages = p * run->chunks;
    run->device_of = arena_alloc(program->arena, (size_t)run->stages * (size_t)run->replicas, sizeof *run->device_of);
    if (run->device_of == NULL) return KERF_ENOMEM;
    placement_fill(placements[program->placement], p, run->chunks, run->device_of);
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
    run->values[VALUE_V] = run->replicas == 2 ? 2 : run->chunks;
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
    *ret_homes = (struct homes){begin, stages};
    return 1;
}

/* Makes the device the one at hand. */
static void enter_device(struct run *run, const struct homes *homes, int32_t device) {
    int32_t half = run->microbatches / 2;
    run->values[VALUE_I] = device;
    run->num_chunks = homes->begin[device + 1] - homes->begin[device];
    run->ops_most = 0;
    for (int32_t c = 0; c < run->num_chunks; c++) {
        int32_t k = homes->stages[homes->begin[device] + c], second = k >= run->stages;
        struct chunk *chunk = &run->chunk[c];
        *chunk = (struct chunk){.stage = k % run->stages, .oldest = -1, .newest = -1};
        chunk->first = second ? half : 0;
        chunk->count = run->replicas == 1 ? run->microbatches : second ? run->microbatches - half : half;
        run->ops_most += 3 * (int64_t)chunk->count * run->slices;
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
              "no block is for device %lld; `device i { ... }` at the end is for all that are left", (long long)device);
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
                                       .device_of = run->device_of,
                                       .ops = ops,
                                       .num_ops = num_ops};
    return read_schedule_finish(&read, run->program->file, ret_schedule, run->err);
}

int32_t sched_run(const struct program *program, const struct kerf_schedule_file_request *request,
                  struct kerf_schedule **ret_schedule, struct kerf_error *err) {
    struct run run = {.program = program, .err = err};
    struct homes homes;
    int32_t code = prepare(&run, request);
    if (code != KERF_OK) return code;
    size_t p = (size_t)run.devices;
    struct kerf_op **ops = arena_alloc(program->arena, p, sizeof *ops);
    int32_t *num_ops = arena_alloc(program->arena, p, sizeof *num_ops);
    run.chunk = arena_alloc(program->arena, (size_t)run.stages * (size_t)run.replicas, sizeof *run.chunk);
    if (ops && num_ops && run.chunk && find_homes(&run, &homes))
        code = run_devices(&run, &homes, ops, num_ops);
    else
        code = file_fail(err, KERF_ENOMEM, program->file, 0, 0, "not enough memory for the schedule");
    if (code == KERF_OK) code = finish(&run, ops, num_ops, ret_schedule);
    for (size_t i = 0; ops && i < p; i++) free(ops[i]);
    free(run.pending);
    return code;
}
