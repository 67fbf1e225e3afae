/* SPDX-License-Identifier: Apache-2.0 */
/* What all observations say of all settings: one Gaussian process for each point of the grid of hyperparameters. */
#ifndef KERF_TUNE_SURFACE_MODEL_H
#define KERF_TUNE_SURFACE_MODEL_H

#include "tune/gaussian_process.h"
#include "tune/hyper_grid.h"
#include "tune/jumps.h"
#include "tune/scale.h"
#include "tune/study.h"

enum { DRAWS = 2048 }; /* of joint_draws.h */

enum surface_kind {
    SURFACE_ALIKE,    /* near values are alike: the policy kerf */
    SURFACE_UNRELATED /* every setting for itself: the policy race */
};

struct last_run {
    int32_t index; /* of the observation */
    double y;      /* without the slot's offset */
    double noise;  /* what was thought of it then: what a jump does to a model looks like noise at first */
};

struct surface_model {
    const struct kerf_tune_study *study;
    struct arena arena;
    int32_t kind;
    struct scale scale;
    int32_t has_unit; /* 0: all values so far are 0 */
    int32_t num_active;
    int32_t *active; /* [num_active] settings, ascending: the study's of that generation */
    int32_t generation;
    int32_t dims; /* num_active, the drift, offsets of slots, of earlier studies and of levels before the last jump, the
                     drift of the first run */
    int32_t num_slots, num_earlier;
    struct jumps jumps;
    struct last_run *last; /* [num_active] the last run of each on this level; y NAN: none */
    double *floors;        /* [num_active] of settings with a run that was stopped: surely more than this, without drift
                                    and offsets; -INFINITY: nothing is sure */
    int32_t num_points;
    const struct hyper *hypers; /* [num_points] */
    struct gp *points;          /* [num_points] */
    double *weights;            /* [num_points], sum 1 */
    double *work;               /* [dims] */
    double **normals; /* [num_active + 3], of joint_draws.c: kept, as they stay the same; the last is their memory */
    int32_t seen;     /* observations of the study that are in it */
    int32_t told;     /* of these, those that tell something */
    double clock;     /* of the last one */
    double run_s;     /* of the first one, which is the unit of drift; 0: the number of observations is time */
};

/* Makes *model, or brings it up to date with the study's observations. */
int32_t surface_model_update(const struct kerf_tune_study *study, int32_t kind, struct surface_model **model,
                             struct kerf_error *err);
struct surface_model *surface_model_free(struct surface_model *model);

/* The same model for a while of pretending: that these settings are being measured. */
int32_t surface_model_pretend(const struct surface_model *model, const int32_t *pending, int32_t num_pending,
                              struct surface_model **ret_model, struct kerf_error *err);

/* The place of a setting in `active`, -1: it is not modelled. */
int32_t surface_model_find(const struct surface_model *model, int32_t setting);

/* Mean and standard deviation of an unknown, on the model's scale. */
void surface_model_moments(const struct surface_model *model, int32_t which, double *ret_mean, double *ret_sd);

/* A setting whose last run on this slot was so odd that it has to be run there once more: jumps.h; -1: none. */
int32_t surface_model_suspect(const struct surface_model *model, int32_t slot);

/* The standard deviation of the noise, and what the machine drifted by since the first run, as a factor. */
double surface_model_noise(const struct surface_model *model);
double surface_model_drift(const struct surface_model *model);

#endif
