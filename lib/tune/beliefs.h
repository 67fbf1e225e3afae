/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy with a model believes after the observations so far: the model, draws from it, and their leader. */
#ifndef KERF_TUNE_BELIEFS_H
#define KERF_TUNE_BELIEFS_H

#include "tune/joint_draws.h"

struct beliefs { /* all zeros: nothing yet */
    struct surface_model *model;
    struct joint_draws *draws; /* after `drawn` observations that tell something, with `drawn_open` settings open */
    int32_t drawn, drawn_open;
};

/* 1 while no run has given a number, so that there is nothing to believe. */
int beliefs_none(const struct kerf_tune_study *study);

/* Brings them up to date. */
int32_t beliefs_update(struct beliefs *beliefs, const struct kerf_tune_study *study, int32_t kind,
                       struct kerf_error *err);

/* Draws that take the settings in `pending` to be measured. */
int32_t beliefs_pretend(const struct beliefs *beliefs, const int32_t *pending, int32_t num_pending,
                        struct surface_model **ret_model, struct joint_draws **ret_draws, struct kerf_error *err);
void beliefs_free(struct beliefs *beliefs);

/* The setting that is most probably within `within` of the best, whether it was measured or not: index into
 * draws->at. */
int32_t beliefs_leader(const struct joint_draws *draws);
int32_t beliefs_setting(const struct joint_draws *draws, int32_t i); /* the setting behind an index */

/* Where a run is stopped: on the model's scale, and in the objective's unit; INFINITY and 0 where none is. */
double beliefs_cut(const struct joint_draws *draws);
double beliefs_limit(const struct joint_draws *draws);

/* Whether noise is so large that the bound on observations will be reached before settings that are `share` apart can
 * be told apart. */
int beliefs_hopeless(const struct joint_draws *draws, double share, int32_t bound, double *ret_noise);

/* Writes them into the answer and the study's estimates. */
int32_t beliefs_answer(struct beliefs *beliefs, struct kerf_tune_study *study, int32_t kind,
                       struct kerf_tune_answer *answer, struct kerf_error *err);

#endif
