/* SPDX-License-Identifier: Apache-2.0 */
/* The model of all settings: one Gaussian process for each point of the grid of hyperparameters. */
#ifndef KERF_TUNE_SURFACE_MODEL_H
#define KERF_TUNE_SURFACE_MODEL_H

#include <stdint.h>
#include "tune/gaussian_process.h"
#include "tune/history.h"
#include "tune/kernel.h"

enum { SURFACE_DRAWS = 2048, SURFACE_SLOTS_MAX = 64 };
#define SURFACE_CONSTANT 4.0 /* variance of the constant, in variances of f: surface_model.c */

/* ---- Changepoints ------------------------------------------------------------------------------------------------ */

/* Runs with which the machine became faster or slower at once, as when a neighbour came or went or a
 * clock was capped. Between two of them the machine is on one level. */

enum { CHANGEPOINTS_MAX = 6 };

struct changepoints {                 /* all zeros: none */
    int32_t starts[CHANGEPOINTS_MAX]; /* [num] observations that begin a new level, ascending */
    int32_t num;
    int32_t judged;    /* observations before this one begin no level but those of `starts` */
    int32_t suspected; /* 1: a run of `setting` was farther off than noise explains */
    int32_t setting, slot;
    int32_t earliest, latest; /* the level may have begun with: the run after the one before it .. itself */
    double expected, off;     /* of that run, and how far it was from it */
};

/* ---- Isolated values --------------------------------------------------------------------------------------------- */

/* Isolated settings, whose value does not follow from their neighbours: run twice, both times far better than the model
 * had expected, with similar results; or all runs of it are far better than what the model holds it for since. */

enum { ISOLATED_MAX = 16 };

struct isolated {                   /* all zeros: none */
    int32_t settings[ISOLATED_MAX]; /* [num] */
    int32_t num;
    int32_t judged;    /* observations before this one are judged already */
    int32_t suspected; /* 1: the last run of `setting` was far better than expected, and its first */
    int32_t setting, slot;
    double y, expected; /* of that run */
};

/* ---- Steady settings --------------------------------------------------------------------------------------------- */

/* Settings all of whose runs are far longer than what the model holds them for. One may be a spike; these are not, and the
 * surface has a cliff there. */

enum { STEADY_MAX = 32 };

struct steady {                   /* all zeros: none */
    int32_t settings[STEADY_MAX]; /* [num] */
    int32_t num;
    int32_t judged; /* observations before this one are judged already */
};

/* ---- Modes ------------------------------------------------------------------------------------------------------- */

/* A machine whose runs are, by chance, of two kinds: some take longer than the others by one and the same factor,
 * whichever the setting is, as where memory lies on the other node. */

struct modes {            /* all zeros: none */
    double share, slower; /* of the runs that are in the slow mode, and by how much, on the model's scale */
    double noise;         /* standard deviation within a mode */
    int32_t judged;       /* observations before this one are judged already */
    int32_t labelled;     /* those before this one tell of each run which mode it was in */
};

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

/* How good predictions were that were made before a run: z, which is standard normal where the model is right. */

enum score_of { SCORE_NEW, SCORE_AGAIN, SCORE_KINDS }; /* the first run of a setting, and any later one */

struct scores {
    int32_t num[SCORE_KINDS];
    int32_t missed[SCORE_KINDS]; /* outside of an interval of 95 % */
    double squares[SCORE_KINDS]; /* of z, each SCORE_MAX at the most */
};

/* ---- The model --------------------------------------------------------------------------------------------------- */

/* The scale on which objectives are compared: less is better, and the first observation is 0. */
struct scale {
    int32_t logarithmic;
    double sign;   /* -1 where more is better */
    double unit;   /* of a linear scale */
    double origin; /* what the first observation would be without it */
};

double scale_to(const struct scale *scale, double value);
double scale_from(const struct scale *scale, double y);

/* The largest value that is within a share of the best. */
double scale_within(const struct scale *scale, double best, double share);

enum surface_kind {
    SURFACE_CORRELATED, /* near values are correlated: the policy kerf */
    SURFACE_UNRELATED   /* settings are independent: the policy race */
};

/* What a model is made of beside the study. */
struct surface_setup {
    int32_t kind;       /* enum surface_kind */
    int32_t max_points; /* of the grid of hyperparameters */
    struct changepoints changepoints;
    struct isolated isolated;
    struct steady steady;
    struct modes modes;
    const struct kerf_tune_observation *earlier; /* [num_earlier] of earlier studies, one after the other */
    int32_t num_earlier;
    int32_t leaves_out, left_out; /* 1: the model is not conditioned on runs of this setting */
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
    int32_t *active; /* [num_active] settings, in the order of the grid: the study's of that generation */
    int32_t generation;
    int32_t dims; /* num_active, the drift, offsets of slots, of earlier studies and of levels before the last
                     changepoint, the drift of the first run */
    int32_t num_slots, num_earlier_studies;
    struct changepoints changepoints;
    struct isolated isolated;
    struct steady steady;
    struct modes modes;
    int32_t num_repeats;   /* runs of a setting that was run before, on this slot and level */
    int8_t *labels;        /* [modes.labelled] enum gp_mode of each observation; NULL: all unknown */
    struct last_run *last; /* [num_active] the last run of each on this level; y NAN: none */
    struct scores scores;
    double *floors; /* [num_active] of settings with a run that was stopped: surely more than this, without drift
                                    and offsets; -INFINITY: nothing is sure */
    int32_t num_points;
    const struct hyperparameters *hypers; /* [num_points] */
    struct gp *points;                    /* [num_points] */
    double *weights;                      /* [num_points], sum 1 */
    double *work;                         /* [dims] */
    double **normals;       /* [num_active + 3], of posterior_draws.c: which never change; the last owns the memory */
    int32_t seen;           /* observations of the study that are in it */
    int32_t informative;    /* the informative ones among them */
    double clock;           /* of the last one */
    double run_s;           /* of the first one, which is the unit of drift; -1: the number of observations is time */
    const int32_t *pending; /* [num_pending] the caller's, as if they had come out as expected (surface_fantasize) */
    int32_t num_pending;
};

/* A model before any observation; surface_learn.c conditions it. */
int32_t surface_model_create(const struct kerf_tune_study *study, const struct surface_setup *setup,
                             struct surface_model **ret_model, struct kerf_error *err);
struct surface_model *surface_model_free(struct surface_model *model);

/* The place of a setting in `active`, -1: it is not modelled. */
int32_t surface_model_find(const struct surface_model *model, int32_t setting);

/* How many runs of a setting are pending. */
int32_t surface_model_pending(const struct surface_model *model, int32_t setting);

/* Which of the earlier studies' offsets an earlier observation has, 0 .. num_earlier_studies - 1. */
int32_t surface_model_earlier_study(const struct surface_model *model, int32_t index);

/* A setting's own variance, beside the kernel's, in units of the noise's. */
double surface_model_own(const struct surface_model *model, int32_t active);

/* On which level an observation lies, 0 .. changepoints->num. */
int32_t surface_model_level(const struct changepoints *changepoints, int32_t index);

/* The factor by which deviations from predictions are larger than the model says, for settings that were run or not: 1
 * or more, by the scores. */
double surface_model_stretch(const struct surface_model *model, enum score_of kind);

/* Mean and standard deviation of an unknown, on the model's scale. */
void surface_model_moments(const struct surface_model *model, int32_t which, double *ret_mean, double *ret_sd);

/* From 1, where sizes with steps between neighbours are all alike as far as they were tried, to 0, where they vary: then the
 * surface explains itself, and a value that is fast alone is hardly expected. Without the setting `but`; 0 elsewhere. */
double surface_model_flatness(const struct surface_model *model, int32_t but);

/* From 1, where the best that was tried is an isolated value, or all others are alike, to 0; 0 where earlier studies tell of
 * others. */
double surface_model_has_isolated(const struct surface_model *model);

/* The probability that a parameter's values tell little of the ones beside them. */
double surface_model_looseness(const struct surface_model *model);

/* The probability that no setting tells of another although they differ; 0 where earlier studies tell of them. */
double surface_model_disorder(const struct surface_model *model);

/* The point of the mixture at a share of the cumulated weight. */
int32_t surface_model_point(const struct surface_model *model, double share);

/* A setting whose last run on this slot has to be repeated there, because it differs too much from the run before it or
 * from the predictions; -1: none. */
int32_t surface_model_suspect(const struct surface_model *model, int32_t slot);

/* The standard deviation of most runs' noise, and by how much two runs of one setting differ: as repeated ones do
 * (`repeats`, their deviation), but no less than most, and no more than with the rare wide ones, as drift, spikes and a
 * second mode are no noise. */
double surface_model_noise(const struct surface_model *model);
double surface_model_deviation(const struct surface_model *model, double repeats);
/* The drift of the machine since the first run, as a factor. */
double surface_model_drift(const struct surface_model *model);

/* ---- Modes (surface_modes.c) ------------------------------------------------------------------------------------- */

/* The size of a second mode, and the noise without it, as the observations before `until` suggest; 0: they do not. */
int modes_suggested(const struct surface_model *model, int32_t until, struct modes *modes);

/* How often runs are slow is known from a few repeats, and too low a share makes too sure: higher by its standard error. */
double modes_share(const struct modes *modes);

/* In which mode the observation `index` was, by the observations before `until` of its setting: an enum gp_mode. */
int modes_label(const struct surface_model *model, int32_t index, int32_t until);

/* In which mode the model takes it to be: one behind those that were labelled together has its own label. */
int modes_label_of(const struct surface_model *model, int32_t index);

/* How many runs a setting has, where the modes of all are unknown, and their mean on the model's scale; 0: others. */
int32_t modes_unknown(const struct surface_model *model, int32_t setting, double *ret_mean);

/* ---- Conditioning (surface_learn.c) ------------------------------------------------------------------------------ */

/* A model that has seen the earlier studies and nothing else. */
int32_t surface_begin(const struct kerf_tune_study *study, const struct surface_setup *setup,
                      struct surface_model **ret_model, struct kerf_error *err);

/* Why conditioning ended. */
enum learnt { LEARNT, CHANGED, IS_ISOLATED, IS_STEADY, HAS_MODES, RELABELLED };

/* Conditions the model on the study's observations up to num_observations. It ends early before an observation by which
 * there seems to be a changepoint, an isolated value, a steady setting or a second mode, or the mode of an earlier run is
 * another by it: model->seen. */
enum learnt surface_learn(struct surface_model *model, int32_t num_observations);

/* log of the probability of all observations of the model, earlier studies included. */
double surface_log_evidence(const struct surface_model *model);

/* ---- Judging (surface_judge.c) ----------------------------------------------------------------------------------- */

/* What made surface_learn end early, as far as the observations support it: into setup's changepoints, isolated values,
 * steady settings and modes. */
int32_t surface_judge(const struct surface_model *model, enum learnt learnt, struct surface_setup *setup,
                      struct kerf_error *err);

/* ---- Keeping it up to date (surface_update.c) -------------------------------------------------------------------- */

enum { SURFACE_FEW_POINTS = 24 }; /* of the grid of hyperparameters, where evidence alone is asked */

/* Makes *model, or brings it up to date with the study's observations. */
int32_t surface_update(const struct kerf_tune_study *study, int32_t kind, struct surface_model **model,
                       struct kerf_error *err);

/* A copy of the model with less uncertainty and the same means, as if these settings had come out as expected. It lives no
 * longer than `pending`. */
int32_t surface_fantasize(const struct surface_model *model, const int32_t *pending, int32_t num_pending,
                          struct surface_model **ret_model, struct kerf_error *err);

/* What the model would expect of a setting without its own runs: mean and standard deviation, on the model's scale. */
int32_t surface_without(const struct surface_model *model, int32_t setting, double *ret_mean, double *ret_sd,
                        struct kerf_error *err);

/* log of the probability density of the study's values and bounds behind the first, given these observations of earlier
 * studies and that each setting has changed since by `changed`, a standard deviation on the model's scale.
 * A constant of the study is left out. */
int32_t surface_evidence(const struct kerf_tune_study *study, int32_t kind, const struct changepoints *changepoints,
                         const struct kerf_tune_observation *earlier, int32_t num_earlier, double changed,
                         double *ret_evidence, struct kerf_error *err);

/* ---- Proposals (proposals.c) ------------------------------------------------------------------------------------- */

/* Settings of a large space that are not modelled yet and may be the best. */

enum { PROPOSALS_MAX = 96, PROPOSALS_TAKEN = 60 }; /* taken: into the next active set */

struct proposals {
    int32_t settings[PROPOSALS_MAX]; /* [num] open, not modelled, the most promising first */
    int32_t num;
    /* The estimated probability that a setting which is neither modelled nor taken beats the best measured one by more
     * than `within`. NAN: not known. */
    double unseen;
};

/* The model is up to date. A space that is modelled whole has none. study: the model's, which takes in what is met. */
int32_t proposals_find(const struct surface_model *model, struct kerf_tune_study *study,
                       struct proposals *ret_proposals, struct kerf_error *err);

#endif
