/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule is to the library: what users see of it, and two functions. To add one, write a file like
 * gpipe.c and put its rule into the list in rules.c.
 */
#ifndef KERF_SCHEDULE_RULE_H
#define KERF_SCHEDULE_RULE_H

#include "base/arena.h"
#include "kerf/schedule.h"

enum placement {
    PLACE_LOOP, /* stage k on device k mod p; with one chunk stage k on device k */
    PLACE_V,    /* down and back: stage k on device k, or 2p - 1 - k */
    PLACE_BOTH  /* two replicas, the second upside down */
};

/* A schedule while it is made. */
struct builder {
    int32_t p, m, v, group;
    struct kerf_op **ops; /* [p][room for every operation] */
    int32_t *num_ops;
    struct kerf_op *scratch; /* [2 m] for one device at a time */
};

struct rule {
    struct kerf_schedule_rule shown;
    enum placement placement;
    int32_t default_chunks;
    int32_t fixed_chunks; /* 1: --chunks cannot change them */
    int32_t grouped;      /* 1: a group below p, or one that does not divide m, may deadlock: the validator decides */
    /* The constraint of the rule in words for err, or KERF_OK. */
    int32_t (*check)(const struct kerf_schedule_request *request, struct kerf_error *err); /* NULL: takes anything */
    void (*device)(struct builder *builder, int32_t device); /* adds the operations of one device in order */
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

extern const struct rule rule_gpipe, rule_1f1b, rule_eager_1f1b, rule_1f1b_overlap, rule_interleaved_1f1b,
    rule_interleaved_1f1b_overlap, rule_interleaved_zb, rule_looped_bfs, rule_zb_h1, rule_zb1p, rule_zb_h2, rule_zb_v,
    rule_dualpipe, rule_dualpipe_v;

#endif
