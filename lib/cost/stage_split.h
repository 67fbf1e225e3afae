/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which layers go to which virtual stage: the split that minimises the largest time of a device. Among those with the
 * least time: the one whose fullest device needs least memory; among those the lexicographically least. Times and bytes
 * that differ by less than 1e-12 of themselves are equal.
 *
 * Virtual stages are numbered in the order in which a micro-batch goes through them; each has a layer. The embedding is
 * on the first, the head and layers of multi-token prediction on the last. A device's time is the sum over its virtual
 * stages, its memory the sum of its layers' bytes and of its fixed bytes.
 *
 * Where devices have several virtual stages, time and memory alone would put almost all layers of a device on its last
 * one, whose activations are held for the shortest time, and the pipeline would wait for it as if there were no virtual
 * stages. is_even looks at those splits alone where the numbers of layers on the virtual stages of one device differ by at
 * most one. With equal layers their slowest device is as fast as that of any split.
 *
 *   equal layers (one kind, or kinds that cost the same)     closed form: split_equal.c
 *   one virtual stage a device, any runs of layers           greedy, dynamic programming where that is not exact:
 *                                                            split_contiguous.c
 *   several virtual stages, and a few layers that are not    each way to lay those, and the closed form for the rest
 *   of the longest run (dense layers first)                  (2^(q - 1) ways for q layers on one side)
 *   several virtual stages and runs                          all splits where there are few, else a local search, which
 *                                                            is not exact: stage_split.c
 */
#ifndef KERF_COST_STAGE_SPLIT_H
#define KERF_COST_STAGE_SPLIT_H

#include "base/arena.h"
#include "cost/split_value.h"

struct stage_split {
    double largest_s;     /* of a device */
    double largest_bytes; /* of a device */
    int32_t is_exact;     /* 0: there may be a better split */
};

/* Fills ret_layers [num_stages]. 0 when memory ran out. There are at least as many layers as virtual stages. */
int stage_split_find(const struct stage_split_question *question, struct arena *arena, int32_t *ret_layers,
                     struct stage_split *ret_split);

/* No split has a smaller largest time of a device. Needs neither in_flight nor bytes; exact for equal layers. */
double stage_split_least_s(const struct stage_split_question *question, struct arena *arena);

#endif
