/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML for tests. In the folder $FAKE_NVML the file gpuN.mj holds the millijoules of GPU N, or gpuN.mw its milliwatts
 * where it has no counter, or gpuN.none where it says neither; scripts write what they like there. MIG-1 is a MIG instance, which has neither.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, NOT_FOUND = 6, NOT_SUPPORTED = 3, DRIVER_NOT_LOADED = 9, MOST = 8, MIG = MOST };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *ret_count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret_device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret_device);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret_mj);
int nvmlDeviceGetPowerUsage(void *device, unsigned *ret_mw);
int nvmlDeviceGetUUID(void *device, char *ret_uuid, unsigned size);
const char *nvmlErrorString(int status);

static char devices[MOST + 1]; /* their addresses are the handles */

static int read_file(long gpu, const char *ending, unsigned long long *ret_number) {
    char path[512];
    const char *folder = getenv("FAKE_NVML");
    snprintf(path, sizeof path, "%.400s/gpu%ld.%s", folder ? folder : ".", gpu, ending);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    int there = fscanf(file, "%llu", ret_number) == 1;
    fclose(file);
    return there;
}

static int exists(long gpu) {
    unsigned long long number;
    return read_file(gpu, "mj", &number) || read_file(gpu, "mw", &number) || read_file(gpu, "none", &number);
}

int nvmlInit_v2(void) { return getenv("FAKE_NVML") ? SUCCESS : DRIVER_NOT_LOADED; }
int nvmlShutdown(void) { return SUCCESS; }

int nvmlDeviceGetCount_v2(unsigned *ret_count) {
    for (*ret_count = 0; *ret_count < MOST && exists(*ret_count);) ++*ret_count;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret_device) {
    if (index >= MOST || !exists(index)) return NOT_FOUND;
    *ret_device = &devices[index];
    return SUCCESS;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **ret_device) {
    if (strncmp(uuid, "GPU-", 4) == 0 && strspn(uuid + 4, "01234567") == 1 && uuid[5] == 0)
        return nvmlDeviceGetHandleByIndex_v2((unsigned)atoi(uuid + 4), ret_device);
    if (strcmp(uuid, "MIG-1") != 0) return NOT_FOUND;
    *ret_device = &devices[MIG];
    return SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret_mj) {
    return read_file((char *)device - devices, "mj", ret_mj) ? SUCCESS : NOT_SUPPORTED;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *ret_mw) {
    unsigned long long number;
    if (!read_file((char *)device - devices, "mw", &number)) return NOT_SUPPORTED;
    *ret_mw = (unsigned)number;
    return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *ret_uuid, unsigned size) {
    int gpu = (int)((char *)device - devices);
    snprintf(ret_uuid, size, gpu == MIG ? "MIG-1" : "GPU-%d", gpu);
    return SUCCESS;
}

const char *nvmlErrorString(int status) {
    return status == NOT_FOUND ? "Not Found" : status == NOT_SUPPORTED ? "Not Supported" : "Driver Not Loaded";
}
