/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How policies do on surfaces of which the truth is known: the share of studies whose answer is truly within 3 % of the
 * best, what they said of themselves, and how many runs they took. Then the same with a preference for small
 * micro-batches, within 1 %, on a busy machine, on one that lies, with few settings, and what a decision costs.
 *
 *     tune                         on surfaces that are made up
 *     tune FOLDER                  and on the recordings in it, *.csv or *.csv.gz with the columns
 *                                  round,nb,nub,wall_ms,cpu_ms,other_ms
 *     tune FOLDER SEEDS [FIRST]    so many seeds a case (30; 0: only what a decision costs), from FIRST on
 *
 * Policies that take their runs of a setting in a row get them from one context, as the programs that they stand for
 * do. No policy sees anything but times.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/threads.h"
#include "surface.h"

enum { SURFACES_MAX = 16, FAMILY = 40 };
static const double BUSY = 1.1; /* of the two processors of the recordings others had one for themselves, and more */

struct result {
    double right, said, runs, time, smallest, decisions, seconds, noisy;
};

struct job {
    const struct surface *surface;
    const char *policy;
    int32_t drift, prefer, filter; /* filter: 1: a run on a busy machine is called disturbed */
    double within;
    int32_t first;
    struct result *results;
};

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void need(int32_t code, const struct kerf_error *err) {
    if (code == KERF_OK) return;
    fprintf(stderr, "bench: %s\n", err->message);
    exit(1);
}

static int runs_in_a_row(const char *policy) {
    return strcmp(policy, "best_bub") == 0 || strcmp(policy, "random") == 0 || strcmp(policy, "exhaustive") == 0;
}

static int64_t ubatch_of(const struct surface *surface, int32_t setting) {
    return surface->space->params[1].integers[surface->space->values[2 * setting + 1]];
}

static struct result judge(const struct job *job, struct kerf_tune_study *study, const struct program *program) {
    const struct surface *surface = job->surface;
    struct kerf_tune_answer answer;
    struct kerf_error err;
    need(kerf_tune_study_answer(study, &answer, &err), &err);
    int32_t setting = job->prefer ? answer.recommended : answer.best;
    const struct kerf_tune_estimate *of = &answer.settings[setting];
    return (struct result){.right = surface->regret[setting] <= (job->prefer ? 0.05 : job->within),
                           .said = job->prefer ? of->probability_within_margin : of->probability_within,
                           .runs = answer.observations,
                           .time = program->clock / surface->best,
                           .smallest = job->prefer && ubatch_of(surface, setting) == surface->least_ubatch};
}

static void study_one(void *context, size_t task, int32_t worker) {
    const struct job *job = context;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct kerf_error err;
    struct program program;
    double began = processor_seconds(), decisions = 0;
    (void)worker;
    kerf_tune_question_defaults(&question);
    question.space = job->surface->space;
    question.policy = job->policy;
    question.is_time = 1;
    question.within = job->within;
    question.seed = (int64_t)task + job->first;
    question.prefer = job->prefer ? "smaller:ubatch,batch" : NULL;
    need(kerf_tune_study_create(&question, &study, &err), &err);
    program_start(&program, job->surface, job->drift, (uint64_t)question.seed);
    program.one_context = runs_in_a_row(job->policy);
    for (;; decisions++) {
        need(kerf_tune_study_next(study, NULL, 0, 0, &decision, &err), &err);
        if (decision.action == KERF_TUNE_STOP) break;
        struct kerf_tune_observation o = program_run(&program, decision.setting, decision.limit);
        o.disturbed = job->filter && program.busy > BUSY;
        need(kerf_tune_study_observe(study, &o, &err), &err);
    }
    struct result result = judge(job, study, &program);
    result.seconds = processor_seconds() - began;
    result.decisions = decisions + 1;
    result.noisy = decision.stop == KERF_TUNE_TOO_NOISY;
    job->results[task] = result;
    kerf_tune_study_free(study);
}

static void add(struct result *sum, const struct result *of, double weight) {
    sum->right += weight * of->right;
    sum->said += weight * of->said;
    sum->runs += weight * of->runs;
    sum->time += weight * of->time;
    sum->smallest += weight * of->smallest;
    sum->decisions += weight * of->decisions;
    sum->seconds += weight * of->seconds;
    sum->noisy += weight * of->noisy;
}

static struct result study_all(struct job job, int32_t seeds) {
    struct result mean = {0};
    job.results = calloc((size_t)seeds, sizeof *job.results);
    if (job.results == NULL) exit(1);
    threads_run(threads_available(), (size_t)seeds, study_one, &job);
    for (int32_t i = 0; i < seeds; i++) add(&mean, &job.results[i], 1.0 / seeds);
    free(job.results);
    return mean;
}

/* ---- The tables -------------------------------------------------------------------------------------------- */

static const char *const drifts[] = {"", " ramp", " steps", " busy", " spikes", " slowed"};

static void head(const char *what) {
    printf("\n%s\n%-31s %-11s %7s %7s %7s %8s %7s %8s %9s\n", what, "surface", "policy", "right", "stated", "runs",
           "time", "noisy", "smallest", "decision");
}

/* time: of the simulated program, in runs of the best setting */
static void row(const char *name, int32_t drift, const char *policy, const struct result *of, int prefer) {
    char surface[64];
    snprintf(surface, sizeof surface, "%.24s%s", name, drifts[drift]);
    printf("%-31s %-11s %5.1f %%", surface, policy, 100 * of->right);
    if (isnan(of->said))
        printf(" %7s", "-");
    else
        printf(" %5.1f %%", 100 * of->said);
    printf(" %7.1f %8.1f %5.1f %%", of->runs, of->time, 100 * of->noisy);
    if (prefer)
        printf(" %6.1f %%", 100 * of->smallest);
    else
        printf(" %8s", "");
    printf(" %6.2f ms\n", 1e3 * of->seconds / of->decisions);
    fflush(stdout);
}

static struct result report(const struct job *job, int32_t seeds) {
    struct result result = study_all(*job, seeds);
    row(job->surface->name, job->drift, job->policy, &result, job->prefer);
    return result;
}

static void compare_policies(const struct surface *surfaces, int32_t count, int32_t seeds, int32_t first) {
    static const char *const policies[] = {"kerf", "race", "halving", "best_bub", "random", "exhaustive"};
    struct result sum = {0};
    int32_t cases = 0;
    head("Within 3 %");
    for (int32_t i = 0; i < count; i++)
        for (int32_t drift = DRIFT_NONE; drift <= DRIFT_STEPS; drift++)
            for (int k = 0; k < 6; k++) {
                struct job job = {&surfaces[i], policies[k], drift, 0, 0, 0.03, first, NULL};
                struct result result = report(&job, seeds);
                if (k == 0) add(&sum, &result, 1), cases++;
            }
    printf("kerf over all: right %.1f %%, stated %.1f %%\n", 100 * sum.right / cases, 100 * sum.said / cases);
}

static void with_options(const struct surface *surfaces, int32_t count, int32_t seeds, int32_t first) {
    head("The smallest micro-batch within 5 %");
    for (int32_t i = 0; i < count; i++) {
        struct job job = {&surfaces[i], "kerf", DRIFT_NONE, 1, 0, 0.03, first, NULL};
        report(&job, seeds);
    }
    head("Within 1 %");
    for (int32_t i = 0; i < count; i++) {
        struct job job = {&surfaces[i], "kerf", DRIFT_NONE, 0, 0, 0.01, first, NULL};
        report(&job, seeds);
    }
}

static void on_a_busy_machine(const struct surface *surfaces, int32_t count, int32_t seeds, int32_t first) {
    head("On a busy machine: told which runs were disturbed, not told, and best_bub");
    for (int32_t i = 0; i < count; i++) {
        double most = 0;
        for (int32_t k = 0; k < surfaces[i].num_slow; k++) most = fmax(most, surfaces[i].slow[k]);
        if (most < 1.5) continue; /* a recording without neighbours */
        for (int how = 0; how < 3; how++) {
            struct job job = {&surfaces[i], how < 2 ? "kerf" : "best_bub", DRIFT_INTERFERENCE, 0, how == 0, 0.03, first,
                              NULL};
            report(&job, seeds);
        }
    }
}

static void on_a_family(int32_t seeds, int32_t first) {
    head("Forty surfaces made by chance: valleys, kinks, plateaus, noise from 0.3 to 8 %");
    for (int32_t drift = DRIFT_NONE; drift <= DRIFT_STEPS; drift++) {
        struct result mean = {0};
        for (uint64_t i = 0; i < FAMILY; i++) {
            struct surface surface;
            surface_random(&surface, i + 1);
            struct job job = {&surface, "kerf", drift, 0, 0, 0.03, first, NULL};
            struct result result = study_all(job, seeds / 10 + 1);
            add(&mean, &result, 1.0 / FAMILY);
            surface_free(&surface);
        }
        row("family", drift, "kerf", &mean, 0);
    }
}

static void on_a_machine_that_lies(const struct surface *surfaces, int32_t count, int32_t seeds, int32_t first) {
    static const char *const policies[] = {"kerf", "best_bub"};
    head("Spikes, and a machine that takes twice as long from one run to the next");
    for (int32_t i = 0; i < count; i++)
        for (int32_t drift = DRIFT_SPIKES; drift <= DRIFT_SLOWED; drift++)
            for (int k = 0; k < 2; k++) {
                struct job job = {&surfaces[i], policies[k], drift, 0, 0, 0.03, first, NULL};
                report(&job, seeds);
            }
}

static void with_few_settings(int32_t seeds, int32_t first) {
    static const double noises[] = {0.02, 0.05, 0.1, 0.2};
    head("Few settings and much noise, another surface each time");
    for (int32_t kind = FEW_TWO; kind <= FEW_LINE; kind++)
        for (int k = 0; k < 4; k++) {
            struct result mean = {0};
            char name[40] = "";
            for (int32_t i = 0; i < seeds; i++) {
                struct surface surface;
                surface_few(&surface, kind, noises[k], (uint64_t)(i + first));
                struct job job = {&surface, "kerf", DRIFT_NONE, 0, 0, 0.03, first + i, NULL};
                struct result result = study_all(job, 1);
                add(&mean, &result, 1.0 / seeds);
                snprintf(name, sizeof name, "%.16s, %g %%", surface.name, 100 * noises[k]);
                surface_free(&surface);
            }
            row(name, 0, "kerf", &mean, 0);
        }
}

/* ---- What a decision costs --------------------------------------------------------------------------------- */

enum { EARLY = 15 }; /* what most studies need */

static void cost_of(const char *what, const char *const *params, int32_t num_params, int32_t observations) {
    struct kerf_tune_space *space;
    struct kerf_tune_question question;
    struct kerf_tune_study *study;
    struct kerf_tune_decision decision;
    struct kerf_error err;
    struct pcg64 rng = random_seed(1);
    double longest = 0, sum = 0, early = 0, at_end = 0;
    const char *where = "a <= b";
    need(kerf_tune_space_create(params, num_params, &where, num_params == 2, NULL, &space, &err), &err);
    kerf_tune_question_defaults(&question);
    question.space = space;
    question.is_time = 1;
    question.within = 0.001; /* so that it goes on */
    question.max_observations = observations + 1;
    need(kerf_tune_study_create(&question, &study, &err), &err);
    for (int32_t i = 0; i < observations; i++) {
        double began = processor_seconds();
        need(kerf_tune_study_next(study, NULL, 0, 0, &decision, &err), &err);
        at_end = processor_seconds() - began;
        longest = fmax(longest, at_end);
        sum += at_end;
        if (i < EARLY) early += at_end;
        if (decision.action == KERF_TUNE_STOP) break;
        const int32_t *values = space->values + (int64_t)decision.setting * num_params;
        double y = 0.02 * fabs(values[0] - 5.0) + 0.03 * fabs(values[1] - 6.0) + random_normal(&rng, 0, 0.01);
        struct kerf_tune_observation o = {.setting = decision.setting, .value = exp(y), .start_s = i, .end_s = i + 1};
        need(kerf_tune_study_observe(study, &o, &err), &err);
    }
    printf("%-28s %9.2f ms %9.2f ms %9.2f ms %9.2f ms\n", what, 1e3 * early / EARLY, 1e3 * sum / observations,
           1e3 * at_end, 1e3 * longest);
    kerf_tune_study_free(study);
    kerf_tune_space_free(space);
}

static void decision_costs(void) {
    static const char *const small[] = {"b=16..2048:x2", "a=2..2048:x2"}, *const medium[] = {"b=1..20", "a=1..20"},
                             *const large[] = {"a=1..100", "b=1..100", "c=1..100"};
    printf("\nProcessor time of a decision, 100 observations first 15         all        last     longest\n");
    cost_of("60 settings", small, 2, 100);
    cost_of("210 settings", medium, 2, 100);
    cost_of("1,000,000 settings", large, 3, 100);
}

/* ---- Surfaces ---------------------------------------------------------------------------------------------- */

static int is_csv(const struct dirent *entry) {
    const char *dot = strchr(entry->d_name, '.');
    return dot && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".csv.gz") == 0);
}

static int32_t read_recordings(const char *folder, struct surface *surfaces) {
    struct dirent **entries;
    int found = scandir(folder, &entries, is_csv, alphasort);
    int32_t count = 0;
    if (found < 0) printf("skipped: there is no folder %s\n", folder);
    for (int i = 0; i < found; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (count < SURFACES_MAX && surface_read(&surfaces[count], path, "cpu_ms"))
            count++;
        else
            printf("skipped: %s is no recorded surface\n", entries[i]->d_name);
        free(entries[i]);
    }
    if (found >= 0) free(entries);
    return count;
}

/* Relative times by micro-batch 2, 4, 8, ... as llama.cpp has them on different machines. */
static int32_t make_surfaces(struct surface *surfaces) {
    static const double large[] = {3.70, 2.59, 1.89, 1.55, 1.37, 1.12, 1.03, 1.00, 1.01},
                        medium[] = {4.49, 2.56, 1.92, 1.52, 1.39, 1.13, 1.01, 1.02, 1.00},
                        threads[] = {3.2, 2.6, 2.4, 2.3, 2.1, 1.87, 1.0, 1.07, 1.15, 1.28, 1.29},
                        gpu[] = {55, 27.7, 14.4, 7.8, 3.9, 2.16, 1.33, 1.14, 1.035, 1.025, 1.0};
    surface_make(&surfaces[0], "quiet model, 1 thread", large, 9, 0.009, 0.005, 6, 1);
    surface_make(&surfaces[1], "small model, 1 thread", medium, 9, 0.025, 0.02, 5, 2);
    surface_make(&surfaces[2], "tiny model, 2 threads", threads, 11, 0.05, 0.03, 4, 3);
    surface_make(&surfaces[3], "gpu", gpu, 11, 0.005, 0.005, 8, 4);
    return 4;
}

int main(int argc, char **argv) {
    static struct surface surfaces[SURFACES_MAX + 4];
    int32_t seeds = argc > 2 ? atoi(argv[2]) : 30, first = argc > 3 ? atoi(argv[3]) : 0;
    int32_t count = argc > 1 ? read_recordings(argv[1], surfaces) : 0;
    if (argc < 2) printf("skipped: recordings, as no folder was given\n");
    count += make_surfaces(surfaces + count);
    if (seeds > 0) {
        compare_policies(surfaces, count, seeds, first);
        with_options(surfaces, count, seeds, first);
        on_a_busy_machine(surfaces, count, seeds, first);
        on_a_machine_that_lies(surfaces, count, seeds, first);
        with_few_settings(seeds, first);
        on_a_family(seeds, first);
    }
    decision_costs();
    for (int32_t i = 0; i < count; i++) surface_free(&surfaces[i]);
    return 0;
}
