/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run that takes far more or less than is known of its setting is a hitch, or the machine has another level by now.
 * The same setting once more tells: where that comes out as far off, to the same side, a new level has begun with the
 * first of the two.
 */
#include "tune/jumps.h"

#include <math.h>

static const double LEAST = 0.2, NOISES = 6; /* what is no noise: over a fifth, and so many standard deviations */

int jumps_see(struct jumps *jumps, int32_t index, int32_t setting, int32_t slot, double y, double expected,
              double noise) {
    int is_second = jumps->suspected && jumps->setting == setting && jumps->slot == slot;
    double off = y - (is_second ? jumps->expected : expected);
    int is_odd = fabs(off) > fmax(LEAST, NOISES * noise);
    if (is_second) {
        jumps->suspected = 0;
        if (!is_odd || off * jumps->sign < 0 || jumps->num == JUMPS_MOST) return 0;
        jumps->starts[jumps->num++] = jumps->since;
        return 1;
    }
    if (is_odd && !jumps->suspected) {
        jumps->suspected = 1;
        jumps->setting = setting;
        jumps->slot = slot;
        jumps->since = index;
        jumps->expected = expected;
        jumps->sign = off;
    }
    return 0;
}

int32_t jumps_level(const struct jumps *jumps, int32_t index) {
    int32_t level = 0;
    while (level < jumps->num && jumps->starts[level] <= index) level++;
    return level;
}
