/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether there was a changepoint, whether a value is isolated, whether runs have two modes: the model with each of these,
 * and with none, is conditioned on all observations, and what makes them most probable is taken. What has a parameter of
 * its own pays for it: for the size of a mode, the width of what the data leave of its prior (MacKay, "Bayesian
 * Interpolation", 1992).
 *
 * Costs a model of SURFACE_FEW_POINTS for each of the possibilities.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "tune/surface_model.h"

enum { STARTS_MAX = 64 };
static const double RARELY = 0.02,
                    RARELY_FLAT = 0.2; /* how probable an isolated value is: anywhere, on a flat surface */
static const double MODES = 0.001;     /* and two modes: five runs with much noise often look like them */
static const double SIZES = 0.5;       /* of a mode, on the model's scale: all up to this are as probable before */
enum { SHARES = 3 };
static const double shares[SHARES] = {0.1, 0.25, 0.45}; /* of slow runs; the answer is their mean by evidence */

/* The evidence of the model's observations with this setup. */
static int32_t evidence_with(const struct surface_model *model, const struct surface_setup *given, double *ret_evidence,
                             struct kerf_error *err) {
    struct surface_model *other;
    struct surface_setup setup = *given;
    setup.changepoints.judged = setup.isolated.judged = setup.steady.judged = setup.modes.judged = model->seen + 1;
    setup.max_points = SURFACE_FEW_POINTS;
    int32_t code = surface_begin(model->study, &setup, &other, err);
    if (code != KERF_OK) return code;
    surface_learn(other, model->seen + 1);
    *ret_evidence = surface_log_evidence(other);
    surface_model_free(other);
    return KERF_OK;
}

/* ---- Changepoints ------------------------------------------------------------------------------------------------ */

/* Whether both are values of one setting on one slot. */
static int is_repeat(const struct kerf_tune_observation *a, const struct kerf_tune_observation *b) {
    return observation_is_informative(a) && a->outcome == KERF_TUNE_VALUE && a->setting == b->setting &&
           a->slot == b->slot;
}

/* Whether the suspected level cannot have begun with this run: a setting took as long before it as after it. */
static int is_spanned(const struct surface_model *model, int32_t start) {
    const struct kerf_tune_observation *of = model->study->observations;
    for (int32_t i = start; i <= model->seen; i++) {
        int32_t before = start - 1;
        if (!is_repeat(&of[i], &of[i])) continue;
        while (before >= 0 && !is_repeat(&of[before], &of[i])) before--;
        if (before < 0) continue;
        double change = scale_to(&model->scale, of[i].value) - scale_to(&model->scale, of[before].value);
        if (fabs(change) < 0.5 * fabs(model->changepoints.off)) return 1;
    }
    return 0;
}

/* With which run a new level began, if that makes the observations more probable than `most`. */
static int32_t judge_changepoint(const struct surface_model *model, double *most, struct surface_setup *setup,
                                 struct kerf_error *err) {
    struct surface_setup with = *setup;
    struct changepoints *changes = &with.changepoints;
    int32_t earliest = model->changepoints.earliest, latest = model->changepoints.latest, code = KERF_OK;
    double evidence;
    if (earliest <= latest - STARTS_MAX) earliest = latest - STARTS_MAX + 1;
    changes->num++;
    for (int32_t start = latest; start >= earliest && code == KERF_OK; start--) {
        if (is_spanned(model, start)) continue;
        changes->starts[changes->num - 1] = start;
        code = evidence_with(model, &with, &evidence, err);
        if (code == KERF_OK && evidence > *most) *most = evidence, setup->changepoints = *changes;
    }
    return code;
}

/* ---- Isolated values --------------------------------------------------------------------------------------------- */

/* The same with the setting that is suspected as an isolated one. */
static int32_t judge_isolated(const struct surface_model *model, double *most, struct surface_setup *setup,
                              struct kerf_error *err) {
    struct surface_setup with = *setup;
    int32_t setting = model->isolated.setting;
    double evidence, flatness = surface_model_flatness(model, setting);
    with.isolated.settings[with.isolated.num++] = setting;
    int32_t code = evidence_with(model, &with, &evidence, err);
    evidence += log(RARELY + (RARELY_FLAT - RARELY) * flatness);
    if (code == KERF_OK && evidence > *most) *most = evidence, setup->isolated = with.isolated;
    return code;
}

/* ---- Modes ------------------------------------------------------------------------------------------------------- */

/* Finds modes anew, if they make the observations more probable. */
static int32_t judge_modes(const struct surface_model *model, double *most, const struct surface_setup *start,
                           struct surface_setup *setup, struct kerf_error *err) {
    struct surface_setup with = *start;
    struct modes *modes = &with.modes;
    double evidence[SHARES], likeliest = -INFINITY, sum = 0, mean = 0;
    if (!modes_suggested(model, model->seen + 1, modes)) return KERF_OK;
    double left = modes->noise * sqrt(2 * M_PI) / SIZES;
    for (int k = 0; k < SHARES; k++) {
        modes->share = shares[k];
        int32_t code = evidence_with(model, &with, &evidence[k], err);
        if (code != KERF_OK) return code;
        likeliest = fmax(likeliest, evidence[k]);
    }
    double with_modes = likeliest + log(MODES) + log(fmin(left, 1));
    if (!(with_modes > *most)) return KERF_OK;
    for (int k = 0; k < SHARES; k++) {
        sum += exp(evidence[k] - likeliest);
        mean += exp(evidence[k] - likeliest) * shares[k];
    }
    modes->share = mean / sum;
    *most = with_modes;
    *setup = with;
    return KERF_OK;
}

int32_t surface_judge(const struct surface_model *model, enum learnt learnt, struct surface_setup *setup,
                      struct kerf_error *err) {
    double most;
    setup->changepoints = model->changepoints;
    setup->isolated = model->isolated;
    setup->steady = model->steady;
    setup->modes = model->modes;
    setup->modes.labelled = model->seen + 1;
    if (learnt == IS_STEADY)
        setup->steady.settings[setup->steady.num++] = model->study->observations[model->seen].setting;
    if (learnt == IS_STEADY || learnt == RELABELLED) return KERF_OK;
    setup->modes.share = setup->modes.slower = 0;
    int32_t code = evidence_with(model, setup, &most, err);
    if (code == KERF_OK && learnt == CHANGED) code = judge_changepoint(model, &most, setup, err);
    if (code == KERF_OK && learnt == IS_ISOLATED) code = judge_isolated(model, &most, setup, err);
    struct surface_setup start = *setup;
    if (code == KERF_OK) code = judge_modes(model, &most, &start, setup, err);
    int32_t levels = start.changepoints.num; /* for which slow runs in a row may have been taken */
    start.changepoints.num = 0;
    if (code == KERF_OK && levels > 0) code = judge_modes(model, &most, &start, setup, err);
    if (learnt == CHANGED) setup->changepoints.judged = model->seen + 1;
    if (learnt == IS_ISOLATED) setup->isolated.judged = model->seen + 1;
    setup->modes.judged = model->seen + 1;
    return code;
}
