/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/limits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "trial/program_output.h"

enum { KERFS_WALL, KERFS_CPU, KERFS_MEMORY, KERFS_COUNT };
static const char *const kerfs[KERFS_COUNT] = {[KERFS_WALL] = "wall", [KERFS_CPU] = "cpu", [KERFS_MEMORY] = "memory"};

static int kerfs_own(const char *name) {
    for (int i = 0; i < KERFS_COUNT; i++)
        if (strcmp(name, kerfs[i]) == 0) return i;
    return -1;
}

/* A number that a run tells, by its name. */
static int32_t add_name(struct limits *limits, const char *name, struct kerf_error *err) {
    if (kerfs_own(name) < 0 && !json_path_is_valid(name))
        return kerf_error_set(err, KERF_EINVALID, "\"%.90s\" is not a path; one is results.0.p99_ms", name);
    limits->are_told |= kerfs_own(name) < 0;
    return KERF_OK;
}

int32_t limits_add(struct limits *limits, const char *text, struct kerf_error *err) {
    struct output_limit next;
    if (limits->count == OUTPUT_LIMITS_MAX)
        return kerf_error_set(err, KERF_EINVALID, "there are at most %d limits", OUTPUT_LIMITS_MAX);
    int32_t code = output_limit_read(text, &next, err);
    if (code == KERF_OK) code = add_name(limits, next.name, err);
    if (code == KERF_OK) limits->of[limits->count++] = next;
    return code;
}

int32_t limits_want(struct limits *limits, const char *name, struct kerf_error *err) {
    if (strlen(name) >= sizeof limits->wanted)
        return kerf_error_set(err, KERF_EINVALID, "\"%.20s...\" has more than %zu characters", name,
                              sizeof limits->wanted - 1);
    if (limits->wanted[0])
        return kerf_error_set(err, KERF_EINVALID, "a run tells one further number, and \"%s\" is asked for already",
                              limits->wanted);
    int32_t code = add_name(limits, name, err);
    if (code == KERF_OK) memcpy(limits->wanted, name, strlen(name) + 1);
    return code;
}

/* 1 and the number, or 0 where the run does not tell it. */
static int find(const char *name, const struct kerf_trial_result *result, const json_t *told, const char *silence,
                double *ret_value, char *why, size_t size) {
    switch (kerfs_own(name)) {
    case KERFS_WALL: *ret_value = result->wall_s; return 1;
    case KERFS_CPU: *ret_value = result->cpu_s; break;
    case KERFS_MEMORY: *ret_value = result->peak_bytes > 0 ? (double)result->peak_bytes : (double)NAN; break;
    default:
        if (told) return json_path_number(told, name, ret_value, why, size) > 0;
        snprintf(why, size, "%.60s is not told: %s", name, silence);
        return 0;
    }
    snprintf(why, size, "the system does not report its %s", name);
    return !isnan(*ret_value);
}

int32_t limits_check(const struct limits *limits, const struct kerf_trial_result *result, const json_t *told,
                     const char *silence, double *ret_wanted, char *words, size_t size) {
    for (int32_t i = 0; i < limits->count; i++) {
        double value;
        if (!find(limits->of[i].name, result, told, silence, &value, words, size)) return KERF_TUNE_FAILURE_OUTPUT;
        if (output_limit_holds(&limits->of[i], value)) continue;
        output_limit_words(&limits->of[i], value, words, size);
        return KERF_TUNE_FAILURE_LIMIT;
    }
    if (limits->wanted[0] == 0) return KERF_TUNE_FAILURE_NONE;
    return find(limits->wanted, result, told, silence, ret_wanted, words, size) ? KERF_TUNE_FAILURE_NONE
                                                                                : KERF_TUNE_FAILURE_OUTPUT;
}
