/* SPDX-License-Identifier: Apache-2.0 */
#include "call/score_question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/input.h"
#include "base/unpack.h"
#include "kerf/launch.h"
#include "kerf/version.h"
#include "spec/description.h"

/* A table of so many bytes holds a million runs; larger ones are refused before they are read whole. */
enum { TABLE_BYTES_MAX = 512 << 20 };

int32_t score_table_read(const char *name, struct kerf_text *text, struct kerf_error *err) {
    int32_t code = input_read(name, TABLE_BYTES_MAX, text, err);
    if (code == KERF_OK) code = input_unpack(name, TABLE_BYTES_MAX, text, err);
    return code;
}

const char *score_stack_of(int32_t framework) {
    static const struct {
        const char *framework, *stack;
    } rows[] = {{"megatron-deepspeed", "megatron-deepspeed"},
                {"megatron-bridge", "megatron-bridge-26.06"},
                {"torchtitan", "torchtitan"},
                {"nanotron", "nanotron"},
                {"deepspeed-hf", "deepspeed"},
                {"mlperf-nemo", "nemo"}};
    const char *name = kerf_framework_name((enum kerf_framework)framework);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].framework, name) == 0) return rows[i].stack;
    return KERF_STACK_DEFAULT;
}

/* ---- Lines ------------------------------------------------------------------------------------------------ */

static void line_name(const char *by, const struct run *run, const struct prediction *prediction, char name[96]) {
    static const char *const precisions[] = {"", "fp16", "bf16", "fp8", "mxfp8", "nvfp4"};
    const char *text = "";
    if (strcmp(by, "set") == 0) {
        snprintf(name, 96, "%.*s", (int)(run_set_length(run) > 90 ? 90 : run_set_length(run)), run->id);
        return;
    }
    if (strcmp(by, "gpus") == 0) {
        snprintf(name, 96, "%lld", (long long)run->gpus);
        return;
    }
    if (strcmp(by, "gpu") == 0) text = run->gpu;
    if (strcmp(by, "framework") == 0) text = run->framework;
    if (strcmp(by, "model") == 0) text = run->model;
    if (strcmp(by, "precision") == 0) text = precisions[run->precision];
    if (strcmp(by, "system") == 0) text = prediction->system;
    if (strcmp(by, "stack") == 0) text = prediction->stack;
    snprintf(name, 96, "%.90s", text && *text ? text : "(not said)");
}

struct named {
    char name[96];
    size_t row, first; /* the first row of that name */
};

static int compare_named(const void *a, const void *b) {
    const struct named *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : (left->row > right->row) - (left->row < right->row);
}

/* Sorted, the rows of a line are neighbours; lines are numbered in the order in which they begin in the table. */
static int32_t make_lines(struct score_answer *answer, struct kerf_error *err) {
    size_t count = answer->runs->count, *which = calloc(count + 1, sizeof *which);
    struct named *named = calloc(count + 1, sizeof *named);
    int32_t *of = answer->line_of = calloc(count + 1, sizeof *of);
    answer->lines = calloc(count + 1, sizeof *answer->lines);
    int32_t code = which && named && of && answer->lines ? KERF_OK : KERF_ENOMEM;
    if (code != KERF_OK) error_no_memory(err, "the figures");
    for (size_t i = 0; code == KERF_OK && i < count; i++) {
        which[i] = named[i].row = i;
        line_name(answer->by, &answer->runs->rows[i], &answer->predictions[i], named[i].name);
    }
    if (code == KERF_OK) code = figures_compute(answer->runs, answer->predictions, which, count, &answer->all, err);
    if (code == KERF_OK) qsort(named, count, sizeof *named, compare_named);
    for (size_t i = 0; code == KERF_OK && i < count; i++) {
        int is_next = i > 0 && strcmp(named[i].name, named[i - 1].name) == 0;
        named[i].first = is_next ? named[i - 1].first : named[i].row;
        which[i] = named[i].row;
        of[named[i].row] = is_next ? -1 : 0; /* 0: a line begins with it */
    }
    for (size_t i = 0; code == KERF_OK && i < count; i++)
        if (of[i] == 0) of[i] = (int32_t)answer->num_lines++;
    for (size_t i = 0, members; code == KERF_OK && i < count; i += members) {
        struct score_line *line = &answer->lines[of[named[i].first]];
        memcpy(line->name, named[i].name, sizeof line->name);
        for (members = 0; i + members < count && named[i + members].first == named[i].first; members++)
            of[named[i + members].row] = of[named[i].first];
        code = figures_compute(answer->runs, answer->predictions, which + i, members, &line->figures, err);
    }
    free(named);
    free(which);
    return code;
}

const char *score_line_of(const struct score_answer *answer, size_t row) {
    return answer->lines[answer->line_of[row]].name;
}

/* ---- The worst -------------------------------------------------------------------------------------------- */

struct miss {
    double by; /* |ln(predicted / measured)| */
    size_t row;
};

static int compare_misses(const void *a, const void *b) {
    const struct miss *left = a, *right = b;
    if (left->by != right->by) return left->by < right->by ? 1 : -1;
    return (left->row > right->row) - (left->row < right->row);
}

static int32_t find_worst(struct score_answer *answer, size_t most, struct kerf_error *err) {
    struct miss *misses = calloc(answer->runs->count + 1, sizeof *misses);
    size_t count = 0;
    answer->worst = calloc(answer->runs->count + 1, sizeof *answer->worst);
    if (misses == NULL || answer->worst == NULL) {
        free(misses);
        return error_no_memory(err, "the worst runs");
    }
    for (size_t i = 0; i < answer->runs->count; i++)
        if (answer->predictions[i].why == NULL && figures_is_timed(&answer->runs->rows[i]))
            misses[count++] =
                (struct miss){fabs(log(answer->predictions[i].step_s / answer->runs->rows[i].measured.step_s)), i};
    qsort(misses, count, sizeof *misses, compare_misses);
    answer->num_worst = count < most ? count : most;
    for (size_t i = 0; i < answer->num_worst; i++) answer->worst[i] = misses[i].row;
    free(misses);
    return KERF_OK;
}

/* ---- The answer ------------------------------------------------------------------------------------------- */

void score_answer_free(struct score_answer *answer) {
    software_free(&answer->software);
    runs_free(answer->runs);
    free(answer->predictions);
    free(answer->lines);
    free(answer->line_of);
    free(answer->worst);
    memset(answer, 0, sizeof *answer);
}

static int32_t predict(const struct score_values *values, struct score_answer *answer, struct kerf_error *err) {
    struct score_constants *constants = answer->software.constants = malloc(sizeof *constants);
    answer->software.calibration = values->calibration;
    answer->predictions = calloc(answer->runs->count + 1, sizeof *answer->predictions);
    int32_t code = constants && answer->predictions ? software_constants(values->calibration, constants, err)
                                                    : error_no_memory(err, "the predictions");
    return code == KERF_OK ? predict_runs(constants, answer->runs, values->stack, answer->predictions, err) : code;
}

/* Rows that were refused are priced with nothing. */
static struct software_use of_row(const void *of, size_t i) {
    const struct prediction *prediction = (const struct prediction *)of + i;
    return prediction->why ? (struct software_use){NULL, NULL}
                           : (struct software_use){prediction->system, prediction->stack};
}

struct software_uses score_software(const struct score_answer *answer) {
    return (struct software_uses){answer->predictions, answer->runs->count, of_row};
}

int32_t score_answer_make(const struct score_values *values, struct score_answer *ret_answer, struct kerf_error *err) {
    struct kerf_text text = {0};
    struct score_answer *answer = ret_answer;
    *answer = (struct score_answer){.by = values->by ? values->by : "set"};
    const char *name = values->tables.count ? values->tables.items[0] : "runs", *given = values->text;
    if (values->tables.count == 0 && given == NULL) given = catalogue_runs[0].json, name = catalogue_runs[0].name;
    if (values->tables.count > 1)
        return kerf_error_set(err, KERF_EINVALID, "give one table, not also '%.64s'", values->tables.items[1]);
    int32_t code = given ? KERF_OK : score_table_read(name, &text, err);
    if (code == KERF_OK)
        code = runs_parse(given       ? given
                          : text.data ? text.data
                                      : "",
                          given ? strlen(given) : text.length, name, &answer->runs, err);
    kerf_text_free(&text);
    if (code == KERF_OK) code = predict(values, answer, err);
    if (code == KERF_OK) code = make_lines(answer, err);
    if (code == KERF_OK) code = find_worst(answer, (size_t)values->worst, err);
    if (code != KERF_OK) score_answer_free(answer);
    return code;
}

void score_why(struct kerf_text *out, const struct prediction *prediction) {
    kerf_text_add(out, prediction->why);
    if (prediction->unknown) kerf_text_printf(out, ": '%.64s'", prediction->unknown);
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static void figures_json(struct kerf_json *json, const struct figures *f) {
    kerf_json_integer(json, "n", (int64_t)f->timed);
    kerf_json_integer(json, "refused", (int64_t)f->refused);
    kerf_json_number(json, "mean", f->mean);
    kerf_json_number(json, "median", f->median);
    kerf_json_number(json, "p90", f->p90);
    kerf_json_number(json, "bias", f->bias);
    kerf_json_number(json, "tau", f->tau);
    kerf_json_number(json, "regret", f->regret);
    kerf_json_number(json, "within", f->within);
    kerf_json_number(json, "width", f->width);
    kerf_json_open(json, "oom", '{');
    kerf_json_integer(json, "n", (int64_t)f->oom);
    kerf_json_number(json, "recall", f->recall);
    kerf_json_number(json, "precision", f->precision);
    kerf_json_number(json, "brier", f->brier);
    kerf_json_close(json, '}');
    kerf_json_open(json, "memory", '{');
    kerf_json_integer(json, "n", (int64_t)f->memory_runs);
    kerf_json_number(json, "mean", f->memory_error);
    kerf_json_number(json, "mean_gib", f->memory_gib);
    kerf_json_close(json, '}');
}

static void run_json(struct kerf_json *json, const struct score_answer *answer, size_t row) {
    const struct run *run = &answer->runs->rows[row];
    const struct prediction *prediction = &answer->predictions[row];
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "id", run->id);
    kerf_json_string(json, "model", run->model);
    kerf_json_string(json, "system", prediction->system);
    kerf_json_string(json, "stack", prediction->stack);
    kerf_json_integer(json, "gpus", run->gpus);
    kerf_json_number(json, "measured_s", run->measured.step_s);
    kerf_json_number(json, "step_time_s", prediction->step_s);
    kerf_json_number(json, "step_low_s", prediction->step_low_s);
    kerf_json_number(json, "step_high_s", prediction->step_high_s);
    kerf_json_number(json, "error", prediction->step_s / run->measured.step_s - 1);
    kerf_json_open(json, "time_s", '{');
    for (int32_t i = 0; i < prediction->time_s.count; i++)
        kerf_json_number(json, prediction->time_s.of[i].name, prediction->time_s.of[i].value);
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

static void left_out_json(struct kerf_json *json, const struct run *run, const char *why) {
    kerf_json_open(json, NULL, '{');
    kerf_json_integer(json, "line", run->line);
    kerf_json_string(json, "id", run->id ? run->id : "");
    kerf_json_string(json, "why", why);
    kerf_json_close(json, '}');
}

void score_answer_json(struct kerf_json *json, const struct score_answer *answer) {
    struct kerf_text why = {0};
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "kerf", kerf_version());
    software_json(json, &answer->software, score_software(answer));
    kerf_json_integer(json, "rows", (int64_t)answer->runs->count);
    kerf_json_string(json, "by", answer->by);
    kerf_json_open(json, "lines", '[');
    for (size_t i = 0; i < answer->num_lines; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "name", answer->lines[i].name);
        figures_json(json, &answer->lines[i].figures);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_open(json, "overall", '{');
    figures_json(json, &answer->all);
    kerf_json_close(json, '}');
    kerf_json_open(json, "refused", '[');
    for (size_t i = 0; i < answer->runs->count; i++) {
        if (answer->predictions[i].why == NULL) continue;
        kerf_text_clear(&why);
        score_why(&why, &answer->predictions[i]);
        left_out_json(json, &answer->runs->rows[i], why.data ? why.data : "");
    }
    kerf_json_close(json, ']');
    kerf_json_open(json, "not_compared", '[');
    for (size_t i = 0; i < answer->runs->count; i++)
        if (answer->predictions[i].why == NULL && answer->runs->rows[i].measured.why)
            left_out_json(json, &answer->runs->rows[i], answer->runs->rows[i].measured.why);
    kerf_json_close(json, ']');
    kerf_text_free(&why);
    if (answer->num_worst) {
        kerf_json_open(json, "worst", '[');
        for (size_t i = 0; i < answer->num_worst; i++) run_json(json, answer, answer->worst[i]);
        kerf_json_close(json, ']');
    }
    kerf_json_close(json, '}');
}

/* ---- Predictions ------------------------------------------------------------------------------------------ */

static void csv_cell(struct kerf_text *out, const char *text) {
    if (strpbrk(text, ",\"\r\n") == NULL) {
        kerf_text_add(out, text);
        return;
    }
    kerf_text_add(out, "\"");
    for (; *text; text++) kerf_text_printf(out, *text == '"' ? "\"\"" : "%c", *text);
    kerf_text_add(out, "\"");
}

void score_predictions_csv(struct kerf_text *out, const struct runs *runs, const struct prediction *predictions) {
    struct kerf_text why = {0};
    kerf_text_add(out, "id,status,step_s,step_low_s,step_high_s,memory_bytes,p_oom,why\n");
    for (size_t i = 0; i < runs->count; i++) {
        const struct prediction *p = &predictions[i];
        csv_cell(out, runs->rows[i].id ? runs->rows[i].id : "");
        kerf_text_add(out, p->why ? ",refused,,,,,," : ",ok,");
        if (p->why) {
            kerf_text_clear(&why);
            score_why(&why, p);
            csv_cell(out, why.data ? why.data : "");
        } else {
            const double values[] = {p->step_s, p->step_low_s, p->step_high_s, p->memory_bytes, p->p_oom};
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                kerf_text_number(out, values[v]);
                kerf_text_add(out, ",");
            }
        }
        kerf_text_add(out, "\n");
    }
    kerf_text_free(&why);
}
