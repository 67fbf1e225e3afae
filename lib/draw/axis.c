/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes: where a value lies, and which values get a tick. Of the candidates - steps of 1, 2 or 5 times a power
 * of ten on a linear axis; 1-2-5 per decade, decades, every second, third ... decade, or powers of two, on
 * a logarithmic one - the finest is taken whose labels stay apart.
 */
#include "draw/panel.h"

#include <math.h>
#include <stdlib.h>

double axis_place(const struct axis *axis, double value) {
    if (!(axis->high > axis->low)) return axis->from;
    double share = axis->base ? (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low))
                              : (value - axis->low) / (axis->high - axis->low);
    return axis->from + share * (axis->to - axis->from);
}

static int ticks_fit(const struct axis *axis) {
    for (int32_t i = 1; i < axis->num_ticks; i++) {
        double apart = fabs(axis_place(axis, axis->ticks[i]) - axis_place(axis, axis->ticks[i - 1]));
        double room = axis->least_gap;
        if (!axis->vertical)
            room = fmax(
                room, 16 + (text_width(axis->labels[i], &font_tick) + text_width(axis->labels[i - 1], &font_tick)) / 2);
        if (apart < room) return 0;
    }
    return 1;
}

static int add(struct axis *axis, double value) {
    if (axis->num_ticks == AXIS_TICKS) return 0;
    axis->ticks[axis->num_ticks++] = value;
    return 1;
}

static void linear(struct axis *axis) {
    double span = axis->high - axis->low, most = fmax(fabs(axis->high), fabs(axis->low));
    axis->num_ticks = 0;
    if (!(span > 1e-7 * most)) { /* also where doubles are too coarse to count in steps */
        add(axis, axis->low);
        chart_number_like(axis->labels[0], axis->low, axis->unit, most, most);
        return;
    }
    for (int exponent = (int)floor(log10(span)) - 2;; exponent++) {
        /* A tenth has no exact double, but 3 / 10 is the double that is nearest to 0.3. */
        double tens = pow(10, abs(exponent));
        for (int mantissa = 1; mantissa <= 5; mantissa += mantissa == 2 ? 3 : 1) {
            double step = exponent < 0 ? mantissa / tens : mantissa * tens;
            int64_t first = (int64_t)ceil(axis->low / step - 1e-9), last = (int64_t)floor(axis->high / step + 1e-9);
            if (last - first >= AXIS_TICKS || (axis->whole && step < 1)) continue;
            axis->num_ticks = 0;
            for (int64_t k = first * mantissa; k <= last * mantissa; k += mantissa)
                add(axis, exponent < 0 ? (double)k / tens : (double)k * tens);
            for (int32_t t = 0; t < axis->num_ticks; t++)
                chart_number_like(axis->labels[t], axis->ticks[t], axis->unit, most, step);
            if (ticks_fit(axis)) return;
        }
    }
}

/* Level 0: the finest. Returns 0 when there are more ticks than there is room for. */
static int log_ticks(struct axis *axis, int level) {
    axis->num_ticks = 0;
    double per_power = axis->base == 2 ? log2(axis->low) : log10(axis->low);
    double last = axis->base == 2 ? log2(axis->high) : log10(axis->high);
    int every = axis->base == 2 ? level + 1 : level < 1 ? 1 : level, fine = axis->base == 10 && level == 0;
    int first = fine ? (int)floor(per_power) : (int)ceil(per_power - 1e-9);
    if (axis->base == 10 && every > 1) first += (every - first % every) % every; /* 10^0 among them */
    for (int e = first; e <= last + 1e-9; e += every)
        for (int m = 1; m <= (fine ? 5 : 1); m += m == 2 ? 3 : 1) {
            double value = axis->base == 2 ? ldexp(1, e) : e < 0 ? m / pow(10, -e) : m * pow(10, e);
            if (value < axis->low * (1 - 1e-9) || value > axis->high * (1 + 1e-9)) continue;
            if (!add(axis, value)) return 0;
            char *label = axis->labels[axis->num_ticks - 1];
            if (axis->base == 2 && value >= 1e6)
                chart_number(label, value, axis->unit);
            else
                chart_number_like(label, value, axis->unit, value, value);
        }
    return ticks_fit(axis);
}

void axis_ticks(struct axis *axis) {
    if (axis->base == 0) {
        linear(axis);
        return;
    }
    for (int level = 0; !log_ticks(axis, level);) level++;
    if (axis->num_ticks < 2) linear(axis); /* the domain is shorter than a step: 4.1 to 4.6 */
}
