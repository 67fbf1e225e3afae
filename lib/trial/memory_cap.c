/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/memory_cap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(const char *folder, const char *name, const char *text) {
    char path[640];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t length = (ssize_t)strlen(text), done = write(fd, text, (size_t)length);
    close(fd);
    return done == length;
}

/* The number after the word in a file of the cgroup, with NULL the first number; -1: it is not there. */
static int64_t read_number(const char *folder, const char *name, const char *word) {
    char path[640], line[128];
    int64_t number = -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) return -1;
    size_t length = word ? strlen(word) : 0;
    while (number < 0 && fgets(line, sizeof line, file)) {
        if (word && (strncmp(line, word, length) != 0 || line[length] != ' ')) continue;
        number = strtoll(line + length, NULL, 10);
    }
    fclose(file);
    return number;
}

/* The folder of this process's cgroup; 0 where there is no version 2. */
static int own_group(const char *root, char *folder, size_t size) {
    static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    char path[512], line[512];
    const char *mount = NULL;
    for (int i = 0; mount == NULL && i < 2; i++) {
        snprintf(path, sizeof path, "%s%s/cgroup.controllers", root, mounts[i]);
        if (access(path, F_OK) == 0) mount = mounts[i];
    }
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = mount ? fopen(path, "re") : NULL;
    int found = 0;
    while (file && !found && fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::/", 4) != 0) continue;
        line[strcspn(line, "\n")] = 0;
        found = snprintf(folder, size, "%s%s%s", root, mount, strcmp(line + 3, "/") == 0 ? "" : line + 3) < (int)size;
    }
    if (file) fclose(file);
    return found;
}

static int make_group(struct memory_cap *cap, const char *parent, int32_t slot, int64_t bytes) {
    char text[32], path[640];
    int length = snprintf(cap->folder, sizeof cap->folder, "%s/kerf.%d.%d", parent, (int)getpid(), (int)slot);
    if (length >= (int)sizeof cap->folder) return 0;
    write_file(parent, "cgroup.subtree_control", "+memory");
    mkdir(cap->folder, 0755); /* if it fails, so does the next line */
    snprintf(text, sizeof text, "%lld", (long long)bytes);
    if (!write_file(cap->folder, "memory.max", bytes > 0 ? text : "max")) return 0;
    write_file(cap->folder, "memory.swap.max", bytes > 0 ? "0" : "max");
    write_file(cap->folder, "memory.oom.group", "1"); /* kills all of the trial, not one process of it */
    snprintf(path, sizeof path, "%s/cgroup.procs", cap->folder);
    cap->procs_fd = open(path, O_WRONLY | O_CLOEXEC);
    return cap->procs_fd >= 0;
}

int memory_cap_open(struct memory_cap *cap, const char *root, int32_t slot, int64_t bytes) {
    char parent[400];
    *cap = (struct memory_cap){.procs_fd = -1, .peak_fd = -1};
    if (!own_group(root, parent, sizeof parent)) return 0;
    size_t top = strlen(root) + strlen("/sys/fs/cgroup");
    for (int level = 0; level < 2; level++) {
        if (make_group(cap, parent, slot, bytes)) return 1;
        memory_cap_close(cap);
        char *last = strrchr(parent, '/');
        if (last == NULL || (size_t)(last - parent) < top) return 0;
        *last = 0;
    }
    return 0;
}

void memory_cap_close(struct memory_cap *cap) {
    if (cap->folder[0]) {
        if (cap->procs_fd >= 0) close(cap->procs_fd);
        if (cap->peak_fd >= 0) close(cap->peak_fd);
        rmdir(cap->folder);
    }
    *cap = (struct memory_cap){.procs_fd = -1, .peak_fd = -1};
}

void memory_cap_peak_reset(struct memory_cap *cap) {
    static const char any[] = "reset";
    char path[640];
    if (cap->folder[0] == 0) return;
    snprintf(path, sizeof path, "%s/memory.peak", cap->folder);
    if (cap->peak_fd < 0) cap->peak_fd = open(path, O_RDWR | O_CLOEXEC);
    cap->is_peak_old = cap->peak_fd < 0 || pwrite(cap->peak_fd, any, strlen(any), 0) < 0;
}

int64_t memory_cap_peak(const struct memory_cap *cap) {
    char text[32] = "";
    int64_t peak = 0;
    if (cap->folder[0] == 0 || cap->is_peak_old) return 0;
    if (cap->peak_fd < 0)
        peak = read_number(cap->folder, "memory.peak", NULL);
    else if (pread(cap->peak_fd, text, sizeof text - 1, 0) > 0)
        peak = strtoll(text, NULL, 10);
    return peak > 0 ? peak : 0;
}

int64_t memory_cap_kills(const struct memory_cap *cap) {
    int64_t kills = cap->folder[0] ? read_number(cap->folder, "memory.events", "oom_kill") : 0;
    return kills > 0 ? kills : 0;
}

int64_t machine_memory_kills(const char *root) {
    char path[512], line[256];
    snprintf(path, sizeof path, "%s/proc/vmstat", root);
    FILE *file = fopen(path, "re");
    long long kills = -1;
    if (file == NULL) return -1;
    while (kills < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "oom_kill ", 9) == 0) kills = strtoll(line + 9, NULL, 10);
    fclose(file);
    return kills;
}
