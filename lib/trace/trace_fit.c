/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run says of times: for each stage and kind of operation the median of what was measured, then latency and
 * overhead (trace_latency.c), then what these make of the run's own order. Medians are not moved by a few stragglers;
 * a step is made longer by them, and that is the residual.
 */
#include "trace/trace_fit.h"

#include <math.h>
#include <stdlib.h>

struct kerf_trace_fit *kerf_trace_fit_free(struct kerf_trace_fit *fit) {
    if (fit == NULL) return NULL;
    struct owned_fit *owned = (struct owned_fit *)(void *)fit;
    arena_free(&owned->arena);
    free(owned);
    return NULL;
}

/* ---- Durations -------------------------------------------------------------------------------------------- */

/* Values by kind and stage, one group behind the other. */
static int find_spreads(struct owned_fit *owned, const struct owned_run *run) {
    const struct kerf_schedule *schedule = &run->schedule;
    size_t stages = (size_t)schedule->stages, groups = KERF_OP_KINDS * stages, total = 0;
    size_t *first = calloc(groups + 1, sizeof *first);
    struct kerf_trace_spread *spreads = arena_alloc(&owned->arena, groups, sizeof *spreads);
    for (int32_t d = 0; first && d < schedule->devices; d++)
        for (int32_t k = 0; k < schedule->num_ops[d]; k++)
            first[(size_t)schedule->ops[d][k].kind * stages + (size_t)schedule->ops[d][k].stage]++, total++;
    double *values = calloc(total + 1, sizeof *values);
    int good = first && spreads && values;
    if (good) {
        for (size_t g = 0, before = 0, count; g <= groups; g++) count = first[g], first[g] = before, before += count;
        for (int32_t d = 0; d < schedule->devices; d++)
            for (int32_t k = 0; k < schedule->num_ops[d]; k++) {
                const struct kerf_op *op = &schedule->ops[d][k];
                values[first[(size_t)op->kind * stages + (size_t)op->stage]++] = run->end[d][k] - run->start[d][k];
            }
        for (size_t g = 0; g < groups; g++) { /* first[g] is now where the next group begins */
            size_t begin = g ? first[g - 1] : 0;
            spreads[g] = trace_spread(values + begin, first[g] - begin);
        }
        for (size_t kind = 0; kind < KERF_OP_KINDS; kind++) owned->fit.of_kind[kind] = spreads + kind * stages;
    }
    free(first);
    free(values);
    return good;
}

static double or_else(const struct kerf_trace_spread *spread, double other) {
    return spread->count ? spread->median_s : other;
}

/* Each time of a stage, from what it ran. */
static int set_durations(struct owned_fit *owned, int32_t stages) {
    const struct kerf_trace_spread *const *of = owned->fit.of_kind;
    double *all = arena_alloc(&owned->arena, KERF_OP_KINDS * (size_t)stages, sizeof *all);
    int any_fused = 0;
    if (all == NULL) return 0;
    double *f = all, *b = f + stages, *i = b + stages, *w = i + stages, *fb = w + stages;
    for (int32_t s = 0; s < stages; s++) {
        double fused = of[KERF_OP_FB][s].median_s;
        int split = of[KERF_OP_I][s].count && of[KERF_OP_W][s].count;
        any_fused |= of[KERF_OP_FB][s].count > 0;
        f[s] = or_else(&of[KERF_OP_F][s], fused / 3);
        b[s] =
            or_else(&of[KERF_OP_B][s], split ? of[KERF_OP_I][s].median_s + of[KERF_OP_W][s].median_s : 2 * fused / 3);
        i[s] = or_else(&of[KERF_OP_I][s], b[s] / 2);
        w[s] = or_else(&of[KERF_OP_W][s], b[s] / 2);
        fb[s] = or_else(&of[KERF_OP_FB][s], f[s] + b[s]);
    }
    owned->times.forward_s = f;
    owned->times.backward_s = b;
    owned->times.backward_input_s = i;
    owned->times.backward_weight_s = w;
    owned->times.fused_s = any_fused ? fb : NULL;
    return 1;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

/* A run whose operations, as recorded, wait for each other has no simulation either. */
static int simulate(struct owned_fit *owned, const struct owned_run *run) {
    struct kerf_trace_fit *fit = &owned->fit;
    struct kerf_timeline *timeline;
    struct kerf_error err;
    fit->measured_s = run->timeline.makespan_s;
    fit->simulated_s = fit->residual = NAN;
    if (run->run.microbatches_complete < run->schedule.microbatches) return 1;
    int32_t code = kerf_schedule_simulate(&run->schedule, &owned->times, &timeline, &err);
    if (code != KERF_OK) return code != KERF_ENOMEM;
    fit->simulated_s = timeline->makespan_s;
    if (fit->measured_s > 0) fit->residual = fit->simulated_s / fit->measured_s - 1;
    kerf_timeline_free(timeline);
    return 1;
}

int32_t kerf_trace_fit_make(const struct kerf_trace *run, struct kerf_trace_fit **ret_fit, struct kerf_error *err) {
    const struct owned_run *owned_run = (const struct owned_run *)(const void *)run;
    struct owned_fit *owned = calloc(1, sizeof *owned);
    int good = owned != NULL;
    if (good) {
        owned->fit.times = &owned->times;
        owned->fit.devices = run->schedule->devices;
        owned->fit.stages = run->schedule->stages;
        good = find_spreads(owned, owned_run) && set_durations(owned, run->schedule->stages) &&
               trace_fit_latency(owned, owned_run) && simulate(owned, owned_run);
    }
    if (!good) {
        if (owned) kerf_trace_fit_free(&owned->fit);
        return kerf_error_set(err, KERF_ENOMEM, "not enough memory for the fit");
    }
    *ret_fit = &owned->fit;
    return KERF_OK;
}
