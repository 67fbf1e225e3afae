/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker whose times are made up, so that a study of it is the same every time: a valley over ubatch with its floor
 * at 128 to 512, on which batch has hardly any influence, and 2 % of noise that depends on the request's id alone. Its
 * clock runs by the times that it tells.
 *
 *     simulated_worker [--sleep SECONDS] [--out-of-memory UBATCH] [--dies-after ANSWERS] [--maximize]
 *
 * The environment variable SIMULATED_FLOOR moves the valley: the logarithm of its ubatch to base 2 (8). With
 * SIMULATED_WAIT="ANSWERS FILE LINES" it waits after so many answers until the file has so many lines, such as those of
 * the study's journal.
 *
 * --sleep: what a request really takes. --out-of-memory: from this ubatch on. --dies-after: and does
 * not answer the next one. --maximize: tells its speed instead.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double number_of(const char *line, const char *key) {
    const char *place = strstr(line, key);
    return place ? strtod(place + strlen(key), NULL) : 0;
}

/* Normal with deviation 1, more or less: the sum of twelve uniform numbers. */
static double noise(long id) {
    unsigned long state = (unsigned long)id * 2654435761u + 12345;
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(state >> 11) * 0x1p-53;
    }
    return sum;
}

static double truth_s(double batch, double ubatch) {
    const char *moved = getenv("SIMULATED_FLOOR");
    double off = log2(ubatch) - (moved ? atof(moved) : 8);
    double slow = (off < 0 ? 0.035 : 0.02) * off * off;
    return 0.4 * (1 + slow) * (1 + 0.001 * log2(batch / ubatch));
}

/* 0: there is no such file. */
static int lines_of(const char *path) {
    FILE *file = fopen(path, "r");
    int lines = 0;
    if (file == NULL) return 0;
    for (int c; (c = getc(file)) != EOF;) lines += c == '\n';
    fclose(file);
    return lines;
}

int main(int argc, char **argv) {
    double sleep_s = 0, out_of_memory = INFINITY, clock_s = 0;
    const char *wait = getenv("SIMULATED_WAIT");
    int maximize = 0, answers_left = INT_MAX, answers = 0, wait_after = -1, wait_lines = 0;
    char wait_for[1024] = "";
    char line[4096];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--maximize") == 0)
            maximize = 1;
        else if (strcmp(argv[i], "--sleep") == 0 && i + 1 < argc)
            sleep_s = atof(argv[++i]);
        else if (strcmp(argv[i], "--out-of-memory") == 0 && i + 1 < argc)
            out_of_memory = atof(argv[++i]);
        else if (strcmp(argv[i], "--dies-after") == 0 && i + 1 < argc)
            answers_left = atoi(argv[++i]);
    }
    if (wait && sscanf(wait, "%d %1023s %d", &wait_after, wait_for, &wait_lines) != 3) return 2;
    puts("{\"ready\":true}");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (answers_left-- == 0) return 1;
        if (answers++ == wait_after)
            while (lines_of(wait_for) < wait_lines) usleep(10000);
        long id = (long)number_of(line, "\"id\":");
        double batch = number_of(line, "\"batch\":"), ubatch = number_of(line, "\"ubatch\":");
        double limit_s = number_of(line, "\"limit_s\":"), start_s = clock_s;
        double value = truth_s(batch, ubatch) * exp(0.02 * noise(id));
        if (sleep_s > 0) usleep((useconds_t)(1e6 * sleep_s));
        clock_s += limit_s > 0 && value > limit_s ? limit_s : value;
        if (ubatch >= out_of_memory)
            printf("{\"id\":%ld,\"error\":\"CUDA out of memory\",\"kind\":\"memory\"}\n", id);
        else if (limit_s > 0 && value > limit_s)
            printf("{\"id\":%ld,\"censored\":%.17g,\"start_s\":%.17g,\"end_s\":%.17g}\n", id, limit_s, start_s,
                   clock_s);
        else
            printf("{\"id\":%ld,\"value\":%.17g,\"start_s\":%.17g,\"end_s\":%.17g}\n", id, maximize ? 1 / value : value,
                   start_s, clock_s);
        fflush(stdout);
    }
    return 0;
}
