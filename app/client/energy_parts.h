/* SPDX-License-Identifier: Apache-2.0 */
/* What the meters tell energy.c: each adds up joules since it was opened. */
#ifndef KERF_CLIENT_ENERGY_PARTS_H
#define KERF_CLIENT_ENERGY_PARTS_H

#include "client/energy.h"

double energy_ticks_s(void);

struct nvml;
int32_t nvml_open(const char *gpus, struct nvml **ret_nvml, struct kerf_error *err);
double nvml_read_j(struct nvml *nvml);
int32_t nvml_count(const struct nvml *nvml);
void nvml_close(struct nvml *nvml);

struct rapl;
int32_t rapl_open(struct rapl **ret_rapl, struct kerf_error *err);
double rapl_read_j(struct rapl *rapl);
int32_t rapl_count(const struct rapl *rapl);
void rapl_close(struct rapl *rapl);

#endif
