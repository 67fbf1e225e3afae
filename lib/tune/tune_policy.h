/* SPDX-License-Identifier: Apache-2.0 */
/* A policy: one file of functions behind a table (tune_study.c), and how it returns what to do. */
#ifndef KERF_TUNE_TUNE_POLICY_H
#define KERF_TUNE_TUNE_POLICY_H

#include "tune/history.h"

struct tune_policy {
    struct kerf_tune_policy about;
    int32_t surface; /* enum surface_kind of its model, and of what is said of the surface where it has none */

    /* The bound on observations where the question has none. */
    int32_t (*max_observations)(const struct kerf_tune_study *study);

    int32_t looks_at_all; /* 1: it needs the whole space, and no large grid */

    /* Make and free `state`; NULL: it has none. */
    int32_t (*begin)(struct kerf_tune_study *study, struct kerf_error *err);
    void (*end)(struct kerf_tune_study *study);

    /* Called after each observation; NULL: `next` does all the work. */
    int32_t (*observed)(struct kerf_tune_study *study, struct kerf_error *err);

    /* Before a part of a large space is chosen anew: fills in the study's `proposed`. NULL: it has no model. */
    int32_t (*propose)(struct kerf_tune_study *study, struct kerf_error *err);

    /* What to do next. Not called without an open setting, nor, of other policies than `kerf`, at the bound on observations. */
    int32_t (*next)(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err);

    /* Fills in what the policy's model knows: probabilities, means, intervals, best, recommended, gain, drift, noise.
     * The plain statistics are there already. NULL: it has no model. */
    int32_t (*estimate)(struct kerf_tune_study *study, struct kerf_tune_answer *answer, struct kerf_error *err);
};

extern const struct tune_policy tune_policy_kerf, tune_policy_race, tune_policy_exhaustive, tune_policy_random,
    tune_policy_halving, tune_policy_best_bub, tune_policy_null;

/* For policies that end by themselves. */
int32_t policy_unbounded(const struct kerf_tune_study *study);

/* Says: measure this, or stop. */
void policy_measure(struct kerf_tune_decision *ret_decision, int32_t setting, double limit, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void policy_stop(struct kerf_tune_decision *ret_decision, int32_t stop, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum { CHANCE_SIZE = 12 };
/* "95.3 %" into a buffer for a reason; ">99.9 %" where the draws are too few to say more. */
const char *policy_chance(double probability, char buffer[CHANCE_SIZE]);

/* Whether a setting is among those that are being measured, and how often it was tried, these included. */
int policy_is_pending(int32_t setting, const int32_t *pending, int32_t num_pending);
int32_t policy_tries(const struct kerf_tune_study *study, int32_t setting, const int32_t *pending, int32_t num_pending);

/* While no setting has worked and there is no model: one of the settings that failed least. */
void policy_try_anything(const struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending,
                         struct kerf_tune_decision *ret_decision);

#endif
