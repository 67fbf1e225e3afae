/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step times in the log of a training run, as four frameworks print them:
 *
 *   Megatron-LM    " iteration  10/ 100 | ... | elapsed time per iteration (ms): 5432.1 | ..."
 *   NeMo           "Training epoch 0, iteration 5/99 | ... | train_step_timing in s: 3.453"
 *   torchtitan     "step: 10  loss: 8.1  memory: 41.9GiB(52%)  tps: 3,212  tflops: ..."   tokens/s of one accelerator
 *   nanotron       "iteration: 5 / 100 | ... | elapsed_time_per_iteration_ms: 11.3K | ..."
 *
 * (NVIDIA/Megatron-LM megatron/training/training.py, NVIDIA/NeMo, pytorch/torchtitan torchtitan/components/metrics.py,
 * huggingface/nanotron src/nanotron/trainer.py). The first tenth of the steps, at least two, warms up and does not count.
 */
#ifndef KERF_SCORE_STEP_LOG_H
#define KERF_SCORE_STEP_LOG_H

#include <stddef.h>
#include <stdint.h>
#include "kerf/error.h"

struct step_log {
    const char *framework; /* "Megatron-LM" */
    const char *stack;     /* of the runs that print so, where nothing says it better: "megatron-core" */
    double step_s;         /* the median; NAN where the log tells tokens */
    double tokens_per_s;   /* of one accelerator, the median; NAN where it tells times */
    double deviation;      /* half of the middle 68 %, as a share of the median */
    int32_t steps;         /* that count */
};

/* KERF_EINVALID: no framework's steps are in it, or too few; name: of the log, for errors. */
int32_t step_log_read(const char *text, size_t length, const char *name, struct step_log *ret_log,
                      struct kerf_error *err);

#endif
