/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours that stand beside each other are told apart by eyes that see two kinds of light: CIEDE2000 (Sharma, Wu and Dalal
 * 2005) of 15 or more under protanopia and deuteranopia as Machado, Oliveira and Fernandes (2009) simulate them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include "draw/panel.h"

static const double LEAST = 15;

struct lab {
    double l, a, b;
};

static const double eyes[][3][3] = {{{0.152286, 1.052583, -0.204868},
                                     {0.114503, 0.786281, 0.099216},
                                     {-0.003882, -0.048116, 1.051998}}, /* protanopia */
                                    {{0.367322, 0.860646, -0.227968},
                                     {0.280085, 0.672501, 0.047413},
                                     {-0.011820, 0.042940, 0.968881}}, /* deuteranopia */
                                    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
enum { EYES = sizeof eyes / sizeof *eyes };

static double curve(double t) { return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116; }

static struct lab seen_by(uint32_t colour, int eye) {
    double rgb[3], seen[3];
    for (int i = 0; i < 3; i++) {
        double c = (colour >> (16 - 8 * i) & 255) / 255.0;
        rgb[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        double sum = eyes[eye][i][0] * rgb[0] + eyes[eye][i][1] * rgb[1] + eyes[eye][i][2] * rgb[2];
        seen[i] = fmin(1, fmax(0, sum));
    }
    double x = curve((0.4124564 * seen[0] + 0.3575761 * seen[1] + 0.1804375 * seen[2]) / 0.95047);
    double y = curve(0.2126729 * seen[0] + 0.7151522 * seen[1] + 0.0721750 * seen[2]);
    double z = curve((0.0193339 * seen[0] + 0.1191920 * seen[1] + 0.9503041 * seen[2]) / 1.08883);
    return (struct lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double degrees(double b, double a) {
    double h = atan2(b, a) * 180 / M_PI;
    return a == 0 && b == 0 ? 0 : h < 0 ? h + 360 : h;
}
static double cosine(double angle) { return cos(angle * M_PI / 180); }

static double ciede2000(struct lab p, struct lab q) {
    double mean_c = (hypot(p.a, p.b) + hypot(q.a, q.b)) / 2, c7 = pow(mean_c, 7);
    double g = 1 + 0.5 * (1 - sqrt(c7 / (c7 + pow(25, 7))));
    double c1 = hypot(g * p.a, p.b), c2 = hypot(g * q.a, q.b), h1 = degrees(p.b, g * p.a), h2 = degrees(q.b, g * q.a);
    double dh = c1 * c2 == 0 ? 0 : h2 - h1;
    dh += dh > 180 ? -360 : dh < -180 ? 360 : 0;
    double dl = q.l - p.l, dc = c2 - c1, big_h = 2 * sqrt(c1 * c2) * sin(dh / 2 * M_PI / 180);
    double l = (p.l + q.l) / 2, c = (c1 + c2) / 2;
    double h = c1 * c2 == 0           ? h1 + h2
               : fabs(h1 - h2) <= 180 ? (h1 + h2) / 2
               : h1 + h2 < 360        ? (h1 + h2 + 360) / 2
                                      : (h1 + h2 - 360) / 2;
    double t = 1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) - 0.2 * cosine(4 * h - 63);
    double sl = 1 + 0.015 * (l - 50) * (l - 50) / sqrt(20 + (l - 50) * (l - 50)), sc = 1 + 0.045 * c,
           sh = 1 + 0.015 * c * t;
    double turn = 30 * exp(-((h - 275) / 25) * ((h - 275) / 25)), d7 = pow(c, 7);
    double rt = -2 * sqrt(d7 / (d7 + pow(25, 7))) * sin(2 * turn * M_PI / 180);
    return sqrt(dl * dl / sl / sl + dc * dc / sc / sc + big_h * big_h / sh / sh + rt * dc / sc * big_h / sh);
}

/* Pairs 1, 4 and 7 of the paper's table of test data. */
static void the_formula_is_that_of_the_paper(void **state) {
    (void)state;
    assert_true(fabs(ciede2000((struct lab){50, 2.6772, -79.7751}, (struct lab){50, 0, -82.7485}) - 2.0425) < 1e-4);
    assert_true(fabs(ciede2000((struct lab){50, -1.3802, -84.2814}, (struct lab){50, 0, -82.7485}) - 1.0) < 1e-4);
    assert_true(fabs(ciede2000((struct lab){50, 0, 0}, (struct lab){50, -1, 2}) - 2.3669) < 1e-4);
}

static void apart(uint32_t one, uint32_t other) {
    for (int eye = 0; eye < EYES; eye++) {
        double difference = ciede2000(seen_by(one, eye), seen_by(other, eye));
        if (difference < LEAST) fail_msg("#%06x and #%06x: %.1f for eye %d", one, other, difference, eye);
    }
}

/* The parts of a timeline, each beside any other, and beside idle time by day and by night. */
static void operations_differ(void **state) {
    static const char *const names[] = {"forward", "backward", "backward of the input", "backward of the weights",
                                        "recomputation"};
    enum { PARTS = sizeof names / sizeof *names };
    const struct kerf_panel panel = {.kind = KERF_PANEL_LANES, .parts = names, .num_parts = PARTS};
    const struct kerf_figure figure = {.panels = &panel, .num_panels = 1};
    struct palette palette;
    struct arena arena = {0};
    (void)state;
    assert_int_equal(palette_make(&arena, &figure, &palette), KERF_OK);
    for (int i = 0; i < PARTS; i++) {
        apart(palette_part(&palette, names[i]), 0xF0F2F5);
        apart(palette_part(&palette, names[i]), 0x252D37);
        for (int k = 0; k < i; k++) apart(palette_part(&palette, names[i]), palette_part(&palette, names[k]));
    }
    arena_free(&arena);
}

static void neighbours_of_the_palette_differ(void **state) {
    (void)state;
    for (int32_t i = 0; i < 8; i++) apart(palette_numbered(i), palette_numbered(i + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_formula_is_that_of_the_paper),
                                       cmocka_unit_test(operations_differ),
                                       cmocka_unit_test(neighbours_of_the_palette_differ)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
