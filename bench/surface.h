/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces to tune on, recorded or made up, and programs that behave like them. */
#ifndef KERF_BENCH_SURFACE_H
#define KERF_BENCH_SURFACE_H

#include "base/random.h"
#include "kerf/tune.h"

enum { SURFACE_NOISES = 4096 };

struct surface {
    char name[64];
    struct kerf_tune_space *space; /* batch, ubatch; the default is the largest batch with ubatch 512 */
    double *truth, *regret;        /* [num_settings] */
    double best;
    double between[SURFACE_NOISES], within[SURFACE_NOISES]; /* of contexts, and inside of one, around 1 */
    int32_t num_between, num_within;
    int32_t least_ubatch;  /* the smallest within 5 % */
    double *slow, *others; /* [num_slow] recorded: wall over processor time; processors that others used */
    int32_t num_slow;
};

/* From the CSV of a recording, ".csv" or ".csv.gz". 0: it cannot be read. */
int surface_read(struct surface *surface, const char *path, const char *column);

/* Relative times by micro-batch, 2, 4, 8, ...; all batches are alike but for a little. tail: how heavy the tails of the
 * noise are, in degrees of freedom. */
void surface_make(struct surface *surface, const char *name, const double *by_ubatch, int32_t num_ubatches,
                  double between, double within, double tail, uint64_t seed);

/* One of a family: valleys with kinks, plateaus, bowls, by the seed. */
void surface_random(struct surface *surface, uint64_t seed);
enum few { FEW_TWO, FEW_WORDS, FEW_LINE };

/* Few settings and normal noise of this size: two numbers, eight words, or eleven numbers along a bowl, by the seed. */
void surface_few(struct surface *surface, int32_t kind, double noise, uint64_t seed);
void surface_free(struct surface *surface);

enum drift { DRIFT_NONE, DRIFT_RAMP, DRIFT_STEPS, DRIFT_INTERFERENCE, DRIFT_SPIKES, DRIFT_SLOWED };

struct program {
    const struct surface *surface;
    struct pcg64 rng;
    double clock, ar, step, context;
    int32_t drift, slow_at, last, one_context;
    double busy; /* processors that others used in the last run */
};

void program_start(struct program *program, const struct surface *surface, int32_t drift, uint64_t seed);
struct kerf_tune_observation program_run(struct program *program, int32_t setting, double limit);

#endif
