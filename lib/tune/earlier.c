/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Earlier studies are of the same command, files and machine, as far as kerf can see. What it cannot see - a variable
 * of the environment, a library, another input - may have changed the whole surface since. Then the model, with many old
 * observations and few new ones, is sure of what was true.
 *
 * An earlier study holds while what was observed since is more probable given its observations than without them: the
 * ratio of the two evidences is a Bayes factor (Kass and Raftery, "Bayes Factors", 1995), which knows of noise, drift
 * and an offset common to all settings. Without an offset one setting can tell; with it two are needed, and the farther
 * they are from each other the more of the surface they compare. So the study measures, soon, a setting far from the
 * first one, where earlier studies have a value. Each earlier study is judged alone, after the second observation and
 * from then on as observations come, up to CHECK_EACH after each, later at twice the number.
 */
#include "tune/earlier.h"

#include <assert.h>
#include <math.h>
#include "tune/kernel.h"

enum { CHECK_EACH = 12, CHECK_FROM = 2 };
static const double SLOWER = 2; /* a setting that took more times the least is not worth its time as a test */

static int32_t first_measured(const struct kerf_tune_study *study) {
    for (int32_t i = 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (observation_is_informative(o) && o->outcome == KERF_TUNE_VALUE) return o->setting;
    }
    return -1;
}

static int is_candidate(const struct kerf_tune_study *study, const struct kerf_tune_observation *o, double least) {
    if (o->outcome != KERF_TUNE_VALUE || !observation_is_informative(o) || !history_is_open(study, o->setting))
        return 0;
    return !study->question.is_time || o->value <= SLOWER * least;
}

int32_t earlier_test_setting(const struct kerf_tune_study *study) {
    int32_t first = first_measured(study), farthest = -1;
    double least = INFINITY, far = 0;
    if (first < 0) return -1;
    for (int32_t i = 0; i < study->num_earlier; i++)
        if (study->earlier[i].outcome == KERF_TUNE_VALUE) least = fmin(least, study->earlier[i].value);
    for (int32_t i = 0; i < study->num_earlier; i++) {
        if (!is_candidate(study, &study->earlier[i], least)) continue;
        double distance = kernel_distance(study->space, first, study->earlier[i].setting);
        if (distance > far) far = distance, farthest = study->earlier[i].setting;
    }
    return farthest >= 0 && study->tallies[farthest].tries == 0 ? farthest : -1;
}

/* After how many informative observations earlier studies are judged: 2, 3, .. 12, 24, 48, .. */
static int is_check(int32_t informative) {
    while (informative > CHECK_EACH && informative % 2 == 0) informative /= 2;
    return informative >= CHECK_FROM && informative <= CHECK_EACH;
}

/* How many observations the earlier study that begins at `at` has; they come one after the other. */
static int32_t study_at(const struct kerf_tune_study *study, int32_t at) {
    int32_t count = 1;
    while (at + count < study->num_earlier && study->earlier[at + count].slot == study->earlier[at].slot) count++;
    return count;
}

static void drop(struct kerf_tune_study *study, int32_t at, int32_t count) {
    assert(0 <= at && 0 < count && at + count <= study->num_earlier);
    for (int32_t i = at; i + count < study->num_earlier; i++) study->earlier[i] = study->earlier[i + count];
    study->num_earlier -= count;
    study->num_dropped++;
}

int32_t earlier_check(struct kerf_tune_study *study, int32_t kind, const struct changepoints *changepoints,
                      struct kerf_error *err) {
    double without, with;
    if (study->num_earlier == 0 || !is_check(history_informative(study))) return KERF_OK;
    int32_t code = surface_evidence(study, kind, changepoints, NULL, 0, &without, err);
    for (int32_t at = 0; at < study->num_earlier && code == KERF_OK;) {
        int32_t count = study_at(study, at);
        code = surface_evidence(study, kind, changepoints, study->earlier + at, count, &with, err);
        if (code == KERF_OK && with < without)
            drop(study, at, count);
        else
            at += count;
    }
    return code;
}
