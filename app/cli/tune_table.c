/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a study as a table, as Markdown, JSON and CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cells.h"
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

/* One line: values of the parameters, the measured mean, the estimate, its interval, runs, probabilities, remarks. A
 * setting whose runs were all stopped shows the longest of them, because an expectation is not a measurement. */
static void row(struct kerf_text *cells, const struct tune_report *report, int32_t index) {
    const struct kerf_tune_space *space = report->state->space;
    const struct kerf_tune_estimate *estimate = &report->answer.settings[index];
    const struct kerf_study_request *request = report->state->request;
    for (int32_t p = 0; p < space->num_params; p++) {
        kerf_text_printf(cells, "%s%s", p ? "\t" : "", kerf_tune_setting_word(space, index, p));
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
    const char *reason = kerf_study_reason(report->state, report->answer.settings, index);
    if (estimate->status == KERF_TUNE_ALL_FAILED || estimate->status == KERF_TUNE_SKIPPED)
        kerf_text_printf(cells, "%s%s: %s", between, kerf_tune_status_word(estimate->status), reason);
    else if (estimate->failed > 0)
        kerf_text_printf(cells, "%s%d failed: %s", between, estimate->failed, reason);
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

/* Shows the settings that were measured, failed or were skipped, `most` of them. Returns how many others there are;
 * *ret_cut: of those that would be shown. */
static int32_t rows(struct kerf_text *cells, const struct tune_report *report, int32_t most, int32_t *ret_cut) {
    const struct kerf_tune_answer *answer = &report->answer;
    int32_t *order = tune_order(report), hidden = 0, count = 0;
    *ret_cut = 0;
    titles(cells, report);
    if (order == NULL) cells->failed = 1;
    for (int32_t i = 0; order && i < report->state->space->num_settings; i++) {
        int32_t status = answer->settings[order[i]].status;
        int is_silent = status == KERF_TUNE_NOT_MEASURED && order[i] != answer->recommended && order[i] != answer->best;
        if (is_silent)
            hidden++;
        else if (count++ < most)
            row(cells, report, order[i]);
        else
            ++*ret_cut;
    }
    free(order);
    return hidden;
}

/* Sentences from the byte `from` on. A file and another program get each as one line. */
static void wrap(struct kerf_text *out, size_t from, const struct render_style *style) {
    if (style->is_terminal) terminal_wrap(out, from, style->columns);
}

/* ---- What matters -------------------------------------------------------------------------------------------- */

enum { MAIN_SHOWN = 8, PAIRS_SHOWN = 3 };
static const double SHOWN_FROM = 0.01; /* a pair's share */
static const double UNKNOWN = 0.5;     /* the width of an interval that says next to nothing */

/* "81 %" */
static void words_part(struct kerf_text *out, double share) { kerf_text_printf(out, "%.0f %%", 100 * share); }

static void effect_row(struct kerf_text *cells, const struct tune_report *report, const struct kerf_tune_effect *of) {
    const struct kerf_tune_param *params = report->state->space->params;
    kerf_text_add(cells, params[of->params[0]].name);
    if (of->params[1] >= 0) kerf_text_printf(cells, " with %s", params[of->params[1]].name);
    if (isnan(of->share)) {
        kerf_text_add(cells, "\t-\t\n");
        return;
    }
    kerf_text_add(cells, "\t");
    words_part(cells, of->share);
    kerf_text_add(cells, "\t");
    words_part(cells, of->interval[0]);
    kerf_text_add(cells, " - ");
    words_part(cells, of->interval[1]);
    kerf_text_add(cells, "\n");
}

/* 0: one parameter alone, which has all of it, or nothing is known. */
static int effect_rows(struct kerf_text *cells, const struct tune_report *report) {
    const struct kerf_tune_importance *importance = &report->importance;
    int32_t mains = 0, pairs = 0;
    double left = 1;
    kerf_text_add(cells, "what matters\tshare\t90 % interval\n");
    for (int32_t k = 0; k < importance->num_effects; k++) {
        const struct kerf_tune_effect *of = &importance->effects[k];
        int is_pair = of->params[1] >= 0;
        if (is_pair ? !(of->share >= SHOWN_FROM) || pairs >= PAIRS_SHOWN : mains >= MAIN_SHOWN) continue;
        *(is_pair ? &pairs : &mains) += 1;
        effect_row(cells, report, of);
        left -= of->share;
    }
    if (left >= SHOWN_FROM) {
        kerf_text_add(cells, "all else\t");
        words_part(cells, left);
        kerf_text_add(cells, "\t\n");
    }
    return mains > 1;
}

/* What the shares are of, and whether they say anything. */
static void words_importance(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_importance *importance = &report->importance;
    const struct kerf_tune_effect *first = &importance->effects[0];
    kerf_text_printf(out, "Shares of the variance between %s%d settings%s", importance->is_sample ? "" : "the ",
                     importance->settings, importance->is_sample ? " drawn at random" : " that may be measured");
    if (importance->is_ratio) {
        kerf_text_printf(out, ", which differ by a factor of %.3g (standard deviation; 90 %%: %.3g to %.3g).\n",
                         exp(importance->spread), exp(importance->spread_interval[0]),
                         exp(importance->spread_interval[1]));
    } else {
        kerf_text_add(out, ", which differ by ");
        words_objective(out, report->state->request, importance->spread);
        kerf_text_add(out, " (standard deviation).\n");
    }
    if (!(first->interval[1] - first->interval[0] <= UNKNOWN))
        kerf_text_add(out, "Too little was measured to say what matters.\n");
}

/* style NULL: as Markdown */
static void put_importance(struct kerf_text *out, const struct tune_report *report, const struct render_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {1, 0}, {1, 0}};
    struct kerf_text cells = {0};
    if (report->has_front) return;
    if (effect_rows(&cells, report)) {
        kerf_text_add(out, "\n");
        if (style)
            terminal_table(out, &cells, columns, style->columns, style->colour, -1);
        else
            markdown_table(out, &cells);
        kerf_text_add(out, style ? "" : "\n");
        size_t from = out->length;
        words_importance(out, report);
        if (style) wrap(out, from, style);
    }
    if (cells.failed) out->failed = 1;
    kerf_text_free(&cells);
}

enum { ROWS_SHOWN = 30, BEHIND_PARAMS = 7 }; /* rows on a terminal; columns */

/* ---- The report ---------------------------------------------------------------------------------------------- */

static void put_surface(struct kerf_text *out, const struct tune_report *report, const struct render_style *style) {
    struct sketch sketch = {.failed = 0};
    struct kerf_panel panel;
    if (report->has_front) return; /* a surface is of one objective */
    if (tune_surface(report, &sketch, &panel)) {
        kerf_text_add(out, "\n");
        kerf_matrix_terminal(out, &panel, style->columns, style->colour);
        words_shown(out, report);
    } else if (tune_whiskers(report, &sketch, &panel)) {
        kerf_text_add(out, "\n");
        kerf_whiskers_terminal(out, &panel, style->columns, style->colour);
        words_shown(out, report);
    }
    if (sketch.failed) out->failed = 1;
    sketch_free(&sketch);
}

/* Of a report that is longer than the screen the first line comes once more, so that the answer stays in sight. */
static void words_again(struct kerf_text *out, const struct tune_report *report, const struct render_style *style) {
    struct kerf_text words = {0};
    int32_t lines = 0;
    for (size_t i = 0; out->data && i < out->length; i++) lines += out->data[i] == '\n';
    if (!style->is_terminal || style->rows == 0 || lines < style->rows || report->answer.best < 0) return;
    words_study(&words, report, style->colour);
    kerf_text_add(out, "\n");
    if (words.data) kerf_text_write(out, words.data, strcspn(words.data, "\n") + 1);
    if (words.failed) out->failed = 1;
    kerf_text_free(&words);
}

static void words_hidden(struct kerf_text *out, const struct kerf_tune_space *space, int32_t hidden) {
    int is_none = hidden == space->num_settings;
    if (is_none || space->has_unused == KERF_TUNE_GROWS) {
        kerf_text_add(out, "Of ");
        words_number_of_settings(out, space);
        kerf_text_printf(out, " setting%s %s measured.\n", space->num_settings == 1 ? "" : "s",
                         is_none ? "none was" : "the others were not");
    } else if (hidden) {
        kerf_text_printf(out, "%d other setting%s not measured.\n", hidden, hidden == 1 ? " was" : "s were");
    }
}

/* Why a setting that was measured has no probability. */
static void words_not_compared(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    int32_t count = 0;
    if (report->has_front || answer->best < 0 || isnan(answer->settings[answer->best].probability_within)) return;
    for (int32_t i = 0; i < report->state->space->num_settings; i++)
        count += answer->settings[i].status == KERF_TUNE_MEASURED && isnan(answer->settings[i].probability_within);
    if (count)
        kerf_text_printf(out,
                         "%d measured setting%s no probability (-): not among the %d that are compared, which kerf "
                         "chooses anew every few runs.\n",
                         count, count == 1 ? " has" : "s have", answer->looked_at);
}

static void set_columns(const struct tune_report *report, struct table_column columns[TABLE_COLUMNS_MAX]) {
    static const struct table_column of_one[] = {{1, 6}, {1, 0}, {0, 3}, {1, 4}, {1, 2}, {1, 5}, {0, TABLE_CUT}};
    static const struct table_column of_both[] = {{1, 0}, {0, 3}, {1, 0}, {0, 4}, {1, 5}, {1, 2}, {0, TABLE_CUT}};
    const struct kerf_tune_param *params = report->state->space->params;
    int32_t num_params = report->state->space->num_params;
    for (int32_t p = 0; p < num_params; p++)
        columns[p].right = params[p].kind == KERF_TUNE_INTEGER || params[p].numbers;
    for (int32_t k = 0; k < BEHIND_PARAMS; k++) columns[num_params + k] = report->has_front ? of_both[k] : of_one[k];
}

/* Returns how many settings are not shown, as they were not tried. */
static int32_t all_rows(struct kerf_text *cells, const struct tune_report *report, int32_t most, int32_t *ret_cut) {
    return report->has_front ? front_rows(cells, report, most, ret_cut) : rows(cells, report, most, ret_cut);
}

void print_tune_table(struct kerf_text *out, const struct tune_report *report, const struct render_style *style) {
    struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}};
    struct kerf_text cells = {0};
    words_study(out, report, style->colour);
    wrap(out, 0, style);
    if (report->llama && !report->has_front) words_llama(out, report);
    put_surface(out, report, style);
    put_importance(out, report, style);
    if (report->state->space->num_params > TABLE_COLUMNS_MAX - BEHIND_PARAMS) return; /* no table is that wide */
    set_columns(report, columns);
    int32_t cut, settings = report->state->space->num_settings;
    int32_t hidden = all_rows(&cells, report, style->is_terminal ? ROWS_SHOWN : INT32_MAX, &cut);
    kerf_text_add(out, "\n");
    if (hidden < settings)
        terminal_table(out, &cells, columns, style->columns, style->colour, report->answer.best >= 0 ? 1 : -1);
    size_t from = out->length;
    if (cut) kerf_text_printf(out, "%d more that were tried are not shown; `| less` shows all.\n", cut);
    words_not_compared(out, report);
    words_hidden(out, report->state->space, hidden);
    words_again(out, report, style);
    wrap(out, from, style);
    kerf_text_free(&cells);
}

void print_tune_markdown(struct kerf_text *out, const struct tune_report *report) {
    struct kerf_text cells = {0}, words = {0};
    int32_t cut;
    words_study(&words, report, 0);
    for (const char *c = words.data ? words.data : ""; *c; c++)
        kerf_text_write(out, *c == '\n' ? "\n\n" : c, *c == '\n' ? 2 : 1);
    if (all_rows(&cells, report, INT32_MAX, &cut) < report->state->space->num_settings) markdown_table(out, &cells);
    put_importance(out, report, NULL);
    if (words.failed || cells.failed) out->failed = 1;
    kerf_text_free(&words);
    kerf_text_free(&cells);
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

static void put_interval(struct kerf_json *json, const char *key, const double interval[2]) {
    if (!tune_is_interval(interval)) {
        kerf_json_null(json, key);
        return;
    }
    kerf_json_open(json, key, '[');
    kerf_json_number(json, NULL, interval[0]);
    kerf_json_number(json, NULL, interval[1]);
    kerf_json_close(json, ']');
}

static void put_best(struct kerf_json *json, const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    if (answer->best < 0) {
        kerf_json_null(json, "best");
        kerf_json_null(json, "recommended");
        return;
    }
    const struct kerf_tune_estimate *best = &answer->settings[answer->best];
    const struct kerf_tune_estimate *recommended = &answer->settings[answer->recommended];
    kerf_json_open(json, "best", '{');
    kerf_tune_setting_json(json, "setting", report->state->space, answer->best);
    kerf_json_number(json, "mean", best->mean);
    kerf_json_number(json, "observed_mean", best->observed_mean);
    put_interval(json, "interval", best->interval);
    kerf_json_number(json, "probability_within", best->probability_within);
    kerf_json_close(json, '}');
    kerf_json_open(json, "recommended", '{');
    kerf_tune_setting_json(json, "setting", report->state->space, answer->recommended);
    kerf_json_number(json, "mean", recommended->mean);
    kerf_json_number(json, "observed_mean", recommended->observed_mean);
    put_interval(json, "interval", recommended->interval);
    kerf_json_number(json, "probability_within_margin", recommended->probability_within_margin);
    kerf_json_string(json, "reason", answer->reason);
    kerf_json_close(json, '}');
}

static void put_default(struct kerf_json *json, const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    int32_t index = report->state->space->default_setting;
    if (index < 0) {
        kerf_json_null(json, "default");
        return;
    }
    const struct kerf_tune_estimate *estimate = &answer->settings[index];
    int is_measured = estimate->status == KERF_TUNE_MEASURED;
    kerf_json_open(json, "default", '{');
    kerf_tune_setting_json(json, "setting", report->state->space, index);
    kerf_json_number(json, "mean", is_measured ? estimate->mean : NAN);
    if (tune_has_gain(report)) {
        kerf_json_number(json, "gain", answer->default_gain);
        put_interval(json, "gain_interval", answer->gain_interval);
    } else {
        kerf_json_null(json, "gain");
        kerf_json_null(json, "gain_interval");
    }
    kerf_json_close(json, '}');
}

static void put_equivalent(struct kerf_json *json, const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    kerf_json_open(json, "equivalent", '[');
    for (int32_t i = 0; i < report->state->space->num_settings; i++) {
        double probability = answer->settings[i].probability_within_margin;
        if (i == answer->best || !(probability >= report->state->request->confidence)) continue;
        kerf_json_open(json, NULL, '{');
        kerf_tune_setting_json(json, "setting", report->state->space, i);
        kerf_json_number(json, "probability_within_margin", probability);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

/* Of a large grid those of which something is known, of any other all. */
static int is_told(const struct tune_report *report, int32_t setting) {
    const struct kerf_tune_estimate *estimate = &report->answer.settings[setting];
    return report->state->space->has_unused != KERF_TUNE_GROWS || estimate->status != KERF_TUNE_NOT_MEASURED ||
           isfinite(estimate->mean);
}

static void put_settings(struct kerf_json *json, const struct tune_report *report) {
    kerf_json_open(json, "settings", '[');
    for (int32_t i = 0; i < report->state->space->num_settings; i++) {
        const struct kerf_tune_estimate *estimate = &report->answer.settings[i];
        if (!is_told(report, i)) continue;
        kerf_json_open(json, NULL, '{');
        kerf_tune_setting_json(json, "setting", report->state->space, i);
        kerf_json_integer(json, "observations", estimate->observations);
        kerf_json_integer(json, "censored", estimate->censored);
        kerf_json_integer(json, "failed", estimate->failed);
        kerf_json_number(json, "mean", estimate->mean);
        kerf_json_number(json, "observed_mean", estimate->observed_mean);
        put_interval(json, "interval", estimate->interval);
        if (report->has_front) {
            kerf_json_number(json, "second", report->front.second[i].mean);
            put_interval(json, "second_interval", report->front.second[i].interval);
        }
        kerf_json_number(json, "bound", estimate->bound);
        kerf_json_number(json, "probability_within", estimate->probability_within);
        kerf_json_number(json, "probability_within_margin", estimate->probability_within_margin);
        kerf_json_string(json, "status", kerf_tune_status_word(estimate->status));
        kerf_json_string(json, "reason", kerf_study_reason(report->state, report->answer.settings, i));
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

static void put_modes(struct kerf_json *json, const struct tune_report *report) {
    if (report->modes.share == 0) {
        kerf_json_null(json, "modes");
        return;
    }
    kerf_json_open(json, "modes", '{');
    kerf_json_number(json, "share", report->modes.share);
    kerf_json_number(json, "slower", report->modes.slower);
    kerf_json_close(json, '}');
}

void print_tune_json(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_study_state *state = report->state;
    const struct kerf_study_request *request = state->request;
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_string(&json, "study", state->id[0] ? state->id : NULL);
    kerf_json_string(&json, "stopped", kerf_study_stop_word(state->stop));
    kerf_json_string(&json, "reason", state->reason);
    kerf_json_string(&json, "policy", request->policy);
    kerf_json_string(&json, "objective", request->objective);
    kerf_json_boolean(&json, "maximize", request->maximize);
    kerf_json_number(&json, "within", request->within);
    kerf_json_number(&json, "margin", request->margin);
    kerf_json_number(&json, "confidence", request->confidence);
    kerf_json_integer(&json, "observations", state->num_entries);
    kerf_json_integer(&json, "censored", report->answer.censored);
    kerf_json_integer(&json, "failed", report->answer.failed);
    kerf_json_integer(&json, "remeasured", state->remeasured);
    kerf_json_integer(&json, "earlier", report->answer.earlier);
    kerf_json_integer(&json, "earlier_dropped", report->answer.earlier_dropped);
    kerf_json_open(&json, "earlier_missing", '[');
    for (int32_t i = 0; i < state->missing.count; i++) kerf_json_string(&json, NULL, state->missing.items[i]);
    kerf_json_close(&json, ']');
    kerf_json_integer(&json, "loads", state->loads);
    kerf_json_number(&json, "elapsed_s", state->elapsed_s);
    kerf_json_number(&json, "noise", report->answer.noise);
    kerf_json_number(&json, "drift", report->answer.drift);
    kerf_json_integer(&json, "looked_at", report->answer.looked_at);
    kerf_json_number(&json, "settings_in_all", kerf_tune_space_size(report->state->space));
    kerf_json_integer(&json, "predictions", report->answer.predictions);
    kerf_json_integer(&json, "predictions_missed", report->answer.predictions_missed);
    kerf_json_number(&json, "widened", report->answer.widened);
    kerf_json_number(&json, "chance_isolated", report->answer.chance_isolated);
    kerf_json_number(&json, "chance_unseen", report->answer.chance_unseen);
    put_modes(&json, report);
    kerf_json_boolean(&json, "answered", tune_is_answered(report));
    put_best(&json, report);
    put_default(&json, report);
    put_equivalent(&json, report);
    json_front(&json, report);
    kerf_tune_importance_write(&report->importance, state->space, &json);
    put_settings(&json, report);
    if (report->llama) json_llama(&json, report);
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

/* ---- CSV ---------------------------------------------------------------------------------------------------- */

static int is_title(const char *name, const char *titles) {
    size_t length = strlen(name);
    for (const char *c = titles; c; c = strchr(c, ','), c += c != NULL)
        if (strncmp(c, name, length) == 0 && (c[length] == ',' || c[length] == 0)) return 1;
    return 0;
}

static int is_param(const char *name, const struct kerf_tune_space *space) {
    for (int32_t p = 0; p < space->num_params; p++)
        if (strcmp(space->params[p].name, name) == 0) return 1;
    return 0;
}

void csv_params(struct kerf_text *out, const struct kerf_tune_space *space, const char *others) {
    struct kerf_text title = {0};
    for (int32_t p = 0; p < space->num_params; p++) {
        const char *name = space->params[p].name;
        for (int32_t prefixes = is_title(name, others);; prefixes++) {
            kerf_text_clear(&title);
            kerf_text_repeat(&title, "param_", prefixes);
            kerf_text_add(&title, name);
            if (title.failed || prefixes == 0 || !is_param(title.data, space)) break;
        }
        csv_text(out, title.failed ? "" : title.data);
        kerf_text_add(out, ",");
    }
    if (title.failed) out->failed = 1;
    kerf_text_free(&title);
}

static void csv_front(struct kerf_text *out, const struct tune_report *report, int32_t setting) {
    const struct kerf_tune_estimate *second = &report->front.second[setting];
    int is_known = tune_is_interval(second->interval);
    csv_number(out, second->mean);
    csv_number(out, is_known ? second->interval[0] : NAN);
    csv_number(out, is_known ? second->interval[1] : NAN);
    kerf_text_add(out, tune_is_on_front(report, setting) ? ",true" : ",false");
    csv_number(out, tune_unbeaten(report, setting));
}

void print_tune_csv(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_space *space = report->state->space;
#define TITLES                                                                                                         \
    "status,observations,censored,failed,mean,interval_low,interval_high,bound,probability_within,"                    \
    "probability_within_margin,observed_mean,reason"
    const char *titles = report->has_front ? TITLES ",second,second_low,second_high,front,unbeaten" : TITLES;
    csv_params(out, space, titles);
    kerf_text_printf(out, "%s\n", titles);
    for (int32_t i = 0; i < space->num_settings; i++) {
        const struct kerf_tune_estimate *estimate = &report->answer.settings[i];
        if (!is_told(report, i)) continue;
        for (int32_t p = 0; p < space->num_params; p++) {
            csv_text(out, kerf_tune_setting_word(space, i, p));
            kerf_text_add(out, ",");
        }
        kerf_text_printf(out, "%s,%d,%d,%d", kerf_tune_status_word(estimate->status), estimate->observations,
                         estimate->censored, estimate->failed);
        csv_number(out, estimate->mean);
        int is_known = tune_is_interval(estimate->interval);
        csv_number(out, is_known ? estimate->interval[0] : NAN);
        csv_number(out, is_known ? estimate->interval[1] : NAN);
        csv_number(out, estimate->bound);
        csv_number(out, estimate->probability_within);
        csv_number(out, estimate->probability_within_margin);
        csv_number(out, estimate->observed_mean);
        kerf_text_add(out, ",");
        csv_text(out, kerf_study_reason(report->state, report->answer.settings, i));
        if (report->has_front) csv_front(out, report, i);
        kerf_text_add(out, "\n");
    }
}
