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

/* ---- Precautions (precautions.c) --------------------------------------------------------------------------------- */

/* What has to be run before an answer counts, although the model is sure already, and is not pending. Each returns a
 * setting, -1: none. */

/* An open setting that was never tried. */
int32_t precaution_untried(const struct surface_model *model);

/* A setting one step beside this one on an axis, with a value that was not tried yet. The surface may have a kink there
 * that a smooth model does not expect, and one run shows it. */
int32_t precaution_beside(const struct surface_model *model, int32_t of);

/* What else may be better although the model does not expect it; ret_why says it in words.
 *
 * - This setting with a size of the machine as the value of a parameter, which was not tried there yet and is not expected
 *   to be far slower. A value can be fast there although none beside it is: threads that share a node evenly.
 * - The middle of the gap between two tried values of a parameter, of which the one is near to this setting and the other
 *   far slower, and more so than beyond it: a step, behind as many threads as cores, and the best may be just before it.
 * - A value of a parameter behind a wall, with an end of another parameter or another of its words: memory that is full
 *   beside one context may not be beside a shorter one.
 * - The next tried setting on either side, where it is slower by 6 to 28 % and was run once, or twice before a cliff: on a
 *   machine of two modes those may have been slow runs.
 * - One that was run once, at least 10 % slower than this setting, and might be as fast by all that the others tell of it.
 * - One that was once faster than this setting ever was, and was run less than five times. */
int32_t precaution_at(struct kerf_tune_study *study, const struct surface_model *model, int32_t of,
                      const char **ret_why);

/* The setting that was measured first, the default, unless it was measured again after the leader: if the machine
 * became faster meanwhile, later settings look better, and the first run may have been a cold one. Again after a run that is a
 * quarter faster than all before of its setting. Not where that was tried often enough. */
int32_t precaution_anchor(const struct surface_model *model, int32_t leader);

/* Whether the machine has changed since this setting was last measured, and it is not pending: that the machine is faster or
 * slower now, and the setting still the best, is then the model's belief alone. */
int precaution_is_outdated(const struct surface_model *model, int32_t leader);

/* ---- Earlier studies --------------------------------------------------------------------------------------------- */

/* The setting to measure so that earlier studies are tested at two settings far from each other; -1: they were, or
 * there is nothing to test. */
int32_t earlier_test_setting(const struct kerf_tune_study *study);

#endif
