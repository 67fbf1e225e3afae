/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RAPL as Linux shows it: /sys/class/powercap/intel-rapl:0/{name,energy_uj,max_energy_range_uj}, on AMD's processors
 * too. Packages count, and the memory beside them (dram); cores and graphics are parts of a package, and psys, the
 * whole board, is taken where there is no package. Counters go back to 0 after max_energy_range_uj.
 */
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/number.h"
#include "client/energy.h"

static const char folder[] = "/sys/class/powercap", folder_variable[] = "KERF_POWERCAP"; /* for tests */

struct counter {
    char *path; /* of energy_uj */
    double last_uj, range_uj;
};

struct rapl {
    struct counter *counters;
    int32_t count;
    double sum_uj;
};

/* The file's first line; 0: it cannot be read, and errno says why. */
static int read_line(const char *zone, const char *name, char *line, size_t size) {
    char path[512];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", zone, name) >= sizeof path) return 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) return 0;
    int there = fgets(line, (int)size, file) != NULL;
    int number = errno;
    fclose(file);
    errno = number;
    if (there) line[strcspn(line, "\n")] = 0;
    return there;
}

static int read_number(const char *zone, const char *name, double *ret_number) {
    char line[64], *end;
    if (!read_line(zone, name, line, sizeof line)) return 0;
    *ret_number = number_read(line, &end);
    return end != line && *end == 0 && *ret_number >= 0;
}

static int32_t add_zone(struct rapl *rapl, const char *zone, struct kerf_error *err) {
    struct counter counter = {0};
    if (!read_number(zone, "energy_uj", &counter.last_uj))
        return kerf_error_set(err, KERF_EUNSUPPORTED, "%.80s/energy_uj: %s", zone, strerror(errno));
    if (!read_number(zone, "max_energy_range_uj", &counter.range_uj)) counter.range_uj = 0;
    struct counter *counters = realloc(rapl->counters, ((size_t)rapl->count + 1) * sizeof *counters);
    if (counters) rapl->counters = counters;
    if (counters == NULL || asprintf(&counter.path, "%s", zone) < 0) return error_no_memory(err, "a meter");
    rapl->counters[rapl->count++] = counter;
    return KERF_OK;
}

/* Zones of this name, "package" with a number behind it. */
static int32_t add_named(struct rapl *rapl, const glob_t *zones, const char *wanted, struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (size_t i = 0; i < zones->gl_pathc && code == KERF_OK; i++) {
        char name[64];
        if (!read_line(zones->gl_pathv[i], "name", name, sizeof name)) continue;
        if (strncmp(name, wanted, strlen(wanted)) == 0) code = add_zone(rapl, zones->gl_pathv[i], err);
    }
    return code;
}

int32_t rapl_open(struct rapl **ret_rapl, struct kerf_error *err) {
    struct rapl *rapl = calloc(1, sizeof *rapl);
    const char *set = getenv(folder_variable), *where = set ? set : folder;
    char pattern[512];
    glob_t zones = {0};
    if (rapl == NULL) return error_no_memory(err, "a meter");
    snprintf(pattern, sizeof pattern, "%.400s/intel-rapl:*", where);
    glob(pattern, 0, NULL, &zones); /* in the order of their names */
    int32_t code = add_named(rapl, &zones, "package", err);
    if (code == KERF_OK && rapl->count > 0) code = add_named(rapl, &zones, "dram", err);
    if (code == KERF_OK && rapl->count == 0) code = add_named(rapl, &zones, "psys", err);
    globfree(&zones);
    if (code == KERF_OK && rapl->count == 0)
        code = kerf_error_set(err, KERF_EUNSUPPORTED, "no counters in %.80s", where);
    if (code == KERF_OK)
        *ret_rapl = rapl;
    else
        rapl_close(rapl);
    return code;
}

double rapl_read_j(struct rapl *rapl) {
    int fails = 0;
    for (int32_t i = 0; i < rapl->count; i++) {
        struct counter *counter = &rapl->counters[i];
        double now_uj;
        if (!read_number(counter->path, "energy_uj", &now_uj)) { /* the next reading makes up for it */
            fails = 1;
            continue;
        }
        double more_uj = now_uj - counter->last_uj;
        if (more_uj < 0) more_uj += counter->range_uj;
        if (more_uj > 0) rapl->sum_uj += more_uj;
        counter->last_uj = now_uj;
    }
    return fails ? NAN : rapl->sum_uj * 1e-6;
}

int32_t rapl_count(const struct rapl *rapl) { return rapl->count; }

void rapl_close(struct rapl *rapl) {
    if (rapl == NULL) return;
    for (int32_t i = 0; i < rapl->count; i++) free(rapl->counters[i].path);
    free(rapl->counters);
    free(rapl);
}
