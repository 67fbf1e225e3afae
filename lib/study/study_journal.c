/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "study/study_words.h"

struct study_journal {
    int fd;
    int32_t num_entries;
    char path[STUDY_PATH_SIZE];
};

static int32_t fail(const struct study_journal *journal, const char *what, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EIO, "the journal %.200s cannot be %s: %s; --no-journal keeps none", journal->path,
                          what, strerror(errno));
}

/* The whole line is on the disk, or the journal ends where it ended before. */
static int32_t append(struct study_journal *journal, struct kerf_text *line, struct kerf_error *err) {
    kerf_text_add(line, "\n");
    if (line->failed) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a line of the journal");
    off_t end = lseek(journal->fd, 0, SEEK_END);
    for (size_t done = 0; done < line->length;) {
        ssize_t count = write(journal->fd, line->data + done, line->length - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            int32_t code = fail(journal, "written", err);
            if (ftruncate(journal->fd, end) != 0) return code; /* its rest is taken away when the study goes on */
            return code;
        }
        done += (size_t)count;
    }
    return fdatasync(journal->fd) == 0 || errno == EINVAL ? KERF_OK : fail(journal, "flushed to the disk", err);
}

static int32_t append_and_free(struct study_journal *journal, struct kerf_text *line, struct kerf_error *err) {
    int32_t code = append(journal, line, err);
    kerf_text_free(line);
    return code;
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static int make_folders(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        *slash = '/';
        if (failed) return -1;
    }
    return mkdir(path, 0777) != 0 && errno != EEXIST ? -1 : 0;
}

static void make_id(char id[STUDY_ID_SIZE]) {
    unsigned char random[2];
    time_t now = time(NULL);
    struct tm parts;
    char date[32] = "study";
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) random[0] = random[1] = (unsigned char)getpid();
    if (gmtime_r(&now, &parts)) strftime(date, sizeof date, "%Y%m%d-%H%M%S", &parts);
    snprintf(id, STUDY_ID_SIZE, "%s-%02x%02x", date, random[0], random[1]);
}

static int32_t check_id(const char *id, struct kerf_error *err) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (id[0] == 0 || id[0] == '.' || id[0] == '-' || id[strspn(id, allowed)] || strlen(id) + 1 > STUDY_ID_SIZE)
        return kerf_error_set(err, KERF_EINVALID,
                              "a study's name is made of letters, digits, '-', '_' and '.', not '%.64s'", id);
    return KERF_OK;
}

static int32_t open_locked(struct study_journal *journal, int flags, struct kerf_error *err) {
    journal->fd = open(journal->path, flags | O_RDWR | O_CLOEXEC, 0666);
    if (journal->fd < 0 && errno == EEXIST)
        return kerf_error_set(err, KERF_EINVALID, "there is a study %.200s already; --resume goes on with it",
                              journal->path);
    if (journal->fd < 0) return fail(journal, "opened", err);
    if (flock(journal->fd, LOCK_EX | LOCK_NB) == 0) return KERF_OK;
    return errno == EWOULDBLOCK
               ? kerf_error_set(err, KERF_EINVALID, "another kerf runs the study %.200s", journal->path)
               : fail(journal, "locked", err);
}

static void put_now(struct kerf_json *json, const char *key) {
    char text[STUDY_TIME_SIZE];
    study_time_write((int64_t)time(NULL), text);
    kerf_json_string(json, key, text);
}

static int32_t write_head(struct study_journal *journal, const struct study_request *request, const char *id,
                          struct kerf_error *err) {
    struct kerf_text line = {0};
    struct kerf_json json = {0};
    char key[STUDY_KEY_SIZE];
    study_request_key(request, key);
    kerf_json_begin(&json, &line);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_integer(&json, "journal", 1);
    kerf_json_string(&json, "study", id);
    kerf_json_string(&json, "key", key);
    put_now(&json, "began");
    kerf_json_open(&json, "request", '{');
    study_request_write(request, &json);
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
    return append_and_free(journal, &line, err);
}

int32_t study_journal_create(const struct study_request *request, char id[STUDY_ID_SIZE],
                             struct study_journal **ret_journal, struct kerf_error *err) {
    char folder[STUDY_PATH_SIZE];
    int32_t code = id[0] ? check_id(id, err) : KERF_OK;
    if (code == KERF_OK) code = study_folder(folder, err);
    if (code != KERF_OK) return code;
    struct study_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a journal");
    if (id[0] == 0) make_id(id);
    journal->fd = -1;
    if ((size_t)snprintf(journal->path, sizeof journal->path, "%s/%s.jsonl", folder, id) >= sizeof journal->path)
        code = kerf_error_set(err, KERF_EINVALID, "the folder of studies has too long a name");
    else if (make_folders(folder) != 0)
        code = fail(journal, "made", err);
    else
        code = open_locked(journal, O_CREAT | O_EXCL, err);
    if (code == KERF_OK) code = write_head(journal, request, id, err);
    if (code != KERF_OK)
        study_journal_close(journal);
    else
        *ret_journal = journal;
    return code;
}

int32_t study_journal_resume(const struct study_record *record, struct study_journal **ret_journal,
                             struct kerf_error *err) {
    struct study_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a journal");
    memcpy(journal->path, record->path, sizeof journal->path);
    journal->num_entries = record->num_entries;
    int32_t code = open_locked(journal, 0, err);
    if (code == KERF_OK && ftruncate(journal->fd, record->whole_bytes) != 0) code = fail(journal, "mended", err);
    if (code == KERF_OK) {
        struct kerf_text line = {0};
        struct kerf_json json = {0};
        kerf_json_begin(&json, &line);
        kerf_json_open(&json, NULL, '{');
        put_now(&json, "resumed");
        kerf_json_close(&json, '}');
        code = append_and_free(journal, &line, err);
    }
    if (code != KERF_OK)
        study_journal_close(journal);
    else
        *ret_journal = journal;
    return code;
}

/* ---- Adding ------------------------------------------------------------------------------------------------- */

void study_entry_members(struct kerf_json *json, const struct study_entry *entry) {
    const struct kerf_trial_result *result = &entry->result;
    const struct kerf_tune_observation *seen = &result->observation;
    kerf_json_string(json, "outcome", study_outcome_word(seen->outcome));
    if (seen->outcome == KERF_TUNE_FAILED)
        kerf_json_string(json, "failure", kerf_tune_failure_word(seen->failure));
    else
        kerf_json_number(json, "value", seen->value);
    kerf_json_number(json, "start_s", seen->start_s);
    kerf_json_number(json, "end_s", seen->end_s);
    if (seen->slot) kerf_json_integer(json, "slot", seen->slot);
    if (seen->warmup) kerf_json_boolean(json, "warmup", 1);
    if (seen->disturbed) kerf_json_boolean(json, "disturbed", 1);
    if (result->load_s > 0) kerf_json_number(json, "load_s", result->load_s);
    kerf_json_number(json, "wall_s", result->wall_s);
    if (!isnan(result->cpu_s)) kerf_json_number(json, "cpu_s", result->cpu_s);
    if (result->peak_bytes) kerf_json_integer(json, "peak_bytes", result->peak_bytes);
    if (!isnan(result->machine.others)) kerf_json_number(json, "others", result->machine.others);
    if (!isnan(result->machine.between)) kerf_json_number(json, "others_between", result->machine.between);
    if (!isnan(result->machine.steal)) kerf_json_number(json, "steal", result->machine.steal);
    if (!isnan(result->machine.pressure)) kerf_json_number(json, "pressure", result->machine.pressure);
    if (!isnan(result->machine.frequency)) kerf_json_number(json, "frequency", result->machine.frequency);
    if (result->message[0]) kerf_json_string(json, "message", result->message);
    kerf_json_integer(json, "loads", entry->loads);
    kerf_json_string(json, "why", entry->why);
}

int32_t study_journal_skip(struct study_journal *journal, const struct kerf_tune_space *space,
                           const char *const *skipped, struct kerf_error *err) {
    struct kerf_text line = {0}, setting = {0};
    struct kerf_json json = {0};
    kerf_json_begin(&json, &line);
    kerf_json_open(&json, NULL, '{');
    kerf_json_open(&json, "skipped", '[');
    for (int32_t i = 0; i < space->num_settings; i++) {
        if (skipped[i] == NULL) continue;
        kerf_text_clear(&setting);
        kerf_tune_setting_write(space, i, &setting);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "setting", setting.data);
        kerf_json_string(&json, "reason", skipped[i]);
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    if (setting.failed) line.failed = 1;
    kerf_text_free(&setting);
    return append_and_free(journal, &line, err);
}

int32_t study_journal_add(struct study_journal *journal, const struct kerf_tune_space *space,
                          const struct study_entry *entry, struct kerf_error *err) {
    struct kerf_text line = {0}, setting = {0};
    struct kerf_json json = {0};
    kerf_tune_setting_write(space, entry->result.observation.setting, &setting);
    kerf_json_begin(&json, &line);
    kerf_json_open(&json, NULL, '{');
    kerf_json_integer(&json, "n", ++journal->num_entries);
    kerf_json_string(&json, "setting", setting.data);
    study_entry_members(&json, entry);
    kerf_json_close(&json, '}');
    if (setting.failed) line.failed = 1;
    kerf_text_free(&setting);
    return append_and_free(journal, &line, err);
}

int32_t study_journal_stop(struct study_journal *journal, const char *stopped, const char *reason, double elapsed_s,
                           int64_t loads, struct kerf_error *err) {
    struct kerf_text line = {0};
    struct kerf_json json = {0};
    kerf_json_begin(&json, &line);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "stopped", stopped);
    kerf_json_number(&json, "elapsed_s", elapsed_s);
    kerf_json_integer(&json, "loads", loads);
    kerf_json_string(&json, "reason", reason);
    kerf_json_close(&json, '}');
    return append_and_free(journal, &line, err);
}

struct study_journal *study_journal_close(struct study_journal *journal) {
    if (journal == NULL) return NULL;
    if (journal->fd >= 0) close(journal->fd);
    free(journal);
    return NULL;
}
