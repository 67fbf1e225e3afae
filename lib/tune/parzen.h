/* SPDX-License-Identifier: Apache-2.0 */
/* The tree-structured Parzen estimator of one parameter. */
#ifndef KERF_TUNE_PARZEN_H
#define KERF_TUNE_PARZEN_H

#include "base/random.h"

/* The index 0 .. num_values - 1 that is likelier among good [num_good] than among bad [num_bad], both indexes; work
 * [2 * num_values]. unordered: words, of which none is near another. */
int32_t parzen_suggest(int32_t num_values, int32_t unordered, const int32_t *good, int32_t num_good, const int32_t *bad,
                       int32_t num_bad, struct pcg64 *rng, double *work);

#endif
