/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants from a table of runs: all of them from a corpus, or those of one site from a few of its rows.
 *
 * A fit of all constants begins with the priors (priors.c), fits what is timed and then memory, and measures how far runs
 * are from constants that were fitted without their group: three folds by model, accelerators, sequence length and
 * precision. That is the spread of each stack, device and kind of model.
 */
#ifndef KERF_SCORE_CALIBRATE_H
#define KERF_SCORE_CALIBRATE_H

#include "score/fit.h"

enum { SETS_MAX = 64 };

struct calibration {
    struct score_constants constants;
    struct fit_report times, memory;
    int32_t rows, refused; /* that were used; that could not be */
    int32_t is_kept; /* of a site: the rows do not make each other's prediction better, and nothing was changed */
    int32_t num_sets;
    char sets[SETS_MAX][KERF_NAME_SIZE];
    double error_before,
        error_after; /* mean |predicted / measured - 1| of the rows used: before the fit, and each by a fit
                                         without it (a site) or without its group (all) */
};

/* What is left out of a fit. */
struct calibrate_without {
    const char *set;     /* rows of this set; NULL */
    int32_t folds, fold; /* rows of this fold of so many; 0: none */
    int32_t salt;        /* another one makes other folds */
};

/* Fits every constant. Where a set is left out there are no spreads, and the error after is not known. */
int32_t calibrate_all(const struct runs *runs, const struct calibrate_without *without, const struct fit_watch *watch,
                      struct calibration *ret_calibration, struct kerf_error *err);

/* Each row predicted by constants that were fitted without its group (folds of 2 and more), or without its set (folds 0). */
int32_t calibrate_predict_apart(const struct runs *runs, int32_t folds, const struct fit_watch *watch,
                                struct prediction *ret_predictions, struct kerf_error *err);

/* A run that is not of a table: a log with its launch. */
struct calibrate_logged {
    const struct kerf_problem *problem; /* without system and stack */
    struct kerf_layout layout;
    const char *stack;
    double step_s;
};

/* Fits a site of this system, and of this stack (NULL: each row's own), from constants that are there already: from the
 * rows of a table and a log (NULL: none). */
int32_t calibrate_site(const struct runs *runs, const struct calibrate_logged *logged,
                       const struct score_constants *from, const char *system, const char *stack,
                       struct calibration *ret_calibration, struct kerf_error *err);

#endif
