/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pareto fronts of two objectives: how often the policy `kerf` is right (for each of all settings one of its front is at most 3 %
 * worse in either objective), how often it says so, and how often the plain means of as many runs at random would be.
 *
 *     pareto_fronts [SEEDS] [FIRST] [CASE]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/random.h"
#include "base/threads.h"
#include "kerf/tune.h"

enum { PARAMS_MAX = 4, SEEDS_MAX = 400, SETTINGS_MAX = 200 };

/* value[k]: the integer of parameter k, or the index of its word. */
typedef void (*pair)(const double *value, double ret[2]);

static void micro_batches(const double *v, double ret[2]) { /* batch, ubatch: seconds and bytes */
    ret[0] = 1 + 8 / v[1] + 0.0004 * v[1] + 12 / v[0];
    ret[1] = 2e8 + 4e5 * v[0] + 3e6 * v[1];
}

static void threads(const double *v, double ret[2]) { /* seconds and joules */
    ret[0] = (1 + 0.04 * (v[0] - 1) + 0.0006 * v[0] * (v[0] - 1)) / v[0];
    ret[1] = ret[0] * (20 + 6 * v[0]);
}

static void cache(const double *v, double ret[2]) { /* size of a cache, its type: latency and memory, in steps */
    static const double slower[] = {1, 1.08, 1.3}, smaller[] = {1, 0.55, 0.3};
    int kind = (int)v[1];
    ret[0] = slower[kind] * (1 + 3 / sqrt(v[0]));
    ret[1] = smaller[kind] * ceil(v[0] / 8) * 8e6 + 5e7;
}

static void server(const double *v, double ret[2]) { /* slots, batch: the time of a token and the latency */
    ret[0] = (1 + 0.08 * v[0]) / v[0] * (1 + 6 / v[1]);
    ret[1] = 20 + 3 * v[0] + 0.2 * v[1] + 40 / v[1];
}

static void words(const double *v, double ret[2]) { /* no order at all */
    static const double one[] = {1.3, 1.1, 1.12, 1, 1.25, 1.08, 1.4, 1.04, 1.9, 1.15, 1.2, 1.06};
    static const double other[] = {5, 9, 7, 12, 4, 8, 3.5, 11, 3, 6.5, 8.5, 10};
    ret[0] = one[(int)v[0]];
    ret[1] = other[(int)v[0]];
}

static void alike(const double *v, double ret[2]) { /* the second objective is the same everywhere */
    ret[0] = 1 + 0.05 * fabs(log2(v[0]) - 4);
    ret[1] = 7;
}

struct subject {
    const char *name, *params[PARAMS_MAX];
    pair pair;
    double noise[2];
};
static const struct subject subjects[] = {
    {"micro-batches", {"batch=16..512:x2", "ubatch=2..512:x2"}, micro_batches, {0.01, 0.001}},
    {"micro-batches/5%", {"batch=16..512:x2", "ubatch=2..512:x2"}, micro_batches, {0.05, 0.02}},
    {"threads", {"t=1..32"}, threads, {0.02, 0.03}},
    {"cache", {"n=1..64", "kv=f16,q8,q4"}, cache, {0.02, 0}},
    {"server", {"slots=1..16", "batch=8..512:x2"}, server, {0.02, 0.04}},
    {"words", {"o=o0,o1,o2,o3,o4,o5,o6,o7,o8,o9,o10,o11"}, words, {0.02, 0.02}},
    {"words/10%", {"o=o0,o1,o2,o3,o4,o5,o6,o7,o8,o9,o10,o11"}, words, {0.1, 0.02}},
    {"alike", {"n=1..1024:x2"}, alike, {0.02, 0}},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

struct outcome {
    double right, said, runs, members, random, seconds;
};

struct batch {
    const struct subject *subject;
    struct kerf_tune_space *space;
    double truth[SETTINGS_MAX][2];
    int32_t first;
    struct outcome outcomes[SEEDS_MAX];
};

static void need(int32_t code, const struct kerf_error *err) {
    if (code == KERF_OK) return;
    fprintf(stderr, "bench: %s\n", err->message);
    exit(1);
}

static void run(const struct batch *batch, int32_t setting, struct pcg64 *rng, double ret[2]) {
    for (int o = 0; o < 2; o++)
        ret[o] = batch->truth[setting][o] * exp(random_normal(rng, 0, batch->subject->noise[o]));
}

static int is_front(const struct batch *batch, const int32_t *settings, int32_t num) {
    for (int32_t i = 0; i < batch->space->num_settings; i++) {
        int32_t covered = 0;
        for (int32_t m = 0; m < num && !covered; m++) {
            const double *of = batch->truth[settings[m]], *it = batch->truth[i];
            covered = of[0] <= 1.03 * it[0] * (1 + 1e-12) && of[1] <= 1.03 * it[1] * (1 + 1e-12);
        }
        if (!covered) return 0;
    }
    return 1;
}

/* The front of the plain means of runs at random, each setting as often as the others. */
static int random_front(const struct batch *batch, int32_t runs, uint64_t seed) {
    struct pcg64 rng = random_seed(seed + 700000);
    int32_t count = batch->space->num_settings, times[SETTINGS_MAX] = {0}, front[SETTINGS_MAX], order[SETTINGS_MAX],
            num = 0;
    double sum[SETTINGS_MAX][2] = {{0}};
    unsigned char taken[SETTINGS_MAX];
    for (int32_t i = 0; i < runs; i++) {
        double seen[2];
        if (i % count == 0) random_order(&rng, count, order, taken);
        int32_t setting = order[i % count];
        run(batch, setting, &rng, seen);
        times[setting]++;
        for (int o = 0; o < 2; o++) sum[setting][o] += seen[o];
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t beaten = times[i] == 0;
        for (int32_t j = 0; j < count && !beaten; j++)
            beaten =
                j != i && times[j] > 0 && sum[j][0] / times[j] <= sum[i][0] / times[i] &&
                sum[j][1] / times[j] <= sum[i][1] / times[i] &&
                (j < i || sum[j][0] / times[j] < sum[i][0] / times[i] || sum[j][1] / times[j] < sum[i][1] / times[i]);
        if (!beaten) front[num++] = i;
    }
    return is_front(batch, front, num);
}

static void study_one(void *context, size_t task, int32_t worker) {
    struct batch *batch = context;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct kerf_tune_front front = {.size = sizeof front};
    struct kerf_error err;
    struct timespec began, ended;
    double clock = 0;
    int32_t runs = 0;
    (void)worker;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    kerf_tune_question_defaults(&question);
    question.space = batch->space;
    question.is_time = 1;
    question.seed = (int64_t)task + batch->first;
    struct pcg64 rng = random_seed((uint64_t)question.seed * 7919 + 13);
    need(kerf_tune_study_create(&question, &study, &err), &err);
    need(kerf_tune_study_trade(study, 0, &err), &err);
    for (;; runs++) {
        double seen[2];
        need(kerf_tune_study_next(study, NULL, 0, 0, &decision, &err), &err);
        if (decision.action == KERF_TUNE_STOP) break;
        run(batch, decision.setting, &rng, seen);
        struct kerf_tune_observation o = {
            .setting = decision.setting, .value = seen[0], .start_s = clock, .end_s = clock + seen[0]};
        clock += seen[0];
        need(kerf_tune_study_observe_both(study, &o, seen[1], &err), &err);
    }
    need(kerf_tune_study_front(study, &front, &err), &err);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    batch->outcomes[task] = (struct outcome){.right = is_front(batch, front.settings, front.num),
                                             .said = front.probability,
                                             .runs = runs,
                                             .members = front.num,
                                             .random = random_front(batch, runs, (uint64_t)question.seed),
                                             .seconds = (double)(ended.tv_sec - began.tv_sec) +
                                                        1e-9 * (double)(ended.tv_nsec - began.tv_nsec)};
    kerf_tune_study_free(study);
}

static void make(struct batch *batch, const struct subject *subject, int32_t first) {
    struct kerf_error err;
    int32_t num = 0;
    while (num < PARAMS_MAX && subject->params[num]) num++;
    *batch = (struct batch){.subject = subject, .first = first};
    need(kerf_tune_space_create(subject->params, num, NULL, 0, NULL, &batch->space, &err), &err);
    for (int32_t i = 0; i < batch->space->num_settings; i++) {
        double value[PARAMS_MAX] = {0};
        for (int32_t k = 0; k < num; k++) {
            int32_t at = batch->space->values[(int64_t)i * num + k];
            const struct kerf_tune_param *param = &batch->space->params[k];
            value[k] = param->kind == KERF_TUNE_INTEGER ? (double)param->integers[at] : at;
        }
        subject->pair(value, batch->truth[i]);
    }
}

int main(int argc, char **argv) {
    int32_t seeds = argc > 1 ? atoi(argv[1]) : 20, first = argc > 2 ? atoi(argv[2]) : 0;
    if (seeds < 1 || seeds > SEEDS_MAX) seeds = SEEDS_MAX;
    printf("%-17s %8s  %6s %6s %6s %7s %7s %10s\n", "case", "settings", "right", "said", "runs", "members", "random",
           "decision");
    for (int32_t i = 0; i < SUBJECTS; i++) {
        static struct batch batch;
        struct outcome sum = {0};
        if (argc > 3 && strncmp(subjects[i].name, argv[3], strlen(argv[3])) != 0) continue;
        make(&batch, &subjects[i], first);
        threads_run(threads_available(), (size_t)seeds, study_one, &batch);
        for (int32_t k = 0; k < seeds; k++) {
            const struct outcome *of = &batch.outcomes[k];
            sum.right += of->right / seeds;
            sum.said += of->said / seeds;
            sum.runs += of->runs / seeds;
            sum.members += of->members / seeds;
            sum.random += of->random / seeds;
            sum.seconds += of->seconds / seeds;
        }
        printf("%-17s %8d  %4.0f %% %4.0f %% %6.1f %7.1f %5.0f %% %7.1f ms\n", subjects[i].name,
               (int)batch.space->num_settings, 100 * sum.right, 100 * sum.said, sum.runs, sum.members, 100 * sum.random,
               1e3 * sum.seconds / (sum.runs + 1));
        fflush(stdout);
        kerf_tune_space_free(batch.space);
    }
    return 0;
}
