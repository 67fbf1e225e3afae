/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rule is to the library: what users see of it, and its functions. To add one, write a file like chimera.c and
 * put its rule into the lists below and in rules.c.
 */
#ifndef KERF_SCHEDULE_RULES_RULE_H
#define KERF_SCHEDULE_RULES_RULE_H

#include "schedule/build.h"

struct rule {
    struct kerf_schedule_rule shown;
    enum kerf_placement placement;
    int32_t any_placement; /* 1: the request chooses it */
    int32_t any_replicas;  /* 1: more than two make the placement a ring */
    int32_t default_chunks;
    int32_t fixed_chunks;          /* 1: --chunks cannot change them */
    int32_t default_slices;        /* 0: a micro-batch is not cut */
    int32_t slices_by_device;      /* 1: default_slices are so many for each device */
    enum kerf_slice_cut slice_cut; /* OWN: balanced */
    int32_t own_group;             /* 1: a group that is not asked for is 0, and the rule has its own */
    int32_t grouped; /* 1: a group below p, or one that does not divide m, may deadlock: the validator decides */
    /* The constraint of the rule in words for err, or KERF_OK. */
    int32_t (*check)(const struct kerf_schedule_request *request, struct kerf_error *err); /* NULL: takes anything */
    int (*refused_elsewhere)(const struct kerf_schedule_request *request); /* 1: see shown.elsewhere; NULL: never */
    void (*device)(struct builder *builder, int32_t device); /* adds the operations of one device in order, */
    /* or a search adds those of all; the request's times are never NULL. */
    int32_t (*search)(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err);
};

/* The search as a rule, whose request chooses the placement (best/best.c). It builds on the others. */
extern const struct rule rule_best;

/* The other rules. */
extern const struct rule rule_gpipe, rule_1f1b, rule_eager_1f1b, rule_1f1b_overlap, rule_interleaved_1f1b,
    rule_interleaved_1f1b_overlap, rule_interleaved_zb, rule_looped_bfs, rule_zb_h1, rule_zb1p, rule_zb_h2, rule_zb_v,
    rule_dualpipe, rule_dualpipe_v, rule_chimera, rule_seq1f1b, rule_zb_1p, rule_zb_2p, rule_zb_v_searched, rule_v_half,
    rule_v_min, rule_hanayo, rule_bitpipe, rule_gis, rule_1f1b_v, rule_seq_zb, rule_v_adaptive,
    rule_seq1f1b_interleaved, rule_slimpipe;

/* The rules one after the other; NULL behind the last. */
const struct rule *rules_at(size_t index);

/* How the rule of this name cuts micro-batches: balanced where it does not say, or there is none. */
enum kerf_slice_cut rule_slice_cut(const char *name);

/* How many stages the request's model has by the rule, whose name the request does not say. */
int32_t rule_stages(const struct rule *rule, const struct kerf_schedule_request *request, int32_t *ret_stages,
                    struct kerf_error *err);

/* Makes a schedule by the rule, whatever name the request says. Errors as kerf_schedule_make. */
int32_t rule_make(const struct rule *rule, const struct kerf_schedule_request *request, const struct search_how *how,
                  struct kerf_schedule **ret_schedule, struct kerf_error *err);

#endif
