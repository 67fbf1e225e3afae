/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of a space that is too large to be modelled as a whole: what was measured, the neighbours of the fastest, what
 * was expected to be fast, and for the rest settings at random, other ones each time. An answer "within 3 % of the best"
 * then means the best of the settings that were looked at.
 */
#include "tune/active_set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tune/kernel.h"
#include "tune/known_settings.h"
#include "tune/param.h"

enum {
    MEASURED_MAX = 100,
    LEADERS = 4,
    NEAR_MAX = 60, /* neighbours of the default and the leaders, to the last whole set of them */
    PROPOSED_MAX = 60,
    EXPECTED_MAX = 30,
    RANDOM_MIN = 20, /* what proposals leave */
    WORDS_MAX = 8,
    TRIES = 20,
    ROUNDED_BITS = 7
};

struct choice {
    struct kerf_tune_study *study;
    unsigned char *taken; /* [the space's capacity] */
    int32_t count, *values;
};

static void take(struct choice *choice, int32_t setting) {
    if (setting < 0 || choice->taken[setting] || choice->count >= ACTIVE_MAX) return;
    choice->taken[setting] = 1;
    choice->count++;
}

static void take_open(struct choice *choice, int32_t setting) {
    if (setting >= 0 && history_is_open(choice->study, setting)) take(choice, setting);
}

static double rank_of(const struct kerf_tune_study *study, int32_t setting) {
    const struct tally *tally = &study->tallies[setting];
    if (tally->values == 0) return tally->censored ? INFINITY : NAN;
    return study->question.maximize ? -tally->mean : tally->mean;
}

/* The measured setting that comes behind (rank, setting) in order; -1: none. */
static int32_t next_best(const struct kerf_tune_study *study, double rank, int32_t setting) {
    int32_t best = -1;
    double best_rank = INFINITY;
    for (int32_t run = 0; run < study->num_observations; run++) {
        int32_t i = study->observations[run].setting;
        double own = rank_of(study, i);
        if (isnan(own) || own < rank || (own == rank && tune_space_compare(study->space, i, setting) <= 0)) continue;
        if (best < 0 || own < best_rank || (own == best_rank && tune_space_compare(study->space, i, best) < 0))
            best = i, best_rank = own;
    }
    return best;
}

static void take_neighbours(struct choice *choice, int32_t setting) {
    const struct kerf_tune_space *space = choice->study->space;
    const int32_t *values = setting_values(space, setting);
    memcpy(choice->values, values, (size_t)space->num_params * sizeof *values);
    for (int32_t k = 0; k < space->num_params; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        int32_t reach = kernel_is_ordered(param) ? 2 : WORDS_MAX;
        for (int32_t to = values[k] - reach; to <= values[k] + reach; to++) {
            if (to < 0 || to >= param->num_values) continue;
            choice->values[k] = to;
            take_open(choice, known_settings_meet(choice->study, choice->values));
        }
        choice->values[k] = values[k];
    }
}

static void take_expected(struct choice *choice) {
    const double *prior = choice->study->question.prior_log;
    double sign = choice->study->question.maximize ? -1 : 1, last = -INFINITY;
    for (int32_t round = 0; prior && round < EXPECTED_MAX; round++) {
        int32_t best = -1;
        for (int32_t i = 0; i < choice->study->space->num_settings; i++)
            if (sign * prior[i] > last && (best < 0 || sign * prior[i] < sign * prior[best])) best = i;
        if (best < 0) return;
        last = sign * prior[best];
        take_open(choice, best);
    }
}

/* The setting near this one whose values are multiples of powers of two, drawn for each axis: plain draws contain few
 * multiples, and they are needed where tiles or pages matter. -1: it is not in the space. */
static int32_t rounded(struct choice *choice, int32_t setting, struct pcg64 *rng) {
    const struct kerf_tune_space *space = choice->study->space;
    memcpy(choice->values, setting_values(space, setting), (size_t)space->num_params * sizeof *choice->values);
    for (int32_t k = 0; k < space->num_params; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        int64_t by = (int64_t)1 << random_to(rng, ROUNDED_BITS);
        int32_t i = choice->values[k];
        if (param->kind != KERF_TUNE_INTEGER) continue;
        while (i < param->num_values && param->integers[i] % by) i++;
        if (i < param->num_values) choice->values[k] = i;
    }
    return known_settings_meet(choice->study, choice->values);
}

static void take_at_random(struct choice *choice) {
    struct kerf_tune_study *study = choice->study;
    struct pcg64 rng = random_seed((uint64_t)study->question.seed * 1000003 + (uint64_t)study->turn);
    for (int tries = 0; tries < TRIES * ACTIVE_MAX && choice->count < ACTIVE_MAX; tries++) {
        int32_t setting = known_settings_meet_at_random(study, &rng);
        if (setting >= 0) take_open(choice, tries % 2 ? rounded(choice, setting, &rng) : setting);
    }
}

/* The slow settings that were measured come before the neighbours of fast ones: without them the model takes what is beside
 * slow settings for ordinary. */
static void choose(struct choice *choice) {
    const struct kerf_tune_study *study = choice->study;
    double rank = -INFINITY;
    int32_t setting = -1, leaders[LEADERS], num_leaders = 0;
    take_open(choice, study->space->default_setting);
    while (choice->count < MEASURED_MAX && (setting = next_best(study, rank, setting)) >= 0) {
        rank = rank_of(study, setting);
        take(choice, setting);
        if (num_leaders < LEADERS) leaders[num_leaders++] = setting;
    }
    int32_t near = choice->count + NEAR_MAX;
    if (study->space->default_setting >= 0) take_neighbours(choice, study->space->default_setting);
    for (int32_t i = 0; i < num_leaders && choice->count < near; i++) take_neighbours(choice, leaders[i]);
    for (int32_t i = 0; i < study->num_earlier && choice->count < MEASURED_MAX; i++)
        take_open(choice, study->earlier[i].setting);
    int32_t full = choice->count + PROPOSED_MAX;
    if (full > ACTIVE_MAX - RANDOM_MIN) full = ACTIVE_MAX - RANDOM_MIN;
    for (int32_t i = 0; i < study->num_proposed && choice->count < full; i++) take_open(choice, study->proposed[i]);
    take_expected(choice);
    take_at_random(choice);
}

static int by_place(const void *a, const void *b, void *context) {
    return tune_space_compare(context, *(const int32_t *)a, *(const int32_t *)b);
}

static int choose_anew(struct kerf_tune_study *study) {
    int32_t num_settings = study->space->num_settings, count = num_settings < ACTIVE_MAX ? num_settings : ACTIVE_MAX;
    int32_t at = 0;
    if (study->active == NULL) study->active = arena_alloc(&study->arena, (size_t)count, sizeof *study->active);
    struct choice choice = {study, calloc((size_t)kerf_tune_space_capacity(study->space), 1), 0,
                            calloc((size_t)study->space->num_params, sizeof(int32_t))};
    int good = study->active && choice.taken && choice.values;
    if (good && count < num_settings) choose(&choice);
    for (int32_t i = 0; good && i < study->num_known; i++)
        if (choice.taken[i] || count == num_settings) study->active[at++] = i;
    if (good && at == 0) study->active[at++] = 0; /* no setting is open, but a model needs one */
    assert(!good || (at > 0 && at <= count));
    if (good) qsort_r(study->active, (size_t)at, sizeof *study->active, by_place, (void *)(uintptr_t)study->space);
    study->num_active = at;
    free(choice.taken);
    free(choice.values);
    return good;
}

/* A new set with the 4th, 8th, 12th, 16th, 24th, 32nd, ... informative observation. */
static int32_t turn_of(int32_t informative) { return informative < 16 ? informative / 4 : 2 + informative / 8; }

int active_set_is_due(const struct kerf_tune_study *study) {
    return study->num_active < study->space->num_settings && turn_of(history_informative(study)) != study->turn;
}

/* The last run was of a setting that is not modelled, as one that a precaution or the caller chose. */
static int leaves_out_last(const struct kerf_tune_study *study) {
    const struct kerf_tune_observation *last =
        study->num_observations > 0 ? &study->observations[study->num_observations - 1] : NULL;
    if (last == NULL || !observation_is_informative(last)) return 0;
    for (int32_t i = 0; i < study->num_active; i++)
        if (study->active[i] == last->setting) return 0;
    return 1;
}

int active_set_update(struct kerf_tune_study *study) {
    int is_whole = study->num_active == study->space->num_settings;
    if (study->active && (is_whole || (!active_set_is_due(study) && !leaves_out_last(study)))) return 1;
    study->generation++;
    study->turn = turn_of(history_informative(study));
    return choose_anew(study);
}
