/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes in time: whether bars and curves are as draw.h asks, the time that a panel shows, how busy a lane is within
 * it, and a bar in words. A question about a span of time costs a binary search and the bars inside.
 */
#include "draw/lanes.h"

#include <math.h>
#include <stdlib.h>

static int32_t check_lane(const struct kerf_panel *panel, int32_t number, int32_t l, double slack,
                          struct kerf_error *err) {
    const struct kerf_lane *lane = &panel->lanes[l];
    if (lane->num_bars < 0 || lane->num_curve < 0 || (lane->num_bars > 0 && lane->bars == NULL) ||
        (lane->num_curve > 0 && (lane->curve_x == NULL || lane->curve_y == NULL)))
        return kerf_error_set(err, KERF_EINVALID, "panel %d, lane %d: its bars or its curve are not there", number,
                              l + 1);
    for (int32_t i = 0; panel->kind == KERF_PANEL_LANES && i < lane->num_bars; i++) {
        const struct kerf_lane_bar *bar = &lane->bars[i];
        if (!(bar->start >= 0) || !(bar->end >= bar->start) || !(bar->end <= 1e290))
            return kerf_error_set(err, KERF_EINVALID,
                                  "panel %d, lane %d: bar %d has to start at 0 or later, end not before that, and be "
                                  "finite",
                                  number, l + 1, i + 1);
        if (i > 0 && (bar->start < bar[-1].start || bar->start < bar[-1].end - slack))
            return kerf_error_set(err, KERF_EINVALID, "panel %d, lane %d: bar %d starts before bar %d has ended",
                                  number, l + 1, i + 1, i);
        if (bar->part < 0 || bar->part >= panel->num_parts || bar->with_part < -1 ||
            bar->with_part >= panel->num_parts || bar->shade < 0 || bar->with_shade < 0)
            return kerf_error_set(err, KERF_EINVALID, "panel %d, lane %d: bar %d has a part or shade that is none",
                                  number, l + 1, i + 1);
    }
    for (int32_t k = 0; k < lane->num_curve; k++)
        if (!(lane->curve_x[k] >= (k > 0 ? lane->curve_x[k - 1] : 0)) || !(lane->curve_x[k] <= 1e290) ||
            !(lane->curve_y[k] >= 0) || !(lane->curve_y[k] <= 1e290))
            return kerf_error_set(err, KERF_EINVALID,
                                  "panel %d, lane %d: step %d of its curve has to be finite, not negative and not "
                                  "before the one in front of it",
                                  number, l + 1, k + 1);
    return KERF_OK;
}

int32_t lanes_check(const struct kerf_panel *panel, int32_t number, struct kerf_error *err) {
    if (panel->num_lanes < 0 || panel->num_parts < 0 || panel->num_shades < 0 ||
        (panel->num_lanes > 0 && panel->lanes == NULL) || (panel->num_parts > 0 && panel->parts == NULL) ||
        (panel->num_shades > 0 && panel->shades == NULL))
        return kerf_error_set(err, KERF_EINVALID, "panel %d: its lanes, parts or shades are not there", number);
    if (panel->num_parts > LANE_PARTS)
        return kerf_error_set(err, KERF_EINVALID, "panel %d: %d parts, at most %d can be told apart", number,
                              panel->num_parts, LANE_PARTS);
    if (!(panel->x_from >= 0) || !(panel->x_to <= 1e290) || !(panel->x_to > panel->x_from || panel->x_to == 0) ||
        panel->x_from > 1e290)
        return kerf_error_set(err, KERF_EINVALID,
                              "panel %d: it has to show a time that begins at 0 or later and ends after that", number);
    double last = 0;
    for (int32_t l = 0; l < panel->num_lanes; l++)
        if (panel->lanes[l].num_bars > 0 && panel->lanes[l].bars)
            last = fmax(last, panel->lanes[l].bars[panel->lanes[l].num_bars - 1].end);
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        int32_t code = check_lane(panel, number, l, last * 1e-9, err);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}

struct span lanes_extent(const struct kerf_panel *panel) {
    struct span extent = {HUGE_VAL, -1};
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        const struct kerf_lane *lane = &panel->lanes[l];
        if (panel->kind == KERF_PANEL_LANES && lane->num_bars > 0) {
            extent.from = fmin(extent.from, lane->bars[0].start);
            extent.to = fmax(extent.to, lane->bars[lane->num_bars - 1].end);
        }
        if (panel->kind == KERF_PANEL_STEPS && lane->num_curve > 0) {
            extent.from = fmin(extent.from, lane->curve_x[0]);
            extent.to = fmax(extent.to, lane->curve_x[lane->num_curve - 1]);
        }
    }
    return extent;
}

struct span lanes_window(const struct kerf_figure *figure, int32_t p) {
    const struct kerf_panel *panel = &figure->panels[p];
    struct span window = {panel->x_from, panel->x_to};
    if (window.to == 0) {
        struct span all = {HUGE_VAL, -1};
        for (int32_t i = 0; i < figure->num_panels; i++) {
            const struct kerf_panel *other = &figure->panels[i];
            if (!lanes_kind(other) || other->x_from != panel->x_from || other->x_to != panel->x_to) continue;
            struct span extent = lanes_extent(other);
            all = (struct span){fmin(all.from, extent.from), fmax(all.to, extent.to)};
        }
        if (all.to < all.from) all = (struct span){0, 0};
        if (window.from == 0) window.from = all.from;
        window.to = all.to;
    }
    if (!(window.to - window.from > 1e-9 * window.from)) /* one instant */
        window.to = window.from + (window.from > 0 ? window.from / 4 : 1);
    return window;
}

struct span lanes_active(const struct kerf_panel *panel, struct span window) {
    struct span extent = lanes_extent(panel);
    return (struct span){fmax(window.from, extent.from), fmin(window.to, extent.to)};
}

int lanes_have_part(const struct kerf_panel *panel, int32_t part) {
    for (int32_t l = 0; l < panel->num_lanes; l++)
        for (int32_t i = 0; i < panel->lanes[l].num_bars; i++)
            if (panel->lanes[l].bars[i].part == part || panel->lanes[l].bars[i].with_part == part) return 1;
    return 0;
}

int32_t lane_first(const struct kerf_lane *lane, double from) {
    int32_t low = 0, high = lane->num_bars;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (lane->bars[middle].end >= from)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double lane_busy(const struct kerf_lane *lane, struct span span) {
    double busy = 0;
    for (int32_t i = lane_first(lane, span.from); i < lane->num_bars && lane->bars[i].start < span.to; i++)
        busy += fmin(lane->bars[i].end, span.to) - fmax(lane->bars[i].start, span.from);
    return busy;
}

double lanes_idle_share(const struct kerf_lane *lanes, int32_t count, struct span span) {
    double busy = 0, whole = (span.to - span.from) * count;
    if (!(whole > 0)) return 0;
    for (int32_t l = 0; l < count; l++) busy += lane_busy(&lanes[l], span);
    return fmin(fmax(1 - busy / whole, 0), 1);
}

/* How many steps of the curve are not after x. */
static int32_t steps_until(const struct kerf_lane *lane, double x) {
    int32_t low = 0, high = lane->num_curve;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (lane->curve_x[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double lane_curve_at(const struct kerf_lane *lane, double x) {
    int32_t steps = steps_until(lane, x);
    return steps > 0 ? lane->curve_y[steps - 1] : 0;
}

double lane_peak(const struct kerf_lane *lane, struct span span, double *ret_x) {
    int32_t k = steps_until(lane, span.from);
    double peak = k > 0 ? lane->curve_y[k - 1] : 0;
    *ret_x = span.from;
    for (; k < lane->num_curve && lane->curve_x[k] <= span.to; k++) {
        /* Of several steps at one time only the last one lasts. */
        if (k + 1 < lane->num_curve && lane->curve_x[k + 1] == lane->curve_x[k]) continue;
        if (lane->curve_y[k] > peak) peak = lane->curve_y[k], *ret_x = lane->curve_x[k];
    }
    return peak;
}

enum kerf_unit lanes_time_unit(const struct kerf_figure *figure, const struct kerf_panel *panel) {
    if (panel->x_unit != KERF_UNIT_NONE) return panel->x_unit;
    for (int32_t p = 0; p < figure->num_panels; p++)
        if (figure->panels[p].kind == KERF_PANEL_LANES) return figure->panels[p].unit;
    return KERF_UNIT_NONE;
}

static void half_words(struct kerf_text *out, const struct kerf_panel *panel, int32_t part, int32_t number) {
    kerf_text_add(out, words(panel->parts[part]));
    if (number >= 0)
        kerf_text_printf(out, " of %s %d", panel->number_name ? panel->number_name : "micro-batch", number);
}

void lane_bar_words(struct kerf_text *out, const struct kerf_panel *panel, const struct kerf_lane *lane,
                    const struct kerf_lane_bar *bar) {
    int told = *words(panel->series_name) && bar->series >= 0, split = bar->with_part >= 0;
    double took = bar->end - bar->start, step = took > 0 ? pow(10, floor(log10(took)) - 1) : bar->end / 1000;
    char from[CHART_NUMBER], to[CHART_NUMBER], length[CHART_NUMBER];
    chart_number_like(from, bar->start, panel->unit, bar->end, step);
    chart_number_like(to, bar->end, panel->unit, bar->end, step);
    chart_number(length, took, panel->unit);
    kerf_text_add(out, words(lane->label));
    kerf_text_add(out, " \u00B7 ");
    half_words(out, panel, bar->part, bar->number);
    if (told) kerf_text_printf(out, " \u00B7 %s %d", panel->series_name, bar->series);
    if (split) {
        kerf_text_add(out, " \u00B7 with ");
        half_words(out, panel, bar->with_part, bar->with_number);
        if (told && bar->with_series >= 0) kerf_text_printf(out, " \u00B7 %s %d", panel->series_name, bar->with_series);
    }
    kerf_text_printf(out, " \u00B7 %s to %s (%s)", from, to, length);
}
