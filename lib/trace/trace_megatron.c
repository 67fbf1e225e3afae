/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Megatron's pipeline timers, as the patch that Victarry/PP-Schedule-Visualization names in examples/megatron-lm writes
 * them: a file for each rank, named event_times_PP{p}_VPP{v}_TPxCPxDP_rank_{a}_pp_rank_{r}_rank_{g}.json, with one
 * object of milliseconds: "forward-{mb}-start", "forward-{mb}-end", "backward-{mb}-...", and where v is more than 1
 * "forward-{chunk}-{mb}-start" and so on. The stage is chunk * p + r. Keys that begin otherwise are other timers' and
 * are left alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/input.h"
#include "base/json_read.h"
#include "trace/trace_events.h"

static const double LARGEST_MS = 1e15;

/* What a file's name says. */
struct rank_name {
    int32_t p, v, replica, pp_rank, rank;
};

/* Takes the digits at *at as a number of at most 9 digits; 0 when there are none. */
static int take_number(const char **at, int32_t *ret) {
    const char *c = *at;
    int32_t value = 0;
    for (; *c >= '0' && *c <= '9'; c++) {
        if (c - *at >= 9) return 0;
        value = value * 10 + (*c - '0');
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

static int parse_name(const char *name, struct rank_name *ret) {
    return take(&name, "event_times_PP") && take_number(&name, &ret->p) && take(&name, "_VPP") &&
           take_number(&name, &ret->v) && take(&name, "_TPxCPxDP_rank_") && take_number(&name, &ret->replica) &&
           take(&name, "_pp_rank_") && take_number(&name, &ret->pp_rank) && take(&name, "_rank_") &&
           take_number(&name, &ret->rank) && strcmp(name, ".json") == 0;
}

static int recognises(const char *name) { return strncmp(name, "event_times_PP", 14) == 0; }

/* ---- Which files ------------------------------------------------------------------------------------------ */

static int32_t fail(const char *file, struct kerf_error *err, int32_t code) {
    error_set_file(err, file);
    return code;
}

static int32_t check_name(const struct trace_file *file, struct rank_name *ret, struct kerf_error *err) {
    int32_t code = KERF_OK;
    if (!parse_name(file->name, ret))
        code = kerf_error_set(err, KERF_EINVALID,
                              "a name like event_times_PP4_VPP1_TPxCPxDP_rank_0_pp_rank_0_rank_0.json"
                              " is expected");
    else if (ret->p < 1 || ret->p > TRACE_DEVICES_MAX || ret->v < 1 || (int64_t)ret->p * ret->v > TRACE_STAGES_MAX)
        code =
            kerf_error_set(err, KERF_EINVALID, "PP%d and VPP%d in its name: there may be 1 to %d ranks and %d stages",
                           ret->p, ret->v, TRACE_DEVICES_MAX, TRACE_STAGES_MAX);
    else if (ret->pp_rank >= ret->p)
        code = kerf_error_set(err, KERF_EINVALID, "pp_rank_%d in its name, of PP%d: there are ranks 0 to %d",
                              ret->pp_rank, ret->p, ret->p - 1);
    return code == KERF_OK ? KERF_OK : fail(file->path, err, code);
}

/* All files are of one trace; the lowest replica stands for the others. */
static int32_t survey(const struct trace_file *files, size_t count, struct rank_name *ret_lowest,
                      struct kerf_error *err) {
    struct rank_name first = {0}, name = {0};
    const char *first_path = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!recognises(files[i].name)) continue;
        int32_t code = check_name(&files[i], &name, err);
        if (code != KERF_OK) return code;
        if (first_path == NULL) first = name, first_path = files[i].path;
        if (name.p != first.p || name.v != first.v) {
            kerf_error_set(err, KERF_EINVALID,
                           "PP%d VPP%d, but another file has PP%d VPP%d: keep only the files of one trace in the folder", name.p,
                           name.v, first.p, first.v);
            return fail(files[i].path, err, KERF_EINVALID);
        }
        if (name.replica < first.replica) first.replica = name.replica;
    }
    *ret_lowest = first;
    return KERF_OK;
}

static int32_t missing_rank(const char *folder, const struct rank_name *lowest, int32_t pp_rank,
                            struct kerf_error *err) {
    kerf_error_set(
        err, KERF_EINVALID,
        "pp rank %d of %d is missing: expected a file event_times_PP%d_VPP%d_TPxCPxDP_rank_%d_pp_rank_%d_rank_"
        "..., and a folder with one for each rank",
        pp_rank, lowest->p, lowest->p, lowest->v, lowest->replica, pp_rank);
    return fail(folder, err, KERF_EINVALID);
}

static int32_t select_files(struct trace_file *files, size_t count, const char *folder, struct kerf_error *err) {
    struct rank_name lowest = {0}, name = {0};
    int32_t code = survey(files, count, &lowest, err);
    if (code != KERF_OK) return code;
    const struct trace_file **of_rank = calloc((size_t)lowest.p, sizeof *of_rank);
    if (of_rank == NULL) return error_no_memory(err, "the names of the trace's files");
    for (size_t i = 0; i < count && code == KERF_OK; i++) {
        files[i].selected =
            recognises(files[i].name) && parse_name(files[i].name, &name) && name.replica == lowest.replica;
        if (!files[i].selected) continue;
        if (of_rank[name.pp_rank]) {
            kerf_error_set(err, KERF_EINVALID, "pp rank %d is in %.200s too: keep one of the two files", name.pp_rank,
                           of_rank[name.pp_rank]->name);
            code = fail(files[i].path, err, KERF_EINVALID);
        }
        of_rank[name.pp_rank] = &files[i];
    }
    for (int32_t r = 0; r < lowest.p && code == KERF_OK; r++)
        if (of_rank[r] == NULL) code = missing_rank(folder, &lowest, r, err);
    free(of_rank);
    return code;
}

/* ---- What a file says ------------------------------------------------------------------------------------- */

struct timer {
    int32_t backward, chunk, microbatch, is_end;
};

/* 1: a timer of the pipeline, 0: another's, -1: one that is misspelt. */
static int parse_key(const char *key, int32_t chunks, struct timer *ret) {
    const char *at = key;
    *ret = (struct timer){.backward = strncmp(key, "backward-", 9) == 0};
    if (!take(&at, "forward-") && !take(&at, "backward-")) return 0;
    if (chunks > 1 && !(take_number(&at, &ret->chunk) && take(&at, "-"))) return -1;
    if (!take_number(&at, &ret->microbatch)) return -1;
    ret->is_end = strcmp(at, "-end") == 0;
    return ret->is_end || strcmp(at, "-start") == 0 ? 1 : -1;
}

static int32_t check_key(const struct json_object *file, const char *key, int parsed, const struct timer *timer,
                         const struct rank_name *name, struct kerf_error *err) {
    if (parsed < 0)
        return json_fail(file, key, KERF_EUNKNOWN, err,
                         "\"%.64s\" is no timer of a trace with VPP%d, whose are like \"%s\"", key, name->v,
                         name->v > 1 ? "forward-1-3-start\" (chunk 1, micro-batch 3)" : "forward-3-start\"");
    if (timer->chunk >= name->v)
        return json_fail(file, key, KERF_EINVALID, err, "chunk %d of VPP%d: there are chunks 0 to %d", timer->chunk,
                         name->v, name->v - 1);
    if (timer->microbatch >= TRACE_MICROBATCHES_MAX)
        return json_fail(file, key, KERF_EINVALID, err, "micro-batch %d: there may be at most %d", timer->microbatch,
                         TRACE_MICROBATCHES_MAX);
    return KERF_OK;
}

static int32_t read_time(const struct json_object *file, const char *key, const json_t *json, double *ret,
                         struct kerf_error *err) {
    double value = json_number_value(json);
    if (!json_is_number(json) || !(value >= -LARGEST_MS && value <= LARGEST_MS))
        return json_fail(file, key, KERF_EINVALID, err, "\"%s\" must be a number of milliseconds up to %g", key,
                         LARGEST_MS);
    *ret = value;
    return KERF_OK;
}

/* The other end of a timer's range. */
static void other_key(const struct timer *timer, int32_t chunks, char *ret, size_t size) {
    const char *kind = timer->backward ? "backward" : "forward", *end = timer->is_end ? "start" : "end";
    if (chunks > 1)
        snprintf(ret, size, "%s-%d-%d-%s", kind, timer->chunk, timer->microbatch, end);
    else
        snprintf(ret, size, "%s-%d-%s", kind, timer->microbatch, end);
}

/* A key of the object; an operation is added when its start comes by. */
static int32_t read_key(struct trace_reading *reading, const struct json_object *file, const struct rank_name *name,
                        int32_t rank, const char *key, const json_t *value, struct kerf_error *err) {
    struct timer timer;
    double time = 0, end = 0;
    char other[64];
    int parsed = parse_key(key, name->v, &timer);
    if (parsed == 0) return KERF_OK;
    int32_t code = check_key(file, key, parsed, &timer, name, err);
    if (code == KERF_OK) code = read_time(file, key, value, &time, err);
    if (code != KERF_OK) return code;
    other_key(&timer, name->v, other, sizeof other);
    const json_t *other_value = json_object_get(file->json, other);
    if (other_value == NULL && reading->unpaired++ == 0)
        kerf_text_printf(&reading->notes, "pp rank %d: \"%s\" has no \"%s\", and is left out\n", name->pp_rank, key,
                         other);
    if (other_value == NULL || timer.is_end) return KERF_OK;
    code = read_time(file, other, other_value, &end, err);
    if (code != KERF_OK) return code;
    if (end < time)
        return json_fail(file, other, KERF_EINVALID, err, "\"%s\" is %.17g, before its start at %.17g", other, end,
                         time);
    if (!reading->has_first) reading->first_us = time, reading->has_first = 1;
    if (fmax(fabs(time - reading->first_us), end - reading->first_us) > 1e3 * TRACE_SECONDS_MAX)
        return json_fail(file, key, KERF_EINVALID, err,
                         "\"%s\" lies more than %g s from the first time: is it of this run?", key, TRACE_SECONDS_MAX);
    struct trace_event event = {
        .start_s = (time - reading->first_us) * 1e-3,
        .end_s = (end - reading->first_us) * 1e-3,
        .step = trace_step_key(-1, 0),
        .op = {timer.microbatch, -1, (int16_t)(timer.chunk * name->p + name->pp_rank), -1,
               timer.backward ? KERF_OP_B : KERF_OP_F, 0},
        .rank = rank,
    };
    return trace_add_event(reading, &event) ? KERF_OK : error_no_memory(err, "the trace");
}

static int32_t read_megatron(struct trace_reading *reading, const struct trace_file *trace_file, const char *text,
                             size_t length, struct kerf_error *err) {
    struct json_document document;
    struct json_object file;
    struct rank_name name = {0};
    const char *key;
    json_t *value;
    int32_t code = check_name(trace_file, &name, err);
    if (code != KERF_OK) return code;
    struct trace_rank rank = {
        .file = trace_file->path, .number = name.rank, .device = name.pp_rank, .file_index = reading->files};
    int32_t index = trace_add_rank(reading, &rank);
    if (index < 0) return error_no_memory(err, "the trace");
    reading->devices = name.p;
    reading->stages = name.p * name.v;
    reading->traces++;
    code = json_document_parse(&document, text, length, trace_file->path, &file, err);
    if (code == KERF_OK) json_object_foreach(file.json, key, value) {
            code = read_key(reading, &file, &name, index, key, value, err);
            if (code != KERF_OK) break;
        }
    json_document_free(&document);
    return code;
}

/* One step, and ranks have their devices already. */
static int32_t finish(struct trace_reading *reading, struct kerf_error *err) {
    if (reading->num_events == 0)
        return kerf_error_set(
            err, KERF_EINVALID,
            "no operation in any file: keys like \"forward-0-start\" and \"forward-0-end\" are expected");
    if (reading->unpaired > 1) kerf_text_printf(&reading->notes, "so are %d more\n", reading->unpaired - 1);
    return trace_measure(reading, err);
}

const struct trace_format trace_megatron = {
    .source = "Megatron timers",
    .expected = "event_times_PP{p}_VPP{v}_TPxCPxDP_rank_{a}_pp_rank_{r}_rank_{g}.json for each pp rank r",
    .recognises = recognises,
    .select = select_files,
    .read = read_megatron,
    .finish = finish,
};
