/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for one more program: /proc/meminfo, and what this process's control group and those above it still allow
 * (version 2: memory.max - memory.current, where the cached files in it count as free; version 1: the same names of
 * its memory controller).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "kerf/llama.h"

static const char meminfo[] = "/proc/meminfo";

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Bytes of "MemTotal:   16384 kB"; -1 where there is no such line. */
static int64_t from_meminfo(const char *text, const char *name) {
    const char *line = strstr(text, name);
    return line ? strtoll(line + strlen(name), NULL, 10) * 1024 : -1;
}

/* The number in a file of one line; -1: there is no number ("max"), or no such file. */
static int64_t from_file(const char *folder, const char *name) {
    char path[4352], line[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    int64_t value = -1;
    if (file && fgets(line, sizeof line, file) && line[0] >= '0' && line[0] <= '9') value = strtoll(line, NULL, 10);
    if (file) fclose(file);
    return value;
}

/* From memory.stat: cached pages of files that were not used lately, which count as free. */
static int64_t cached(const char *folder) {
    char path[4352], line[256];
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    FILE *file = fopen(path, "re");
    int64_t value = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "inactive_file ", 14) == 0) value = strtoll(line + 14, NULL, 10);
    if (file) fclose(file);
    return value;
}

static void limit(const char *folder, int is_v2, struct kerf_machine_memory *memory) {
    int64_t allowed = from_file(folder, is_v2 ? "memory.max" : "memory.limit_in_bytes");
    int64_t used = from_file(folder, is_v2 ? "memory.current" : "memory.usage_in_bytes");
    if (allowed < 0 || used < 0) return;
    memory->total = smaller(memory->total, allowed);
    int64_t left = allowed - used + cached(folder);
    memory->available = smaller(memory->available, left > 0 ? left : 0);
}

/* The group and every one above it: each may allow less. */
static void limit_by_group(const char *mount, char *group, int is_v2, struct kerf_machine_memory *memory) {
    char folder[4200];
    for (;;) {
        snprintf(folder, sizeof folder, "%s%s", mount, group);
        limit(folder, is_v2, memory);
        char *slash = strrchr(group, '/');
        if (slash == NULL || group[0] == 0) return;
        *slash = 0;
    }
}

/* Lines of "0::/user.slice" (version 2) and "4:memory:/docker/..." (version 1). */
static void limit_by_groups(struct kerf_machine_memory *memory) {
    char line[4096];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = 0;
        if (strcmp(controllers, ":") == 0)
            limit_by_group("/sys/fs/cgroup", group, 1, memory);
        else if (strcmp(controllers, ":memory") == 0)
            limit_by_group("/sys/fs/cgroup/memory", group, 0, memory);
    }
    if (file) fclose(file);
}

int32_t kerf_machine_memory_read(struct kerf_machine_memory *ret_memory, struct kerf_error *err) {
    struct kerf_text text = {0};
    int32_t code = input_read(meminfo, 1 << 20, &text, err);
    if (code != KERF_OK) return code;
    struct kerf_machine_memory memory = {from_meminfo(text.data ? text.data : "", "MemTotal:"),
                                         from_meminfo(text.data ? text.data : "", "MemAvailable:")};
    kerf_text_free(&text);
    if (memory.total < 0 || memory.available < 0)
        return kerf_error_set(err, KERF_EIO, "%s has no MemTotal or MemAvailable", meminfo);
    limit_by_groups(&memory);
    *ret_memory = memory;
    return KERF_OK;
}
