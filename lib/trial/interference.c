/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/interference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kerf/trial.h"

/* ---- What the machine does ---------------------------------------------------------------------------------- */

enum { CLOCKS_MAX = 16 }; /* on a large machine the clocks of some processors stand for all */

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
    /* the kernel counts the machine's time in ticks and the processes' exactly: the difference can be below 0 */
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
    int step = 1 + (CPU_COUNT(set) - 1) / CLOCKS_MAX, count = 0, seen = 0;
    double sum = 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, set) || seen++ % step != 0) continue;
        double share = read_clock(root, i, "scaling_cur_freq") / read_clock(root, i, "scaling_max_freq");
        if (!isfinite(share)) break; /* where one processor's is not known, none is */
        sum += share;
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

/* ---- Was it too busy? --------------------------------------------------------------------------------------- */

/*
 * Whether the machine was too busy with other things for an observation to count.
 *
 * Other processes do no harm while processors are idle, and ruin a trial that uses them all: with a thread on every
 * processor, one spinning neighbour makes each barrier wait. Then others may use a tenth of one processor; with idle
 * processors a quarter of these. Where tasks had to wait for a processor, whoever's tasks, the strict bound holds.
 * Pressure alone says nothing: a program with more threads than processors waits for itself.
 *
 * The program that is measured may have a server (a database, a build daemon), whose processes are not below kerf. Its
 * work looks like others' work, and stops with the trial. So others count only as far as they are busy in the gaps
 * beside the trial too. Both gaps count: a neighbour that comes or goes during the trial is busy in one of them.
 */

static const double STRICT = 0.10;        /* processors */
static const double OF_IDLE = 0.25;       /* share of the processors that the trial left idle */
static const double PRESSED = 0.10;       /* share of the time */
static const double STEAL = 0.05;         /* processors, for each that the trial used */
static const double COUNTED_MIN_S = 0.03; /* processor seconds: three ticks of the kernel's clock prove nothing */

int32_t kerf_trial_disturbed(const struct kerf_trial_result *result, char *reason, size_t size) {
    const struct kerf_trial_machine *machine = &result->machine;
    double wall_s = result->wall_s, used = result->cpu_s / wall_s, idle = machine->processors - used;
    const char *plural = machine->processors == 1 ? "" : "s";
    if (size > 0) reason[0] = 0;
    if (!(wall_s > 0)) return 0;
    if (!isfinite(used)) used = 1, idle = 0;
    double most = idle < 1 || machine->pressure > PRESSED ? STRICT : fmax(STRICT, OF_IDLE * idle);
    double others = isnan(machine->between) ? machine->others : fmin(machine->others, machine->between);
    if (others > most && others * wall_s > COUNTED_MIN_S) {
        snprintf(reason, size, "others used %.2f of %d processor%s", others, machine->processors, plural);
        return 1;
    }
    if (machine->steal > STEAL * fmax(1, used) && machine->steal * wall_s > COUNTED_MIN_S) {
        snprintf(reason, size, "the hypervisor took %.2f of %d processor%s", machine->steal, machine->processors,
                 plural);
        return 1;
    }
    return 0;
}
