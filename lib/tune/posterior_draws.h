/* SPDX-License-Identifier: Apache-2.0 */
/* Joint draws from the posterior of all settings that may be the best, and which run tells most by them. */
#ifndef KERF_TUNE_POSTERIOR_DRAWS_H
#define KERF_TUNE_POSTERIOR_DRAWS_H

#include "tune/surface_model.h"

enum { DRAW_POINTS = 64, DRAWN_MAX = 128 };

struct posterior_draws {
    struct arena arena;
    const struct surface_model *model;
    int32_t num;     /* settings drawn; none of the others can be the best, */
    int32_t is_cut;  /* unless there were more than could be drawn */
    int32_t *at;     /* [num] indexes into the model's active settings */
    double *y;       /* [num][SURFACE_DRAWS] */
    double *drift;   /* [SURFACE_DRAWS] of the next run */
    double *noise;   /* [SURFACE_DRAWS] its standard deviation */
    double *best;    /* [SURFACE_DRAWS] least y */
    double isolated; /* how probable it is that one value among those that were not tried is better all the same */
    double seen;     /* how probable it is that neither such a value nor one outside of the model is */
    double *within;  /* [num] probability to be within the question's `within` of the best */
    double *within_margin;
};

/* With `also` (active indexes, -1: none) drawn in any case. */
int32_t posterior_draws_make(const struct surface_model *model, const int32_t *also, int32_t num_also,
                             struct posterior_draws **ret_draws, struct kerf_error *err);
struct posterior_draws *posterior_draws_free(struct posterior_draws *draws);

int32_t posterior_draws_setting(const struct posterior_draws *draws, int32_t i);   /* the setting behind an index */
int32_t posterior_draws_find(const struct posterior_draws *draws, int32_t active); /* -1: it was not drawn */

/* How probable it is that a setting that was not drawn is within `share` of the best: as if it told nothing of the others. */
double posterior_draws_outside(const struct posterior_draws *draws, int32_t active, double share);

/* ---- Plain means ------------------------------------------------------------------------------------------------- */

/* Where settings have nothing in common or noise is large, no more is known than their own means tell. */
struct plain_means {
    double variance, freedom; /* of repeated runs, relative to their means */
};

/* 0 where the model tells more. */
int posterior_means(const struct posterior_draws *draws, struct plain_means *ret_means);

/* By them, how probable it is that the one setting, which was measured as the other one was, is worse than it by more than
 * `share`. */
double posterior_ahead(const struct posterior_draws *draws, const struct plain_means *means, int32_t setting,
                       int32_t other, double share);

/* How often a doubt counts, as a study looks again and again until luck agrees: once more each time that the runs of so many
 * settings doubled. */
double posterior_looks(const struct kerf_tune_study *study, int32_t num_settings);

/* ---- Acquisition (acquisition.c): which run tells most ----------------------------------------------------------- */

/* The drawn setting whose next run tells most about `holds` [SURFACE_DRAWS], the draws in which a statement holds: an
 * index into draws->at, of those that `may` [num] (NULL: all). A run is stopped at `cut`, on the model's scale. Where
 * no run tells anything, the setting that is least known. */
int32_t acquisition_best(const struct posterior_draws *draws, const unsigned char *holds, const unsigned char *may,
                         double cut);

/* The setting to run once more, so that the noise is known, before `leader` (index into draws->at, measured) may be the
 * answer; -1: enough runs were repeated. */
int32_t acquisition_repeat(const struct posterior_draws *draws, int32_t leader);

/* The most that may be said of a few settings as long as fewer runs were repeated than that: a model that has not seen two
 * runs of one setting is as sure as its prior of the noise. Two settings with as much noise as they differ were right in 65
 * to 72 % after a run each, at a stated 96 %, and in 76 to 84 % after one more. */
double acquisition_supported(const struct kerf_tune_study *study);

#endif
