/* SPDX-License-Identifier: Apache-2.0 */
/* The observations of a study in their order, and what they amount to for each setting. */
#include "tune/history.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tune/statistics.h"

int history_is_open(const struct kerf_tune_study *study, int32_t setting) {
    assert(0 <= setting && setting < study->num_known);
    return study->tallies[setting].skipped == NULL;
}

int history_tells(const struct kerf_tune_study *study, const struct kerf_tune_observation *o) {
    return o->outcome == KERF_TUNE_VALUE && !o->warmup && !o->disturbed && history_is_open(study, o->setting);
}

void history_exclude(struct kerf_tune_study *study, int32_t setting, const char *reason) {
    if (!history_is_open(study, setting)) return;
    study->tallies[setting].skipped = reason;
    study->num_open--;
    assert(study->num_open >= 0);
}

double history_noise(const struct kerf_tune_study *study) {
    double sum = 0;
    int32_t freedom = 0;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        const struct tally *tally = &study->tallies[i];
        if (tally->values < 2 || (tally->mean == 0 && tally->squares > 0)) continue;
        if (tally->squares > 0) sum += tally->squares / (tally->mean * tally->mean);
        freedom += tally->values - 1;
    }
    return freedom > 0 ? sqrt(sum / freedom) : NAN;
}

int history_is_exact(const struct kerf_tune_study *study) {
    enum { REPEATS_THAT_AGREE = 2 };
    int32_t repeats = 0;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        if (study->tallies[i].squares > 0) return 0;
        if (study->tallies[i].values > 1) repeats += study->tallies[i].values - 1;
    }
    return repeats >= REPEATS_THAT_AGREE;
}

static int32_t status_of(const struct tally *tally) {
    if (tally->values > 0) return KERF_TUNE_MEASURED;
    if (tally->censored > 0) return KERF_TUNE_ALL_CENSORED;
    if (tally->failed > 0) return KERF_TUNE_ALL_FAILED;
    return tally->skipped ? KERF_TUNE_SKIPPED : KERF_TUNE_NOT_MEASURED;
}

struct kerf_tune_estimate history_estimate(const struct kerf_tune_study *study, int32_t setting) {
    const struct tally *tally = &study->tallies[setting];
    struct kerf_tune_estimate of = {.status = status_of(tally),
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
    if (tally->skipped == NULL && tally->failed > 0) of.reason = kerf_tune_failure_word(tally->failure);
    if (tally->values == 0) return of;
    of.mean = of.observed_mean = tally->mean;
    if (tally->values < 2) return of;
    double error = sqrt(tally->squares / (tally->values - 1.0) / tally->values);
    double reach = error * student_quantile(0.5 + 0.5 * study->question.confidence, tally->values - 1.0);
    of.interval[0] = tally->mean - reach;
    of.interval[1] = tally->mean + reach;
    return of;
}

struct pcg64 history_random(const struct kerf_tune_study *study) {
    return random_seed((uint64_t)study->question.seed * 1000003 + (uint64_t)study->num_observations);
}

const char *history_setting(const struct kerf_tune_study *study, int32_t setting, char *buffer, size_t size) {
    struct kerf_text text = {0};
    kerf_tune_setting_write(study->space, setting, &text);
    size_t length = text.failed || text.data == NULL ? 0 : text.length;
    if (length >= size) length = size - 1;
    if (length) memcpy(buffer, text.data, length);
    buffer[length] = 0;
    kerf_text_free(&text);
    return buffer;
}

static void count(struct kerf_tune_study *study, const struct kerf_tune_observation *o) {
    struct tally *tally = &study->tallies[o->setting];
    tally->tries++;
    tally->in_a_row = o->outcome == KERF_TUNE_FAILED ? tally->in_a_row + 1 : 0;
    if (o->outcome == KERF_TUNE_VALUE) {
        double off = o->value - tally->mean;
        tally->mean += off / ++tally->values;
        tally->squares += off * (o->value - tally->mean);
        study->num_values++;
    } else if (o->outcome == KERF_TUNE_CENSORED) {
        tally->bound = tally->censored++ ? fmax(tally->bound, o->value) : o->value;
        study->num_censored++;
    } else {
        tally->failed++;
        tally->failure = o->failure;
    }
    assert(tally->tries == tally->values + tally->censored + tally->failed);
}

static int reserve(struct kerf_tune_study *study) {
    if (study->num_observations < study->capacity) return 1;
    if (study->capacity >= INT32_MAX / 2) return 0;
    int32_t capacity = study->capacity ? study->capacity + study->capacity / 2 : 64;
    struct kerf_tune_observation *grown = realloc(study->observations, (size_t)capacity * sizeof *grown);
    if (grown == NULL) return 0;
    study->observations = grown;
    study->capacity = capacity;
    return 1;
}

int history_add(struct kerf_tune_study *study, const struct kerf_tune_observation *o) {
    if (!reserve(study)) return 0;
    study->observations[study->num_observations++] = *o;
    study->num_failed += o->outcome == KERF_TUNE_FAILED;
    study->num_disturbed += o->disturbed;
    if (!o->disturbed && !o->warmup) count(study, o);
    return 1;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

const char *kerf_tune_status_word(int32_t status) {
    static const char *const words[] = {"not_measured", "measured", "censored", "failed", "skipped"};
    return status >= 0 && status <= KERF_TUNE_SKIPPED ? words[status] : "?";
}
