/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of ranks in scale-up domains, and what messages among them take. */
#ifndef KERF_COST_ANALYTIC_COLLECTIVES_H
#define KERF_COST_ANALYTIC_COLLECTIVES_H

#include "cost/analytic/device.h"

/* Ranks that exchange messages: `members` of them, spread over `domains` domains, `in_domain` in each (a mean). */
struct rank_group {
    double members, in_domain, domains;
};

/* Ranks first, first + stride, ..., first + (members - 1) stride; domains are aligned blocks of ranks. */
struct rank_group group_of(const struct analytic_device *device, int64_t members, int64_t stride);

/* The groups of a layout; those over which states are sharded need dp, pp and order too. */
struct rank_group group_tp(const struct analytic_device *device, const struct kerf_layout *layout);
struct rank_group group_cp(const struct analytic_device *device, const struct kerf_layout *layout);
struct rank_group group_ep(const struct analytic_device *device, const struct kerf_layout *layout);
struct rank_group group_etp(const struct analytic_device *device, const struct kerf_layout *layout);
struct rank_group group_dense_states(const struct analytic_device *device, const struct kerf_layout *layout);
struct rank_group group_expert_states(const struct analytic_device *device, const struct kerf_layout *layout);

/* All-gather or reduce-scatter of a tensor that has `bytes` as a whole. An all-reduce is one of each. */
double gather_s(const struct analytic_device *device, const struct rank_group *group, double bytes);
/* Each member sends each other one its share of the `bytes` that it holds. */
double all_to_all_s(const struct analytic_device *device, const struct rank_group *group, double bytes);
/* One step of a ring: each member sends `bytes` to the next. */
double ring_step_s(const struct analytic_device *device, const struct rank_group *group, double bytes);
/* To the experts of `tokens` tokens of `bytes` each, top_k of them a token, each domain visited once; or back. */
double dispatch_s(const struct analytic_device *device, const struct rank_group *group, double tokens, double bytes,
                  double top_k);

#endif
