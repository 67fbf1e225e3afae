/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of the text form of schedules, as a device comes to them. F takes the next micro-batch of its chunk that
 * has had no F, B and I the next one that has had no backward pass, W the one of the chunk's I that has waited longest
 * (W[*]: of any chunk). With slices the next is a slice: forwards in their order, backwards in reverse within each
 * micro-batch. Where there is no next one `?` leaves the operation out; the counters move on all the same, so that a
 * pattern keeps its shape. An operation with @ is outside of the counters.
 */
#include <stdlib.h>
#include "schedule/file/sched_run.h"

static char letter(enum kerf_op_kind kind) {
    return kind == KERF_OP_F ? 'F' : kind == KERF_OP_B ? 'B' : kind == KERF_OP_I ? 'I' : 'W';
}

static int32_t device_at(const struct run *run) { return (int32_t)run->values[VALUE_I]; }

struct chunk *run_chunk(struct run *run, const struct op_name *name, const int64_t *slots) {
    int64_t c = name->chunk ? run_eval(run, name->chunk, slots) : name->number;
    if (run->code != KERF_OK) return NULL;
    if (run->num_chunks == 0) {
        run_fail(run, name->place, "operations are a device's, and no device is at hand here");
        return NULL;
    }
    if (c >= 0 && c < run->num_chunks) return &run->chunk[c];
    run_fail(run, name->place, "device %d has chunks 0 to %d, not %lld", device_at(run), run->num_chunks - 1,
             (long long)c);
    return NULL;
}

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
        run_fail(run, part->name.place, "no I%s waits for its W on device %d; `?` behind it would leave it out",
                 chunk ? " of this chunk" : "", device_at(run));
    return left_out;
}

static struct resolved resolve_next(struct run *run, const struct part *part, struct chunk *chunk) {
    int forward = part->name.kind == KERF_OP_F;
    int64_t unit = forward ? chunk->forwards++ : chunk->backwards++;
    if (unit >= (int64_t)chunk->count * run->slices) {
        if (!part->optional)
            run_fail(run, part->name.place,
                     "no micro-batch is left for this %c on device %d: stage %d has had all %d; `?` behind it would "
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
        run_fail(run, part->name.place, "which of the %d slices? that of micro-batch 3 which comes first is @3.0",
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
                     "stage %d of device %d has micro-batches %d to %d, not %lld; `?` behind it would leave it out",
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
                 "device %d has more operations than its %d chunk%s can: each F, and each B or I and W, once",
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
    append(run, place, (struct kerf_op){part->microbatch, -1, part->stage, -1, part->kind, part->slice});
}

void run_op(struct run *run, const struct statement *statement, const int64_t *slots) {
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
