/* SPDX-License-Identifier: Apache-2.0 */
/* Kendall's tau over the pairs that were measured different; one that is predicted equal adds 0. O(n^2) a group. */
#include "score/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error_fill.h"

static int compare_doubles(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Sorts the values. */
static double median(double *values, size_t count) {
    if (count == 0) return NAN;
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return count ? sum / (double)count : NAN;
}

int figures_is_timed(const struct run *run) {
    return run->measured.why == NULL && run->measured.status == RUN_OK && !isnan(run->measured.step_s) &&
           strncmp(run->provenance, "memory", strlen("memory")) != 0;
}

/* ---- Groups ----------------------------------------------------------------------------------------------- */

struct entry {
    const struct run *run;
    double predicted, measured;
};

static int compare_counts(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* 0: the same model, gpus, seq, gbs, precision and data set. */
static int compare_groups(const struct run *a, const struct run *b) {
    const size_t length_a = run_set_length(a), length_b = run_set_length(b);
    int order = strncmp(a->id, b->id, length_a < length_b ? length_a : length_b);
    if (order == 0) order = compare_counts((int64_t)length_a, (int64_t)length_b);
    if (order == 0) order = strcmp(a->model, b->model);
    if (order == 0) order = compare_counts(a->gpus, b->gpus);
    if (order == 0) order = compare_counts(a->seq, b->seq);
    if (order == 0) order = compare_counts(a->gbs, b->gbs);
    return order ? order : compare_counts((int64_t)a->precision, (int64_t)b->precision);
}

static int compare_entries(const void *a, const void *b) {
    const struct entry *left = a, *right = b;
    const int order = compare_groups(left->run, right->run);
    if (order) return order;
    if (left->predicted != right->predicted) return left->predicted < right->predicted ? -1 : 1;
    return compare_counts(left->run->line, right->run->line);
}

struct ranks {
    double tau_sum, regret_sum;
    size_t tau_rows, groups;
};

static void add_group(const struct entry *entries, size_t count, struct ranks *ranks) {
    int64_t pairs = 0, agreeing = 0;
    double best = entries[0].measured, chosen = 0;
    size_t tied = 0;
    for (size_t i = 0; i < count; i++) {
        best = fmin(best, entries[i].measured);
        if (entries[i].predicted == entries[0].predicted) {
            chosen += entries[i].measured;
            tied++;
        }
        for (size_t j = 0; j < i; j++) {
            const double product =
                (entries[i].predicted - entries[j].predicted) * (entries[i].measured - entries[j].measured);
            if (entries[i].measured == entries[j].measured) continue;
            pairs++;
            agreeing += (product > 0) - (product < 0);
        }
    }
    ranks->regret_sum += chosen / (double)tied / best;
    ranks->groups++;
    if (pairs == 0) return;
    ranks->tau_sum += (double)agreeing / (double)pairs * (double)count;
    ranks->tau_rows += count;
}

static void set_ranks(struct entry *entries, size_t count, struct figures *figures) {
    struct ranks ranks = {0};
    if (count) qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && compare_groups(entries[begin].run, entries[end].run) == 0;) end++;
        if (end - begin >= FIGURES_GROUP) add_group(entries + begin, end - begin, &ranks);
    }
    figures->tau = ranks.tau_rows ? ranks.tau_sum / (double)ranks.tau_rows : NAN;
    figures->regret = ranks.groups ? ranks.regret_sum / (double)ranks.groups : NAN;
}

/* ---- All -------------------------------------------------------------------------------------------------- */

static void set_memory(const struct runs *runs, const struct prediction *predictions, const size_t *which, size_t count,
                       struct figures *figures) {
    size_t called = 0, both = 0, judged = 0;
    double squares = 0, errors = 0, gib = 0;
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &runs->rows[which[i]];
        const struct prediction *prediction = &predictions[which[i]];
        const int died = run->measured.status == RUN_OOM;
        figures->oom += (size_t)died;
        if (prediction->why) continue;
        if (run->measured.status == RUN_OK && run->measured.why == NULL && !isnan(run->measured.mem_gib)) {
            errors += fabs(prediction->memory_bytes / 0x1p30 / run->measured.mem_gib - 1);
            gib += fabs(prediction->memory_bytes / 0x1p30 - run->measured.mem_gib);
            figures->memory_runs++;
        }
        if (!died && run->measured.status != RUN_OK) continue;
        const int call = prediction->p_oom >= 0.5;
        called += (size_t)call;
        both += (size_t)(call && died);
        judged++;
        squares += (prediction->p_oom - died) * (prediction->p_oom - died);
    }
    figures->memory_error = figures->memory_runs ? errors / (double)figures->memory_runs : NAN;
    figures->memory_gib = figures->memory_runs ? gib / (double)figures->memory_runs : NAN;
    figures->recall = figures->oom ? (double)both / (double)figures->oom : NAN;
    figures->precision = figures->oom && called ? (double)both / (double)called : NAN;
    figures->brier = figures->oom && judged ? squares / (double)judged : NAN;
}

int32_t figures_compute(const struct runs *runs, const struct prediction *predictions, const size_t *which,
                        size_t count, struct figures *ret_figures, struct kerf_error *err) {
    struct arena arena = {NULL};
    struct figures figures = {0};
    struct entry *entries = arena_alloc(&arena, count + 1, sizeof *entries);
    double *errors = arena_alloc(&arena, count + 1, sizeof *errors);
    double *sizes = arena_alloc(&arena, count + 1, sizeof *sizes);
    double *widths = arena_alloc(&arena, count + 1, sizeof *widths);
    size_t n = 0, inside = 0;
    if (entries == NULL || errors == NULL || sizes == NULL || widths == NULL) {
        arena_free(&arena);
        return error_no_memory(err, "the figures of a table of runs");
    }
    for (size_t i = 0; i < count; i++) {
        const struct run *run = &runs->rows[which[i]];
        const struct prediction *prediction = &predictions[which[i]];
        if (prediction->why) figures.refused += run->measured.status == RUN_OK || run->measured.status == RUN_OOM;
        if (prediction->why || !figures_is_timed(run)) continue;
        const double measured = run->measured.step_s;
        entries[n] = (struct entry){run, prediction->step_s, measured};
        errors[n] = prediction->step_s / measured - 1;
        sizes[n] = fabs(errors[n]);
        widths[n] = prediction->step_high_s / prediction->step_low_s - 1;
        inside += prediction->step_low_s <= measured && measured <= prediction->step_high_s;
        n++;
    }
    figures.timed = n;
    figures.mean = mean(sizes, n);
    figures.median = median(sizes, n); /* sorted from here on */
    figures.p90 = n ? sizes[(9 * n + 9) / 10 - 1] : NAN; /* the least that nine of ten are within */
    figures.bias = median(errors, n);
    figures.within = n ? (double)inside / (double)n : NAN;
    figures.width = median(widths, n);
    set_ranks(entries, n, &figures);
    set_memory(runs, predictions, which, count, &figures);
    arena_free(&arena);
    *ret_figures = figures;
    return KERF_OK;
}
