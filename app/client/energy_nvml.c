/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML, which comes with NVIDIA's driver and is opened where it is; the prototypes are of its documented interface.
 * Since Volta a GPU counts its millijoules; the power of older ones is summed up between readings (trapezoids).
 *
 * A GPU that is to be used and cannot be measured is an error: the energy of something else would be taken for its own.
 * Such are a MIG instance, which has no counter, and a name that NVML does not know.
 */
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "client/energy.h"

enum { NVML_SUCCESS = 0, NVML_NOT_FOUND = 6 };
typedef struct nvmlDevice_st *nvml_device;

#define FUNCTIONS(X)                                                                                                   \
    X(int, Init_v2, (void))                                                                                            \
    X(int, Shutdown, (void))                                                                                           \
    X(int, DeviceGetCount_v2, (unsigned *))                                                                            \
    X(int, DeviceGetHandleByIndex_v2, (unsigned, nvml_device *))                                                       \
    X(int, DeviceGetHandleByUUID, (const char *, nvml_device *))                                                       \
    X(int, DeviceGetTotalEnergyConsumption, (nvml_device, unsigned long long *))                                       \
    X(int, DeviceGetPowerUsage, (nvml_device, unsigned *))                                                             \
    X(const char *, ErrorString, (int))

struct api {
#define DECLARE(type, name, arguments) type(*name) arguments;
    FUNCTIONS(DECLARE)
#undef DECLARE
};

struct gpu {
    nvml_device device;
    int counts;                 /* 1: millijoules, 0: only its power is known */
    unsigned long long last_mj; /* of the counter */
    double last_w, last_s;      /* of the power */
};

struct nvml {
    struct api api;
    void *handle;
    int is_begun;
    struct gpu *gpus;
    int32_t count;
    double sum_j;
};

static int32_t fail(const struct nvml *nvml, const char *what, int status, struct kerf_error *err) {
    const char *words = nvml->api.ErrorString(status);
    return kerf_error_set(err, KERF_EUNSUPPORTED, "%s: %.80s", what, words ? words : "?");
}

static int32_t open_library(struct nvml *nvml, struct kerf_error *err) {
    nvml->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml->handle == NULL) return kerf_error_set(err, KERF_EUNSUPPORTED, "no libnvidia-ml.so.1");
#define LOOK_UP(type, name, arguments)                                                                                 \
    if ((nvml->api.name = (type(*) arguments)dlsym(nvml->handle, "nvml" #name)) == NULL)                               \
        return kerf_error_set(err, KERF_EUNSUPPORTED, "libnvidia-ml.so.1 lacks nvml" #name);
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    int status = nvml->api.Init_v2();
    if (status != NVML_SUCCESS) return fail(nvml, "nvmlInit", status, err);
    nvml->is_begun = 1;
    return KERF_OK;
}

/* ---- Which GPUs --------------------------------------------------------------------------------------------- */

static int32_t cannot_measure(const struct nvml *nvml, const char *name, int status, struct kerf_error *err) {
    int is_mig = strncmp(name, "MIG-", 4) == 0;
    return kerf_error_set(err, KERF_EINVALID, "the energy of GPU '%.60s' cannot be measured: %.60s; %s", name,
                          nvml->api.ErrorString(status),
                          is_mig ? "a MIG instance has no counter of its own: --gpus NUMBER measures the whole GPU"
                                 : "--gpus, --meter rapl and --power WATTS measure something else");
}

static int32_t add_gpu(struct nvml *nvml, nvml_device device, const char *name, struct kerf_error *err) {
    struct gpu gpu = {.device = device, .last_s = clock_ticks_s()};
    unsigned power_mw = 0;
    for (int32_t i = 0; i < nvml->count; i++)
        if (nvml->gpus[i].device == device)
            return kerf_error_set(err, KERF_EINVALID, "GPU '%.60s' is named twice", name);
    gpu.counts = nvml->api.DeviceGetTotalEnergyConsumption(device, &gpu.last_mj) == NVML_SUCCESS;
    int status = gpu.counts ? NVML_SUCCESS : nvml->api.DeviceGetPowerUsage(device, &power_mw);
    if (status != NVML_SUCCESS) return cannot_measure(nvml, name, status, err);
    gpu.last_w = power_mw * 1e-3;
    struct gpu *gpus = realloc(nvml->gpus, ((size_t)nvml->count + 1) * sizeof *gpus);
    if (gpus == NULL) return error_no_memory(err, "a meter");
    nvml->gpus = gpus;
    nvml->gpus[nvml->count++] = gpu;
    return KERF_OK;
}

static int32_t add_all(struct nvml *nvml, struct kerf_error *err) {
    unsigned count = 0;
    int status = nvml->api.DeviceGetCount_v2(&count);
    if (status != NVML_SUCCESS) return fail(nvml, "nvmlDeviceGetCount", status, err);
    if (count == 0) return kerf_error_set(err, KERF_EUNSUPPORTED, "no GPUs");
    for (unsigned i = 0; i < count; i++) {
        nvml_device device = NULL;
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        status = nvml->api.DeviceGetHandleByIndex_v2(i, &device);
        int32_t code =
            status == NVML_SUCCESS ? add_gpu(nvml, device, name, err) : cannot_measure(nvml, name, status, err);
        if (code != KERF_OK) return code;
    }
    return KERF_OK;
}

/* A number, as nvidia-smi counts, or a UUID. */
static int32_t add_named(struct nvml *nvml, const char *name, struct kerf_error *err) {
    nvml_device device = NULL;
    int status = NVML_NOT_FOUND;
    size_t digits = strspn(name, "0123456789");
    unsigned long index = strtoul(name, NULL, 10);
    if (name[digits] != 0)
        status = nvml->api.DeviceGetHandleByUUID(name, &device);
    else if (digits > 0 && index < UINT_MAX)
        status = nvml->api.DeviceGetHandleByIndex_v2((unsigned)index, &device);
    if (status == NVML_SUCCESS) return add_gpu(nvml, device, name, err);
    return kerf_error_set(err, KERF_EINVALID,
                          "NVML knows no GPU '%.60s': %.60s; `nvidia-smi -L` lists numbers and whole UUIDs", name,
                          nvml->api.ErrorString(status));
}

static int32_t add_list(struct nvml *nvml, const char *list, struct kerf_error *err) {
    char *copy = strdup(list), *rest = copy, *name;
    int32_t code = copy ? KERF_OK : error_no_memory(err, "a meter");
    while (code == KERF_OK && (name = strsep(&rest, ",")) != NULL) {
        name += strspn(name, " ");
        name[strcspn(name, " ")] = 0;
        code = add_named(nvml, name, err);
    }
    free(copy);
    return code;
}

/* CUDA uses the devices up to the first -1; Slurm says NoDevFiles to a job without GPUs. */
static int hides_all(const char *visible) {
    return visible[0] == 0 || visible[0] == '-' || strcmp(visible, "NoDevFiles") == 0;
}

int32_t nvml_open(const char *gpus, struct nvml **ret_nvml, struct kerf_error *err) {
    struct nvml *nvml = calloc(1, sizeof *nvml);
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (nvml == NULL) return error_no_memory(err, "a meter");
    int32_t code = open_library(nvml, err);
    if (code == KERF_OK && gpus == NULL && visible && hides_all(visible))
        code = kerf_error_set(err, KERF_EUNSUPPORTED, "CUDA_VISIBLE_DEVICES hides all GPUs");
    if (gpus == NULL) gpus = visible;
    if (code == KERF_OK) code = gpus ? add_list(nvml, gpus, err) : add_all(nvml, err);
    if (code == KERF_OK)
        *ret_nvml = nvml;
    else
        nvml_close(nvml);
    return code;
}

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* NAN: it cannot be read now; the next reading makes up for it. */
static double more_j(const struct api *api, struct gpu *gpu, double now_s) {
    unsigned long long now_mj;
    unsigned power_mw;
    if (gpu->counts) {
        if (api->DeviceGetTotalEnergyConsumption(gpu->device, &now_mj) != NVML_SUCCESS) return NAN;
        double more =
            now_mj >= gpu->last_mj ? (double)(now_mj - gpu->last_mj) * 1e-3 : 0; /* else the driver began anew */
        gpu->last_mj = now_mj;
        return more;
    }
    if (api->DeviceGetPowerUsage(gpu->device, &power_mw) != NVML_SUCCESS) return NAN;
    double now_w = power_mw * 1e-3;
    double more = 0.5 * (now_w + gpu->last_w) * (now_s - gpu->last_s);
    gpu->last_w = now_w;
    gpu->last_s = now_s;
    return more;
}

double nvml_read_j(struct nvml *nvml, double now_s) {
    int fails = 0;
    for (int32_t i = 0; i < nvml->count; i++) {
        double more = more_j(&nvml->api, &nvml->gpus[i], now_s);
        fails |= isnan(more);
        if (!isnan(more)) nvml->sum_j += more;
    }
    return fails ? NAN : nvml->sum_j;
}

int32_t nvml_count(const struct nvml *nvml) { return nvml->count; }

void nvml_close(struct nvml *nvml) {
    if (nvml == NULL) return;
    if (nvml->is_begun) nvml->api.Shutdown();
    if (nvml->handle) dlclose(nvml->handle);
    free(nvml->gpus);
    free(nvml);
}
