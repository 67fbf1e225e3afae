/* SPDX-License-Identifier: Apache-2.0 */
/* The posterior after the observations so far: the model, draws from it, their leader, and the answer. */
#ifndef KERF_TUNE_POSTERIOR_H
#define KERF_TUNE_POSTERIOR_H

#include "tune/posterior_draws.h"
#include "tune/surface_model.h"

struct posterior { /* all zeros: nothing yet */
    struct surface_model *model;
    struct posterior_draws *draws;            /* made after `drawn` informative observations, */
    int32_t drawn, drawn_open, drawn_earlier; /* with so many open settings and earlier observations */
};

/* 1 while no run has given a number: nothing is known yet. */
int posterior_is_empty(const struct kerf_tune_study *study);

/* Brings them up to date. */
int32_t posterior_update(struct posterior *posterior, const struct kerf_tune_study *study, int32_t kind,
                         struct kerf_error *err);

/* After each observation: drops earlier studies that it contradicts. */
int32_t posterior_observed(struct posterior *posterior, struct kerf_tune_study *study, int32_t kind,
                           struct kerf_error *err);

/* Draws as if the settings in `pending` had come out as expected. */
int32_t posterior_fantasize(const struct posterior *posterior, const int32_t *pending, int32_t num_pending,
                            struct surface_model **ret_model, struct posterior_draws **ret_draws,
                            struct kerf_error *err);
void posterior_free(struct posterior *posterior);

/* The setting that is most probably within `within` of the best, whether it was measured or not: index into
 * draws->at. */
int32_t posterior_leader(const struct posterior_draws *draws);

/* The first setting by the question's preference that comes before the leader and may be equivalent, an index into
 * draws->at; -1: none is left. It is accepted when its within_margin reaches the confidence and it was measured. */
int32_t posterior_candidate(const struct posterior_draws *draws, int32_t leader);

/* The preferred one of the accepted settings: an index into draws->at; the leader where none is accepted. */
int32_t posterior_accepted(const struct posterior_draws *draws, int32_t leader);

/* Where a run is stopped: on the model's scale, and in the objective's unit; INFINITY and 0 where none is. */
double posterior_cut(const struct posterior_draws *draws);
double posterior_limit(const struct posterior_draws *draws);

/* Whether the bound on observations will be reached before settings that differ by `share` can be told apart, because
 * of noise. */
int posterior_hopeless(const struct posterior_draws *draws, double share, int32_t bound, double *ret_noise);

/* Writes them into the answer and the study's estimates. */
int32_t posterior_answer(struct posterior *posterior, struct kerf_tune_study *study, int32_t kind,
                         struct kerf_tune_answer *answer, struct kerf_error *err);

/* ---- Earlier studies --------------------------------------------------------------------------------------------- */

/* The setting to measure so that earlier studies are tested at two settings far from each other; -1: they were, or
 * there is nothing to test. */
int32_t earlier_test_setting(const struct kerf_tune_study *study);

#endif
