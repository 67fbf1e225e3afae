/* SPDX-License-Identifier: Apache-2.0 */
/* A table of measured training runs. docs/runs.md is the manual of its columns. */
#ifndef KERF_SCORE_RUNS_H
#define KERF_SCORE_RUNS_H

#include <stddef.h>
#include <stdint.h>
#include "kerf/error.h"

enum run_precision { RUN_PRECISION_MISSING, RUN_FP16, RUN_BF16, RUN_FP8, RUN_MXFP8, RUN_NVFP4 };
enum run_recompute { RUN_RECOMPUTE_MISSING, RUN_NOTHING, RUN_SELECTIVE, RUN_MODULES, RUN_FULL };
enum run_attention { RUN_ATTENTION_MISSING, RUN_UNFUSED, RUN_FUSED_SOFTMAX, RUN_FLASH, RUN_FLASH1, RUN_FLASH2 };
enum run_status { RUN_OK, RUN_OOM, RUN_NO_KERNEL, RUN_SUSPECT };

enum { RUN_MISSING = -1, RUN_SEVERAL = -2 /* vpp ">1": interleaved, and nobody says how often */ };

/* A missing count is 0, a missing switch or ZeRO stage RUN_MISSING, a missing number NaN, a missing text "". */
struct run {
    int32_t line;    /* of the table, where the row begins */
    const char *why; /* it cannot be predicted because; NULL: it can */
    const char *id, *source, *provenance, *gpu, *framework, *model, *notes;
    int64_t gpus, gpus_per_node;
    int64_t layers, hidden, ffn, heads, kv_heads, vocab, experts, topk;
    int64_t seq, gbs, mbs, tp, pp, vpp, cp, ep, dp;
    int64_t glu, zero, seqpar;
    double params; /* parameters; the column has billions */
    enum run_precision precision;
    enum run_recompute recompute;
    enum run_attention attention;
    int32_t rms_kernel;  /* 1: the attention column names a fused RMS norm */
    struct {             /* never read by a prediction */
        const char *why; /* these cannot be used because; NULL: they can */
        double step_s, tflops_gpu, tok_s_gpu, mfu_pct, mem_gib;
        const char *tflops_kind;
        enum run_status status;
    } measured;
};

struct runs {
    struct run *rows;
    size_t count, refused; /* refused: rows with a why */
};

/* Reads a table that is already unpacked. Rows that cannot be understood stay in it with their why; an error is what makes
 * the whole table unreadable: no header, a column that is missing, unknown or there twice. */
int32_t runs_parse(const char *bytes, size_t size, const char *name, struct runs **ret_runs, struct kerf_error *err);
struct runs *runs_free(struct runs *runs);

/* The length of the name of the row's data set: its id before the last '-'. */
size_t run_set_length(const struct run *run);
int run_is_of_set(const struct run *run, const char *set);

#endif
