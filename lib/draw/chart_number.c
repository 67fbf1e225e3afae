/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people: three digits that count, thousands set apart, the unit with the fitting prefix. Written
 * digit by digit, so that no locale puts a comma where the point belongs. */
#include "draw/panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scale {
    double factor;
    const char *name;
};

/* From the largest to the smallest; the last entry has no name. */
static const struct scale seconds[] = {{1, " s"},     {1e-3, " ms"},  {1e-6, " \u00B5s"},
                                       {1e-9, " ns"}, {1e-12, " ps"}, {0, NULL}};
static const struct scale bytes[] = {{1e18, " EB"}, {1e15, " PB"}, {1e12, " TB"}, {1e9, " GB"},
                                     {1e6, " MB"},  {1e3, " kB"},  {1, " B"},     {0, NULL}};
static const struct scale counts[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1, ""}, {0, NULL}};

static const struct scale *scale_of(enum kerf_unit unit, double like) {
    const struct scale *scale = unit == KERF_UNIT_SECONDS ? seconds : unit == KERF_UNIT_BYTES ? bytes : counts;
    while (like < scale->factor * 0.9995 && scale[1].name) scale++;
    return scale;
}

/* From here on a number is written as a power of ten. */
static double too_large(enum kerf_unit unit) {
    return unit == KERF_UNIT_SECONDS ? 999999.5 : unit == KERF_UNIT_BYTES ? 1e24 : 999.5e12;
}

/* value has at most 15 digits before the point. Zeros at the end are left out, but for `least` decimals. */
static char *put_decimal(char *to, double value, int decimals, int least) {
    int64_t power = 1;
    for (int i = 0; i < decimals; i++) power *= 10;
    int64_t n = (int64_t)floor(value * (double)power + 0.5), whole = n / power, rest = n % power;
    char digits[32];
    int length = 0;
    do digits[length++] = (char)('0' + whole % 10);
    while ((whole /= 10) > 0);
    while (length > 0) {
        *to++ = digits[--length];
        if (length > 0 && length % 3 == 0) *to++ = ',';
    }
    if (rest > 0 || (decimals > 0 && least > 0)) *to++ = '.';
    for (int i = 0; i < decimals && (rest > 0 || i < least); i++) {
        power /= 10;
        *to++ = (char)('0' + rest / power);
        rest %= power;
    }
    *to = 0;
    return to;
}

static char *put_power(char *to, double value) {
    int exponent = (int)floor(log10(value));
    /* Two steps: the power of ten of a denormal number is infinite. */
    double mantissa = value / pow(10, exponent / 2) / pow(10, exponent - exponent / 2);
    if (mantissa >= 9.995) mantissa /= 10, exponent++;
    to = put_decimal(to, mantissa, 2, 0);
    *to++ = 'e';
    if (exponent < 0) *to++ = '-';
    return put_decimal(to, abs(exponent), 0, 0);
}

void chart_number(char text[CHART_NUMBER], double value, enum kerf_unit unit) {
    const struct scale *scale = scale_of(unit, value > 0 ? value : 1);
    double v = value / scale->factor;
    char *to = text;
    if (v == 0) {
        strcpy(put_decimal(to, 0, 0, 0), scale->name);
        return;
    }
    if (v < 0.001 || value >= too_large(unit)) {
        /* As a power of ten it is one of the plain unit. */
        to = put_power(to, value);
        scale = scale_of(unit, 1);
    } else if (v < 0.0995)
        to = put_decimal(to, v, v < 0.00995 ? 5 : 4, 0);
    else
        to = put_decimal(to, v,
                         v >= 99.95   ? 0
                         : v >= 9.995 ? 1
                                      : 2,
                         unit == KERF_UNIT_SECONDS || unit == KERF_UNIT_BYTES);
    strcpy(to, scale->name);
}

void chart_number_like(char text[CHART_NUMBER], double value, enum kerf_unit unit, double like, double step) {
    const struct scale *scale = scale_of(unit, like);
    double v = value / scale->factor, s = step / scale->factor;
    if (value == 0) {
        strcpy(text, "0");
        return;
    }
    if (like >= too_large(unit) || s < 1e-9) {
        strcpy(put_power(text, value), scale_of(unit, 1)->name);
        return;
    }
    int decimals = s < 0.9999 ? (int)ceil(-log10(s) - 1e-9) : 0;
    strcpy(put_decimal(text, v, decimals, decimals), scale->name);
}

void chart_percent(char text[CHART_NUMBER], double share) {
    double percent = share * 100;
    strcpy(put_decimal(text, percent, percent > 0 && percent < 0.95 ? 1 : 0, 0), " %");
}

double panel_value(double value) { return value > 1e-290 ? fmin(value, 1e290) : 0; }

double panel_sum(const double *values, int32_t count) {
    double sum = 0;
    for (int32_t i = 0; i < count; i++) sum += panel_value(values[i]);
    return sum;
}
