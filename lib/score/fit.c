/* SPDX-License-Identifier: Apache-2.0 */
#include "score/fit.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

static const double NOISE = 0.06, MEMORY_NOISE = 0.05, DIFFERENCE = 1e-3;
static const double SHARE_MAX = 0.95; /* of an efficiency */
enum { STEPS_MAX = 40, TARGETS_MAX = 16 * CONSTANTS_SYSTEMS_MAX };

/* ---- Knobs ------------------------------------------------------------------------------------------------ */

enum scope { OF_DEVICE, OF_ALL_DEVICES, OF_STACK, OF_RELEASE, OF_ALL_STACKS };

#define DEVICE(member) offsetof(struct kerf_system, member)
#define STACK(member)  offsetof(struct kerf_stack, member)

static const struct knob_row {
    const char *name;
    enum scope scope;
    size_t offset;
    double sd;
    int is_memory;
} rows_of_knobs[] = {
    {"gemm.efficiency", OF_DEVICE, DEVICE(gemm.efficiency), 0.15, 0},
    {"gemm.fp8_efficiency", OF_DEVICE, DEVICE(gemm.fp8_efficiency), 0.15, 0},
    {"gemm.mxfp8_efficiency", OF_DEVICE, DEVICE(gemm.mxfp8_efficiency), 0.15, 0},
    {"gemm.nvfp4_efficiency", OF_DEVICE, DEVICE(gemm.nvfp4_efficiency), 0.25, 0},
    {"attention.fused_efficiency", OF_DEVICE, DEVICE(attention.fused_efficiency), 0.2, 0},
    {"attention.flash2_efficiency", OF_DEVICE, DEVICE(attention.flash2_efficiency), 0.3, 0},
    {"attention.flash_efficiency", OF_DEVICE, DEVICE(attention.flash_efficiency), 0.3, 0},
    {"attention.unfused_efficiency", OF_DEVICE, DEVICE(attention.unfused_efficiency), 0.2, 0},
    {"attention.eager_efficiency", OF_DEVICE, DEVICE(attention.eager_efficiency), 0.2, 0},
    {"scale_up.bus_bytes_per_s", OF_DEVICE, DEVICE(scale_up.bus_bytes_per_s), 0.2, 0},
    {"gemm.edge", OF_ALL_DEVICES, DEVICE(gemm.edge), 0.3, 0},
    {"gemm.fp8_edge", OF_ALL_DEVICES, DEVICE(gemm.fp8_edge), 0.3, 0},
    {"scale_out.bus_share", OF_ALL_DEVICES, DEVICE(scale_out.bus_share), 0.1, 0},
    {"scale_out.hop_s", OF_ALL_DEVICES, DEVICE(scale_out.hop_s), 0.3, 0},
    {"hidden_passes", OF_STACK, STACK(hidden_passes), 0.4, 0},
    {"wide_passes", OF_STACK, STACK(wide_passes), 0.3, 0},
    {"stage_host_s", OF_STACK, STACK(stage_host_s), 0.5, 0},
    {"step_host_s", OF_ALL_STACKS, STACK(step_host_s), 0.7, 0},
    {"tp_exposed", OF_STACK, STACK(tp_exposed), 0.4, 0},
    {"pp_exposed", OF_STACK, STACK(pp_exposed), 0.4, 0},
    {"dp_exposed", OF_STACK, STACK(dp_exposed), 0.4, 0},
    {"site_network", OF_STACK, STACK(site_network), 0.4, 0},
    {"broadcast_s", OF_STACK, STACK(broadcast_s), 0.3, 0},
    {"layer_host_s", OF_RELEASE, STACK(layer_host_s), 0.3, 0},
    {"ep_exposed", OF_RELEASE, STACK(ep_exposed), 0.3, 0},
    {"moe_host_ratio", OF_RELEASE, STACK(moe_host_ratio), 0.3, 0},
    {"grouped_efficiency", OF_RELEASE, STACK(grouped_efficiency), 0.2, 0},
    {"permute_passes", OF_RELEASE, STACK(permute_passes), 0.4, 0},
    {"grouped_rows", OF_ALL_STACKS, STACK(grouped_rows), 0.4, 0},
    {"fp8_passes", OF_ALL_STACKS, STACK(fp8_passes), 0.4, 0},
    {"backward_ratio", OF_ALL_STACKS, STACK(backward_ratio), 0.2, 0},
    {"backward_host_ratio", OF_ALL_STACKS, STACK(backward_host_ratio), 0.2, 0},
    {"tp_host_ratio", OF_ALL_STACKS, STACK(tp_host_ratio), 0.2, 0},
    {"tp8_host_ratio", OF_ALL_STACKS, STACK(tp8_host_ratio), 0.2, 0},
    {"zero_tax", OF_ALL_STACKS, STACK(zero_tax), 0.4, 0},
    {"zero_power", OF_ALL_STACKS, STACK(zero_power), 0.3, 0},
    {"straggling", OF_ALL_STACKS, STACK(straggling), 0.4, 0},
    {"recompute_ratio", OF_ALL_STACKS, STACK(recompute_ratio), 0.05, 0},
    {"optimizer_bytes", OF_ALL_STACKS, STACK(optimizer_bytes), 0.2, 0},
    {"loss_bytes", OF_ALL_STACKS, STACK(loss_bytes), 0.3, 0},
    {"hidden_bytes", OF_STACK, STACK(hidden_bytes), 0.3, 1},
    {"gradient_bytes", OF_STACK, STACK(gradient_bytes), 0.3, 1},
    {"bf16_gradient_bytes", OF_STACK, STACK(bf16_gradient_bytes), 0.3, 1},
    {"runtime_bytes", OF_STACK, STACK(runtime_bytes), 0.3, 1},
    {"gathered_logit_bytes", OF_STACK, STACK(gathered_logit_bytes), 0.3, 1},
    {"logit_bytes", OF_STACK, STACK(logit_bytes), 0.3, 1},
    {"gated_bytes", OF_STACK, STACK(gated_bytes), 0.2, 1},
    {"plain_bytes", OF_STACK, STACK(plain_bytes), 0.2, 1},
    {"expert_bytes", OF_ALL_STACKS, STACK(expert_bytes), 0.2, 1},
    {"permuted_bytes", OF_ALL_STACKS, STACK(permuted_bytes), 0.2, 1},
    {"fragmentation", OF_ALL_STACKS, STACK(fragmentation), 0.05, 1},
    {"working_ratio", OF_ALL_STACKS, STACK(working_ratio), 0.3, 1},
    {"group_bytes", OF_ALL_STACKS, STACK(group_bytes), 0.5, 1},
};

/* Knobs of a site: a row for each constant that they multiply. */
static const struct site_row {
    const char *knob;
    double sd;
    const char *name; /* for what is told of it */
    int is_device;
    size_t offset;
} rows_of_sites[] = {
    {"compute", 0.12, "gemm.efficiency", 1, DEVICE(gemm.efficiency)},
    {"compute", 0.12, "gemm.fp8_efficiency", 1, DEVICE(gemm.fp8_efficiency)},
    {"compute", 0.12, "gemm.mxfp8_efficiency", 1, DEVICE(gemm.mxfp8_efficiency)},
    {"compute", 0.12, "gemm.nvfp4_efficiency", 1, DEVICE(gemm.nvfp4_efficiency)},
    {"attention", 0.25, "attention.fused_efficiency", 1, DEVICE(attention.fused_efficiency)},
    {"attention", 0.25, "attention.flash_efficiency", 1, DEVICE(attention.flash_efficiency)},
    {"attention", 0.25, "attention.flash2_efficiency", 1, DEVICE(attention.flash2_efficiency)},
    {"attention", 0.25, "attention.unfused_efficiency", 1, DEVICE(attention.unfused_efficiency)},
    {"attention", 0.25, "attention.eager_efficiency", 1, DEVICE(attention.eager_efficiency)},
    {"memory", 0.3, "hidden_passes", 0, STACK(hidden_passes)},
    {"memory", 0.3, "wide_passes", 0, STACK(wide_passes)},
    {"network", 0.3, "site_network", 0, STACK(site_network)},
    {"overlap", 0.3, "tp_exposed", 0, STACK(tp_exposed)},
    {"overlap", 0.3, "dp_exposed", 0, STACK(dp_exposed)},
    {"host", 0.4, "layer_host_s", 0, STACK(layer_host_s)},
    {"host", 0.4, "stage_host_s", 0, STACK(stage_host_s)},
};

struct knob {
    const char *name;
    enum scope scope;
    size_t offset; /* of the first constant */
    double sd;
    double *targets[TARGETS_MAX], start[TARGETS_MAX];
    int32_t num_targets;
    uint8_t systems[CONSTANTS_SYSTEMS_MAX], stacks[CONSTANTS_STACKS_MAX]; /* whose constants it multiplies */
    double x;
    char owner[64];
    int32_t *concerns; /* [num_concerns] rows */
    int32_t num_concerns;
};

struct fit {
    struct score_constants *constants;
    const struct fit_row *rows;
    int32_t count, num_knobs;
    struct knob *knobs;
    double *residuals;       /* [count] ln(predicted / measured), or of bytes / what kills a run */
    double *slopes, *curves; /* [count] of the loss, first and second derivative */
    double *jacobian;        /* [num_knobs][count] */
    double *matrix, *gradient, *step;
    enum fit_knobs knobs_of;
    int is_memory, is_ended;
    const struct fit_watch *watch;
    struct arena scratch;
};

static int is_device(enum scope scope) { return scope == OF_DEVICE || scope == OF_ALL_DEVICES; }

/* Whose constants are one: releases of Megatron-Bridge run on Megatron-Core, the newest on the newest. */
static const char *stack_family(const char *name, enum scope scope) {
    if (scope == OF_STACK && strncmp(name, "megatron-bridge-", strlen("megatron-bridge-")) == 0) return "megatron-core";
    if (scope == OF_RELEASE && strcmp(name, "megatron-core") == 0) return "megatron-bridge-26.06";
    return name;
}

/* Devices of one generation share their constants, but for one that is named apart as it was measured so. */
static size_t device_family(const char *name) {
    return strcmp(name, "h100-96") == 0 ? strlen(name) : strcspn(name, "-");
}

static void set_knob(struct knob *knob, double x) {
    knob->x = x;
    int is_share = strstr(knob->name, "efficiency") || strstr(knob->name, "share") ||
                   strcmp(knob->name, "compute") == 0 || strcmp(knob->name, "attention") == 0;
    for (int32_t i = 0; i < knob->num_targets; i++) {
        double value = knob->start[i] * exp(x);
        *knob->targets[i] = is_share && value > SHARE_MAX ? SHARE_MAX : value;
    }
}

static void add_target(struct knob *knob, double *target) {
    assert(knob->num_targets < TARGETS_MAX);
    knob->start[knob->num_targets] = *target;
    knob->targets[knob->num_targets++] = target;
}

/* Which attention kernel or precision alone a constant is of. */
static int concerns(const struct fit *fit, const struct knob *knob, const struct job *job, int32_t system,
                    int32_t stack) {
    size_t offset = knob->offset;
    if (!is_device(knob->scope)) return knob->stacks[stack];
    if (!knob->systems[system]) return 0;
    const char *base = (const char *)&fit->constants->systems[system];
    struct kerf_system *of = &fit->constants->systems[system];
    for (int i = 0; i < JOB_ATTENTIONS; i++)
        if ((const char *)constants_attention(of, (enum job_attention)i) == base + offset)
            return (int)job->attention == i;
    for (int i = JOB_FP8; i < JOB_PRECISIONS; i++)
        if ((const char *)constants_products(of, (enum job_precision)i) == base + offset)
            return (int)job->precision == i;
    return 1;
}

static void own(struct fit *fit, struct knob *knob, int32_t first) {
    struct score_constants *constants = fit->constants;
    enum scope scope = knob->scope;
    if (is_device(scope)) {
        const char *name = constants->systems[first].name;
        size_t length = device_family(name);
        for (int32_t i = 0; i < constants->num_systems; i++) {
            const char *other = constants->systems[i].name;
            int same = scope == OF_ALL_DEVICES || (device_family(other) == length && strncmp(other, name, length) == 0);
            if (!same) continue;
            knob->systems[i] = 1;
            add_target(knob, (double *)(void *)((char *)&constants->systems[i] + knob->offset));
        }
        snprintf(knob->owner, sizeof knob->owner, "%.*s", scope == OF_ALL_DEVICES ? 0 : (int)length, name);
        return;
    }
    const char *name = stack_family(constants->stacks[first].name, scope);
    for (int32_t i = 0; i < constants->num_stacks; i++) {
        if (scope != OF_ALL_STACKS && strcmp(stack_family(constants->stacks[i].name, scope), name) != 0) continue;
        knob->stacks[i] = 1;
        add_target(knob, (double *)(void *)((char *)&constants->stacks[i] + knob->offset));
    }
    snprintf(knob->owner, sizeof knob->owner, "%s", scope == OF_ALL_STACKS ? "" : name);
}

/* A knob for each family that has one, where rows concern it. 0 when memory ran out. */
static int make_knobs(struct fit *fit) {
    int32_t *system = calloc((size_t)fit->count, sizeof *system), *stack = calloc((size_t)fit->count, sizeof *stack);
    int good = system && stack;
    for (int32_t i = 0; good && i < fit->count; i++)
        price_find(fit->constants, fit->rows[i].job, &system[i], &stack[i]);
    for (size_t r = 0; good && r < sizeof rows_of_knobs / sizeof *rows_of_knobs; r++) {
        const struct knob_row *row = &rows_of_knobs[r];
        if (row->is_memory != fit->is_memory) continue;
        uint8_t done[CONSTANTS_SYSTEMS_MAX] = {0};
        int32_t owners = is_device(row->scope) ? fit->constants->num_systems : fit->constants->num_stacks;
        for (int32_t o = 0; good && o < owners; o++) {
            struct knob knob = {.name = row->name, .scope = row->scope, .offset = row->offset, .sd = row->sd};
            if (done[o]) continue;
            own(fit, &knob, o);
            for (int32_t i = 0; i < owners; i++) done[i] |= is_device(row->scope) ? knob.systems[i] : knob.stacks[i];
            knob.concerns = calloc((size_t)fit->count, sizeof *knob.concerns);
            if (knob.concerns == NULL) good = 0;
            for (int32_t i = 0; good && i < fit->count; i++)
                if (concerns(fit, &knob, fit->rows[i].job, system[i], stack[i])) knob.concerns[knob.num_concerns++] = i;
            if (good && knob.num_concerns > 0 && fit->num_knobs < FIT_KNOBS_MAX)
                fit->knobs[fit->num_knobs++] = knob;
            else
                free(knob.concerns);
        }
    }
    free(system);
    free(stack);
    return good;
}

/* Knobs of all systems and stacks that the rows have. */
static int make_site_knobs(struct fit *fit) {
    for (size_t r = 0; r < sizeof rows_of_sites / sizeof *rows_of_sites; r++) {
        const struct site_row *row = &rows_of_sites[r];
        struct knob *knob = fit->num_knobs > 0 ? &fit->knobs[fit->num_knobs - 1] : NULL;
        if (knob == NULL || strcmp(knob->name, row->knob) != 0) {
            knob = &fit->knobs[fit->num_knobs++];
            *knob = (struct knob){.name = row->knob, .sd = row->sd};
            knob->concerns = calloc((size_t)fit->count, sizeof *knob->concerns);
            if (knob->concerns == NULL) return 0;
            for (int32_t i = 0; i < fit->count; i++) knob->concerns[knob->num_concerns++] = i;
        }
        uint8_t done[CONSTANTS_SYSTEMS_MAX] = {0};
        for (int32_t i = 0; i < fit->count; i++) {
            int32_t system, stack;
            if (!price_find(fit->constants, fit->rows[i].job, &system, &stack)) continue;
            int32_t owner = row->is_device ? system : stack;
            char *base =
                row->is_device ? (char *)&fit->constants->systems[system] : (char *)&fit->constants->stacks[stack];
            if (!done[owner]) add_target(knob, (double *)(void *)(base + row->offset));
            done[owner] = 1;
            (row->is_device ? knob->systems : knob->stacks)[owner] = 1;
        }
    }
    return 1;
}

static void mark_fitted(const struct fit *fit) {
    struct score_constants *constants = fit->constants;
    for (int32_t k = 0; k < fit->num_knobs; k++) {
        const struct knob *knob = &fit->knobs[k];
        for (int32_t i = 0; i < constants->num_systems; i++) constants->fitted_systems[i] |= knob->systems[i];
        for (int32_t i = 0; i < constants->num_stacks; i++) constants->fitted_stacks[i] |= knob->stacks[i];
    }
}

/* ---- The fit ---------------------------------------------------------------------------------------------- */

static double residual(struct fit *fit, int32_t row) {
    const struct fit_row *seen = &fit->rows[row];
    struct kerf_estimate estimate;
    arena_reset(&fit->scratch);
    if (!price_job(fit->constants, seen->job, &fit->scratch, &estimate)) return NAN;
    switch (seen->kind) {
    case FIT_TIME: return log(estimate.step_time_s / seen->measured);
    case FIT_MEMORY: return log(estimate.memory_bytes / seen->measured);
    case FIT_FIT:
    case FIT_DIED: break;
    }
    return log(estimate.memory_bytes / (OOM_USABLE * seen->job->problem->system.memory_capacity_bytes));
}

/* A row's loss and its derivatives by the residual. */
static double row_loss(enum fit_kind kind, double residual, double *ret_slope, double *ret_curve) {
    if (kind == FIT_FIT || kind == FIT_DIED) {
        double sign = kind == FIT_FIT ? 1 : -1, z = sign * OOM_SLOPE * residual, p = 1 / (1 + exp(-z));
        *ret_slope = sign * OOM_SLOPE * p;
        *ret_curve = OOM_SLOPE * OOM_SLOPE * (p * (1 - p) + 1e-6);
        return z > 0 ? z + log1p(exp(-z)) : log1p(exp(z));
    }
    double noise = kind == FIT_TIME ? NOISE : MEMORY_NOISE, r = residual / noise, root = sqrt(1 + r * r);
    *ret_slope = r / root / noise;
    *ret_curve = 1 / (root * noise * noise);
    return root - 1;
}

static double loss(const struct fit *fit, const double *residuals) {
    double sum = 0, slope, curve;
    for (int32_t i = 0; i < fit->count; i++)
        sum += fit->rows[i].weight * row_loss(fit->rows[i].kind, residuals[i], &slope, &curve);
    for (int32_t k = 0; k < fit->num_knobs; k++) {
        double z = fit->knobs[k].x / fit->knobs[k].sd;
        sum += z * z / 2;
    }
    return sum;
}

static int find_residuals(struct fit *fit, double *ret_residuals) {
    for (int32_t i = 0; i < fit->count; i++)
        if (isnan(ret_residuals[i] = residual(fit, i))) return 0;
    return 1;
}

static int find_jacobian(struct fit *fit) {
    memset(fit->jacobian, 0, (size_t)fit->num_knobs * (size_t)fit->count * sizeof *fit->jacobian);
    for (int32_t k = 0; k < fit->num_knobs; k++) {
        struct knob *knob = &fit->knobs[k];
        double x = knob->x, *row = fit->jacobian + (size_t)k * (size_t)fit->count;
        set_knob(knob, x + DIFFERENCE);
        for (int32_t i = 0; i < knob->num_concerns; i++) {
            int32_t at = knob->concerns[i];
            double r = residual(fit, at);
            if (isnan(r)) return 0;
            row[at] = (r - fit->residuals[at]) / DIFFERENCE;
        }
        set_knob(knob, x);
    }
    return 1;
}

/* The matrix and the gradient of least squares, reweighted. */
static void find_system(struct fit *fit) {
    int32_t n = fit->num_knobs;
    for (int32_t i = 0; i < fit->count; i++) {
        row_loss(fit->rows[i].kind, fit->residuals[i], &fit->slopes[i], &fit->curves[i]);
        fit->slopes[i] *= fit->rows[i].weight;
        fit->curves[i] *= fit->rows[i].weight;
    }
    for (int32_t a = 0; a < n; a++) {
        const double *ja = fit->jacobian + (size_t)a * (size_t)fit->count;
        double sd = fit->knobs[a].sd, sum = 0;
        for (int32_t b = 0; b <= a; b++) {
            const double *jb = fit->jacobian + (size_t)b * (size_t)fit->count;
            double product = 0;
            for (int32_t i = 0; i < fit->knobs[a].num_concerns; i++) {
                int32_t at = fit->knobs[a].concerns[i];
                product += fit->curves[at] * ja[at] * jb[at];
            }
            fit->matrix[a * n + b] = fit->matrix[b * n + a] = product;
        }
        for (int32_t i = 0; i < fit->count; i++) sum += fit->slopes[i] * ja[i];
        fit->gradient[a] = sum + fit->knobs[a].x / (sd * sd);
        fit->matrix[a * n + a] += 1 / (sd * sd);
    }
}

/* Solves (matrix + damping diagonal) step = -gradient by Cholesky; factor [n][n] is scratch. 0: not positive definite. */
static int solve(struct fit *fit, double damping, double *factor) {
    int32_t n = fit->num_knobs;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j <= i; j++) {
            double sum = fit->matrix[i * n + j] * (i == j ? 1 + damping : 1);
            for (int32_t k = 0; k < j; k++) sum -= factor[i * n + k] * factor[j * n + k];
            if (i == j && sum <= 0) return 0;
            factor[i * n + j] = i == j ? sqrt(sum) : sum / factor[j * n + j];
        }
    for (int32_t i = 0; i < n; i++) {
        double sum = -fit->gradient[i];
        for (int32_t k = 0; k < i; k++) sum -= factor[i * n + k] * fit->step[k];
        fit->step[i] = sum / factor[i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        double sum = fit->step[i];
        for (int32_t k = i + 1; k < n; k++) sum -= factor[k * n + i] * fit->step[k];
        fit->step[i] = sum / factor[i * n + i];
    }
    return 1;
}

static void move(struct fit *fit, double times) {
    for (int32_t k = 0; k < fit->num_knobs; k++) set_knob(&fit->knobs[k], fit->knobs[k].x + times * fit->step[k]);
}

/* Diagonal of the matrix's inverse: the posterior variances. */
static void find_evidence(struct fit *fit, double *factor, struct fit_report *report) {
    int32_t n = fit->num_knobs;
    for (int32_t k = 0; k < n; k++) {
        struct knob *knob = &fit->knobs[k];
        double sd = knob->sd, variance = sd * sd;
        memset(fit->gradient, 0, (size_t)n * sizeof *fit->gradient);
        fit->gradient[k] = -1;
        if (solve(fit, 0, factor)) variance = fit->step[k];
        struct fit_knob *told = &report->knobs[k];
        snprintf(told->name, sizeof told->name, "%s%s%s", knob->owner, *knob->owner ? "." : "", knob->name);
        told->factor = exp(knob->x);
        told->sd = sd;
        told->evidence = 1 - variance / (sd * sd);
        told->rows = knob->num_concerns;
    }
    report->count = n;
}

static int is_ended(struct fit *fit, int step) {
    const struct fit_watch *watch = fit->watch;
    double share = (double)step / STEPS_MAX;
    fit->is_ended = watch->tell && watch->tell(watch->context, watch->begin + share * (watch->end - watch->begin));
    return fit->is_ended;
}

static int run(struct fit *fit, struct fit_report *report, double *factor, double *tried) {
    double damping = 1e-3;
    if (!find_residuals(fit, fit->residuals)) return 0;
    double now = report->loss_before = loss(fit, fit->residuals);
    for (int step = 0; step < STEPS_MAX; step++) {
        if (is_ended(fit, step)) return 0;
        if (!find_jacobian(fit)) return 0;
        find_system(fit);
        double before = now;
        for (int try = 0; try < 10; try++) {
            if (solve(fit, damping, factor)) {
                move(fit, 1);
                if (!find_residuals(fit, tried)) return 0;
                double then = loss(fit, tried);
                if (then < now) {
                    memcpy(fit->residuals, tried, (size_t)fit->count * sizeof *tried);
                    now = then;
                    damping /= 3;
                    break;
                }
                move(fit, -1);
            }
            damping = damping * 4 + 1e-4;
        }
        if (before - now < 1e-4 * now) break;
    }
    report->loss_after = now;
    find_system(fit);
    find_evidence(fit, factor, report);
    return 1;
}

int32_t fit_constants(struct score_constants *constants, const struct fit_row *rows, size_t count, enum fit_knobs knobs,
                      const struct fit_watch *watch, struct fit_report *ret_report, struct kerf_error *err) {
    struct fit fit = {.constants = constants, .rows = rows, .count = (int32_t)count, .knobs_of = knobs, .watch = watch};
    fit.is_memory = count > 0 && rows[0].kind != FIT_TIME;
    size_t room = FIT_KNOBS_MAX;
    fit.knobs = calloc(room, sizeof *fit.knobs);
    int good = fit.knobs && (knobs == FIT_SITE ? make_site_knobs(&fit) : make_knobs(&fit));
    size_t n = (size_t)fit.num_knobs;
    double *factor = calloc(n * n + 1, sizeof *factor), *tried = calloc(count + 1, sizeof *tried);
    fit.residuals = calloc(count + 1, sizeof(double));
    fit.slopes = calloc(count + 1, sizeof(double));
    fit.curves = calloc(count + 1, sizeof(double));
    fit.jacobian = calloc(n * count + 1, sizeof(double));
    fit.matrix = calloc(n * n + 1, sizeof(double));
    fit.gradient = calloc(n + 1, sizeof(double));
    fit.step = calloc(n + 1, sizeof(double));
    good = good && factor && tried && fit.residuals && fit.slopes && fit.curves && fit.jacobian && fit.matrix &&
           fit.gradient && fit.step && run(&fit, ret_report, factor, tried);
    if (good) mark_fitted(&fit);
    for (int32_t k = 0; fit.knobs && k < fit.num_knobs; k++) free(fit.knobs[k].concerns);
    free(fit.knobs), free(factor), free(tried), free(fit.residuals), free(fit.slopes), free(fit.curves),
        free(fit.jacobian);
    free(fit.matrix), free(fit.gradient), free(fit.step);
    arena_free(&fit.scratch);
    if (fit.is_ended) return kerf_error_set(err, KERF_EINTERRUPTED, "interrupted: nothing was written");
    return good ? KERF_OK : error_no_memory(err, "the fit");
}
