/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which predicted parts a timer of Megatron-LM has (megatron/training/training.py, core/pipeline_parallel/schedules.py,
 * core/distributed): forward-backward is the pipeline, with everything in it; the reductions and gatherings behind it are
 * those that nothing hid.
 */
#include "score/explain.h"

#include <assert.h>
#include <math.h>

static void begin(const struct kerf_estimate *estimate, double measured_s, struct explanation *explanation) {
    *explanation = (struct explanation){.measured_s = measured_s,
                                        .predicted_s = estimate->step_time_s,
                                        .low_s = estimate->step_low_s,
                                        .high_s = estimate->step_high_s,
                                        .comparable_runs = estimate->comparable_runs};
}

static void add(struct explanation *explanation, const char *name, const char *from, double measured_s,
                double predicted_s, const char *cause) {
    if (isnan(measured_s)) return;
    assert(explanation->count < EXPLAIN_ROWS_MAX);
    explanation->rows[explanation->count++] = (struct explain_row){name, from, measured_s, predicted_s, cause};
}

/* The sum of those timers that there are; NAN: none is. */
static double sum_of(const struct timer_log *timers, const char *const *names) {
    double sum = NAN;
    for (; *names; names++) {
        double seconds = timer_log_find(timers, *names);
        if (!isnan(seconds)) sum = isnan(sum) ? seconds : sum + seconds;
    }
    return sum;
}

/* Seconds of one pass of all micro-batches on the busiest device. */
static double busiest_s(const struct kerf_pipeline *pipeline, int is_forward) {
    double most = 0;
    int32_t stages = pipeline->num_stages, devices = pipeline->devices;
    for (int32_t d = 0; d < devices; d++) {
        double sum = 0; /* stages go round the devices */
        for (int32_t s = d; s < stages; s += devices)
            sum += is_forward ? pipeline->forward_s[s] : pipeline->backward_input_s[s] + pipeline->backward_weight_s[s];
        if (sum > most) most = sum;
    }
    return most * pipeline->microbatches;
}

void explain_timers(const struct kerf_estimate *estimate, double measured_s, const struct timer_log *timers,
                    struct explanation *ret_explanation) {
    static const char *const reductions[] = {"all-grads-sync", "grads-reduce-scatter", "grads-all-reduce", NULL};
    static const char *const gatherings[] = {"params-all-gather", NULL};
    static const char *const tied[] = {"embedding-grads-all-reduce", "layernorm-grads-all-reduce", NULL};
    static const char *const steps[] = {"optimizer", NULL}, *const data[] = {"batch-generator", NULL};
    const struct kerf_parts *parts = &estimate->time_s;
    struct explanation *explanation = ret_explanation;
    begin(estimate, measured_s, explanation);
    if (timers->count == 0) return;
    double stretch = 1; /* stragglers hold up the pipeline */
    if (estimate->step_time_s > 0) stretch += kerf_part_value(parts, "stragglers") / estimate->step_time_s;
    double dp_s = kerf_part_value(parts, "dp");
    if (estimate->pipeline) {
        add(explanation, "forward passes", "forward-compute", timer_log_find(timers, "forward-compute"),
            busiest_s(estimate->pipeline, 1),
            "the device computes slower than others of its kind: clocks, power, another job, or kernels that are not "
            "fused");
        add(explanation, "backward passes", "backward-compute", timer_log_find(timers, "backward-compute"),
            busiest_s(estimate->pipeline, 0),
            "the same as for forward passes; or recomputation that the launch does not say");
    }
    add(explanation, "pipeline", "forward-backward", timer_log_find(timers, "forward-backward"),
        estimate->pipeline_s * stretch,
        "if the passes take as long as predicted, ranks wait: for a slow rank, an uneven stage or messages");
    add(explanation, "gradient reduction", "all-grads-sync, grads-reduce-scatter, grads-all-reduce",
        sum_of(timers, reductions), dp_s * 2 / 3,
        "it should hide behind the backward pass: --overlap-grad-reduce, and CUDA_DEVICE_MAX_CONNECTIONS as the "
        "release asks; "
        "or the network is slower than its cards");
    add(explanation, "parameter gathering", "params-all-gather", sum_of(timers, gatherings), dp_s / 3,
        "it should hide behind the forward pass: --overlap-param-gather");
    add(explanation, "shared gradients", "embedding-grads-all-reduce, layernorm-grads-all-reduce", sum_of(timers, tied),
        0, "a tied embedding on the first and the last stage; untying it saves this");
    add(explanation, "optimizer", "optimizer", sum_of(timers, steps), kerf_part_value(parts, "optimizer"),
        "the states are not sharded (--use-distributed-optimizer), or they lie in the host's memory");
    add(explanation, "data", "batch-generator", sum_of(timers, data), 0,
        "the data loader: --num-workers, or the file system");
}

static double median_sum(const struct kerf_trace_fit *fit, int kind) {
    double sum = 0;
    for (int32_t s = 0; s < fit->stages; s++) sum += fit->of_kind[kind][s].median_s;
    return sum;
}

int32_t explain_trace(const struct kerf_estimate *estimate, const struct kerf_trace *trace,
                      const struct kerf_trace_fit *fit, struct explanation *ret_explanation, struct kerf_error *err) {
    const struct kerf_pipeline *pipeline = estimate->pipeline;
    struct explanation *explanation = ret_explanation;
    const struct kerf_schedule *ran = trace->schedule;
    if (pipeline == NULL || pipeline->devices != fit->devices || pipeline->num_stages != fit->stages ||
        pipeline->microbatches != ran->microbatches)
        return kerf_error_set(
            err, KERF_EINVALID,
            "the trace has %d micro-batches through %d stages on %d devices, and the launch %d through %d on %d: they "
            "are of different runs",
            ran->microbatches, fit->stages, fit->devices, pipeline ? pipeline->microbatches : 1,
            pipeline ? pipeline->num_stages : 1, pipeline ? pipeline->devices : 1);
    if (trace->microbatches_complete < ran->microbatches)
        return kerf_error_set(err, KERF_EINVALID, "the trace is incomplete: of %d micro-batches %d are complete",
                              ran->microbatches, trace->microbatches_complete);
    begin(estimate, fit->measured_s, explanation);
    explanation->predicted_s = estimate->pipeline_s; /* a trace has the pipeline alone */
    explanation->low_s = estimate->step_low_s * estimate->pipeline_s / estimate->step_time_s;
    explanation->high_s = estimate->step_high_s * estimate->pipeline_s / estimate->step_time_s;
    double m = ran->microbatches, devices = fit->devices, forward = 0, backward = 0;
    for (int32_t s = 0; s < pipeline->num_stages; s++) {
        forward += pipeline->forward_s[s];
        backward += pipeline->backward_input_s[s] + pipeline->backward_weight_s[s];
    }
    double measured_forward = median_sum(fit, KERF_OP_F) * m / devices;
    double measured_backward =
        (median_sum(fit, KERF_OP_B) > 0 ? median_sum(fit, KERF_OP_B)
                                        : median_sum(fit, KERF_OP_I) + median_sum(fit, KERF_OP_W)) *
        m / devices;
    add(explanation, "forward passes", "F, the mean of the devices", measured_forward, forward * m / devices,
        "the device computes slower than others of its kind: clocks, power, another job, or kernels that are not "
        "fused");
    add(explanation, "backward passes", "B, or I and W", measured_backward, backward * m / devices,
        "the same as for forward passes; or recomputation that the launch does not say");
    add(explanation, "waiting", "the rest of the step", fit->measured_s - measured_forward - measured_backward,
        estimate->pipeline_s - (forward + backward) * m / devices,
        "the bubble, and whom it waits for: jitter, a slow rank, an uneven stage, messages");
    return KERF_OK;
}

const struct explain_row *explain_worst(const struct explanation *explanation) {
    const struct explain_row *worst = NULL;
    double most = 0.02 * explanation->measured_s;
    for (int32_t i = 0; i < explanation->count; i++) {
        const struct explain_row *row = &explanation->rows[i];
        if (row->measured_s - row->predicted_s > most) most = row->measured_s - row->predicted_s, worst = row;
    }
    return worst;
}
