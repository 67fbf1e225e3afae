/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a study's journal, as a crash, a full disk or a person may have left it. What is accepted can be written
 * as JSON again, and its study can be taken up. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "invariants.h"
#include "kerf/study.h"

static struct kerf_study_record *read_bytes(const uint8_t *data, size_t size, int32_t *ret_code) {
    struct kerf_study_record *record = NULL;
    struct kerf_error err;
    char path[64];
    int fd = memfd_create("journal", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *ret_code = kerf_study_record_read(path, &record, &err);
    CHECK(*ret_code == KERF_OK ? record != NULL : err.message[0] != 0);
    close(fd);
    return record;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int32_t code;
    struct kerf_study_record *record = read_bytes(data, size, &code);
    struct kerf_study_state *state = NULL;
    if (record == NULL) return 0;
    CHECK(record->num_entries >= 0 && record->whole_bytes <= (int64_t)size && record->space->num_settings > 0);
    for (int32_t i = 0; i < record->num_entries; i++) {
        int32_t setting = record->entries[i].result.observation.setting;
        CHECK(setting >= 0 && setting < record->space->num_settings);
    }
    if (record->space->num_settings <= 64 && kerf_study_replay(record, NULL, &state, NULL) == KERF_OK)
        CHECK(state->num_entries == record->num_entries);
    kerf_study_state_free(state);
    kerf_study_record_free(record);
    return 0;
}
