/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tune/active_set.h"
#include "tune/exclusion.h"
#include "tune/kernel.h"
#include "tune/known_settings.h"
#include "tune/param.h"

enum { ANCHOR_TRIES = 2 };

enum { WORDS_MAX = 4 }; /* of a parameter, all of which are looked at */

static const double FAR_SLOWER = 0.25; /* of a logarithm: no size of a machine is known to gain that much */
static const double WORD_SLOWER = 0.6; /* likewise, with another word, of which the model may know little */

/* A step, of a logarithm: from a value so near to the leader it rises by so much, and by so many standard deviations, so
 * much steeper than behind it; not where the model expects all but such a share of the rise in the middle of the gap. */
static const double STEP_NEAR = 0.1, STEP_RISE = 0.06, STEP_SURE = 1, STEP_STEEPER = 1.5, STEP_EXPLAINED = 0.25;

/* How often a setting was tried, or is pending. */
static int32_t tries_of(const struct surface_model *model, int32_t setting) {
    return model->study->tallies[setting].tries + surface_model_pending(model, setting);
}

/* At random: a fixed order would always leave the same ones for last. */
int32_t precaution_untried(const struct surface_model *model) {
    struct pcg64 rng = history_random(model->study);
    int32_t best = -1, ties = 0;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i];
        if (tries_of(model, setting) > 0 || !history_is_open(model->study, setting)) continue;
        if (random_to(&rng, (uint32_t)ties++) == 0) best = setting;
    }
    return best;
}

static int same_but(const struct kerf_tune_space *space, int32_t a, int32_t b, int32_t param) {
    const int32_t *of_a = space->values + (int64_t)a * space->num_params;
    const int32_t *of_b = space->values + (int64_t)b * space->num_params;
    int same = 1;
    for (int32_t k = 0; k < space->num_params && same; k++) same = k == param || of_a[k] == of_b[k];
    return same;
}

int32_t precaution_beside(const struct surface_model *model, int32_t of) {
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_space *space = study->space;
    const int32_t *from = space->values + (int64_t)of * space->num_params;
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t step = -1; step <= 1 && kernel_is_ordered(&space->params[k]); step += 2) {
            int32_t beside = -1, tried = 0;
            for (int32_t i = 0; i < model->num_active; i++) {
                int32_t setting = model->active[i];
                if (space->values[(int64_t)setting * space->num_params + k] != from[k] + step) continue;
                tried |= tries_of(model, setting) > 0;
                if (history_is_open(study, setting) && same_but(space, setting, of, k)) beside = setting;
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
static int is_far_slower(const struct surface_model *model, int32_t setting, int32_t than, double by) {
    int32_t at = surface_model_find(model, setting), of = surface_model_find(model, than);
    double mean, least, sd;
    if (at < 0 || of < 0 || !model->scale.logarithmic) return 0;
    surface_model_moments(model, at, &mean, &sd);
    surface_model_moments(model, of, &least, &sd);
    return mean > least + by;
}

/* A setting with another value of one parameter; -1: it is not in the space. */
static int32_t with_value(struct kerf_tune_study *study, int32_t of, int32_t param, int32_t value) {
    const struct kerf_tune_space *space = study->space;
    int32_t values[TUNE_PARAMS_MAX];
    if (value < 0 || value >= space->params[param].num_values) return -1;
    memcpy(values, space->values + (int64_t)of * space->num_params, (size_t)space->num_params * sizeof *values);
    values[param] = value;
    return known_settings_meet(study, values);
}

static int is_worth_a_look(const struct surface_model *model, int32_t setting, int32_t leader, double by) {
    return setting >= 0 && tries_of(model, setting) == 0 && history_is_open(model->study, setting) &&
           !is_far_slower(model, setting, leader, by);
}

/* This setting, or it with another word of one parameter: shares that are static gain most where cores are all of a kind. -1:
 * there is nothing to learn. */
static int32_t with_any_word(struct kerf_tune_study *study, const struct surface_model *model, int32_t setting,
                             int32_t leader) {
    const struct kerf_tune_space *space = study->space;
    if (setting < 0 || is_worth_a_look(model, setting, leader, FAR_SLOWER)) return setting;
    if (is_far_slower(model, setting, leader, FAR_SLOWER)) return -1;
    for (int32_t k = 0; k < space->num_params; k++) {
        int32_t count = kernel_is_ordered(&space->params[k]) ? 0 : space->params[k].num_values;
        for (int32_t v = 0; v < count && count <= WORDS_MAX; v++) {
            int32_t other = with_value(study, setting, k, v);
            if (is_worth_a_look(model, other, leader, WORD_SLOWER)) return other;
        }
    }
    return -1;
}

static int32_t size_of_machine(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const struct kerf_tune_space *space = study->space;
    for (int32_t k = 0; k < space->num_params; k++)
        for (int32_t i = 0; i < study->num_sizes; i++) {
            int32_t index = index_of(&space->params[k], study->sizes[i]);
            if (index < 0 || !kernel_is_divided(&space->params[k])) continue;
            int32_t setting = with_any_word(study, model, with_value(study, of, k, index), of);
            if (setting >= 0) return setting;
        }
    return -1;
}

/* The one other parameter in which the two differ; -1: none, or more. */
static int32_t differs_in_one_more(const struct kerf_tune_space *space, int32_t a, int32_t b, int32_t param) {
    int32_t other = -1;
    for (int32_t k = 0; k < space->num_params; k++) {
        if (k == param ||
            space->values[(int64_t)a * space->num_params + k] == space->values[(int64_t)b * space->num_params + k])
            continue;
        if (other >= 0) return -1;
        other = k;
    }
    return other;
}

/* With all values of the leader but one more, which the leader may have had as well. */
static int is_word_known(struct kerf_tune_study *study, const struct surface_model *model, int32_t of, int32_t param,
                         int32_t word) {
    const struct kerf_tune_space *space = study->space;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i], other = differs_in_one_more(space, setting, of, param);
        const int32_t *values = space->values + (int64_t)setting * space->num_params;
        if (other < 0 || values[param] != word || tries_of(model, setting) == 0) continue;
        int32_t own = with_value(study, of, other, values[other]);
        if (own >= 0 && !is_far_slower(model, own, of, FAR_SLOWER)) return 1;
    }
    return 0;
}

/* What another word takes is known from settings that have much else in common with the leader, not from others. */
static int32_t untried_word(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const struct kerf_tune_space *space = study->space;
    for (int32_t k = 0; k < space->num_params; k++) {
        int32_t own = space->values[(int64_t)of * space->num_params + k], count = space->params[k].num_values;
        if (kernel_is_ordered(&space->params[k]) || count > WORDS_MAX) continue;
        for (int32_t v = 0; v < count; v++) {
            int32_t setting = v == own ? -1 : with_value(study, of, k, v);
            if (setting < 0 || tries_of(model, setting) > 0 || !history_is_open(study, setting)) continue;
            if (!is_word_known(study, model, of, k, v)) return setting;
        }
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
        int32_t setting = model->active[i], value = space->values[(int64_t)setting * space->num_params + param];
        if (tries_of(model, setting) == 0 || !is_multiple(&space->params[param], value, of)) continue;
        if (same_but(space, setting, leader, param) || !is_far_slower(model, setting, leader, FAR_SLOWER)) return 1;
    }
    return 0;
}

/* The leader with the nearest multiple, of two and more; -1: nothing to learn. */
static int32_t with_multiple(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                             int32_t param_at, int64_t multiple_of) {
    const struct kerf_tune_space *space = study->space;
    const struct kerf_tune_param *param = &space->params[param_at];
    int32_t own = space->values[(int64_t)of * space->num_params + param_at], nearest = -1, count = 0;
    for (int32_t v = 0; v < param->num_values; v++) {
        if (!is_multiple(param, v, multiple_of)) continue;
        int32_t setting = with_value(study, of, param_at, v);
        count++;
        if (!is_worth_a_look(model, setting, of, FAR_SLOWER)) continue;
        if (nearest < 0 || abs(v - own) < abs(nearest - own)) nearest = v;
    }
    return nearest < 0 || count < 2 ? -1 : with_value(study, of, param_at, nearest);
}

/* Tiles, pages and vectors make multiples fast. A study that tried none may be sure of a smooth surface. */
static int32_t untried_multiple(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    for (int32_t k = 0; k < study->space->num_params; k++)
        for (int64_t by = 2; by <= MULTIPLES_MAX && kernel_is_divided(&study->space->params[k]); by *= 2) {
            if (is_multiple_tried(model, of, k, by)) continue;
            int32_t setting = with_multiple(study, model, of, k, by);
            if (setting >= 0) return setting;
        }
    return -1;
}

/* Values of one parameter that were tried with the leader's other values, from the smallest on. */
struct tried {
    int32_t num;
    struct tried_value {
        int32_t value;
        double at, mean, sd; /* on the axis (kernel_position); of the model, on its scale */
    } values[ACTIVE_MAX];
};

static void tried_on_axis(const struct surface_model *model, int32_t of, int32_t param, struct tried *ret_tried) {
    const struct kerf_tune_study *study = model->study;
    const struct kerf_tune_space *space = study->space;
    struct tried_value *values = ret_tried->values;
    ret_tried->num = 0;
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i], place = ret_tried->num;
        if (study->tallies[setting].tries == 0 || !history_is_open(study, setting)) continue;
        if (!same_but(space, setting, of, param)) continue;
        struct tried_value one = {.value = space->values[(int64_t)setting * space->num_params + param]};
        one.at = kernel_position(&space->params[param], one.value);
        surface_model_moments(model, i, &one.mean, &one.sd);
        for (; place > 0 && values[place - 1].value > one.value; place--) values[place] = values[place - 1];
        values[place] = one;
        ret_tried->num++;
    }
}

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
    if (from->mean > least + STEP_NEAR || rise < STEP_RISE) return 0;
    if (rise < STEP_SURE * hypot(from->sd, to->sd)) return 0;
    if (before >= 0 && before < tried->num && tried->values[before].mean > from->mean + rise / 2) return 0;
    return rise / width > STEP_STEEPER * slope_beyond(tried, bad, side, width);
}

/* In the middle of the gap between two tried values beside each other; -1: nothing to learn there. */
static int32_t in_gap(struct kerf_tune_study *study, const struct surface_model *model, int32_t of, int32_t param,
                      const struct tried_value *good, const struct tried_value *bad) {
    double mean, sd;
    if (abs(bad->value - good->value) < 2) return -1;
    int32_t setting = with_value(study, of, param, (good->value + bad->value) / 2), at;
    if (setting < 0 || tries_of(model, setting) > 0 || !history_is_open(study, setting)) return -1;
    if ((at = surface_model_find(model, setting)) < 0) return setting;
    surface_model_moments(model, at, &mean, &sd);
    return mean > bad->mean - STEP_EXPLAINED * (bad->mean - good->mean) ? -1 : setting;
}

static int32_t before_step(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const struct kerf_tune_space *space = study->space;
    int32_t leader = surface_model_find(model, of);
    double least, sd;
    struct tried tried;
    if (leader < 0 || !model->scale.logarithmic) return -1;
    surface_model_moments(model, leader, &least, &sd);
    for (int32_t k = 0; k < space->num_params; k++) {
        if (!kernel_is_ordered(&space->params[k])) continue;
        tried_on_axis(model, of, k, &tried);
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

/* A wall, such as memory that is full, of a logarithm: one more on an axis takes so much longer, and so much steeper than
 * the next one. */
static const double WALL_RISE = 0.1, WALL_STEEPER = 1.5;

/* What the model expects with another value of one parameter; NAN: it is not in the space, or not modelled. */
static double mean_with(struct kerf_tune_study *study, const struct surface_model *model, int32_t of, int32_t param,
                        int32_t value) {
    double mean, sd;
    int32_t setting = with_value(study, of, param, value), at = setting < 0 ? -1 : surface_model_find(model, setting);
    if (at < 0) return NAN;
    surface_model_moments(model, at, &mean, &sd);
    return mean;
}

/* The first value of an axis behind a wall, seen from the leader to that side; -1: there is none. */
static int32_t value_behind_wall(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                                 int32_t param, int32_t side) {
    int32_t own = study->space->values[(int64_t)of * study->space->num_params + param];
    double least = mean_with(study, model, of, param, own), before = least;
    for (int32_t value = own + side; before <= least + STEP_NEAR; value += side) {
        double mean = mean_with(study, model, of, param, value), rise = mean - before;
        if (isnan(mean)) return -1;
        double next = mean_with(study, model, of, param, value + side), beyond = isnan(next) ? 0 : next - mean;
        if (rise > WALL_RISE && rise > WALL_STEEPER * beyond) return value;
        before = mean;
    }
    return -1;
}

static int is_tried_with(const struct surface_model *model, int32_t param, int32_t value, int32_t other,
                         int32_t other_value) {
    const struct kerf_tune_study *study = model->study;
    for (int32_t i = 0; i < study->num_observations; i++) {
        const int32_t *values =
            study->space->values + (int64_t)study->observations[i].setting * study->space->num_params;
        if (values[param] == value && values[other] == other_value) return 1;
    }
    return 0;
}

/* From this setting, behind a wall, to the first one on that side that was not tried; -1: one is as slow as the wall, or there
 * is none. */
static int32_t beyond_wall(struct kerf_tune_study *study, const struct surface_model *model, int32_t from,
                           int32_t param, int32_t side, double least) {
    const struct kerf_tune_space *space = study->space;
    while (from >= 0 && tries_of(model, from) > 0) {
        int32_t value = space->values[(int64_t)from * space->num_params + param];
        if (!(mean_with(study, model, from, param, value) <= least + STEP_NEAR)) return -1;
        from = with_value(study, from, param, value + side);
    }
    return from >= 0 && history_is_open(study, from) ? from : -1;
}

/* A wall may stand elsewhere with other values: a larger batch fits where the context is shorter, or the cache is of
 * smaller numbers. The ends of other axes, and other words, are tried behind it. */
static int32_t behind_wall_of(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                              int32_t param, int32_t side) {
    const struct kerf_tune_space *space = study->space;
    int32_t own = space->values[(int64_t)of * space->num_params + param];
    int32_t value = value_behind_wall(study, model, of, param, side);
    int32_t start = value < 0 ? -1 : with_value(study, of, param, value);
    double least = mean_with(study, model, of, param, own);
    for (int32_t p = 0; p < space->num_params && start >= 0; p++) {
        const struct kerf_tune_param *other = &space->params[p];
        int32_t step = kernel_is_ordered(other) && other->num_values > 1 ? other->num_values - 1 : 1;
        if (p == param || (step == 1 && other->num_values > WORDS_MAX)) continue;
        for (int32_t v = 0; v < other->num_values; v += step) {
            int32_t from = with_value(study, start, p, v);
            int32_t setting = from < 0 ? -1 : beyond_wall(study, model, from, param, side, least);
            if (setting < 0) continue;
            int32_t at = space->values[(int64_t)setting * space->num_params + param];
            if (!is_tried_with(model, param, at, p, v)) return setting;
        }
    }
    return -1;
}

/* The first that `find` finds from the leader, to either side of each ordered axis; -1: nothing. */
static int32_t on_each_side(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
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

static int32_t behind_wall(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    return on_each_side(study, model, of, behind_wall_of);
}

/* The next setting on an axis, to the side where less is expected, of those that are not left out; -1: there is none. */
static int32_t likelier_side(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                             int32_t param) {
    int32_t own = study->space->values[(int64_t)of * study->space->num_params + param], likelier = -1;
    double least = INFINITY;
    for (int32_t value = own - 1; value <= own + 1; value += 2) {
        int32_t setting = with_value(study, of, param, value);
        double mean = mean_with(study, model, of, param, value);
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
    int32_t own = space->values[(int64_t)of * space->num_params + param];
    int32_t over = with_value(study, of, param, own + side);
    int32_t end = with_value(study, of, param, side < 0 ? 0 : space->params[param].num_values - 1);
    double rise = mean_with(study, model, of, param, own + side) - mean_with(study, model, of, param, own);
    if (over < 0 || end < 0 || history_is_open(study, end) || (history_is_open(study, over) && !(rise > WALL_RISE)))
        return -1;
    for (int32_t p = 0; p < space->num_params; p++) {
        if (p == param || !kernel_is_ordered(&space->params[p])) continue;
        int32_t setting = likelier_side(study, model, over, p);
        if (setting >= 0 && tries_of(model, setting) == 0) return setting;
    }
    return -1;
}

static int32_t around_wall(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    return on_each_side(study, model, of, around_corner);
}

/* With another value of a parameter, next to its own where they are ordered, from `from` on; -1: there is none. */
static int32_t next_value(const struct kerf_tune_study *study, int32_t of, int32_t param, int32_t from) {
    const struct kerf_tune_space *space = study->space;
    int32_t own = space->values[(int64_t)of * space->num_params + param], count = space->params[param].num_values;
    int is_ordered = kernel_is_ordered(&space->params[param]);
    for (int32_t v = from; v < count && (is_ordered || count <= WORDS_MAX); v++)
        if (v != own && (abs(v - own) == 1 || !is_ordered)) return v;
    return -1;
}

/* One with a next value of one parameter, or of two, that is skipped only because something else ran out of memory, which
 * does not compare: more shards, or a larger heap, may need less. */
static int32_t presumed_out(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const int32_t params = study->space->num_params;
    for (int32_t k = 0; k < params && study->num_failed > 0; k++)
        for (int32_t v = next_value(study, of, k, 0); v >= 0; v = next_value(study, of, k, v + 1)) {
            int32_t one = with_value(study, of, k, v);
            if (one < 0) continue;
            if (tries_of(model, one) == 0 && exclusion_is_presumed(study, one)) return one;
            for (int32_t l = k + 1; l < params; l++)
                for (int32_t w = next_value(study, of, l, 0); w >= 0; w = next_value(study, of, l, w + 1)) {
                    int32_t two = with_value(study, one, l, w);
                    if (two >= 0 && tries_of(model, two) == 0 && exclusion_is_presumed(study, two)) return two;
                }
        }
    return -1;
}

/* A setting next to this one, of those tried, that is slower by what a slow mode adds and was run seldom. A model expects a
 * kink at the best: it takes those runs for the kink, and the best for the next value. Before a cliff nothing beyond speaks
 * against that, and two runs in a row may be slow ones. */
enum { SELDOM = 2, SELDOM_AT_CLIFF = 3 };

static int is_run_seldom(struct kerf_tune_study *study, const struct surface_model *model, int32_t setting, double rise,
                         double beyond) {
    int32_t values = study->tallies[setting].values, enough = beyond > rise ? SELDOM_AT_CLIFF : SELDOM;
    return values > 0 && values < enough && tries_of(model, setting) == values && rise > STEP_RISE && rise < FAR_SLOWER;
}

static int32_t run_seldom(struct kerf_tune_study *study, const struct surface_model *model, int32_t of, int32_t param,
                          int32_t side) {
    int32_t own = study->space->values[(int64_t)of * study->space->num_params + param], at = 0;
    struct tried tried;
    tried_on_axis(model, of, param, &tried);
    while (at < tried.num && tried.values[at].value != own) at++;
    int32_t next = at + side, last = next + side;
    if (at == tried.num || next < 0 || next >= tried.num || history_is_exact(study)) return -1;
    double mean = tried.values[next].mean;
    double beyond = last >= 0 && last < tried.num ? tried.values[last].mean - mean : 0;
    int32_t setting = with_value(study, of, param, tried.values[next].value);
    return is_run_seldom(study, model, setting, mean - tried.values[at].mean, beyond) ? setting : -1;
}

static int32_t run_seldom_beside(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    return on_each_side(study, model, of, run_seldom);
}

static int tells_value(const struct kerf_tune_study *study, const struct kerf_tune_observation *o) {
    return o->outcome == KERF_TUNE_VALUE && !o->warmup && !o->disturbed && history_is_open(study, o->setting);
}

/* The fastest run of a setting since the machine last changed; INFINITY: none. */
static double fastest_run(const struct surface_model *model, int32_t setting) {
    const struct kerf_tune_study *study = model->study;
    const struct changepoints *changes = &model->changepoints;
    double fastest = INFINITY;
    for (int32_t i = changes->num ? changes->starts[changes->num - 1] : 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (o->setting == setting && tells_value(study, o)) fastest = fmin(fastest, scale_to(&model->scale, o->value));
    }
    return fastest;
}

/* A setting that was once faster than this one ever was, of less than FASTER_RUNS runs: on a machine of two modes the others
 * may all have been slow ones, and where there are none a few more runs show that it was luck. */
enum { FASTER_RUNS = 5 };
static const double FASTER_NOISES = 3;

static int32_t once_faster(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    double least = fastest_run(model, of);
    int32_t faster = -1;
    if (!model->scale.logarithmic || history_is_exact(study) || model->num_slots > 1 || isinf(least)) return -1;
    least -= fmax(log1p(study->question.within), FASTER_NOISES * surface_model_noise(model));
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i], values = study->tallies[setting].values;
        if (values == 0 || values >= FASTER_RUNS || tries_of(model, setting) > values) continue;
        double fastest = fastest_run(model, setting);
        if (fastest < least) least = fastest, faster = setting;
    }
    return faster;
}

/* A setting with at most so many other values than the leader's that was run once, and without that run might be the
 * leader: by so much slower, of a logarithm and of standard deviations. */
enum { DIFFERING = 2 };
static const double SLOW_OVER = 0.1, SLOW_SURE = 1.5;

static int32_t differing(const struct kerf_tune_space *space, int32_t a, int32_t b) {
    int32_t count = 0;
    for (int32_t k = 0; k < space->num_params; k++)
        count += space->values[(int64_t)a * space->num_params + k] != space->values[(int64_t)b * space->num_params + k];
    return count;
}

static int is_ruled_out_by_one_run(const struct surface_model *model, int32_t setting, double y, double least) {
    double mean, sd;
    if (y < least + SLOW_OVER || surface_without(model, setting, &mean, &sd, NULL) != KERF_OK) return 0;
    return mean - sd < least && y > mean + fmax(SLOW_OVER, SLOW_SURE * hypot(sd, surface_model_noise(model)));
}

/* One slow run hides it, and hides what it would tell of those beside it. Where the machine has two modes, their share of
 * slow runs is reckoned with. */
static int32_t slow_once(struct kerf_tune_study *study, const struct surface_model *model, int32_t of) {
    const int32_t leader = surface_model_find(model, of);
    double least, sd;
    if (leader < 0 || !model->scale.logarithmic || history_is_exact(study)) return -1;
    if (model->modes.share > 0 || model->num_slots > 1) return -1;
    surface_model_moments(model, leader, &least, &sd);
    for (int32_t i = 0; i < model->num_active; i++) {
        int32_t setting = model->active[i];
        const struct last_run *only = &model->last[i];
        if (study->tallies[setting].values != 1 || tries_of(model, setting) > 1 || isnan(only->y)) continue;
        if (differing(study->space, setting, of) > DIFFERING) continue;
        if (is_ruled_out_by_one_run(model, setting, only->y, least)) return setting;
    }
    return -1;
}

int32_t precaution_at(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                      const char **ret_why) {
    static const struct {
        int32_t (*find)(struct kerf_tune_study *study, const struct surface_model *model, int32_t of);
        const char *why;
    } PRECAUTIONS[] = {
        {untried_word, "another word, where little like the leader was measured"},
        {untried_multiple, "a multiple, of which none like it was measured"},
        {size_of_machine, "at a size of the machine, where nothing was measured"},
        {before_step, "before a step, where nothing was measured"},
        {behind_wall, "behind a wall, with a value that may move it"},
        {around_wall, "over a wall beside the leader, and a step back on another axis"},
        {presumed_out, "beside the leader: is memory really too small for it?"},
        {run_seldom_beside, "beside the leader: were its few runs slow by chance?"},
        {slow_once, "one run alone speaks against it: was that chance?"},
        {once_faster, "it was once faster than the leader ever was: by chance?"},
    };
    for (size_t i = 0; i < sizeof PRECAUTIONS / sizeof *PRECAUTIONS; i++) {
        int32_t setting = PRECAUTIONS[i].find(study, model, of);
        *ret_why = PRECAUTIONS[i].why;
        if (setting >= 0) return setting;
    }
    return -1;
}

/* Whether this run is so much faster than all before of its setting that the machine may have changed. */
static int is_far_faster(const struct surface_model *model, int32_t run) {
    const struct kerf_tune_observation *all = model->study->observations, *o = &all[run];
    double before = INFINITY;
    if (!model->scale.logarithmic) return 0;
    for (int32_t i = 0; i < run; i++)
        if (all[i].setting == o->setting && tells_value(model->study, &all[i]))
            before = fmin(before, scale_to(&model->scale, all[i].value));
    return isfinite(before) && scale_to(&model->scale, o->value) < before - FAR_SLOWER;
}

int precaution_is_outdated(const struct surface_model *model, int32_t leader) {
    int32_t at = surface_model_find(model, leader);
    return model->changepoints.num > 0 && at >= 0 && isnan(model->last[at].y) &&
           surface_model_pending(model, leader) == 0;
}

int32_t precaution_anchor(const struct surface_model *model, int32_t leader) {
    const struct kerf_tune_study *study = model->study;
    int32_t anchor = -1, led = 0, tries = 0;
    for (int32_t i = 0; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        int tells = tells_value(study, o);
        if (led && o->setting == anchor) tries += tells ? ANCHOR_TRIES : 1;
        if (tells && anchor < 0) anchor = o->setting;
        led |= tells && o->setting == leader;
        if (tells && o->setting != anchor && is_far_faster(model, i)) tries = 0;
    }
    if (anchor >= 0 && surface_model_pending(model, anchor) > 0) return -1;
    return tries >= ANCHOR_TRIES || anchor == leader ? -1 : anchor;
}
