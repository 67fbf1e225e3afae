/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a figure with timelines: title, a section for each panel - a canvas that the script draws on, a legend
 * and a table of the same numbers for who cannot see it or runs no scripts - then the data and the script.
 */
#include <math.h>
#include "base/error_fill.h"
#include "draw/figure_page.h"
#include "draw/html_lanes.h"

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
    kerf_text_add(out, "><i");
    if (part >= 0 || *attribute == 0) kerf_text_printf(out, " style=\"background:#%06x\"", colour);
    kerf_text_add(out, "></i>");
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
    kerf_text_add(out, "<script type=\"application/json\" id=\"data\">\n{\"time\":\"");
    for (int32_t p = figure->num_panels; p-- > 0;)
        if (figure->panels[p].kind == KERF_PANEL_LANES) count = p;
    kerf_text_printf(out, "%s\",\"panels\":[", figure->panels[count].unit == KERF_UNIT_SECONDS ? "s" : "");
    count = 0;
    for (int32_t p = 0; p < figure->num_panels && code == KERF_OK; p++) {
        if (!lanes_kind(&figure->panels[p])) continue;
        kerf_text_add(out, count++ > 0 ? ",\n" : "\n");
        code = html_lanes(out, figure, p, view_of(figure, p), palette);
    }
    kerf_text_add(out, "\n]}\n</script>\n<script>\n");
    kerf_text_add(out, web_timeline_js);
    kerf_text_add(out, "</script>\n");
    return code;
}

int32_t html_timeline(struct sheet *sheet, const struct kerf_figure *figure, struct kerf_text *out,
                      struct kerf_error *err) {
    size_t start = out->length;
    int32_t code = KERF_OK;
    html_begin(out, words(figure->title), 1);
    kerf_text_add(out, "<main>\n<header>\n<div>\n");
    element(out, "h1", figure->title);
    element(out, "p", figure->subtitle);
    kerf_text_add(out, "</div>\n<div class=\"tools\" role=\"toolbar\" aria-label=\"Zoom\">\n"
                       "<button type=\"button\" data-do=\"out\" aria-label=\"Zoom out\">\u2212</button>\n"
                       "<button type=\"button\" data-do=\"in\" aria-label=\"Zoom in\">+</button>\n"
                       "<button type=\"button\" data-do=\"all\">All</button>\n</div>\n</header>\n"
                       "<noscript><p>The drawings need JavaScript; the tables below do not.</p></noscript>\n");
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
                  "Click an operation to see its micro-batch everywhere; Escape ends that.</p>\n"
                  "</footer>\n</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n");
    if (code == KERF_OK) code = write_data(out, figure, &sheet->palette);
    html_end(out);
    if (code == KERF_ENOMEM || out->failed) code = error_no_memory(err, "the picture");
    if (code != KERF_OK) {
        out->length = start;
        if (out->data) out->data[start] = 0;
    }
    return code;
}
