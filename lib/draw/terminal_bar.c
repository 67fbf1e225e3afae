/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacked bars for a terminal. With colour, a bar is exact to an eighth of a column: where two parts meet
 * within a column, the left one is the block's ink and the right one its ground. Without colour, every
 * part has a letter or shade of its own and takes whole columns; a bar of the first part alone still ends
 * in an eighth, as its shade is the full block.
 */
#include <math.h>
#include <string.h>
#include "base/characters.h"
#include "draw/panel.h"

/* ---- Colours and words ----------------------------------------------------------------------------------------- */

/*
 * What drawings for terminals share. Terminals with 256 colours have from number 16 on a cube of 6 x 6 x 6, and 24
 * greys; of those the one that is nearest in red, green and blue stands for a colour of the palette.
 */

uint32_t terminal_rgb(int32_t number) {
    static const uint32_t levels[6] = {0, 95, 135, 175, 215, 255};
    if (number >= 232) return (uint32_t)(8 + (number - 232) * 10) * 0x010101u;
    number -= 16;
    return levels[number / 36] << 16 | levels[number / 6 % 6] << 8 | levels[number % 6];
}

int32_t terminal_nearest(uint32_t colour) {
    int32_t nearest = 16, least = INT32_MAX;
    for (int32_t i = 16; i < 256; i++) {
        int32_t distance = 0;
        for (int shift = 0; shift <= 16; shift += 8) {
            int32_t apart = (int32_t)(terminal_rgb(i) >> shift & 255) - (int32_t)(colour >> shift & 255);
            distance += apart * apart;
        }
        if (distance < least) least = distance, nearest = i;
    }
    return nearest;
}

int32_t terminal_ink_on(int32_t number) { return palette_light(terminal_rgb(number)) > 0.2 ? 16 : 231; }

int32_t terminal_word(struct kerf_text *out, const char *word, int32_t most) {
    struct kerf_text clean = {0};
    text_clean(&clean, word);
    out->failed |= clean.failed;
    const char *at = words(clean.data), *start = at;
    int32_t taken = 0, whole = utf8_columns(start);
    while (taken < most && text_next(&at)) taken++;
    if (taken < whole && most > 1) { /* cut, with a sign of it */
        at = start;
        for (int32_t i = 0; i < most - 1; i++) text_next(&at);
        kerf_text_write(out, start, (size_t)(at - start));
        kerf_text_add(out, "\u2026");
    } else
        kerf_text_write(out, start, (size_t)(at - start));
    kerf_text_free(&clean);
    return taken;
}

/* ---- Bars ------------------------------------------------------------------------------------------------------- */

/* xterm's 256 colours that are nearest to the palette of the pictures, then lighter ones. */
static const uint8_t colours[] = {67, 215, 36, 176, 117, 102, 167, 222, 110, 223, 115, 182, 153, 216, 248, 229};
static const char *const shades[] = {"\u2588", "\u2593", "\u2592", "\u2591", "#", "=", "o",
                                     "+",      ":",      "%",      "x",      "-", "&", "s"};
static const char *const eighths[] = {"",       "\u258F", "\u258E", "\u258D", "\u258C",
                                      "\u258B", "\u258A", "\u2589", "\u2588"};

enum { COLOURS = sizeof colours, SHADES = sizeof shades / sizeof *shades };

int32_t terminal_part_colour(int32_t number) { return number < 0 ? 250 : colours[number % COLOURS]; }

struct bar {
    const double *values;
    int32_t count;
    double full;
    int64_t units; /* eighths of a column, or columns, that `full` is long */
};

static double clean(double value) { return value > 0 ? fmin(value, 1e290) : 0; }

/* Where part number `part` ends, in units, when the sum of the parts before it is `before`. */
static int64_t edge(const struct bar *bar, double before) {
    double share = before / bar->full;
    return share >= 1 ? bar->units : (int64_t)floor(share * (double)bar->units + 0.5);
}

static void paint(struct kerf_text *out, int32_t ink, int32_t ground, int32_t *last_ink, int32_t *last_ground) {
    if (ink == *last_ink && ground == *last_ground) return;
    kerf_text_add(out, *last_ground >= 0 && ground < 0 ? "\033[0;38;5;" : "\033[38;5;");
    kerf_text_printf(out, "%d", colours[ink % COLOURS]);
    if (ground >= 0) kerf_text_printf(out, ";48;5;%d", colours[ground % COLOURS]);
    kerf_text_add(out, "m");
    *last_ink = ink, *last_ground = ground;
}

static void coloured(struct kerf_text *out, const struct bar *bar) {
    int32_t part = 0, ink = -1, ground = -1;
    double sum = bar->count > 0 ? clean(bar->values[0]) : 0; /* of the parts up to `part` */
    for (int64_t start = 0; part < bar->count; start += 8) {
        while (edge(bar, sum) <= start && ++part < bar->count) sum += clean(bar->values[part]);
        if (part == bar->count) break;
        /* In the column [start, start + 8): how much of it the first part has, and who has most of the rest.
         */
        int64_t first = edge(bar, sum) < start + 8 ? edge(bar, sum) - start : 8, filled = first;
        int64_t most = 0;
        int32_t second = -1;
        double later = sum;
        for (int32_t i = part + 1; i < bar->count && filled < 8; i++) {
            later += clean(bar->values[i]);
            int64_t end = edge(bar, later) < start + 8 ? edge(bar, later) - start : 8;
            if (end - filled > most) most = end - filled, second = i;
            filled = end;
        }
        if (filled == 8 && second >= 0) {
            paint(out, part, second, &ink, &ground);
            kerf_text_add(out, eighths[first]);
        } else { /* of two parts in the bar's last, unfilled column the larger is seen */
            paint(out, most > first ? second : part, -1, &ink, &ground);
            kerf_text_add(out, eighths[filled]);
        }
    }
    if (ink >= 0) kerf_text_add(out, "\033[0m");
}

static void plain(struct kerf_text *out, const struct bar *bar) {
    double sum = 0;
    int64_t at = 0;
    int32_t others = 0; /* 1: a part behind the first takes a share */
    for (int32_t part = 1; part < bar->count; part++) others |= clean(bar->values[part]) > 0;
    if (!others) {
        struct bar fine = *bar;
        fine.units *= 8;
        int64_t end = bar->count > 0 ? edge(&fine, clean(bar->values[0])) : 0;
        kerf_text_repeat(out, eighths[8], (int32_t)(end / 8));
        kerf_text_add(out, eighths[end % 8]);
        return;
    }
    for (int32_t part = 0; part < bar->count; part++) {
        sum += clean(bar->values[part]);
        int64_t end = edge(bar, sum);
        kerf_text_repeat(out, shades[part % SHADES], (int32_t)(end - at));
        at = end;
    }
}

void kerf_bar_terminal(struct kerf_text *out, const double *values, int32_t num_values, double full, int32_t columns,
                       int32_t colour) {
    struct bar bar = {values, num_values, full, colour ? (int64_t)columns * 8 : columns};
    if (columns <= 0 || !(full > 0)) return;
    if (colour)
        coloured(out, &bar);
    else
        plain(out, &bar);
}

void kerf_bar_terminal_key(struct kerf_text *out, int32_t part, int32_t colour) {
    uint32_t number = part < 0 ? 0 : (uint32_t)part;
    if (colour)
        kerf_text_printf(out, "\033[38;5;%dm\u2588\033[0m", colours[number % COLOURS]);
    else
        kerf_text_add(out, shades[number % SHADES]);
}
