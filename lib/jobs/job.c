/* SPDX-License-Identifier: Apache-2.0 */
/* A job in memory: made, restored from its rows, and given back. What it holds is O(sizes * rounds), and the costs. */
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "jobs/job_state.h"

/* ---- Making one -------------------------------------------------------------------------------------------- */

static int copy_spec(struct kerf_job *job, const struct kerf_job_spec *spec) {
    struct arena *arena = &job->arena;
    size_t count = (size_t)spec->num_batch_sizes;
    int64_t *batch_sizes = arena_take(arena, count, sizeof *batch_sizes);
    job->spec = *spec;
    job->spec.job_id = arena_strdup(arena, spec->job_id ? spec->job_id : "");
    job->spec.job_id_prefix = arena_strdup(arena, spec->job_id_prefix ? spec->job_id_prefix : "");
    job->spec.gpu_model = arena_strdup(arena, spec->gpu_model ? spec->gpu_model : "");
    job->spec.policy = spec->policy ? arena_strdup(arena, spec->policy) : NULL;
    job->spec.batch_sizes = batch_sizes;
    if (batch_sizes == NULL || (spec->policy && job->spec.policy == NULL)) return 0;
    memcpy(batch_sizes, spec->batch_sizes, count * sizeof *batch_sizes);
    return job->spec.job_id && job->spec.job_id_prefix && job->spec.gpu_model;
}

static int take_arrays(struct kerf_job *job) {
    struct arena *arena = &job->arena;
    size_t count = (size_t)job->spec.num_batch_sizes;
    job->sizes = arena_alloc(arena, count, sizeof *job->sizes);
    job->arms = arena_alloc(arena, count, sizeof *job->arms);
    job->alive = arena_alloc(arena, count, sizeof *job->alive);
    job->good = arena_alloc(arena, count, sizeof *job->good);
    job->order = arena_alloc(arena, count, sizeof *job->order);
    job->taken = arena_alloc(arena, count, 1);
    if (!job->sizes || !job->arms || !job->alive || !job->good || !job->order || !job->taken) return 0;
    for (size_t i = 0; i < count; i++) {
        job->sizes[i].batch_size = job->spec.batch_sizes[i];
        job->sizes[i].arm = -1;
    }
    return 1;
}

/* What Zeus's server refuses, and what no decision can do without. */
static int32_t check_least(const struct kerf_job_spec *spec, struct kerf_error *err) {
    int has_default = 0;
    if (spec->num_batch_sizes < 1) return kerf_error_set(err, KERF_EINVALID, "a job needs a batch size");
    for (int32_t i = 0; i < spec->num_batch_sizes; i++) {
        if (i > 0 && spec->batch_sizes[i] <= spec->batch_sizes[i - 1])
            return kerf_error_set(err, KERF_EINVALID, "batch sizes must ascend");
        if (spec->batch_sizes[i] == spec->default_batch_size) has_default = 1;
    }
    if (!has_default) return kerf_error_set(err, KERF_EINVALID, "the default batch size is not one of the batch sizes");
    if (spec->has_mab_seed && spec->mab_seed < 0)
        return kerf_error_set(err, KERF_EINVALID, "mab_seed must not be negative");
    return KERF_OK;
}

static int32_t make(const struct kerf_job_spec *spec, int32_t flags, struct kerf_job **ret_job,
                    struct kerf_error *err) {
    int32_t code = check_least(spec, err);
    if (code != KERF_OK) return code;
    struct kerf_job *job = calloc(1, sizeof *job);
    if (job == NULL) return error_no_memory(err, "a job");
    if (!copy_spec(job, spec) || !take_arrays(job)) {
        kerf_job_free(job);
        return error_no_memory(err, "a job");
    }
    job->compat = (flags & KERF_JOB_COMPAT) != 0;
    job->policy = policy_find(spec->policy); /* with compat too: its arms are of that policy */
    if (job->policy == NULL) job->policy = policy_find(NULL);
    *ret_job = job;
    return KERF_OK;
}

int32_t kerf_job_create(const struct kerf_job_spec *spec, int32_t flags, struct kerf_job **ret_job,
                        struct kerf_error *err) {
    int32_t code = flags & KERF_JOB_COMPAT ? KERF_OK : kerf_job_spec_check(spec, NULL, err);
    struct kerf_job *job = NULL;
    if (code == KERF_OK) code = make(spec, flags, &job, err);
    if (job == NULL) return code;
    job->row.min_cost_batch_size = spec->default_batch_size;
    job->row.has_random = spec->has_mab_seed;
    for (int32_t i = 0; i < spec->num_batch_sizes; i++) job->sizes[i].costs.held = 1;
    if (spec->has_mab_seed) {
        struct pcg64 rng = random_seed((uint64_t)spec->mab_seed);
        job_keep_random(job, &rng);
    }
    *ret_job = job;
    return KERF_OK;
}

struct kerf_job *kerf_job_free(struct kerf_job *job) {
    if (job == NULL) return NULL;
    for (int32_t i = 0; job->sizes && i < job->spec.num_batch_sizes; i++) costs_forget(&job->sizes[i].costs);
    free(job->expired);
    free(job->window);
    arena_free(&job->arena);
    free(job);
    return NULL;
}

/* ---- Restoring it ------------------------------------------------------------------------------------------ */

int32_t kerf_job_restore(const struct kerf_job_spec *spec, const struct kerf_job_row *row, int32_t flags,
                         struct kerf_job **ret_job, struct kerf_error *err) {
    struct kerf_job *job = NULL;
    if (row->stage < 0 || row->stage >= KERF_JOB_STAGES)
        return kerf_error_set(err, KERF_EINVALID, "%d is not a stage of a job", (int)row->stage);
    if (spec->has_mab_seed && !row->has_random)
        return kerf_error_set(err, KERF_EINVALID, "a job with mab_seed needs the state of its generator");
    int32_t code = make(spec, flags, &job, err);
    if (job == NULL) return code;
    job->row = *row;
    *ret_job = job;
    return KERF_OK;
}

int32_t kerf_job_restore_exploration(struct kerf_job *job, const struct kerf_trial *trial, struct kerf_error *err) {
    if (trial->type != KERF_TRIAL_EXPLORATION || trial->status == KERF_TRIAL_FAILED || trial->lease_ended)
        return KERF_OK;
    int32_t size = job_find_size(job, trial->batch_size);
    if (size < 0)
        return kerf_error_set(err, KERF_EINVALID, "the job has no batch size %lld", (long long)trial->batch_size);
    struct exploration exploration = {.trial = trial->number,
                                      .cost = kerf_job_cost(&job->spec, trial->energy_j, trial->time_s),
                                      .seen_s = trial->seen_s,
                                      .running = trial->status == KERF_TRIAL_DISPATCHED,
                                      .converged = trial->converged > 0};
    int32_t code = job_reserve_exploration(job, size, err);
    if (code == KERF_OK) job_add_exploration(job, size, &exploration);
    return code;
}

int32_t kerf_job_restore_arm(struct kerf_job *job, const struct kerf_arm *arm, struct kerf_error *err) {
    int32_t size = job_find_size(job, arm->batch_size), at = 0;
    if (size < 0 || job->sizes[size].arm >= 0)
        return kerf_error_set(err, KERF_EINVALID, "the job has no batch size %lld, or already has its arm",
                              (long long)arm->batch_size);
    for (at = job->num_arms++; at > 0 && job->arms[at - 1].batch_size > arm->batch_size; at--)
        job->arms[at] = job->arms[at - 1];
    job->arms[at] = *arm;
    for (int32_t i = at; i < job->num_arms; i++) job->sizes[job_find_size(job, job->arms[i].batch_size)].arm = i;
    if (job->policy->settle) job->policy->settle(job);
    return KERF_OK;
}

/* ---- What it has ------------------------------------------------------------------------------------------- */

int32_t kerf_job_flags_of(const struct kerf_job *job) { return job->compat ? KERF_JOB_COMPAT : 0; }
const struct kerf_job_spec *kerf_job_spec_of(const struct kerf_job *job) { return &job->spec; }
const struct kerf_job_row *kerf_job_row_of(const struct kerf_job *job) { return &job->row; }

const struct kerf_arm *kerf_job_arms(const struct kerf_job *job, int32_t *ret_count) {
    *ret_count = job->num_arms;
    return job->arms;
}

size_t kerf_job_memory(const struct kerf_job *job) {
    size_t count = (size_t)job->spec.num_batch_sizes, bytes = sizeof *job;
    bytes += count * (sizeof *job->sizes + sizeof *job->arms + 3 * sizeof *job->alive + sizeof *job->spec.batch_sizes);
    for (size_t i = 0; i < count; i++) {
        const struct size *size = &job->sizes[i];
        bytes += (size_t)size->room * sizeof *size->explorations;
        if (size->costs.cost) bytes += (size_t)(size->costs.room + 1) * (sizeof(double) + sizeof(uint32_t));
    }
    return bytes + (size_t)job->room_window * sizeof *job->window;
}

/* ---- Costs ------------------------------------------------------------------------------------------------- */

int64_t kerf_job_costs_wanted(const struct kerf_job *job, int64_t batch_size) {
    int32_t size = job_find_size(job, batch_size);
    if (size < 0 || job->sizes[size].arm < 0 || job->sizes[size].costs.held) return 0;
    return job->policy->costs_wanted(job);
}

int32_t kerf_job_restore_costs(struct kerf_job *job, int64_t batch_size, const int64_t *trial_numbers,
                               const double *values, int64_t count, struct kerf_error *err) {
    int32_t size = job_find_size(job, batch_size);
    if (size < 0) return kerf_error_set(err, KERF_EINVALID, "the job has no batch size %lld", (long long)batch_size);
    for (int64_t i = 0; i < count; i++)
        if (trial_numbers[i] < 1 || trial_numbers[i] > UINT32_MAX ||
            (i > 0 && trial_numbers[i] >= trial_numbers[i - 1]))
            return kerf_error_set(err, KERF_EINVALID, "trial %lld is out of order", (long long)trial_numbers[i]);
    struct costs *costs = &job->sizes[size].costs;
    costs_forget(costs);
    int32_t code = costs_reserve(costs, count, err);
    if (code != KERF_OK) return code;
    int64_t most = job->policy->costs_wanted(job);
    if (count > most) count = most;
    costs->start -= count;
    costs->count = count;
    costs->held = 1;
    for (int64_t i = 0; i < count; i++) {
        costs->cost[costs->start + i] = values[i];
        costs->number[costs->start + i] = (uint32_t)trial_numbers[i];
    }
    return KERF_OK;
}

void kerf_job_forget_costs(struct kerf_job *job) {
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++) costs_forget(&job->sizes[i].costs);
    free(job->window);
    job->window = NULL;
    job->room_window = 0;
}

/* ---- What is needed of the past -------------------------------------------------------------------------------
 *
 * What a job knows by itself - its stage, the cheapest cost, the newest trial's number, the longest silence, its arms -
 * is in the job's row and the arms' rows, and needs no trial. What is said here once stays true: stages only go forward,
 * arms are made once, and a new result pushes an older one out of the window but never brings one back. So it may be
 * acted on without the job's lock. */

int64_t kerf_job_costs_counted(const struct kerf_job *job, int64_t batch_size) {
    int32_t size = job_find_size(job, batch_size);
    if (size < 0 || (job->row.stage == KERF_JOB_MAB && job->sizes[size].arm < 0)) return 0;
    return job->policy->costs_wanted(job);
}

int32_t kerf_job_need(const struct kerf_job *job, const struct kerf_trial *trial) {
    int explores = trial->type == KERF_TRIAL_EXPLORATION && !trial->lease_ended;
    switch (trial->status) {
    case KERF_TRIAL_SUCCEEDED:
        if (explores && job->row.stage == KERF_JOB_PRUNING) return KERF_NEED_TRIAL;
        return kerf_job_costs_counted(job, trial->batch_size) > 0 ? KERF_NEED_COST : KERF_NEED_NOTHING;
    case KERF_TRIAL_FAILED: return trial->lease_ended ? KERF_NEED_TRIAL : KERF_NEED_NOTHING;
    default: return KERF_NEED_TRIAL;
    }
}
