/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of a study: the plain statistics of what was measured, over which the policy's model, if it has one,
 * writes what it knows.
 */
#include <math.h>
#include <stdio.h>
#include "tune/statistics.h"
#include "tune/tune_policy.h"

enum { REPEATS_THAT_AGREE = 2 }; /* so many, all without a difference: the program has no noise */

static int32_t status_of(const struct tally *tally) {
    if (tally->values > 0) return KERF_TUNE_MEASURED;
    if (tally->censored > 0) return KERF_TUNE_ALL_CENSORED;
    if (tally->failed > 0) return KERF_TUNE_ALL_FAILED;
    return tally->skipped ? KERF_TUNE_SKIPPED : KERF_TUNE_NOT_MEASURED;
}

/* Mean and interval by Student's t; of one observation there is no interval. */
static void plain_estimate(const struct kerf_tune_study *study, const struct tally *tally,
                           struct kerf_tune_estimate *of) {
    *of = (struct kerf_tune_estimate){.status = status_of(tally),
                                      .observations = tally->values + tally->censored + tally->failed,
                                      .censored = tally->censored,
                                      .failed = tally->failed,
                                      .mean = NAN,
                                      .observed_mean = NAN,
                                      .interval = {NAN, NAN},
                                      .bound = tally->censored ? tally->bound : NAN,
                                      .probability_within = NAN,
                                      .probability_within_margin = NAN,
                                      .reason = tally->skipped ? tally->skipped : ""};
    if (tally->skipped == NULL && tally->failed > 0) of->reason = kerf_tune_failure_word(tally->failure);
    if (tally->values == 0) return;
    of->mean = of->observed_mean = tally->mean;
    if (tally->values < 2) return;
    double error = sqrt(tally->squares / (tally->values - 1.0) / tally->values);
    double reach = error * student_quantile(0.5 + 0.5 * study->question.confidence, tally->values - 1.0);
    of->interval[0] = tally->mean - reach;
    of->interval[1] = tally->mean + reach;
}

/* Of those that were not left out in the meantime, as they began to fail; where all were, of these. */
static int32_t best_mean(const struct kerf_tune_study *study) {
    int32_t best = -1, is_best_open = 0;
    double sign = study->question.maximize ? -1 : 1;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        int32_t is_open = history_is_open(study, i);
        if (study->tallies[i].values == 0 || is_open < is_best_open) continue;
        if (best < 0 || is_open > is_best_open || sign * study->tallies[i].mean < sign * study->tallies[best].mean) {
            best = i;
            is_best_open = is_open;
        }
    }
    return best;
}

/* Pooled over settings, relative to their means. *ret_repeats: runs beyond the first of a setting. */
static double plain_noise(const struct kerf_tune_study *study, int32_t *ret_repeats) {
    double sum = 0;
    int32_t freedom = 0;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        const struct tally *tally = &study->tallies[i];
        if (tally->values < 2 || tally->mean == 0) continue;
        sum += tally->squares / (tally->mean * tally->mean);
        freedom += tally->values - 1;
    }
    *ret_repeats = freedom;
    return freedom > 0 ? sqrt(sum / freedom) : NAN;
}

static void plain_gain(const struct kerf_tune_study *study, struct kerf_tune_answer *answer) {
    int32_t first = study->space->default_setting;
    if (first < 0 || answer->best < 0 || study->tallies[first].values == 0) return;
    double of_default = study->tallies[first].mean, of_best = study->tallies[answer->best].mean;
    answer->default_gain = study->question.maximize ? of_best / of_default : of_default / of_best;
}

static void write_reason(const struct kerf_tune_study *study, struct kerf_tune_answer *answer) {
    char best[90], recommended[90], chance[CHANCE_SIZE];
    if (answer->best < 0) {
        snprintf(answer->reason, sizeof answer->reason, "nothing was measured");
        return;
    }
    history_setting(study, answer->best, best, sizeof best);
    history_setting(study, answer->recommended, recommended, sizeof recommended);
    const struct kerf_tune_estimate *of = &study->estimates[answer->recommended];
    if (answer->recommended != answer->best)
        snprintf(answer->reason, sizeof answer->reason, "preferred to %s and within %g %% of the best with %s", best,
                 100 * study->question.margin, policy_chance(of->probability_within_margin, chance));
    else if (isnan(of->probability_within))
        snprintf(answer->reason, sizeof answer->reason, "the best mean of %d observation%s", (int)answer->observations,
                 answer->observations == 1 ? "" : "s");
    else
        snprintf(answer->reason, sizeof answer->reason, "within %g %% of the best with %s",
                 100 * study->question.within, policy_chance(of->probability_within, chance));
}

/* What a model says beyond what is known: a setting that will not run takes no time, and one that was stopped takes no
 * less than it ran. */
static void keep_to_what_is_known(struct kerf_tune_estimate *of) {
    if (of->status == KERF_TUNE_SKIPPED || of->status == KERF_TUNE_ALL_FAILED) {
        of->mean = of->interval[0] = of->interval[1] = NAN;
        of->probability_within = of->probability_within_margin = NAN;
    } else if (of->status == KERF_TUNE_ALL_CENSORED) {
        of->mean = fmax(of->mean, of->bound); /* the bound, too, where there is no mean */
        for (int i = 0; i < 2; i++)
            if (!isnan(of->interval[i])) of->interval[i] = fmax(of->interval[i], of->bound);
    }
}

/* Repeated runs that agree to the last bit have no noise: what was observed is what there is, without an interval and
 * without drift. */
static void keep_to_what_was_observed(struct kerf_tune_study *study, struct kerf_tune_answer *answer) {
    int32_t first = study->space->default_setting;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        struct kerf_tune_estimate *of = &study->estimates[i];
        if (of->status == KERF_TUNE_MEASURED) of->mean = of->interval[0] = of->interval[1] = of->observed_mean;
    }
    answer->noise = 0;
    answer->drift = 1;
    if (first < 0 || answer->best < 0 || study->estimates[first].status != KERF_TUNE_MEASURED ||
        study->estimates[answer->best].status != KERF_TUNE_MEASURED)
        return;
    plain_gain(study, answer);
    answer->gain_interval[0] = answer->gain_interval[1] = answer->default_gain;
}

int32_t kerf_tune_study_answer(struct kerf_tune_study *study, struct kerf_tune_answer *ret_answer,
                               struct kerf_error *err) {
    int32_t repeats = 0;
    double noise = plain_noise(study, &repeats);
    struct kerf_tune_answer answer = {.best = best_mean(study),
                                      .observations = study->num_observations,
                                      .censored = study->num_censored,
                                      .failed = study->num_failed,
                                      .disturbed = study->num_disturbed,
                                      .earlier = study->num_earlier,
                                      .earlier_dropped = study->num_dropped,
                                      .open = study->num_open,
                                      .looked_at = study->space->num_settings,
                                      .noise = noise,
                                      .drift = 1,
                                      .default_gain = NAN,
                                      .gain_interval = {NAN, NAN},
                                      .settings = study->estimates};
    for (int32_t i = 0; i < study->space->num_settings; i++)
        plain_estimate(study, &study->tallies[i], &study->estimates[i]);
    answer.recommended = answer.best;
    plain_gain(study, &answer);
    int32_t code = study->policy->estimate ? study->policy->estimate(study, &answer, err) : KERF_OK;
    if (code != KERF_OK) return code;
    if (noise == 0 && repeats >= REPEATS_THAT_AGREE) keep_to_what_was_observed(study, &answer);
    for (int32_t i = 0; i < study->space->num_settings; i++) keep_to_what_is_known(&study->estimates[i]);
    write_reason(study, &answer);
    *ret_answer = answer;
    return KERF_OK;
}
