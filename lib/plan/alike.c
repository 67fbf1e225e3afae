/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the best layouts the model cannot tell apart. Of pairs of measured runs of one model, number of accelerators, batch
 * and precision that were predicted less than 5 % apart two of three are in the right order, of those 5 to 10 % apart four
 * of five, beyond that more than nine of ten (docs/accuracy.md).
 */
#include <assert.h>
#include "kerf/plan.h"

static const double ALIKE = 0.05;
enum { STEPS = 20, WARM_UP = 5 }; /* a step's noise of 2 % leaves 0.9 % of the difference of two means of 20 */

/* Of how many dimensions the layouts differ. */
static int32_t distance(const struct kerf_layout *a, const struct kerf_layout *b) {
    return (a->tp1 != b->tp1) + (a->cp != b->cp) + (a->pp != b->pp) + (a->dp != b->dp) + (a->ep != b->ep) +
           (a->etp != b->etp) + (a->zero != b->zero) + (a->micro_batch != b->micro_batch) +
           (a->recompute != b->recompute) + (a->vpp != b->vpp);
}

int32_t kerf_search_alike(const struct kerf_search *search, struct kerf_alike *ret_alike) {
    int32_t count = 0, other = 0, farthest = 0;
    if (search->problem.strategy != KERF_STRATEGY_HYBRID || search->num_plans < 2) return 0;
    double limit_s = search->plans[0].step_time_s * (1 + ALIKE);
    while (count < search->num_plans && search->plans[count].step_time_s <= limit_s) count++;
    if (count < 2) return 0;
    for (int32_t i = 1; i < count; i++) {
        int32_t far = distance(&search->plans[0].layout, &search->plans[i].layout);
        if (far > farthest) farthest = far, other = i;
    }
    if (other == 0) other = 1;
    assert(other < count);
    *ret_alike = (struct kerf_alike){
        .count = count,
        .within = ALIKE,
        .other = other + 1,
        .steps = STEPS,
        .seconds = (STEPS + WARM_UP) * (search->plans[0].step_time_s + search->plans[other].step_time_s),
    };
    return 1;
}
