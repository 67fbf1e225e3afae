/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normal distribution by the C library's erfc; its quantile by Newton's steps on that, in logarithms so that the
 * tails converge as the middle does. Student's t by the continued fraction of the incomplete beta function (Abramowitz
 * and Stegun, 26.5.8, evaluated from the front by Lentz's method); its quantile by bisection between growing bounds. The
 * order statistic by Hoare's "Algorithm 65: Find" (1961), with the median of three as the pivot.
 */
#include "tune/statistics.h"

#include <assert.h>
#include <float.h>
#include <math.h>

double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

enum { NEWTON_STEPS = 60, FRACTION_TERMS = 500, BISECTIONS = 200 };
static const double FAR = 36; /* beyond it the hazard is its asymptotic series */

double normal_density(double x) { return 0.39894228040143267794 * exp(-0.5 * x * x); }

double normal_cdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

/* x + 1/x - 2/x^3 + 10/x^5 - 74/x^7: off by less than 706/x^9. */
static double far_hazard(double x) {
    double inverse = 1 / (x * x);
    return x * (1 + inverse * (1 - inverse * (2 - inverse * (10 - inverse * 74))));
}

double normal_hazard(double x) { return x > FAR ? far_hazard(x) : normal_density(x) / normal_cdf(-x); }

double normal_log_above(double x) {
    if (x > FAR) return -0.5 * x * x - 0.91893853320467274178 - log(far_hazard(x));
    return x < -5 ? log1p(-normal_cdf(x)) : log(normal_cdf(-x));
}

/* The lower half: log(cdf) is concave, so that Newton's steps from the left of the root come up to it from there. */
static double lower_quantile(double p) {
    double x = p < 0.1 ? -sqrt(-2 * log(p)) : 0, target = log(p);
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double move = (normal_log_above(-x) - target) / normal_hazard(-x);
        x -= move;
        if (fabs(move) <= 1e-15 * fmax(1, fabs(x))) break;
    }
    return x;
}

double normal_quantile(double p) {
    if (!(p > 0)) return p == 0 ? -INFINITY : NAN;
    if (!(p < 1)) return p == 1 ? INFINITY : NAN;
    if (p == 0.5) return 0;
    return p < 0.5 ? lower_quantile(p) : -lower_quantile(1 - p);
}

/* ---- Student's t ------------------------------------------------------------------------------------------- */

static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 - (a + b) * x / (a + 1), value;
    d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
    value = d;
    for (int m = 1; m <= FRACTION_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int half = 0; half < 2; half++) {
            double term = half == 0 ? even : odd;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < DBL_MIN ? DBL_MIN : d);
            if (fabs(c) < DBL_MIN) c = DBL_MIN;
            value *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return value;
}

/* log of gamma(a + 1/2) / gamma(a), without the cancellation where a is large. */
static double log_gamma_step(double a) {
    if (a < 100) return log_gamma(a + 0.5) - log_gamma(a);
    double inverse = 1 / a, square = inverse * inverse;
    return 0.5 * log(a) - inverse * (0.125 - square * (1.0 / 192 - square / 640));
}

/* I_x(a, 1/2), given both x and 1 - x. */
static double incomplete_beta(double a, double x, double rest) {
    const double b = 0.5;
    if (x <= 0) return 0;
    if (rest <= 0) return 1;
    double front = exp(log_gamma_step(a) - 0.5 * log(M_PI) + a * log1p(-rest) + b * log(rest));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, rest) / b;
}

double student_cdf(double x, double freedom) {
    if (!(freedom < 1e10)) return normal_cdf(x);
    double square = x * x, sum = freedom + square;
    double tail = 0.5 * incomplete_beta(0.5 * freedom, freedom / sum, square / sum);
    return x < 0 ? tail : 1 - tail;
}

static double upper_student(double tail, double freedom) {
    double low = 0, high = 1;
    while (student_cdf(-high, freedom) > tail && high < 1e150) low = high, high *= 2;
    for (int step = 0; step < BISECTIONS && high - low > 1e-15 * high; step++) {
        double middle = 0.5 * (low + high);
        *(student_cdf(-middle, freedom) > tail ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

double student_quantile(double p, double freedom) {
    assert(freedom > 0);
    if (!(p > 0 && p < 1)) return normal_quantile(p);
    if (p == 0.5) return 0;
    return p < 0.5 ? -upper_student(p, freedom) : upper_student(1 - p, freedom);
}

/* ---- Order statistics -------------------------------------------------------------------------------------- */

static void swap(double *a, double *b) {
    double keep = *a;
    *a = *b;
    *b = keep;
}

static double median(double a, double b, double c) {
    if (a > b) swap(&a, &b);
    return c < a ? a : c > b ? b : c;
}

double order_statistic(double *values, int32_t n, int32_t k) {
    assert(0 <= k && k < n);
    int32_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = median(values[low], values[low + (high - low) / 2], values[high]);
        int32_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i <= j) swap(&values[i++], &values[j--]);
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return values[k];
}
