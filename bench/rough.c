/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often the policy `kerf` is right, and how often it says so, on surfaces that are not smooth: tiles, cores, caches,
 * flags that matter together, one fast value among many, noise of several kinds. Nothing runs and nothing sleeps: a
 * study asks for a setting and gets a number.
 *
 *     rough                       every case, 20 seeds each
 *     rough SEEDS [FIRST [CASE]]  so many seeds from FIRST on, of the cases whose name begins with CASE ("all")
 *     rough --play CASE SEED      runs that case for another program, such as bench/rough_optuna
 *
 * ROUGH_SIZES=28,56 in its environment: what is known of the machine, instead of what the case says.
 *
 * right: the answer is truly within 3 % of the best of the space; said: the mean probability that was stated; runs: the
 * median; random: the share of random searches that are right with as many runs, one of each setting. A case is marked
 * where right is below said by more than 4 points and the chance of so few seeds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/random.h"
#include "base/threads.h"
#include "kerf/tune.h"
#include "rough_surfaces.h"

enum { SIZES_MAX = 4, SEEDS_MAX = 400 };

struct outcome {
    double right, said, runs, random, seconds;
};

struct batch {
    const struct rough *rough;
    struct kerf_tune_space *space;
    double *truth, best; /* of its surface; truth NULL: of each study another one, or the grid is large */
    const char *policy;
    int64_t first, sizes[SIZES_MAX];
    int32_t num_sizes;
    struct outcome *outcomes; /* of each seed */
};

struct machine {
    struct pcg64 rng;
    double clock, ar;
};

static void need(int32_t code, const struct kerf_error *err) {
    if (code == KERF_OK) return;
    fprintf(stderr, "bench: %s\n", err->message);
    exit(1);
}

static int is_large(const struct batch *batch) { return batch->space->has_unused == KERF_TUNE_GROWS; }

static double value_at(const struct batch *batch, const int32_t *at, uint64_t seed) {
    const struct kerf_tune_space *space = batch->space;
    double value[PARAMS_MAX] = {0};
    for (int32_t k = 0; k < space->num_params; k++) {
        const struct kerf_tune_param *param = &space->params[k];
        value[k] = param->kind == KERF_TUNE_INTEGER ? (double)param->integers[at[k]] : at[k];
    }
    return rough_value(batch->rough, value, space->num_params, seed);
}

static double truth_of(const struct batch *batch, int32_t setting) {
    if (batch->truth) return batch->truth[setting];
    return value_at(batch, batch->space->values + (int64_t)setting * batch->space->num_params, 0);
}

static double factor(struct machine *machine, const struct rough *rough, int32_t setting) {
    double sd = rough->noise, z = random_normal(&machine->rng, 0, 1), odd = random_double(&machine->rng);
    switch (rough->kind) {
    case HEAVY: return odd < 0.1 ? exp(3 * sd * fabs(z) + sd) : exp(sd * z);
    case MODES: return exp(sd * z) * (odd < 0.3 ? 1.25 : 1);
    case UNEQUAL: return exp(sd * z * (0.2 + 3 * rough_unit((uint64_t)setting)));
    case SKEW: return 1 - sd * log(1 - odd);
    case DRIFT:
        machine->ar = 0.9 * machine->ar + 0.02 * sqrt(1 - 0.81) * random_normal(&machine->rng, 0, 1);
        return exp(sd * z + machine->ar) * (1 + 0.15 * (1 - exp(-machine->clock / 60)));
    default: return exp(sd * z);
    }
}

static struct kerf_tune_observation run(struct machine *machine, const struct batch *batch, int32_t setting,
                                        double limit) {
    double value = truth_of(batch, setting) * factor(machine, batch->rough, setting);
    int32_t stopped = limit > 0 && value > limit;
    struct kerf_tune_observation o = {.setting = setting,
                                      .outcome = stopped ? KERF_TUNE_CENSORED : KERF_TUNE_VALUE,
                                      .value = stopped ? limit : value,
                                      .start_s = machine->clock};
    o.end_s = machine->clock + o.value;
    machine->clock = o.end_s + 0.02;
    return o;
}

static int is_right(const struct batch *batch, int32_t setting) {
    return setting >= 0 && truth_of(batch, setting) <= 1.03 * batch->best + 1e-12;
}

static void make_space(struct batch *batch) {
    struct kerf_error err;
    int32_t num = 0;
    while (num < PARAMS_MAX && batch->rough->params[num]) num++;
    need(kerf_tune_space_create(batch->rough->params, num, NULL, 0, NULL, &batch->space, &err), &err);
}

/* One run each of `runs` settings at random. */
static int random_search(const struct batch *of, int32_t runs, uint64_t seed) {
    struct batch own = *of, *batch = &own;
    if (is_large(of)) make_space(batch); /* without what the study met */
    struct machine machine = {random_seed(seed + 500000), 1, 0};
    struct pcg64 rng = random_seed(seed + 900000);
    int32_t best = -1, count = batch->space->num_settings;
    double least = INFINITY;
    for (int32_t i = 0; i < runs; i++) {
        int32_t setting = (int32_t)random_to(&rng, (uint32_t)count - 1);
        if (runs >= count) setting = i % count;
        double value = run(&machine, batch, setting, 0).value;
        if (value < least) least = value, best = setting;
    }
    int right = is_right(batch, best);
    if (is_large(of)) kerf_tune_space_free(own.space);
    return right;
}

/* Of the batch's surface, or of that of one seed. */
static void find_truth(struct batch *batch, uint64_t seed) {
    const struct kerf_tune_space *space = batch->space;
    batch->best = INFINITY;
    batch->truth = malloc((size_t)space->num_settings * sizeof *batch->truth);
    if (batch->truth == NULL) exit(1);
    for (int32_t i = 0; i < space->num_settings; i++) {
        batch->truth[i] = value_at(batch, space->values + (int64_t)i * space->num_params, seed);
        batch->best = fmin(batch->best, batch->truth[i]);
    }
}

/* The best of a large grid: down along the axes, and along pairs of short ones, from the settings that are drawn at first. */
static void find_best(struct batch *batch) {
    const struct kerf_tune_space *space = batch->space;
    enum { STARTS = 64, SHORT = 4 };
    batch->best = INFINITY;
    for (int32_t start = 0; start < STARTS; start++) {
        int32_t at[PARAMS_MAX], better = 1;
        memcpy(at, space->values + (int64_t)start * space->num_params, (size_t)space->num_params * sizeof *at);
        double least = value_at(batch, at, 0);
        while (better--)
            for (int32_t k = 0; k < space->num_params; k++)
                for (int32_t l = 0; l <= k; l++) {
                    int32_t rows = l < k ? space->params[l].num_values : 1, best[] = {at[k], at[l]};
                    if (l < k && (rows > SHORT || space->params[k].num_values > SHORT)) continue;
                    for (int32_t cell = 0; cell < rows * space->params[k].num_values; cell++) {
                        at[l] = l < k ? cell % rows : at[l];
                        at[k] = cell / rows;
                        double value = value_at(batch, at, 0);
                        if (value < least) least = value, best[0] = at[k], best[1] = at[l], better = 1;
                    }
                    at[l] = best[1];
                    at[k] = best[0];
                }
        batch->best = fmin(batch->best, least);
    }
}

static void make(struct batch *batch, const struct rough *rough) {
    *batch = (struct batch){.rough = rough};
    const char *told = getenv("ROUGH_SIZES") ? getenv("ROUGH_SIZES") : rough_sizes(rough);
    for (char *end; told && *told && batch->num_sizes < SIZES_MAX; told = *end == ',' ? end + 1 : end)
        batch->sizes[batch->num_sizes++] = strtoll(told, &end, 10);
    make_space(batch);
    if (is_large(batch))
        find_best(batch);
    else if (rough->surface)
        find_truth(batch, 0);
}

static void study_one(void *context, size_t task, int32_t worker) {
    const struct batch *all = context;
    struct batch own = *all, *batch = &own;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct kerf_tune_answer answer;
    struct kerf_error err;
    struct timespec began, ended;
    (void)worker;
    if (is_large(batch)) make_space(batch); /* each study has its own, which grows */
    kerf_tune_question_defaults(&question);
    question.space = batch->space;
    question.policy = batch->policy;
    question.is_time = 1;
    question.seed = (int64_t)task + batch->first;
    if (batch->rough->surface == NULL) find_truth(batch, (uint64_t)question.seed);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    need(kerf_tune_study_create(&question, &study, &err), &err);
    need(kerf_tune_study_sizes(study, batch->sizes, batch->num_sizes, &err), &err);
    struct machine machine = {random_seed((uint64_t)question.seed * 7919 + 13), 1, 0};
    for (;;) {
        need(kerf_tune_study_next(study, NULL, 0, 0, &decision, &err), &err);
        if (decision.action == KERF_TUNE_STOP) break;
        struct kerf_tune_observation o = run(&machine, batch, decision.setting, decision.limit);
        if (getenv("ROUGH_TRACE")) {
            struct kerf_text text = {0};
            kerf_tune_setting_write(batch->space, decision.setting, &text);
            printf("%3d %-40s %.4f %s | %s\n", (int)task, text.data, o.value, o.outcome ? ">" : " ", decision.reason);
            kerf_text_free(&text);
        }
        need(kerf_tune_study_observe(study, &o, &err), &err);
    }
    need(kerf_tune_study_answer(study, &answer, &err), &err);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    if (getenv("ROUGH_TRACE"))
        printf("%3d %s; truly %.4f of %.4f; missed %d of %d, unseen %.3g\n", (int)task, answer.reason,
               truth_of(batch, answer.best), batch->best, answer.predictions_missed, answer.predictions,
               answer.chance_unseen);
    struct outcome *of = &batch->outcomes[task];
    of->right = is_right(batch, answer.best);
    of->said = answer.settings[answer.best].probability_within;
    of->runs = answer.observations;
    of->random = random_search(batch, answer.observations, (uint64_t)question.seed);
    of->seconds = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    kerf_tune_study_free(study);
    if (batch->rough->surface == NULL) free(own.truth);
    if (is_large(batch)) kerf_tune_space_free(own.space);
}

static int by_runs(const void *a, const void *b) {
    const struct outcome *x = a, *y = b;
    return (x->runs > y->runs) - (x->runs < y->runs);
}

/*
 * Writes of each parameter its number of values and whether it is of words ("w") or integers ("n"). For each line of input, the
 * index of the value of each parameter, it writes the objective of a run and how often that of the best setting the true one
 * is.
 */
static int play(const char *name, uint64_t seed) {
    struct batch batch;
    const struct rough *rough = NULL;
    for (int32_t i = 0; i < rough_num_cases; i++)
        if (strcmp(rough_cases[i].name, name) == 0) rough = &rough_cases[i];
    if (rough == NULL) return fprintf(stderr, "bench: there is no case '%s'\n", name), 2;
    make(&batch, rough);
    if (batch.truth == NULL && rough->surface == NULL) find_truth(&batch, seed);
    struct machine machine = {random_seed(seed * 7919 + 13), 1, 0};
    int32_t num = batch.space->num_params, at[PARAMS_MAX], read = 0;
    for (int32_t k = 0; k < num; k++)
        printf("%d %c%c", (int)batch.space->params[k].num_values,
               batch.space->params[k].kind == KERF_TUNE_INTEGER ? 'n' : 'w', k + 1 < num ? ' ' : '\n');
    for (fflush(stdout); scanf("%d", &at[read]) == 1;) {
        if (++read < num) continue;
        int32_t setting = 0;
        while (setting < batch.space->num_settings &&
               memcmp(batch.space->values + (int64_t)setting * num, at, (size_t)num * sizeof *at) != 0)
            setting++;
        if (setting == batch.space->num_settings) return fprintf(stderr, "bench: there is no such setting\n"), 2;
        printf("%.9g %.9g\n", run(&machine, &batch, setting, 0).value, truth_of(&batch, setting) / batch.best);
        fflush(stdout);
        read = 0;
    }
    free(batch.truth);
    kerf_tune_space_free(batch.space);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--play") == 0) return play(argv[2], (uint64_t)atoi(argv[3]));
    int32_t seeds = argc > 1 ? atoi(argv[1]) : 20, all = 0, right = 0, sure = 0, sure_right = 0;
    const char *only = argc > 3 ? argv[3] : "";
    double said = 0;
    if (seeds < 1 || seeds > SEEDS_MAX) seeds = SEEDS_MAX;
    printf("%-15s %9s  %6s %6s %6s %7s %9s\n", "case", "settings", "right", "said", "runs", "random", "decision");
    for (int32_t i = 0; i < rough_num_cases; i++) {
        struct batch batch;
        struct outcome outcomes[SEEDS_MAX];
        struct outcome sum = {0};
        if (strcmp(only, "all") != 0 && strncmp(rough_cases[i].name, only, strlen(only)) != 0) continue;
        make(&batch, &rough_cases[i]);
        batch.outcomes = outcomes;
        batch.policy = argc > 4 ? argv[4] : NULL;
        batch.first = argc > 2 ? atoi(argv[2]) : 0;
        threads_run(threads_available(), (size_t)seeds, study_one, &batch);
        double total = 0;
        for (int32_t k = 0; k < seeds; k++) {
            const struct outcome *of = &batch.outcomes[k];
            sum.right += of->right / seeds;
            sum.said += of->said / seeds;
            sum.random += of->random / seeds;
            sum.seconds += of->seconds;
            total += of->runs + 1;
            sure += of->said >= 0.95;
            sure_right += of->said >= 0.95 && of->right > 0;
        }
        qsort(batch.outcomes, (size_t)seeds, sizeof *batch.outcomes, by_runs);
        double few = 1.5 / seeds;
        printf("%-15s %9.0f  %4.0f %% %4.0f %% %6.0f %5.0f %% %6.1f ms %s%s\n", rough_cases[i].name,
               kerf_tune_space_size(batch.space), 100 * sum.right, 100 * sum.said, batch.outcomes[seeds / 2].runs,
               100 * sum.random, 1e3 * sum.seconds / total, rough_cases[i].is_own ? "" : "*",
               sum.right < sum.said - 0.04 - few ? " <" : "");
        fflush(stdout);
        all++;
        right += (int32_t)(sum.right * seeds + 0.5);
        said += sum.said;
        free(batch.truth);
        kerf_tune_space_free(batch.space);
    }
    if (all)
        printf("all: right %.1f %%, said %.1f %%; where 95 %% or more is said %d of %d are right\n",
               100.0 * right / (all * seeds), 100 * said / all, (int)sure_right, (int)sure);
    return 0;
}
