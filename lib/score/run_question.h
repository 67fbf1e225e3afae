/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of a table as a question to the cost model: model, layout, and which constants it is priced with. What the table
 * leaves out is what the framework does by default; docs/runs.md has the list.
 */
#ifndef KERF_SCORE_RUN_QUESTION_H
#define KERF_SCORE_RUN_QUESTION_H

#include "base/arena.h"
#include "kerf/spec.h"
#include "score/runs.h"

/* Kernels whose efficiency is a device's own. */
enum job_attention { JOB_FUSED, JOB_FLASH2, JOB_FLASH, JOB_SOFTMAX, JOB_UNFUSED, JOB_ATTENTIONS };
enum job_precision { JOB_16, JOB_FP8, JOB_MXFP8, JOB_NVFP4, JOB_PRECISIONS };

struct job {
    const char *why;              /* it cannot be priced because; NULL: it can */
    const char *unknown;          /* the name of the row that the reason is about; NULL: none */
    struct kerf_problem *problem; /* without system and stack */
    struct kerf_layout layout;
    const char *system, *stack; /* their names */
    enum job_attention attention;
    enum job_precision precision;
    double recomputed; /* share of a layer's forward pass that is computed again, where recompute is full; else 1 */
    int8_t lacks_sequence_parallel, has_rms_kernel, has_experts;
    int8_t drops_tokens, is_balanced; /* of experts' routing */
    int8_t recompute_is_open;         /* nobody says what is computed again: whatever fits */
    int8_t is_out_of_memory;
};

/* Everything lives in the arena. 0 when memory ran out. */
int job_of_run(const struct run *run, struct arena *arena, struct job *ret_job);

#endif
