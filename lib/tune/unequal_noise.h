/* SPDX-License-Identifier: Apache-2.0 */
/* Noise that differs from setting to setting, by how well repeated runs were predicted. */
#ifndef KERF_TUNE_UNEQUAL_NOISE_H
#define KERF_TUNE_UNEQUAL_NOISE_H

#include <stdint.h>

/* The repeated runs of one setting. */
struct repeats {
    int32_t num;
    double squares; /* of z: how far each was from its prediction */
};

struct unequal {
    double chance; /* that noise differs */
    double scale;  /* of a setting's variance then, in variances of the model's noise */
};
struct unequal unequal_noise(const struct repeats *repeats, int32_t num);

/* Where it differs, the variance of a setting's noise in variances of the model's: by a normal number. */
double unequal_at(const struct unequal *unequal, const struct repeats *of, double normal);

#endif
