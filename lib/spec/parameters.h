/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a model's parameters are and how a framework lays them over devices (Megatron-LM's way): for a planner's stages
 * and shards. The formulas are in docs/models.md.
 */
#ifndef KERF_SPEC_PARAMETERS_H
#define KERF_SPEC_PARAMETERS_H

#include "kerf/model.h"

/* A number of parameters by what divides them. */
struct parameters {
    int64_t sharded;            /* tp */
    int64_t key_value;          /* tp, but at most as many ways as there are key-value heads */
    int64_t replicated;         /* nothing */
    int64_t experts;            /* ep * etp */
    int64_t experts_replicated; /* ep: what is added after the reduction within an expert */
};

/* One layer of this kind, by component; components without parameters here are zeros. */
void layer_parameters(const struct kerf_model *model, const struct kerf_layer_kind *kind,
                      struct parameters ret[KERF_COMPONENT_COUNT]);

/* Everything before the first layer: the token table, its projection and norm, positions. */
void embedding_parameters(const struct kerf_model *model, struct parameters ret[KERF_COMPONENT_COUNT]);

/* Everything after the last layer: the final norm and the head (the table again where it is tied: is_copy says whether
 * that copy counts, as it does on a stage that has no embedding). */
void head_parameters(const struct kerf_model *model, int is_copy, struct parameters ret[KERF_COMPONENT_COUNT]);

/* One layer of multi-token prediction: a layer like the last, its projection and norms. */
void mtp_parameters(const struct kerf_model *model, struct parameters ret[KERF_COMPONENT_COUNT]);

int64_t parameters_total(const struct parameters *parameters);

/* The components together. */
struct parameters parameters_sum(const struct parameters components[KERF_COMPONENT_COUNT]);

/* What one device holds, rounded up; kv_heads are the layer's (1 where there are none). */
int64_t parameters_on_device(const struct parameters *parameters, int64_t kv_heads, int64_t tp, int64_t ep,
                             int64_t etp);

/* Whether the model has more than 2^62 parameters; counts of any other model do not overflow. */
int parameters_are_too_many(const struct kerf_model *model);

#endif
