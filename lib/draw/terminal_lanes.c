/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines for a terminal: a line for each lane, cells of characters instead of pixels. A cell belongs to what fills
 * most of it, and is idle only when most of it is. Of two operations that run together, colour shows one above the
 * other in half blocks, letters show both in turn.
 */
#include "base/characters.h"
#include "draw/lanes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LINES = 128, MOST_LABEL = 24 };

/* How much of a cell bars of one part and shade fill, whole ones and split ones apart. */
struct share {
    double cover;
    double best;                    /* the most that one bar fills */
    const struct kerf_lane_bar *of; /* that bar */
};

struct cell {
    const struct kerf_lane_bar *bar; /* NULL: idle */
};

struct terminal {
    struct kerf_text *out;
    const struct kerf_panel *panel;
    int32_t *backgrounds; /* [num_parts][LANE_SHADES] of xterm's 256 colours */
    struct arena arena;
    struct span window;
    int32_t columns, colour;
    int32_t label, cells; /* columns of the labels, of the axis */
    int32_t group;        /* lanes in a line */
    int32_t kinds;        /* of shares in a cell */
    struct share *shares; /* [cells][kinds] */
    struct cell *line;    /* [cells] */
};

static int32_t background(const struct terminal *terminal, int32_t part, int32_t shade) {
    return terminal->backgrounds[part * LANE_SHADES + lane_shade(shade)];
}

static char letter(const struct terminal *terminal, int32_t part) {
    const struct kerf_panel *panel = terminal->panel;
    const char *name = panel->part_letters ? words(panel->part_letters[part]) : words(panel->parts[part]);
    char c = *name;
    if (c >= 'a' && c <= 'z' && panel->part_letters == NULL) c = (char)(c - 'a' + 'A');
    return c > ' ' && c < 127 ? c : '#';
}

static void cover(struct terminal *terminal, const struct kerf_lane_bar *bar) {
    double scale = terminal->cells / (terminal->window.to - terminal->window.from);
    double from = fmax((bar->start - terminal->window.from) * scale, 0);
    double to = fmin((bar->end - terminal->window.from) * scale, terminal->cells);
    int32_t kind = 2 * (bar->part * LANE_SHADES + lane_shade(bar->shade)) + (bar->with_part >= 0);
    for (int32_t c = (int32_t)from; c < to && c < terminal->cells; c++) {
        struct share *share = &terminal->shares[c * terminal->kinds + kind];
        double part = fmin(to, c + 1) - fmax(from, c);
        share->cover += part;
        if (part > share->best) share->best = part, share->of = bar;
    }
}

static void fill_line(struct terminal *terminal, int32_t first, int32_t count) {
    memset(terminal->shares, 0, sizeof *terminal->shares * (size_t)terminal->cells * (size_t)terminal->kinds);
    for (int32_t l = first; l < first + count; l++) {
        const struct kerf_lane *lane = &terminal->panel->lanes[l];
        for (int32_t i = lane_first(lane, terminal->window.from);
             i < lane->num_bars && lane->bars[i].start < terminal->window.to; i++)
            cover(terminal, &lane->bars[i]);
    }
    for (int32_t c = 0; c < terminal->cells; c++) {
        const struct share *shares = &terminal->shares[c * terminal->kinds], *most = NULL;
        double busy = 0;
        for (int32_t k = 0; k < terminal->kinds; k++) {
            busy += shares[k].cover;
            if (shares[k].of && (most == NULL || shares[k].cover > most->cover)) most = &shares[k];
        }
        terminal->line[c].bar = most && busy >= 0.5 * count ? most->of : NULL;
    }
}

/* The number of a run of cells that show one bar, where it has room; `room` is what the number may take. */
static int32_t number_of(const struct terminal *terminal, const struct kerf_lane_bar *bar, int32_t run, char text[16]) {
    int32_t length = snprintf(text, 16, "%d", bar->number);
    return terminal->group == 1 && bar->number >= 0 && length < run ? length : 0;
}

static void draw_plain(const struct terminal *terminal, int32_t end) {
    for (int32_t c = 0; c < end;) {
        const struct kerf_lane_bar *bar = terminal->line[c].bar;
        int32_t run = 1;
        while (c + run < end && terminal->line[c + run].bar == bar) run++;
        char number[16];
        int32_t length = bar ? number_of(terminal, bar, run, number) : 0;
        for (int32_t k = 0; k < run; k++) {
            char byte = '.';
            if (bar) byte = letter(terminal, bar->with_part >= 0 && k % 2 ? bar->with_part : bar->part);
            if (bar && k > 0 && k <= length && bar->with_part < 0) byte = number[k - 1];
            kerf_text_write(terminal->out, &byte, 1);
        }
        c += run;
    }
}

static void draw_coloured(const struct terminal *terminal, int32_t end) {
    int32_t ink = -1, ground = -1;
    for (int32_t c = 0; c < end;) {
        const struct kerf_lane_bar *bar = terminal->line[c].bar;
        int32_t run = 1;
        while (c + run < end && terminal->line[c + run].bar == bar) run++;
        if (bar == NULL) {
            if (ground >= 0) kerf_text_add(terminal->out, "\033[0m");
            ink = ground = -1;
            kerf_text_repeat(terminal->out, " ", run);
            c += run;
            continue;
        }
        int split = bar->with_part >= 0;
        int32_t top = background(terminal, bar->part, bar->shade);
        int32_t on = split ? background(terminal, bar->with_part, bar->with_shade) : top;
        int32_t with = split ? top : terminal_ink_on(top);
        if (on != ground || with != ink) kerf_text_printf(terminal->out, "\033[38;5;%d;48;5;%dm", with, on);
        ink = with, ground = on;
        char number[16];
        int32_t length = split ? 0 : number_of(terminal, bar, run, number), before = (run - length) / 2;
        kerf_text_repeat(terminal->out, split ? "\u2580" : " ", length ? before : run);
        if (length) {
            kerf_text_add(terminal->out, number);
            kerf_text_repeat(terminal->out, " ", run - length - before);
        }
        c += run;
    }
    if (ground >= 0) kerf_text_add(terminal->out, "\033[0m");
}

static void draw_line(struct terminal *terminal, int32_t l) {
    int32_t count = terminal->panel->num_lanes - l, end = terminal->cells;
    if (count > terminal->group) count = terminal->group;
    if (terminal->label > 0) {
        int32_t taken = terminal_word(terminal->out, words(terminal->panel->lanes[l].label), terminal->label - 1);
        kerf_text_repeat(terminal->out, " ", terminal->label - taken);
    }
    fill_line(terminal, l, count);
    if (terminal->colour) /* no spaces at the end of a line */
        while (end > 0 && terminal->line[end - 1].bar == NULL) end--;
    if (terminal->colour)
        draw_coloured(terminal, end);
    else
        draw_plain(terminal, end);
    kerf_text_add(terminal->out, "\n");
}

/* Ticks and their labels behind them: "|0      |10 s". */
static void draw_axis(const struct terminal *terminal) {
    const double cell = 8; /* pixels, of which a digit of font_tick takes 7 */
    struct axis axis = {.low = terminal->window.from,
                        .high = terminal->window.to,
                        .to = terminal->cells * cell,
                        .unit = terminal->panel->unit,
                        .least_gap = fmin(9 * cell, terminal->cells * cell / 3)};
    axis_ticks(&axis);
    int32_t at = -terminal->label;
    for (int32_t i = 0; i < axis.num_ticks; i++) {
        int32_t c = (int32_t)(axis_place(&axis, axis.ticks[i]) / cell + 1e-9);
        int32_t length = utf8_columns(axis.labels[i]);
        if (c < at || c + 1 + length > terminal->cells) continue;
        kerf_text_repeat(terminal->out, " ", c - at);
        kerf_text_printf(terminal->out, "|%s", axis.labels[i]);
        at = c + 1 + length;
    }
    kerf_text_add(terminal->out, "\n");
}

/* One entry of the legend, on a line of its own where it does not fit behind the others. */
static void add_key(const struct terminal *terminal, int32_t *at, int32_t part, int32_t shade, const char *name) {
    int32_t width = utf8_columns(name) + 2;
    if (*at > 0 && *at + 2 + width > terminal->columns) {
        kerf_text_add(terminal->out, "\n");
        *at = 0;
    }
    if (*at > 0) kerf_text_add(terminal->out, "  ");
    *at += (*at > 0 ? 2 : 0) + 2;
    char sign = part < 0 ? '.' : letter(terminal, part);
    if (terminal->columns < 4) return;
    if (terminal->colour && part >= 0)
        kerf_text_printf(terminal->out, "\033[48;5;%dm \033[0m ", background(terminal, part, shade));
    else
        kerf_text_printf(terminal->out, "%c ", terminal->colour ? ' ' : sign);
    *at += terminal_word(terminal->out, name, terminal->columns - *at);
}

static void draw_legend(const struct terminal *terminal) {
    const struct kerf_panel *panel = terminal->panel;
    int32_t at = 0;
    for (int32_t i = 0; i < panel->num_parts; i++)
        if (lanes_have_part(panel, i)) add_key(terminal, &at, i, 0, words(panel->parts[i]));
    char share[CHART_NUMBER], idle[CHART_NUMBER + 8];
    chart_percent(share, lanes_idle_share(panel->lanes, panel->num_lanes, lanes_active(panel, terminal->window)));
    snprintf(idle, sizeof idle, "idle %s", share);
    add_key(terminal, &at, -1, 0, idle);
    for (int32_t i = 0; terminal->colour && i < panel->num_shades && panel->num_parts > 0; i++)
        add_key(terminal, &at, 0, i, words(panel->shades[i]));
    kerf_text_add(terminal->out, "\n");
}

/* Where everything starts and ends at multiples of one time, that time gets whole cells, so that equal durations look
 * equal: at least half of the cells are used. */
static int32_t whole_cells(const struct terminal *terminal, int32_t cells) {
    const struct kerf_panel *panel = terminal->panel;
    double unit = HUGE_VAL, from = terminal->window.from;
    for (int32_t l = 0; l < panel->num_lanes; l++)
        for (int32_t i = 0; i < panel->lanes[l].num_bars; i++) {
            double took = panel->lanes[l].bars[i].end - panel->lanes[l].bars[i].start;
            if (took > 0) unit = fmin(unit, took);
        }
    double units = (terminal->window.to - from) / unit;
    if (!(units >= 1) || units > cells || fabs(units - round(units)) > 1e-6) return cells;
    for (int32_t l = 0; l < panel->num_lanes; l++)
        for (int32_t i = 0; i < panel->lanes[l].num_bars; i++) {
            double start = (panel->lanes[l].bars[i].start - from) / unit;
            double end = (panel->lanes[l].bars[i].end - from) / unit;
            if (fabs(start - round(start)) > 1e-6 || fabs(end - round(end)) > 1e-6) return cells;
        }
    return (int32_t)round(units) * (int32_t)(cells / round(units));
}

static void place(struct terminal *terminal) {
    const struct kerf_panel *panel = terminal->panel;
    terminal->group = (panel->num_lanes + MOST_LINES - 1) / MOST_LINES;
    for (int32_t l = 0; l < panel->num_lanes; l++) {
        int32_t width = utf8_columns(words(panel->lanes[l].label));
        if (width > terminal->label) terminal->label = width;
    }
    int32_t most = terminal->columns / 3 < MOST_LABEL ? terminal->columns / 3 : MOST_LABEL;
    if (terminal->label > most) terminal->label = most;
    terminal->label = terminal->label > 1 ? terminal->label + 1 : 0;
    terminal->cells = whole_cells(terminal, terminal->columns - terminal->label);
}

static int32_t choose_backgrounds(struct terminal *terminal, const struct kerf_figure *figure) {
    int32_t num_parts = terminal->panel->num_parts;
    struct palette palette;
    terminal->backgrounds = arena_alloc(&terminal->arena, (size_t)num_parts * LANE_SHADES, sizeof(int32_t));
    if (terminal->backgrounds == NULL || palette_make(&terminal->arena, figure, &palette) != KERF_OK)
        return KERF_ENOMEM;
    for (int32_t i = 0; i < num_parts * LANE_SHADES; i++) {
        const char *name = words(terminal->panel->parts[i / LANE_SHADES]);
        int32_t base = terminal_part_colour(palette_part_number(&palette, name));
        terminal->backgrounds[i] =
            i % LANE_SHADES == 0 ? base : terminal_nearest(lane_tone(terminal_rgb(base), i % LANE_SHADES));
    }
    return KERF_OK;
}

void kerf_lanes_terminal(struct kerf_text *out, const struct kerf_panel *panel, int32_t columns, int32_t colour) {
    const struct kerf_figure figure = {.panels = panel, .num_panels = 1};
    if (columns < 4 || panel->kind != KERF_PANEL_LANES || panel->num_lanes == 0 ||
        lanes_check(panel, 1, NULL) != KERF_OK)
        return;
    struct terminal terminal = {.out = out, .panel = panel, .columns = columns, .colour = colour};
    terminal.window = lanes_window(&figure, 0);
    terminal.kinds = 2 * LANE_SHADES * panel->num_parts;
    place(&terminal);
    terminal.line = arena_alloc(&terminal.arena, (size_t)terminal.cells, sizeof *terminal.line);
    terminal.shares =
        arena_alloc(&terminal.arena, (size_t)terminal.cells * (size_t)terminal.kinds, sizeof *terminal.shares);
    if (terminal.line && terminal.shares && choose_backgrounds(&terminal, &figure) == KERF_OK) {
        draw_legend(&terminal);
        for (int32_t l = 0; l < panel->num_lanes; l += terminal.group) draw_line(&terminal, l);
        draw_axis(&terminal);
        if (terminal.group > 1) {
            char note[64];
            snprintf(note, sizeof note, "each line: %d lanes", terminal.group);
            terminal_word(out, note, columns);
            kerf_text_add(out, "\n");
        }
    } else
        out->failed = 1;
    arena_free(&terminal.arena);
}
