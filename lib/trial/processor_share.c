/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/processor_share.h"

#include <stdio.h>
#include <stdlib.h>

/* Processors of one core have the same package and core. */
struct place {
    int package, core, processor;
};

void processors_allowed(cpu_set_t *ret_set) {
    CPU_ZERO(ret_set);
    if (sched_getaffinity(0, sizeof *ret_set, ret_set) == 0) return;
    for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, ret_set);
}

static int read_number(const char *root, int processor, const char *name, int *ret_number) {
    char path[512];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/topology/%s", root, processor, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    int is_read = fscanf(file, "%d", ret_number) == 1;
    fclose(file);
    return is_read;
}

static struct place place_of(const char *root, int processor) {
    struct place place = {.processor = processor};
    if (!read_number(root, processor, "physical_package_id", &place.package) ||
        !read_number(root, processor, "core_id", &place.core))
        place = (struct place){-1, processor, processor};
    return place;
}

static int is_same_core(const struct place *a, const struct place *b) {
    return a->package == b->package && a->core == b->core;
}

static int by_place(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    if (a->package != b->package) return a->package < b->package ? -1 : 1;
    if (a->core != b->core) return a->core < b->core ? -1 : 1;
    return a->processor < b->processor ? -1 : 1;
}

int32_t processor_share(const char *root, const cpu_set_t *allowed, int32_t slots, int32_t slot, cpu_set_t *ret_set) {
    struct place places[CPU_SETSIZE] = {{0}};
    int32_t count = 0, cores = 0, unit = -1, taken = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, allowed)) places[count++] = place_of(root, i);
    qsort(places, (size_t)count, sizeof *places, by_place);
    for (int32_t i = 0; i < count; i++) cores += i == 0 || !is_same_core(&places[i - 1], &places[i]);
    int is_whole = cores >= slots;
    int32_t each = (is_whole ? cores : count) / slots; /* cores, or processors */
    CPU_ZERO(ret_set);
    for (int32_t i = 0; i < count && each > 0; i++) {
        unit += !is_whole || i == 0 || !is_same_core(&places[i - 1], &places[i]);
        if (unit / each != slot) continue;
        CPU_SET(places[i].processor, ret_set);
        taken++;
    }
    return taken;
}
