/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditioning a Gaussian process on one observation after another. With h the sum's indicator, k = cov h and
 * v = h' cov h + 1 (the noise),
 *
 *     mean += k (y - h' mean) / v          cov -= k k' / v
 *     beta += (y - h' mean)^2 / (2 v)      alpha += 1/2
 *
 * which after n observations is what the usual inverse of an n x n matrix gives (Rasmussen and Williams, "Gaussian
 * Processes for Machine Learning", 2006, 2.2), and the product of the predictive densities, each Student's t, is the
 * evidence. On a grid of a few dozen settings that costs dims^2 an observation, whatever n is, and the covariance of
 * all settings, which is what is wanted, is always there.
 *
 * Two things are not normal distributions and are replaced by normal ones of the same mean and variance (assumed density
 * filtering; Minka, "Expectation Propagation for Approximate Bayesian Inference", 2001):
 *   - a run that was stopped at y says that it would have been more: a truncated normal, unless it was a spike;
 *   - once in a while something else happens: noise is a mixture, `rare` of it with GP_WIDE times the variance, of the
 *     runs that are far over what was expected `spikes` are spikes, with SPIKE times the variance, and `slow` of all
 *     are in a second mode of the machine, `slower` than the others.
 */
#include "tune/gaussian_process.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "tune/statistics.h"

static const double SPIKE = 2500;
static const double FARTHEST = 1e120; /* from what is expected, so that squares stay numbers */

/* work = cov h; returns h' cov h. */
static double covariance_with(const struct gp *gp, int32_t dims, const struct gp_datum *datum, double *restrict work) {
    const double *restrict first = gp->cov + (int64_t)datum->at[0] * dims;
    for (int32_t i = 0; i < dims; i++) work[i] = first[i];
    for (int32_t k = 1; k < datum->num_at; k++) {
        const double *restrict row = gp->cov + (int64_t)datum->at[k] * dims;
        for (int32_t i = 0; i < dims; i++) work[i] += row[i];
    }
    double sum = 0;
    for (int32_t k = 0; k < datum->num_at; k++) sum += work[datum->at[k]];
    return sum > 0 ? sum : 0;
}

static double expected(const struct gp *gp, const struct gp_datum *datum) {
    double sum = 0;
    for (int32_t k = 0; k < datum->num_at; k++) sum += gp->mean[datum->at[k]];
    return sum;
}

/* mean += shift * work, cov -= less * work work' */
static void move(struct gp *gp, int32_t dims, const double *restrict work, double shift, double less) {
    double *restrict mean = gp->mean;
    for (int32_t i = 0; i < dims; i++) mean[i] += shift * work[i];
    for (int32_t i = 0; i < dims; i++) {
        double *restrict row = gp->cov + (int64_t)i * dims;
        double factor = less * work[i];
        for (int32_t j = 0; j < dims; j++) row[j] -= factor * work[j];
    }
}

/* log of the density of Student's t with 2 alpha degrees, scale^2 = v beta / alpha, but for what all v share */
static double log_density(const struct gp *gp, double v, double square) {
    return -0.5 * log(v) - (gp->alpha + 0.5) * log1p(square / (2 * gp->beta * v));
}

/* One way in which a run may come about: how probable that is, how far y is from what is then expected, and the
 * variance, in units of s^2. */
struct way {
    double share, off, v;
};
enum { PLAIN, RARE, SPIKED, SLOW, WAYS };

/* share[k] = exp(log_of[k]) in parts of their sum; returns the sum's log. */
static double normalize(const double *log_of, int count, double *ret_share) {
    double most = -INFINITY, sum = 0;
    for (int k = 0; k < count; k++) most = fmax(most, log_of[k]);
    for (int k = 0; k < count; k++) sum += exp(log_of[k] - most);
    for (int k = 0; k < count; k++) ret_share[k] = exp(log_of[k] - most) / sum;
    return most + log(sum);
}

static void condition_on_value(struct gp *gp, int32_t dims, double var, double off, const struct gp_datum *datum,
                               const double *work) {
    int may_be_spike = off > datum->spike;
    const struct way ways[WAYS] = {{1 - gp->rare - gp->spikes - gp->slow, off, var + 1},
                                   {gp->rare, off, var + GP_WIDE},
                                   {may_be_spike ? gp->spikes : 0, off, var + SPIKE},
                                   {gp->slow, off - gp->slower, var + 1}};
    double log_of[WAYS], share[WAYS], shift = 0, shift2 = 0, less = 0, heat = 0;
    for (int k = 0; k < WAYS; k++) {
        int is_ruled_out = datum->mode == (k == SLOW ? GP_MODE_FAST : GP_MODE_SLOW) || !(ways[k].share > 0);
        double square = ways[k].off * ways[k].off;
        log_of[k] = is_ruled_out ? -INFINITY : log(ways[k].share) + log_density(gp, ways[k].v, square);
    }
    double evidence = normalize(log_of, WAYS, share);
    for (int k = 0; k < WAYS; k++) {
        double moved = ways[k].off / ways[k].v;
        shift += share[k] * moved;
        shift2 += share[k] * moved * moved;
        less += share[k] / ways[k].v;
        heat += share[k] * ways[k].off * moved;
    }
    double spread = (shift2 - shift * shift) * gp->alpha / gp->beta; /* of the means */
    gp->log_evidence += evidence + log_gamma(gp->alpha + 0.5) - log_gamma(gp->alpha) - 0.5 * log(2 * M_PI * gp->beta);
    move(gp, dims, work, shift, less - fmin(spread, 0.9 * less));
    gp->alpha += 0.5;
    gp->beta += 0.5 * heat;
}

/* A spike tells nothing of the unknowns, and how wide the noise is matters little here. */
static void condition_on_bound(struct gp *gp, int32_t dims, double var, double off, const struct gp_datum *datum,
                               const double *work) {
    double v = var + 1, sd = sqrt(v * gp->beta / gp->alpha), spikes = off > datum->spike ? gp->spikes : 0;
    double x[WAYS] = {off / sd, 0, off / sd * sqrt(v / (var + SPIKE)), (off - gp->slower) / sd};
    double before[WAYS] = {1 - spikes - gp->slow, 0, spikes, gp->slow}, log_of[WAYS], share[WAYS];
    double shift = 0, shift2 = 0, less = 0;
    for (int k = 0; k < WAYS; k++) log_of[k] = before[k] > 0 ? log(before[k]) + normal_log_above(x[k]) : -INFINITY;
    gp->log_evidence += normalize(log_of, WAYS, share);
    gp->spike = share[SPIKED];
    for (int k = PLAIN; k <= SLOW; k += SLOW) {
        double hazard = normal_hazard(x[k]), moved = hazard * sd / v;
        shift += share[k] * moved;
        shift2 += share[k] * moved * moved;
        less += share[k] * fmin(fmax(hazard * (hazard - x[k]), 0), 1) / v;
    }
    double spread = (shift2 - shift * shift) * gp->alpha / gp->beta; /* of the means */
    move(gp, dims, work, shift, less - fmin(spread, 0.9 * less));
}

void gp_condition(struct gp *gp, int32_t dims, const struct gp_datum *datum, double *work) {
    double var = covariance_with(gp, dims, datum, work);
    double off = fmax(fmin(datum->y - expected(gp, datum), FARTHEST), -FARTHEST);
    gp->spike = 0;
    if (datum->above)
        condition_on_bound(gp, dims, var, off, datum, work);
    else
        condition_on_value(gp, dims, var, off, datum, work);
}

void gp_fantasize(struct gp *gp, int32_t dims, const struct gp_datum *datum, double *work) {
    double var = covariance_with(gp, dims, datum, work);
    move(gp, dims, work, 0, 1 / (var + 1));
}

void gp_drift(struct gp *gp, int32_t dims, int32_t which, double keep, double variance) {
    double *row = gp->cov + (int64_t)which * dims;
    for (int32_t i = 0; i < dims; i++) row[i] *= keep;
    row[which] = row[which] * keep + variance * (1 - keep * keep);
    for (int32_t i = 0; i < dims; i++) gp->cov[(int64_t)i * dims + which] = row[i];
    gp->mean[which] *= keep;
}

void gp_keep(struct gp *gp, int32_t dims, int32_t from, int32_t to) {
    double *row = gp->cov + (int64_t)to * dims;
    for (int32_t i = 0; i < dims; i++) row[i] = gp->cov[(int64_t)from * dims + i];
    row[to] = row[from];
    for (int32_t i = 0; i < dims; i++) gp->cov[(int64_t)i * dims + to] = row[i];
    gp->mean[to] = gp->mean[from];
}

double gp_noise_variance(const struct gp *gp, double z) {
    double freedom = 2 * gp->alpha, c = 2 / (9 * freedom), root = fmax(1 - c + z * sqrt(c), 0.05);
    return 2 * gp->beta / (freedom * root * root * root);
}

/* ---- Factors of a covariance ------------------------------------------------------------------------------------- */

/*
 * The Cholesky factor of a covariance, n^3 / 6 multiplications, and its product with vectors. Both are sums over the
 * rows above: two rows of CHOLESKY_LANES columns at once, so that all of them stay in registers while everything above
 * is read (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).
 */

/* Two numbers at once, wherever they lie: what every x86-64 and every 64-bit ARM has. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
enum { PAIRS = CHOLESKY_LANES / 2 };

struct tile {
    pair of[2][PAIRS]; /* of rows i and i + 1 */
};

static inline void add(struct tile *tile, double weight, double next_weight, const double *column) {
    for (int j = 0; j < PAIRS; j++) {
        pair of = ((const pair *)column)[j];
        tile->of[0][j] += weight * of;
        tile->of[1][j] += next_weight * of;
    }
}

int32_t cholesky_stride(int32_t n) { return (n + CHOLESKY_LANES - 1) / CHOLESKY_LANES * CHOLESKY_LANES; }

static void subtract(double *restrict row, const double *restrict other, double factor, int32_t from, int32_t to) {
    for (int32_t j = from; j < to; j++) row[j] -= factor * other[j];
}

/* The rest of row k, when the rows above are taken off it. */
static void finish_row(double *row, int32_t k, int32_t n, double least) {
    double root = sqrt(row[k] > least ? row[k] : least), over = 1 / root;
    row[k] = root;
    for (int32_t j = k + 1; j < n; j++) row[j] *= over;
}

void cholesky(double *matrix, int32_t n, double least) {
    int32_t stride = cholesky_stride(n);
    for (int32_t i = 0; i < n; i += 2) {
        double *row = matrix + (int64_t)i * stride, *next = i + 1 < n ? row + stride : NULL;
        for (int32_t from = i / CHOLESKY_LANES * CHOLESKY_LANES; from < n; from += CHOLESKY_LANES) {
            struct tile tile = {0};
            for (int32_t k = 0; k < i; k++) {
                const double *above = matrix + (int64_t)k * stride;
                add(&tile, above[i], above[i + 1], above + from);
            }
            for (int j = 0; j < PAIRS; j++) ((pair *)(row + from))[j] -= tile.of[0][j];
            for (int j = 0; next && j < PAIRS; j++) ((pair *)(next + from))[j] -= tile.of[1][j];
        }
        finish_row(row, i, n, least);
        if (next == NULL) return;
        subtract(next, row, row[i + 1], i + 1, n);
        finish_row(next, i + 1, n, least);
    }
}

void cholesky_times(const double *factor, int32_t n, const double *const *columns, int32_t count, double *ret) {
    int32_t stride = cholesky_stride(n);
    for (int32_t i = 0; i < n; i += 2) {
        const double *row = factor + (int64_t)i * stride;
        for (int32_t from = 0; from < count; from += CHOLESKY_LANES) {
            struct tile tile = {0};
            for (int32_t k = 0; k <= i; k++) {
                const double *above = factor + (int64_t)k * stride;
                add(&tile, above[i], i + 1 < n ? above[i + 1] : 0, columns[k] + from);
            }
            if (i + 1 < n) add(&tile, 0, row[stride + i + 1], columns[i + 1] + from);
            memcpy(ret + (int64_t)i * count + from, tile.of[0], sizeof tile.of[0]);
            if (i + 1 < n) memcpy(ret + (int64_t)(i + 1) * count + from, tile.of[1], sizeof tile.of[1]);
        }
    }
}
