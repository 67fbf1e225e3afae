/* SPDX-License-Identifier: Apache-2.0 */
/* What measures: NVML and RAPL. Each adds up the joules since it was opened. */
#ifndef KERF_CLIENT_ENERGY_SOURCES_H
#define KERF_CLIENT_ENERGY_SOURCES_H

#include "kerf/error.h"

struct nvml;
/* gpus: "0,1" or UUIDs; NULL: those of $CUDA_VISIBLE_DEVICES, else all. KERF_EUNSUPPORTED: there is no NVML, or no GPU to
 * measure. KERF_EINVALID: a GPU that is not there or cannot be measured; nothing else may be measured in its place. */
int32_t nvml_open(const char *gpus, struct nvml **ret_nvml, struct kerf_error *err);
double nvml_read_j(struct nvml *nvml); /* NAN: a counter cannot be read now */
int32_t nvml_count(const struct nvml *nvml);
void nvml_close(struct nvml *nvml);

struct rapl;
int32_t rapl_open(struct rapl **ret_rapl, struct kerf_error *err);
double rapl_read_j(struct rapl *rapl); /* the same */
int32_t rapl_count(const struct rapl *rapl);
void rapl_close(struct rapl *rapl);

#endif
