/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a journal back. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "study/study_journal.h"
#include "study/study_words.h"

static int32_t no_memory(struct kerf_error *err) {
    return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a study");
}

struct study_record *study_record_free(struct study_record *record) {
    if (record == NULL) return NULL;
    study_request_free(&record->request);
    kerf_tune_space_free(record->space);
    json_decref(record->document);
    json_decref(record->skipped_document);
    free(record->skipped);
    free(record->entries);
    free(record);
    return NULL;
}

static int32_t path_of(const char *study, char path[STUDY_PATH_SIZE], struct kerf_error *err) {
    size_t length = strlen(study);
    int is_path = strchr(study, '/') || (length > 6 && strcmp(study + length - 6, ".jsonl") == 0);
    char folder[STUDY_PATH_SIZE];
    int32_t code = is_path ? KERF_OK : study_folder(folder, err);
    if (code != KERF_OK) return code;
    int written = is_path ? snprintf(path, STUDY_PATH_SIZE, "%s", study)
                          : snprintf(path, STUDY_PATH_SIZE, "%s/%s.jsonl", folder, study);
    return written < STUDY_PATH_SIZE ? KERF_OK
                                     : kerf_error_set(err, KERF_EINVALID, "'%.64s...' is too long a name", study);
}

/* ---- Lines -------------------------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, const json_t *text) {
    const char *from = json_string_value(text);
    snprintf(to, size, "%s", from ? from : "");
}

static double real_or(const json_t *line, const char *key, double otherwise) {
    const json_t *value = json_object_get(line, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static int32_t read_head(struct study_record *record, json_t *line, struct kerf_error *err) {
    if (json_integer_value(json_object_get(line, "journal")) != 1)
        return kerf_error_set(err, KERF_EUNSUPPORTED, "this is no journal of a study that this kerf can read");
    record->document = json_incref(line);
    copy(record->id, sizeof record->id, json_object_get(line, "study"));
    copy(record->key, sizeof record->key, json_object_get(line, "key"));
    record->began_s = study_time_read(json_string_value(json_object_get(line, "began")));
    int32_t code = study_request_read(json_object_get(line, "request"), &record->request, err);
    return code == KERF_OK ? study_request_space(&record->request, &record->space, err) : code;
}

static int32_t read_entry(struct study_record *record, const json_t *line, struct kerf_error *err) {
    struct study_entry entry = {.result = {.id = record->num_entries, .status = -1}};
    struct kerf_trial_result *result = &entry.result;
    struct kerf_tune_observation *seen = &result->observation;
    const char *setting = json_string_value(json_object_get(line, "setting"));
    int32_t code = kerf_tune_setting_read(record->space, setting ? setting : "", &seen->setting, err);
    if (code != KERF_OK) return code;
    seen->outcome = study_outcome_of(json_string_value(json_object_get(line, "outcome")));
    if (seen->outcome < 0) return kerf_error_set(err, KERF_ESYNTAX, "\"outcome\" is value, censored or failed");
    seen->failure = study_failure_of(json_string_value(json_object_get(line, "failure")));
    seen->value = real_or(line, "value", 0);
    seen->start_s = real_or(line, "start_s", 0);
    seen->end_s = real_or(line, "end_s", 0);
    json_int_t slot = json_integer_value(json_object_get(line, "slot"));
    if (slot < 0 || slot >= record->request.slots)
        return kerf_error_set(err, KERF_EINVALID, "\"slot\" is 0 to %d", record->request.slots - 1);
    seen->slot = (int32_t)slot;
    seen->warmup = json_is_true(json_object_get(line, "warmup"));
    seen->disturbed = json_is_true(json_object_get(line, "disturbed"));
    result->load_s = real_or(line, "load_s", 0);
    result->wall_s = real_or(line, "wall_s", 0);
    result->cpu_s = real_or(line, "cpu_s", NAN);
    result->peak_bytes = json_integer_value(json_object_get(line, "peak_bytes"));
    result->machine.others = real_or(line, "others", NAN);
    result->machine.between = real_or(line, "others_between", NAN);
    result->machine.steal = real_or(line, "steal", NAN);
    result->machine.pressure = real_or(line, "pressure", NAN);
    result->machine.frequency = real_or(line, "frequency", NAN);
    copy(result->message, sizeof result->message, json_object_get(line, "message"));
    copy(entry.why, sizeof entry.why, json_object_get(line, "why"));
    struct study_entry *more = realloc(record->entries, ((size_t)record->num_entries + 1) * sizeof *more);
    if (more == NULL) return no_memory(err);
    record->entries = more;
    record->entries[record->num_entries++] = entry;
    const json_t *loads = json_object_get(line, "loads"); /* which an older journal does not tell */
    int is_start = result->load_s > 0 || strcmp(record->request.protocol, "worker") != 0;
    record->loads = json_is_integer(loads) ? json_integer_value(loads) : record->loads + is_start;
    record->entries[record->num_entries - 1].loads = record->loads;
    return KERF_OK;
}

static int32_t read_skipped(struct study_record *record, json_t *line, struct kerf_error *err) {
    const json_t *list = json_object_get(line, "skipped");
    if (record->skipped) return kerf_error_set(err, KERF_ESYNTAX, "\"skipped\" is said once");
    if (!json_is_array(list)) return kerf_error_set(err, KERF_ESYNTAX, "\"skipped\" is an array");
    record->skipped = calloc((size_t)record->space->num_settings, sizeof *record->skipped);
    if (record->skipped == NULL) return no_memory(err);
    record->skipped_document = json_incref(line);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *setting = json_string_value(json_object_get(item, "setting")),
                   *reason = json_string_value(json_object_get(item, "reason"));
        int32_t index;
        int32_t code = kerf_tune_setting_read(record->space, setting ? setting : "", &index, err);
        if (code != KERF_OK) return code;
        record->skipped[index] = reason ? reason : "skipped";
    }
    return KERF_OK;
}

static int32_t read_line(struct study_record *record, json_t *line, struct kerf_error *err) {
    if (record->document == NULL) return read_head(record, line, err);
    if (json_object_get(line, "n")) {
        record->stopped[0] = 0;
        return read_entry(record, line, err);
    }
    if (json_object_get(line, "skipped")) return read_skipped(record, line, err);
    if (json_object_get(line, "stopped")) {
        copy(record->stopped, sizeof record->stopped, json_object_get(line, "stopped"));
        copy(record->reason, sizeof record->reason, json_object_get(line, "reason"));
        record->elapsed_s = real_or(line, "elapsed_s", record->elapsed_s);
        record->loads = json_integer_value(json_object_get(line, "loads"));
    }
    return KERF_OK;
}

/* ---- The file ----------------------------------------------------------------------------------------------- */

static int32_t read_lines(struct study_record *record, FILE *file, int peek, struct kerf_error *err) {
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    int32_t code = KERF_OK;
    for (int32_t number = 1; code == KERF_OK && (length = getline(&text, &size, file)) > 0; number++) {
        if (text[length - 1] != '\n') break; /* cut off by a crash */
        json_error_t fault;
        json_t *line = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &fault);
        code = json_is_object(line) ? read_line(record, line, err)
                                    : kerf_error_set(err, KERF_ESYNTAX, "a line of a journal is a JSON object");
        json_decref(line);
        if (code != KERF_OK && err) {
            err->line = number;
            snprintf(err->file, sizeof err->file, "%.*s", (int)sizeof err->file - 1, record->path);
        }
        record->whole_bytes += length;
        if (peek) break;
    }
    free(text);
    if (code == KERF_OK && ferror(file))
        code = kerf_error_set(err, KERF_EIO, "%.200s: %s", record->path, strerror(errno));
    if (code == KERF_OK && record->document == NULL)
        code = kerf_error_set(err, KERF_ESYNTAX, "%.200s is no journal of a study: it has no first line", record->path);
    return code;
}

static int32_t open_and_read(const char *study, int peek, struct study_record **ret_record, struct kerf_error *err) {
    struct study_record *record = calloc(1, sizeof *record);
    if (record == NULL) return no_memory(err);
    int32_t code = path_of(study, record->path, err);
    FILE *file = code == KERF_OK ? fopen(record->path, "re") : NULL;
    if (code == KERF_OK && file == NULL)
        code = errno == ENOENT
                   ? kerf_error_set(err, KERF_EUNKNOWN, "there is no study '%.200s'; `kerf studies` lists them", study)
                   : kerf_error_set(err, KERF_EIO, "%.200s: %s", record->path, strerror(errno));
    if (code == KERF_OK) code = read_lines(record, file, peek, err);
    if (file) fclose(file);
    if (code != KERF_OK) {
        study_record_free(record);
        return code;
    }
    if (record->stopped[0] == 0) { /* it crashed: at least this long */
        double sum = 0;
        for (int32_t i = 0; i < record->num_entries; i++)
            sum += record->entries[i].result.wall_s + record->entries[i].result.load_s;
        record->elapsed_s = fmax(record->elapsed_s, sum);
    }
    *ret_record = record;
    return KERF_OK;
}

int32_t study_record_read(const char *study, struct study_record **ret_record, struct kerf_error *err) {
    return open_and_read(study, 0, ret_record, err);
}

int32_t study_record_peek(const char *study, struct study_record **ret_record, struct kerf_error *err) {
    return open_and_read(study, 1, ret_record, err);
}
