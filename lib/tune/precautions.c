/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tune/kernel.h"
#include "tune/param.h"

enum { ANCHOR_TRIES = 2, STEP_VALUES_MAX = 256 };

static const double FAR_SLOWER = 0.25; /* of a logarithm: no size of a machine is known to gain that much */

/* A step, of a logarithm: from a value so near to the leader it rises by so much, and by so many standard deviations, so
 * much steeper than behind it; not where the model expects all but such a share of the rise in the middle of the gap. */
static const double STEP_NEAR = 0.1, STEP_RISE = 0.06, STEP_SURE = 1, STEP_STEEPER = 1.5, STEP_EXPLAINED = 0.25;

/* At random: a fixed order would always leave the same ones for last. */
int32_t precaution_untried(const struct surface_model *model) {
    struct pcg64 rng = history_random(model->study);
    int32_t best = -1, ties = 0;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i];
        if (model->study->tallies[setting].tries > 0 || !history_is_open(model->study, setting)) continue;
        if (random_to(&rng, (uint32_t)ties++) == 0) best = setting;
    }
    return best;
}

int32_t precaution_beside(const struct surface_model *model, int32_t of) {
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_space *space = study->space;
    const int32_t *from = space->values + (int64_t)of * space->num_params;
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t step = -1; step <= 1 && kernel_is_ordered(&space->params[k]); step += 2) {
            int32_t beside = -1, tried = 0;
            for (int32_t i = 0; i < model->num_active; i++) {
                int32_t setting = model->active[i], same = history_is_open(study, setting);
                const int32_t *values = space->values + (int64_t)setting * space->num_params;
                if (values[k] != from[k] + step) continue;
                tried |= study->tallies[setting].tries > 0;
                for (int32_t j = 0; j < space->num_params && same; j++) same = j == k || values[j] == from[j];
                if (same) beside = setting;
            }
            if (!tried && beside >= 0) return beside;
        }
    return -1;
}

static int32_t index_of(const struct kerf_tune_param *param, int64_t value) {
    for (int32_t i = 0; param->integers && i < param->num_values; i++)
        if (param->integers[i] == value) return i;
    return -1;
}

/* Of a setting that is not modelled, as of a large space, nothing is expected. */
static int is_far_slower(const struct surface_model *model, int32_t setting, int32_t than) {
    int32_t at = surface_model_find(model, setting), of = surface_model_find(model, than);
    double mean, least, sd;
    if (at < 0 || of < 0 || !model->scale.logarithmic) return 0;
    surface_model_moments(model, at, &mean, &sd);
    surface_model_moments(model, of, &least, &sd);
    return mean > least + FAR_SLOWER;
}

/* A setting with another value of one parameter; -1: it is not in the space. */
static int32_t with_value(const struct kerf_tune_space *space, int32_t of, int32_t param, int32_t value) {
    int32_t values[TUNE_PARAMS_MAX];
    memcpy(values, space->values + (int64_t)of * space->num_params, (size_t)space->num_params * sizeof *values);
    values[param] = value;
    return kerf_tune_space_find(space, values);
}

int32_t precaution_size(const struct surface_model *model, int32_t of) {
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_space *space = study->space;
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t i = 0; i < study->num_sizes; i++) {
            int32_t index = index_of(&space->params[k], study->sizes[i]);
            if (index < 0 || !kernel_is_divided(&space->params[k])) continue;
            int32_t setting = with_value(space, of, k, index);
            if (setting < 0 || study->tallies[setting].tries > 0 || !history_is_open(study, setting)) continue;
            if (!is_far_slower(model, setting, of)) return setting;
        }
    return -1;
}

/* Values of one parameter that were tried, from the smallest on, with the leader's other values. */
struct tried {
    int32_t num, value[STEP_VALUES_MAX];
    double at[STEP_VALUES_MAX], mean[STEP_VALUES_MAX], sd[STEP_VALUES_MAX];
};

static void tried_on_axis(const struct surface_model *model, int32_t of, int32_t param, struct tried *ret_tried) {
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_param *axis = &study->space->params[param];
    ret_tried->num = 0;
    for (int32_t v = 0; v < axis->num_values && ret_tried->num < STEP_VALUES_MAX; v++) {
        int32_t setting = with_value(study->space, of, param, v), at;
        if (setting < 0 || study->tallies[setting].tries == 0 || !history_is_open(study, setting)) continue;
        if ((at = surface_model_find(model, setting)) < 0) continue;
        surface_model_moments(model, at, &ret_tried->mean[ret_tried->num], &ret_tried->sd[ret_tried->num]);
        ret_tried->at[ret_tried->num] = kernel_position(axis, v);
        ret_tried->value[ret_tried->num++] = v;
    }
}

/* The slope from a tried value to the first one that is as far from it as `width`, in the direction of `step`; 0: there is none. */
static double slope_beyond(const struct tried *tried, int32_t from, int32_t step, double width) {
    for (int32_t i = from + step; i >= 0 && i < tried->num; i += step) {
        double far = fabs(tried->at[i] - tried->at[from]);
        if (far >= width) return (tried->mean[i] - tried->mean[from]) / far;
    }
    return 0;
}

/* Between the tried values `good` and `bad`, beside each other. */
static int is_step(const struct tried *tried, int32_t good, int32_t bad, double least) {
    int32_t side = bad - good, before = good - side;
    double rise = tried->mean[bad] - tried->mean[good], width = fabs(tried->at[bad] - tried->at[good]);
    if (tried->mean[good] > least + STEP_NEAR || rise < STEP_RISE) return 0;
    if (rise < STEP_SURE * hypot(tried->sd[good], tried->sd[bad])) return 0;
    if (before >= 0 && before < tried->num && tried->mean[before] > tried->mean[good] + rise / 2) return 0;
    return rise / width > STEP_STEEPER * slope_beyond(tried, bad, side, width);
}

/* In the middle of the gap between two tried values beside each other; -1: nothing to learn there. */
static int32_t in_gap(const struct surface_model *model, int32_t of, int32_t param, const struct tried *tried,
                      int32_t good, int32_t bad) {
    double mean, sd;
    int32_t middle = (tried->value[good] + tried->value[bad]) / 2;
    int32_t setting = with_value(model->study->space, of, param, middle), at;
    if (abs(tried->value[bad] - tried->value[good]) < 2 || setting < 0) return -1;
    if (model->study->tallies[setting].tries > 0 || !history_is_open(model->study, setting)) return -1;
    if ((at = surface_model_find(model, setting)) < 0) return setting;
    surface_model_moments(model, at, &mean, &sd);
    return mean > tried->mean[bad] - STEP_EXPLAINED * (tried->mean[bad] - tried->mean[good]) ? -1 : setting;
}

int32_t precaution_step(const struct surface_model *model, int32_t of) {
    const struct kerf_tune_space *space = model->study->space;
    double least, sd;
    struct tried tried;
    if (surface_model_find(model, of) < 0 || !model->scale.logarithmic) return -1;
    surface_model_moments(model, surface_model_find(model, of), &least, &sd);
    for (int32_t k = 0; k < space->num_params; k++) {
        if (!kernel_is_ordered(&space->params[k])) continue;
        tried_on_axis(model, of, k, &tried);
        for (int32_t i = 0; i + 1 < tried.num; i++)
            for (int32_t good = i; good <= i + 1; good++) {
                int32_t bad = 2 * i + 1 - good, setting = -1;
                if (is_step(&tried, good, bad, least)) setting = in_gap(model, of, k, &tried, good, bad);
                if (setting >= 0) return setting;
            }
    }
    return -1;
}

static int tells_value(const struct kerf_tune_study *study, const struct kerf_tune_observation *o) {
    return o->outcome == KERF_TUNE_VALUE && !o->warmup && !o->disturbed && history_is_open(study, o->setting);
}

int32_t precaution_anchor(const struct kerf_tune_study *study, int32_t leader) {
    int32_t anchor = -1, led = 0, tries = 0;
    for (int32_t i = 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        int tells = tells_value(study, o);
        if (led && o->setting == anchor) tries += tells ? ANCHOR_TRIES : 1;
        if (tells && anchor < 0) anchor = o->setting;
        led |= tells && o->setting == leader;
    }
    return tries >= ANCHOR_TRIES || anchor == leader ? -1 : anchor;
}
