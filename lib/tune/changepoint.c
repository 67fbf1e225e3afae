/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run that takes far more or less than the one before it of the same setting is a hitch, or the machine is on
 * another level by now. The same setting once more tells: where that is as far off, to the same side, a new level may
 * have begun, with the first of the two or with a run of a setting of which nothing was known before it. Which of these
 * it was, if any, is judged by the evidence (surface_update.c).
 */
#include "tune/changepoint.h"

#include <assert.h>
#include <math.h>

static const double LEAST = 0.2, NOISES = 6; /* not noise: over a fifth, and so many standard deviations */

static void suspect(struct changepoints *changepoints, const struct changepoint_run *run) {
    changepoints->suspected = 1;
    changepoints->setting = run->setting;
    changepoints->slot = run->slot;
    changepoints->earliest = run->before < changepoints->judged ? changepoints->judged : run->before + 1;
    changepoints->latest = run->index;
    changepoints->expected = run->expected;
    changepoints->off = run->y - run->expected;
    assert(changepoints->earliest <= changepoints->latest);
}

int changepoint_look(struct changepoints *changepoints, const struct changepoint_run *run) {
    assert(run->before < run->index);
    if (run->index < changepoints->judged || changepoints->num == CHANGEPOINTS_MAX) return 0;
    int is_second = changepoints->suspected && changepoints->setting == run->setting && changepoints->slot == run->slot;
    double off = run->y - (is_second ? changepoints->expected : run->expected);
    int is_odd = fabs(off) > fmax(LEAST, NOISES * run->noise);
    if (is_odd && !changepoints->suspected) suspect(changepoints, run);
    if (is_second) changepoints->suspected = 0;
    return is_second && is_odd && off * changepoints->off > 0;
}

int32_t changepoint_level(const struct changepoints *changepoints, int32_t index) {
    int32_t level = 0;
    while (level < changepoints->num && changepoints->starts[level] <= index) {
        assert(level == 0 || changepoints->starts[level - 1] < changepoints->starts[level]);
        level++;
    }
    return level;
}
