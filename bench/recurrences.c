/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traces hold, for six workloads, how many epochs training took to a target metric with each batch size, over some
 * runs with different seeds; and how long an epoch takes and what power it draws, for four GPUs and several power
 * limits. A recurrence of a job draws one of the runs. It goes on with further tries until the target is reached, as in
 * the simulator of the paper; its cost is that of all tries. Epochs are reported as a client would report them, so that
 * a run ends with the first epoch that costs too much. Which run is drawn depends on seed, recurrence, try and size
 * alone: policies see the same fate.
 */
#include "recurrences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256, ROWS_MAX = 8192, FIELDS = 8, TRIES = 20, PROBLEMS_MAX = 4096 };

struct row {
    char text[LINE];
    const char *field[FIELDS];
};

struct table {
    struct row *rows;
    int32_t count;
};

struct workload { /* the defaults of the paper */
    const char *dataset, *optimizer;
    double target;
    int64_t max_epochs, default_batch_size;
};

static const struct workload workloads[] = {
    {"cifar100", "adadelta", 0.6, 100, 1024},
    {"imagenet", "adadelta", 0.65, 100, 256},
    {"squad", "adamw", 84, 6, 32},
    {"librispeech", "adamw", 40, 16, 256},
    {"movielens-1m", "adam", 0.41, 100, 1024},
    {"sentiment140", "adamw", 0.84, 10, 128},
};
static const char *const gpus[GPUS] = {"v100", "a40", "rtx6000", "p100"};

/* ---- Reading ----------------------------------------------------------------------------------------------- */

static struct table read_table(const char *folder, const char *name) {
    char path[1024], line[LINE];
    struct table table = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) return table;
    table.rows = calloc(ROWS_MAX, sizeof *table.rows);
    for (int first = 1; table.rows && table.count < ROWS_MAX && fgets(line, sizeof line, file); first = 0) {
        if (first) continue;
        struct row *row = &table.rows[table.count++];
        memcpy(row->text, line, sizeof line);
        char *rest = row->text;
        rest[strcspn(rest, "\r\n")] = 0;
        for (int i = 0; i < FIELDS; i++) {
            char *field = strsep(&rest, ",");
            row->field[i] = field ? field : "";
        }
    }
    fclose(file);
    return table;
}

static struct traced_size *find_size(struct problem *problem, int64_t batch_size) {
    for (int32_t i = 0; i < problem->num_sizes; i++)
        if (problem->sizes[i].batch_size == batch_size) return &problem->sizes[i];
    return NULL;
}

/* Power: dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power */
static void read_power(struct problem *problem, const struct workload *workload, const struct table *power) {
    double costs[SIZES_MAX] = {0};
    int32_t limits[SIZES_MAX] = {0};
    for (int pass = 0; pass < 2; pass++) /* the largest limit first: costs need it */
        for (int32_t i = 0; i < power->count; i++) {
            const char *const *f = power->rows[i].field;
            if (strcmp(f[0], workload->dataset) || strcmp(f[3], workload->optimizer)) continue;
            double limit = atof(f[4]), time = atof(f[5]), watts = atof(f[6]);
            if (pass == 0) {
                problem->max_power = fmax(problem->max_power, limit);
                continue;
            }
            struct traced_size *size = find_size(problem, atoll(f[2]));
            if (size == NULL && problem->num_sizes < SIZES_MAX) {
                size = &problem->sizes[problem->num_sizes++];
                size->batch_size = atoll(f[2]);
                costs[size - problem->sizes] = INFINITY;
            }
            if (size == NULL) continue;
            int32_t at = (int32_t)(size - problem->sizes);
            double cost = 0.5 * (watts + problem->max_power) * time;
            limits[at]++;
            size->profile_time_s += time;
            size->profile_j += time * watts;
            if (cost < costs[at]) costs[at] = cost, size->time_s = time, size->power_w = watts;
        }
    for (int32_t i = 0; i < problem->num_sizes; i++) {
        problem->sizes[i].profile_time_s /= limits[i];
        problem->sizes[i].profile_j /= limits[i];
        if (limits[i] > problem->num_limits) problem->num_limits = limits[i];
    }
}

/* Training: dataset,network,batch_size,optimizer,learning_rate,run,target_metric,target_epoch */
static void read_runs(struct problem *problem, const struct workload *workload, const struct table *train) {
    for (int32_t i = 0; i < train->count; i++) {
        const char *const *f = train->rows[i].field;
        if (strcmp(f[0], workload->dataset) || strcmp(f[3], workload->optimizer) || atof(f[6]) != problem->target)
            continue;
        struct traced_size *size = find_size(problem, atoll(f[2]));
        if (size && size->num_runs < RUNS_MAX) size->epochs[size->num_runs++] = *f[7] ? atof(f[7]) : INFINITY;
    }
}

static int by_size(const void *a, const void *b) {
    const struct traced_size *x = a, *y = b;
    return x->batch_size < y->batch_size ? -1 : x->batch_size > y->batch_size;
}

static double epochs_cost(const struct problem *problem, const struct traced_size *size, double epochs) {
    return 0.5 * (size->power_w + problem->max_power) * size->time_s * epochs;
}

/* The mean cost of a size; INFINITY where a run never gets to the target. */
static double mean_cost(const struct problem *problem, const struct traced_size *size) {
    double sum = 0;
    for (int32_t i = 0; i < size->num_runs; i++)
        sum += size->epochs[i] <= (double)problem->max_epochs ? epochs_cost(problem, size, size->epochs[i]) : INFINITY;
    return sum / size->num_runs;
}

static void finish(struct problem *problem) {
    int32_t kept = 0;
    for (int32_t i = 0; i < problem->num_sizes; i++)
        if (problem->sizes[i].num_runs > 0) problem->sizes[kept++] = problem->sizes[i];
    problem->num_sizes = kept;
    qsort(problem->sizes, (size_t)kept, sizeof problem->sizes[0], by_size);
    problem->oracle = INFINITY;
    for (int32_t i = 0; i < kept; i++) problem->oracle = fmin(problem->oracle, mean_cost(problem, &problem->sizes[i]));
}

static struct problem make_problem(int gpu, const struct workload *workload, double target, const struct table *train,
                                   const struct table *power) {
    struct problem problem = {.target = target, .max_epochs = workload->max_epochs};
    snprintf(problem.gpu, sizeof problem.gpu, "%s", gpus[gpu]);
    snprintf(problem.dataset, sizeof problem.dataset, "%s", workload->dataset);
    read_power(&problem, workload, power);
    read_runs(&problem, workload, train);
    finish(&problem);
    return problem;
}

/* Adds the problem with this default if its runs all get to the target, as every simulation takes for granted. */
static void add(struct problem *problems, int32_t *count, struct problem *problem, int64_t batch_size, int published) {
    const struct traced_size *size = find_size(problem, batch_size);
    if (size == NULL || problem->num_sizes < 2 || !isfinite(mean_cost(problem, size)) || *count == PROBLEMS_MAX) return;
    problem->default_batch_size = batch_size;
    problem->published = published;
    problems[(*count)++] = *problem;
}

static int64_t default_of(const struct problem *problem, const struct workload *workload) {
    int64_t most = problem->num_sizes ? problem->sizes[problem->num_sizes - 1].batch_size : 0;
    return workload->default_batch_size < most ? workload->default_batch_size : most;
}

/* Every other target, with the default of the paper, a quarter of it and four times it. */
static void add_others(struct problem *problems, int32_t *count, int gpu, const struct workload *workload,
                       const struct table *train, const struct table *power) {
    double last = -1;
    for (int32_t i = 0; i < train->count; i++) {
        const char *const *f = train->rows[i].field;
        double target = atof(f[6]);
        if (strcmp(f[0], workload->dataset) || target <= last) continue;
        last = target;
        struct problem problem = make_problem(gpu, workload, target, train, power);
        int64_t usual = default_of(&problem, workload);
        if (target != workload->target) add(problems, count, &problem, usual, 0);
        add(problems, count, &problem, usual / 4, 0);
        add(problems, count, &problem, usual * 4, 0);
    }
}

struct problem *read_problems(const char *folder, int32_t *ret_count) {
    struct table train = read_table(folder, "summary_train.csv"), power[GPUS];
    struct problem *problems = train.rows ? calloc(PROBLEMS_MAX, sizeof *problems) : NULL;
    *ret_count = 0;
    for (int gpu = 0; gpu < GPUS; gpu++) {
        char name[64];
        snprintf(name, sizeof name, "summary_power_%s.csv", gpus[gpu]);
        power[gpu] = read_table(folder, name);
    }
    for (int others = 0; problems && others < 2; others++)
        for (int gpu = 0; gpu < GPUS; gpu++)
            for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
                const struct workload *workload = &workloads[i];
                struct problem problem = make_problem(gpu, workload, workload->target, &train, &power[gpu]);
                if (others)
                    add_others(problems, ret_count, gpu, workload, &train, &power[gpu]);
                else
                    add(problems, ret_count, &problem, default_of(&problem, workload), 1);
            }
    for (int gpu = 0; gpu < GPUS; gpu++) free(power[gpu].rows);
    free(train.rows);
    return problems;
}

/* ---- Replaying --------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x) { /* splitmix64 */
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct run {
    double time_s, energy_j;
    int reached;
};

/* One run until it reaches the target, its last epoch, or the first epoch above the bound. */
static struct run train(const struct problem *problem, const struct traced_size *size, double epochs, int profile,
                        double bound) {
    struct run run = {0};
    for (int64_t epoch = 1; epoch <= problem->max_epochs; epoch++) {
        int profiles = profile && epoch == 1;
        run.time_s += profiles ? size->profile_time_s : size->time_s;
        run.energy_j += profiles ? size->profile_j : size->time_s * size->power_w;
        run.reached = (double)epoch >= epochs;
        if (run.reached || 0.5 * run.energy_j + 0.5 * problem->max_power * run.time_s > bound) break;
    }
    return run;
}

static struct kerf_job *create(const struct problem *problem, const char *policy, uint64_t seed) {
    int64_t batch_sizes[SIZES_MAX];
    struct kerf_job_spec spec;
    struct kerf_job *job = NULL;
    for (int32_t i = 0; i < problem->num_sizes; i++) batch_sizes[i] = problem->sizes[i].batch_size;
    kerf_job_spec_defaults(&spec);
    spec.gpu_model = problem->gpu;
    spec.batch_sizes = batch_sizes;
    spec.num_batch_sizes = problem->num_sizes;
    spec.default_batch_size = problem->default_batch_size;
    spec.number_of_gpus = 1;
    spec.max_power = problem->max_power;
    spec.max_epochs = problem->max_epochs;
    spec.target_metric = 0.5;
    spec.has_mab_seed = 1;
    spec.mab_seed = (int64_t)seed;
    spec.policy = policy;
    return kerf_job_create(&spec, 0, &job, NULL) == KERF_OK ? job : NULL;
}

/* One try: what it cost, and whether it got there. *profiled marks the sizes whose power limits are known. */
static double try_once(const struct problem *problem, struct kerf_job *job, uint64_t fate, uint32_t *profiled,
                       int *ret_reached) {
    struct kerf_decision decision;
    struct kerf_answer answer;
    *ret_reached = 0;
    if (kerf_job_predict(job, 0, &decision, NULL) != KERF_OK || decision.status != KERF_JOB_ANSWERED) return NAN;
    int32_t at = 0;
    while (problem->sizes[at].batch_size != decision.trial.batch_size) at++;
    const struct traced_size *size = &problem->sizes[at];
    const struct kerf_job_row *row = kerf_job_row_of(job);
    double bound = row->has_min_cost ? kerf_job_spec_of(job)->beta_knob * row->min_cost : INFINITY;
    double epochs = size->epochs[mix(fate ^ mix((uint64_t)size->batch_size)) % (uint64_t)size->num_runs];
    struct run run = train(problem, size, epochs, !(*profiled >> at & 1), bound);
    *profiled |= UINT32_C(1) << at;
    struct kerf_report report = {.batch_size = size->batch_size,
                                 .trial_number = decision.trial.number,
                                 .time_s = run.time_s,
                                 .energy_j = run.energy_j,
                                 .metric = run.reached,
                                 .current_epoch = problem->max_epochs};
    kerf_job_report(job, &decision.trial, &report, 0, &answer, NULL);
    *ret_reached = answer.converged;
    return kerf_job_cost(kerf_job_spec_of(job), run.energy_j, run.time_s);
}

void replay(const struct problem *problem, const char *policy, uint64_t seed, int32_t recurrences, double *ret_regret) {
    struct kerf_job *job = create(problem, policy, seed);
    uint32_t profiled = 0;
    double total = 0;
    for (int32_t i = 0; i < recurrences; i++) {
        int reached = job == NULL;
        for (int k = 0; k < TRIES && !reached; k++)
            total += try_once(problem, job, mix(mix(mix(seed) + (uint64_t)i) + (uint64_t)k), &profiled, &reached);
        ret_regret[i] = total / problem->oracle - (i + 1);
    }
    kerf_job_free(job);
}
