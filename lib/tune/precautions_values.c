/* SPDX-License-Identifier: Apache-2.0 */
/* Precautions of values: words, multiples, sizes of the machine, and gaps before a step, of which no run would have shown
 * what they take. */
#include "tune/precaution_kinds.h"

#include <math.h>
#include <stdlib.h>
#include "tune/kernel.h"

static const double WORD_SLOWER = 0.6; /* of a logarithm: of another word the model may know little */

static int is_worth_a_look(const struct surface_model *model, int32_t setting, int32_t leader, double by) {
    return setting >= 0 && setting_tries(model, setting) == 0 && history_is_open(model->study, setting) &&
           !setting_is_far_slower(model, setting, leader, by);
}

/* ---- Words -------------------------------------------------------------------------------------------------------- */

/* With all values of the leader but one more, which the leader may have had as well. */
static int is_word_known(struct kerf_tune_study *study, const struct surface_model *model, int32_t of, int32_t param,
                         int32_t word) {
    const struct kerf_tune_space *space = study->space;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i], other = neighbours_differ_in(space, setting, of, param);
        const int32_t *values = setting_values(space, setting);
        if (other < 0 || values[param] != word || setting_tries(model, setting) == 0) continue;
        int32_t own = neighbour_with(study, of, other, values[other]);
        if (own >= 0 && !setting_is_far_slower(model, own, of, FAR_SLOWER)) return 1;
    }
    return 0;
}

int32_t precaution_word(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const struct kerf_tune_space *space = study->space;
    for (int32_t k = 0; k < space->num_params; k++) {
        int32_t own = setting_values(space, of)[k], count = space->params[k].num_values;
        if (kernel_is_ordered(&space->params[k]) || count > WORDS_MAX) continue;
        for (int32_t v = 0; v < count; v++) {
            int32_t setting = v == own ? -1 : neighbour_with(study, of, k, v);
            if (setting < 0 || setting_tries(model, setting) > 0 || !history_is_open(study, setting)) continue;
            if (!is_word_known(study, model, of, k, v)) return setting;
        }
    }
    return -1;
}

/* ---- Sizes of the machine ------------------------------------------------------------------------------------------ */

static int32_t index_of(const struct kerf_tune_param *param, int64_t value) {
    for (int32_t i = 0; param->integers && i < param->num_values; i++)
        if (param->integers[i] == value) return i;
    return -1;
}

/* This setting, or it with another word of one parameter: shares that are static gain most where cores are all of a kind. -1:
 * there is nothing to learn. */
static int32_t with_any_word(struct kerf_tune_study *study, const struct surface_model *model, int32_t setting,
                             int32_t leader) {
    const struct kerf_tune_space *space = study->space;
    if (setting < 0 || is_worth_a_look(model, setting, leader, FAR_SLOWER)) return setting;
    if (setting_is_far_slower(model, setting, leader, FAR_SLOWER)) return -1;
    for (int32_t k = 0; k < space->num_params; k++) {
        int32_t count = kernel_is_ordered(&space->params[k]) ? 0 : space->params[k].num_values;
        for (int32_t v = 0; v < count && count <= WORDS_MAX; v++) {
            int32_t other = neighbour_with(study, setting, k, v);
            if (is_worth_a_look(model, other, leader, WORD_SLOWER)) return other;
        }
    }
    return -1;
}

int32_t precaution_size(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const struct kerf_tune_space *space = study->space;
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t i = 0; i < study->num_sizes; i++) {
            int32_t index = index_of(&space->params[k], study->sizes[i]);
            if (index < 0 || !kernel_is_divided(&space->params[k])) continue;
            int32_t setting = with_any_word(study, model, neighbour_with(study, of, k, index), of);
            if (setting >= 0) return setting;
        }
    return -1;
}

/* ---- What divides a value ---------------------------------------------------------------------------------------- */

enum { MULTIPLES_MAX = 128 };

/* 0 is divided by all, and often a size of its own. */
static int is_multiple(const struct kerf_tune_param *param, int32_t value, int64_t of) {
    return param->integers[value] > 0 && param->integers[value] % of == 0;
}

/* With the leader's other values, or with others that are not far slower, so that it would have shown. */
static int is_multiple_tried(const struct surface_model *model, int32_t leader, int32_t param, int64_t of) {
    const struct kerf_tune_space *space = model->study->space;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i], value = setting_values(space, setting)[param];
        if (setting_tries(model, setting) == 0 || !is_multiple(&space->params[param], value, of)) continue;
        if (neighbours_but(space, setting, leader, param) || !setting_is_far_slower(model, setting, leader, FAR_SLOWER))
            return 1;
    }
    return 0;
}

/* The leader with the nearest multiple, of two and more; -1: nothing to learn. */
static int32_t with_multiple(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                             int32_t param_at, int64_t multiple_of) {
    const struct kerf_tune_space *space = study->space;
    const struct kerf_tune_param *param = &space->params[param_at];
    int32_t own = setting_values(space, of)[param_at], nearest = -1, count = 0;
    for (int32_t v = 0; v < param->num_values; v++) {
        if (!is_multiple(param, v, multiple_of)) continue;
        int32_t setting = neighbour_with(study, of, param_at, v);
        count++;
        if (!is_worth_a_look(model, setting, of, FAR_SLOWER)) continue;
        if (nearest < 0 || abs(v - own) < abs(nearest - own)) nearest = v;
    }
    return nearest < 0 || count < 2 ? -1 : neighbour_with(study, of, param_at, nearest);
}

int32_t precaution_multiple(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    for (int32_t k = 0; k < study->space->num_params; k++)
        for (int64_t by = 2; by <= MULTIPLES_MAX && kernel_is_divided(&study->space->params[k]); by *= 2) {
            if (is_multiple_tried(model, of, k, by)) continue;
            int32_t setting = with_multiple(study, model, of, k, by);
            if (setting >= 0) return setting;
        }
    return -1;
}

/* ---- Steps --------------------------------------------------------------------------------------------------------- */

/* From a value NEAR_LEADER it rises by LEAST_RISE, and by so many standard deviations, so much steeper than behind it; not
 * where the model expects all but such a share of the rise in the middle of the gap. */
static const double STEP_SURE = 1, STEP_STEEPER = 1.5, STEP_EXPLAINED = 0.25;

/* The slope from a tried value to the first one that is as far from it as `width`, on that side; 0: there is none. */
static double slope_beyond(const struct tried *tried, int32_t from, int32_t side, double width) {
    const struct tried_value *values = tried->values;
    for (int32_t i = from + side; i >= 0 && i < tried->num; i += side) {
        double far = fabs(values[i].at - values[from].at);
        if (far >= width) return (values[i].mean - values[from].mean) / far;
    }
    return 0;
}

/* Between the tried values `good` and `bad`, beside each other; least: the leader's mean. */
static int is_step(const struct tried *tried, int32_t good, int32_t bad, double least) {
    const struct tried_value *from = &tried->values[good], *to = &tried->values[bad];
    int32_t side = bad - good, before = good - side;
    double rise = to->mean - from->mean, width = fabs(to->at - from->at);
    if (from->mean > least + NEAR_LEADER || rise < LEAST_RISE) return 0;
    if (rise < STEP_SURE * hypot(from->sd, to->sd)) return 0;
    if (before >= 0 && before < tried->num && tried->values[before].mean > from->mean + rise / 2) return 0;
    return rise / width > STEP_STEEPER * slope_beyond(tried, bad, side, width);
}

/* In the middle of the gap between two tried values beside each other; -1: nothing to learn there. */
static int32_t in_gap(struct kerf_tune_study *study, const struct surface_model *model, int32_t of, int32_t param,
                      const struct tried_value *good, const struct tried_value *bad) {
    if (abs(bad->value - good->value) < 2) return -1;
    int32_t setting = neighbour_with(study, of, param, (good->value + bad->value) / 2);
    if (setting < 0 || setting_tries(model, setting) > 0 || !history_is_open(study, setting)) return -1;
    return setting_expected(model, setting) > bad->mean - STEP_EXPLAINED * (bad->mean - good->mean) ? -1 : setting;
}

int32_t precaution_step(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const struct kerf_tune_space *space = study->space;
    double least = setting_expected(model, of);
    struct tried tried;
    if (isnan(least) || !model->scale.logarithmic) return -1;
    for (int32_t k = 0; k < space->num_params; k++) {
        if (!kernel_is_ordered(&space->params[k])) continue;
        neighbours_tried(model, of, k, &tried);
        for (int32_t i = 0; i + 1 < tried.num; i++)
            for (int32_t good = i; good <= i + 1; good++) {
                int32_t bad = 2 * i + 1 - good, setting = -1;
                if (is_step(&tried, good, bad, least))
                    setting = in_gap(study, model, of, k, &tried.values[good], &tried.values[bad]);
                if (setting >= 0) return setting;
            }
    }
    return -1;
}
