/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded figures of the reference: vectors.csv, layers.csv and shapes.csv. */
#ifndef KERF_TESTS_VECTOR_FILE_H
#define KERF_TESTS_VECTOR_FILE_H

#include "kerf/kerf.h"

struct vector {
    struct kerf_problem problem;
    struct kerf_layout layout;
    int64_t candidates;                                /* 0: not recorded */
    double t, memory, flops, time[6], memory_parts[4]; /* s, GB, TFLOP */
};

struct layer_row {
    int32_t vector; /* counted from 1 */
    int32_t is_mlp;
    char name[16];
    double values[12]; /* flops, weights and activations in GB and TFLOP, times in s; the order of layers.csv */
};

/* Reads a whole file; fails the test that asks for it when there is something wrong. Give it back with free. */
struct vector *read_vectors(size_t *ret_count);
struct layer_row *read_layers(size_t *ret_count);

/* |a - b| relative to the larger. */
double relative_error(double a, double b);

#endif
