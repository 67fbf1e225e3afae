/* SPDX-License-Identifier: Apache-2.0 */
/* What of a model decides which layouts of hybrid it can have: for the space and for a layout alike. */
#ifndef KERF_COST_HYBRID_RULES_H
#define KERF_COST_HYBRID_RULES_H

#include "cost/pipeliner.h"
#include "kerf/spec.h"

/* Whether tp divides the heads of every kind of layer, and the key-value heads or they divide it. */
int hybrid_tp_divides(const struct kerf_model *model, int64_t tp);
/* Experts that ep must divide: of all kinds of layers; 0: the model has none. */
int64_t hybrid_experts(const struct kerf_model *model);
/* Whether context parallelism over cp can communicate so: all-to-all needs heads of a tensor shard that cp divides. */
int hybrid_cp_comm_occurs(const struct kerf_model *model, int64_t tp, int64_t cp, enum kerf_cp_comm cp_comm);
/* Whether Megatron-LM can number ranks so: where dp comes after pp, dense layers and experts must have one dp. */
int hybrid_order_occurs(const struct kerf_model *model, const struct kerf_layout *layout, enum kerf_order order);
/* Layers of the fullest virtual stage: of stage_layers, else as even as they can be. */
int64_t hybrid_fullest_stage(const struct kerf_model *model, int64_t stages, const int32_t *stage_layers);
/* Whether the schedule takes so many virtual stages and micro-batches; pipeliner may be NULL. */
int hybrid_schedule_takes(const struct pipeliner *pipeliner, const char *schedule, int64_t pp, int64_t vpp,
                          int64_t microbatches);

#endif
