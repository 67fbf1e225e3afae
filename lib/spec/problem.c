/* SPDX-License-Identifier: Apache-2.0 */
/* A problem as a whole, and the names of the choices it holds. */
#include <assert.h>
#include <math.h>
#include <string.h>
#include "spec/description.h"

static const char *const attentions[] = {
    [KERF_ATTENTION_FUSED] = "fused",
    [KERF_ATTENTION_UNFUSED] = "unfused",
    [KERF_ATTENTION_RECOMPUTED] = "recomputed",
    [KERF_ATTENTION_SUMMA] = "summa",
};
_Static_assert(sizeof attentions / sizeof *attentions == KERF_ATTENTION_COUNT, "a name for each attention");

const char *kerf_attention_name(enum kerf_attention attention) {
    assert((uint32_t)attention < KERF_ATTENTION_COUNT);
    return attentions[attention];
}

int32_t kerf_attention_parse(const char *name, enum kerf_attention *ret, struct kerf_error *err) {
    for (int i = 0; i < KERF_ATTENTION_COUNT; i++)
        if (strcmp(attentions[i], name) == 0) {
            *ret = (enum kerf_attention)i;
            return KERF_OK;
        }
    return kerf_error_set(err, KERF_EUNKNOWN,
                          "unknown attention '%.64s'; there are fused, unfused, recomputed and summa", name);
}

static const char *const precisions[] = {
    [KERF_PRECISION_BF16] = "bf16",
    [KERF_PRECISION_FP16] = "fp16",
    [KERF_PRECISION_FP8] = "fp8",
};
_Static_assert(sizeof precisions / sizeof *precisions == KERF_PRECISION_COUNT, "a name for each precision");

const char *kerf_precision_name(enum kerf_precision precision) {
    assert((uint32_t)precision < KERF_PRECISION_COUNT);
    return precisions[precision];
}

int32_t kerf_precision_parse(const char *name, enum kerf_precision *ret, struct kerf_error *err) {
    for (int i = 0; i < KERF_PRECISION_COUNT; i++)
        if (strcmp(precisions[i], name) == 0) {
            *ret = (enum kerf_precision)i;
            return KERF_OK;
        }
    return kerf_error_set(err, KERF_EUNKNOWN, "unknown precision '%.32s'; there are bf16, fp16 and fp8", name);
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

static int32_t check_count(const char *name, int64_t value, struct kerf_error *err) {
    if (value >= 1 && value <= KERF_COUNT_MAX) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s must lie between 1 and %lld, not %lld", name,
                          (long long)KERF_COUNT_MAX, (long long)value);
}

/* 0: not told */
static int32_t check_amount(const char *name, double value, struct kerf_error *err) {
    if (isfinite(value) && value >= 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "%s must be a number of at least 0, not %g", name, value);
}

static int32_t check_kinds(const struct kerf_problem *problem, struct kerf_error *err) {
    if ((uint32_t)problem->strategy >= KERF_STRATEGY_COUNT || (uint32_t)problem->attention >= KERF_ATTENTION_COUNT)
        return kerf_error_set(err, KERF_EINVALID, "strategy %d or attention %d does not exist", (int)problem->strategy,
                              (int)problem->attention);
    if ((uint32_t)problem->precision >= KERF_PRECISION_COUNT)
        return kerf_error_set(err, KERF_EINVALID, "precision %d does not exist", (int)problem->precision);
    if (problem->mtp_layers < 0 || problem->mtp_layers > problem->model.mtp_layers)
        return kerf_error_set(
            err, KERF_EINVALID, "%s has %lld layers of multi-token prediction, so that %lld cannot be trained",
            problem->model.name, (long long)problem->model.mtp_layers, (long long)problem->mtp_layers);
    return KERF_OK;
}

/* What a device cannot compute in has no time. */
static int32_t check_precision(const struct kerf_problem *problem, struct kerf_error *err) {
    const struct kerf_system *system = &problem->system;
    if (problem->strategy != KERF_STRATEGY_HYBRID) return KERF_OK;
    if (problem->precision == KERF_PRECISION_FP8 && !(system->fp8_flops_per_s > 0))
        return kerf_error_set(err, KERF_EINVALID, "%s has no fp8, or no fp8_flops_per_s; %s", system->name,
                              system->bf16_flops_per_s > 0 ? "bf16 and fp16 work" : "fp16 works");
    if (problem->precision == KERF_PRECISION_BF16 && !(system->bf16_flops_per_s > 0))
        return kerf_error_set(err, KERF_EINVALID, "%s has no bf16; use precision fp16", system->name);
    return KERF_OK;
}

int32_t problem_check(const struct kerf_problem *problem, struct kerf_error *err) {
    int32_t code = model_check(&problem->model, err);
    if (code == KERF_OK) code = system_check(&problem->system, err);
    if (code == KERF_OK) code = check_kinds(problem, err);
    if (code == KERF_OK) code = check_precision(problem, err);
    if (code == KERF_OK) code = check_count("gpus", problem->gpus, err);
    if (code == KERF_OK) code = check_count("global_batch", problem->global_batch, err);
    if (code == KERF_OK && problem->seq_length == 0)
        code = kerf_error_set(err, KERF_EINVALID,
                              "%s has no max_position_embeddings: give a sequence length from 1 to %lld",
                              problem->model.name, (long long)KERF_COUNT_MAX);
    if (code == KERF_OK) code = check_count("seq_length", problem->seq_length, err);
    if (code == KERF_OK) code = check_amount("memory_share", problem->memory_share, err);
    if (code == KERF_OK) code = check_amount("training_tokens", problem->training_tokens, err);
    if (code == KERF_OK) code = check_amount("device_hour_price", problem->device_hour_price, err);
    return code;
}
