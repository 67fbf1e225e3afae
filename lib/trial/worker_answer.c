/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/worker_answer.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/setting.h"
#include "trial/program_output.h"

static void bad(struct worker_answer *answer, const char *why) {
    answer->says = WORKER_BAD;
    snprintf(answer->text, sizeof answer->text, "%s", why);
}

/* Whether the key is there, and not null. */
static int tells(const json_t *root, const char *key) {
    const json_t *value = json_object_get(root, key);
    return value && !json_is_null(value);
}

/* The finite number under key, or NAN. */
static double number_of(const json_t *root, const char *key) {
    const json_t *value = json_object_get(root, key);
    double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    return isfinite(number) ? number : (double)NAN;
}

static void read_error(const json_t *root, struct worker_answer *answer) {
    const char *text = json_string_value(json_object_get(root, "error")),
               *kind = json_string_value(json_object_get(root, "kind"));
    if (text == NULL) text = "";
    answer->says = WORKER_ERROR;
    quote_line(*text ? text : "the worker gives no reason", answer->text, sizeof answer->text);
    if (!tells(root, "kind"))
        answer->failure = says_out_of_memory(text) ? KERF_TUNE_FAILURE_MEMORY : KERF_TUNE_FAILURE_OTHER;
    else if (kind && strcmp(kind, "memory") == 0)
        answer->failure = KERF_TUNE_FAILURE_MEMORY;
    else if (kind && strcmp(kind, "crash") == 0)
        answer->failure = KERF_TUNE_FAILURE_CRASH;
    else if (kind && strcmp(kind, "other") == 0)
        answer->failure = KERF_TUNE_FAILURE_OTHER;
    else
        bad(answer, "the kind of the worker's error is none of memory, crash and other");
}

static void read_clock(const json_t *root, struct worker_answer *answer) {
    if (!tells(root, "start_s") && !tells(root, "end_s")) return;
    answer->start_s = number_of(root, "start_s");
    answer->end_s = number_of(root, "end_s");
    if (answer->end_s >= answer->start_s) return;
    answer->start_s = answer->end_s = (double)NAN;
    bad(answer, "the worker's start_s and end_s are not two times in order");
}

static void read_answer(const json_t *root, struct worker_answer *answer) {
    const json_t *error = json_object_get(root, "error");
    int has_result = tells(root, "value") || tells(root, "censored");
    const char *key = tells(root, "censored") ? "censored" : "value";
    if (error && (!json_is_null(error) || !has_result)) { /* with an error, a value does not count */
        read_error(root, answer);
        return;
    }
    if (json_object_get(root, key) == NULL) {
        bad(answer, "the worker's answer has neither value, censored nor error");
        return;
    }
    answer->value = number_of(root, key);
    answer->says = strcmp(key, "value") == 0 ? WORKER_VALUE : WORKER_CENSORED;
    if (isnan(answer->value))
        bad(answer, answer->says == WORKER_VALUE ? "the worker's value is not a number"
                                                 : "the worker's censored is not a number");
    else
        read_clock(root, answer);
}

/* Whether a line that is not JSON was meant as the answer: some libraries write {"id":7,"value":NaN}, and a line that is too
 * long has lost its end. */
static int is_meant_as_answer(const char *line, size_t length, int64_t id) {
    static const char key[] = "\"id\"";
    const char *end = line + length, *place = memmem(line, length, key, sizeof key - 1);
    size_t blank = strspn(line, " \t");
    while (end > line && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (id <= 0 || blank >= length || line[blank] != '{' || place == NULL) return 0;
    if (end[-1] != '}' && length < LINE_MAX_BYTES) return 0; /* it may be cut off */
    for (place += sizeof key - 1; place < end && (*place == ' ' || *place == ':'); place++) {
    }
    return place < end && strtod(place, NULL) == (double)id;
}

static const char *why_not_json(const json_error_t *error, size_t length) {
    if (length >= LINE_MAX_BYTES) return "the worker's answer is a line of more than 1 MiB";
    switch (json_error_code(error)) {
    case json_error_invalid_utf8: return "the worker's answer is not UTF-8";
    case json_error_duplicate_key: return "the worker's answer has a key twice";
    case json_error_numeric_overflow: return "a number in the worker's answer is too large";
    default: return "the worker's answer is not JSON (NaN and Infinity are not JSON)";
    }
}

void worker_answer_read(const char *line, size_t length, int64_t id, struct worker_answer *ret_answer) {
    json_error_t error = {0};
    json_t *root = memchr(line, '{', length)
                       ? json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error)
                       : NULL;
    const json_t *id_of = json_object_get(root, "id");
    *ret_answer = (struct worker_answer){.says = WORKER_OTHER, .start_s = (double)NAN, .end_s = (double)NAN};
    if (root == NULL && is_meant_as_answer(line, length, id))
        bad(ret_answer, why_not_json(&error, length));
    else if (id > 0 && json_is_number(id_of) && json_number_value(id_of) == (double)id)
        read_answer(root, ret_answer);
    else if (id == 0 && json_is_true(json_object_get(root, "ready")))
        ret_answer->says = WORKER_READY;
    json_decref(root);
}

/* ---- Its clock ---------------------------------------------------------------------------------------------- */

/* How long after the end of the last answer this one began, by kerf's clock. */
static double since(const struct worker_clock *clock, struct time_span kerfs) {
    return fmax(0, kerfs.start_s - clock->kerf_end_s);
}

struct time_span worker_clock_answer(struct worker_clock *clock, int64_t life, struct time_span told,
                                     struct time_span kerfs) {
    double gap_s = told.start_s + clock->shift_s - clock->end_s;
    double least_s = !clock->is_told || life == clock->life ? 0 : since(clock, kerfs);
    if (!(gap_s >= least_s)) clock->shift_s = clock->end_s + since(clock, kerfs) - told.start_s;
    assert(told.end_s >= told.start_s); /* worker_answer_read refuses others */
    clock->is_told = 1;
    clock->life = life;
    clock->end_s = told.end_s + clock->shift_s;
    clock->kerf_end_s = kerfs.end_s;
    return (struct time_span){told.start_s + clock->shift_s, clock->end_s};
}

struct time_span worker_clock_silence(struct worker_clock *clock, struct time_span kerfs) {
    if (!clock->is_told) {
        clock->end_s = clock->kerf_end_s = kerfs.end_s;
        return kerfs;
    }
    double start_s = clock->end_s + since(clock, kerfs);
    return (struct time_span){start_s, start_s + (kerfs.end_s - kerfs.start_s)};
}
