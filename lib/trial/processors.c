/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/processors.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Processors of one core have the same package and core. */
struct place {
    int package, core, processor;
};

void processors_allowed(cpu_set_t *ret_set) {
    CPU_ZERO(ret_set);
    if (sched_getaffinity(0, sizeof *ret_set, ret_set) == 0) return;
    for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, ret_set);
}

static FILE *open_file(const char *root, int processor, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/%s", root, processor, name);
    return fopen(path, "re");
}

static int read_number(const char *root, int processor, const char *name, int *ret_number) {
    FILE *file = open_file(root, processor, name);
    if (file == NULL) return 0;
    int is_read = fscanf(file, "%d", ret_number) == 1;
    fclose(file);
    return is_read;
}

static struct place place_of(const char *root, int processor) {
    struct place place = {.processor = processor};
    if (!read_number(root, processor, "topology/physical_package_id", &place.package) ||
        !read_number(root, processor, "topology/core_id", &place.core))
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

/* The places of a set, core by core; returns how many there are, and how many cores. */
static int32_t find_places(const char *root, const cpu_set_t *set, struct place places[CPU_SETSIZE],
                           int32_t *ret_cores) {
    int32_t count = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, set)) places[count++] = place_of(root, i);
    qsort(places, (size_t)count, sizeof *places, by_place);
    *ret_cores = 0;
    for (int32_t i = 0; i < count; i++) *ret_cores += i == 0 || !is_same_core(&places[i - 1], &places[i]);
    return count;
}

int32_t processor_share(const char *root, const cpu_set_t *allowed, int32_t slots, int32_t slot, cpu_set_t *ret_set) {
    struct place places[CPU_SETSIZE] = {{0}};
    int32_t cores, count = find_places(root, allowed, places, &cores), unit = -1, taken = 0;
    assert(slots >= 1 && slot >= 0 && slot < slots);
    int is_whole = cores >= slots;
    int32_t each = (is_whole ? cores : count) / slots; /* cores, or processors */
    CPU_ZERO(ret_set);
    for (int32_t i = 0; i < count && each > 0; i++) {
        unit += !is_whole || i == 0 || !is_same_core(&places[i - 1], &places[i]);
        if (unit / each != slot) continue;
        CPU_SET(places[i].processor, ret_set);
        taken++;
    }
    assert(taken * slots <= count || is_whole);
    return taken;
}

/* ---- Sizes of the machine ------------------------------------------------------------------------------------- */

enum { CACHES = 8 }; /* of a processor, at most: as files cache/index0 and so on */

struct sizes {
    int64_t *items; /* [count], ascending */
    int32_t count;
};

/* One is no size: a program with one thread is what all others are compared with. */
static void add_size(struct sizes *sizes, int64_t size) {
    int32_t at = sizes->count;
    while (at > 0 && sizes->items[at - 1] >= size) at--;
    if (size < 2 || sizes->count == KERF_TRIAL_SIZES_MAX || (at < sizes->count && sizes->items[at] == size)) return;
    memmove(sizes->items + at + 1, sizes->items + at, (size_t)(sizes->count - at) * sizeof *sizes->items);
    sizes->items[at] = size;
    sizes->count++;
}

/* How many processors and cores these are. */
static void add_processors(struct sizes *sizes, const char *root, const cpu_set_t *set) {
    struct place places[CPU_SETSIZE] = {{0}};
    int32_t cores, count = find_places(root, set, places, &cores);
    add_size(sizes, count);
    add_size(sizes, cores);
}

/* "0-3,8-11", those of them that are allowed; 0: the file cannot be read. Closes it. */
static int read_list(FILE *file, const cpu_set_t *allowed, cpu_set_t *ret_set) {
    int first, last, found = 0;
    CPU_ZERO(ret_set);
    for (char comma = ','; file && comma == ',' && fscanf(file, "%d", &first) == 1; found = 1) {
        last = first;
        comma = (char)fgetc(file);
        if (comma == '-' && fscanf(file, "%d", &last) == 1) comma = (char)fgetc(file);
        for (int i = first < 0 ? 0 : first; i <= last && i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, allowed)) CPU_SET(i, ret_set);
    }
    if (file) fclose(file);
    return found;
}

/* Each set is looked at once. */
static int is_first(const cpu_set_t *set, int processor) {
    for (int i = 0; i < processor; i++)
        if (CPU_ISSET(i, set)) return 0;
    return CPU_ISSET(processor, set);
}

/* Those that share the processor's last-level cache. */
static int read_sharers(const char *root, int processor, const cpu_set_t *allowed, cpu_set_t *ret_set) {
    for (int index = CACHES; index-- > 0;) {
        char name[64];
        snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", index);
        if (read_list(open_file(root, processor, name), allowed, ret_set)) return 1;
    }
    return 0;
}

/* Bytes, and of a large cache kilobytes, as sizes of blocks are given; a small one's would be a number of threads. */
static void add_caches(struct sizes *sizes, const char *root, int processor) {
    enum { LARGE_KB = 256 };
    for (int index = 0; index < CACHES; index++) {
        char name[64], type[32] = "";
        long kilobytes = 0;
        snprintf(name, sizeof name, "cache/index%d/type", index);
        FILE *file = open_file(root, processor, name);
        if (file == NULL) return;
        if (fscanf(file, "%31s", type) != 1) type[0] = 0;
        fclose(file);
        snprintf(name, sizeof name, "cache/index%d/size", index);
        if (strcmp(type, "Instruction") == 0 || (file = open_file(root, processor, name)) == NULL) continue;
        if (fscanf(file, "%ldK", &kilobytes) != 1 || kilobytes < 1) kilobytes = 0;
        fclose(file);
        add_size(sizes, (int64_t)kilobytes * 1024);
        if (kilobytes >= LARGE_KB) add_size(sizes, kilobytes);
    }
}

int32_t processor_sizes(const char *root, const cpu_set_t *allowed, int64_t ret_sizes[KERF_TRIAL_SIZES_MAX]) {
    struct sizes sizes = {ret_sizes, 0};
    cpu_set_t set;
    int core, first = -1;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, allowed) || !read_number(root, i, "topology/core_id", &core)) continue;
        if (first < 0) first = i;
        if (read_sharers(root, i, allowed, &set) && is_first(&set, i)) add_processors(&sizes, root, &set);
        if (read_list(open_file(root, i, "topology/core_siblings_list"), allowed, &set) && is_first(&set, i))
            add_processors(&sizes, root, &set); /* of its package */
    }
    if (first < 0) return 0;
    add_processors(&sizes, root, allowed);
    for (int node = 0; node < CPU_SETSIZE; node++) {
        char path[512];
        snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d/cpulist", root, node);
        if (read_list(fopen(path, "re"), allowed, &set)) add_processors(&sizes, root, &set);
    }
    add_caches(&sizes, root, first);
    return sizes.count;
}

int32_t kerf_trial_machine_sizes(const char *root, int64_t ret_sizes[KERF_TRIAL_SIZES_MAX]) {
    cpu_set_t allowed;
    processors_allowed(&allowed);
    return processor_sizes(root ? root : "", &allowed, ret_sizes);
}
