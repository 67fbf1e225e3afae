/* SPDX-License-Identifier: Apache-2.0 */
#include "score/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/characters.h"
#include "base/error_fill.h"
#include "score/figures.h"
#include "score/priors.h"

static const double SET_POWER = -0.35, TIME_WEIGHT = 4, MEMORY_WEIGHT = 0.3, RAN_WEIGHT = 0.3; /* against the priors */
static const struct fit_watch nobody;
enum { SPREAD_FOLDS = 5, SPREAD_ROWS = 5 };

/* ---- Rows ------------------------------------------------------------------------------------------------- */

struct corpus {
    const struct runs *runs;
    struct job *jobs; /* [runs->count] */
    int32_t *set;     /* [runs->count] number of its set */
    int32_t *group;   /* [runs->count] of one model, accelerators, sequence length and precision: numbers in order */
    struct fit_watch watch;  /* of all fits together */
    int32_t fits_done, fits; /* for the watch */
    int32_t num_sets;
    int32_t of_set[SETS_MAX];  /* timed rows */
    int8_t has_died[SETS_MAX]; /* some row ran out of memory */
    struct arena arena;
};

static int is_recalled(const struct run *run) { return strncmp(run->provenance, "memory", strlen("memory")) == 0; }

static int same_set(const struct run *a, const struct run *b) {
    return run_set_length(a) == run_set_length(b) && strncmp(a->id, b->id, run_set_length(a)) == 0;
}

static int same_group(const struct run *a, const struct run *b) {
    return a->gpus == b->gpus && a->seq == b->seq && a->precision == b->precision && strcmp(a->model, b->model) == 0;
}

static int corpus_make(const struct runs *runs, struct corpus *corpus) {
    *corpus = (struct corpus){.runs = runs};
    corpus->jobs = arena_alloc(&corpus->arena, runs->count + 1, sizeof *corpus->jobs);
    corpus->set = arena_alloc(&corpus->arena, runs->count + 1, sizeof *corpus->set);
    corpus->group = arena_alloc(&corpus->arena, runs->count + 1, sizeof *corpus->group);
    size_t *begins = arena_alloc(&corpus->arena, runs->count + 1, sizeof *begins); /* first row of each group */
    int32_t num_groups = 0;
    const struct run **first = arena_alloc(&corpus->arena, SETS_MAX, sizeof *first);
    if (corpus->jobs == NULL || corpus->set == NULL || corpus->group == NULL || begins == NULL || first == NULL)
        return 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->rows[i];
        if (!job_of_run(run, &corpus->arena, &corpus->jobs[i])) return 0;
        int32_t s = 0;
        while (s < corpus->num_sets && !same_set(first[s], run)) s++;
        if (s == corpus->num_sets && s < SETS_MAX) first[corpus->num_sets++] = run;
        if (s == SETS_MAX) s--; /* sets beyond share the last one's weight */
        corpus->set[i] = s;
        int32_t g = 0;
        while (g < num_groups && !same_group(&runs->rows[begins[g]], run)) g++;
        if (g == num_groups) begins[num_groups++] = i;
        corpus->group[i] = g;
        corpus->of_set[s] += corpus->jobs[i].why == NULL && figures_is_timed(run);
        corpus->has_died[s] |= run->measured.status == RUN_OOM;
    }
    return 1;
}

static void corpus_free(struct corpus *corpus) { arena_free(&corpus->arena); }

/* Groups are dealt out in the order in which they begin. Another salt deals them in another order. */
static int32_t fold_of(int32_t group, int32_t folds, int32_t salt) {
    return salt ? (group / folds + group) % folds : group % folds;
}

static int is_left_out(const struct corpus *corpus, size_t row, const struct calibrate_without *without) {
    if (without->set && run_is_of_set(&corpus->runs->rows[row], without->set)) return 1;
    return without->folds > 0 && fold_of(corpus->group[row], without->folds, without->salt) == without->fold;
}

/* The rows of a fit, but those left out by either; memory: those of memory. Returns how many; -1: memory ran out. */
static int32_t list_rows(const struct corpus *corpus, const struct calibrate_without *a,
                         const struct calibrate_without *b, int is_memory, struct fit_row **ret_rows) {
    struct fit_row *rows = calloc(2 * corpus->runs->count + 1, sizeof *rows);
    int32_t count = 0;
    if (rows == NULL) return -1;
    for (size_t i = 0; i < corpus->runs->count; i++) {
        const struct run *run = &corpus->runs->rows[i];
        const struct job *job = &corpus->jobs[i];
        int32_t set = corpus->set[i];
        if (job->why || is_left_out(corpus, i, a) || is_left_out(corpus, i, b)) continue;
        if (!is_memory) {
            if (figures_is_timed(run))
                rows[count++] = (struct fit_row){job, FIT_TIME, run->measured.step_s,
                                                 TIME_WEIGHT * pow((double)corpus->of_set[set], SET_POWER)};
            continue;
        }
        if (run->measured.why || is_recalled(run)) continue;
        if (run->measured.mem_gib > 0 && run->measured.status == RUN_OK)
            rows[count++] = (struct fit_row){job, FIT_MEMORY, run->measured.mem_gib * 1073741824, MEMORY_WEIGHT};
        /* where nobody says what was recomputed, that it ran tells little */
        if (run->measured.status == RUN_OK && run->recompute != RUN_RECOMPUTE_MISSING)
            rows[count++] = (struct fit_row){job, FIT_FIT, 0, corpus->has_died[set] ? 1 : RAN_WEIGHT};
        if (run->measured.status == RUN_OOM) rows[count++] = (struct fit_row){job, FIT_DIED, 0, 1};
    }
    *ret_rows = rows;
    return count;
}

/* Predictions of runs by constants that were fitted without them: by their own stack, and those of what runs on
 * Megatron-Core by the default too. */
struct apart {
    struct prediction *own, *by_default; /* [runs->count] */
};

/* ---- All constants ---------------------------------------------------------------------------------------- */

/* Without spreads. */
static int32_t fit_all(struct corpus *corpus, const struct calibrate_without *a, const struct calibrate_without *b,
                       struct calibration *calibration, struct kerf_error *err) {
    int32_t code = priors_load(&calibration->constants, err);
    for (int is_memory = 0; code == KERF_OK && is_memory <= 1; is_memory++) {
        struct fit_row *rows = NULL;
        struct fit_report *report = is_memory ? &calibration->memory : &calibration->times;
        int32_t count = list_rows(corpus, a, b, is_memory, &rows);
        report->count = 0;
        if (count < 0) return error_no_memory(err, "the rows");
        if (!is_memory) calibration->rows = count;
        struct fit_watch watch = corpus->watch;
        watch.begin = (double)corpus->fits_done / corpus->fits;
        watch.end = is_memory ? watch.begin : (double)(corpus->fits_done + 1) / corpus->fits;
        if (count > 0)
            code = fit_constants(&calibration->constants, rows, (size_t)count, FIT_EVERY, &watch, report, err);
        if (!is_memory) corpus->fits_done++;
        free(rows);
    }
    return code;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What runs on Megatron-Core says how far off the default is. */
static int is_relative(const char *stack) {
    return strcmp(stack, "nemo") == 0 || strncmp(stack, "megatron-bridge-", strlen("megatron-bridge-")) == 0;
}

/* The prediction of a run that says how far off a stack is: by that stack's constants. NULL: the run says nothing of it. */
static const struct prediction *answer_for(const char *stack, const struct job *job, const struct apart *apart,
                                           size_t row) {
    if (strcmp(stack, job->stack) == 0) return &apart->own[row];
    return strcmp(stack, KERF_STACK_DEFAULT) == 0 && is_relative(job->stack) ? &apart->by_default[row] : NULL;
}

/* Sets the spreads of every stack from predictions that were made apart, and the mean error. */
static int32_t set_spreads(const struct corpus *corpus, const struct calibrate_without *without,
                           const struct apart *apart, struct calibration *calibration, struct kerf_error *err) {
    struct score_constants *constants = &calibration->constants;
    double *errors = calloc(corpus->runs->count + 1, sizeof *errors), sum = 0;
    int32_t all = 0;
    if (errors == NULL) return error_no_memory(err, "the spreads");
    for (int32_t t = 0; t < constants->num_stacks; t++) {
        struct kerf_stack *stack = &constants->stacks[t];
        stack->num_spreads = 0;
        for (int32_t s = 0; s < constants->num_systems; s++)
            for (int experts = 0; experts <= 1; experts++) {
                size_t count = 0;
                for (size_t i = 0; i < corpus->runs->count; i++) {
                    const struct job *job = &corpus->jobs[i];
                    if (job->why || !figures_is_timed(&corpus->runs->rows[i]) || is_left_out(corpus, i, without) ||
                        job->has_experts != experts || strcmp(job->system, constants->systems[s].name) != 0)
                        continue;
                    const struct prediction *prediction = answer_for(stack->name, job, apart, i);
                    if (prediction == NULL || prediction->why) continue;
                    double ratio = prediction->step_s / corpus->runs->rows[i].measured.step_s;
                    errors[count++] = fabs(log(ratio));
                    if (strcmp(stack->name, job->stack) != 0) continue;
                    sum += fabs(ratio - 1);
                    all++;
                }
                if (count < SPREAD_ROWS || stack->num_spreads == STACK_SPREADS_MAX) continue;
                qsort(errors, count, sizeof *errors, compare_doubles);
                struct stack_spread *spread = &stack->spreads[stack->num_spreads++];
                memcpy(spread->system, constants->systems[s].name, sizeof spread->system);
                spread->has_experts = (int8_t)experts;
                spread->rows = (int32_t)count;
                /* the 90 % of so few rows: one rank further */
                size_t rank = (size_t)ceil(0.9 * (double)(count + 1));
                spread->half_width = errors[rank > count ? count - 1 : rank - 1];
                if (spread->half_width < 0.01) spread->half_width = 0.01;
            }
    }
    calibration->error_after = all ? sum / all : NAN;
    free(errors);
    return KERF_OK;
}

/* Of the rows which[count], those of relatives, as runs of the default stack. 0 when memory ran out. */
static int predict_by_default(struct corpus *corpus, const struct score_constants *constants, const int32_t *which,
                              size_t count, struct prediction *predictions) {
    int good = 1;
    for (size_t i = 0; good && i < count; i++) {
        struct job *job = &corpus->jobs[which[i]];
        const char *own = job->stack;
        if (job->why || !is_relative(own)) continue;
        job->stack = KERF_STACK_DEFAULT;
        good = predict_jobs(constants, corpus->jobs, &which[i], 1, predictions);
        job->stack = own;
    }
    return good;
}

/* Each row that is not left out, by constants that were fitted without its fold. */
static int32_t predict_folds(struct corpus *corpus, const struct calibrate_without *without, struct apart *apart,
                             struct kerf_error *err) {
    struct calibration *fitted = malloc(sizeof *fitted);
    int32_t *which = calloc(corpus->runs->count + 1, sizeof *which), code = KERF_OK;
    if (fitted == NULL || which == NULL) {
        free(fitted);
        free(which);
        return error_no_memory(err, "the folds");
    }
    for (int32_t fold = 0; code == KERF_OK && fold < SPREAD_FOLDS; fold++) {
        size_t count = 0;
        struct calibrate_without out = {.folds = SPREAD_FOLDS, .fold = fold, .salt = 1};
        for (size_t i = 0; i < corpus->runs->count; i++)
            if (!is_left_out(corpus, i, without) && is_left_out(corpus, i, &out)) which[count++] = (int32_t)i;
        code = fit_all(corpus, without, &out, fitted, err);
        if (code == KERF_OK && !(predict_jobs(&fitted->constants, corpus->jobs, which, count, apart->own) &&
                                 predict_by_default(corpus, &fitted->constants, which, count, apart->by_default)))
            code = error_no_memory(err, "the folds");
    }
    free(fitted);
    free(which);
    return code;
}

static int32_t calibrate_corpus(struct corpus *corpus, const struct calibrate_without *without, int with_spreads,
                                struct calibration *ret_calibration, struct kerf_error *err) {
    struct calibration *calibration = ret_calibration;
    struct prediction *predictions = calloc(2 * corpus->runs->count + 1, sizeof *predictions);
    if (predictions == NULL) return error_no_memory(err, "the predictions");
    struct apart apart = {predictions, predictions + corpus->runs->count};
    memset(calibration, 0, sizeof *calibration);
    calibration->error_after = NAN;
    int32_t code = with_spreads ? predict_folds(corpus, without, &apart, err) : KERF_OK;
    if (code == KERF_OK) code = fit_all(corpus, without, without, calibration, err);
    if (code == KERF_OK && with_spreads) code = set_spreads(corpus, without, &apart, calibration, err);
    for (size_t i = 0; code == KERF_OK && i < corpus->runs->count; i++) {
        const struct run *run = &corpus->runs->rows[i];
        int known = 0;
        calibration->refused += corpus->jobs[i].why != NULL;
        if (corpus->jobs[i].why || !figures_is_timed(run) || is_left_out(corpus, i, without)) continue;
        for (int32_t s = 0; s < calibration->num_sets; s++) known |= run_is_of_set(run, calibration->sets[s]);
        if (!known && calibration->num_sets < SETS_MAX)
            snprintf(calibration->sets[calibration->num_sets++], KERF_NAME_SIZE, "%.*s", (int)run_set_length(run),
                     run->id);
    }
    free(predictions);
    return code;
}

int32_t calibrate_all(const struct runs *runs, const struct calibrate_without *without, const struct fit_watch *watch,
                      struct calibration *ret_calibration, struct kerf_error *err) {
    struct corpus corpus;
    int32_t code = corpus_make(runs, &corpus) ? KERF_OK : error_no_memory(err, "the corpus");
    corpus.watch = *watch;
    corpus.fits = without->set ? 1 : 1 + SPREAD_FOLDS;
    if (code == KERF_OK) code = calibrate_corpus(&corpus, without, without->set == NULL, ret_calibration, err);
    corpus_free(&corpus);
    return code;
}

int32_t calibrate_predict_apart(const struct runs *runs, int32_t folds, const struct fit_watch *watch,
                                struct prediction *ret_predictions, struct kerf_error *err) {
    struct corpus corpus;
    struct calibration *fitted = malloc(sizeof *fitted);
    int32_t *which = calloc(runs->count + 1, sizeof *which);
    int32_t code = corpus_make(runs, &corpus) && fitted && which ? KERF_OK : error_no_memory(err, "the corpus");
    int32_t parts = folds > 0 ? folds : corpus.num_sets;
    corpus.watch = *watch;
    corpus.fits = parts * (1 + SPREAD_FOLDS);
    for (int32_t part = 0; code == KERF_OK && part < parts; part++) {
        struct calibrate_without out = {.folds = folds, .fold = part};
        char name[KERF_NAME_SIZE];
        size_t count = 0;
        for (size_t i = 0; folds == 0 && i < runs->count; i++)
            if (corpus.set[i] == part && out.set == NULL) {
                snprintf(name, sizeof name, "%.*s", (int)run_set_length(&runs->rows[i]), runs->rows[i].id);
                out.set = name;
            }
        for (size_t i = 0; i < runs->count; i++)
            if (is_left_out(&corpus, i, &out)) which[count++] = (int32_t)i;
        if (count == 0) continue;
        code = calibrate_corpus(&corpus, &out, 1, fitted, err);
        if (code == KERF_OK && !predict_jobs(&fitted->constants, corpus.jobs, which, count, ret_predictions))
            code = error_no_memory(err, "the predictions");
    }
    corpus_free(&corpus);
    free(fitted);
    free(which);
    return code;
}

/* ---- One site --------------------------------------------------------------------------------------------- */

static double mean_error(const struct score_constants *constants, const struct fit_row *rows, int32_t count) {
    struct arena scratch = {NULL};
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        struct kerf_estimate estimate;
        arena_reset(&scratch);
        if (price_job(constants, rows[i].job, &scratch, &estimate))
            sum += fabs(estimate.step_time_s / rows[i].measured - 1);
    }
    arena_free(&scratch);
    return count ? sum / count : NAN;
}

/* The mean error of each row by a fit without it. */
static int32_t left_one_out(const struct score_constants *from, struct fit_row *rows, int32_t count,
                            struct calibration *scratch, double *ret_error, struct kerf_error *err) {
    double sum = 0;
    int32_t code = KERF_OK;
    for (int32_t i = 0; code == KERF_OK && i < count; i++) {
        struct fit_row last = rows[count - 1], out = rows[i];
        rows[i] = last;
        scratch->constants = *from;
        if (count > 1)
            code = fit_constants(&scratch->constants, rows, (size_t)count - 1, FIT_SITE, &nobody, &scratch->times, err);
        sum += mean_error(&scratch->constants, &out, 1);
        rows[i] = out;
    }
    *ret_error = count ? sum / count : NAN;
    return code;
}

/* The rows of this system that were timed; the others are counted. */
static int32_t site_rows(const struct corpus *corpus, const char *system, const char *stack, struct fit_row *rows,
                         int32_t *ret_refused) {
    int32_t count = 0;
    *ret_refused = 0;
    for (size_t i = 0; i < corpus->runs->count; i++) {
        const struct run *run = &corpus->runs->rows[i];
        struct job *job = &corpus->jobs[i];
        if (job->why == NULL && stack) job->stack = stack;
        if (job->why == NULL && strcmp(job->system, system) == 0 && figures_is_timed(run))
            rows[count++] = (struct fit_row){job, FIT_TIME, run->measured.step_s, 1};
        else
            (*ret_refused)++;
    }
    return count;
}

/* Names the systems of the rows, each once. */
static int32_t no_row(const struct corpus *corpus, const char *system, struct kerf_error *err) {
    struct kerf_text others = {0}, told = {0};
    for (size_t i = 0; i < corpus->runs->count; i++) {
        const char *other = corpus->jobs[i].system;
        if (other == NULL || list_has(told.data, other)) continue;
        kerf_text_printf(&told, "%s%s", told.length ? "," : "", other);
        kerf_text_printf(&others, "%s%s", others.length ? ", " : "; there are rows of ", other);
    }
    kerf_error_set(err, KERF_EINVALID, "no row has a step time and is of system %s%s", system,
                   others.length && !others.failed ? others.data : "");
    kerf_text_free(&others);
    kerf_text_free(&told);
    return KERF_EINVALID;
}

static int32_t fit_site(struct fit_row *rows, int32_t count, const struct score_constants *from,
                        struct calibration *calibration, struct kerf_error *err) {
    struct calibration *scratch = malloc(sizeof *scratch);
    if (scratch == NULL) return error_no_memory(err, "the site");
    calibration->rows = count;
    calibration->error_before = mean_error(from, rows, count);
    int32_t code = left_one_out(from, rows, count, scratch, &calibration->error_after, err);
    /* rows that do not make each other's prediction better prove nothing: the constants stay */
    calibration->is_kept = count > 1 && calibration->error_after >= calibration->error_before;
    if (code == KERF_OK && !calibration->is_kept)
        code = fit_constants(&calibration->constants, rows, (size_t)count, FIT_SITE, &nobody, &calibration->times, err);
    free(scratch);
    return code;
}

/* The job of a log. 0 when memory ran out. */
static int logged_job(const struct calibrate_logged *logged, const char *system, const char *stack, struct arena *arena,
                      struct job *ret_job) {
    const struct kerf_model *model = &logged->problem->model;
    struct kerf_problem *problem = arena_alloc(arena, 1, sizeof *problem);
    if (problem == NULL) return 0;
    *problem = *logged->problem;
    *ret_job = (struct job){.problem = problem,
                            .layout = logged->layout,
                            .system = system,
                            .stack = stack ? stack : logged->stack,
                            .precision = problem->precision == KERF_PRECISION_FP8 ? JOB_FP8 : JOB_16,
                            .recomputed = 1};
    for (int32_t k = 0; k < model->num_kinds; k++) ret_job->has_experts |= model->kinds[k].mlp.experts > 0;
    return 1;
}

int32_t calibrate_site(const struct runs *runs, const struct calibrate_logged *logged,
                       const struct score_constants *from, const char *system, const char *stack,
                       struct calibration *ret_calibration, struct kerf_error *err) {
    struct corpus corpus;
    struct job job;
    struct fit_row *rows = calloc(runs->count + 2, sizeof *rows);
    if (rows == NULL) return error_no_memory(err, "the site");
    memset(ret_calibration, 0, sizeof *ret_calibration);
    ret_calibration->constants = *from;
    int32_t code = corpus_make(runs, &corpus) ? KERF_OK : error_no_memory(err, "the site");
    if (code == KERF_OK) code = price_check_system(from, system, err);
    if (code == KERF_OK && stack) code = price_check_stack(from, stack, err);
    if (code == KERF_OK) {
        int32_t count = site_rows(&corpus, system, stack, rows, &ret_calibration->refused);
        if (logged && !logged_job(logged, system, stack, &corpus.arena, &job))
            code = error_no_memory(err, "the site");
        else if (logged)
            code = price_check_stack(from, job.stack, err);
        if (code == KERF_OK && logged) rows[count++] = (struct fit_row){&job, FIT_TIME, logged->step_s, 1};
        if (code == KERF_OK)
            code = count ? fit_site(rows, count, from, ret_calibration, err) : no_row(&corpus, system, err);
    }
    corpus_free(&corpus);
    free(rows);
    return code;
}
