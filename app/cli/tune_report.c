/* SPDX-License-Identifier: Apache-2.0 */
/* What a study found: its state and answer as a report, the words of its figures, and the whole of it in sentences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"
#include "cli/tune_print.h"

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
    struct kerf_tune_modes modes = {.size = sizeof modes};
    int32_t most = -1;
    int32_t code = look_ahead(state, &most, err);
    if (code == KERF_OK) code = kerf_tune_study_answer(state->study, &answer, err);
    if (code == KERF_OK) code = kerf_tune_study_modes(state->study, &modes, err);
    if (code != KERF_OK) return code;
    struct tune_report report = {.state = state, .answer = answer, .modes = modes, .most_to_go_on = most};
    report.has_front = kerf_study_request_second(state->request, report.second, &report.maximizes_second);
    report.front.size = sizeof report.front;
    if (report.has_front) code = kerf_tune_study_front(state->study, &report.front, err);
    if (code == KERF_OK) *ret_report = report;
    return code;
}

int32_t tune_report_weigh(struct tune_report *report, struct kerf_error *err) {
    report->importance.size = sizeof report->importance;
    return kerf_tune_study_importance(report->state->study, &report->importance, err);
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

/* Less is better; INFINITY: not known. */
static double goodness(const struct tune_report *report, const struct kerf_tune_estimate *estimate) {
    return isnan(estimate->mean) ? INFINITY : report->state->request->maximize ? -estimate->mean : estimate->mean;
}

static int compare(const void *a, const void *b, void *context) {
    const struct tune_report *report = context;
    int32_t i = *(const int32_t *)a, k = *(const int32_t *)b;
    const struct kerf_tune_estimate *x = &report->answer.settings[i], *y = &report->answer.settings[k];
    int32_t best = report->answer.best;
    if (i == best || k == best) return i == k ? 0 : i == best ? -1 : 1;
    if (rank(x) != rank(y)) return rank(x) < rank(y) ? -1 : 1;
    double u = goodness(report, x), v = goodness(report, y);
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
    if (report->has_front) return report->front.probability >= 0.5;
    double probability = stated_probability(report);
    return isnan(probability) || probability >= 0.5;
}

double tune_unbeaten(const struct tune_report *report, int32_t setting) {
    for (int32_t m = 0; m < report->front.num; m++)
        if (report->front.settings[m] == setting) return report->front.unbeaten[m];
    return NAN;
}

int tune_is_on_front(const struct tune_report *report, int32_t setting) {
    return !isnan(tune_unbeaten(report, setting));
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

void words_second(struct kerf_text *out, const struct tune_report *report, double value) {
    const char *unit = kerf_study_second_unit(report->second);
    if (isnan(value))
        kerf_text_add(out, "-");
    else if (unit[0] == 's')
        quantity_seconds(out, value);
    else if (unit[0] == 'B')
        quantity_bytes(out, value);
    else
        kerf_text_printf(out, "%.4g", value);
}

/* What the first objective is called: "wall", "tokens_per_s". */
void words_first(struct kerf_text *out, const struct tune_report *report) {
    const char *objective = report->state->request->objective, *name = objective;
    size_t length = strcspn(objective, " ");
    if (strncmp(objective, "json:", 5) == 0) name += 5, length -= 5;
    if (strncmp(objective, "regex:", 6) == 0) name = "objective", length = strlen(name);
    kerf_text_write(out, name, length);
}

/* Rounded where a double begins to differ from what was written. */
void words_share(struct kerf_text *out, double share) { kerf_text_printf(out, "%.14g %%", 100 * share); }

void words_deviation(struct kerf_text *out, double share) {
    double percent = 100 * share;
    kerf_text_printf(out, percent < 99.5 ? "%.2g %%" : "%.0f %%", percent);
}

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

/* ---- In sentences --------------------------------------------------------------------------------------------- */

static void setting(struct kerf_text *out, const struct tune_report *report, int32_t index, int32_t bold) {
    if (bold) kerf_text_add(out, "\033[1m");
    kerf_tune_setting_write(report->state->space, index, out);
    if (bold) kerf_text_add(out, "\033[0m");
}

/* "batch=512: 470 ms (95 %: 461 ms to 480 ms)"; for a setting without a whole run what was observed, if anything. */
static void words_measured(struct kerf_text *out, const struct tune_report *report, int32_t index, int32_t bold) {
    const struct kerf_tune_estimate *estimate = &report->answer.settings[index];
    setting(out, report, index, bold);
    kerf_text_add(out, ": ");
    if (estimate->status == KERF_TUNE_ALL_CENSORED) {
        kerf_text_add(out, "stopped after ");
        words_objective(out, report->state->request, estimate->bound);
        return;
    }
    words_objective(out, report->state->request, estimate->mean);
    if (estimate->status != KERF_TUNE_MEASURED) kerf_text_add(out, " expected, not measured");
    int is_exact = estimate->interval[0] == estimate->interval[1];
    if (estimate->status != KERF_TUNE_MEASURED || is_exact || !tune_is_interval(estimate->interval)) return;
    kerf_text_add(out, " (");
    words_share(out, report->state->request->confidence);
    kerf_text_add(out, ": ");
    words_interval(out, report->state->request, estimate->interval, " to ");
    kerf_text_add(out, ")");
}

void words_number_of_settings(struct kerf_text *out, const struct kerf_tune_space *space) {
    double size = kerf_tune_space_size(space), grid = 1;
    for (int32_t p = 0; p < space->num_params; p++) grid *= space->params[p].num_values;
    int is_estimate = space->has_unused == KERF_TUNE_GROWS && size < grid;
    double unit = is_estimate ? pow(10, floor(log10(size)) - 1) : 1; /* an estimate is told with two digits */
    kerf_text_printf(out, "%s%.0f", is_estimate ? "about " : "", unit * round(size / unit));
}

/* "60 settings", "the 55 settings that could run, of 60,": settings that failed or were skipped cannot be chosen. For a
 * large space that was not looked at as a whole: "the 200 settings looked at, of 1000000,". */
static int32_t count_that_ran(const struct tune_report *report) {
    int32_t ran = 0;
    for (int32_t i = 0; i < report->state->space->num_settings; i++) {
        int32_t status = report->answer.settings[i].status;
        ran += status != KERF_TUNE_SKIPPED && status != KERF_TUNE_ALL_FAILED;
    }
    return ran;
}

static void words_choice(struct kerf_text *out, const struct tune_report *report) {
    int32_t all = report->state->space->num_settings, ran = count_that_ran(report);
    const int grows = report->state->space->has_unused == KERF_TUNE_GROWS;
    const char *ends = ",";
    const int has_limits = strstr(report->state->request->objective, " subject to ") != NULL;
    const char *fit = has_limits ? "neither failed nor broke a limit" : "could run";
    if (report->answer.looked_at < all && isnan(report->answer.chance_unseen))
        kerf_text_printf(out, "the %d settings looked at, of ", report->answer.looked_at);
    else if (ran == 1 && all > 1)
        kerf_text_printf(out, "the one setting that %s, of ", fit);
    else if (ran < all && !grows)
        kerf_text_printf(out, "the %d settings that %s, of ", ran, fit);
    else if (ran < all)
        kerf_text_printf(out, "the settings that %s, of ", fit);
    else
        ends = " settings";
    words_number_of_settings(out, report->state->space);
    kerf_text_add(out, ends);
}

/* What makes the answer less certain than the model says. */
static void words_doubts(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    if (answer->looked_at < report->state->space->num_settings && !isnan(answer->chance_unseen)) {
        kerf_text_printf(out, "Looked at closely: %d settings. That one of the others is better by more than ",
                         answer->looked_at);
        words_share(out, report->state->request->within);
        kerf_text_add(out, " has an estimated probability of ");
        words_chance(out, answer->chance_unseen);
        kerf_text_add(out, ".\n");
    }
    if (answer->chance_isolated > 0.01 && answer->predictions > 0) {
        kerf_text_add(
            out, "That a value which was not tried is better, although nothing beside it is, has a probability of ");
        words_chance(out, answer->chance_isolated);
        kerf_text_add(out, ".\n");
    }
    if (report->modes.share > 0)
        kerf_text_printf(
            out,
            "Some of the runs came out %.0f %% %s than the others, by chance and whichever the setting: "
            "the machine has two modes, and settings are compared within one: `estimate` is of one, `measured` the "
            "mean of all runs.\n",
            100 * fabs(report->modes.slower - 1), report->modes.slower > 1 ? "higher" : "lower");
    if (answer->widened > 1)
        kerf_text_printf(out,
                         "%d of %d runs came out where they were not expected: the surface is rougher or the noise "
                         "heavier than assumed, and the probability is lower for it.\n",
                         answer->predictions_missed, answer->predictions);
}

/* The best is the setting that is most probably near the best; another one may have the best estimate. */
static void words_better_estimate(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_answer *answer = &report->answer;
    int32_t best = answer->best, other = best;
    for (int32_t i = 0; i < report->state->space->num_settings; i++)
        if (answer->settings[i].status == KERF_TUNE_MEASURED &&
            goodness(report, &answer->settings[i]) < goodness(report, &answer->settings[other]))
            other = i;
    const struct kerf_tune_estimate *of = &answer->settings[other];
    if (answer->settings[best].status != KERF_TUNE_MEASURED ||
        !(of->probability_within < answer->settings[best].probability_within))
        return;
    setting(out, report, other, 0);
    kerf_text_add(out, " has the best estimate, but is within ");
    words_share(out, report->state->request->within);
    kerf_text_add(out, " of the best with only ");
    words_chance(out, of->probability_within);
    kerf_text_add(out, ".\n");
}

/* Of the best, how sure it is. */
static void words_certainty(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_study_request *request = report->state->request;
    double probability = report->answer.settings[report->answer.best].probability_within;
    if (report->state->space->num_settings == 1) {
        kerf_text_add(out, ". It is the only setting.\n");
        return;
    }
    if (isnan(probability)) {
        kerf_text_printf(out, "; the policy %s does not say how sure that is.\n", request->policy);
        return;
    }
    double of_margin = report->answer.settings[report->answer.best].probability_within_margin;
    int has_margin = request->prefer && report->answer.best == report->answer.recommended && !isnan(of_margin);
    kerf_text_add(out, ". It is within ");
    words_share(out, has_margin ? request->margin : request->within);
    kerf_text_add(out, " of the best of ");
    words_choice(out, report);
    kerf_text_add(out, " with a probability of ");
    words_chance(out, has_margin ? of_margin : probability);
    if (has_margin) {
        kerf_text_add(out, ", within ");
        words_share(out, request->within);
        kerf_text_add(out, " with ");
        words_chance(out, probability);
    }
    kerf_text_add(out, ".\n");
    words_better_estimate(out, report);
    words_doubts(out, report);
}

static void words_best(struct kerf_text *out, const struct tune_report *report, int32_t bold) {
    const struct kerf_tune_answer *answer = &report->answer;
    const char *head = tune_is_answered(report) ? "Use " : "No answer yet. The best so far is ";
    if (answer->recommended != answer->best) {
        kerf_text_add(out, head);
        words_measured(out, report, answer->recommended, bold);
        kerf_text_printf(out, "%s%s.\nThe best is ", answer->reason[0] ? ": " : "", answer->reason);
        words_measured(out, report, answer->best, 0);
    } else {
        kerf_text_add(out, head);
        words_measured(out, report, answer->best, bold);
    }
    words_certainty(out, report);
}

/* "takes 323 ms, 1.310 times as long as the best (95 %: 1.196 to 1.370)". Numbers that may be 0 or below have no ratio;
 * the sentence then gives the difference. */
static void words_gain(struct kerf_text *out, const struct tune_report *report,
                       const struct kerf_tune_estimate *known) {
    const struct kerf_study_request *request = report->state->request;
    const struct kerf_tune_answer *answer = &report->answer;
    double of_best = answer->settings[answer->best].mean;
    if (!tune_has_gain(report)) {
        if (of_best == known->mean) {
            kerf_text_add(out, ", as the best does.\n");
            return;
        }
        kerf_text_add(out, ": the best is ");
        words_objective(out, request, fabs(of_best - known->mean));
        kerf_text_printf(out, " %s.\n", of_best > known->mean ? "above it" : "below it");
        return;
    }
    if (request->maximize)
        kerf_text_printf(out, "; the best gives %.3f times as much", answer->default_gain);
    else
        kerf_text_printf(out, ", %.3f times as %s as the best", answer->default_gain,
                         strcmp(kerf_study_request_unit(request), "s") == 0 ? "long" : "much");
    if (tune_is_interval(answer->gain_interval) && answer->gain_interval[0] < answer->gain_interval[1]) {
        kerf_text_add(out, " (");
        words_share(out, request->confidence);
        kerf_text_printf(out, ": %.3f to %.3f)", answer->gain_interval[0], answer->gain_interval[1]);
    }
    kerf_text_add(out, ".\n");
}

/* "broke a limit twice" of what ran, "was not measured: ubatch is above batch" of the rest. */
static void words_without_value(struct kerf_text *out, const struct kerf_tune_estimate *of) {
    int ran = of->failed > 0 && of->reason[0];
    kerf_text_printf(out, ", %s%s%s.\n", ran ? "" : "was not measured", of->reason[0] && !ran ? ": " : "", of->reason);
}

static void words_default(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_space *space = report->state->space;
    const struct kerf_tune_answer *answer = &report->answer;
    if (space->default_setting < 0) return;
    if (space->default_setting == answer->best) {
        kerf_text_add(out, "That is the default.\n");
        return;
    }
    kerf_text_add(out, "The default, ");
    setting(out, report, space->default_setting, 0);
    const struct kerf_tune_estimate *known = &answer->settings[space->default_setting];
    if (known->status != KERF_TUNE_MEASURED) {
        words_without_value(out, known);
        return;
    }
    kerf_text_add(out, kerf_study_request_unit(report->state->request)[0] ? ", takes " : ", gives ");
    words_objective(out, report->state->request, known->mean);
    words_gain(out, report, known);
}

static void words_equivalent(struct kerf_text *out, const struct tune_report *report) {
    enum { SHOWN = 6 };
    const struct kerf_tune_answer *answer = &report->answer;
    int32_t *order = tune_order(report), count = 0;
    for (int32_t i = 0; order && i < report->state->space->num_settings; i++) {
        const struct kerf_tune_estimate *estimate = &answer->settings[order[i]];
        if (order[i] == answer->best || !(estimate->probability_within_margin >= report->state->request->confidence))
            continue;
        if (count == 0) {
            kerf_text_add(out, "Equally good within ");
            words_share(out, report->state->request->margin);
            kerf_text_add(out, ": ");
        }
        if (count < SHOWN) {
            kerf_text_add(out, count ? "; " : "");
            setting(out, report, order[i], 0);
        }
        count++;
    }
    if (count > SHOWN) kerf_text_printf(out, "; and %d more", count - SHOWN);
    if (count) kerf_text_add(out, ".\n");
    free(order);
}

/* The message of a trial that went well means that its cleanup failed. */
static void words_cleanup(struct kerf_text *out, const struct kerf_study_state *state) {
    const char *message = NULL;
    int32_t count = 0;
    for (int32_t i = 0; i < state->num_entries; i++) {
        const struct kerf_trial_result *result = &state->entries[i].result;
        int is_good = result->observation.outcome != KERF_TUNE_FAILED && !result->observation.disturbed;
        if (is_good && result->message[0]) message = result->message, count++;
    }
    if (count)
        kerf_text_printf(out, "After %d trial%s the %s; they count nevertheless.\n", count, count == 1 ? "" : "s",
                         message);
}

int tune_has_model(const char *name) {
    const struct kerf_tune_policy *policy = kerf_tune_policy_at(0);
    for (size_t i = 1; name && policy && strcmp(policy->name, name) != 0; i++) policy = kerf_tune_policy_at(i);
    return policy == NULL || policy->uses_earlier; /* an unknown one is told elsewhere */
}

/* What earlier studies were worth. */
static void words_earlier(struct kerf_text *out, const struct tune_report *report) {
    int32_t count = report->answer.earlier, dropped = report->answer.earlier_dropped;
    int32_t studies = report->state->num_studies - dropped;
    if (count)
        kerf_text_printf(out, "%d measurement%s of %d earlier stud%s of this program helped; --fresh ignores them.\n",
                         count, count == 1 ? "" : "s", studies, studies == 1 ? "y" : "ies");
    if (dropped)
        kerf_text_printf(
            out,
            "%d earlier stud%s of this program disagree%s with what was measured now and %s ignored: "
            "something that kerf does not compare has changed (--key-env names environment variables to compare).\n",
            dropped, dropped == 1 ? "y" : "ies", dropped == 1 ? "s" : "", dropped == 1 ? "was" : "were");
    kerf_study_missing_write(report->state, out);
    if (report->state->missing.count > 0) kerf_text_add(out, ".\n");
}

static void words_effort(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_study_state *state = report->state;
    const struct kerf_tune_answer *answer = &report->answer;
    kerf_text_printf(out, "%d measurement%s in ", state->num_entries, state->num_entries == 1 ? "" : "s");
    quantity_seconds(out, state->elapsed_s);
    kerf_text_printf(out, ", %lld start%s of the program", (long long)state->loads, state->loads == 1 ? "" : "s");
    if (answer->censored) kerf_text_printf(out, "; %d stopped early", answer->censored);
    if (answer->failed) kerf_text_printf(out, "; %d failed", answer->failed);
    if (state->disturbed_counts)
        kerf_text_add(out, "; all were disturbed, and count because there are no others");
    else if (state->num_disturbed > state->remeasured)
        kerf_text_printf(out, "; %d disturbed, %d repeated", state->num_disturbed, state->remeasured);
    else if (state->num_disturbed)
        kerf_text_printf(out, "; %d disturbed and repeated", state->num_disturbed);
    kerf_text_add(out, ".");
    if (answer->noise == 0 && !(report->has_front && report->front.noise > 0)) {
        kerf_text_add(out, " Repeated runs of a setting did not differ, so that each value counts as exact.");
    } else if (isfinite(answer->noise)) {
        kerf_text_add(out, " Two runs of one setting differ by ");
        words_deviation(out, answer->noise);
        if (report->has_front && isfinite(report->front.noise)) {
            kerf_text_printf(out, ", in %s by ", report->second);
            words_deviation(out, report->front.noise);
        }
        if (fabs(answer->drift - 1) > 0.01)
            kerf_text_printf(out, "; the machine drifted by %+.0f %%, which is corrected", 100 * (answer->drift - 1));
        kerf_text_add(out, ".");
    }
    kerf_text_add(out, "\n");
    words_cleanup(out, state);
    words_earlier(out, report);
}

/* Why nothing was tried. */
static void words_skipped(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_estimate *settings = report->answer.settings;
    if (report->state->num_entries > 0 || settings[0].status != KERF_TUNE_SKIPPED) return;
    kerf_text_add(out, " The first of them is ");
    setting(out, report, 0, 0);
    kerf_text_printf(out, ": %s.", settings[0].reason);
}

static void words_end(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_study_state *state = report->state;
    if (state->stop == KERF_STUDY_CONFIDENT) return;
    static const char *const heads[] = {[KERF_STUDY_BUDGET] = "Not sure yet: ",
                                        [KERF_STUDY_INTERRUPTED] = "Not finished: ",
                                        [KERF_STUDY_TOO_NOISY] = "Too noisy to tell: ",
                                        [KERF_STUDY_NOTHING] = "Nothing could be measured: "};
    const struct kerf_study_entry *last = state->num_entries > 0 ? &state->entries[state->num_entries - 1] : NULL;
    const int is_limited = last && last->result.observation.failure == KERF_TUNE_FAILURE_LIMIT;
    const char *head = heads[state->stop];
    if (state->stop == KERF_STUDY_NOTHING && is_limited) head = "No setting kept the limits: ";
    const size_t length = strlen(state->reason);
    const int is_sentence = length && strchr("?!.", state->reason[length - 1]); /* of the program's last line */
    kerf_text_printf(out, "%s%s%s", head, state->reason, is_sentence ? "" : ".");
    words_skipped(out, report);
    if (state->id[0] && report->most_to_go_on >= 0) {
        kerf_text_printf(out, " `kerf tune --resume --study %s", report->journal ? report->journal : state->id);
        if (report->most_to_go_on) kerf_text_printf(out, " --max-observations %d", report->most_to_go_on);
        kerf_text_add(out, "` continues it.");
    }
    kerf_text_add(out, "\n");
}

/* ---- Two objectives -------------------------------------------------------------------------------------------- */

/* The member that is as good as the setting in both; -1: none is, or it is a member itself. */
static int32_t beaten_by(const struct tune_report *report, int32_t setting) {
    double sign = report->state->request->maximize ? -1 : 1, other = report->maximizes_second ? -1 : 1;
    const struct kerf_tune_estimate *first = report->answer.settings;
    for (int32_t m = 0; m < report->front.num; m++) {
        int32_t member = report->front.settings[m];
        if (member != setting && sign * first[member].mean <= sign * first[setting].mean &&
            other * report->front.second[member].mean <= other * report->front.second[setting].mean)
            return member;
    }
    return -1;
}

/* "1.2 s and 3.1 GB" */
static void words_both(struct kerf_text *out, const struct tune_report *report, int32_t setting) {
    words_objective(out, report->state->request, report->answer.settings[setting].mean);
    kerf_text_add(out, " and ");
    words_second(out, report, report->front.second[setting].mean);
}

static void words_front_default(struct kerf_text *out, const struct tune_report *report) {
    int32_t first = report->state->space->default_setting;
    if (first < 0) return;
    kerf_text_add(out, "The default, ");
    kerf_tune_setting_write(report->state->space, first, out);
    if (report->answer.settings[first].status != KERF_TUNE_MEASURED) {
        words_without_value(out, &report->answer.settings[first]);
        return;
    }
    int32_t better = beaten_by(report, first);
    kerf_text_add(out, ", has ");
    words_both(out, report, first);
    if (tune_is_on_front(report, first)) {
        kerf_text_add(out, " and is one of them.\n");
    } else if (better >= 0) {
        kerf_text_add(out, "; ");
        kerf_tune_setting_write(report->state->space, better, out);
        const struct kerf_tune_estimate *one = report->answer.settings, *other = report->front.second;
        int is_same = one[better].mean == one[first].mean && other[better].mean == other[first].mean;
        kerf_text_add(out, is_same ? " has the same" : " is better, with ");
        if (!is_same) words_both(out, report, better);
        kerf_text_add(out, ".\n");
    } else {
        kerf_text_add(out, ", and gains too little over one of them.\n");
    }
}

static void words_front(struct kerf_text *out, const struct tune_report *report) {
    const struct kerf_tune_front *front = &report->front;
    kerf_text_add(out,
                  tune_is_answered(report) ? "The Pareto front of " : "No answer yet. The Pareto front so far of ");
    words_first(out, report);
    kerf_text_printf(out, " and %s has %d of ", report->second, (int)front->num);
    if (count_that_ran(report) == report->state->space->num_settings) {
        kerf_text_printf(out, "the %d settings: for each of all settings", (int)report->state->space->num_settings);
    } else {
        words_choice(out, report);
        kerf_text_add(out, " and for each of those");
    }
    kerf_text_add(out, " one of these is at most ");
    words_share(out, report->state->request->within);
    kerf_text_add(out, " worse in either, with a probability of ");
    words_chance(out, front->probability);
    kerf_text_add(out, ".\n");
    words_front_default(out, report);
}

void words_study(struct kerf_text *out, const struct tune_report *report, int32_t bold) {
    if (report->has_front && report->answer.best >= 0) {
        words_front(out, report);
        words_doubts(out, report);
    } else if (report->answer.best >= 0) {
        words_best(out, report, bold);
        words_default(out, report);
        words_equivalent(out, report);
    }
    words_end(out, report);
    words_effort(out, report);
}
