/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of `kerf score` and its answer: a table of runs, predicted, and how good the predictions are. */
#ifndef KERF_CALL_SCORE_QUESTION_H
#define KERF_CALL_SCORE_QUESTION_H

#include "base/option.h"
#include "call/software.h"
#include "kerf/draw.h"
#include "score/calibrate.h"
#include "score/figures.h"

struct score_values {
    struct string_list tables; /* one: a file's name */
    const char *text;          /* NULL, or the table itself */
    const char *by, *stack, *calibration;
    int64_t worst;
};

/* Rows of an option table for a struct `owner` whose member `of` is a struct score_values. */
#define SCORE_OPTIONS(owner, of)                                                                                       \
    {.name = "by",                                                                                                     \
     .type = OPTION_CHOICE,                                                                                            \
     .offset = offsetof(owner, of.by),                                                                                 \
     .value = "WHAT",                                                                                                  \
     .choices = "set,gpu,gpus,framework,model,precision,system,stack",                                                 \
     .help = "A line for each of these (default: set, an id before its last '-')."},                                   \
        {.name = "stack",                                                                                              \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.stack),                                                                          \
         .value = "STACK",                                                                                             \
         .help = "Price all rows as runs of this stack (default: the stack of each row's framework)."},                \
        {.name = "calibration",                                                                                        \
         .type = OPTION_STRING,                                                                                        \
         .offset = offsetof(owner, of.calibration),                                                                    \
         .value = "FILE",                                                                                              \
         .help = "Constants that `kerf calibrate` wrote, in place of those that come with kerf."},                     \
    {                                                                                                                  \
        .name = "worst", .type = OPTION_INTEGER, .offset = offsetof(owner, of.worst), .value = "N", .minimum = 1,      \
        .maximum = 1000000, .help = "Also show the N runs that were missed most, each with the parts of its time."     \
    }

struct score_line {
    char name[96];
    struct figures figures;
};

struct score_answer {
    const char *by;
    struct software software;
    struct runs *runs;
    struct prediction *predictions; /* [runs->count] */
    struct score_line *lines;       /* [num_lines] in the order in which they begin in the table */
    size_t num_lines;
    int32_t *line_of; /* [runs->count] */
    struct figures all;
    size_t *worst; /* [num_worst] rows, the worst first */
    size_t num_worst;
};

/* Given back with score_answer_free, which an error has done. */
int32_t score_answer_make(const struct score_values *values, struct score_answer *ret_answer, struct kerf_error *err);
void score_answer_free(struct score_answer *answer);

/* Why a prediction was refused: "this accelerator is in no system file: 'RTX 4090'". */
void score_why(struct kerf_text *out, const struct prediction *prediction);

/* What the rows were priced with. */
struct software_uses score_software(const struct score_answer *answer);

/* The name of the line that a row is in. */
const char *score_line_of(const struct score_answer *answer, size_t row);

/* The text of a table of runs, unpacked. */
int32_t score_table_read(const char *name, struct kerf_text *text, struct kerf_error *err);

/* The stack of launches of a framework (enum kerf_framework). */
const char *score_stack_of(int32_t framework);

void score_answer_json(struct kerf_json *json, const struct score_answer *answer);

/* The file of --predictions: id,status,step_s,step_low_s,step_high_s,memory_bytes,p_oom,why. */
void score_predictions_csv(struct kerf_text *out, const struct runs *runs, const struct prediction *predictions);

/* Predicted against measured, a series for each line. */
int32_t score_picture(struct kerf_text *out, const struct score_answer *answer, enum kerf_picture_format format,
                      struct kerf_error *err);

#endif
