/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast schedules are made and simulated, on one thread: operations a second from ten thousand to ten million
 * operations, and against the plain simulator (tests/reference/plain_simulate.c), in one run.
 *
 *     schedule              all sizes
 *     schedule --quick      without the largest
 *     schedule --rounds N   one size N times without a word, for a program that counts instructions
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/kerf.h"
#include "measure.h"
#include "plain_simulate.h"

struct subject {
    struct kerf_schedule_request request;
    struct kerf_schedule_times *times;
    struct kerf_schedule *schedule; /* of the last run */
    int64_t ops;
};

static void fail(const struct kerf_error *err) {
    fprintf(stderr, "bench: %s\n", err->message);
    exit(1);
}

static void make(void *context) {
    struct subject *subject = context;
    struct kerf_error err;
    kerf_schedule_free(subject->schedule);
    if (kerf_schedule_make(&subject->request, &subject->schedule, &err) != KERF_OK) fail(&err);
}

static void simulate(void *context) {
    struct subject *subject = context;
    struct kerf_timeline *timeline;
    struct kerf_error err;
    if (kerf_schedule_simulate(subject->schedule, subject->times, &timeline, &err) != KERF_OK) fail(&err);
    kerf_timeline_free(timeline);
}

static void both(void *context) {
    make(context);
    simulate(context);
}

static void plain(void *context) {
    struct subject *subject = context;
    const struct kerf_schedule *schedule = subject->schedule;
    size_t p = (size_t)schedule->devices;
    double **start = calloc(p, sizeof *start), **end = calloc(p, sizeof *end);
    for (size_t i = 0; start && end && i < p; i++) {
        start[i] = calloc((size_t)schedule->num_ops[i], sizeof(double));
        end[i] = calloc((size_t)schedule->num_ops[i], sizeof(double));
    }
    if (!start || !end || !plain_simulate(schedule, subject->times, NULL, start, end)) exit(1);
    for (size_t i = 0; i < p; i++) free(start[i]), free(end[i]);
    free(start);
    free(end);
}

static struct subject subject_of(const char *rule, int32_t devices, int32_t microbatches, int32_t chunks) {
    struct subject subject = {
        .request = {.rule = rule, .devices = devices, .microbatches = microbatches, .chunks = chunks}};
    struct kerf_schedule_times_request times;
    struct kerf_error err;
    int32_t stages;
    kerf_schedule_times_unsaid(&times);
    times.forward_s = 1, times.backward_s = 2, times.p2p_s = 0.1;
    if (kerf_schedule_stages(&subject.request, &stages, &err) != KERF_OK ||
        kerf_schedule_times_make(devices, stages, &times, &subject.times, &err) != KERF_OK)
        fail(&err);
    make(&subject);
    for (int32_t i = 0; i < devices; i++) subject.ops += subject.schedule->num_ops[i];
    return subject;
}

static void subject_free(struct subject *subject) {
    kerf_schedule_times_free(subject->times);
    kerf_schedule_free(subject->schedule);
}

static void report(struct subject *subject) {
    int runs = subject->ops > 1000000 ? 5 : 30;
    struct measure made = measure_least(runs, make, subject), ran = measure_least(runs, simulate, subject),
                   all = measure_least(runs, both, subject);
    double ops = (double)subject->ops;
    printf("%-18s %4d x %6d x %d %10lld %8.1f ns %8.1f ns %8.1f ns %8.1f M/s", subject->request.rule,
           subject->request.devices, subject->request.microbatches, subject->schedule->chunks, (long long)subject->ops,
           1e9 * made.seconds / ops, 1e9 * ran.seconds / ops, 1e9 * all.seconds / ops, ops / all.seconds / 1e6);
    if (all.instructions)
        printf(" %7.1f", (double)all.instructions / ops);
    else
        printf(" %7s", "-");
    if (subject->ops < 40000) {
        struct measure slow = measure_least(2, plain, subject);
        printf(" %8.0fx", slow.seconds / ran.seconds);
    }
    printf("\n");
}

static const struct {
    const char *rule;
    int32_t devices, microbatches, chunks;
} sizes[] = {
    {"interleaved_1f1b", 16, 80, 4},
    {"interleaved_1f1b", 32, 384, 4},
    {"interleaved_1f1b", 64, 1024, 4},
    {"interleaved_1f1b", 64, 2048, 4},
    {"interleaved_1f1b", 64, 8192, 4},
    {"interleaved_1f1b", 64, 19456, 4},
    {"1f1b", 16, 320, 0},
    {"1f1b", 64, 8192, 0},
    {"zb_h1", 16, 208, 0},
    {"zb_h1", 64, 8192, 0},
    {"dualpipe", 64, 8192, 0},
    {"zb_v", 64, 4096, 0},
};

int main(int argc, char **argv) {
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (argc > 2 && strcmp(argv[1], "--rounds") == 0) {
        struct subject subject = subject_of("interleaved_1f1b", 64, 1024, 4);
        for (int round = atoi(argv[2]); round > 0; round--) both(&subject);
        subject_free(&subject);
        return 0;
    }
    printf("%-31s %14s %11s %11s %11s %12s %7s %9s\n", "one thread, least of 30 runs", "operations", "make", "simulate",
           "both", "both", "instr.", "vs plain");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct subject subject = subject_of(sizes[i].rule, sizes[i].devices, sizes[i].microbatches, sizes[i].chunks);
        if (!quick || subject.ops < 5000000) report(&subject);
        subject_free(&subject);
    }
    int64_t instructions = measure_valgrind(argv[0], "--rounds");
    if (instructions)
        printf("instructions of 524,288 operations, by valgrind: %.1f an operation\n", (double)instructions / 524288);
    else
        printf("instructions: not counted, as valgrind is not installed\n");
    return 0;
}
