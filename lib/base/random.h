/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers that are those of NumPy's numpy.random.default_rng(seed), bit for bit: SeedSequence, PCG64, and of its
 * Generator integers below a bound, choice(n, n, replace=False) and normal.
 */
#ifndef KERF_BASE_RANDOM_H
#define KERF_BASE_RANDOM_H

#include "kerf/text.h"

struct pcg64 {
    unsigned __int128 state, increment;
    uint32_t has_uint32, uinteger; /* the upper half of the draw that the last 32 bits came from */
};

struct pcg64 random_seed(uint64_t seed);

uint64_t random_bits(struct pcg64 *rng);              /* 64 of them */
double random_double(struct pcg64 *rng);              /* in [0, 1) */
uint32_t random_to(struct pcg64 *rng, uint32_t most); /* uniform on 0 .. most */
double random_normal(struct pcg64 *rng, double mean, double sd);

/* The order in which choice(n, n, replace=False) takes n things: ret_order[0 .. n - 1]; taken is n bytes to work in. */
void random_order(struct pcg64 *rng, int32_t n, int32_t *ret_order, unsigned char *taken);

/* json.dumps(bit_generator.state): the text that Zeus's server keeps in Job.mab_random_generator_state. */
void random_write(const struct pcg64 *rng, struct kerf_text *out);
int32_t random_read(const char *text, struct pcg64 *ret_rng, struct kerf_error *err);

#endif
