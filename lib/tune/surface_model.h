/* SPDX-License-Identifier: Apache-2.0 */
/* The model of all settings: one Gaussian process for each point of the grid of hyperparameters. */
#ifndef KERF_TUNE_SURFACE_MODEL_H
#define KERF_TUNE_SURFACE_MODEL_H

#include "tune/changepoint.h"
#include "tune/gaussian_process.h"
#include "tune/history.h"
#include "tune/kernel.h"

enum { SURFACE_DRAWS = 2048, SURFACE_SLOTS_MAX = 64 };

/* The scale on which objectives are compared: less is better, and the first observation is 0. */
struct scale {
    int32_t logarithmic;
    double sign;   /* -1 where more is better */
    double unit;   /* of a linear scale */
    double origin; /* what the first observation would be without it */
};

double scale_to(const struct scale *scale, double value);
double scale_from(const struct scale *scale, double y);

/* What is within a share of the best: all that is at most this. */
double scale_within(const struct scale *scale, double best, double share);

enum surface_kind {
    SURFACE_CORRELATED, /* near values are alike: the policy kerf */
    SURFACE_UNRELATED   /* every setting for itself: the policy race */
};

/* What a model is made of beside the study. */
struct surface_setup {
    int32_t kind;       /* enum surface_kind */
    int32_t max_points; /* of the grid of hyperparameters */
    struct changepoints changepoints;
    const struct kerf_tune_observation *earlier; /* [num_earlier] of earlier studies, one after the other */
    int32_t num_earlier;
};

struct last_run {
    int32_t index; /* of the observation */
    double y;      /* without the slot's offset */
    double noise;  /* as it was estimated then: a changepoint looks like noise at first */
};

struct surface_model {
    const struct kerf_tune_study *study;
    struct arena arena;
    struct surface_setup setup;
    struct scale scale;
    int32_t has_unit; /* 0: all values so far are 0 */
    int32_t num_active;
    int32_t *active; /* [num_active] settings, ascending: the study's of that generation */
    int32_t generation;
    int32_t dims; /* num_active, the drift, offsets of slots, of earlier studies and of levels before the last
                     changepoint, the drift of the first run */
    int32_t num_slots, num_earlier_studies;
    struct changepoints changepoints;
    struct last_run *last; /* [num_active] the last run of each on this level; y NAN: none */
    double *floors;        /* [num_active] of settings with a run that was stopped: surely more than this, without drift
                                    and offsets; -INFINITY: nothing is sure */
    int32_t num_points;
    const struct hyperparameters *hypers; /* [num_points] */
    struct gp *points;                    /* [num_points] */
    double *weights;                      /* [num_points], sum 1 */
    double *work;                         /* [dims] */
    double *
        *normals; /* [num_active + 3], of posterior_draws.c: kept, as they stay the same; the last is their memory */
    int32_t seen; /* observations of the study that are in it */
    int32_t informative; /* of these, those that tell something */
    double clock;        /* of the last one */
    double run_s;        /* of the first one, which is the unit of drift; -1: the number of observations is time */
};

/* A model that was not conditioned on anything yet: surface_update.h does that. */
int32_t surface_model_create(const struct kerf_tune_study *study, const struct surface_setup *setup,
                             struct surface_model **ret_model, struct kerf_error *err);
struct surface_model *surface_model_free(struct surface_model *model);

/* The place of a setting in `active`, -1: it is not modelled. */
int32_t surface_model_find(const struct surface_model *model, int32_t setting);

/* Which of the earlier studies' offsets an earlier observation has, 0 .. num_earlier_studies - 1. */
int32_t surface_model_earlier_study(const struct surface_model *model, int32_t index);

/* Mean and standard deviation of an unknown, on the model's scale. */
void surface_model_moments(const struct surface_model *model, int32_t which, double *ret_mean, double *ret_sd);

/* A setting whose last run on this slot was so odd that it has to be run there once more (changepoint.h); -1: none. */
int32_t surface_model_suspect(const struct surface_model *model, int32_t slot);

/* The standard deviation of the noise, and what the machine drifted by since the first run, as a factor. */
double surface_model_noise(const struct surface_model *model);
double surface_model_drift(const struct surface_model *model);

#endif
