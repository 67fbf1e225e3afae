/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the objective under one choice of hyperparameters: a normal distribution over a vector of unknowns
 * (the value of each setting, the drift, offsets), and an inverse gamma one over the variance of the noise.
 *
 *     y = sum of some unknowns + e,     e ~ N(0, s^2),     unknowns ~ N(mean, s^2 cov),     s^2 ~ InverseGamma(alpha,
 * beta)
 */
#ifndef KERF_TUNE_GAUSSIAN_PROCESS_H
#define KERF_TUNE_GAUSSIAN_PROCESS_H

#include <stdint.h>

#define GP_WIDE 9.0 /* how much larger the variance of rare noise is */

struct gp {
    double *mean; /* [dims] */
    double *cov;  /* [dims][dims], in units of s^2, symmetric */
    double alpha, beta;
    double rare;   /* how often noise is of GP_WIDE times its variance; 0: never */
    double spikes; /* how often something else keeps a run for long; 0: never */
    double slow;   /* how often a run is in the slow mode; 0: never. All three 0, and all is exact */
    double slower; /* how much it is over the others then, as y */
    double spike;  /* how probable it is that the last run, which was stopped, was one; 0: it ended by itself */
    double log_evidence;
};

/* Which mode a run was in, as far as that is known. */
enum gp_mode { GP_MODE_UNKNOWN, GP_MODE_FAST, GP_MODE_SLOW };

/* One observation of the sum of the unknowns at[0 .. num_at - 1]. */
struct gp_datum {
    int32_t at[4];
    int32_t num_at;
    int32_t above; /* 1: it only says that the sum is more than y */
    int32_t mode;  /* enum gp_mode */
    double y;
    double spike; /* a run may be a spike that is over what was expected by more than this; INFINITY: none is */
};

/* dims unknowns; work [dims]. Costs dims^2. */
void gp_condition(struct gp *gp, int32_t dims, const struct gp_datum *datum, double *work);

/* As if the datum had come out as expected: less uncertainty, the same means. */
void gp_fantasize(struct gp *gp, int32_t dims, const struct gp_datum *datum, double *work);

/* An unknown that goes on as an Ornstein-Uhlenbeck process: by `keep` it stays what it was, its variance in the long
 * run is `variance` s^2. */
void gp_drift(struct gp *gp, int32_t dims, int32_t which, double keep, double variance);

/* The unknown `to` takes the present value of `from`, and keeps it when `from` goes on. */
void gp_keep(struct gp *gp, int32_t dims, int32_t from, int32_t to);

/* s^2 for a normal number z: beta over a gamma variable with alpha, by Wilson and Hilferty's cube root ("The Distribution
 * of Chi-Square", 1931). */
double gp_noise_variance(const struct gp *gp, double z);

/* ---- Factors of a covariance ------------------------------------------------------------------------------------- */

enum { CHOLESKY_LANES = 8 };

/* How long a row of n numbers has to be: the next multiple of CHOLESKY_LANES. */
int32_t cholesky_stride(int32_t n);

/* matrix [n][cholesky_stride(n)], of which the upper triangle is read, becomes U with U' U = matrix in its upper
 * triangle; what else there is in its rows is undefined. A pivot that rounding has made less than `least` becomes
 * `least`. */
void cholesky(double *matrix, int32_t n, double least);

/* ret [n][count] = U' columns [n][count]: as many vectors at once, a multiple of CHOLESKY_LANES */
void cholesky_times(const double *factor, int32_t n, const double *const *columns, int32_t count, double *ret);

#endif
