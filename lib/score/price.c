/* SPDX-License-Identifier: Apache-2.0 */
#include "score/price.h"

#include <assert.h>
#include <string.h>
#include "cost/cost_model.h"
#include "plan/pipeline_rules.h"

double *constants_attention(struct kerf_system *system, enum job_attention attention) {
    switch (attention) {
    case JOB_FUSED: return &system->attention.fused_efficiency;
    case JOB_FLASH2: return &system->attention.flash2_efficiency;
    case JOB_FLASH: return &system->attention.flash_efficiency;
    case JOB_SOFTMAX: return &system->attention.unfused_efficiency;
    case JOB_UNFUSED: return &system->attention.eager_efficiency;
    case JOB_ATTENTIONS: break;
    }
    assert(!"a kernel");
    return NULL;
}

double *constants_products(struct kerf_system *system, enum job_precision precision) {
    switch (precision) {
    case JOB_16: return &system->gemm.efficiency;
    case JOB_FP8: return &system->gemm.fp8_efficiency;
    case JOB_MXFP8: return &system->gemm.mxfp8_efficiency;
    case JOB_NVFP4: return &system->gemm.nvfp4_efficiency;
    case JOB_PRECISIONS: break;
    }
    assert(!"a precision");
    return NULL;
}

/* ---- What files leave out --------------------------------------------------------------------------------- */

static void stand_in(double *value, double otherwise) {
    if (*value <= 0) *value = otherwise;
}

/* The same defaults as cost/analytic/device.c has, and those of kernels that only tables of runs name. */
static void complete(struct kerf_system *system) {
    stand_in(&system->gemm.efficiency, 0.6);
    stand_in(&system->gemm.fp8_efficiency, 0.55);
    stand_in(&system->gemm.mxfp8_efficiency, 0.55);
    stand_in(&system->gemm.nvfp4_efficiency, 0.47);
    stand_in(&system->gemm.edge, 86);
    stand_in(&system->gemm.fp8_edge, 133);
    stand_in(&system->attention.fused_efficiency, 0.5);
    stand_in(&system->attention.flash2_efficiency, 0.65 * system->attention.fused_efficiency);
    stand_in(&system->attention.flash_efficiency, 0.5 * system->attention.fused_efficiency);
    stand_in(&system->attention.unfused_efficiency, 0.72 * system->gemm.efficiency);
    stand_in(&system->attention.eager_efficiency, 0.55 * system->gemm.efficiency);
    stand_in(&system->fp4_flops_per_s, 2 * system->fp8_flops_per_s);
    stand_in(&system->scale_up.bus_bytes_per_s, system->scale_up.bandwidth_bytes_per_s * system->scale_up.efficiency);
    stand_in(&system->scale_out.bus_share, system->scale_out.efficiency);
    stand_in(&system->scale_out.hop_s, system->scale_out.latency_s);
}

static int32_t load_all(const char *kind, struct score_constants *constants, struct kerf_error *err) {
    struct kerf_catalogue *catalogue;
    int32_t code = kerf_catalogue_list(kind, &catalogue, err);
    if (code != KERF_OK) return code;
    for (size_t i = 0; code == KERF_OK && i < catalogue->count; i++) {
        const struct kerf_catalogue_entry *entry = &catalogue->entries[i];
        if (strcmp(kind, "systems") == 0) {
            if (constants->num_systems == CONSTANTS_SYSTEMS_MAX) break;
            struct kerf_system *system = &constants->systems[constants->num_systems];
            code = kerf_system_parse(entry->json, entry->length, entry->name, system, err);
            complete(system);
            constants->num_systems += code == KERF_OK;
        } else {
            if (constants->num_stacks == CONSTANTS_STACKS_MAX) break;
            code = stack_parse(entry->json, entry->length, entry->name, &constants->stacks[constants->num_stacks], err);
            constants->num_stacks += code == KERF_OK;
        }
    }
    kerf_catalogue_free(catalogue);
    return code;
}

int32_t constants_load(struct score_constants *ret_constants, struct kerf_error *err) {
    memset(ret_constants, 0, sizeof *ret_constants);
    int32_t code = load_all("systems", ret_constants, err);
    return code == KERF_OK ? load_all("stacks", ret_constants, err) : code;
}

int32_t price_check_system(const struct score_constants *constants, const char *system, struct kerf_error *err) {
    for (int32_t i = 0; i < constants->num_systems; i++)
        if (strcmp(constants->systems[i].name, system) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EUNKNOWN, "no system is called '%.64s'; `kerf systems` lists the names", system);
}

int32_t price_check_stack(const struct score_constants *constants, const char *stack, struct kerf_error *err) {
    for (int32_t i = 0; i < constants->num_stacks; i++)
        if (strcmp(constants->stacks[i].name, stack) == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EUNKNOWN, "no stack is called '%.64s'; `kerf stacks` lists the names", stack);
}

/* ---- Prices ----------------------------------------------------------------------------------------------- */

int price_find(const struct score_constants *constants, const struct job *job, int32_t *ret_system,
               int32_t *ret_stack) {
    *ret_system = *ret_stack = -1;
    for (int32_t i = 0; i < constants->num_systems; i++)
        if (strcmp(constants->systems[i].name, job->system) == 0) *ret_system = i;
    for (int32_t i = 0; i < constants->num_stacks; i++)
        if (strcmp(constants->stacks[i].name, job->stack) == 0) *ret_stack = i;
    return *ret_system >= 0 && *ret_stack >= 0;
}

/* Kept and moved by one score of attention, in bytes: with a softmax of one kernel, and without. */
static const double SOFTMAX_TRAFFIC = 14.5, UNFUSED_TRAFFIC = 24, SOFTMAX_KEPT = 4.6, UNFUSED_KEPT = 7.8;
static const double DROPPED_HOST = 0.3; /* without counts that go to the host and back */
static const double RMS_KERNEL = 0.47;  /* of the passes over hidden features */

int price_job(const struct score_constants *constants, const struct job *job, struct arena *arena,
              struct kerf_estimate *ret_estimate) {
    int32_t s, t;
    if (!price_find(constants, job, &s, &t)) return 0;
    struct kerf_stack stack = constants->stacks[t];
    struct kerf_problem *problem = job->problem;
    struct kerf_system *system = &problem->system;
    *system = constants->systems[s];
    problem->stack = &stack;
    system->attention.fused_efficiency = system->attention.unfused_efficiency =
        *constants_attention(system, job->attention);
    system->gemm.fp8_efficiency = *constants_products(system, job->precision);
    if (job->precision == JOB_NVFP4) system->fp8_flops_per_s = system->fp4_flops_per_s;
    system->scale_out.bandwidth_bytes_per_s *= stack.site_network;
    stack.lacks_sequence_parallel = job->lacks_sequence_parallel;
    stack.recompute_ratio *= job->recomputed;
    if (job->drops_tokens) stack.moe_host_ratio = 1 + (stack.moe_host_ratio - 1) * DROPPED_HOST;
    if (job->is_balanced) stack.imbalance = 1;
    if (job->has_rms_kernel) stack.hidden_passes *= RMS_KERNEL, stack.hidden_bytes *= RMS_KERNEL;
    stack.score_traffic_bytes = job->attention == JOB_UNFUSED ? UNFUSED_TRAFFIC : SOFTMAX_TRAFFIC;
    stack.scores_bytes = job->attention == JOB_UNFUSED ? UNFUSED_KEPT : SOFTMAX_KEPT;
    const struct space space = {.problem = problem, .pipeliner = &pipeline_rules};
    int good = kerf_cost_model_of(KERF_STRATEGY_HYBRID)->estimate(&space, &job->layout, arena, ret_estimate);
    problem->stack = NULL;
    return good;
}
