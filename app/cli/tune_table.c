/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a study as a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/flat_cells.h"
#include "cli/terminal.h"
#include "cli/tune_picture.h"
#include "cli/tune_print.h"

/* ---- Rows --------------------------------------------------------------------------------------------------- */

static void probability_cell(struct kerf_text *cells, double probability) {
    kerf_text_add(cells, "\t");
    if (isnan(probability))
        kerf_text_add(cells, "-");
    else
        words_chance(cells, probability);
}

static const char *mark(const struct tune_report *report, int32_t index) {
    const struct kerf_tune_answer *answer = &report->answer;
    if (index == answer->recommended) return index == answer->best ? "best" : "recommended";
    return index == answer->best ? "best" : index == report->state->space->default_setting ? "default" : "";
}

/* One line: values of the parameters, what was measured, the estimate, its interval, runs, probabilities, what there
 * is to say. Of a setting whose runs were all stopped the longest: what the model expects beyond that is no
 * measurement. */
static void row(struct kerf_text *cells, const struct tune_report *report, int32_t index) {
    const struct kerf_tune_space *space = report->state->space;
    const struct kerf_tune_estimate *estimate = &report->answer.settings[index];
    const struct kerf_study_request *request = report->state->request;
    for (int32_t p = 0; p < space->num_params; p++) {
        int32_t value = space->values[index * space->num_params + p];
        kerf_text_printf(cells, "%s%s", p ? "\t" : "", kerf_tune_value_word(&space->params[p], value));
    }
    kerf_text_add(cells, "\t");
    words_objective(cells, request, estimate->observed_mean);
    kerf_text_add(cells, "\t");
    int is_stopped = estimate->status == KERF_TUNE_ALL_CENSORED;
    if (is_stopped) kerf_text_add(cells, "> ");
    words_objective(cells, request, is_stopped ? estimate->bound : estimate->mean);
    kerf_text_add(cells, "\t");
    if (estimate->status == KERF_TUNE_MEASURED) words_interval(cells, request, estimate->interval, " - ");
    kerf_text_printf(cells, "\t%d", estimate->observations);
    probability_cell(cells, estimate->probability_within);
    probability_cell(cells, estimate->probability_within_margin);
    kerf_text_printf(cells, "\t%s", mark(report, index));
    const char *between = mark(report, index)[0] ? ", " : "";
    if (estimate->status == KERF_TUNE_ALL_FAILED || estimate->status == KERF_TUNE_SKIPPED)
        kerf_text_printf(cells, "%s%s: %s", between, kerf_tune_status_word(estimate->status), estimate->reason);
    else if (estimate->failed > 0)
        kerf_text_printf(cells, "%s%d failed: %s", between, estimate->failed, estimate->reason);
    kerf_text_add(cells, "\n");
}

static void titles(struct kerf_text *cells, const struct tune_report *report) {
    const struct kerf_tune_space *space = report->state->space;
    const struct kerf_study_request *request = report->state->request;
    for (int32_t p = 0; p < space->num_params; p++)
        kerf_text_printf(cells, "%s%s", p ? "\t" : "", space->params[p].name);
    kerf_text_add(cells, "\tmeasured\testimate\t");
    words_share(cells, request->confidence);
    kerf_text_add(cells, " interval\truns\twithin ");
    words_share(cells, request->within);
    kerf_text_add(cells, "\twithin ");
    words_share(cells, request->margin);
    kerf_text_add(cells, "\t\n");
}

/* Shown: what was measured, failed or skipped; the rest has nothing to tell. Returns how many are not. */
static int32_t rows(struct kerf_text *cells, const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    int32_t *order = tune_order(report), hidden = 0;
    titles(cells, report);
    if (order == NULL) cells->failed = 1;
    for (int32_t i = 0; order && i < report->state->space->num_settings; i++) {
        int32_t status = answer->settings[order[i]].status;
        int is_silent = status == KERF_TUNE_NOT_MEASURED && order[i] != answer->recommended && order[i] != answer->best;
        if (is_silent)
            hidden++;
        else
            row(cells, report, order[i]);
    }
    free(order);
    return hidden;
}

/* ---- The report ---------------------------------------------------------------------------------------------- */

static void put_surface(struct kerf_text *out, const struct tune_report *report, const struct render_style *style) {
    struct sketch sketch = {.failed = 0};
    struct kerf_panel panel;
    if (tune_surface(report, &sketch, &panel)) {
        kerf_text_add(out, "\n");
        kerf_matrix_terminal(out, &panel, style->columns, style->colour);
    }
    if (sketch.failed) out->failed = 1;
    sketch_free(&sketch);
}

static void words_hidden(struct kerf_text *out, int32_t hidden, int32_t settings) {
    if (hidden == settings)
        kerf_text_printf(out, "Of %d setting%s none was measured.\n", settings, settings == 1 ? "" : "s");
    else if (hidden)
        kerf_text_printf(out, "%d other setting%s not measured.\n", hidden, hidden == 1 ? " was" : "s were");
}

void print_tune_table(struct kerf_text *out, const struct tune_report *report, const struct render_style *style) {
    struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}};
    struct kerf_text cells = {0};
    int32_t num_params = report->state->space->num_params, k = num_params;
    words_study(out, report, style->colour);
    if (report->llama) words_llama(out, report);
    put_surface(out, report, style);
    if (num_params > TABLE_COLUMNS_MAX - 7) return; /* no table is that wide */
    for (int32_t p = 0; p < num_params; p++)
        columns[p].right = report->state->space->params[p].kind == KERF_TUNE_INTEGER;
    columns[k++] = (struct table_column){1, 6};         /* measured */
    columns[k++] = (struct table_column){1, 0};         /* estimate */
    columns[k++] = (struct table_column){0, 3};         /* interval */
    columns[k++] = (struct table_column){1, 4};         /* runs */
    columns[k++] = (struct table_column){1, 2};         /* within */
    columns[k++] = (struct table_column){1, 5};         /* within the margin */
    columns[k++] = (struct table_column){0, TABLE_CUT}; /* what there is to say */
    int32_t hidden = rows(&cells, report), settings = report->state->space->num_settings;
    kerf_text_add(out, "\n");
    if (hidden < settings)
        terminal_table(out, &cells, columns, style->columns, style->colour, report->answer.best >= 0 ? 1 : -1);
    words_hidden(out, hidden, settings);
    kerf_text_free(&cells);
}

void print_tune_markdown(struct kerf_text *out, const struct tune_report *report) {
    struct kerf_text cells = {0}, words = {0};
    words_study(&words, report, 0);
    for (const char *c = words.data ? words.data : ""; *c; c++)
        kerf_text_write(out, *c == '\n' ? "\n\n" : c, *c == '\n' ? 2 : 1);
    if (rows(&cells, report) < report->state->space->num_settings) markdown_table(out, &cells);
    if (words.failed || cells.failed) out->failed = 1;
    kerf_text_free(&words);
    kerf_text_free(&cells);
}
