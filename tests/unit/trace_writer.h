/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes runs as they could have been measured: one of kerf's schedules with times by stage, jitter, a latency for each
 * device pair and clocks that differ, written as Megatron's timers or PyTorch's traces. The simulation is a plain one
 * of its own, and the jitter the same on every machine.
 */
#ifndef KERF_TEST_RUN_WRITER_H
#define KERF_TEST_RUN_WRITER_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/json.h"
#include "kerf/schedule.h"

enum { WRITER_DEVICES = 8, WRITER_STAGES = 16 };

struct writer {
    const char *rule;
    int32_t devices, microbatches, chunks;
    int32_t replicas; /* the job's rank of a device is device * replicas + replica */
    double time_s[KERF_OP_MEASURED][WRITER_STAGES];
    double latency_s[WRITER_DEVICES][WRITER_DEVICES];
    double offset_s[WRITER_DEVICES]; /* of clocks */
    double drift;                    /* of the last device's clock */
    double jitter;                   /* of durations and latencies, as a share */
    double pause_s;                  /* after each operation */
    double begin_s;                  /* by the true clock */
    double grid_s;                   /* of which written times are whole multiples; 0: any */
    uint64_t state;                  /* of the jitter */

    struct kerf_schedule *schedule;
    double *start[WRITER_DEVICES], *end[WRITER_DEVICES];
    double *arrived[WRITER_DEVICES][2]; /* of the forward and backward message, NAN: none */
};

/* Between -1 and 1, symmetric, so that the median of what it moves stays. */
static inline double writer_jitter(struct writer *writer) {
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        writer->state = writer->state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(writer->state >> 40) / (double)(1 << 24);
    }
    return sum - 1;
}

/* When the message of a part arrives, or -1: it is not sent yet; -2: the part needs none. */
static inline double writer_input(struct writer *writer, const double *made, int32_t device, int backward,
                                  int32_t stage, int32_t microbatch) {
    const struct kerf_schedule *schedule = writer->schedule;
    int32_t from_stage = backward ? stage + 1 : stage - 1;
    if (from_stage < 0 || from_stage >= schedule->stages) return -2;
    int32_t from = schedule->device_of[from_stage];
    double sent = made[2 * (from_stage * schedule->microbatches + microbatch) + backward];
    if (sent < 0) return -1;
    if (from == device) return -2;
    return sent + writer->latency_s[from][device] * (1 + writer->jitter * writer_jitter(writer));
}

/* The next operation of a device; 0 when it has to wait. */
static inline int writer_run(struct writer *writer, double *made, int32_t device, int32_t at, double free_s) {
    const struct kerf_schedule *schedule = writer->schedule;
    const struct kerf_op *op = &schedule->ops[device][at];
    int forward = op->kind == KERF_OP_F || op->kind == KERF_OP_FB, fused = op->kind == KERF_OP_FB;
    int backward = op->kind == KERF_OP_B || op->kind == KERF_OP_I || fused;
    int32_t back_stage = fused ? op->with_stage : op->stage, back_mb = fused ? op->with_microbatch : op->microbatch;
    double arrived[2] = {-2, -2}, start_s = free_s;
    if (forward) arrived[0] = writer_input(writer, made, device, 0, op->stage, op->microbatch);
    if (backward) arrived[1] = writer_input(writer, made, device, 1, back_stage, back_mb);
    for (int part = 0; part < 2; part++) {
        if (arrived[part] == -1) return 0;
        writer->arrived[device][part][at] = arrived[part] < 0 ? NAN : arrived[part];
        start_s = fmax(start_s, arrived[part]);
    }
    double took_s = writer->time_s[op->kind][op->stage] * (1 + writer->jitter * writer_jitter(writer));
    writer->start[device][at] = start_s;
    writer->end[device][at] = start_s + took_s;
    if (forward) made[2 * (op->stage * schedule->microbatches + op->microbatch)] = start_s + took_s;
    if (backward) made[2 * (back_stage * schedule->microbatches + back_mb) + 1] = start_s + took_s;
    return 1;
}

static inline void writer_free(struct writer *writer) {
    for (int32_t d = 0; writer->schedule && d < writer->devices; d++) {
        free(writer->start[d]);
        free(writer->end[d]);
        free(writer->arrived[d][0]);
        free(writer->arrived[d][1]);
    }
    writer->schedule = kerf_schedule_free(writer->schedule);
}

/* Runs a step; 0 when the request is none. Given back with writer_free. */
static inline int writer_make(struct writer *writer) {
    struct kerf_schedule_request request = {.rule = writer->rule,
                                            .devices = writer->devices,
                                            .microbatches = writer->microbatches,
                                            .chunks = writer->chunks};
    if (kerf_schedule_make(&request, &writer->schedule, NULL) != KERF_OK) return 0;
    const struct kerf_schedule *schedule = writer->schedule;
    size_t outputs = 2 * (size_t)schedule->stages * (size_t)schedule->microbatches;
    double *made = malloc(outputs * sizeof *made);
    int32_t next[WRITER_DEVICES] = {0};
    for (size_t i = 0; i < outputs; i++) made[i] = -1;
    for (int32_t d = 0; d < writer->devices; d++) {
        size_t count = (size_t)schedule->num_ops[d];
        writer->start[d] = calloc(count, sizeof(double));
        writer->end[d] = calloc(count, sizeof(double));
        for (int part = 0; part < 2; part++) writer->arrived[d][part] = calloc(count, sizeof(double));
    }
    for (int moved = 1; moved;) {
        moved = 0;
        for (int32_t d = 0; d < writer->devices; d++)
            while (next[d] < schedule->num_ops[d]) {
                double free_s = next[d] ? writer->end[d][next[d] - 1] + writer->pause_s : writer->begin_s;
                if (!writer_run(writer, made, d, next[d], free_s)) break;
                next[d]++;
                moved = 1;
            }
    }
    free(made);
    return 1;
}

/* A true time by the device's clock. */
static inline double writer_clock(const struct writer *writer, int32_t device, double time_s) {
    double drift = device == writer->devices - 1 ? writer->drift * (time_s - writer->begin_s) : 0;
    return time_s + writer->offset_s[device] + drift;
}

/* A time in another unit, so many a second, on the grid. */
static inline double writer_unit(const struct writer *writer, double time_s, double units) {
    if (writer->grid_s <= 0) return time_s * units;
    double per_grid = round(1 / (writer->grid_s * units)); /* steps of the grid in a unit */
    return round(time_s * units * per_grid) / per_grid;
}

static inline int writer_save(const char *folder, const char *name, const struct kerf_text *text) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    int good = file && fwrite(text->data, 1, text->length, file) == text->length;
    if (file) good &= fclose(file) == 0;
    return good;
}

/* ---- Megatron --------------------------------------------------------------------------------------------- */

static inline void writer_megatron_text(const struct writer *writer, int32_t rank, struct kerf_text *out) {
    const struct kerf_schedule *schedule = writer->schedule;
    kerf_text_add(out, "{");
    for (int32_t k = 0; k < schedule->num_ops[rank]; k++) {
        const struct kerf_op *op = &schedule->ops[rank][k];
        for (int end = 0; end < 2; end++) {
            double time_s = end ? writer->end[rank][k] : writer->start[rank][k];
            kerf_text_printf(out, "%s\n  \"%s-", k || end ? "," : "", op->kind == KERF_OP_F ? "forward" : "backward");
            if (schedule->chunks > 1) kerf_text_printf(out, "%d-", op->stage / schedule->devices);
            kerf_text_printf(out, "%d-%s\": ", op->microbatch, end ? "end" : "start");
            kerf_text_number(out, writer_unit(writer, writer_clock(writer, rank, time_s), 1e3));
        }
    }
    kerf_text_add(out, "\n}\n");
}

static inline int writer_megatron(const struct writer *writer, const char *folder, int32_t replica) {
    int good = 1;
    for (int32_t rank = 0; rank < writer->devices; rank++) {
        struct kerf_text text = {0};
        char name[128];
        snprintf(name, sizeof name, "event_times_PP%d_VPP%d_TPxCPxDP_rank_%d_pp_rank_%d_rank_%d.json", writer->devices,
                 writer->schedule->chunks, replica, rank, rank * writer->replicas + replica);
        writer_megatron_text(writer, rank, &text);
        good &= writer_save(folder, name, &text);
        kerf_text_free(&text);
    }
    return good;
}

/* ---- PyTorch ---------------------------------------------------------------------------------------------- */

struct torch_style {
    int old_letters, quoted_times, both_sides, receives, profiler_steps, waits, nested, no_rank;
};

static inline void writer_range(struct kerf_json *json, const struct writer *writer, const struct torch_style *style,
                                const char *category, const char *name, int32_t process, int32_t thread, double start_s,
                                double took_s) {
    struct kerf_text number = {0};
    kerf_text_add(json->out, "\n  ");
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "ph", "X");
    kerf_json_string(json, "cat", category);
    kerf_json_string(json, "name", name);
    kerf_json_integer(json, "pid", process);
    kerf_json_integer(json, "tid", thread);
    if (style->quoted_times) {
        kerf_text_number(&number, writer_unit(writer, start_s, 1e6));
        kerf_json_string(json, "ts", number.data);
    } else {
        kerf_json_number(json, "ts", writer_unit(writer, start_s, 1e6));
    }
    kerf_json_number(json, "dur", writer_unit(writer, took_s, 1e6));
    kerf_json_close(json, '}');
    kerf_text_free(&number);
}

static inline void writer_name(const struct kerf_op *op, int old_letters, char *name, size_t size) {
    struct kerf_text text = {0};
    kerf_op_text(&text, op);
    snprintf(name, size, "PP:%s%s", text.data, op->kind == KERF_OP_FB ? "OVERLAP_F_B" : "");
    if (old_letters && op->kind == KERF_OP_B) snprintf(name, size, "PP:%dBW%d", op->stage, op->microbatch);
    if (old_letters && op->kind == KERF_OP_I) snprintf(name, size, "PP:%dB%d", op->stage, op->microbatch);
    kerf_text_free(&text);
}

static inline void writer_receive(struct kerf_json *json, const struct writer *writer, const struct torch_style *style,
                                  int32_t rank, int32_t at, int backward) {
    const struct kerf_op *op = &writer->schedule->ops[rank][at];
    double arrived_s = writer->arrived[rank][backward][at];
    char name[64];
    if (!(arrived_s > 0)) return;
    snprintf(name, sizeof name, "PP:%dRECV_%c%d", backward && op->kind == KERF_OP_FB ? op->with_stage : op->stage,
             backward ? 'B' : 'F', backward && op->kind == KERF_OP_FB ? op->with_microbatch : op->microbatch);
    double posted_s = writer_clock(writer, rank, writer->begin_s) - 1;
    writer_range(json, writer, style, "gpu_user_annotation", name, 0, 13, posted_s,
                 writer_clock(writer, rank, arrived_s) - posted_s);
}

static inline void writer_operation(struct kerf_json *json, const struct writer *writer,
                                    const struct torch_style *style, int32_t rank, int32_t at) {
    const struct kerf_op *op = &writer->schedule->ops[rank][at];
    double start_s = writer_clock(writer, rank, writer->start[rank][at]);
    double end_s = writer_clock(writer, rank, writer->end[rank][at]);
    char name[96];
    writer_name(op, style->old_letters, name, sizeof name);
    if (style->waits) start_s = at ? writer_clock(writer, rank, writer->end[rank][at - 1]) : 0;
    if (style->both_sides) { /* launches, and a second stream that begins earlier with less to do */
        writer_range(json, writer, style, "user_annotation", name, 100, 100, start_s - 0.5, 1e-4);
        writer_range(json, writer, style, "gpu_user_annotation", name, 0, 20, start_s - 0.25, 1e-5);
    }
    writer_range(json, writer, style, style->both_sides ? "gpu_user_annotation" : "user_annotation", name,
                 style->both_sides ? 0 : 100, 7, start_s, end_s - start_s);
    if (style->nested && op->kind == KERF_OP_FB) {
        snprintf(name, sizeof name, "PP:%dF%d", op->stage, op->microbatch);
        writer_range(json, writer, style, "user_annotation", name, 100, 7, start_s, (end_s - start_s) / 2);
        snprintf(name, sizeof name, "PP:%dB%d", op->with_stage, op->with_microbatch);
        writer_range(json, writer, style, "user_annotation", name, 100, 7, (start_s + end_s) / 2,
                     (end_s - start_s) / 2);
    }
    for (int backward = 0; backward < 2 && style->receives; backward++)
        writer_receive(json, writer, style, rank, at, backward);
}

/* Opens a rank's trace, with things in it that are not the pipeline's. */
static inline void writer_torch_begin(struct kerf_json *json, struct kerf_text *out, int32_t rank, int32_t no_rank) {
    kerf_json_begin(json, out);
    kerf_json_open(json, NULL, '{');
    kerf_json_integer(json, "schemaVersion", 1);
    if (!no_rank) {
        kerf_json_open(json, "distributedInfo", '{');
        kerf_json_string(json, "backend", "nccl");
        kerf_json_integer(json, "rank", rank);
        kerf_json_close(json, '}');
    }
    kerf_json_open(json, "traceEvents", '[');
    kerf_text_add(
        out, "\n  {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 100, \"args\": {\"name\": \"python \\\"[{\"}},"
             "\n  {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"ts\": 5, \"dur\": 1, \"pid\": 100, "
             "\"tid\": 100, \"args\": {\"big\": 18446744073709551615}}");
    json->need_comma = 1;
}

/* One step of a rank. */
static inline void writer_torch_step(struct kerf_json *json, const struct writer *writer,
                                     const struct torch_style *style, int32_t rank, int32_t number) {
    int32_t count = writer->schedule->num_ops[rank];
    char name[64];
    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    double first_s = writer_clock(writer, rank, writer->start[rank][0]);
    double last_s = writer_clock(writer, rank, writer->end[rank][count - 1]);
    if (style->profiler_steps)
        writer_range(json, writer, style, style->both_sides ? "gpu_user_annotation" : "user_annotation", name,
                     style->both_sides ? 0 : 100, 7, first_s, last_s - first_s);
    for (int32_t k = 0; k < count; k++) writer_operation(json, writer, style, rank, k);
}

static inline void writer_torch_end(struct kerf_json *json) {
    kerf_text_add(json->out, "\n ");
    kerf_json_close(json, ']');
    kerf_json_string(json, "traceName", "trace.json");
    kerf_json_close(json, '}');
    kerf_text_add(json->out, "\n");
}

/* Steps one after the other, each with its own jitter; 0 when a file cannot be written. */
static inline int writer_torch(struct writer *writer, const struct torch_style *style, const char *folder,
                               int32_t steps, int32_t replica) {
    struct kerf_text texts[WRITER_DEVICES] = {0};
    struct kerf_json json[WRITER_DEVICES];
    int good = 1;
    double begin_s = writer->begin_s;
    for (int32_t rank = 0; rank < writer->devices; rank++)
        writer_torch_begin(&json[rank], &texts[rank], rank * writer->replicas + replica, style->no_rank);
    for (int32_t step = 0; step < steps; step++) {
        writer_free(writer);
        good &= writer_make(writer);
        for (int32_t rank = 0; rank < writer->devices; rank++)
            writer_torch_step(&json[rank], writer, style, rank, step + 3);
        for (int32_t rank = 0; rank < writer->devices; rank++)
            writer->begin_s = fmax(writer->begin_s, writer->end[rank][writer->schedule->num_ops[rank] - 1] + 1);
    }
    for (int32_t rank = 0; rank < writer->devices; rank++) {
        char name[64];
        snprintf(name, sizeof name, "rank%d_trace.json", rank * writer->replicas + replica);
        writer_torch_end(&json[rank]);
        good &= writer_save(folder, name, &texts[rank]);
        kerf_text_free(&texts[rank]);
    }
    writer->begin_s = begin_s;
    return good;
}

#endif
