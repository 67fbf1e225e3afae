/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hanayo (Liu et al., Hanayo: Harnessing Wave-like Pipeline Parallelism, SC 23, arXiv 2308.15762): a model's stages go
 * down and up the devices in w waves, 2w chunks a device, so that one copy of the parameters does what Chimera's two do.
 * At most p micro-batches are under way. Of what can run a device takes the backward first, then the F of the deepest
 * stage.
 */
#include "schedule/rules/slot_list.h"

static int64_t priority(const void *context, const struct slot_op *op) {
    const int64_t far = (int64_t)1 << 40;
    (void)context;
    return op->back ? op->unit : far - ((int64_t)op->stage << 21) + op->unit;
}

static int32_t search(struct builder *builder, const struct kerf_schedule_request *request, struct kerf_error *err) {
    const struct slot_list list = {.in_flight = builder->p, .priority = priority};
    (void)request;
    return slot_list_run(builder, KERF_PLACE_V, &list, err);
}

const struct rule rule_hanayo = {
    .shown =
        {
            .name = "hanayo",
            .summary = "waves: down and up the devices several times, backwards first",
            .constraint = "an even number of chunks: two are a wave",
            .bubble = "less with each wave: idle 37, 24, 14 % with 1, 2, 4 waves where F = B = W, p = m = 8",
            .memory = "up to p",
            .source = "Hanayo, arXiv 2308.15762",
        },
    .placement = KERF_PLACE_V,
    .default_chunks = 4,
    .search = search,
};
