/* SPDX-License-Identifier: Apache-2.0 */
/* What studies with the same key measured, setting by setting, from their journals. */
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "study/study_journal.h"
#include "study/study_request.h"

enum { STUDIES_MAX = 8, OBSERVATIONS_MAX = 200 }; /* the newest ones: more would only take time */

void study_earlier_free(struct study_earlier *earlier) {
    free(earlier->items);
    free(earlier->missing.items);
    *earlier = (struct study_earlier){0};
}

/* The setting of `to` with the same values of the same parameters; -1: the grid does not have it. */
static int32_t same_setting(const struct kerf_tune_space *from, int32_t setting, const struct kerf_tune_space *to) {
    struct kerf_text text = {0};
    struct kerf_error ignored;
    int32_t found = -1;
    if (from->num_params != to->num_params) return -1;
    kerf_tune_setting_write(from, setting, &text);
    if (text.failed || kerf_tune_setting_read(to, text.data, &found, &ignored) != KERF_OK) found = -1;
    kerf_text_free(&text);
    return found;
}

static int32_t add(struct study_earlier *earlier, const struct kerf_study_record *record,
                   const struct kerf_tune_space *space, int32_t maximize) {
    int32_t before = earlier->count;
    for (int32_t i = 0; i < record->num_entries && earlier->count < OBSERVATIONS_MAX; i++) {
        struct kerf_tune_observation seen = record->entries[i].result.observation;
        if (seen.warmup || seen.disturbed || seen.outcome == KERF_TUNE_FAILED) continue; /* failures may be mended */
        if (maximize && seen.outcome == KERF_TUNE_CENSORED) continue;
        seen.setting = same_setting(record->space, seen.setting, space);
        if (seen.setting < 0) continue;
        seen.slot = earlier->studies;
        struct kerf_tune_observation *more = realloc(earlier->items, ((size_t)earlier->count + 1) * sizeof *more);
        if (more == NULL) return KERF_ENOMEM;
        earlier->items = more;
        earlier->items[earlier->count++] = seen;
    }
    earlier->studies += earlier->count > before;
    return KERF_OK;
}

/* With another key the name belongs to a new study. */
static int is_still(const struct kerf_study_record *record, const char *key) {
    return record && (key == NULL || strcmp(record->key, key) == 0);
}

int32_t study_earlier_load(const struct kerf_study_strings *ids, const char *key, const struct kerf_tune_space *space,
                           int32_t maximize, struct study_earlier *ret_earlier, struct kerf_error *err) {
    struct study_earlier earlier = {.missing.items = calloc((size_t)ids->count + 1, sizeof(char *))};
    int32_t code = earlier.missing.items ? KERF_OK : KERF_ENOMEM;
    for (int32_t i = 0; i < ids->count && code == KERF_OK; i++) {
        struct kerf_study_record *record = NULL;
        if (kerf_study_record_read(ids->items[i], &record, NULL) == KERF_OK && is_still(record, key))
            code = add(&earlier, record, space, maximize);
        else
            earlier.missing.items[earlier.missing.count++] = ids->items[i];
        kerf_study_record_free(record);
    }
    if (code != KERF_OK) {
        study_earlier_free(&earlier);
        return error_no_memory(err, "earlier studies");
    }
    *ret_earlier = earlier;
    return KERF_OK;
}

int32_t study_earlier_ids(const struct kerf_study_request *request, struct kerf_study_strings *ret_ids,
                          struct kerf_error *err) {
    struct kerf_study_strings ids;
    char key[KERF_STUDY_KEY_SIZE], folder[KERF_STUDY_PATH_SIZE];
    int32_t kept = 0;
    if (kerf_study_folder(folder, NULL) != KERF_OK) { /* nowhere to keep studies, and so there are none */
        *ret_ids = (struct kerf_study_strings){0};
        return KERF_OK;
    }
    int32_t code = kerf_study_ids(&ids, err);
    if (code != KERF_OK) return code;
    study_key(request, key);
    for (int32_t i = 0; i < ids.count; i++) {
        struct kerf_study_record *head = NULL;
        int is_same = kept < STUDIES_MAX && study_record_peek(ids.items[i], &head, NULL) == KERF_OK &&
                      strcmp(head->key, key) == 0;
        kerf_study_record_free(head);
        if (is_same)
            ids.items[kept++] = ids.items[i];
        else
            free((char *)(uintptr_t)ids.items[i]);
    }
    ids.count = kept;
    *ret_ids = ids;
    return KERF_OK;
}
