/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank's trace from torch.profiler (Kineto's Chrome format): complete events ("ph": "X") of the categories
 * user_annotation (CPU) and gpu_user_annotation, "ts" and "dur" in microseconds, "ts" counted from
 * baseTimeNanoseconds where the trace has one. The rank is that of "distributedInfo", else of the file's name, else
 * files count; a file with several processes has a rank in each.
 *
 * The names of ranges (torch/distributed/pipelining/schedules.py: _get_profiler_function_name is "PP:" and the action,
 * _Action.__repr__) are stage, type and micro-batch, and two of them in "(...;...)OVERLAP_F_B". torch.profiler adds
 * ProfilerStep#N.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/number.h"
#include "trace/trace_events.h"
#include "trace/trace_json.h"

static const double LARGEST_US = 1e18;

struct torch_file {
    struct trace_reading *reading;
    const char *path;
    size_t first_event, first_rank;
    int32_t number; /* of the rank; -1: not said */
    int64_t base_ns;
    int32_t last_rank; /* index, of the event before */
};

static int recognises(const char *name) {
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static int32_t select_all(struct trace_file *files, size_t count, const char *folder, struct kerf_error *err) {
    (void)folder, (void)err;
    for (size_t i = 0; i < count; i++) files[i].selected = recognises(files[i].name);
    return KERF_OK;
}

static int32_t out_of_memory(struct kerf_error *err) { return error_no_memory(err, "the trace"); }

/* ---- Names ------------------------------------------------------------------------------------------------ */

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

/* What the name of a range says, "PP:1F3" or "ProfilerStep#4": 1 and the operation, its kind TRACE_NOTHING for what is
 * of no interest (sends with *ret_next_stage, UNSHARD, ...); 0 when the name is of another kind. */
static int parse_name(const char *name, struct kerf_op *ret_op, int32_t *ret_next_stage) {
    *ret_next_stage = 0;
    if (take(&name, "ProfilerStep#")) {
        *ret_op = (struct kerf_op){0, -1, 0, -1, TRACE_STEP, 0};
        return take_number(&name, INT32_MAX / 16, &ret_op->microbatch) && *name == 0;
    }
    if (!take(&name, "PP:")) return 0;
    return (*name == '(' ? take_overlap(&name, ret_op) : take_action(&name, ret_op, ret_next_stage)) && *name == 0;
}

/* ---- Events ----------------------------------------------------------------------------------------------- */

/* A number, also in quotes, as some writers put it. */
static int32_t read_time(const json_t *event, const char *key, const char *name, double least, double *ret,
                         const struct text_place *place, struct kerf_error *err) {
    const json_t *json = json_object_get(event, key);
    const char *string = json_string_value(json);
    char *end = NULL;
    double value = string ? number_read(string, &end) : json_number_value(json);
    if (json == NULL)
        return trace_fail(place, KERF_EINVALID, err, "%.64s has no \"%s\", a number of microseconds", name, key);
    if (!(string ? *string && *end == 0 : json_is_number(json)) || !(fabs(value) <= LARGEST_US))
        return trace_fail(place, KERF_EINVALID, err, "\"%s\" of %.64s must be a number of microseconds up to %g", key,
                          name, LARGEST_US);
    if (value < least)
        return trace_fail(place, KERF_EINVALID, err, "%.64s ends before it starts: its \"dur\" is %g", name, value);
    *ret = value;
    return KERF_OK;
}

/* A process of the file, as an index. */
static int32_t find_rank(struct torch_file *file, double process, int32_t *ret_rank, const struct text_place *place,
                         struct kerf_error *err) {
    struct trace_reading *reading = file->reading;
    int32_t i = file->last_rank;
    if (i < 0 || reading->ranks[i].process != process) {
        i = (int32_t)file->first_rank;
        while ((size_t)i < reading->num_ranks && reading->ranks[i].process != process) i++;
    }
    if ((size_t)i - file->first_rank == TRACE_DEVICES_MAX)
        return trace_fail(place, KERF_EINVALID, err, "there may be at most %d processes with such ranges in a file",
                          TRACE_DEVICES_MAX);
    const struct trace_rank rank = {
        .file = file->path, .number = -1, .device = -1, .process = process, .file_index = reading->files};
    if ((size_t)i == reading->num_ranks && trace_add_rank(reading, &rank) < 0) return out_of_memory(err);
    *ret_rank = file->last_rank = i;
    return KERF_OK;
}

/* A process or thread is a number, or a string that the profiler's own tracks have. */
static double track(const json_t *event, const char *key) {
    double value = json_number_value(json_object_get(event, key));
    return fabs(value) < 1e9 ? value : 0;
}

static int32_t read_event(void *context, const json_t *event, const struct text_place *place, struct kerf_error *err) {
    struct torch_file *file = context;
    struct trace_reading *reading = file->reading;
    const char *name = json_string_value(json_object_get(event, "name"));
    const char *phase = json_string_value(json_object_get(event, "ph"));
    const char *category = json_string_value(json_object_get(event, "cat"));
    struct trace_event read = {.on_gpu = category && strcmp(category, "gpu_user_annotation") == 0};
    int32_t next_stage;
    double ts = 0, dur = 0;
    if (name == NULL || phase == NULL || strcmp(phase, "X") != 0) return KERF_OK;
    if (category && !read.on_gpu && strcmp(category, "user_annotation") != 0) return KERF_OK;
    if (!parse_name(name, &read.op, &next_stage)) return KERF_OK;
    if (next_stage > reading->next_stage) reading->next_stage = next_stage;
    if (read.op.kind == TRACE_NOTHING) return KERF_OK;
    int32_t code = read_time(event, "ts", name, -INFINITY, &ts, place, err);
    if (code == KERF_OK) code = read_time(event, "dur", name, 0, &dur, place, err);
    if (code != KERF_OK) return code;
    if (!reading->has_first) reading->first_us = ts, reading->has_first = 1;
    read.start_s = (ts - reading->first_us) * 1e-6;
    read.end_s = read.start_s + dur * 1e-6;
    if (fabs(read.start_s) > TRACE_SECONDS_MAX || read.end_s > TRACE_SECONDS_MAX)
        return trace_fail(place, KERF_EINVALID, err,
                          "%.64s lies more than %g s from the first range: is it of this run?", name,
                          TRACE_SECONDS_MAX);
    read.lane = (int32_t)track(event, "tid");
    code = find_rank(file, track(event, "pid"), &read.rank, place, err);
    if (code != KERF_OK) return code;
    return trace_add_event(reading, &read) ? KERF_OK : out_of_memory(err);
}

/* ---- The rest of the file --------------------------------------------------------------------------------- */

static int is_key(const char *key, size_t length, const char *wanted) {
    return length == strlen(wanted) && memcmp(key, wanted, length) == 0;
}

static int32_t read_distributed(struct torch_file *file, const char *value, size_t length) {
    json_t *info = json_loadb(value, length, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
    const json_t *rank = json_object_get(info, "rank");
    double number = json_number_value(rank);
    if (json_is_number(rank) && number >= 0 && number < 1e9) file->number = (int32_t)number;
    json_decref(info);
    return KERF_OK;
}

static int32_t read_base_time(struct torch_file *file, const char *value, size_t length, const struct text_place *place,
                              struct kerf_error *err) {
    char digits[24];
    char *end = digits;
    if (length < sizeof digits) {
        memcpy(digits, value, length);
        digits[length] = 0;
        errno = 0;
        file->base_ns = strtoll(digits, &end, 10);
    }
    if (end == digits || *end || errno || file->base_ns < 0)
        return trace_fail(place, KERF_EINVALID, err, "\"baseTimeNanoseconds\" must be a whole number of nanoseconds");
    return KERF_OK;
}

static int32_t read_member(void *context, const char *key, size_t key_length, const char *value, size_t length,
                           const struct text_place *place, struct kerf_error *err) {
    if (is_key(key, key_length, "distributedInfo")) return read_distributed(context, value, length);
    if (is_key(key, key_length, "baseTimeNanoseconds")) return read_base_time(context, value, length, place, err);
    return KERF_OK;
}

/* The number behind the last "rank" of a file's name: rank0_trace.json, trace-rank_3.json. */
static int32_t rank_of_name(const char *name) {
    int32_t rank = -1;
    for (const char *at = strstr(name, "rank"); at; at = strstr(at + 1, "rank")) {
        const char *c = at + 4;
        if (*c == '_' || *c == '-' || *c == '.') c++;
        if (*c >= '0' && *c <= '9' && strspn(c, "0123456789") <= 9) rank = (int32_t)strtol(c, NULL, 10);
    }
    return rank;
}

/* Times of this file from the first base, where bases differ. Without a base nothing is known of the files' clocks. */
static void rebase(struct torch_file *file) {
    struct trace_reading *reading = file->reading;
    if (reading->first_ns == 0) reading->first_ns = file->base_ns;
    double later_s = file->base_ns ? (double)(file->base_ns - reading->first_ns) * 1e-9 : 0;
    for (size_t i = file->first_event; i < reading->num_events && later_s != 0; i++) {
        reading->events[i].start_s += later_s;
        reading->events[i].end_s += later_s;
    }
}

static int32_t read_torch(struct trace_reading *reading, const struct trace_file *trace_file, const char *text,
                          size_t length, struct kerf_error *err) {
    static const char *const words[] = {"PP:", "ProfilerStep#"};
    struct torch_file file = {.reading = reading,
                              .path = trace_file->path,
                              .first_event = reading->num_events,
                              .first_rank = reading->num_ranks,
                              .number = -1,
                              .last_rank = -1};
    const struct trace_visitor visitor = {
        .context = &file, .words = words, .num_words = 2, .event = read_event, .member = read_member};
    int found = 0;
    int32_t code = trace_visit(text, length, trace_file->path, &visitor, &found, err);
    if (code != KERF_OK || !found) return code;
    reading->traces++;
    rebase(&file);
    if (file.number < 0) file.number = rank_of_name(trace_file->name);
    for (size_t i = file.first_rank; i < reading->num_ranks; i++) reading->ranks[i].number = file.number;
    return KERF_OK;
}

const struct trace_format trace_torch = {
    .source = "PyTorch profiler",
    .expected = "*.json with \"traceEvents\" for each rank",
    .recognises = recognises,
    .select = select_all,
    .read = read_torch,
    .finish = torch_finish,
};
