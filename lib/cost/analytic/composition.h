/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a layout's items make its stages, its pipeline, its step and the memory of its devices.
 *
 *   step = (pipeline + extras) * scale + fixed
 *
 * The pipeline is simulated (space->pipeliner). Extras are the slowest device's exposed gradient reduction and optimizer.
 * Parts of the step are means over the devices; what the slowest device needs beyond the mean is "imbalance", what the
 * pipeline takes beyond the slowest device's work "bubble".
 */
#ifndef KERF_COST_ANALYTIC_COMPOSITION_H
#define KERF_COST_ANALYTIC_COMPOSITION_H

#include "cost/analytic/analytic.h"

/* Parameters on a device, as tp, ep and etp say. */
struct composition_parameters {
    int64_t tp;
    int32_t ep, etp; /* 0: none yet */
    struct analytic_parameters kinds[KERF_KINDS_MAX], embedding, head, head_copy, mtp;
};

/* One layout at a time; arrays have room for the largest. */
struct composition {
    const struct analytic_device *device;
    const struct space *space;
    struct arena *arena; /* of the pipeline's simulation: reset for each */
    struct pipeliner_memory *pipelines;
    struct composition_parameters of_items;
    double scale;
    int32_t num_devices, num_stages, room;
    int32_t *device_of, *stage_layers;                                 /* [num_stages] */
    double *forward_s, *backward_input_s, *backward_weight_s;          /* [num_stages] */
    double *activation_bytes, *in_flight;                              /* [num_stages] */
    double *device_s, *device_backward_s;                              /* [num_devices] of one micro-batch */
    double *device_bytes, *peak_bytes;                                 /* [num_devices] */
    struct analytic_parameters *parameters;                            /* [num_devices] */
    int64_t layers[KERF_KINDS_MAX], recomputed_layers[KERF_KINDS_MAX]; /* of all stages; recomputed: of full:K */
    double latency_s, sender_s; /* sender_s: of all devices and one micro-batch */
    int64_t micro_batches;
    double makespan_s, bound_s; /* bound_s: as the pipeliner says */
};

/* Room for every layout of the space's problem; 0 when memory ran out. arena keeps it, scratch is for simulations. It is to
 * be ended whatever it returned. */
int composition_begin(struct composition *composition, const struct analytic_device *device, const struct space *space,
                      struct arena *arena, struct arena *scratch);

void composition_end(struct composition *composition);

/* The largest time that a device has at least for one micro-batch, whatever the split: for bounds. */
double composition_least_device_s(struct composition *composition, const struct kerf_layout *layout,
                                  const struct analytic_shape *shape);

/* Splits the layers (or takes layout->stage_layers) and sums the stages. 0 when memory ran out. */
int composition_lay(struct composition *composition, const struct kerf_layout *layout,
                    const struct analytic_shape *shape);

/* No schedule makes the step of what is laid shorter. */
double composition_least_step_s(const struct composition *composition, const struct kerf_layout *layout);

/* What the fullest device holds of what is laid, where that is known without simulation; -1: it is not, -2: memory ran
 * out. */
double composition_peak(struct composition *composition, const struct kerf_layout *layout,
                        const struct analytic_shape *shape);

/* Simulates the pipeline of what is laid. 0 when memory ran out. */
int composition_run(struct composition *composition, const struct kerf_layout *layout);

/* The step of what has run, and the memory of its fullest device. */
struct composition_result {
    double step_time_s, memory_bytes;
};
struct composition_result composition_result(const struct composition *composition, const struct kerf_layout *layout,
                                             const struct analytic_shape *shape);

/* The same in full, part by part; without the pipeline. */
void composition_describe(const struct composition *composition, const struct kerf_layout *layout,
                          const struct analytic_shape *shape, struct kerf_estimate *ret_estimate);

#endif
