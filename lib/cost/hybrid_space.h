/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The space of strategy hybrid, as docs/space.md has it, level by level:
 *
 *   tp, cp (and its communication)  ->  ep, etp  ->  micro-batch  ->  what is recomputed  ->  pp, and with it dp
 *   ->  vpp, schedule, order  ->  layers of full:K  ->  ZeRO stage
 *   variants: one
 *
 * Each dimension has a list of values: those that the problem's space names, else its default. What a layout needs
 * besides - that products divide - does not ask where the values come from.
 */
#ifndef KERF_COST_HYBRID_SPACE_H
#define KERF_COST_HYBRID_SPACE_H

#include "cost/strategy.h"

enum hybrid_level {
    HYBRID_LEVEL_SHARDS,
    HYBRID_LEVEL_EXPERTS,
    HYBRID_LEVEL_MICRO_BATCH,
    HYBRID_LEVEL_RECOMPUTE,
    HYBRID_LEVEL_STAGES,
    HYBRID_LEVEL_SCHEDULE,
    HYBRID_LEVEL_BLOCK,
    HYBRID_LEVEL_ZERO,
    HYBRID_LEVELS
};

enum {
    HYBRID_VPP_MAX = 8,
    HYBRID_MICRO_BATCH_MAX = 64, /* of the default lists */
    HYBRID_SCHEDULES_MAX = 64    /* that a pipeliner may know */
};

/* What walks look up. */
struct space_memory *hybrid_remember(const struct space *space, struct arena *arena);

struct kerf_layout *hybrid_choices(const struct space *space, int32_t level, const struct kerf_layout *prefix,
                                   struct arena *arena, int32_t *ret_count);
struct kerf_layout *hybrid_variants(const struct space *space, const struct kerf_layout *prefix, struct arena *arena,
                                    int32_t *ret_count);
int64_t hybrid_count(const struct space *space, int32_t level, const struct kerf_layout *prefix);

/* Whether the space's runner refuses the first layout that there is else, and why. */
int hybrid_runner_refuses(const struct space *space, struct kerf_layout *ret_layout, struct kerf_text *why);

/* ---- What of a model decides which layouts it can have: for the space and for a layout alike --------------- */

/* Experts that ep must divide: of all kinds of layers; 0: the model has none. */
int64_t hybrid_experts(const struct kerf_model *model);
/* Whether context parallelism over cp can communicate so: all-to-all needs heads of a tensor shard that cp divides. */
int hybrid_cp_comm_occurs(const struct kerf_model *model, int64_t tp, int64_t cp, enum kerf_cp_comm cp_comm);
/* Whether Megatron-LM can number ranks so: where dp comes after pp, dense layers and experts must have one dp. */
int hybrid_order_occurs(const struct kerf_model *model, const struct kerf_layout *layout, enum kerf_order order);
/* Layers of the fullest virtual stage: of stage_layers, else as even as they can be. */
int64_t hybrid_fullest_stage(const struct kerf_model *model, int64_t stages, const int32_t *stage_layers);

#endif
