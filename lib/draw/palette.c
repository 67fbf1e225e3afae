/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours: the eight of Okabe and Ito (2008), moved in OKLab until they look calm on white and until any two are told
 * apart under simulated protanopia, deuteranopia and tritanopia (Machado et al. 2009): the nearest two are 9.4
 * hundredths of OKLab apart, 7.6 in the original; and a violet, nearer to blue. Those that stand beside each other, in
 * this order and in timelines, differ by 15 or more of CIEDE2000 under protanopia and deuteranopia. The tenth name gets a
 * lighter kind of the first colour (a darker one for a curve), the 19th the other kind. Unused time and memory
 * (bubble, idle, free) is light grey in every picture.
 *
 * The scale of heat maps goes from the palette's blue over green to a pale yellow: in OKLab each step is as much
 * lighter as the one before it, which is so under the three simulated deficiencies too.
 */
#include "draw/panel.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

static const uint32_t colours[] = {0x305DA8, 0xE4962F, 0x17906E, 0xBE78AA, 0x66C4F7,
                                   0x3C4858, 0xD0562C, 0xF9CE68, 0x9260E0};
static const uint32_t unused = 0xD5DAE0;
static const uint32_t scale[] = {0x244990, 0x26619F, 0x2C78AD, 0x2493AF, 0x43ABAB,
                                 0x66C2A7, 0x93D5A0, 0xC9E2A0, 0xF8EFB5};
static const char *const unused_names[] = {"bubble", "bubbles", "idle", "free", "unused", "waiting"};

enum { COLOURS = sizeof colours / sizeof *colours, SCALE = sizeof scale / sizeof *scale };

uint32_t palette_mix(uint32_t a, uint32_t b, double share_of_b) {
    uint32_t mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double from = a >> shift & 255, to = b >> shift & 255;
        mixed |= (uint32_t)(from + (to - from) * share_of_b + 0.5) << shift;
    }
    return mixed;
}

uint32_t palette_scale(double share) {
    double at = (share > 0 ? share < 1 ? share : 1 : 0) * (SCALE - 1);
    int32_t step = at < SCALE - 2 ? (int32_t)at : SCALE - 2;
    return palette_mix(scale[step], scale[step + 1], at - step);
}

static uint32_t numbered(int32_t number, int curve) {
    uint32_t colour = colours[number % COLOURS];
    int32_t round = number / COLOURS % 3;
    if (round == 0) return colour;
    return (round == 2) == curve ? palette_mix(colour, 0xFFFFFF, 0.5) : palette_mix(colour, 0x000000, 0.4);
}

uint32_t palette_numbered(int32_t number) { return numbered(number, 0); }

static int is_unused(const char *name) {
    for (size_t i = 0; i < sizeof unused_names / sizeof *unused_names; i++)
        if (strcasecmp(name, unused_names[i]) == 0) return 1;
    return 0;
}

static const struct palette_entry *find(const struct palette_entry *entries, int32_t count, const char *name) {
    for (int32_t i = 0; i < count; i++)
        if (strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

/* The passes of training have colours of their own in timelines, so that all timelines look alike: forward blue,
 * backward green, and its two halves sky and yellow, which together make green; what is computed again is red. -1: another
 * name. */
static int32_t number_of_pass(const char *name) {
    if (strcasestr(name, "weight")) return 7;
    if (strcasestr(name, "recomputation")) return 6;
    if (strcasestr(name, "input")) return 4;
    if (strcasestr(name, "backward")) return 2;
    return strcasestr(name, "forward") ? 0 : -1;
}

/* The next colour for a part that is none of the passes; timelines leave the passes' colours out. */
static int32_t next_number(int32_t *used, int lanes) {
    while (lanes && (*used % COLOURS == 0 || *used % COLOURS == 2 || *used % COLOURS == 4 || *used % COLOURS == 7))
        ++*used;
    return (*used)++;
}

uint32_t lane_tone(uint32_t part, int32_t shade) {
    switch (lane_shade(shade)) {
    case 1: return palette_mix(part, 0xFFFFFF, 0.42);
    case 2: return palette_mix(part, 0x000000, 0.3);
    case 3: return palette_mix(part, 0xFFFFFF, 0.66);
    default: return part;
    }
}

int32_t palette_make(struct arena *arena, const struct kerf_figure *figure, struct palette *ret_palette) {
    size_t parts = 0, curves = 0;
    for (int32_t p = 0; p < figure->num_panels; p++) {
        const struct kerf_panel *panel = &figure->panels[p];
        if (panel_has_points(panel))
            curves += (size_t)panel->num_rows;
        else if (panel->kind != KERF_PANEL_STEPS && panel->kind != KERF_PANEL_MATRIX)
            parts += (size_t)panel->num_parts;
    }
    struct palette palette = {.parts = arena_alloc(arena, parts, sizeof *palette.parts),
                              .curves = arena_alloc(arena, curves, sizeof *palette.curves)};
    if (palette.parts == NULL || palette.curves == NULL) return KERF_ENOMEM;
    int32_t used = 0;
    for (int32_t p = 0; p < figure->num_panels; p++) {
        const struct kerf_panel *panel = &figure->panels[p];
        int lanes = panel->kind == KERF_PANEL_LANES;
        int has_parts = lanes || panel_has_bars(panel) || panel->kind == KERF_PANEL_COLUMNS;
        for (int32_t i = 0; has_parts && i < panel->num_parts; i++) {
            const char *name = words(panel->parts[i]);
            if (find(palette.parts, palette.num_parts, name)) continue;
            int32_t number = lanes ? number_of_pass(name) : -1;
            for (int32_t k = 0; k < palette.num_parts; k++)
                if (palette.parts[k].number == number) number = -1; /* another part has it */
            if (is_unused(name))
                number = -1;
            else if (number < 0)
                number = next_number(&used, lanes);
            palette.parts[palette.num_parts++] =
                (struct palette_entry){name, number < 0 ? unused : numbered(number, 0), number};
        }
    }
    /* Curves and parts are not in the same picture's legend: both begin with the first colour, but a curve
     * that bears the name of a part has its colour. */
    for (int32_t p = 0; p < figure->num_panels; p++) {
        const struct kerf_panel *panel = &figure->panels[p];
        for (int32_t i = 0; panel_has_points(panel) && i < panel->num_rows; i += panel_rows_each(panel)) {
            const char *name = words(panel->rows[i].label);
            if (find(palette.curves, palette.num_curves, name)) continue;
            const struct palette_entry *part = find(palette.parts, palette.num_parts, name);
            int32_t number = palette.num_curves++;
            palette.curves[number] = (struct palette_entry){name, part ? part->colour : numbered(number, 1), number};
        }
    }
    *ret_palette = palette;
    return KERF_OK;
}

uint32_t palette_part(const struct palette *palette, const char *name) {
    const struct palette_entry *entry = find(palette->parts, palette->num_parts, name);
    assert(entry); /* palette_make has seen every name */
    return entry->colour;
}

int32_t palette_part_number(const struct palette *palette, const char *name) {
    const struct palette_entry *entry = find(palette->parts, palette->num_parts, name);
    return entry ? entry->number : -1;
}

const struct palette_entry *palette_curve(const struct palette *palette, const char *name) {
    return find(palette->curves, palette->num_curves, name);
}

double palette_light(uint32_t colour) {
    double light = 0;
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    for (int i = 0; i < 3; i++) {
        double channel = (colour >> (16 - 8 * i) & 255) / 255.0;
        light += weights[i] * channel * channel;
    }
    return light;
}

uint32_t palette_ink_on(uint32_t colour) {
    /* Above 0.36, dark text has more contrast than is lost in calm. */
    return palette_light(colour) > 0.36 ? INK_STRONG : PAPER;
}
