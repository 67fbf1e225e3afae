/* SPDX-License-Identifier: Apache-2.0 */
/* Precautions of walls: where more of a parameter is suddenly slow, or fails, others may move that. */
#include "tune/precaution_kinds.h"

#include <math.h>
#include <stdlib.h>
#include "tune/exclusion.h"
#include "tune/kernel.h"

/* A wall, such as memory that is full, of a logarithm: one more on an axis takes so much longer, and so much steeper than
 * the next one. */
static const double WALL_RISE = 0.1, WALL_STEEPER = 1.5;

/* The first value of an axis behind a wall, seen from the leader to that side; -1: there is none. */
static int32_t value_behind_wall(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                                 int32_t param, int32_t side) {
    int32_t own = setting_values(study->space, of)[param];
    double least = setting_expected(model, of), before = least;
    for (int32_t value = own + side; before <= least + NEAR_LEADER; value += side) {
        double mean = setting_expected(model, neighbour_with(study, of, param, value)), rise = mean - before;
        if (isnan(mean)) return -1;
        double next = setting_expected(model, neighbour_with(study, of, param, value + side));
        double beyond = isnan(next) ? 0 : next - mean;
        if (rise > WALL_RISE && rise > WALL_STEEPER * beyond) return value;
        before = mean;
    }
    return -1;
}

static int is_tried_with(const struct surface_model *model, int32_t param, int32_t value, int32_t other,
                         int32_t other_value) {
    const struct kerf_tune_study *study = model->study;
    for (int32_t i = 0; i < study->num_observations; i++) {
        const int32_t *values = setting_values(study->space, study->observations[i].setting);
        if (values[param] == value && values[other] == other_value) return 1;
    }
    return 0;
}

/* From this setting, behind a wall, to the first one on that side that was not tried; -1: one is as slow as the wall, or there
 * is none. */
static int32_t beyond_wall(struct kerf_tune_study *study, const struct surface_model *model, int32_t from,
                           int32_t param, int32_t side, double least) {
    while (from >= 0 && setting_tries(model, from) > 0) {
        if (!(setting_expected(model, from) <= least + NEAR_LEADER)) return -1;
        from = neighbour_with(study, from, param, setting_values(study->space, from)[param] + side);
    }
    return from >= 0 && history_is_open(study, from) ? from : -1;
}

/* A wall may stand elsewhere with other values: a larger batch fits where the context is shorter, or the cache is of
 * smaller numbers. The ends of other axes, and other words, are tried behind it. */
static int32_t behind_wall_of(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                              int32_t param, int32_t side) {
    const struct kerf_tune_space *space = study->space;
    int32_t value = value_behind_wall(study, model, of, param, side);
    int32_t start = value < 0 ? -1 : neighbour_with(study, of, param, value);
    double least = setting_expected(model, of);
    for (int32_t p = 0; p < space->num_params && start >= 0; p++) {
        const struct kerf_tune_param *other = &space->params[p];
        int32_t step = kernel_is_ordered(other) && other->num_values > 1 ? other->num_values - 1 : 1;
        if (p == param || (step == 1 && other->num_values > WORDS_MAX)) continue;
        for (int32_t v = 0; v < other->num_values; v += step) {
            int32_t from = neighbour_with(study, start, p, v);
            int32_t setting = from < 0 ? -1 : beyond_wall(study, model, from, param, side, least);
            if (setting < 0) continue;
            int32_t at = setting_values(space, setting)[param];
            if (!is_tried_with(model, param, at, p, v)) return setting;
        }
    }
    return -1;
}

int32_t precaution_behind_wall(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    return neighbours_on_each_side(study, model, of, behind_wall_of);
}

/* The next setting on an axis, to the side where less is expected, of those that are not left out; -1: there is none. */
static int32_t likelier_side(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                             int32_t param) {
    int32_t own = setting_values(study->space, of)[param], likelier = -1;
    double least = INFINITY;
    for (int32_t value = own - 1; value <= own + 1; value += 2) {
        int32_t setting = neighbour_with(study, of, param, value);
        double mean = setting_expected(model, setting);
        if (setting < 0 || !history_is_open(study, setting) || (likelier >= 0 && !(mean < least))) continue;
        likelier = setting;
        least = mean;
    }
    return likelier;
}

/* A wall that ends in failures may slant, as that of memory which workers and their batches share. Then the best may be
 * around the corner: over it on one axis, and one step back on another. */
static int32_t around_corner(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                             int32_t param, int32_t side) {
    const struct kerf_tune_space *space = study->space;
    int32_t own = setting_values(space, of)[param];
    int32_t over = neighbour_with(study, of, param, own + side);
    int32_t end = neighbour_with(study, of, param, side < 0 ? 0 : space->params[param].num_values - 1);
    double rise = setting_expected(model, over) - setting_expected(model, of);
    if (over < 0 || end < 0 || history_is_open(study, end) || (history_is_open(study, over) && !(rise > WALL_RISE)))
        return -1;
    for (int32_t p = 0; p < space->num_params; p++) {
        if (p == param || !kernel_is_ordered(&space->params[p])) continue;
        int32_t setting = likelier_side(study, model, over, p);
        if (setting >= 0 && setting_tries(model, setting) == 0) return setting;
    }
    return -1;
}

int32_t precaution_around_wall(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    return neighbours_on_each_side(study, model, of, around_corner);
}

/* With another value of a parameter, next to its own where they are ordered, from `from` on; -1: there is none. */
static int32_t next_value(const struct kerf_tune_study *study, int32_t of, int32_t param, int32_t from) {
    const struct kerf_tune_space *space = study->space;
    int32_t own = setting_values(space, of)[param], count = space->params[param].num_values;
    int is_ordered = kernel_is_ordered(&space->params[param]);
    for (int32_t v = from; v < count && (is_ordered || count <= WORDS_MAX); v++)
        if (v != own && (abs(v - own) == 1 || !is_ordered)) return v;
    return -1;
}

/* One with a next value of one parameter, or of two, that is skipped only because something else ran out of memory, which
 * does not compare: more shards, or a larger heap, may need less. */
int32_t precaution_presumed_out(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const int32_t params = study->space->num_params;
    for (int32_t k = 0; k < params && study->num_failed > 0; k++)
        for (int32_t v = next_value(study, of, k, 0); v >= 0; v = next_value(study, of, k, v + 1)) {
            int32_t one = neighbour_with(study, of, k, v);
            if (one < 0) continue;
            if (setting_tries(model, one) == 0 && exclusion_is_presumed(study, one)) return one;
            for (int32_t l = k + 1; l < params; l++)
                for (int32_t w = next_value(study, of, l, 0); w >= 0; w = next_value(study, of, l, w + 1)) {
                    int32_t two = neighbour_with(study, one, l, w);
                    if (two >= 0 && setting_tries(model, two) == 0 && exclusion_is_presumed(study, two)) return two;
                }
        }
    return -1;
}
