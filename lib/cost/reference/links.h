/* SPDX-License-Identifier: Apache-2.0 */
/* What a system can do, as the reference sees it: arithmetic, memory traffic, and messages whose time is affine in their
 * size. */
#ifndef KERF_COST_REFERENCE_LINKS_H
#define KERF_COST_REFERENCE_LINKS_H

#include "cost/reference/volumes.h"

/* What does not depend on the layout: made once a problem. */
struct device {
    double launch_s; /* added to every operation's arithmetic */
    double s_per_matrix_flop, s_per_vector_flop, s_per_byte;
    double vector_slowdown; /* how many times slower the vector units are than the matrix units */
};

struct device device_of(const struct kerf_system *system);

/* latency + bytes * seconds per byte */
struct link {
    double latency_s, s_per_byte;
};

/* A collective among `group` accelerators, `in_domain` of them in each scale-up domain. */
struct link link_collective(const struct kerf_system *system, enum comm_kind kind, int64_t group, int64_t in_domain);

/* One stage to the next, `in_domain` stages in each scale-up domain: the mean over the links. */
struct link link_stages(const struct kerf_system *system, int64_t pp, int64_t in_domain);

/* The collectives of a tensor-parallel axis, by kind. */
struct axis_links {
    struct link of[COMM_KINDS];
};

void links_of_axis(const struct kerf_system *system, int64_t group, int64_t in_domain, struct axis_links *ret_links);

#endif
