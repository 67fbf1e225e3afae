/* SPDX-License-Identifier: Apache-2.0 */
/* What a study was asked and what it has observed so far: everything that a decision is made from. */
#ifndef KERF_TUNE_HISTORY_H
#define KERF_TUNE_HISTORY_H

#include "base/arena.h"
#include "base/random.h"
#include "kerf/tune.h"
#include "tune/param.h"
#include "tune/preference.h"

/* The observations of one setting. */
struct tally {
    int32_t values, censored, failed; /* tries is their sum */
    int32_t in_a_row;                 /* failures since it worked last */
    int32_t tries;                    /* all observations that count, failures too */
    double mean, squares;             /* of the values: Welford */
    double bound;                     /* the largest one at which a run was stopped */
    const char *skipped;              /* why it must not be measured; NULL: it may */
    int32_t is_ruled_out;             /* 1: as memory lacked for another one, which needs no more */
    const char *rules_out; /* memory lacked for it: why those that need as much are skipped; NULL: it did not */
    int32_t failure;       /* the last one */
};

struct tune_policy;
struct pareto;

struct kerf_tune_study {
    struct arena arena;
    struct kerf_tune_question question; /* its arrays are copies, but for the space */
    const struct kerf_tune_space *space;
    const struct tune_policy *policy;
    void *state; /* the policy's */
    struct preference preference;

    const int64_t *sizes; /* [num_sizes] of the machine */
    int32_t num_sizes;

    struct kerf_tune_observation *observations; /* [num_observations] */
    int32_t num_observations, capacity;
    int32_t num_disturbed, num_failed;    /* of all observations */
    int32_t num_censored, num_values;     /* of those that count */
    struct tally *tallies;                /* [num_known], with room for the space's capacity */
    unsigned char grows[TUNE_PARAMS_MAX]; /* 1: an integer of which one step alone was too much for the memory */
    unsigned char falls[TUNE_PARAMS_MAX]; /* 1: an integer that more memory does not go with (exclusion.c) */
    int32_t num_known;                    /* settings that were taken in: all, or those of a large grid that were met */
    int32_t num_open;                     /* of these, settings that may be measured */

    struct kerf_tune_observation *earlier; /* [num_earlier] those of the question that still count (posterior.h) */
    int32_t num_earlier, num_dropped;      /* num_dropped: earlier studies that no longer hold */

    int32_t *active; /* [num_active] settings that are modelled, in the order of the grid (active_set.c) */
    int32_t num_active, generation; /* generation: counts the sets of active settings */
    int32_t turn;                   /* the last at which the set was due */
    int32_t *proposed; /* [num_proposed] settings that the policy's model wants in the next active set (proposals.c) */
    int32_t num_proposed;
    double unseen; /* how probable a better one outside of it is; NAN: not known */

    struct kerf_tune_estimate *estimates; /* [num_known], likewise, filled by the answer */
    struct kerf_tune_modes modes;         /* of the last answer */
    struct arena importance;              /* of the last kerf_tune_study_importance */
    struct kerf_tune_study *second;       /* the same settings and runs with another objective; NULL: there is one */
    struct pareto *pareto;                /* of both */
};

/* 1 for an observation that says something about its setting's objective. */
static inline int observation_is_informative(const struct kerf_tune_observation *o) {
    return !o->warmup && !o->disturbed && o->outcome != KERF_TUNE_FAILED;
}

/* How many of the study's observations do. */
static inline int32_t history_informative(const struct kerf_tune_study *study) {
    return study->num_values + study->num_censored;
}

int history_is_open(const struct kerf_tune_study *study, int32_t setting);

/* Whether an observation gives a number of a setting that may be measured. */
int history_tells(const struct kerf_tune_study *study, const struct kerf_tune_observation *o);

/* Excludes a setting from measurement; a setting that is excluded already keeps its first reason. The reason lives as
 * long as the study. */
void history_exclude(struct kerf_tune_study *study, int32_t setting, const char *reason);

/* Adds an observation that was checked. 0: no memory. */
int history_add(struct kerf_tune_study *study, const struct kerf_tune_observation *observation);

/* What a setting's own observations say, without a model: the mean, and an interval by Student's t of two or more. */
struct kerf_tune_estimate history_estimate(const struct kerf_tune_study *study, int32_t setting);

/* How much runs of one setting differ, relative to their mean, over all settings; NAN without repeats. */
double history_noise(const struct kerf_tune_study *study);

/* Whether repeated runs agree to the last bit: the program has no noise. */
int history_is_exact(const struct kerf_tune_study *study);

/* Random numbers that depend on the seed and the number of observations alone, so that a study can be resumed. */
struct pcg64 history_random(const struct kerf_tune_study *study);

/* "batch=512,ubatch=128" into a buffer for a reason, cut to its size. */
const char *history_setting(const struct kerf_tune_study *study, int32_t setting, char *buffer, size_t size);

#endif
