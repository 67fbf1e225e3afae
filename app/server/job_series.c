/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus wants all samples of a metric together: the jobs are read into rows first. */
#include "server/job_series.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/characters.h"
#include "base/clock.h"
#include "base/error_fill.h"

/* Seconds. Of a store that blocks: how often it is asked at most, after how long without an answer it counts as down,
 * and how old what was read may be. */
static const double EACH_S = 1, HANGS_S = 5, OLD_S = 300;

struct job_series {
    pthread_mutex_t lock;
    struct kerf_text text; /* as it was last read */
    double read_s;         /* when that began, in clock_ticks_s; 0: never */
    double asked_s;        /* since when a worker reads; 0: none does */
    int32_t is_up;
    struct store *store;
    struct work work;
};

struct job_series *job_series_new(void) {
    struct job_series *series = calloc(1, sizeof *series);
    if (series == NULL) return NULL;
    pthread_mutex_init(&series->lock, NULL);
    series->is_up = 1; /* it was opened a moment ago */
    return series;
}

struct job_series *job_series_free(struct job_series *series) {
    if (series == NULL) return NULL;
    pthread_mutex_destroy(&series->lock);
    kerf_text_free(&series->text);
    free(series);
    return NULL;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------- */

enum { TRIALS, TRIALS_ENDED, MIN_COST, MIN_COST_BATCH_SIZE, LONGEST_GAP, VALUES };

static const struct {
    const char *name, *type, *help;
} metrics[VALUES] = {
    [TRIALS] = {"job_trials_total", "counter", "Trials of the job that were dispatched."},
    [TRIALS_ENDED] = {"job_trials_ended_total", "counter", "Trials of the job that ended by a report or a PATCH."},
    [MIN_COST] = {"job_min_cost_joules", "gauge", "Cost of the job's cheapest run."},
    [MIN_COST_BATCH_SIZE] = {"job_min_cost_batch_size", "gauge", "Batch size of the job's cheapest run."},
    [LONGEST_GAP] = {"job_longest_gap_seconds", "gauge", "Longest silence of a trial that still reported."},
};

struct shown {
    const char *label; /* escaped */
    int32_t stage;
    double values[VALUES]; /* NaN: there is none */
};

struct rows {
    struct arena arena;
    struct shown *jobs;
    int32_t count, is_more;
};

/* As the text format has it. A byte that is no UTF-8 becomes U+FFFD and its value, so that names that differ still do:
 * two samples with the same labels would be an error. */
static char *escape(struct arena *arena, const char *name) {
    struct kerf_text text = {0};
    for (const char *c = name; *c;) {
        size_t length = utf8_code_point(c);
        if (length == 0)
            kerf_text_printf(&text, "\xEF\xBF\xBD%02x", (unsigned char)*c);
        else if (*c == '\n')
            kerf_text_add(&text, "\\n");
        else if (*c == '"' || *c == '\\')
            kerf_text_printf(&text, "\\%c", *c);
        else
            kerf_text_write(&text, c, length);
        c += length ? length : 1;
    }
    char *copy = text.failed ? NULL : arena_copy(arena, text.data ? text.data : "", text.length);
    kerf_text_free(&text);
    return copy;
}

static int32_t visit(void *context, const struct store_job *job) {
    struct rows *rows = context;
    const struct kerf_job_row *row = job->row;
    if (rows->count == JOB_SERIES_MAX) {
        rows->is_more = 1;
        return KERF_OK;
    }
    const struct shown shown = {
        .label = escape(&rows->arena, job->spec->job_id),
        .stage = row->stage,
        .values = {[TRIALS] = (double)row->last_trial_number,
                   [TRIALS_ENDED] = (double)row->trials_ended,
                   [MIN_COST] = row->has_min_cost ? row->min_cost : NAN,
                   [MIN_COST_BATCH_SIZE] = row->has_min_cost ? (double)row->min_cost_batch_size : NAN,
                   [LONGEST_GAP] = row->longest_gap_s}};
    if (shown.label == NULL) return KERF_ENOMEM;
    rows->jobs[rows->count++] = shown;
    return KERF_OK;
}

/* ---- The text ------------------------------------------------------------------------------------------------- */

static void say(struct kerf_text *out, const char *name, const char *type, const char *help) {
    kerf_text_printf(out, "# HELP kerf_%s %s\n# TYPE kerf_%s %s\n", name, help, name, type);
}

static void put_value(struct kerf_text *out, double value) {
    if (isinf(value))
        kerf_text_add(out, value > 0 ? "+Inf" : "-Inf");
    else
        kerf_text_number(out, value);
    kerf_text_add(out, "\n");
}

static void put_rows(struct kerf_text *out, const struct rows *rows) {
    for (int value = 0; value < VALUES; value++) {
        say(out, metrics[value].name, metrics[value].type, metrics[value].help);
        for (int32_t i = 0; i < rows->count; i++) {
            if (isnan(rows->jobs[i].values[value])) continue;
            kerf_text_printf(out, "kerf_%s{job_id=\"%s\"} ", metrics[value].name, rows->jobs[i].label);
            put_value(out, rows->jobs[i].values[value]);
        }
    }
    say(out, "job_stage", "gauge", "1 for the stage that the job is in.");
    for (int32_t i = 0; i < rows->count; i++)
        kerf_text_printf(out, "kerf_job_stage{job_id=\"%s\",stage=\"%s\"} 1\n", rows->jobs[i].label,
                         kerf_job_stage_name(rows->jobs[i].stage));
}

static int32_t write_jobs(struct store *store, struct kerf_text *out, struct kerf_error *err) {
    const struct store_page page = {.limit = JOB_SERIES_MAX + 1};
    struct rows rows = {.count = 0};
    int64_t all = 0;
    rows.jobs = arena_take(&rows.arena, JOB_SERIES_MAX, sizeof *rows.jobs);
    int32_t code = rows.jobs ? store_list_jobs(store, &page, visit, &rows, err) : error_no_memory(err, "the jobs");
    if (code == KERF_OK && rows.is_more) code = store_count_jobs(store, &all, err);
    if (code == KERF_OK) {
        say(out, "jobs_not_shown", "gauge", "Jobs that have no series here, as there are too many.");
        kerf_text_printf(out, "kerf_jobs_not_shown %" PRId64 "\n", all > rows.count ? all - rows.count : 0);
        put_rows(out, &rows);
    }
    arena_free(&rows.arena);
    return code;
}

/* ---- When the store is asked ---------------------------------------------------------------------------------- */

static void read_jobs(struct job_series *series, struct store *store) {
    struct kerf_text text = {0};
    struct kerf_error err = {.code = KERF_OK};
    double began_s = clock_ticks_s();
    int32_t code = write_jobs(store, &text, &err);
    pthread_mutex_lock(&series->lock);
    kerf_text_free(&series->text);
    series->text = text;
    series->read_s = began_s;
    series->asked_s = 0;
    series->is_up = code == KERF_OK && !text.failed;
    pthread_mutex_unlock(&series->lock);
}

static void read_in_worker(struct work *work) {
    struct job_series *series = (struct job_series *)((char *)work - offsetof(struct job_series, work));
    read_jobs(series, series->store);
}

/* Under the lock. */
static void ask_worker(struct job_series *series, struct store *store, struct workers *workers, double now_s) {
    if (series->asked_s > 0 || (series->read_s > 0 && now_s - series->read_s < EACH_S)) return;
    series->asked_s = now_s;
    series->store = store;
    series->work.run = read_in_worker;
    workers_add(workers, &series->work);
}

void job_series_put(struct job_series *series, struct store *store, struct workers *workers, struct kerf_text *out) {
    if (workers == NULL) read_jobs(series, store);
    pthread_mutex_lock(&series->lock);
    double now_s = clock_ticks_s(), age_s = series->read_s > 0 ? now_s - series->read_s : INFINITY;
    int is_up = series->is_up && (series->asked_s == 0 || now_s - series->asked_s < HANGS_S);
    if (workers) ask_worker(series, store, workers, now_s);
    say(out, "store_up", "gauge", "1 while the store answers; 0: the series of jobs are left out.");
    kerf_text_printf(out, "kerf_store_up %d\n", is_up);
    if (is_up && age_s < OLD_S) {
        say(out, "jobs_age_seconds", "gauge", "How long ago the series of jobs were read.");
        kerf_text_printf(out, "kerf_jobs_age_seconds %.3f\n", fmax(age_s, 0));
        kerf_text_write(out, series->text.data, series->text.length);
    }
    pthread_mutex_unlock(&series->lock);
}
