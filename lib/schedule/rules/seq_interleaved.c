/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interleaved 1F1B over slices of each micro-batch's sequence: Seq1F1B-I (Sun et al., arXiv 2406.03488; thunlp/Seq1F1B,
 * schedules.py) and SlimPipe (Li et al., arXiv 2504.14519).
 *
 * Slices take the place of micro-batches. All m k of them go forward in groups of p: chunk 0 of the group, then chunk 1,
 * and so on. Backwards go through the chunks from the last to the first, and in each chunk through the slices of a
 * micro-batch in reverse, because a slice attends to those before it. So the first backward follows the whole first
 * micro-batch: with its last slice at place w in the order of the forwards, device i starts with w + 2 (p - 1 - i)
 * forwards. 2 for each device, so that all devices have forwards at a time, and backwards: SlimPipe's devices then
 * exchange keys and values, and each does the same part of the attention of the slices at hand.
 */
#include "base/error_fill.h"
#include "schedule/rules/rule.h"

/* Where a device is in its list of forwards or backwards. */
struct walk {
    int64_t group_start; /* in slices of all micro-batches */
    int32_t chunk, in_group;
};

static void add_next(struct builder *b, int32_t i, enum kerf_op_kind kind, struct walk *walk) {
    const int64_t unit = walk->group_start + walk->in_group;
    const int32_t microbatch = (int32_t)(unit / b->slices), slice = (int32_t)(unit % b->slices);
    const int back = kind != KERF_OP_F;
    const int32_t chunk = back ? b->v - 1 - walk->chunk : walk->chunk;
    add_slice(b, i, kind, chunk * b->p + i, microbatch, back ? b->slices - 1 - slice : slice);
    if (++walk->in_group < b->p) return;
    walk->in_group = 0;
    if (++walk->chunk < b->v) return;
    walk->chunk = 0;
    walk->group_start += b->p;
}

/* The place of the first micro-batch's last slice, in its last chunk. */
static int64_t last_of_first(const struct builder *b) {
    const int64_t last = b->slices - 1;
    return last / b->p * b->p * b->v + (int64_t)(b->v - 1) * b->p + last % b->p;
}

static void device(struct builder *b, int32_t i) {
    struct walk forward = {0, 0, 0}, backward = {0, 0, 0};
    const int64_t all = (int64_t)b->m * b->v * b->slices;
    int64_t warm_up = last_of_first(b) + 2 * (int64_t)(b->p - 1 - i);
    if (warm_up > all) warm_up = all;
    for (int64_t j = 0; j < warm_up; j++) add_next(b, i, KERF_OP_F, &forward);
    for (int64_t j = 0; j < all; j++) {
        if (warm_up + j < all) add_next(b, i, KERF_OP_F, &forward);
        add_next(b, i, KERF_OP_B, &backward);
    }
}

/* ---- seq1f1b_interleaved --------------------------------------------------------------------------------------- */

static int32_t interleaved_check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    const int32_t p = request->devices, m = request->microbatches, k = request->slices ? request->slices : p;
    if (p % k != 0 && k % p != 0)
        return kerf_error_set(err, KERF_EINVALID,
                              "seq1f1b_interleaved needs slices that divide p = %d, or a multiple of it, not %d", p, k);
    if ((int64_t)m * k % p == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID,
                          "seq1f1b_interleaved needs a multiple of p / slices = %d micro-batches, such as %d, not %d",
                          p / k, m / (p / k) * (p / k) + p / k, m);
}

const struct rule rule_seq1f1b_interleaved = {
    .shown =
        {
            .name = "seq1f1b_interleaved",
            .summary = "seq1f1b over v chunks a device",
            .constraint = "k slices divide p, or p divides k; m k a multiple of p",
            .bubble = "(p-1) s / (v k)",
            .memory = "((v-1) max(p, k) + k + 2p - 2) / (v k)",
            .source = "Seq1F1B-I, arXiv 2406.03488; thunlp/Seq1F1B",
        },
    .default_chunks = 2,
    .default_slices = 1,
    .slices_by_device = 1,
    .check = interleaved_check,
    .device = device,
};

/* ---- slimpipe -------------------------------------------------------------------------------------------------- */

static int32_t slimpipe_check(const struct kerf_schedule_request *request, struct kerf_error *err) {
    const int32_t p = request->devices, k = request->slices;
    if (k % p == 0) return KERF_OK;
    return kerf_error_set(err, KERF_EINVALID, "slimpipe needs a multiple of p = %d slices, such as %d, not %d", p,
                          k / p * p + p, k);
}

const struct rule rule_slimpipe = {
    .shown =
        {
            .name = "slimpipe",
            .summary = "even slices whose attention the devices share: about one micro-batch held",
            .constraint = "slices a multiple of p",
            .bubble = "(p-1) s / (v k)",
            .memory = "1 + 2 (p-1) / (v k)",
            .source = "SlimPipe, arXiv 2504.14519",
        },
    .default_chunks = 1,
    .default_slices = 1,
    .slices_by_device = 1,
    .slice_cut = KERF_SLICE_CUT_EXCHANGED,
    .check = slimpipe_check,
    .device = device,
};
