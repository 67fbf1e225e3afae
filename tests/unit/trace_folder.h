/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of runs share: a folder, runs that are written with known times, and loading them. */
#ifndef KERF_TEST_RUN_FOLDER_H
#define KERF_TEST_RUN_FOLDER_H

#include <dirent.h>
#include <unistd.h>
#include "kerf/trace.h"
#include "trace_writer.h"

/* ---- Folders ---------------------------------------------------------------------------------------------- */

static char folder[64];

static inline int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/kerf-test-run-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline void empty_folder(void) {
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    if (entries) closedir(entries);
}

static inline int remove_folder(void **state) {
    (void)state;
    empty_folder();
    return rmdir(folder);
}

static inline void put(const char *name, const char *content) {
    const struct kerf_text text = {.data = (char *)(uintptr_t)content, .length = strlen(content)};
    assert_true(writer_save(folder, name, &text));
}

static inline void drop(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

static inline struct kerf_trace *load(int32_t step) {
    struct kerf_trace *run = NULL;
    struct kerf_error err = {0};
    char line[900];
    if (kerf_trace_load(folder, step, &run, &err) != KERF_OK) {
        kerf_error_format(&err, line, sizeof line);
        fail_msg("%s", line);
    }
    return run;
}

/* The whole error line holds each of the words; path: NULL for the folder. */
static inline void refused(const char *path, int32_t step, int32_t code, const char *word, const char *other) {
    struct kerf_trace *run = NULL;
    struct kerf_error err = {0};
    char line[900];
    int32_t got = kerf_trace_load(path ? path : folder, step, &run, &err);
    kerf_error_format(&err, line, sizeof line);
    if (got != code) fail_msg("%s: '%s', not %s", kerf_error_name(got), line, kerf_error_name(code));
    assert_null(run);
    if (!strstr(line, word) || !strstr(line, other)) fail_msg("'%s' lacks '%s' or '%s'", line, word, other);
    assert_int_equal(kerf_trace_load(path ? path : folder, step, &run, NULL), code);
}

/* ---- Runs with known times -------------------------------------------------------------------------------- */

static const char *current = "?"; /* the schedule that is written */

static inline struct writer uneven(const char *rule, int32_t p, int32_t m, int32_t v) {
    struct writer writer = {
        .rule = rule, .devices = p, .microbatches = m, .chunks = v, .replicas = 2, .begin_s = 10, .state = 7};
    current = rule;
    for (int s = 0; s < WRITER_STAGES; s++) {
        writer.time_s[KERF_OP_F][s] = 1 + 0.07 * s;
        writer.time_s[KERF_OP_I][s] = 1.25 - 0.02 * s;
        writer.time_s[KERF_OP_W][s] = 0.75 + 0.01 * s;
        writer.time_s[KERF_OP_B][s] = 2.1 + 0.03 * s;
        writer.time_s[KERF_OP_FB][s] = 2.9 + 0.05 * s;
    }
    for (int i = 0; i < WRITER_DEVICES; i++)
        for (int k = 0; k < WRITER_DEVICES; k++) writer.latency_s[i][k] = 0.05;
    return writer;
}

static inline struct kerf_trace_fit *fit_of(const struct kerf_trace *run) {
    struct kerf_trace_fit *fit = NULL;
    assert_int_equal(kerf_trace_fit_make(run, &fit, NULL), KERF_OK);
    return fit;
}

static inline void near(const char *what, int32_t at, double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("%s[%d] of %s: %.12g, written %.12g", what, at, current, got, want);
}

#endif
