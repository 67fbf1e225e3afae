/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces - measured pipeline runs - as schedules and timelines: what draws or prints a simulated schedule does so for a
 * measured one, and what a trace says of times is what the simulator takes.
 *
 * Two kinds of files are read, one file a rank, also compressed (*.json.gz):
 *
 *   Megatron timers     event_times_PP{p}_VPP{v}_TPxCPxDP_rank_{a}_pp_rank_{r}_rank_{g}.json, which the timer patch of
 *                       Victarry/PP-Schedule-Visualization writes: one object with "forward-{mb}-start",
 *                       "backward-{mb}-end" and so on in milliseconds, with VPP "forward-{chunk}-{mb}-start", where
 *                       the stage is chunk * p + r. One step; the lowest TPxCPxDP rank stands for its replicas.
 *   PyTorch profiler    Chrome traces (*.json) with the ranges that torch.distributed.pipelining's runtime records:
 *                       "PP:1F3", "PP:(0F7;7B3)OVERLAP_F_B", ... in microseconds. Where a trace has them on the GPU
 *                       (gpu_user_annotation) these are taken, on the stream that has most of them, else those of the
 *                       CPU. Letters are those of today's PyTorch (B whole, I input, W weights) or older ones (B
 *                       input, BW whole, W), whichever the trace fits. Ranks that run the same stages are replicas, and
 *                       the lowest stands for them. A step ends where a ProfilerStep#N ends, or an operation comes
 *                       again. The single-stage schedules of PyTorch (ScheduleGPipe, Schedule1F1B) record no such
 *                       ranges.
 *
 * Clocks of machines differ. An operation cannot start before its inputs are made, which bounds the difference of two
 * clocks from both sides, since messages go both ways. Where the times as measured keep these bounds they are left as
 * they are; else each clock is shifted to the middle of what the bounds allow, which is right when messages take the
 * same time both ways. A clock that runs faster than another is not mended.
 *
 * A program:
 *
 *     #include <kerf/kerf.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *     int main(void) {
 *         struct kerf_trace_text rank = {"event_times_PP1_VPP1_TPxCPxDP_rank_0_pp_rank_0_rank_0.json",
 *                                        "{\"forward-0-start\": 0, \"forward-0-end\": 10,"
 *                                        " \"backward-0-start\": 10, \"backward-0-end\": 30}", 0};
 *         struct kerf_trace *trace;
 *         struct kerf_error err;
 *         rank.length = strlen(rank.text);
 *         if (kerf_trace_parse(&rank, 1, "run", -1, &trace, &err) != KERF_OK) return 1;
 *         printf("%s: %.0f ms\n", trace->source, 1e3 * trace->timeline->makespan_s);
 *         kerf_trace_free(trace);
 *         return 0;
 *     }
 *
 * It prints:
 *
 *     Megatron timers: 30 ms
 */
#ifndef KERF_TRACE_H
#define KERF_TRACE_H

#include "kerf/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading ---------------------------------------------------------------------------------------------- */

enum kerf_trace_clocks {
    KERF_CLOCKS_AGREE,     /* every operation starts after its inputs: times are as measured */
    KERF_CLOCKS_ALIGNED,   /* offset_s of each device was subtracted */
    KERF_CLOCKS_WAITS,     /* operations were recorded with the wait for their inputs, as on the CPU: it is cut off, so
                              that their messages seem to take no time */
    KERF_CLOCKS_CONTRADICT /* no offsets put every operation behind its inputs: times are as measured */
};

struct kerf_trace {
    /* Operations in the order of their starts, of incomplete micro-batches, too. With all of them complete it passes
     * kerf_schedule_check, unless the times have an operation before its own inputs on a device. */
    const struct kerf_schedule *schedule;
    const struct kerf_timeline *timeline; /* seconds from the first start; step_s is makespan_s */
    const char *source;                   /* "Megatron timers", "PyTorch profiler" */
    const char *notes;                    /* for people, a line each with its newline: what was missing, left out,
                                             shifted or overlaps; "" when nothing */
    int32_t steps;                        /* complete ones; 0: none is, and the fullest was taken */
    int32_t steps_left_out;               /* incomplete ones, with that which was taken for want of a complete one */
    int32_t step;                         /* which of the complete ones is taken, from 0; -1 when none is */
    int32_t step_number;                  /* N of its ProfilerStep#N; -1: it has none */
    const int32_t *rank_of;               /* [devices] the rank that the device is in the whole job */
    int32_t ranks_left_out;               /* replicas of those */
    int32_t microbatches_complete;        /* how many have all their operations, at least 1 */
    const int32_t *complete;              /* [microbatches] 1: it has */
    int32_t clocks;                       /* enum kerf_trace_clocks */
    const double *offset_s;               /* [devices] by how much a device's clock was ahead of device 0's */
};

/**
 * Reads a trace: a folder of such files, or one file that is all of it. step counts the complete steps from 0; -1
 * takes the one of median makespan, which is neither the warm-up nor the one that something disturbed. The trace is given
 * back with kerf_trace_free. KERF_EUNKNOWN when the files are of neither kind; KERF_EINVALID, with file, line and column,
 * when one is not what it should be, when a rank or stage is missing, when a step is asked for that there is not, or
 * when no micro-batch is complete.
 */
KERF_API int32_t kerf_trace_load(const char *path, int32_t step, struct kerf_trace **ret_trace, struct kerf_error *err);

/** The same from memory: the files that such a folder would have; name is the folder's, for errors. */
struct kerf_trace_text {
    const char *name; /* of the file */
    const char *text; /* [length] not compressed */
    size_t length;
};
KERF_API int32_t kerf_trace_parse(const struct kerf_trace_text *texts, size_t count, const char *name, int32_t step,
                                  struct kerf_trace **ret_trace, struct kerf_error *err);
KERF_API struct kerf_trace *kerf_trace_free(struct kerf_trace *trace); /* always NULL */

/* ---- What the trace says of times --------------------------------------------------------------------------- */

struct kerf_trace_spread {
    int32_t count;                  /* 0: the trace has none, and the rest is 0 */
    double low_s, median_s, high_s; /* quartiles */
};

struct kerf_trace_fit {
    /* For the simulator. Durations are medians by stage, of FB by its forward's stage. What a stage never ran: B is
     * I + W; I and W are half of B each; F and B of a stage that ran them only together are a third and two thirds of
     * FB; FB is F + B. overhead_s is the median pause before operations whose inputs were there long before, and no
     * more than the pause after which those began that had to wait for theirs; p2p_s is the rest of the latter. */
    const struct kerf_schedule_times *times;
    int32_t devices, stages;
    const struct kerf_trace_spread *of_kind[KERF_OP_MEASURED]; /* [stages] each */
    /* Latency, of the messages that an idle device waited for: from their maker's end to their user's start, or, where
     * PyTorch recorded receives on the GPU, to the receive's end. Median of the device pairs' medians, a pair's being
     * the mean of both directions, so that what is left of clock offsets cancels. times->p2p_of_s is set when a pair
     * differs from it by 5 % and by four standard errors. A pair whose messages were never waited for has the common
     * latency; in a trace without any it is the least pause between maker and user, which it is at most. The spread is
     * of all messages that were waited for, overhead included. */
    struct kerf_trace_spread p2p;
    double measured_s;  /* makespan */
    double simulated_s; /* of the trace's own order with times; NAN when micro-batches are incomplete */
    double residual;    /* simulated_s / measured_s - 1: what medians and a latency do not explain. Below 0 it is
                           jitter, stragglers or contention, which a simulation does not have. */
};

/** The fit is given back with kerf_trace_fit_free. KERF_ENOMEM alone. */
KERF_API int32_t kerf_trace_fit_make(const struct kerf_trace *trace, struct kerf_trace_fit **ret_fit,
                                     struct kerf_error *err);
KERF_API struct kerf_trace_fit *kerf_trace_fit_free(struct kerf_trace_fit *fit); /* always NULL */

#ifdef __cplusplus
}
#endif
#endif
