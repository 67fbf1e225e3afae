/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study_words.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include "kerf/tune.h"

void study_time_write(int64_t seconds, char text[STUDY_TIME_SIZE]) {
    time_t time = (time_t)seconds;
    struct tm parts;
    if (gmtime_r(&time, &parts) == NULL || strftime(text, STUDY_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text[0] = 0;
}

int64_t study_time_read(const char *text) {
    struct tm parts = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts) : NULL;
    return end && *end == 0 ? (int64_t)timegm(&parts) : 0;
}

static const char *const outcomes[] = {
    [KERF_TUNE_VALUE] = "value", [KERF_TUNE_CENSORED] = "censored", [KERF_TUNE_FAILED] = "failed"};

const char *study_outcome_word(int32_t outcome) { return outcomes[outcome]; }

int32_t study_outcome_of(const char *word) {
    for (size_t i = 0; word && i < sizeof outcomes / sizeof *outcomes; i++)
        if (strcmp(outcomes[i], word) == 0) return (int32_t)i;
    return -1;
}

int32_t study_failure_of(const char *word) {
    for (int32_t i = 0; word && i < KERF_TUNE_FAILURE_COUNT; i++)
        if (strcmp(kerf_tune_failure_word(i), word) == 0) return i;
    return KERF_TUNE_FAILURE_NONE;
}
