/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/posterior.h"

#include <string.h>
#include "tune/kernel.h"
#include "tune/param.h"

enum { ANCHOR_TRIES = 2 };

static const double FAR_SLOWER = 0.25; /* of a logarithm: no size of a machine is known to gain that much */

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

int32_t precaution_size(const struct surface_model *model, int32_t of) {
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_space *space = study->space;
    int32_t values[TUNE_PARAMS_MAX];
    memcpy(values, space->values + (int64_t)of * space->num_params, (size_t)space->num_params * sizeof *values);
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t i = 0; i < study->num_sizes; i++) {
            int32_t own = values[k], index = index_of(&space->params[k], study->sizes[i]);
            if (index < 0 || !kernel_is_divided(&space->params[k])) continue;
            values[k] = index;
            int32_t setting = kerf_tune_space_find(space, values);
            values[k] = own;
            if (setting < 0 || study->tallies[setting].tries > 0 || !history_is_open(study, setting)) continue;
            if (!is_far_slower(model, setting, of)) return setting;
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
