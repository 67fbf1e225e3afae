/* SPDX-License-Identifier: Apache-2.0 */
/* A study in memory, and what a policy is: one file of functions behind a table, registered in tune_policies.c. */
#ifndef KERF_TUNE_STUDY_H
#define KERF_TUNE_STUDY_H

#include "base/arena.h"
#include "base/random.h"
#include "kerf/tune.h"

/* What was seen of one setting. */
struct tally {
    int32_t values, censored, failed;
    int32_t in_a_row;     /* the last so many all failed */
    int32_t tries;        /* all observations that count, failures too */
    double mean, squares; /* of the values: Welford */
    double most;          /* the largest bound at which a run was stopped */
    const char *skipped;  /* why it must not be measured; NULL: it may */
    int32_t is_ruled_out; /* 1: because there was no memory for another one, which needs no more */
    int32_t failure;      /* the last one */
};

struct kerf_tune_study {
    struct arena arena;
    struct kerf_tune_question question; /* its arrays are the study's own, but for the space */
    const struct kerf_tune_space *space;
    const struct tune_policy *policy;
    struct kerf_tune_observation *observations; /* [num_observations] */
    int32_t num_observations, capacity;
    int32_t num_disturbed, num_failed; /* of all observations */
    int32_t num_censored, num_values;  /* of those that count */
    struct tally *tallies;             /* [num_settings] */
    int32_t *active;                   /* [num_active] settings that are modelled, ascending: tune/active.h */
    int32_t num_active, generation;
    int32_t num_open;      /* settings that may be measured */
    int32_t *preferred;    /* [num_preferred]: parameters, by which settings are put in order */
    int32_t *preferred_up; /* [num_preferred]: 1: larger first */
    int32_t num_preferred;
    void *state;                          /* the policy's */
    struct kerf_tune_estimate *estimates; /* [num_settings], filled by the answer */
};

struct tune_policy {
    struct kerf_tune_policy about;

    /* The most observations it takes when the question does not say. */
    int32_t (*most)(const struct kerf_tune_study *study);

    /* Gives and takes back `state`; NULL: it has none. */
    int32_t (*begin)(struct kerf_tune_study *study, struct kerf_error *err);
    void (*end)(struct kerf_tune_study *study);

    /* What to do next. Neither the bound on observations nor a study without an open setting comes here. */
    int32_t (*next)(struct kerf_tune_study *study, const int32_t *pending, int32_t num_pending, int32_t slot,
                    struct kerf_tune_decision *ret_decision, struct kerf_error *err);

    /* Fills what the policy's model knows: probabilities, means, intervals, best, recommended, gain, drift, noise. The
     * plain statistics are there already. NULL: it has no model. */
    int32_t (*estimate)(struct kerf_tune_study *study, struct kerf_tune_answer *answer, struct kerf_error *err);
};

const struct tune_policy *tune_policy_find(const char *name); /* NULL: there is none; of NULL the default */

extern const struct tune_policy tune_policy_kerf, tune_policy_race, tune_policy_exhaustive, tune_policy_random,
    tune_policy_halving, tune_policy_best_bub, tune_policy_null;

int tune_is_open(const struct kerf_tune_study *study, int32_t setting);

/* Random numbers that depend on the seed and the number of observations alone, so that a study can be resumed. */
struct pcg64 tune_random(const struct kerf_tune_study *study);

/* Says: measure this, or stop. */
void tune_measure(struct kerf_tune_decision *ret_decision, int32_t setting, double limit, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void tune_stop(struct kerf_tune_decision *ret_decision, int32_t stop, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "batch=512,ubatch=128" into a buffer for a reason. */
const char *tune_words(const struct kerf_tune_study *study, int32_t setting, char *buffer, size_t size);

enum { CHANCE_SIZE = 12 };
/* "95.3 %" into a buffer for a reason; ">99.9 %" where draws tell no more. */
const char *tune_chance(double probability, char buffer[CHANCE_SIZE]);

/* Below 0 where a is preferred to b, above 0 where b is; 0 only of a setting and itself. */
int tune_prefers(const struct kerf_tune_study *study, int32_t a, int32_t b);

int32_t tune_no_memory(struct kerf_error *err);

#endif
