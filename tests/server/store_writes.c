/* SPDX-License-Identifier: Apache-2.0 */
#include "store_writes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int num_done;
int32_t write_codes[WRITES];

void write_done(struct store_write *write, int32_t code, const struct kerf_error *why) {
    (void)why;
    pthread_mutex_lock(&lock);
    write_codes[*(int *)write->context] = code;
    num_done++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

void wait_for_writes(int count) {
    pthread_mutex_lock(&lock);
    while (num_done < count) pthread_cond_wait(&changed, &lock);
    num_done = 0;
    pthread_mutex_unlock(&lock);
}

int32_t submit_and_wait(struct store *store, struct store_write *write, struct store_turn *turn) {
    static int first = 0;
    write->done = write_done;
    write->context = &first;
    store->methods->submit(store, turn, write);
    wait_for_writes(1);
    return write_codes[0];
}

struct kerf_job *make_job(const char *job_id) {
    static const int64_t sizes[] = {32, 64};
    struct kerf_job_spec spec;
    struct kerf_job *job = NULL;
    struct kerf_error err;
    kerf_job_spec_defaults(&spec);
    spec.job_id = job_id;
    spec.job_id_prefix = "p";
    spec.gpu_model = "\xc3\xa9";
    spec.batch_sizes = sizes;
    spec.num_batch_sizes = 2;
    spec.default_batch_size = 64;
    spec.number_of_gpus = 8;
    spec.max_power = 1e22 / 3;
    spec.has_mab_seed = 1;
    spec.mab_seed = INT64_MAX;
    spec.has_beta_knob = 0;
    assert_int_equal(kerf_job_create(&spec, KERF_JOB_COMPAT, &job, &err), KERF_OK);
    return job;
}

int64_t create_job(struct store *store, const char *job_id) {
    struct kerf_job *job = make_job(job_id);
    struct store_turn turn = {0};
    struct store_write write = {.kind = STORE_CREATE, .of = job, .now_s = 1.5, .version = 1};
    assert_int_equal(submit_and_wait(store, &write, &turn), KERF_OK);
    kerf_job_free(job);
    return write.job;
}
