/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run that takes far more or less than the one before it of the same setting is a hitch, or the machine has another
 * level by now. The same setting once more tells: where that comes out as far off, to the same side, a new level may
 * have begun, with the first of the two or with a run of a setting of which nothing was known before it.
 */
#include "tune/jumps.h"

#include <math.h>

static const double LEAST = 0.2, NOISES = 6; /* what is no noise: over a fifth, and so many standard deviations */

static void suspect(struct jumps *jumps, const struct jump_run *run) {
    jumps->suspected = 1;
    jumps->setting = run->setting;
    jumps->slot = run->slot;
    jumps->earliest = run->before < jumps->judged ? jumps->judged : run->before + 1;
    jumps->latest = run->index;
    jumps->expected = run->expected;
    jumps->off = run->y - run->expected;
}

int jumps_see(struct jumps *jumps, const struct jump_run *run) {
    if (run->index < jumps->judged || jumps->num == JUMPS_MOST) return 0;
    int is_second = jumps->suspected && jumps->setting == run->setting && jumps->slot == run->slot;
    double off = run->y - (is_second ? jumps->expected : run->expected);
    int is_odd = fabs(off) > fmax(LEAST, NOISES * run->noise);
    if (is_odd && !jumps->suspected) suspect(jumps, run);
    if (is_second) jumps->suspected = 0;
    return is_second && is_odd && off * jumps->off > 0;
}

int32_t jumps_level(const struct jumps *jumps, int32_t index) {
    int32_t level = 0;
    while (level < jumps->num && jumps->starts[level] <= index) level++;
    return level;
}
