/* SPDX-License-Identifier: Apache-2.0 */
/* Checks certificates: the order is run and its memory counted, the argument is calculated or its steps are checked,
 * and both are compared with what the certificate says. */
#include <math.h>
#include <string.h>
#include "base/error_fill.h"
#include "schedule/proof/proof.h"

struct run {
    double *end;   /* [output] when an operation ended */
    int64_t *base; /* [lanes] of its outputs */
    int32_t *done, *at;
    double *free_s, *first_s, *last_s;
};

static int make_run(const struct proof *proof, struct arena *arena, struct run *run) {
    const size_t lanes = (size_t)proof->lanes, p = (size_t)proof->devices;
    int64_t ops = 0;
    run->base = arena_alloc(arena, lanes, sizeof *run->base);
    run->done = arena_alloc(arena, lanes, sizeof *run->done);
    run->at = arena_alloc(arena, p, sizeof *run->at);
    run->free_s = arena_alloc(arena, p, sizeof *run->free_s);
    run->first_s = arena_alloc(arena, p, sizeof *run->first_s);
    run->last_s = arena_alloc(arena, p, sizeof *run->last_s);
    for (int32_t lane = 0; run->base && lane < proof->lanes; lane++) {
        run->base[lane] = ops;
        ops += proof->units[lane / 3];
    }
    run->end = arena_alloc(arena, (size_t)ops + 1, sizeof *run->end);
    return run->base && run->done && run->at && run->free_s && run->first_s && run->last_s && run->end;
}

/* Runs a device until an input is missing; how many it ran. */
static int32_t run_device(const struct proof *proof, struct run *run, int32_t d) {
    int32_t ran = 0;
    for (; run->at[d] < proof->length[d]; run->at[d]++, ran++) {
        const int32_t lane = proof->order[d][run->at[d]], s = lane / 3, kind = lane % 3, unit = run->done[lane];
        const int32_t input = proof_input(proof, lane), stage = proof_stage(proof, s);
        double start = run->free_s[d];
        if (unit >= proof->units[s] || (kind > 0 && run->done[lane - 1] <= unit)) break;
        if (input >= 0) {
            if (run->done[input] <= unit) break;
            start =
                fmax(start, run->end[run->base[input] + unit] + proof_latency(proof, proof->device_of[input / 3], d));
        }
        const double end = start + proof->time[kind][stage];
        const int32_t next = kind == 0 && stage + 1 < proof->stages ? s + 1 : kind == 1 && stage > 0 ? s - 1 : -1;
        if (run->at[d] == 0) run->first_s[d] = start;
        run->last_s[d] = end;
        run->end[run->base[lane] + unit] = end;
        run->done[lane]++;
        run->free_s[d] = end + (next >= 0 && proof->blocking ? proof_latency(proof, d, proof->device_of[next]) : 0);
    }
    return ran;
}

/* What the order takes; INFINITY where its operations wait for each other or one is missing. */
static double time_order(const struct proof *proof, struct run *run) {
    double first = INFINITY, last = 0, span = 0;
    int32_t ran = 1;
    while (ran > 0) {
        ran = 0;
        for (int32_t d = 0; d < proof->devices; d++) ran += run_device(proof, run, d);
        for (int32_t d = proof->devices; d-- > 0;) ran += run_device(proof, run, d);
    }
    for (int32_t d = 0; d < proof->devices; d++) {
        if (run->at[d] < proof->length[d]) return INFINITY;
        if (proof->length[d] == 0) continue;
        first = fmin(first, run->first_s[d]);
        last = fmax(last, run->last_s[d]);
        span = fmax(span, run->last_s[d] - run->first_s[d]);
    }
    return proof->span ? span : fmax(last - first, 0);
}

static int keeps_caps(const struct proof *proof) {
    for (int32_t d = 0; d < proof->devices; d++) {
        double held = 0;
        for (int32_t k = 0; k < proof->length[d]; k++) {
            const int32_t lane = proof->order[d][k];
            const double amount = proof->amount[proof_stage(proof, lane / 3)];
            if (lane % 3 == 0) held += amount;
            if (held > proof->cap[d] * (1 + 2e-12)) return 0;
            if (lane % 3 == proof->frees) held -= amount;
        }
    }
    return 1;
}

static int is_near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

static int32_t check_order(const struct proof *proof, struct arena *arena, struct kerf_error *err) {
    struct run run;
    if (proof->order == NULL) return KERF_OK;
    if (!make_run(proof, arena, &run)) return error_no_memory(err, "the certificate");
    const double takes = time_order(proof, &run);
    if (isinf(takes)) return kerf_error_set(err, KERF_EINVALID, "the certificate's order cannot run to its end");
    if (!keeps_caps(proof)) return kerf_error_set(err, KERF_EINVALID, "the certificate's order breaks a memory cap");
    if (is_near(takes, proof->takes)) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "the certificate's order takes %.17g s, not the %.17g s that it says",
                          takes, proof->takes);
}

int32_t kerf_schedule_verify(const char *text, size_t length, const char *name,
                             struct kerf_schedule_verdict *ret_verdict, struct kerf_error *err) {
    struct arena arena = {NULL};
    struct proof proof;
    double bound = 0;
    int64_t steps = 1;
    int32_t code = proof_read(&proof, &arena, text, length, name, err);
    if (code == KERF_OK) code = check_order(&proof, &arena, err);
    if (code == KERF_OK && proof.argument == PROOF_REFUTATION) code = proof_refute(&proof, &arena, &bound, &steps, err);
    if (code == KERF_OK && proof.argument != PROOF_REFUTATION) bound = proof_argue(&proof, &arena);
    if (code == KERF_OK && !(isfinite(bound) && proof.bound <= bound * (1 + 1e-12)))
        code = kerf_error_set(err, KERF_EINVALID,
                              "the certificate says that nothing takes less than %.17g s, but its proof "
                              "gives only %.17g s",
                              proof.bound, bound);
    if (code == KERF_OK && proof.order && proof.takes < proof.bound * (1 - 1e-9))
        code = kerf_error_set(err, KERF_EINVALID, "the certificate's order takes less than its bound");
    if (code == KERF_OK)
        *ret_verdict =
            (struct kerf_schedule_verdict){.objective = proof.span ? KERF_OBJECTIVE_SPAN : KERF_OBJECTIVE_MAKESPAN,
                                           .bound_s = proof.bound,
                                           .takes_s = proof.order ? proof.takes : NAN,
                                           .optimal = proof.order && is_near(proof.bound, proof.takes),
                                           .devices = proof.devices,
                                           .stages = proof.stages,
                                           .microbatches = proof.microbatches,
                                           .replicas = proof.replicas,
                                           .steps = steps};
    else if (err && err->file[0] == '\0')
        error_set_file(err, name);
    arena_free(&arena);
    return code;
}
