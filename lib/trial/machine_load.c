/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/machine_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CLOCKS_MOST = 16 }; /* of a large machine some processors stand for all */

static FILE *open_file(const char *root, const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    return fopen(full, "re");
}

static void read_stat(const char *root, const cpu_set_t *set, struct machine_load *load) {
    FILE *file = open_file(root, "/proc/stat");
    char line[512];
    double ticks = (double)sysconf(_SC_CLK_TCK);
    if (file == NULL) return;
    while (fgets(line, sizeof line, file)) {
        int processor;
        unsigned long long user, nice, system, idle, wait, interrupt, soft, steal = 0;
        int count = sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &processor, &user, &nice, &system,
                           &idle, &wait, &interrupt, &soft, &steal);
        if (count < 8 || processor < 0 || processor >= CPU_SETSIZE || !CPU_ISSET(processor, set)) continue;
        if (load->processors++ == 0) load->busy_s = load->steal_s = 0;
        load->busy_s += (double)(user + nice + system + interrupt + soft) / ticks;
        load->steal_s += (double)steal / ticks;
    }
    fclose(file);
}

static double read_pressure(const char *root) {
    FILE *file = open_file(root, "/proc/pressure/cpu");
    char line[256];
    double waited_s = (double)NAN;
    if (file == NULL) return waited_s;
    while (fgets(line, sizeof line, file)) {
        const char *total = strstr(line, "total=");
        if (strncmp(line, "some ", 5) == 0 && total) waited_s = 1e-6 * (double)strtoull(total + 6, NULL, 10);
    }
    fclose(file);
    return waited_s;
}

struct machine_load machine_load_read(const char *root, const cpu_set_t *set, double now_s) {
    struct machine_load load = {.at_s = now_s, .busy_s = (double)NAN, .steal_s = (double)NAN};
    read_stat(root, set, &load);
    load.waited_s = read_pressure(root);
    if (load.processors == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        load.processors = online > 0 ? (int32_t)online : 1;
    }
    return load;
}

struct kerf_trial_machine machine_unknown(void) {
    return (struct kerf_trial_machine){.others = (double)NAN,
                                       .between = (double)NAN,
                                       .steal = (double)NAN,
                                       .pressure = (double)NAN,
                                       .frequency = (double)NAN};
}

void machine_load_compare(const struct machine_load *before, const struct machine_load *after, double own_s,
                          struct kerf_trial_machine *ret_machine) {
    double wall_s = after->at_s - before->at_s;
    *ret_machine = machine_unknown();
    ret_machine->processors = after->processors;
    if (!(wall_s > 0)) return;
    /* the kernel counts the machine's time in ticks and the processes' exactly, so that the difference can be < 0 */
    ret_machine->others = (after->busy_s - before->busy_s - own_s) / wall_s;
    if (ret_machine->others < 0) ret_machine->others = 0;
    ret_machine->steal = (after->steal_s - before->steal_s) / wall_s;
    ret_machine->pressure = (after->waited_s - before->waited_s) / wall_s;
    if (ret_machine->pressure > 1) ret_machine->pressure = 1;
}

static double read_clock(const char *root, int processor, const char *name) {
    char path[128];
    double clock = (double)NAN;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/%s", processor, name);
    FILE *file = open_file(root, path);
    if (file == NULL) return clock;
    if (fscanf(file, "%lf", &clock) != 1) clock = (double)NAN;
    fclose(file);
    return clock;
}

double machine_frequency(const char *root, const cpu_set_t *set) {
    int step = 1 + (CPU_COUNT(set) - 1) / CLOCKS_MOST, count = 0, seen = 0;
    double sum = 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, set) || seen++ % step != 0) continue;
        double share = read_clock(root, i, "scaling_cur_freq") / read_clock(root, i, "scaling_max_freq");
        if (!isfinite(share)) break; /* what one processor does not tell, none does */
        sum += share;
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

int64_t machine_memory_kills(const char *root) {
    FILE *file = open_file(root, "/proc/vmstat");
    char line[256];
    long long kills = -1;
    if (file == NULL) return -1;
    while (kills < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, "oom_kill ", 9) == 0) kills = strtoll(line + 9, NULL, 10);
    fclose(file);
    return kills;
}
