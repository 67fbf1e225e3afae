/* SPDX-License-Identifier: Apache-2.0 */
/* kerf score: predicts every run of a table and says how far off the predictions are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "call/score_question.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/plan_print.h"
#include "cli/render.h"
#include "cli/terminal.h"

struct score_options {
    struct score_values ask;
    const char *format, *predictions;
    struct string_list outputs;
};

#define AT(field) .offset = offsetof(struct score_options, field)
static const struct option options[] = {
    SCORE_OPTIONS(struct score_options, ask),
    {.name = "predictions",
     .type = OPTION_STRING,
     AT(predictions),
     .value = "FILE",
     .help = "Also write a CSV with the prediction of every row: id, status, step_s, step_low_s, step_high_s, "
             "memory_bytes, p_oom, why."},
    {.name = "format",
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORMAT",
     .choices = "table,json,csv,markdown",
     .help = "How to print the answer (default: table)."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help = "Write to FILE, in the format of its name: .json .csv .md .txt, or predicted against measured as a "
             "picture: .svg .html .png .pdf. May be given several times."},
    {.name = NULL},
};

static const char *const examples[] = {
    "How good are the predictions of these runs?",
    "kerf score runs.csv",
    "Which runs are missed most, and where does their time go?",
    "kerf score runs.csv --worst 5",
    "By accelerator, with constants of one's own site",
    "kerf score runs.csv --by gpu --calibration site.json -o scatter.svg",
    NULL,
};

static const struct command table = {
    .name = "score",
    .summary = "predicts measured runs and says how far off it is",
    .arguments = "[RUNS.csv]",
    .description =
        "Predicts the step time and memory of every run of a table, which gzip may have packed, and compares them with "
        "what was measured; without a table, published runs that come with kerf. A prediction never depends on the "
        "columns of measurements. docs/runs.md is the manual of "
        "the columns, docs/score.md that of the figures.\n\n"
        "Errors are predicted / measured - 1. tau and regret compare layouts of one model, number of accelerators, "
        "sequence length, batch and precision (5 rows or more): Kendall's rank correlation, and how much slower the "
        "predicted best is than the best.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct score_options, ask.tables),
};

/* ---- The table -------------------------------------------------------------------------------------------- */

static void put_percent(struct kerf_text *cells, double value) {
    if (isnan(value))
        kerf_text_add(cells, "\t");
    else
        kerf_text_printf(cells, "\t%.1f %%", 100 * value);
}

static void put_number(struct kerf_text *cells, double value) {
    if (isnan(value))
        kerf_text_add(cells, "\t");
    else
        kerf_text_printf(cells, "\t%.2f", value);
}

static void put_line(struct kerf_text *cells, const char *name, const struct figures *f) {
    kerf_text_printf(cells, "%s\t%zu", name, f->timed);
    put_percent(cells, f->mean);
    put_percent(cells, f->median);
    put_percent(cells, f->p90);
    put_percent(cells, f->bias);
    put_percent(cells, f->within);
    put_number(cells, f->tau);
    put_number(cells, f->regret);
    put_percent(cells, f->recall);
    put_percent(cells, f->precision);
    put_percent(cells, f->memory_error);
    kerf_text_printf(cells, "\t%zu\n", f->refused);
}

static void put_lines(struct kerf_text *cells, const struct score_answer *answer) {
    kerf_text_printf(
        cells, "%s\truns\terror\tmedian\t90 %%\tbias\tinside\ttau\tregret\tOOM found\tOOM right\tGiB error\trefused\n",
        answer->by);
    for (size_t i = 0; i < answer->num_lines; i++) put_line(cells, answer->lines[i].name, &answer->lines[i].figures);
    put_line(cells, "all", &answer->all);
}

enum { REASONS_MAX = 20 }; /* told each by itself: a table of dirty data has one for every row */

/* Why a row is left out, NULL: it is not; *ret_unknown: the word that is not known, or NULL. */
typedef const char *left_out(const struct score_answer *answer, size_t row, const char **ret_unknown);

static const char *refused(const struct score_answer *answer, size_t row, const char **ret_unknown) {
    *ret_unknown = answer->predictions[row].unknown;
    return answer->predictions[row].why;
}

static const char *not_compared(const struct score_answer *answer, size_t row, const char **ret_unknown) {
    *ret_unknown = NULL;
    return answer->predictions[row].why ? NULL : answer->runs->rows[row].measured.why;
}

static int same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static int same_reason(const struct score_answer *answer, left_out *why, size_t a, size_t b) {
    const char *unknown_a, *unknown_b, *why_a = why(answer, a, &unknown_a), *why_b = why(answer, b, &unknown_b);
    return same_text(why_a, why_b) && same_text(unknown_a, unknown_b);
}

struct reason {
    size_t first, rows;
};

/* How often each reason to leave out a row occurs. */
static void print_left_out(struct kerf_text *out, const struct score_answer *answer, const char *title, left_out *why) {
    struct reason told[REASONS_MAX + 1]; /* the last: all others */
    const char *unknown;
    size_t num = 0;
    for (size_t i = 0; i < answer->runs->count; i++) {
        size_t at = 0;
        if (why(answer, i, &unknown) == NULL) continue;
        while (at < num && at < REASONS_MAX && !same_reason(answer, why, told[at].first, i)) at++;
        if (at == num) told[num++] = (struct reason){i, 0};
        told[at].rows++;
    }
    for (size_t k = 0; k < num; k++) {
        kerf_text_printf(out, "%s: %zu row%s, the first in line %d: ", title, told[k].rows,
                         told[k].rows == 1 ? "" : "s", answer->runs->rows[told[k].first].line);
        kerf_text_add(out, k < REASONS_MAX ? why(answer, told[k].first, &unknown)
                                           : "other reasons; --format json has them all");
        if (k < REASONS_MAX && unknown) kerf_text_printf(out, ": '%.64s'", unknown);
        kerf_text_add(out, "\n");
    }
}

static void print_worst(struct kerf_text *out, const struct score_answer *answer, const struct render_style *style) {
    for (size_t i = 0; i < answer->num_worst; i++) {
        const struct run *run = &answer->runs->rows[answer->worst[i]];
        const struct prediction *p = &answer->predictions[answer->worst[i]];
        kerf_text_printf(out, "\n%s: %s on %lld %s, %s\n", run->id, run->model, (long long)run->gpus, run->gpu,
                         run->framework);
        kerf_text_printf(out, "  measured %.4g s, predicted %.4g s (%+.0f %%), 90 %% from %.4g to %.4g s%s\n",
                         run->measured.step_s, p->step_s, 100 * (p->step_s / run->measured.step_s - 1), p->step_low_s,
                         p->step_high_s, p->comparable ? "" : "; nothing like this was measured");
        for (int32_t part = 0; part < p->time_s.count; part++) {
            double share = p->time_s.of[part].value / p->step_s;
            if (share < 0.005) continue;
            kerf_text_printf(out, "  %-11s %9.4g s %4.0f %%  ", p->time_s.of[part].name, p->time_s.of[part].value,
                             100 * share);
            kerf_bar_terminal(out, &share, 1, 1, style->columns - 34 > 10 ? style->columns - 34 : 10, style->colour);
            kerf_text_add(out, "\n");
        }
    }
}

static void print_table(struct kerf_text *out, const struct score_answer *answer, const struct render_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, TABLE_CUT}, {1, 0},  {1, 0}, {1, 5}, {1, 6},
                                                                   {1, 7},         {1, 2},  {1, 3}, {1, 4}, {1, 8},
                                                                   {1, 9},         {1, 10}, {1, 11}};
    struct kerf_text cells = {0};
    put_lines(&cells, answer);
    terminal_table(out, &cells, columns, style->columns, style->colour, (int32_t)answer->num_lines + 1);
    kerf_text_free(&cells);
    print_left_out(out, answer, "refused", refused);
    print_left_out(out, answer, "not compared", not_compared);
    print_worst(out, answer, style);
    terminal_plain(out);
}

static void print_csv(struct kerf_text *out, const struct score_answer *answer) {
    kerf_text_printf(out,
                     "%s,runs,mean,median,p90,bias,within,width,tau,regret,oom,recall,precision,brier,memory_runs,"
                     "memory_error,memory_gib,refused\n",
                     answer->by);
    for (size_t i = 0; i <= answer->num_lines; i++) {
        const struct figures *f = i < answer->num_lines ? &answer->lines[i].figures : &answer->all;
        const double before[] = {f->mean, f->median, f->p90, f->bias, f->within, f->width, f->tau, f->regret};
        csv_text(out, i < answer->num_lines ? answer->lines[i].name : "all");
        kerf_text_printf(out, ",%zu", f->timed);
        for (size_t v = 0; v < sizeof before / sizeof *before; v++) csv_number(out, before[v]);
        kerf_text_printf(out, ",%zu", f->oom);
        csv_number(out, f->recall), csv_number(out, f->precision), csv_number(out, f->brier);
        kerf_text_printf(out, ",%zu", f->memory_runs);
        csv_number(out, f->memory_error), csv_number(out, f->memory_gib);
        kerf_text_printf(out, ",%zu\n", f->refused);
    }
}

/* ---- The command ------------------------------------------------------------------------------------------ */

static const struct render_format formats[] = {{.name = "table", .ending = "txt"},
                                               {.name = "json", .ending = "json"},
                                               {.name = "csv", .ending = "csv"},
                                               {.name = "markdown", .ending = "md"},
                                               RENDER_PICTURES,
                                               {.name = NULL}};

static int32_t write_answer(void *context, struct kerf_text *out, const struct render_format *format,
                            const struct render_style *style, struct kerf_error *err) {
    const struct score_answer *answer = context;
    if (format->is_picture) return score_picture(out, answer, format->picture, err);
    if (strcmp(format->name, "json") == 0) {
        struct kerf_json json;
        kerf_json_begin(&json, out);
        score_answer_json(&json, answer);
        kerf_text_add(out, "\n");
    } else if (strcmp(format->name, "csv") == 0) {
        print_csv(out, answer);
    } else if (strcmp(format->name, "markdown") == 0) {
        struct kerf_text cells = {0};
        put_lines(&cells, answer);
        markdown_table(out, &cells);
        kerf_text_free(&cells);
    } else {
        print_table(out, answer, style);
    }
    return KERF_OK;
}

static int32_t write_predictions(const char *path, const struct score_answer *answer, struct kerf_error *err) {
    struct kerf_text text = {0};
    score_predictions_csv(&text, answer->runs, answer->predictions);
    int32_t code = output_file(path, &text, err);
    kerf_text_free(&text);
    return code;
}

static int run(int argc, char **argv) {
    struct score_options values = {.format = render_usual};
    struct kerf_error err;
    struct score_answer answer;
    int status = cli_parse(&score_cli, argc, argv, &values);
    if (status >= 0) return status;
    struct render render = {.formats = formats,
                            .format = values.format,
                            .outputs = &values.outputs,
                            .write = write_answer,
                            .context = &answer};
    int32_t code = render_check(&render, &err);
    if (code == KERF_OK && values.ask.worst) code = render_check_more(&render, "--worst", &err);
    if (code == KERF_OK && values.predictions) code = output_check(values.predictions, &err);
    if (code == KERF_OK) code = score_answer_make(&values.ask, &answer, &err);
    if (code == KERF_OK) {
        calibration_notes(&answer.software, score_software(&answer));
        if (values.predictions) code = write_predictions(values.predictions, &answer, &err);
        if (code == KERF_OK) code = render_all(&render, &err);
        status = answer.all.refused < answer.runs->count ? EXIT_ANSWERED : EXIT_NO_ANSWER;
        score_answer_free(&answer);
    }
    options_free(&table, &values);
    return code == KERF_OK ? status : cli_fail(&err);
}

const struct cli_command score_cli = {&table, run};
