/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy that this machine takes: of its GPUs by NVML, else of its processors by RAPL (Linux's powercap), or a
 * constant power. It counts from energy_open on.
 */
#ifndef KERF_CLIENT_ENERGY_H
#define KERF_CLIENT_ENERGY_H

#include "kerf/error.h"

struct energy_meter;

enum energy_source {
    ENERGY_AUTO, /* NVML where there is a GPU, else RAPL */
    ENERGY_NVML,
    ENERGY_RAPL,
    ENERGY_NONE /* nothing is measured: 0 J */
};

struct energy_options {
    enum energy_source source;
    const char *gpus; /* for NVML: "0,1" or UUIDs; NULL: those in $CUDA_VISIBLE_DEVICES, else all */
    double power_w;   /* above 0: this power is assumed, and nothing is measured */
};

/* KERF_EUNSUPPORTED: there is nothing to measure with, and err says why. KERF_EINVALID: a GPU that is to be used is not
 * there or cannot be measured. */
int32_t energy_open(const struct energy_options *options, struct energy_meter **ret_meter, struct kerf_error *err);
void energy_close(struct energy_meter *meter); /* NULL is fine */

/* Joules up to now_s (clock_ticks_s). To be called at least every few seconds: counters wrap around, and some GPUs tell
 * their power alone, which is summed up here. NAN: a counter cannot be read now. */
double energy_read_j(struct energy_meter *meter, double now_s);

/* "NVML, 2 GPUs" */
const char *energy_words(const struct energy_meter *meter);

/* ---- What measures: NVML and RAPL; each adds up the joules since it was opened --------------------------------- */

struct nvml;
/* gpus: "0,1" or UUIDs; NULL: those of $CUDA_VISIBLE_DEVICES, else all. KERF_EUNSUPPORTED: there is no NVML, or no
 * GPU to measure. KERF_EINVALID: a GPU that is not there or cannot be measured; nothing else may be measured in its
 * place. */
int32_t nvml_open(const char *gpus, struct nvml **ret_nvml, struct kerf_error *err);
double nvml_read_j(struct nvml *nvml, double now_s); /* NAN: a counter cannot be read now */
int32_t nvml_count(const struct nvml *nvml);
void nvml_close(struct nvml *nvml);

struct rapl;
int32_t rapl_open(struct rapl **ret_rapl, struct kerf_error *err);
double rapl_read_j(struct rapl *rapl); /* the same */
int32_t rapl_count(const struct rapl *rapl);
void rapl_close(struct rapl *rapl);

#endif
