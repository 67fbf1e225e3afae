/* SPDX-License-Identifier: Apache-2.0 */
/* What a decision takes: a job that exploits, with eight sizes, after a history of so many runs. */
#include "job_speed.h"

#include <stdio.h>
#include <stdlib.h>

#include "kerf/jobs.h"
#include "measure.h"

enum { SIZES = 8, CYCLES = 200, REPEATS = 5 };

struct subject {
    struct kerf_job *job;
    int64_t runs;
};

static void cycle(struct subject *subject) {
    struct kerf_decision decision;
    struct kerf_answer answer;
    if (kerf_job_predict(subject->job, 1, &decision, NULL) != KERF_OK) exit(1);
    struct kerf_report report = {.batch_size = decision.trial.batch_size,
                                 .trial_number = decision.trial.number,
                                 .time_s = 1,
                                 .energy_j = 1000 + (double)(decision.trial.number * 7919 % 101),
                                 .metric = 1,
                                 .current_epoch = 1};
    if (kerf_job_report(subject->job, &decision.trial, &report, 1, &answer, NULL) != KERF_OK) exit(1);
    subject->runs++;
}

static void cycles(void *context) {
    for (int i = 0; i < CYCLES; i++) cycle(context);
}

static struct kerf_job *create(const char *policy, int64_t window) {
    static const int64_t sizes[SIZES] = {8, 16, 32, 64, 128, 256, 512, 1024};
    struct kerf_job_spec spec;
    struct kerf_job *job = NULL;
    kerf_job_spec_defaults(&spec);
    spec.gpu_model = "V100";
    spec.number_of_gpus = 1;
    spec.max_power = 300;
    spec.batch_sizes = sizes;
    spec.num_batch_sizes = SIZES;
    spec.default_batch_size = 64;
    spec.window_size = window;
    spec.has_mab_seed = 1;
    spec.policy = policy;
    return kerf_job_create(&spec, 0, &job, NULL) == KERF_OK ? job : NULL;
}

/* Costs of the size that runs most: what a report adds up where the window is 0. */
static int64_t most_runs(const struct kerf_job *job) {
    int32_t count;
    const struct kerf_arm *arms = kerf_job_arms(job, &count);
    int64_t most = 0;
    for (int32_t i = 0; i < count; i++)
        if (arms[i].num_observations > most) most = arms[i].num_observations;
    return most;
}

static void row(const char *policy, int64_t window, int64_t history) {
    struct subject subject = {.job = create(policy, window)};
    if (subject.job == NULL) exit(1);
    while (subject.runs < history) cycle(&subject);
    double seconds = measure_least(REPEATS, cycles, &subject).seconds / CYCLES;
    printf("%-8s %8lld %10lld %12.0f %14lld %10zu\n", policy, (long long)window, (long long)history, seconds * 1e9,
           (long long)most_runs(subject.job), kerf_job_memory(subject.job));
    kerf_job_free(subject.job);
}

void measure_decisions(void) {
    static const int64_t histories[] = {10, 1000, 100000};
    printf("%-8s %8s %10s %12s %14s %10s\n", "policy", "window", "history", "ns a cycle", "largest size", "bytes");
    for (int i = 0; i < 3; i++) row("zeus", 10, histories[i]);
    for (int i = 0; i < 3; i++) row("kerf", 0, histories[i]);
    for (int i = 0; i < 3; i++) row("zeus", 0, histories[i]);
}
