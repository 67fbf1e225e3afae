/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a figure with timelines: title, a section for each panel - a canvas that the script draws on, a legend and
 * a table of the same numbers for readers who cannot see it or run no scripts - then the data and the script.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "draw/html.h"
#include "draw/lanes.h"
#include "draw/panel.h"

enum { HTML_STREAMS = 5 };

/* ---- The data -------------------------------------------------------------------------------------------------- */

/*
 * Lanes as data for the page's script. Times are integers: multiples of the power of two that goes at most 2^28 times
 * into the time there is, so that sums of whole and halved seconds stay exact. A lane's bars are the gaps in front of
 * them, how long they take, of which kind they are, and how far their micro-batch is from the one behind the last of
 * the same part; the streams of all lanes are one behind the other.
 */

enum { TIME_BITS = 28, VALUE_BITS = 30 };

static double quantum_of(double most, int bits) {
    int exponent;
    if (!(most > 0)) return 1;
    frexp(most, &exponent);
    return ldexp(1, fmax(exponent - bits, -1000)); /* the divisor stays a normal number */
}

static int64_t quanta(double value, double quantum) { return (int64_t)floor(value / quantum + 0.5); }

/* A series as its distance from the lane's, in 16 bits; 0: none. */
static int64_t series_code(int16_t series, int16_t lane_series) {
    return series < 0 ? 0 : series - lane_series + 32768;
}

/* Part, shade and series of a bar and of its lower half in 52 bits, which a double holds. */
static int64_t kind_of(const struct kerf_lane_bar *bar, int16_t lane_series) {
    int split = bar->with_part >= 0;
    int64_t series = series_code(bar->series, lane_series);
    int64_t with = split ? series_code(bar->with_series, lane_series) : 0;
    int64_t low = bar->part | (split ? bar->with_part + 1 : 0) << 8 | lane_shade(bar->shade) << 16;
    if (split) low |= lane_shade(bar->with_shade) << 18;
    return low + (series << 20) + (with << 36);
}

static int16_t lane_series(const struct kerf_lane *lane) {
    return lane->num_bars > 0 && lane->bars[0].series > 0 ? lane->bars[0].series : 0;
}

static void bars_streams(const struct kerf_panel *panel, double quantum, int64_t *streams[HTML_STREAMS],
                         int64_t *ret_splits) {
    int64_t at = 0, splits = 0;
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        int64_t end = 0, next[LANE_PARTS] = {0}; /* behind the last micro-batch of each part */
        for (int32_t i = 0; i < panel->lanes[l].num_bars; i++, at++) {
            const struct kerf_lane_bar *bar = &panel->lanes[l].bars[i];
            int64_t from = quanta(bar->start, quantum), to = quanta(bar->end, quantum);
            streams[0][at] = from - end;
            streams[1][at] = to - from;
            streams[2][at] = kind_of(bar, lane_series(&panel->lanes[l]));
            streams[3][at] = bar->number - next[bar->part];
            next[bar->part] = (int64_t)bar->number + 1;
            if (bar->with_part >= 0) {
                streams[4][splits++] = bar->with_number - next[bar->with_part];
                next[bar->with_part] = (int64_t)bar->with_number + 1;
            }
            end = to;
        }
    }
    *ret_splits = splits;
}

static int32_t write_bars(struct kerf_text *out, const struct kerf_panel *panel, double quantum) {
    static const char *const names[HTML_STREAMS] = {"gap", "took", "code", "number", "with"};
    int64_t count = 0, splits = 0;
    for (int32_t l = 0; l < panel->num_lanes; l++) count += panel->lanes[l].num_bars;
    int64_t *all = calloc((size_t)count * HTML_STREAMS + 1, sizeof *all), *streams[HTML_STREAMS];
    if (all == NULL) return KERF_ENOMEM;
    for (int32_t i = 0; i < HTML_STREAMS; i++) streams[i] = all + i * count;
    bars_streams(panel, quantum, streams, &splits);
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < HTML_STREAMS && code == KERF_OK; i++) {
        kerf_text_printf(out, ",\n\"%s\":", names[i]);
        code = html_packed(out, streams[i], i == 4 ? splits : count);
    }
    free(all);
    return code;
}

static int32_t write_curves(struct kerf_text *out, const struct kerf_panel *panel, double quantum) {
    int64_t count = 0, at = 0;
    double most = 0;
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        count += panel->lanes[l].num_curve;
        for (int32_t k = 0; k < panel->lanes[l].num_curve; k++) most = fmax(most, panel->lanes[l].curve_y[k]);
    }
    double step = quantum_of(most, VALUE_BITS);
    int64_t *xs = calloc((size_t)count * 2 + 1, sizeof *xs), *ys = xs + count;
    if (xs == NULL) return KERF_ENOMEM;
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        int64_t x = 0, y = 0;
        for (int32_t k = 0; k < panel->lanes[l].num_curve; k++, at++) {
            int64_t next_x = quanta(panel->lanes[l].curve_x[k], quantum);
            int64_t next_y = quanta(panel->lanes[l].curve_y[k], step);
            xs[at] = next_x - x, ys[at] = next_y - y;
            x = next_x, y = next_y;
        }
    }
    kerf_text_add(out, ",\n\"step\":");
    kerf_text_number(out, step);
    kerf_text_add(out, ",\n\"x\":");
    int32_t code = html_packed(out, xs, count);
    kerf_text_add(out, ",\n\"y\":");
    if (code == KERF_OK) code = html_packed(out, ys, count);
    free(xs);
    return code;
}

static void write_strings(struct kerf_text *out, const char *name, const char *const *strings, int32_t count) {
    kerf_text_printf(out, ",\n\"%s\":[", name);
    for (int32_t i = 0; i < count; i++) {
        kerf_text_add(out, i > 0 ? "," : "");
        html_json_string(out, words(strings[i]));
    }
    kerf_text_add(out, "]");
}

static const char *unit_name(enum kerf_unit unit) {
    return unit == KERF_UNIT_SECONDS ? "s" : unit == KERF_UNIT_BYTES ? "B" : "";
}

static void write_tones(struct kerf_text *out, const struct kerf_panel *panel, const struct palette *palette) {
    kerf_text_add(out, ",\n\"tones\":[");
    for (int32_t i = 0; i < panel->num_parts; i++) {
        uint32_t part = palette_part(palette, words(panel->parts[i]));
        for (int32_t shade = 0; shade < LANE_SHADES; shade++)
            kerf_text_printf(out, "%s%s%u", shade > 0 ? "," : i > 0 ? ",[" : "[", "", lane_tone(part, shade));
        kerf_text_add(out, "]");
    }
    kerf_text_add(out, "]");
}

/* One JSON object. Panels with the same view number are zoomed together. KERF_ENOMEM: nothing else can go wrong. */
static int32_t html_lanes(struct kerf_text *out, const struct kerf_figure *figure, int32_t p, int32_t view,
                          const struct palette *palette) {
    const struct kerf_panel *panel = &figure->panels[p];
    int steps = panel->kind == KERF_PANEL_STEPS;
    struct span window = lanes_window(figure, p), extent = lanes_extent(panel);
    double quantum = quantum_of(fmax(extent.to, 0), TIME_BITS);
    kerf_text_printf(out,
                     "{\"kind\":\"%s\",\"panel\":%d,\"view\":%d,\"unit\":\"%s\",\"from\":", steps ? "steps" : "lanes",
                     p, view, unit_name(panel->unit));
    kerf_text_number(out, window.from);
    kerf_text_add(out, ",\"to\":");
    kerf_text_number(out, window.to);
    kerf_text_add(out, ",\"quantum\":");
    kerf_text_number(out, quantum);
    kerf_text_add(out, ",\"limit\":");
    kerf_text_number(out, panel->limit);
    kerf_text_add(out, ",\n\"title\":");
    html_json_string(out, words(panel->title));
    kerf_text_add(out, ",\"limitLabel\":");
    html_json_string(out, words(panel->limit_label));
    kerf_text_add(out, ",\"series\":");
    html_json_string(out, words(panel->series_name));
    kerf_text_add(out, ",\"numbers\":");
    html_json_string(out, panel->number_name ? panel->number_name : "micro-batch");
    kerf_text_add(out, ",\n\"labels\":[");
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        kerf_text_add(out, l > 0 ? "," : "");
        html_json_string(out, words(panel->lanes[l].label));
    }
    kerf_text_add(out, "],\n\"counts\":[");
    for (int32_t l = 0; l < panel->num_lanes; l++)
        kerf_text_printf(out, "%s%d", l > 0 ? "," : "", steps ? panel->lanes[l].num_curve : panel->lanes[l].num_bars);
    kerf_text_add(out, "]");
    if (!steps) {
        kerf_text_add(out, ",\n\"first\":[");
        for (int32_t l = 0; l < panel->num_lanes; l++)
            kerf_text_printf(out, "%s%d", l > 0 ? "," : "", lane_series(&panel->lanes[l]));
        kerf_text_add(out, "],\n\"idles\":[");
        for (int32_t l = 0; l < panel->num_lanes; l++)
            kerf_text_printf(out, "%s%d", l > 0 ? "," : "", lanes_are_idle(panel->lanes, panel->num_lanes, l));
        kerf_text_add(out, "]");
        write_strings(out, "parts", panel->parts, panel->num_parts);
        if (panel->part_letters) write_strings(out, "letters", panel->part_letters, panel->num_parts);
        write_tones(out, panel, palette);
    }
    int32_t code = steps ? write_curves(out, panel, quantum) : write_bars(out, panel, quantum);
    kerf_text_add(out, "}");
    return code;
}

enum { TABLE_LANES_MAX = 512 }; /* lanes in a table */

/* Panels with equal times are one view: its number is that of its first panel. */
static int32_t view_of(const struct kerf_figure *figure, int32_t p) {
    for (int32_t i = 0; i < p; i++)
        if (lanes_kind(&figure->panels[i]) && figure->panels[i].x_from == figure->panels[p].x_from &&
            figure->panels[i].x_to == figure->panels[p].x_to)
            return i;
    return p;
}

static void element(struct kerf_text *out, const char *name, const char *string) {
    if (*words(string) == 0) return;
    kerf_text_printf(out, "<%s>", name);
    html_escape(out, string);
    kerf_text_printf(out, "</%s>\n", name);
}

static void key(struct kerf_text *out, const char *attribute, int32_t part, uint32_t colour, const char *name,
                const char *share) {
    kerf_text_printf(out, "<li%s", part >= 0 ? "" : attribute);
    if (part >= 0) kerf_text_printf(out, " data-part=\"%d\"", part);
    if (part >= 0 || *attribute == 0) /* an attribute that a page's policy lets through, as a style would not be */
        kerf_text_printf(
            out,
            "><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect width=\"1\" height=\"1\" fill=\"#%06x\"/>"
            "</svg>",
            colour);
    else
        kerf_text_add(out, "><i></i>");
    html_escape(out, name);
    if (share) kerf_text_printf(out, " <span>%s</span>", share);
    kerf_text_add(out, "</li>\n");
}

static void write_legend(struct kerf_text *out, const struct kerf_panel *panel, const struct palette *palette,
                         struct span active) {
    char share[CHART_NUMBER];
    uint32_t first = 0;
    kerf_text_add(out, "<ul class=\"legend\">\n");
    for (int32_t i = panel->num_parts; i-- > 0;)
        if (lanes_have_part(panel, i)) first = palette_part(palette, words(panel->parts[i]));
    for (int32_t i = 0; i < panel->num_parts; i++)
        if (lanes_have_part(panel, i))
            key(out, "", i, palette_part(palette, words(panel->parts[i])), words(panel->parts[i]), "");
    chart_percent(share, lanes_idle_share(panel->lanes, panel->num_lanes, active));
    key(out, " data-part=\"idle\"", -1, 0, "idle", share);
    for (int32_t i = 0; i < panel->num_shades; i++)
        key(out, "", -1, lane_tone(first, i), words(panel->shades[i]), NULL);
    kerf_text_add(out, "</ul>\n");
}

static void cell(struct kerf_text *out, const char *text) { kerf_text_printf(out, "<td>%s</td>", text); }

static void write_table(struct kerf_text *out, const struct kerf_figure *figure, int32_t p) {
    const struct kerf_panel *panel = &figure->panels[p];
    struct span window = lanes_window(figure, p), active = lanes_active(panel, window);
    int steps = panel->kind == KERF_PANEL_STEPS;
    kerf_text_printf(out,
                     "<details><summary>As a table</summary>\n<table>\n<thead><tr><th scope=\"col\">Lane</th>%s</tr>"
                     "</thead>\n<tbody>\n",
                     steps ? "<th scope=\"col\">Peak</th><th scope=\"col\">At</th>"
                           : "<th scope=\"col\">Operations</th><th scope=\"col\">Busy</th><th scope=\"col\">Idle</th>");
    for (int32_t l = 0; l < panel->num_lanes && l < TABLE_LANES_MAX; l++) {
        const struct kerf_lane *lane = &panel->lanes[l];
        char number[CHART_NUMBER];
        kerf_text_add(out, "<tr><th scope=\"row\">");
        html_escape(out, words(lane->label));
        kerf_text_add(out, "</th>");
        if (steps) {
            double x;
            chart_number(number, lane_peak(lane, window, &x), panel->unit);
            cell(out, number);
            chart_number(number, x, lanes_time_unit(figure, panel));
            cell(out, number);
        } else {
            chart_number(number, lane->num_bars, KERF_UNIT_COUNT);
            cell(out, number);
            chart_number(number, lane_busy(lane, active), panel->unit);
            cell(out, number);
            chart_percent(number, lanes_idle_share(lane, 1, active));
            cell(out, number);
        }
        kerf_text_add(out, "</tr>\n");
    }
    kerf_text_add(out, "</tbody>\n</table>\n");
    if (panel->num_lanes > TABLE_LANES_MAX)
        kerf_text_printf(out, "<p>and %d more</p>\n", panel->num_lanes - TABLE_LANES_MAX);
    kerf_text_add(out, "</details>\n");
}

static void write_panel(struct kerf_text *out, const struct kerf_figure *figure, int32_t p,
                        const struct palette *palette) {
    const struct kerf_panel *panel = &figure->panels[p];
    struct kerf_text described = {0};
    figure_describe(&(struct kerf_figure){.panels = panel, .num_panels = 1}, &described);
    out->failed |= described.failed;
    kerf_text_printf(out, "<section class=\"panel\" data-panel=\"%d\">\n", p);
    element(out, "h2", panel->title);
    if (panel->kind == KERF_PANEL_LANES)
        write_legend(out, panel, palette, lanes_active(panel, lanes_window(figure, p)));
    else
        kerf_text_add(out, "<ul class=\"legend\"></ul>\n");
    kerf_text_add(out, "<div class=\"plot\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"");
    if (panel->kind == KERF_PANEL_LANES && strcmp(words(panel->title), "Timeline") != 0)
        kerf_text_add(out, "Timeline of ");
    html_escape(out, words(described.data));
    kerf_text_add(out, "\"></canvas><canvas class=\"over\" aria-hidden=\"true\"></canvas></div>\n");
    if (*words(panel->x_label)) {
        kerf_text_add(out, "<p class=\"axis\">");
        html_escape(out, panel->x_label);
        kerf_text_add(out, "</p>\n");
    }
    write_table(out, figure, p);
    kerf_text_add(out, "</section>\n");
    kerf_text_free(&described);
}

static int32_t write_data(struct kerf_text *out, const struct kerf_figure *figure, const struct palette *palette) {
    int32_t code = KERF_OK, count = 0;
    kerf_text_add(out, "<script type=\"application/json\" class=\"data\">\n{\"time\":\"");
    for (int32_t p = figure->num_panels; p-- > 0;)
        if (figure->panels[p].kind == KERF_PANEL_LANES) count = p;
    kerf_text_printf(out, "%s\",\"panels\":[", figure->panels[count].unit == KERF_UNIT_SECONDS ? "s" : "");
    count = 0;
    for (int32_t p = 0; p < figure->num_panels && code == KERF_OK; p++) {
        if (!lanes_kind(&figure->panels[p])) continue;
        kerf_text_add(out, count++ > 0 ? ",\n" : "\n");
        code = html_lanes(out, figure, p, view_of(figure, p), palette);
    }
    kerf_text_add(out, "\n]}\n</script>\n");
    return code;
}

/* What a page shows: header, panels, footer, and their data. In a part the page around has the heading. */
static int32_t write_content(struct sheet *sheet, const struct kerf_figure *figure, int is_part, struct kerf_text *out,
                             struct kerf_error *err) {
    int32_t code = KERF_OK;
    kerf_text_add(out, "<header>\n<div>\n");
    element(out, is_part ? "h2" : "h1", figure->title);
    element(out, "p", figure->subtitle);
    kerf_text_add(out, "</div>\n<div class=\"tools\" role=\"toolbar\" aria-label=\"Zoom\">\n"
                       "<button type=\"button\" data-do=\"critical\" aria-pressed=\"false\">Critical path</button>\n"
                       "<button type=\"button\" data-do=\"out\" aria-label=\"Zoom out\">\u2212</button>\n"
                       "<button type=\"button\" data-do=\"in\" aria-label=\"Zoom in\">+</button>\n"
                       "<button type=\"button\" data-do=\"all\">All</button>\n</div>\n</header>\n");
    if (!is_part)
        kerf_text_add(out, "<noscript><p>The drawings need JavaScript; the tables below do not.</p></noscript>\n");
    for (int32_t p = 0; p < figure->num_panels && code == KERF_OK; p++) {
        const struct kerf_panel *panel = &figure->panels[p];
        if (lanes_kind(panel)) {
            write_panel(out, figure, p, &sheet->palette);
        } else {
            kerf_text_add(out, "<section class=\"chart\">\n");
            code = figure_draw_alone(&sheet->palette, panel, out, err);
            kerf_text_add(out, "</section>\n");
        }
    }
    kerf_text_add(out, "<footer>\n");
    element(out, "p", figure->footer);
    kerf_text_add(out,
                  "<p class=\"help\">Zoom with the wheel or two fingers, pan by dragging; keys: arrows, +, \u2212, 0. "
                  "Click an operation to highlight its micro-batch; press Escape to end this.</p>\n"
                  "</footer>\n<div class=\"tip\" role=\"status\" hidden></div>\n");
    return code == KERF_OK ? write_data(out, figure, &sheet->palette) : code;
}

int32_t html_timeline(struct sheet *sheet, const struct kerf_figure *figure, int32_t is_part, struct kerf_text *out,
                      struct kerf_error *err) {
    size_t start = out->length;
    if (!is_part) {
        html_begin(out, words(figure->title), 1);
        kerf_text_add(out, "<main>\n");
    }
    int32_t code = write_content(sheet, figure, is_part, out, err);
    if (!is_part) {
        kerf_text_add(out, "</main>\n<script type=\"module\">\n");
        kerf_text_add(out, web_timeline_js);
        kerf_text_add(out,
                      "timeline(document.querySelector('main'), JSON.parse(document.querySelector('.data').textContent"
                      "));\n</script>\n");
        html_end(out);
    }
    if (code == KERF_ENOMEM || out->failed) code = error_no_memory(err, "the picture");
    if (code != KERF_OK) {
        out->length = start;
        if (out->data) out->data[start] = 0;
    }
    return code;
}
