/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages and the policies do to a job: its generator, its explorations, its arms. */
#include "jobs/job_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

int32_t job_find_size(const struct kerf_job *job, int64_t batch_size) {
    int32_t low = 0, high = job->spec.num_batch_sizes;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (job->spec.batch_sizes[middle] < batch_size)
            low = middle + 1;
        else
            high = middle;
    }
    return low < job->spec.num_batch_sizes && job->spec.batch_sizes[low] == batch_size ? low : -1;
}

struct pcg64 job_random(const struct kerf_job *job, double now_s) {
    const struct kerf_job_random *kept = &job->row.random;
    if (!job->row.has_random) {
        uint64_t second = now_s > 0 && now_s < 0x1p63 ? (uint64_t)now_s : 0;
        return random_seed(job->compat ? second : second << 20 ^ (uint64_t)job->row.last_trial_number);
    }
    return (struct pcg64){(unsigned __int128)kept->state_high << 64 | kept->state_low,
                          (unsigned __int128)kept->increment_high << 64 | kept->increment_low, kept->has_uint32,
                          kept->uinteger};
}

void job_keep_random(struct kerf_job *job, const struct pcg64 *rng) {
    if (!job->row.has_random) return;
    job->row.random =
        (struct kerf_job_random){(uint64_t)(rng->state >> 64), (uint64_t)rng->state, (uint64_t)(rng->increment >> 64),
                                 (uint64_t)rng->increment,     rng->has_uint32,      rng->uinteger};
}

void kerf_job_random_write(const struct kerf_job_random *random, struct kerf_text *out) {
    struct pcg64 rng = {(unsigned __int128)random->state_high << 64 | random->state_low,
                        (unsigned __int128)random->increment_high << 64 | random->increment_low, random->has_uint32,
                        random->uinteger};
    random_write(&rng, out);
}

int32_t kerf_job_random_read(const char *text, struct kerf_job_random *ret_random, struct kerf_error *err) {
    struct pcg64 rng;
    int32_t code = random_read(text, &rng, err);
    if (code != KERF_OK) return code;
    *ret_random =
        (struct kerf_job_random){(uint64_t)(rng.state >> 64), (uint64_t)rng.state, (uint64_t)(rng.increment >> 64),
                                 (uint64_t)rng.increment,     rng.has_uint32,      rng.uinteger};
    return KERF_OK;
}

/* ---- Explorations ------------------------------------------------------------------------------------------ */

static int32_t find_exploration(const struct kerf_job *job, int64_t batch_size, int64_t trial, int32_t *ret_size) {
    int32_t size = *ret_size = job_find_size(job, batch_size);
    for (int32_t i = 0; size >= 0 && i < job->sizes[size].num_explorations; i++)
        if (job->sizes[size].explorations[i].trial == trial) return i;
    return -1;
}

struct exploration *job_running_exploration(struct kerf_job *job, int64_t batch_size, int64_t trial) {
    int32_t size, at = find_exploration(job, batch_size, trial, &size);
    return at >= 0 && job->sizes[size].explorations[at].running ? &job->sizes[size].explorations[at] : NULL;
}

int32_t job_reserve_exploration(struct kerf_job *job, int32_t size, struct kerf_error *err) {
    struct size *of = &job->sizes[size];
    if (of->num_explorations < of->room) return KERF_OK;
    int32_t room = of->room ? 2 * of->room : 2;
    struct exploration *more = arena_take(&job->arena, (size_t)room, sizeof *more);
    if (more == NULL) return error_no_memory(err, "a job");
    if (of->num_explorations) memcpy(more, of->explorations, (size_t)of->num_explorations * sizeof *more);
    of->explorations = more;
    of->room = room;
    return KERF_OK;
}

void job_add_exploration(struct kerf_job *job, int32_t size, const struct exploration *exploration) {
    struct size *of = &job->sizes[size];
    assert(of->num_explorations < of->room);
    int32_t at = of->num_explorations++;
    for (; at > 0 && of->explorations[at - 1].trial > exploration->trial; at--)
        of->explorations[at] = of->explorations[at - 1];
    of->explorations[at] = *exploration;
}

void job_drop_exploration(struct kerf_job *job, int64_t batch_size, int64_t trial) {
    int32_t size, at = find_exploration(job, batch_size, trial, &size);
    if (at < 0) return;
    struct size *of = &job->sizes[size];
    memmove(&of->explorations[at], &of->explorations[at + 1],
            (size_t)(--of->num_explorations - at) * sizeof *of->explorations);
}

void job_begin_arms(struct kerf_job *job, const int32_t *sizes, int32_t count) {
    assert(job->num_arms == 0 && count > 0 && count <= job->spec.num_batch_sizes);
    for (int32_t i = 0; i < count; i++) {
        struct size *size = &job->sizes[sizes[i]];
        assert(i == 0 || sizes[i] > sizes[i - 1]);
        size->arm = i;
        job->arms[i] = (struct kerf_arm){.batch_size = size->batch_size};
    }
    job->num_arms = count;
    job->row.stage = KERF_JOB_MAB;
    job->policy->fit(job);
}

void job_drop_arms(struct kerf_job *job) {
    for (int32_t i = 0; i < job->spec.num_batch_sizes; i++) job->sizes[i].arm = -1;
    job->num_arms = 0;
    job->row.stage = KERF_JOB_PRUNING;
}

int32_t job_fault_of_arm(const struct kerf_job *job, const struct kerf_arm *arm) {
    if (!job->compat) return KERF_FAULT_NONE;
    return isnan(arm->param_mean)         ? KERF_FAULT_PARAM_MEAN
           : isnan(arm->param_precision)  ? KERF_FAULT_PARAM_PRECISION
           : isnan(arm->reward_precision) ? KERF_FAULT_REWARD_PRECISION
                                          : KERF_FAULT_NONE;
}

int32_t job_reserve_window(struct kerf_job *job, int64_t count, struct kerf_error *err) {
    if (count <= job->room_window) return KERF_OK;
    double *window = realloc(job->window, (size_t)count * sizeof *window);
    if (window == NULL) return error_no_memory(err, "a job");
    job->window = window;
    job->room_window = count;
    return KERF_OK;
}

/* ---- Costs ----------------------------------------------------------------------------------------------------- */

/* Costs of a size, newest first: twelve bytes each. A report inserts near the front, which moves a few of them. */

enum { FIRST_ROOM = 4 };

static void *moved(const void *from, int64_t start, int64_t count, int64_t grown, int64_t room, size_t width) {
    char *to = malloc((size_t)(room + 1) * width);
    if (to && count)
        memcpy(to + (size_t)(start + grown) * width, (const char *)from + (size_t)start * width, (size_t)count * width);
    return to;
}

int32_t costs_reserve(struct costs *costs, int64_t more, struct kerf_error *err) {
    if (costs->cost && costs->start >= more) return KERF_OK;
    int64_t grown = costs->room / 2 > more ? costs->room / 2 : more > FIRST_ROOM ? more : FIRST_ROOM;
    int64_t room = costs->room + grown;
    double *cost = moved(costs->cost, costs->start, costs->count, grown, room, sizeof *cost);
    uint32_t *number = moved(costs->number, costs->start, costs->count, grown, room, sizeof *number);
    if (cost == NULL || number == NULL) {
        free(cost);
        free(number);
        return error_no_memory(err, "the costs of a job");
    }
    free(costs->cost);
    free(costs->number);
    costs->cost = cost;
    costs->number = number;
    costs->room = room;
    costs->start += grown;
    return KERF_OK;
}

void costs_insert(struct costs *costs, int64_t number, double cost, int64_t most) {
    assert(costs->start > 0 && most > 0 && number > 0 && number <= UINT32_MAX);
    int64_t at = --costs->start, end = at + ++costs->count;
    for (; at + 1 < end && costs->number[at + 1] > number; at++) {
        costs->number[at] = costs->number[at + 1];
        costs->cost[at] = costs->cost[at + 1];
    }
    assert(at + 1 == end || costs->number[at + 1] < number); /* no trial counts twice */
    costs->number[at] = (uint32_t)number;
    costs->cost[at] = cost;
    if (costs->count <= most) return;
    /* The window slides towards the front; when it gets there, back to the end at once. */
    costs->count = most;
    if (costs->start > 0) return;
    int64_t back = costs->room - most;
    memmove(costs->cost + back, costs->cost, (size_t)most * sizeof *costs->cost);
    memmove(costs->number + back, costs->number, (size_t)most * sizeof *costs->number);
    costs->start = back;
}

void costs_forget(struct costs *costs) {
    free(costs->cost);
    free(costs->number);
    *costs = (struct costs){.held = 0};
}
