/* SPDX-License-Identifier: Apache-2.0 */
/* The best split of equal layers, beside others that already lie. */
#ifndef KERF_COST_SPLIT_EQUAL_H
#define KERF_COST_SPLIT_EQUAL_H

#include "base/arena.h"

static const double SPLIT_TOLERANCE = 1e-12; /* relative: less is equal */

/* A virtual stage. */
struct equal_stage {
    double layer_bytes; /* of one of the equal layers here */
    int32_t device;
    int32_t held;    /* other layers, which already lie here */
    int32_t least;   /* of the equal layers: 0 or 1 */
    int32_t is_open; /* 0: none of the equal layers may lie here */
    int32_t layers;  /* found: of the equal layers */
};

struct equal_device {
    double fixed_s, fixed_bytes; /* with the layers that already lie here */
    int32_t is_pure;             /* all of its stages are open and hold nothing */
    /* Of the solver: */
    int32_t from, num_stages; /* in by_bytes */
    int32_t cap;              /* equal layers that the least time allows */
    double all_bytes;         /* of one equal layer on each stage */
    /* and of what is chosen so far: */
    double bytes;
    int32_t chosen, num_left; /* equal layers; open stages that are not chosen */
    int32_t low, high;        /* the least and the most layers of a virtual stage that is chosen */
    int32_t is_free;          /* pure, and memory cannot be too little */
    int32_t fewest, most;     /* that can follow */
};

struct equal_split {
    struct equal_stage *stages;   /* [num_stages] */
    struct equal_device *devices; /* [num_devices] */
    double *first_bytes; /* [num_stages] of the solver: by device, of a layer on each of its first stages in by_bytes */
    int32_t *by_bytes;   /* [num_stages] the same: virtual stages, the cheapest first */
    int32_t *heap;       /* [num_devices] the same: the fullest first */
    int32_t num_stages, num_devices, num_layers;
    int32_t is_even;
    double layer_s;
    /* Found: */
    double largest_s, largest_bytes;
};

/* Room for so many; 0 when memory ran out. */
int equal_split_begin(struct equal_split *split, int32_t num_stages, int32_t num_devices, struct arena *arena);

/* The least largest time of a device, and caps; INFINITY where the layers cannot lie so. */
double equal_split_least_s(struct equal_split *split);

/* The same where devices may have none of the layers, or all. */
double equal_split_bound_s(struct equal_split *split);

/* All of it, after equal_split_least_s; 0 where the layers cannot lie so. */
int equal_split_find(struct equal_split *split);

#endif
