/* SPDX-License-Identifier: Apache-2.0 */
/* A study as a picture: the surface of its settings, and the best of them with their intervals. */
#include <math.h>
#include <stdlib.h>
#include "cli/tune_surface.h"

enum { BARS = 8 };

static struct kerf_chart_row bar(const struct tune_report *report, struct sketch *sketch, int32_t setting) {
    const struct kerf_tune_estimate *estimate = &report->answer.settings[setting];
    const struct kerf_study_request *request = report->state->request;
    struct kerf_text label = {0}, note = {0};
    double *value = sketch_alloc(sketch, 1, sizeof *value);
    kerf_tune_setting_write(report->state->space, setting, &label);
    words_objective(&note, request, estimate->mean);
    if (tune_is_interval(estimate->interval)) {
        kerf_text_add(&note, " (");
        words_interval(&note, request, estimate->interval, " to ");
        kerf_text_add(&note, ")");
    }
    if (!isnan(estimate->probability_within)) {
        kerf_text_add(&note, ", ");
        words_chance(&note, estimate->probability_within);
    }
    if (value) *value = fmax(estimate->mean, 0);
    return (struct kerf_chart_row){sketch_text(sketch, &label), NULL, value, sketch_text(sketch, &note)};
}

static int32_t fill_bars(const struct tune_report *report, struct sketch *sketch, struct kerf_chart_row bars[BARS]) {
    int32_t *order = tune_order(report), count = 0;
    if (order == NULL) sketch->failed = 1;
    for (int32_t i = 0; order && i < report->state->space->num_settings && count < BARS; i++) {
        if (report->answer.settings[order[i]].status != KERF_TUNE_MEASURED) break;
        bars[count++] = bar(report, sketch, order[i]);
    }
    free(order);
    return count;
}

static const char *title(const struct tune_report *report, struct sketch *sketch) {
    struct kerf_text text = {0};
    if (report->answer.best < 0)
        kerf_text_add(&text, "Nothing was measured");
    else
        kerf_tune_setting_write(report->state->space, report->answer.recommended, &text);
    return sketch_text(sketch, &text);
}

/* The sentences as one paragraph, up to the third: more has no room. */
static const char *subtitle(const struct tune_report *report, struct sketch *sketch) {
    enum { SENTENCES = 3 };
    struct kerf_text words = {0};
    int32_t sentences = 0;
    words_study(&words, report, 0);
    for (char *c = words.data; c && *c; c++)
        if (*c == '\n') *c = ++sentences < SENTENCES && c[1] ? ' ' : 0;
    return sketch_text(sketch, &words);
}

static const char *footer(const struct tune_report *report, struct sketch *sketch) {
    struct kerf_text text = {0};
    kerf_text_printf(&text, "kerf %s", kerf_version());
    if (report->state->id[0]) kerf_text_printf(&text, ", study %s", report->state->id);
    return sketch_text(sketch, &text);
}

int32_t print_tune_picture(struct kerf_text *out, const struct tune_report *report, enum kerf_picture_format format,
                           struct kerf_error *err) {
    static const char *const part = "mean";
    const char *unit = kerf_study_request_unit(report->state->request);
    struct sketch sketch = {.failed = 0};
    struct kerf_chart_row bars[BARS];
    struct kerf_panel panels[2];
    int32_t num_panels = tune_surface(report, &sketch, &panels[0]);
    struct kerf_text heading = {0};
    kerf_text_add(&heading, "The best, and how likely each is within ");
    words_share(&heading, report->state->request->within);
    kerf_text_add(&heading, " of the best of all");
    if (num_panels) panels[0].title = "All settings, as multiples of the best";
    panels[num_panels++] = (struct kerf_panel){.kind = KERF_PANEL_BARS,
                                               .title = sketch_text(&sketch, &heading),
                                               .unit = unit[0] == 's'   ? KERF_UNIT_SECONDS
                                                       : unit[0] == 'B' ? KERF_UNIT_BYTES
                                                                        : KERF_UNIT_NONE,
                                               .rows = bars,
                                               .num_rows = fill_bars(report, &sketch, bars),
                                               .parts = &part,
                                               .num_parts = 1};
    const struct kerf_figure figure = {title(report, &sketch), subtitle(report, &sketch), panels, num_panels,
                                       footer(report, &sketch)};
    int32_t code = sketch.failed ? kerf_error_set(err, KERF_ENOMEM, "not enough memory for the picture")
                                 : kerf_figure_draw(&figure, format, out, err);
    sketch_free(&sketch);
    return code;
}
