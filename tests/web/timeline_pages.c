/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the timeline of a schedule as a picture, for the browser's tests and to be looked at:
 *
 *   timeline_pages RULE DEVICES MICROBATCHES FILE [FROM TO]
 *
 * FILE - and --N print it as a terminal shows it, in colour and in N columns of letters.
 */
#include <time.h>

#include "../unit/lane_sample.h"

int main(int argc, char **argv) {
    if (argc != 5 && argc != 7) {
        fprintf(stderr, "usage: timeline_pages RULE DEVICES MICROBATCHES FILE [FROM TO]\n");
        return 2;
    }
    struct sample sample = sample_make(argv[1], atoi(argv[2]), atoi(argv[3]), 1, 2);
    struct kerf_panel panels[] = {sample_panel(&sample, KERF_PANEL_LANES), sample_panel(&sample, KERF_PANEL_STEPS)};
    const char *const shades[] = {"chunk 0", "chunk 1"};
    if (sample.num_lanes > 0 && strstr(argv[1], "interleaved")) panels[0].shades = shades, panels[0].num_shades = 2;
    for (int32_t p = 0; p < 2 && argc == 7; p++) panels[p].x_from = atof(argv[5]), panels[p].x_to = atof(argv[6]);
    if (argv[4][0] == '-') {
        struct kerf_text text = {0};
        int32_t columns = argv[4][1] == '-' ? atoi(argv[4] + 2) : 120;
        kerf_lanes_terminal(&text, &panels[0], columns, argv[4][1] != '-');
        if (text.data) fputs(text.data, stdout);
        kerf_text_free(&text);
        sample_free(&sample);
        return 0;
    }
    char title[128], subtitle[128];
    snprintf(title, sizeof title, "%s on %s devices", argv[1], argv[2]);
    snprintf(subtitle, sizeof subtitle, "%s micro-batches, %lld operations </script><b>&", argv[3],
             (long long)sample.num_bars);
    const struct kerf_figure figure = {title, subtitle, panels, 2, "forward 1 s, backward 2 s"};
    enum kerf_picture_format format;
    struct kerf_error err;
    struct kerf_text out = {0};
    int32_t code = kerf_picture_format_of(argv[4], &format, &err);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (code == KERF_OK) code = kerf_figure_draw(&figure, format, &out, &err);
    clock_gettime(CLOCK_MONOTONIC, &after);
    if (code != KERF_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    FILE *file = fopen(argv[4], "w");
    if (file == NULL || fwrite(out.data, 1, out.length, file) != out.length || fclose(file) != 0) {
        perror(argv[4]);
        return 1;
    }
    printf("%s: %lld operations, %.1f kB, %.0f ms\n", argv[4], (long long)sample.num_bars, (double)out.length / 1e3,
           (double)(after.tv_sec - before.tv_sec) * 1e3 + (double)(after.tv_nsec - before.tv_nsec) / 1e6);
    kerf_text_free(&out);
    sample_free(&sample);
    return 0;
}
