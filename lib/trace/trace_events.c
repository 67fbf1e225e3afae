/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_events.h"

#include <assert.h>
#include <stdlib.h>

int trace_add_event(struct trace_reading *reading, const struct trace_event *event) {
    if (reading->num_events == reading->events_room) {
        size_t room = reading->events_room ? 2 * reading->events_room : 256;
        struct trace_event *more = reallocarray(reading->events, room, sizeof *more);
        if (more == NULL) return 0;
        reading->events = more, reading->events_room = room;
    }
    reading->events[reading->num_events++] = *event;
    return 1;
}

int32_t trace_add_rank(struct trace_reading *reading, const struct trace_rank *rank) {
    if (reading->num_ranks == reading->ranks_room) {
        size_t room = reading->ranks_room ? 2 * reading->ranks_room : 16;
        struct trace_rank *more = reallocarray(reading->ranks, room, sizeof *more);
        if (more == NULL) return -1;
        reading->ranks = more, reading->ranks_room = room;
    }
    reading->ranks[reading->num_ranks] = *rank;
    return (int32_t)reading->num_ranks++;
}

void trace_reading_free(struct trace_reading *reading) {
    free(reading->events);
    free(reading->ranks);
    kerf_text_free(&reading->notes);
    arena_free(&reading->arena);
    *reading = (struct trace_reading){.source = NULL};
}

int32_t trace_measure(struct trace_reading *reading, struct kerf_error *err) {
    int64_t ops = 0, stages = reading->stages, microbatches = 0;
    for (size_t i = 0; i < reading->num_events; i++) {
        const struct kerf_op *op = &reading->events[i].op;
        if (!trace_is_operation(&reading->events[i])) continue;
        ops += op->kind == KERF_OP_FB ? 2 : 1;
        if (op->stage >= stages) stages = op->stage + 1;
        if (op->with_stage >= stages) stages = op->with_stage + 1;
        if (op->microbatch >= microbatches) microbatches = op->microbatch + 1;
        if (op->with_microbatch >= microbatches) microbatches = op->with_microbatch + 1;
    }
    /* What is allocated follows what was read. */
    if (stages * microbatches > 16 * ops + 4096)
        return kerf_error_set(err, KERF_EINVALID,
                              "%lld operations that reach stage %lld and micro-batch %lld: most are missing",
                              (long long)ops, (long long)stages - 1, (long long)microbatches - 1);
    assert(stages <= TRACE_STAGES_MAX && microbatches <= TRACE_MICROBATCHES_MAX); /* as the readers allow */
    reading->stages = (int32_t)stages;
    reading->microbatches = (int32_t)microbatches;
    return KERF_OK;
}
