/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule is to the library: what users see of it, and its functions. To add one, write a file like gpipe.c and put
 * its rule into the lists below and in rules.c.
 */
#ifndef KERF_SCHEDULE_RULES_RULE_H
#define KERF_SCHEDULE_RULES_RULE_H

#include "kerf/schedule.h"

/* A schedule while it is made. */
struct builder {
    int32_t p, m, v, group, slices;
    struct kerf_op **ops; /* [p][room for every operation] */
    int32_t *num_ops;
    struct kerf_op *scratch; /* [2 m] for one device at a time */
    double proved_s;         /* that no order is shorter, where a search proves it, */
    uint64_t proved_for;     /* for times with this fingerprint */
};

struct rule {
    struct kerf_schedule_rule shown;
    enum kerf_placement placement;
    int32_t any_placement; /* 1: the request chooses it */
    int32_t default_chunks;
    int32_t fixed_chunks;   /* 1: --chunks cannot change them */
    int32_t default_slices; /* 0: a micro-batch is not cut */
    int32_t grouped;        /* 1: a group below p, or one that does not divide m, may deadlock: the validator decides */
    /* The constraint of the rule in words for err, or KERF_OK. */
    int32_t (*check)(const struct kerf_schedule_request *request, struct kerf_error *err); /* NULL: takes anything */
    int (*refused_elsewhere)(const struct kerf_schedule_request *request); /* 1: see shown.elsewhere; NULL: never */
    void (*device)(struct builder *builder, int32_t device); /* adds the operations of one device in order, */
    /* or a search adds those of all; the request's times are never NULL. */
    int32_t (*search)(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err);
};

static inline void add(struct builder *builder, int32_t device, enum kerf_op_kind kind, int32_t stage,
                       int32_t microbatch) {
    builder->ops[device][builder->num_ops[device]++] =
        (struct kerf_op){microbatch, -1, (int16_t)stage, -1, (int16_t)kind, 0};
}

static inline void add_fused(struct builder *builder, int32_t device, int32_t stage, int32_t microbatch,
                             int32_t with_stage, int32_t with_microbatch) {
    builder->ops[device][builder->num_ops[device]++] =
        (struct kerf_op){microbatch, with_microbatch, (int16_t)stage, (int16_t)with_stage, KERF_OP_FB, 0};
}

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

static inline void add_slice(struct builder *builder, int32_t device, enum kerf_op_kind kind, int32_t stage,
                             int32_t microbatch, int32_t slice) {
    add(builder, device, kind, stage, microbatch);
    builder->ops[device][builder->num_ops[device] - 1].slice = (int16_t)slice;
}

/* PyTorch goes through the micro-batches in rounds of p or some more, all of the same size. */
static inline int refused_by_pytorch_rounds(const struct kerf_schedule_request *request) {
    int32_t rounds = request->microbatches / request->devices;
    return rounds > 1 && request->microbatches % rounds != 0;
}

extern const struct rule rule_gpipe, rule_1f1b, rule_eager_1f1b, rule_1f1b_overlap, rule_interleaved_1f1b,
    rule_interleaved_1f1b_overlap, rule_interleaved_zb, rule_looped_bfs, rule_zb_h1, rule_zb1p, rule_zb_h2, rule_zb_v,
    rule_dualpipe, rule_dualpipe_v, rule_chimera, rule_seq1f1b, rule_zb_1p, rule_zb_2p, rule_zb_v_searched, rule_v_half,
    rule_v_min, rule_best;

#endif
