/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/pipeline_made.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, OPS_MAX = 1 << 23 /* of schedules that are kept: 128 MiB */ };

struct slot {
    char rule[32];
    int32_t devices, chunks, microbatches;
    struct pipeline_made_one one;
};

struct pipeline_made {
    int64_t ops;              /* of all that are kept */
    struct slot slots[SLOTS]; /* by hash; a newer schedule drives out an older one */
};

struct pipeline_made *pipeline_made_begin(void) {
    return calloc(1, sizeof(struct pipeline_made));
}

static int64_t ops_of(const struct kerf_schedule *schedule) {
    int64_t ops = 0;
    for (int32_t d = 0; schedule && d < schedule->devices; d++) ops += schedule->num_ops[d];
    return ops;
}

static void forget_schedule(struct pipeline_made *made, struct slot *slot) {
    made->ops -= ops_of(slot->one.schedule);
    slot->one.schedule = kerf_schedule_free(slot->one.schedule);
}

static void forget(struct pipeline_made *made, struct slot *slot) {
    forget_schedule(made, slot);
    for (int32_t d = 0; slot->one.held && d < slot->devices; d++) free(slot->one.held[d].of);
    free(slot->one.held);
    memset(slot, 0, sizeof *slot);
}

struct pipeline_made *pipeline_made_end(struct pipeline_made *made) {
    for (size_t i = 0; made && i < SLOTS; i++) forget(made, &made->slots[i]);
    free(made);
    return NULL;
}

/* ---- What a device holds -------------------------------------------------------------------------------------- */

static int is_below(const int32_t *a, const int32_t *b, int32_t chunks) {
    for (int32_t c = 0; c < chunks; c++)
        if (a[c] > b[c]) return 0;
    return 1;
}

/* Keeps the row unless another one has at least as much of every chunk; 0 when memory ran out. */
static int keep(struct pipeline_held *held, const int32_t *row, int32_t chunks) {
    int32_t count = 0;
    for (int32_t i = 0; i < held->count; i++)
        if (is_below(row, &held->of[i * chunks], chunks)) return 1;
    for (int32_t i = 0; i < held->count; i++) { /* those that the row makes needless go */
        if (is_below(&held->of[i * chunks], row, chunks)) continue;
        memmove(&held->of[count++ * chunks], &held->of[i * chunks], (size_t)chunks * sizeof *row);
    }
    int32_t *more = realloc(held->of, (size_t)((count + 1) * chunks) * sizeof *more);
    if (more == NULL) return 0;
    memcpy(&more[count * chunks], row, (size_t)chunks * sizeof *row);
    *held = (struct pipeline_held){count + 1, more};
    return 1;
}

/* A stage's place among those of its device. */
static int32_t chunk_of(const struct kerf_schedule *schedule, int32_t stage) {
    int32_t chunk = 0;
    for (int32_t s = 0; s < stage; s++) chunk += schedule->device_of[s] == schedule->device_of[stage];
    return chunk;
}

static int find_held(const struct kerf_schedule *schedule, const int32_t *chunks_of, int32_t device,
                     struct pipeline_held *held) {
    int32_t row[PIPELINE_MADE_CHUNKS_MAX] = {0}, chunks = schedule->chunks;
    assert(chunks <= PIPELINE_MADE_CHUNKS_MAX && schedule->replicas == 1 && schedule->slices == 1);
    for (int32_t i = 0; i < schedule->num_ops[device]; i++) {
        const struct kerf_op *op = &schedule->ops[device][i];
        int adds = op->kind == KERF_OP_F || op->kind == KERF_OP_FB;
        int frees = op->kind == KERF_OP_B || op->kind == KERF_OP_W || op->kind == KERF_OP_FB;
        if (adds) row[chunks_of[op->stage]]++;
        if (adds && !keep(held, row, chunks)) return 0;
        if (frees) row[chunks_of[op->kind == KERF_OP_FB ? op->with_stage : op->stage]]--;
    }
    return 1;
}

static int find_all_held(struct slot *slot) {
    const struct kerf_schedule *schedule = slot->one.schedule;
    int32_t *chunks_of = malloc((size_t)schedule->stages * sizeof *chunks_of);
    slot->one.held = calloc((size_t)slot->devices, sizeof *slot->one.held);
    int good = chunks_of && slot->one.held;
    for (int32_t s = 0; good && s < schedule->stages; s++) chunks_of[s] = chunk_of(schedule, s);
    for (int32_t d = 0; good && d < slot->devices; d++) good = find_held(schedule, chunks_of, d, &slot->one.held[d]);
    free(chunks_of);
    return good;
}

static int is_of(const struct slot *slot, const struct kerf_schedule_request *request) {
    return slot->devices == request->devices && slot->chunks == request->chunks &&
           slot->microbatches == request->microbatches && strcmp(slot->rule, request->rule) == 0;
}

static struct slot *slot_of(struct pipeline_made *made, const struct kerf_schedule_request *request) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *c = request->rule; *c; c++) hash = (hash ^ (uint64_t)*c) * UINT64_C(1099511628211);
    const int32_t numbers[] = {request->devices, request->chunks, request->microbatches};
    for (size_t i = 0; i < 3; i++) hash = (hash ^ (uint64_t)numbers[i]) * UINT64_C(1099511628211);
    struct slot *slot = &made->slots[(hash >> 32) % SLOTS];
    if (is_of(slot, request)) return slot;
    assert(strlen(request->rule) < sizeof slot->rule);
    forget(made, slot);
    strcpy(slot->rule, request->rule);
    slot->devices = request->devices, slot->chunks = request->chunks, slot->microbatches = request->microbatches;
    return slot;
}

/* Makes the schedule, and drops others where there are too many operations. */
static int make(struct pipeline_made *made, struct slot *slot, const struct kerf_schedule_request *request) {
    if (kerf_schedule_make(request, &slot->one.schedule, NULL) != KERF_OK) return 0;
    made->ops += ops_of(slot->one.schedule);
    for (size_t i = 0; i < SLOTS && made->ops > OPS_MAX; i++)
        if (&made->slots[i] != slot) forget_schedule(made, &made->slots[i]);
    return 1;
}

const struct pipeline_made_one *pipeline_made_of(struct pipeline_made *made,
                                                 const struct kerf_schedule_request *request, int needs_schedule) {
    struct slot *slot = slot_of(made, request);
    if ((needs_schedule || slot->one.held == NULL) && slot->one.schedule == NULL && !make(made, slot, request))
        return NULL;
    if (slot->one.held == NULL && !find_all_held(slot)) {
        forget(made, slot);
        return NULL;
    }
    return &slot->one;
}
