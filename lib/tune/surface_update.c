/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping the model up to date with the study: one more observation conditions it (surface_learn.c); what changes its
 * shape, as a slot, a setting or what surface_judge.c finds, makes it anew. Both ways give the same model.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "tune/surface_model.h"

/* Whether one more observation leaves the scale, the slots, the settings and the earlier studies as they are. */
static int still_fits(const struct surface_model *model) {
    const struct kerf_tune_study *study = model->study;
    int32_t before = 0;
    for (int32_t i = 0; i < model->seen; i++) before += observation_is_informative(&study->observations[i]);
    if (before + study->num_earlier == 0) return 0;
    if (model->generation != study->generation || model->setup.num_earlier != study->num_earlier) return 0;
    for (int32_t i = model->seen; i < study->num_observations; i++) {
        const struct kerf_tune_observation *o = &study->observations[i];
        if (!observation_is_informative(o)) continue;
        if (model->scale.logarithmic && o->value <= 0) return 0;
        if (!model->has_unit && o->value != 0) return 0;
        if (o->slot >= model->num_slots && o->slot < SURFACE_SLOTS_MAX) return 0;
        if (surface_model_find(model, o->setting) < 0) return 0;
    }
    return 1;
}

int32_t surface_update(const struct kerf_tune_study *study, int32_t kind, struct surface_model **model,
                       struct kerf_error *err) {
    struct surface_setup setup = {
        .kind = kind, .max_points = KERNEL_POINTS_MAX, .earlier = study->earlier, .num_earlier = study->num_earlier};
    int32_t fits = *model && still_fits(*model), code = KERF_OK;
    if (*model && (*model)->setup.num_earlier == study->num_earlier) {
        setup.changepoints = (*model)->changepoints;
        setup.isolated = (*model)->isolated;
        setup.steady = (*model)->steady;
        setup.modes = (*model)->modes;
    }
    enum learnt learnt = LEARNT;
    while (!fits || (learnt = surface_learn(*model, study->num_observations)) != LEARNT) {
        if (fits) code = surface_judge(*model, learnt, &setup, err);
        *model = surface_model_free(*model);
        if (code == KERF_OK) code = surface_begin(study, &setup, model, err);
        if (code != KERF_OK) return code;
        fits = 1;
    }
    assert((*model)->seen == study->num_observations);
    return KERF_OK;
}

int32_t surface_fantasize(const struct surface_model *model, const int32_t *pending, int32_t num_pending,
                          struct surface_model **ret_model, struct kerf_error *err) {
    struct surface_model *copy = calloc(1, sizeof *copy);
    size_t dims = (size_t)model->dims, points = (size_t)model->num_points;
    if (copy == NULL) return error_no_memory(err, "a study");
    *copy = *model;
    copy->arena = (struct arena){0};
    copy->pending = pending;
    copy->num_pending = num_pending;
    copy->points = arena_take(&copy->arena, points, sizeof *copy->points);
    copy->work = arena_take(&copy->arena, dims, sizeof *copy->work);
    double *mean = arena_take(&copy->arena, points, dims * sizeof *mean);
    double *cov = arena_take(&copy->arena, points, dims * dims * sizeof *cov);
    if (!copy->points || !copy->work || !mean || !cov) {
        surface_model_free(copy);
        return error_no_memory(err, "a study");
    }
    for (size_t i = 0; i < points; i++) {
        copy->points[i] = model->points[i];
        copy->points[i].mean = memcpy(mean + i * dims, model->points[i].mean, dims * sizeof *mean);
        copy->points[i].cov = cov + i * dims * dims;
        if (model->weights[i] == 0) continue;
        memcpy(copy->points[i].cov, model->points[i].cov, dims * dims * sizeof *cov);
        for (int32_t k = 0; k < num_pending; k++) {
            struct gp_datum datum = {.at = {surface_model_find(model, pending[k]), model->num_active}, .num_at = 2};
            if (datum.at[0] >= 0) gp_fantasize(&copy->points[i], model->dims, &datum, copy->work);
        }
    }
    *ret_model = copy;
    return KERF_OK;
}

int32_t surface_without(const struct surface_model *model, int32_t setting, double *ret_mean, double *ret_sd,
                        struct kerf_error *err) {
    struct surface_model *other;
    struct surface_setup setup = model->setup;
    setup.max_points = SURFACE_FEW_POINTS;
    setup.leaves_out = 1, setup.left_out = setting;
    setup.changepoints.judged = setup.isolated.judged = setup.steady.judged = setup.modes.judged = model->seen + 1;
    int32_t code = surface_begin(model->study, &setup, &other, err);
    if (code != KERF_OK) return code;
    surface_learn(other, model->seen);
    surface_model_moments(other, surface_model_find(other, setting), ret_mean, ret_sd);
    surface_model_free(other);
    return KERF_OK;
}

/* The level of the first observation is not compared: earlier studies have an offset, and without them it is the origin. */
static int32_t after_first(const struct kerf_tune_study *study) {
    int32_t i = 0;
    while (i < study->num_observations && !observation_is_informative(&study->observations[i])) i++;
    return i < study->num_observations ? i + 1 : i;
}

/* Since then each setting has changed by so much, up or down. */
static void change(struct surface_model *model, double sd) {
    for (int32_t k = 0; k < model->num_points; k++) {
        struct gp *gp = &model->points[k];
        for (int32_t i = 0; i < model->num_active; i++)
            gp->cov[(int64_t)i * model->dims + i] += sd * sd * gp->alpha / gp->beta;
    }
}

int32_t surface_evidence(const struct kerf_tune_study *study, int32_t kind, const struct changepoints *changepoints,
                         const struct kerf_tune_observation *earlier, int32_t num_earlier, double changed,
                         double *ret_evidence, struct kerf_error *err) {
    struct surface_setup setup = {.kind = kind,
                                  .max_points = SURFACE_FEW_POINTS,
                                  .changepoints = *changepoints,
                                  .earlier = earlier,
                                  .num_earlier = num_earlier};
    struct surface_model *model;
    /* it is not asked here whether there is more */
    setup.changepoints.judged = setup.isolated.judged = setup.steady.judged = setup.modes.judged =
        study->num_observations;
    int32_t code = surface_begin(study, &setup, &model, err);
    if (code != KERF_OK) return code;
    change(model, changed);
    surface_learn(model, after_first(study));
    double before = surface_log_evidence(model);
    surface_learn(model, study->num_observations);
    *ret_evidence = surface_log_evidence(model) - before;
    if (!model->scale.logarithmic)
        *ret_evidence -= study->num_values * log(model->scale.unit); /* of values, not of y */
    surface_model_free(model);
    return KERF_OK;
}
