/* SPDX-License-Identifier: Apache-2.0 */
/* When the machine became faster or slower at once: a neighbour came or went, a clock was capped. */
#ifndef KERF_TUNE_JUMPS_H
#define KERF_TUNE_JUMPS_H

#include <stdint.h>

enum { JUMPS_MOST = 6 };

struct jumps {                  /* all zeros: none */
    int32_t starts[JUMPS_MOST]; /* [num] observations with which a new level begins, ascending */
    int32_t num;
    int32_t suspected; /* 1: the run `since` of `setting` came out as no noise explains */
    int32_t setting, since, slot;
    double expected, sign;
};

/* Observation `index` of a setting that was measured before came out as y on `slot`, and `expected` with noise of
 * this standard deviation; logarithms. 1: this shows that the machine has jumped, and the jump is noted. */
int jumps_see(struct jumps *jumps, int32_t index, int32_t setting, int32_t slot, double y, double expected,
              double noise);

/* On which level an observation lies, 0 .. num. */
int32_t jumps_level(const struct jumps *jumps, int32_t index);

#endif
