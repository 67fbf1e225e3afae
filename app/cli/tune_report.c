/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tune_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"

/* What --resume could do with a study that is not sure. */
static int32_t look_ahead(const struct kerf_study_state *state, int32_t *ret_most, struct kerf_error *err) {
    struct kerf_tune_decision next;
    int64_t most = state->request->max_observations;
    if (state->stop == KERF_STUDY_CONFIDENT || state->stop == KERF_STUDY_NOTHING) {
        *ret_most = -1;
        return KERF_OK;
    }
    int32_t code = kerf_tune_study_next(state->study, NULL, 0, 0, &next, err);
    if (code != KERF_OK) return code;
    int is_spent = next.stop == KERF_TUNE_TOO_NOISY && most > 0 && state->num_entries - state->num_disturbed >= most;
    *ret_most = next.action == KERF_TUNE_MEASURE ? 0 : is_spent ? 2 * state->num_entries : -1;
    return KERF_OK;
}

int32_t tune_report_make(struct kerf_study_state *state, struct tune_report *ret_report, struct kerf_error *err) {
    struct kerf_tune_answer answer;
    int32_t most = -1;
    int32_t code = look_ahead(state, &most, err);
    if (code == KERF_OK) code = kerf_tune_study_answer(state->study, &answer, err);
    if (code == KERF_OK) *ret_report = (struct tune_report){.state = state, .answer = answer, .most_to_go_on = most};
    return code;
}

static int rank(const struct kerf_tune_estimate *estimate) {
    switch (estimate->status) {
    case KERF_TUNE_MEASURED: return 0;
    case KERF_TUNE_ALL_CENSORED: return 1;
    case KERF_TUNE_NOT_MEASURED: return 2;
    case KERF_TUNE_ALL_FAILED: return 3;
    default: return 4;
    }
}

static int compare(const void *a, const void *b, void *context) {
    const struct tune_report *report = context;
    int32_t i = *(const int32_t *)a, k = *(const int32_t *)b;
    const struct kerf_tune_estimate *x = &report->answer.settings[i], *y = &report->answer.settings[k];
    if (rank(x) != rank(y)) return rank(x) < rank(y) ? -1 : 1;
    double sign = report->state->request->maximize ? -1 : 1;
    double u = isnan(x->mean) ? INFINITY : sign * x->mean, v = isnan(y->mean) ? INFINITY : sign * y->mean;
    return u < v ? -1 : u > v ? 1 : (i > k) - (i < k);
}

int32_t *tune_order(const struct tune_report *report) {
    size_t count = (size_t)report->state->space->num_settings;
    int32_t *order = malloc(count * sizeof *order);
    if (order == NULL) return NULL;
    for (size_t i = 0; i < count; i++) order[i] = (int32_t)i;
    qsort_r(order, count, sizeof *order, compare, (void *)(uintptr_t)report);
    return order;
}

/* ---- What can be said ------------------------------------------------------------------------------------------ */

int tune_is_interval(const double interval[2]) { return isfinite(interval[0]) && isfinite(interval[1]); }

int tune_has_gain(const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    int32_t first = report->state->space->default_setting;
    if (first < 0 || answer->best < 0 || answer->settings[first].status != KERF_TUNE_MEASURED) return 0;
    return answer->settings[first].mean > 0 && answer->settings[answer->best].mean > 0 &&
           isfinite(answer->default_gain) && answer->default_gain > 0;
}

/* What the report calls the answer: the preferred setting, or the best one. */
static double stated_probability(const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    const struct kerf_tune_estimate *of = &answer->settings[answer->recommended];
    int is_of_margin = answer->recommended != answer->best || report->state->request->prefer != NULL;
    return is_of_margin ? of->probability_within_margin : of->probability_within;
}

int tune_is_answered(const struct tune_report *report) {
    if (report->answer.best < 0) return 0;
    double probability = stated_probability(report);
    return isnan(probability) || probability >= 0.5;
}

/* ---- Numbers --------------------------------------------------------------------------------------------------- */

void words_objective(struct kerf_text *out, const struct kerf_study_request *request, double value) {
    const char *unit = kerf_study_request_unit(request);
    if (isnan(value))
        kerf_text_add(out, "-");
    else if (strcmp(unit, "s") == 0)
        quantity_seconds(out, value);
    else if (strcmp(unit, "B") == 0)
        quantity_bytes(out, value);
    else
        kerf_text_printf(out, "%.4g", value);
}

/* Rounded where a double begins to differ from what was written. */
void words_share(struct kerf_text *out, double share) { kerf_text_printf(out, "%.14g %%", 100 * share); }

void words_chance(struct kerf_text *out, double probability) {
    if (probability > 0.999)
        kerf_text_add(out, ">99.9 %");
    else if (probability < 0.0005)
        kerf_text_add(out, "0 %");
    else
        kerf_text_printf(out, probability < 0.1 || probability > 0.99 ? "%.1f %%" : "%.0f %%", 100 * probability);
}

void words_interval(struct kerf_text *out, const struct kerf_study_request *request, const double interval[2],
                    const char *between) {
    if (!tune_is_interval(interval)) return;
    words_objective(out, request, interval[0]);
    kerf_text_add(out, between);
    words_objective(out, request, interval[1]);
}
