/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of all runs that could be next, the one whose outcome is most correlated with the answer. With W = 1 in the draws
 * where the statement holds, x a setting and y_x = f(x) + drift + e the outcome of its next run,
 *
 *     corr^2 = cov(f(x) + drift, W)^2 / ((var(f(x) + drift) + s^2) var W),
 *
 * which is the share of W's variance that the best linear guess from y_x takes away. All of it comes from existing
 * draws. Where only the leader and one rival matter, it alternates between them and takes the one that is known less;
 * it takes a neighbour where that tells more; and early on it goes where a better setting may hide. What drift has in
 * common with W is counted too, so that under drift the leader is measured again when the machine may have changed.
 * Where the objective is a time, corr^2 is divided by what the run is expected to take: of two that tell as much the
 * shorter one is better.
 */
#include "tune/posterior_draws.h"

#include <assert.h>
#include <math.h>

struct moments {
    double mean, var, cov;
};

static struct moments moments_of(const struct posterior_draws *draws, int32_t i, const unsigned char *holds,
                                 double share, double cut) {
    double sum = 0, square = 0, with = 0;
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) {
        double run = draws->y[(int64_t)i * SURFACE_DRAWS + k] + draws->drift[k], y = run < cut ? run : cut;
        sum += y;
        square += y * y;
        with += y * (holds[k] - share);
    }
    double mean = sum / SURFACE_DRAWS;
    return (struct moments){mean, fmax(square / SURFACE_DRAWS - mean * mean, 0), with / SURFACE_DRAWS};
}

int32_t acquisition_best(const struct posterior_draws *draws, const unsigned char *holds, const unsigned char *may,
                         double cut) {
    double share = 0, noise = 0, shortest = 0, best_score = -1, best_var = -1;
    int32_t best = -1, unknown = -1, costs = draws->model->scale.logarithmic && draws->model->study->question.is_time;
    for (int32_t k = 0; k < SURFACE_DRAWS; k++) {
        share += holds[k];
        noise += draws->noise[k] * draws->noise[k];
        shortest += (draws->best[k] + draws->drift[k]) / SURFACE_DRAWS;
    }
    share /= SURFACE_DRAWS;
    noise /= SURFACE_DRAWS;
    for (int32_t i = 0; i < draws->num; i++) {
        if (may && !may[i]) continue;
        struct moments of = moments_of(draws, i, holds, share, cut);
        double score = of.cov * of.cov / (of.var + noise);
        if (costs) score /= exp(of.mean - shortest);
        if (score > best_score) best_score = score, best = i;
        if (of.var > best_var || unknown < 0) best_var = of.var, unknown = i;
    }
    return best_score > 0 ? best : unknown;
}

/* ---- Repetitions --------------------------------------------------------------------------------------------- */

/*
 * Where many settings lie on a smooth surface, their distance from it tells how large the noise is. A few settings, each
 * run once, do not tell it: a model would be as sure as its prior. So OF_FEW runs of few settings, and OF_MANY of many,
 * must be repetitions, of the leader and its nearest rival in turn. Words stand for themselves alone: if the machine has
 * two modes, the run that rules one out may have been a slow one, and no neighbour tells. So OF_WORDS runs are
 * repetitions there, of as many of the leader's rivals as there are.
 */
enum { FEW = 12, OF_FEW = 3, OF_MANY = 1, OF_WORDS = 6, WORDS_FROM = 3 };

/* How often a setting was measured, or is pending. */
static int32_t runs_of(const struct surface_model *model, int32_t setting) {
    return model->study->tallies[setting].values + surface_model_pending(model, setting);
}

/* The most probable of those that were run; `once`: of those that were run once, where there are any. */
static int32_t nearest_rival(const struct posterior_draws *draws, int32_t leader, int once) {
    int32_t rival = leader;
    for (int32_t i = 0; i < draws->num; i++) {
        int32_t runs = runs_of(draws->model, posterior_draws_setting(draws, i));
        if (i == leader || runs == 0 || (once && runs > 1)) continue;
        if (rival == leader || draws->within[i] > draws->within[rival]) rival = i;
    }
    return rival;
}

static int has_words(const struct kerf_tune_space *space) {
    for (int32_t k = 0; k < space->num_params; k++)
        if (!kernel_is_ordered(&space->params[k]) && space->params[k].num_values >= WORDS_FROM) return 1;
    return 0;
}

int32_t acquisition_repeat(const struct posterior_draws *draws, int32_t leader) {
    const struct kerf_tune_study *study = draws->model->study;
    int words = has_words(study->space) && study->num_open <= FEW;
    int32_t wanted = words ? OF_WORDS : study->num_open <= FEW ? OF_FEW : OF_MANY;
    for (int32_t i = 0; i < study->space->num_settings; i++) {
        int32_t again = runs_of(draws->model, i) - 1;
        if (again > 0) wanted -= words ? 1 : again;
    }
    if (wanted <= 0) return -1;
    int32_t nearest = nearest_rival(draws, leader, words), setting = posterior_draws_setting(draws, leader),
            rival = posterior_draws_setting(draws, nearest);
    if (words && nearest == leader)
        return runs_of(draws->model, setting) <= OF_FEW ? setting : -1; /* no other is left */
    return words || runs_of(draws->model, rival) < runs_of(draws->model, setting) ? rival : setting;
}

double acquisition_supported(const struct kerf_tune_study *study) {
    static const double most[OF_FEW] = {0.7, 0.8, 0.9};
    int32_t again = 0;
    if (study->num_open > FEW || study->num_open == 1 || study->num_earlier > 0) return 1;
    for (int32_t i = 0; i < study->space->num_settings; i++)
        if (study->tallies[i].values > 1) again += study->tallies[i].values - 1;
    return again < OF_FEW ? most[again] : 1;
}
