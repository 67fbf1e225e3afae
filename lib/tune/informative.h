/* SPDX-License-Identifier: Apache-2.0 */
/* Which run tells most about a question that is answered by yes or no. */
#ifndef KERF_TUNE_INFORMATIVE_H
#define KERF_TUNE_INFORMATIVE_H

#include "tune/joint_draws.h"

/* The drawn setting whose next run tells most about `holds` [DRAWS]; index into draws->at, of those that `may` [num]
 * (NULL: all). A run is stopped at `cut`, on the model's scale. Where nothing tells anything the one that is least
 * known. */
int32_t most_informative(const struct joint_draws *draws, const unsigned char *holds, const unsigned char *may,
                         double cut);

#endif
