/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/neighbours.h"

#include <math.h>
#include <string.h>
#include "tune/kernel.h"
#include "tune/known_settings.h"
#include "tune/param.h"

int32_t setting_tries(const struct surface_model *model, int32_t setting) {
    return model->study->tallies[setting].tries + surface_model_pending(model, setting);
}

int neighbours_but(const struct kerf_tune_space *space, int32_t a, int32_t b, int32_t param) {
    const int32_t *of_a = setting_values(space, a), *of_b = setting_values(space, b);
    int same = 1;
    for (int32_t k = 0; k < space->num_params && same; k++) same = k == param || of_a[k] == of_b[k];
    return same;
}

int32_t neighbours_differ_in(const struct kerf_tune_space *space, int32_t a, int32_t b, int32_t param) {
    const int32_t *of_a = setting_values(space, a), *of_b = setting_values(space, b);
    int32_t other = -1;
    for (int32_t k = 0; k < space->num_params; k++) {
        if (k == param || of_a[k] == of_b[k]) continue;
        if (other >= 0) return -1;
        other = k;
    }
    return other;
}

int32_t neighbours_differ(const struct kerf_tune_space *space, int32_t a, int32_t b) {
    const int32_t *of_a = setting_values(space, a), *of_b = setting_values(space, b);
    int32_t count = 0;
    for (int32_t k = 0; k < space->num_params; k++) count += of_a[k] != of_b[k];
    return count;
}

int32_t neighbour_with(struct kerf_tune_study *study, int32_t of, int32_t param, int32_t value) {
    const struct kerf_tune_space *space = study->space;
    int32_t values[TUNE_PARAMS_MAX];
    if (value < 0 || value >= space->params[param].num_values) return -1;
    memcpy(values, setting_values(space, of), (size_t)space->num_params * sizeof *values);
    values[param] = value;
    return known_settings_meet(study, values);
}

struct setting_runs setting_runs(const struct surface_model *model, int32_t setting) {
    const struct kerf_tune_study *study = model->study;
    const struct changepoints *changes = &model->changepoints;
    struct setting_runs runs = {0, INFINITY, -INFINITY};
    for (int32_t i = changes->num ? changes->starts[changes->num - 1] : 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (o->setting != setting || !history_tells(study, o)) continue;
        runs.num++;
        runs.least = fmin(runs.least, scale_to(&model->scale, o->value));
        runs.most = fmax(runs.most, scale_to(&model->scale, o->value));
    }
    return runs;
}

double setting_expected(const struct surface_model *model, int32_t setting) {
    int32_t at = setting < 0 ? -1 : surface_model_find(model, setting);
    double mean = NAN, sd;
    if (at >= 0) surface_model_moments(model, at, &mean, &sd);
    return mean;
}

int setting_is_far_slower(const struct surface_model *model, int32_t setting, int32_t than, double by) {
    return model->scale.logarithmic && setting_expected(model, setting) > setting_expected(model, than) + by;
}

void neighbours_tried(const struct surface_model *model, int32_t of, int32_t param, struct tried *ret_tried) {
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_space *space = study->space;
    struct tried_value *values = ret_tried->values;
    ret_tried->num = 0;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i], place = ret_tried->num;
        if (study->tallies[setting].tries == 0 || !history_is_open(study, setting)) continue;
        if (!neighbours_but(space, setting, of, param)) continue;
        struct tried_value one = {.value = setting_values(space, setting)[param]};
        one.at = kernel_position(&space->params[param], one.value);
        surface_model_moments(model, i, &one.mean, &one.sd);
        for (; place > 0 && values[place - 1].value > one.value; place--) values[place] = values[place - 1];
        values[place] = one;
        ret_tried->num++;
    }
}

int32_t neighbours_on_each_side(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                                int32_t (*find)(struct kerf_tune_study *study, const struct surface_model *model,
                                                int32_t of, int32_t param, int32_t side)) {
    const struct kerf_tune_space *space = study->space;
    if (!model->scale.logarithmic || surface_model_find(model, of) < 0) return -1;
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t side = -1; side <= 1 && kernel_is_ordered(&space->params[k]); side += 2) {
            int32_t setting = find(study, model, of, k, side);
            if (setting >= 0) return setting;
        }
    return -1;
}
