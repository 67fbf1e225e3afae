/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_history.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "store/store.h"

enum { AT_ONCE = 64, SIZE = 64 };

struct writer {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int waiting;
};

static void fail(const struct kerf_error *err) {
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void written(struct store_write *write, int32_t code, const struct kerf_error *err) {
    struct writer *writer = write->context;
    if (code != KERF_OK) fail(err);
    pthread_mutex_lock(&writer->lock);
    writer->waiting--;
    pthread_cond_signal(&writer->done);
    pthread_mutex_unlock(&writer->lock);
}

static struct kerf_job *make_job(const char *job_id, const struct history *history) {
    static const int64_t sizes[] = {SIZE};
    struct kerf_job_spec spec;
    struct kerf_job *job;
    struct kerf_error err;
    const struct kerf_job_row row = {.stage = KERF_JOB_MAB,
                                     .has_min_cost = 1,
                                     .min_cost = 1000,
                                     .min_cost_batch_size = SIZE,
                                     .last_trial_number = history->trials,
                                     .trials_ended = history->trials,
                                     .longest_gap_s = 3600};
    const struct kerf_arm arm = {.batch_size = SIZE,
                                 .param_mean = -2000,
                                 .param_precision = 1e-3,
                                 .reward_precision = 1e-4,
                                 .num_observations = history->trials};
    kerf_job_spec_defaults(&spec);
    spec.job_id = job_id;
    spec.job_id_prefix = "";
    spec.gpu_model = "V100";
    spec.batch_sizes = sizes;
    spec.num_batch_sizes = 1;
    spec.default_batch_size = SIZE;
    spec.number_of_gpus = 1;
    spec.max_power = 300;
    spec.has_beta_knob = 0;
    spec.window_size = history->window_size;
    if (kerf_job_restore(&spec, &row, 0, &job, &err) != KERF_OK || kerf_job_restore_arm(job, &arm, &err) != KERF_OK)
        fail(&err);
    return job;
}

static struct kerf_trial *make_trials(int64_t count) {
    struct kerf_trial *trials = calloc((size_t)count, sizeof *trials);
    for (int64_t i = 0; trials && i < count; i++)
        trials[i] = (struct kerf_trial){.number = i + 1,
                                        .batch_size = SIZE,
                                        .type = KERF_TRIAL_MAB,
                                        .status = KERF_TRIAL_SUCCEEDED,
                                        .converged = 1,
                                        .time_s = 10 + (double)(i % 97) / 97,
                                        .energy_j = 1000 + (double)(i % 89) / 0.89};
    return trials;
}

/* Of the jobs first, first + 1, ... as many as are written together. */
static void write_some(struct store *store, const struct history *history, const struct kerf_trial *trials, int first) {
    struct writer writer = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
    struct store_write writes[AT_ONCE];
    struct kerf_job *jobs[AT_ONCE];
    int count = history->jobs - first < AT_ONCE ? history->jobs - first : AT_ONCE;
    const struct store_history past = {.trials = trials, .num_trials = history->trials};
    writer.waiting = count;
    for (int i = 0; i < count; i++) {
        char job_id[64];
        struct store_turn turn = {0};
        snprintf(job_id, sizeof job_id, "%s%d", history->job, first + i);
        jobs[i] = make_job(job_id, history);
        writes[i] = (struct store_write){
            .kind = STORE_IMPORT, .version = 1, .of = jobs[i], .history = &past, .done = written, .context = &writer};
        store->methods->submit(store, &turn, &writes[i]);
    }
    pthread_mutex_lock(&writer.lock);
    while (writer.waiting > 0) pthread_cond_wait(&writer.done, &writer.lock);
    pthread_mutex_unlock(&writer.lock);
    for (int i = 0; i < count; i++) kerf_job_free(jobs[i]);
}

void history_write(const char *where, const struct history *history) {
    struct kerf_error err;
    struct store *store;
    struct kerf_trial *trials = make_trials(history->trials);
    if (store_open(where, STORE_SERVE | STORE_MAY_CREATE, &store, &err) != KERF_OK) fail(&err);
    for (int i = 0; trials && i < history->jobs; i += AT_ONCE) write_some(store, history, trials, i);
    store_close(store);
    free(trials);
}
