/* SPDX-License-Identifier: Apache-2.0 */
/* The surfaces of bench/rough: what a setting of a machine and program truly takes, and how much runs of it differ. */
#ifndef KERF_BENCH_ROUGH_SURFACES_H
#define KERF_BENCH_ROUGH_SURFACES_H

#include <stdint.h>

enum { PARAMS_MAX = 30 };

/* value[k]: the integer of parameter k, or the index of its word; of a flag 0 or 1. */
typedef double (*surface)(const double *value, int32_t num);

enum noise { PLAIN, HEAVY, MODES, UNEQUAL, SKEW, DRIFT };

struct rough {
    const char *name, *params[PARAMS_MAX];
    surface surface; /* NULL: each study has one of its own */
    double noise;
    int32_t kind, is_own; /* is_own: of this bench alone, not of the contract */
};

extern const struct rough rough_cases[];
extern const int32_t rough_num_cases;

/* What a setting takes; seed: of the study, where each has a surface of its own. */
double rough_value(const struct rough *rough, const double *value, int32_t num, uint64_t seed);

/* What is known of a case's machine: "22,44,88" processors of a node, cores, processors; NULL: nothing. */
const char *rough_sizes(const struct rough *rough);

/* From 0 to 1, the same for each x. */
double rough_unit(uint64_t x);

#endif
