/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of all runs that could be next, the one whose outcome is most correlated with the answer. With W = 1 in the draws
 * where the statement holds, x a setting and y_x = f(x) + drift + e the outcome of its next run,
 *
 *     corr^2 = cov(f(x) + drift, W)^2 / ((var(f(x) + drift) + s^2) var W),
 *
 * which is the share of W's variance that the best linear guess from y_x takes away. All of it comes from draws that
 * are there already. Where the leader and one rival are all that matters it alternates between them by who is known
 * less; it goes to a neighbour where that says more; and early on it goes where a better setting may hide. What drift
 * has in common with W is counted too, so that under drift the leader is measured again when the machine may have
 * changed. Where the objective is a time, corr^2 is divided by what the run is expected to take: of two that tell as
 * much the shorter one is better.
 */
#include "tune/informative.h"

#include <math.h>

struct moments {
    double mean, var, cov;
};

static struct moments moments_of(const struct joint_draws *draws, int32_t i, const unsigned char *holds, double share,
                                 double cut) {
    double sum = 0, square = 0, with = 0;
    for (int32_t k = 0; k < DRAWS; k++) {
        double run = draws->y[(int64_t)i * DRAWS + k] + draws->drift[k], y = run < cut ? run : cut;
        sum += y;
        square += y * y;
        with += y * (holds[k] - share);
    }
    double mean = sum / DRAWS;
    return (struct moments){mean, fmax(square / DRAWS - mean * mean, 0), with / DRAWS};
}

int32_t most_informative(const struct joint_draws *draws, const unsigned char *holds, const unsigned char *may,
                         double cut) {
    double share = 0, noise = 0, shortest = 0, best_score = -1, best_var = -1;
    int32_t best = -1, unknown = -1, costs = draws->model->scale.logarithmic && draws->model->study->question.is_time;
    for (int32_t k = 0; k < DRAWS; k++) {
        share += holds[k];
        noise += draws->noise[k] * draws->noise[k];
        shortest += (draws->best[k] + draws->drift[k]) / DRAWS;
    }
    share /= DRAWS;
    noise /= DRAWS;
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
