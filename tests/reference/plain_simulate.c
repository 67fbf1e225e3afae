/* SPDX-License-Identifier: Apache-2.0 */
#include "plain_simulate.h"

#include <math.h>
#include <stdlib.h>

/* An operation, once it is timed. */
struct moment {
    int timed;
    double start, end;
    double forward_leaves, backward_leaves; /* when its messages leave */
    double link, free;                      /* when the device's link and the device itself are free again */
    double host;                            /* when its link to the host is */
};

struct plain {
    const struct kerf_schedule *schedule;
    const struct kerf_schedule_times *times;
    const struct kerf_schedule_slices *slices; /* NULL: equal ones */
    struct moment **moments;                   /* [devices][num_ops] */
};

static int32_t home(const struct plain *plain, int32_t stage, int32_t microbatch) {
    const struct kerf_schedule *schedule = plain->schedule;
    int32_t replica = 0;
    while ((int64_t)(replica + 1) * schedule->microbatches / schedule->replicas <= microbatch) replica++;
    return schedule->device_of[replica * schedule->stages + stage];
}

static double latency(const struct plain *plain, int32_t from, int32_t to) {
    if (from == to) return 0;
    return plain->times->p2p_of_s ? plain->times->p2p_of_s[from * plain->schedule->devices + to] : plain->times->p2p_s;
}

/* The share of the whole that an operation of a slice takes; none is fused. */
static double share(const struct plain *plain, const struct kerf_op *op) {
    const struct kerf_schedule_slices *slices = plain->slices;
    if (slices == NULL) return 1. / plain->schedule->slices;
    return (op->kind == KERF_OP_F || op->kind == KERF_OP_R ? slices->forward
            : op->kind == KERF_OP_B                        ? slices->backward
            : op->kind == KERF_OP_I                        ? slices->backward_input
            : op->kind == KERF_OP_W                        ? slices->backward_weight
                                                           : slices->tokens)[op->slice];
}

static double length(const struct plain *plain, const struct kerf_op *op) {
    const struct kerf_schedule_times *times = plain->times;
    double whole = op->kind == KERF_OP_F   ? times->forward_s[op->stage]
                   : op->kind == KERF_OP_B ? times->backward_s[op->stage]
                   : op->kind == KERF_OP_I ? times->backward_input_s[op->stage]
                   : op->kind == KERF_OP_W ? times->backward_weight_s[op->stage]
                   : op->kind == KERF_OP_R ? times->recompute_s[op->stage]
                   : times->fused_s        ? times->fused_s[op->stage]
                                           : times->forward_s[op->stage] + times->backward_s[op->with_stage];
    return whole * share(plain, op) + times->overhead_s;
}

static const struct moment *time_of(const struct plain *plain, int32_t device, int32_t at);

/* When the forward or backward pass of a stage and micro-batch has arrived at a device. */
static double arrives(const struct plain *plain, int backward, int32_t stage, int32_t microbatch, int32_t slice,
                      int32_t device) {
    int32_t from = home(plain, stage, microbatch);
    for (int32_t k = 0; k < plain->schedule->num_ops[from]; k++) {
        const struct kerf_op *op = &plain->schedule->ops[from][k];
        int fused = op->kind == KERF_OP_FB;
        int is = backward ? op->kind == KERF_OP_B || op->kind == KERF_OP_I || fused : op->kind == KERF_OP_F || fused;
        int32_t op_stage = fused && backward ? op->with_stage : op->stage,
                op_microbatch = fused && backward ? op->with_microbatch : op->microbatch;
        if (!is || op_stage != stage || op_microbatch != microbatch || op->slice != slice) continue;
        const struct moment *moment = time_of(plain, from, k);
        if (from == device) return moment->end;
        return (backward ? moment->backward_leaves : moment->forward_leaves) + latency(plain, from, device);
    }
    return INFINITY;
}

static double needs(const struct plain *plain, int kind, int32_t stage, int32_t microbatch, int32_t slice,
                    int32_t device) {
    double ready = 0;
    if (kind == KERF_OP_F) {
        if (stage > 0) ready = fmax(ready, arrives(plain, 0, stage - 1, microbatch, slice, device));
        if (slice > 0) ready = fmax(ready, arrives(plain, 0, stage, microbatch, slice - 1, device));
    } else if (kind == KERF_OP_W) {
        ready = arrives(plain, 1, stage, microbatch, slice, device);
    } else if (kind == KERF_OP_R) {
        ready = arrives(plain, 0, stage, microbatch, slice, device);
    } else {
        ready = arrives(plain, 0, stage, microbatch, slice, device);
        if (stage + 1 < plain->schedule->stages)
            ready = fmax(ready, arrives(plain, 1, stage + 1, microbatch, slice, device));
        if (slice + 1 < plain->schedule->slices)
            ready = fmax(ready, arrives(plain, 1, stage, microbatch, slice + 1, device));
        for (int32_t k = 0; k < plain->schedule->num_ops[device]; k++) {
            const struct kerf_op *op = &plain->schedule->ops[device][k];
            if (op->kind == KERF_OP_L && op->stage == stage && op->microbatch == microbatch && op->slice == slice)
                ready = fmax(ready, time_of(plain, device, k)->end);
        }
    }
    return ready;
}

/* A message of the operation to the stage `to`, if that is on another device. */
static void send(const struct plain *plain, struct moment *moment, int32_t device, int32_t to_stage, int32_t microbatch,
                 double *ret_leaves) {
    *ret_leaves = moment->end;
    if (to_stage < 0 || to_stage >= plain->schedule->stages) return;
    int32_t to = home(plain, to_stage, microbatch);
    if (to == device) return;
    if (plain->times->shared_link || plain->times->host_link_shared) {
        *ret_leaves = fmax(moment->end, moment->link);
        moment->link = *ret_leaves + latency(plain, device, to);
    }
    if (plain->times->blocking) moment->free = fmax(moment->free, *ret_leaves + latency(plain, device, to));
}

/* A copy, beside the device's operations. */
static void time_copy(const struct plain *plain, const struct kerf_op *op, const struct moment *before,
                      struct moment *moment) {
    const struct kerf_schedule_times *times = plain->times;
    const double *all_s = op->kind == KERF_OP_L ? times->load_s : times->offload_s;
    *moment = *before;
    moment->start = fmax(before->free, times->host_link_shared ? before->link : before->host);
    moment->end = moment->start + all_s[op->stage] * share(plain, op);
    if (times->host_link_shared)
        moment->link = moment->end;
    else
        moment->host = moment->end;
}

static const struct moment *time_of(const struct plain *plain, int32_t device, int32_t at) {
    struct moment *moment = &plain->moments[device][at];
    if (moment->timed) return moment;
    const struct kerf_op *op = &plain->schedule->ops[device][at];
    int forward = op->kind == KERF_OP_F || op->kind == KERF_OP_FB;
    static const struct moment idle;
    const struct moment *before = at > 0 ? time_of(plain, device, at - 1) : &idle;
    if (op->kind == KERF_OP_O || op->kind == KERF_OP_L) {
        time_copy(plain, op, before, moment);
        return moment;
    }
    double start = needs(plain, forward ? KERF_OP_F : op->kind, op->stage, op->microbatch, op->slice, device);
    if (op->kind == KERF_OP_FB)
        start = fmax(start, needs(plain, KERF_OP_B, op->with_stage, op->with_microbatch, 0, device));
    start = fmax(start, before->free);
    *moment = (struct moment){
        .timed = 1, .start = start, .end = start + length(plain, op), .link = before->link, .host = before->host};
    moment->free = moment->end;
    if (forward) send(plain, moment, device, op->stage + 1, op->microbatch, &moment->forward_leaves);
    if (op->kind == KERF_OP_FB)
        send(plain, moment, device, op->with_stage - 1, op->with_microbatch, &moment->backward_leaves);
    else if (op->kind == KERF_OP_B || op->kind == KERF_OP_I)
        send(plain, moment, device, op->stage - 1, op->microbatch, &moment->backward_leaves);
    return moment;
}

int plain_simulate(const struct kerf_schedule *schedule, const struct kerf_schedule_times *times,
                   const struct kerf_schedule_slices *slices, double **start_s, double **end_s) {
    struct plain plain = {schedule, times, slices, calloc((size_t)schedule->devices, sizeof *plain.moments)};
    int good = plain.moments != NULL;
    for (int32_t i = 0; i < schedule->devices && good; i++)
        good = (plain.moments[i] = calloc((size_t)schedule->num_ops[i] + 1, sizeof **plain.moments)) != NULL;
    for (int32_t i = 0; i < schedule->devices && good; i++)
        for (int32_t k = 0; k < schedule->num_ops[i]; k++) {
            const struct moment *moment = time_of(&plain, i, k);
            start_s[i][k] = moment->start;
            end_s[i][k] = moment->end;
        }
    for (int32_t i = 0; plain.moments && i < schedule->devices; i++) free(plain.moments[i]);
    free(plain.moments);
    return good;
}
