/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline in the trace event format that chrome://tracing and Perfetto read: a process for each device with one
 * thread of operations, an arrow for each message between devices, and a counter of what a device holds. Times are in
 * microseconds. Events are written as they come, device by device; the viewers sort them.
 *
 * An arrow begins within the operation that makes the message, a nanosecond before its end: an arrow belongs to the
 * operation that runs at its time, and at the very end that would be the next one.
 */
#include <stdlib.h>
#include "base/error_fill.h"
#include "schedule/order.h"

struct trace {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    const struct kerf_timeline *timeline;
    struct kerf_text *out;
    double *steps_s, *held; /* room for one device's memory */
};

static const double US = 1e6;

static void integer(struct kerf_text *out, const char *before, int64_t value) {
    kerf_text_add(out, before);
    kerf_text_number(out, (double)value);
}

static void seconds(struct kerf_text *out, const char *before, double value_s) {
    kerf_text_add(out, before);
    kerf_text_number(out, value_s * US);
}

/* ---- Operations ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *colour; /* of the colours that the format has */
} kinds[KERF_OP_KINDS] = {
    [KERF_OP_F] = {"F", "thread_state_runnable"},
    [KERF_OP_B] = {"B", "thread_state_running"},
    [KERF_OP_I] = {"I", "thread_state_iowait"},
    [KERF_OP_W] = {"W", "olive"},
    [KERF_OP_FB] = {"FB", "thread_state_unknown"},
    [KERF_OP_R] = {"R", "yellow"},
    [KERF_OP_O] = {"O", "grey"},
    [KERF_OP_L] = {"L", "grey"},
};

static void add_part(const struct trace *trace, int32_t stage, int32_t microbatch, int32_t slice) {
    integer(trace->out, "{\"stage\":", stage);
    integer(trace->out, ",\"microbatch\":", microbatch);
    if (trace->schedule->slices > 1) integer(trace->out, ",\"slice\":", slice);
    kerf_text_add(trace->out, "}");
}

static void add_operation(const struct trace *trace, int32_t device, const struct kerf_op *op, double start_s,
                          double end_s) {
    struct kerf_text *out = trace->out;
    kerf_text_add(out, ",\n{\"ph\":\"X\",\"cat\":\"");
    kerf_text_add(out, kinds[op->kind].name);
    kerf_text_add(out, "\",\"name\":\"");
    kerf_text_add(out, kinds[op->kind].name);
    integer(out, " ", op->microbatch);
    if (op->kind == KERF_OP_FB) integer(out, "/", op->with_microbatch);
    if (trace->schedule->slices > 1) integer(out, ".", op->slice);
    kerf_text_add(out, "\",\"cname\":\"");
    kerf_text_add(out, kinds[op->kind].colour);
    integer(out, "\",\"pid\":", device);
    seconds(out, op->kind == KERF_OP_O || op->kind == KERF_OP_L ? ",\"tid\":1,\"ts\":" : ",\"tid\":0,\"ts\":", start_s);
    seconds(out, ",\"dur\":", end_s - start_s);
    kerf_text_add(out, ",\"args\":");
    if (op->kind == KERF_OP_FB) {
        kerf_text_add(out, "{\"forward\":");
        add_part(trace, op->stage, op->microbatch, op->slice);
        kerf_text_add(out, ",\"backward\":");
        add_part(trace, op->with_stage, op->with_microbatch, 0);
        kerf_text_add(out, "}");
    } else {
        add_part(trace, op->stage, op->microbatch, op->slice);
    }
    kerf_text_add(out, "}");
}

/* ---- Messages --------------------------------------------------------------------------------------------- */

static void add_arrow(const struct trace *trace, const char *begin, int32_t device, int backward, int64_t id,
                      double time_s) {
    struct kerf_text *out = trace->out;
    kerf_text_add(out, begin);
    kerf_text_add(out, backward ? ",\"cat\":\"message\",\"name\":\"gradient\""
                                : ",\"cat\":\"message\",\"name\":\"activation\"");
    integer(out, ",\"id\":", id);
    integer(out, ",\"pid\":", device);
    seconds(out, ",\"tid\":0,\"ts\":", time_s);
    kerf_text_add(out, "}");
}

/* The messages that one pass takes and makes. */
static void add_messages(const struct trace *trace, int32_t device, int backward, int32_t stage, int32_t microbatch,
                         int32_t slice, double start_s, double end_s) {
    const struct kerf_schedule *schedule = trace->schedule;
    int32_t from = backward ? stage + 1 : stage - 1, to = backward ? stage - 1 : stage + 1;
    double leaves_s = end_s - 1e-9 > start_s ? end_s - 1e-9 : start_s;
    if (from >= 0 && from < schedule->stages && order_device(schedule, from, microbatch) != device)
        add_arrow(trace, ",\n{\"ph\":\"f\",\"bp\":\"e\"", device, backward,
                  order_output(schedule, backward, from, microbatch, slice), start_s);
    if (to >= 0 && to < schedule->stages && order_device(schedule, to, microbatch) != device)
        add_arrow(trace, ",\n{\"ph\":\"s\"", device, backward,
                  order_output(schedule, backward, stage, microbatch, slice), leaves_s);
}

static void add_arrows(const struct trace *trace, int32_t device, const struct kerf_op *op, double start_s,
                       double end_s) {
    if (op->kind == KERF_OP_F || op->kind == KERF_OP_FB)
        add_messages(trace, device, 0, op->stage, op->microbatch, op->slice, start_s, end_s);
    if (op->kind == KERF_OP_B || op->kind == KERF_OP_I)
        add_messages(trace, device, 1, op->stage, op->microbatch, op->slice, start_s, end_s);
    if (op->kind == KERF_OP_FB) add_messages(trace, device, 1, op->with_stage, op->with_microbatch, 0, start_s, end_s);
}

/* ---- Devices ---------------------------------------------------------------------------------------------- */

static void add_names(const struct trace *trace, int32_t device) {
    struct kerf_text *out = trace->out;
    integer(out,
            device ? ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":"
                   : "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":",
            device);
    integer(out, ",\"args\":{\"name\":\"device ", device);
    integer(out, "\"}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":", device);
    integer(out, ",\"args\":{\"sort_index\":", device);
    integer(out, "}},\n{\"ph\":\"M\",\"name\":\"thread_name\",\"tid\":0,\"pid\":", device);
    kerf_text_add(out, ",\"args\":{\"name\":\"operations\"}}");
    if (!trace->schedule->moves) return;
    integer(out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"tid\":1,\"pid\":", device);
    kerf_text_add(out, ",\"args\":{\"name\":\"copies\"}}");
}

static void add_memory(const struct trace *trace, int32_t device) {
    struct kerf_text *out = trace->out;
    int in_bytes = trace->times->activation_bytes != NULL;
    int32_t count = kerf_timeline_memory(trace->schedule, trace->times, trace->timeline, device, in_bytes,
                                         trace->steps_s, trace->held);
    for (int32_t k = 0; k < count; k++) {
        /* where one operation frees and the next takes at the same time the sum counts */
        if (k + 1 < count && trace->steps_s[k + 1] == trace->steps_s[k]) continue;
        integer(out, ",\n{\"ph\":\"C\",\"name\":\"activations\",\"pid\":", device);
        seconds(out, ",\"ts\":", trace->steps_s[k]);
        kerf_text_add(out, in_bytes ? ",\"args\":{\"bytes\":" : ",\"args\":{\"micro-batches\":");
        kerf_text_number(out, trace->held[k]);
        kerf_text_add(out, "}}");
    }
}

static void add_device(const struct trace *trace, int32_t device) {
    const struct kerf_timeline *timeline = trace->timeline;
    add_names(trace, device);
    for (int32_t k = 0; k < trace->schedule->num_ops[device]; k++) {
        const struct kerf_op *op = &trace->schedule->ops[device][k];
        double start_s = timeline->start_s[device][k], end_s = timeline->end_s[device][k];
        add_operation(trace, device, op, start_s, end_s);
        add_arrows(trace, device, op, start_s, end_s);
    }
    add_memory(trace, device);
}

int32_t kerf_schedule_chrome(struct kerf_text *out, const struct kerf_schedule *schedule,
                             const struct kerf_schedule_times *times, const struct kerf_timeline *timeline,
                             struct kerf_error *err) {
    size_t most = 1;
    for (int32_t i = 0; i < schedule->devices; i++)
        if ((size_t)schedule->num_ops[i] > most) most = (size_t)schedule->num_ops[i];
    struct trace trace = {.schedule = schedule,
                          .times = times,
                          .timeline = timeline,
                          .out = out,
                          .steps_s = malloc(2 * most * sizeof(double)),
                          .held = malloc(2 * most * sizeof(double))};
    int32_t code = KERF_OK;
    if (trace.steps_s && trace.held) {
        struct kerf_json json;
        kerf_json_begin(&json, out);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "displayTimeUnit", "ms");
        kerf_json_open(&json, "otherData", '{');
        kerf_json_string(&json, "kerf", kerf_version());
        kerf_json_string(&json, "schedule", schedule->name);
        kerf_json_close(&json, '}');
        kerf_json_open(&json, "traceEvents", '[');
        for (int32_t i = 0; i < schedule->devices; i++) add_device(&trace, i);
        kerf_text_add(out, "\n");
        kerf_json_close(&json, ']');
        kerf_json_close(&json, '}');
        kerf_text_add(out, "\n");
    } else {
        code = error_no_memory(err, "the trace");
    }
    free(trace.steps_s);
    free(trace.held);
    return code;
}
