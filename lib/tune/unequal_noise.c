/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise that differs from setting to setting. The model has one noise for all; where some settings are noisier, a lucky run
 * of one of them leads, and an unlucky one is ruled out.
 *
 * Each repeated run was predicted (surface_learn.c), and z is standard normal where the noise is the same everywhere, up to a
 * common variance v. Else a setting's z have a variance of their own, r ~ v inverse-chi^2(FREEDOM), and what S, the sum of
 * squares of its n repeats, says is Student's t:
 *
 *     equal       (2 pi v)^(-n/2) exp(-S / 2v)
 *     unequal     gamma((f + n)/2) / gamma(f/2) (pi f v)^(-n/2) (1 + S / f v)^(-(f + n)/2),     f = FREEDOM
 *
 * v is one of SCALES. The chance that noise is unequal is what the product over settings leaves of its prior; in so many of
 * the draws a setting's deviations are wider by the square root of a drawn r, (f v + S) / chi^2(f + n). Never narrower: what a
 * quiet setting is known by may be its neighbours.
 */
#include "tune/unequal_noise.h"

#include <math.h>

static const double PRIOR = 0.1, FREEDOM = 3;
enum { SCALES = 9 };
static const double scales[SCALES] = {0.1, 0.17, 0.25, 0.35, 0.5, 0.7, 1, 1.4, 2};

static double log_equal(const struct repeats *of, double v) {
    return -0.5 * of->num * log(2 * M_PI * v) - 0.5 * of->squares / v;
}

static double log_unequal(const struct repeats *of, double v) {
    double n = of->num, f = FREEDOM;
    return lgamma(0.5 * (f + n)) - lgamma(0.5 * f) - 0.5 * n * log(M_PI * f * v) -
           0.5 * (f + n) * log1p(of->squares / (f * v));
}

struct unequal unequal_noise(const struct repeats *repeats, int32_t num) {
    double equal[SCALES] = {0}, unequal[SCALES] = {0}, most = -INFINITY, sum[2] = {0, 0}, scale = 0;
    for (int32_t i = 0; i < num; i++)
        for (int s = 0; s < SCALES && repeats[i].num > 0; s++) {
            equal[s] += log_equal(&repeats[i], scales[s]);
            unequal[s] += log_unequal(&repeats[i], scales[s]);
        }
    for (int s = 0; s < SCALES; s++) most = fmax(most, fmax(equal[s], unequal[s]));
    for (int s = 0; s < SCALES; s++) {
        sum[0] += exp(equal[s] - most);
        sum[1] += exp(unequal[s] - most);
        scale += exp(unequal[s] - most) * scales[s];
    }
    double odds = PRIOR * sum[1], against = (1 - PRIOR) * sum[0];
    if (!(odds > 0)) return (struct unequal){0, 1};
    return (struct unequal){odds / (odds + against), scale / sum[1]};
}

/* chi^2 by Wilson and Hilferty's cube root. */
double unequal_at(const struct unequal *unequal, const struct repeats *of, double normal) {
    double f = FREEDOM + of->num, c = 2 / (9 * f), root = 1 - c + sqrt(c) * normal;
    double chi = f * fmax(root * root * root, 1e-3);
    return (FREEDOM * unequal->scale + of->squares) / chi;
}
