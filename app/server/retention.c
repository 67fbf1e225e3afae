/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass goes through the jobs page by page, and through a job's trials by number up to the first that was dispatched
 * too late. kerf_job_need says what of a trial is needed: all of it, its cost, or nothing. Each write is one small
 * transaction among those of decisions; after it this thread rests for as long as the write took.
 *
 * A trial that is not needed now will not be needed later. So jobs and trials are read without a turn, and several
 * servers can share a database: the second one finds nothing to remove.
 */
#include "server/retention.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/error_fill.h"

enum { JOBS = 64, TRIALS = 256, PARTS = 50 };
static const double MIN_PAUSE_S = 1, MAX_PAUSE_S = 3600;

struct pass {
    struct store *store;
    int32_t flags;
    double before_s;
    const _Atomic int *is_over;
    int64_t removed;

    int64_t keys[JOBS];
    int32_t num_jobs;
    char *last_job_id;

    struct kerf_trial trials[TRIALS]; /* of one page */
    int32_t num_trials;
    struct store_forgotten forgotten[TRIALS];
    int32_t num_forgotten;

    pthread_mutex_t lock; /* of a write that is waited for */
    pthread_cond_t written;
    int is_written;
    int32_t code;
    struct kerf_error err;
};

static int goes_on(const struct pass *pass) { return pass->is_over == NULL || !*pass->is_over; }

/* ---- Writes ------------------------------------------------------------------------------------------------- */

static void on_written(struct store_write *write, int32_t code, const struct kerf_error *err) {
    struct pass *pass = write->context;
    pthread_mutex_lock(&pass->lock);
    pass->code = code;
    if (code != KERF_OK) pass->err = *err;
    pass->is_written = 1;
    pthread_cond_signal(&pass->written);
    pthread_mutex_unlock(&pass->lock);
}

static void rest(double seconds) {
    seconds = fmin(seconds, MIN_PAUSE_S);
    const struct timespec pause = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    nanosleep(&pause, NULL);
}

static int32_t forget(struct pass *pass, int64_t job, struct kerf_error *err) {
    struct store_turn turn = {0};
    struct store_write write = {.kind = STORE_FORGET,
                                .job = job,
                                .forgotten = pass->forgotten,
                                .num_forgotten = pass->num_forgotten,
                                .done = on_written,
                                .context = pass};
    double began_s = clock_ticks_s();
    pass->is_written = 0;
    pass->store->methods->submit(pass->store, &turn, &write);
    pthread_mutex_lock(&pass->lock);
    while (!pass->is_written) pthread_cond_wait(&pass->written, &pass->lock);
    pthread_mutex_unlock(&pass->lock);
    if (pass->code != KERF_OK && err) *err = pass->err;
    if (pass->code != KERF_OK) return pass->code;
    pass->removed += pass->num_forgotten;
    rest(clock_ticks_s() - began_s);
    return KERF_OK;
}

/* ---- A job's trials ----------------------------------------------------------------------------------------- */

static int32_t visit_trial(void *context, const struct kerf_trial *trial, const char *reason) {
    struct pass *pass = context;
    (void)reason;
    assert(pass->num_trials < TRIALS);
    assert(pass->num_trials == 0 || pass->trials[pass->num_trials - 1].number < trial->number);
    pass->trials[pass->num_trials++] = *trial;
    return KERF_OK;
}

/* For each size the number of the oldest trial whose cost counts; 0: all count. */
static int32_t find_oldest(struct pass *pass, const struct kerf_job *job, int64_t key, int64_t *ret_oldest,
                           struct kerf_error *err) {
    const struct kerf_job_spec *spec = kerf_job_spec_of(job);
    struct store_turn turn = {.job = key};
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < spec->num_batch_sizes && code == KERF_OK; i++) {
        int64_t counted = kerf_job_costs_counted(job, spec->batch_sizes[i]);
        struct store_costs costs = {0};
        if (counted == 0 || counted == INT64_MAX) continue;
        code = store_load_costs(pass->store, &turn, spec, spec->batch_sizes[i], counted, &costs, err);
        if (code == KERF_OK && costs.count == counted) ret_oldest[i] = costs.numbers[counted - 1];
        store_costs_free(&costs);
    }
    return code;
}

static int64_t oldest_of(const struct kerf_job_spec *spec, const int64_t *oldest, int64_t batch_size) {
    for (int32_t i = 0; i < spec->num_batch_sizes; i++)
        if (spec->batch_sizes[i] == batch_size) return oldest[i];
    return INT64_MAX; /* a size that the job does not have */
}

/* With a window, its trials are kept; where all costs count, only the costs are kept. */
static void choose(struct pass *pass, const struct kerf_job *job, const int64_t *oldest) {
    const struct kerf_job_spec *spec = kerf_job_spec_of(job);
    pass->num_forgotten = 0;
    for (int32_t i = 0; i < pass->num_trials; i++) {
        const struct kerf_trial *trial = &pass->trials[i];
        int32_t need = kerf_job_need(job, trial);
        int keeps_cost = need == KERF_NEED_COST && kerf_job_costs_counted(job, trial->batch_size) == INT64_MAX;
        if (need == KERF_NEED_COST && !keeps_cost && trial->number < oldest_of(spec, oldest, trial->batch_size))
            need = KERF_NEED_NOTHING;
        if (!(trial->seen_s < pass->before_s) || (need != KERF_NEED_NOTHING && !keeps_cost)) continue;
        pass->forgotten[pass->num_forgotten++] = (struct store_forgotten){trial->number, keeps_cost};
    }
}

static int32_t look_through(struct pass *pass, int64_t key, const struct kerf_job *job, int64_t *oldest,
                            struct kerf_error *err) {
    struct store_page page = {.limit = TRIALS};
    int32_t code, knows_oldest = 0;
    do {
        pass->num_trials = 0;
        code = store_list_trials(pass->store, key, &page, visit_trial, pass, err);
        int full = pass->num_trials == TRIALS;
        while (pass->num_trials > 0 && !(pass->trials[pass->num_trials - 1].dispatched_s < pass->before_s)) {
            pass->num_trials--;
            full = 0; /* those behind it are younger still */
        }
        if (code != KERF_OK || pass->num_trials == 0) break;
        page.after_number = pass->trials[pass->num_trials - 1].number;
        if (!knows_oldest) code = find_oldest(pass, job, key, oldest, err);
        knows_oldest = 1;
        if (code == KERF_OK) choose(pass, job, oldest);
        if (code == KERF_OK && pass->num_forgotten > 0) code = forget(pass, key, err);
        if (!full) break;
    } while (code == KERF_OK && goes_on(pass));
    return code;
}

static int32_t clean_job(struct pass *pass, int64_t key, struct kerf_error *err) {
    struct store_turn turn = {.job = key};
    struct kerf_job *job = NULL;
    int32_t code = store_load_job(pass->store, &turn, pass->flags, &job, err);
    if (code == KERF_EUNKNOWN) return KERF_OK; /* deleted meanwhile */
    if (code != KERF_OK) return code;
    int64_t *oldest = calloc((size_t)kerf_job_spec_of(job)->num_batch_sizes, sizeof *oldest);
    code = oldest ? look_through(pass, key, job, oldest, err) : error_no_memory(err, "a job");
    free(oldest);
    kerf_job_free(job);
    return code;
}

/* ---- All jobs ----------------------------------------------------------------------------------------------- */

static int32_t visit_job(void *context, const struct store_job *job) {
    struct pass *pass = context;
    char *job_id = strdup(job->spec->job_id);
    if (job_id == NULL) return KERF_ENOMEM;
    free(pass->last_job_id);
    pass->last_job_id = job_id;
    assert(pass->num_jobs < JOBS);
    pass->keys[pass->num_jobs++] = job->job;
    return KERF_OK;
}

/* The next page's after_job_id must outlive the visits that replace it. */
static int32_t read_keys(struct pass *pass, struct kerf_error *err) {
    char *after = pass->last_job_id;
    const struct store_page page = {.after_job_id = after, .limit = JOBS};
    pass->last_job_id = NULL;
    pass->num_jobs = 0;
    int32_t code = store_list_jobs(pass->store, &page, visit_job, pass, err);
    free(after);
    return code;
}

int32_t retention_pass(struct store *store, int32_t job_flags, double before_s, const _Atomic int *is_over,
                       int64_t *ret_removed, struct kerf_error *err) {
    struct pass *pass = calloc(1, sizeof *pass);
    int32_t code = KERF_OK;
    *ret_removed = 0;
    if (pass == NULL) return error_no_memory(err, "old trials");
    pass->store = store;
    pass->flags = job_flags;
    pass->before_s = before_s;
    pass->is_over = is_over;
    pthread_mutex_init(&pass->lock, NULL);
    pthread_cond_init(&pass->written, NULL);
    do {
        code = read_keys(pass, err);
        for (int32_t i = 0; i < pass->num_jobs && code == KERF_OK && goes_on(pass); i++)
            code = clean_job(pass, pass->keys[i], err);
    } while (code == KERF_OK && pass->num_jobs == JOBS && goes_on(pass));
    *ret_removed = pass->removed;
    pthread_mutex_destroy(&pass->lock);
    pthread_cond_destroy(&pass->written);
    free(pass->last_job_id);
    free(pass);
    return code;
}

/* ---- The thread --------------------------------------------------------------------------------------------- */

struct retention {
    struct store *store;
    const struct log *log;
    int32_t flags;
    double keep_s;
    _Atomic uint64_t *removed;
    _Atomic int is_over;
    pthread_mutex_t lock;
    pthread_cond_t ends;
    pthread_t thread;
    int has_thread;
};

static void clean(struct retention *retention) {
    struct kerf_error err = {.code = KERF_OK};
    int64_t removed;
    int32_t code = retention_pass(retention->store, retention->flags, clock_now_s() - retention->keep_s,
                                  &retention->is_over, &removed, &err);
    atomic_fetch_add(retention->removed, (uint64_t)removed);
    if (removed > 0) log_info(retention->log, "retention", "%" PRId64 " old trials are removed", removed);
    if (code != KERF_OK) log_error(retention->log, "retention", "old trials stay for now: %s", err.message);
}

static void *keep_clean(void *context) {
    struct retention *retention = context;
    double pause_s = fmin(fmax(retention->keep_s / PARTS, MIN_PAUSE_S), MAX_PAUSE_S);
    pthread_mutex_lock(&retention->lock);
    while (!retention->is_over) {
        pthread_mutex_unlock(&retention->lock);
        clean(retention);
        const struct timespec until = clock_ticks_after(pause_s);
        pthread_mutex_lock(&retention->lock);
        while (!retention->is_over && pthread_cond_timedwait(&retention->ends, &retention->lock, &until) != ETIMEDOUT) {
        }
    }
    pthread_mutex_unlock(&retention->lock);
    return NULL;
}

int32_t retention_start(struct store *store, int32_t job_flags, double keep_s, const struct log *log,
                        _Atomic uint64_t *removed, struct retention **ret_retention, struct kerf_error *err) {
    struct retention *retention = calloc(1, sizeof *retention);
    pthread_condattr_t attributes;
    if (retention == NULL) return error_no_memory(err, "the server");
    retention->store = store;
    retention->log = log;
    retention->flags = job_flags;
    retention->keep_s = keep_s;
    retention->removed = removed;
    pthread_mutex_init(&retention->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&retention->ends, &attributes);
    pthread_condattr_destroy(&attributes);
    retention->has_thread = pthread_create(&retention->thread, NULL, keep_clean, retention) == 0;
    if (retention->has_thread) {
        *ret_retention = retention;
        return KERF_OK;
    }
    retention_stop(retention);
    return kerf_error_set(err, KERF_ENOMEM, "no thread can be started");
}

void retention_stop(struct retention *retention) {
    if (retention == NULL) return;
    pthread_mutex_lock(&retention->lock);
    retention->is_over = 1;
    pthread_cond_signal(&retention->ends);
    pthread_mutex_unlock(&retention->lock);
    if (retention->has_thread) pthread_join(retention->thread, NULL);
    pthread_mutex_destroy(&retention->lock);
    pthread_cond_destroy(&retention->ends);
    free(retention);
}
