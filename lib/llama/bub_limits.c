/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search space and the number of trials of best_bub (its estimate_model_precision, estimate_max_batch_size and
 * setup of the study), by which `kerf bub` bounds its own:
 *     bits      = 8 file / (v e + L (4 e^2 + 4 e f)), or 32 where the divisor is 0
 *     max_batch = min((memory - file) / (e L bits / 8), context), a whole number of 0 or more
 *     batches 2^4 .. max_batch, ubatches 2^1 .. the largest batch
 *     trials    = max(min(10, p), min(5 log2 p, p)), p = batches x half the ubatches: best_bub swaps its two ranges
 *                 when it counts them, and so does this
 */
#include <math.h>

#include "kerf/llama.h"

enum { BATCH_MIN_EXPONENT = 4, UBATCH_MIN_EXPONENT = 1, CHUNKS_MIN = 5 };

static double bits_of(const struct kerf_gguf *g) {
    double e = (double)g->embedding_length, f = (double)g->feed_forward_length;
    double weights = (double)g->vocab_size * e + (double)g->block_count * (4 * e * e + 4 * e * f);
    return weights > 0 ? 8 * (double)g->file_bytes / weights : 32;
}

/* int.bit_length() - 1; -1 of 0. */
static int32_t exponent(int64_t n) {
    int32_t e = -1;
    for (; n > 0; n >>= 1) e++;
    return e;
}

static int64_t trials_of(int64_t batches, int64_t ubatches) {
    int64_t pairs = batches * (ubatches / 2);
    if (pairs < 1) return 0;
    int64_t wanted = (int64_t)(5 * log2((double)pairs)), least = pairs < 10 ? pairs : 10;
    if (wanted > pairs) wanted = pairs;
    return wanted > least ? wanted : least;
}

int32_t kerf_bub_limits_estimate(const struct kerf_gguf *g, int64_t context, double memory_bytes, int32_t imatrix,
                                 struct kerf_bub_limits *ret_limits, struct kerf_error *err) {
    if (context < 1) return kerf_error_set(err, KERF_EINVALID, "the context must be 1 token or more");
    if (!(memory_bytes >= 0 && isfinite(memory_bytes)))
        return kerf_error_set(err, KERF_EINVALID, "the memory must be a number of bytes, not %g", memory_bytes);
    if (g->embedding_length < 1 || g->block_count < 1)
        return kerf_error_set(err, KERF_EINVALID, "the model (%s) does not say its embedding_length or block_count",
                              g->architecture);
    struct kerf_bub_limits limits = {.bits = bits_of(g)};
    double token = (double)g->embedding_length * (double)g->block_count * limits.bits / 8;
    double most = floor(fmax(0, memory_bytes - (double)g->file_bytes) / token);
    limits.max_batch = most < (double)context ? (int64_t)most : context;
    limits.batch_exponents[0] = BATCH_MIN_EXPONENT;
    limits.batch_exponents[1] = exponent(limits.max_batch);
    limits.ubatch_exponents[0] = UBATCH_MIN_EXPONENT;
    limits.ubatch_exponents[1] = limits.batch_exponents[1];
    int32_t trained = exponent(g->context_length);
    if (imatrix && trained < limits.ubatch_exponents[1]) limits.ubatch_exponents[1] = trained;
    int64_t batches = limits.batch_exponents[1] - BATCH_MIN_EXPONENT + 1;
    int64_t ubatches = limits.ubatch_exponents[1] - UBATCH_MIN_EXPONENT + 1;
    if (batches > 0 && ubatches > 0) {
        limits.trials = trials_of(batches, ubatches);
        double largest = ldexp(1, limits.batch_exponents[1]);
        limits.chunks = imatrix ? CHUNKS_MIN : (int64_t)fmax(CHUNKS_MIN, ceil(largest / (double)context));
    }
    *ret_limits = limits;
    return KERF_OK;
}
