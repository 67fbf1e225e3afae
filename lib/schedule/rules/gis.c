/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group-interleaved 1F1B of PipeOffload (Wan et al., PipeOffload: Improving Scalability of Pipeline Parallelism with
 * Memory Optimization, ICML 2025, arXiv 2503.01328; group_interleaved_1f1b.py in
 * sail-sg/zero-bubble-pipeline-parallelism): a building block of slots for g micro-batches (--group) repeats every 3 g v
 * slots, with F in one slot and I and its W in two. With k = ceil(ceil(p / 2) / g) and q = gcd(v, k), F of chunk a and
 * micro-batch j of the group is on device i in slot 3 k g a + 3 g floor(a / (v / q)) + 3 j + i; the first I is 3 (p - 1
 * - i) + 1 slots behind the last chunk's first F, and chunks follow each other back at the same distances. A device runs
 * its operations in the order of their slots. Activations are what F of one chunk holds until its W, so that the first
 * chunks hold long, and are what PipeOffload moves to the host.
 */
#include "schedule/rules/rule.h"

static int64_t divisor(int64_t a, int64_t b) { return b == 0 ? a : divisor(b, a % b); }

/* The slot of a micro-batch's F or I of a chunk. */
static int64_t slot_of(const struct builder *b, int32_t i, int32_t chunk, int back, int32_t microbatch) {
    const int64_t g = b->group ? b->group : 1, k = ((b->p + 1) / 2 + g - 1) / g, each = b->v / divisor(b->v, k);
    const int64_t place = back ? b->v - 1 - chunk : chunk, last = b->v - 1;
    const int64_t since =
        3 * k * g * place + 3 * g * (place / each) + 3 * (microbatch % g) + 3 * g * b->v * (microbatch / g);
    if (!back) return since + i;
    return 3 * k * g * last + 3 * g * (last / each) + i + 3 * (int64_t)(b->p - 1 - i) + 1 + since;
}

static void device(struct builder *b, int32_t i) {
    int32_t chunks = b->v, *next = b->scratch_count;
    for (int32_t lane = 0; lane < 2 * chunks; lane++) next[lane] = 0;
    for (int64_t left = 2 * (int64_t)chunks * b->m; left > 0; left--) {
        int32_t first = -1;
        int64_t least = 0;
        for (int32_t lane = 0; lane < 2 * chunks; lane++) {
            if (next[lane] == b->m) continue;
            const int64_t slot = slot_of(b, i, lane / 2, lane % 2, next[lane]);
            if (first >= 0 && slot >= least) continue;
            first = lane, least = slot;
        }
        add(b, i, first % 2 ? KERF_OP_I : KERF_OP_F, first / 2 * b->p + i, next[first]);
        if (first % 2) add(b, i, KERF_OP_W, first / 2 * b->p + i, next[first]);
        next[first]++;
    }
}

const struct rule rule_gis = {
    .shown =
        {
            .name = "gis",
            .summary = "group-interleaved 1f1b of PipeOffload: less memory than interleaved_1f1b",
            .bubble = "(p-1) (F+B) / v where group = p, group divides m; more with a smaller group",
            .memory = "at p = 8, v = 2: 6 to 8 by group; interleaved_1f1b 11.5",
            .source = "PipeOffload, arXiv 2503.01328",
        },
    .default_chunks = 2,
    .own_group = 1,
    .device = device,
};
