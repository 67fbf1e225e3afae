/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/interference.h"

#include <assert.h>
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

/* ---- Processors of a slot ----------------------------------------------------------------------------------- */

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
    assert(slots >= 1 && slot >= 0 && slot < slots);
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
    assert(taken * slots <= count || is_whole);
    return taken;
}
