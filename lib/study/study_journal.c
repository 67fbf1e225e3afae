/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study_journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "study/study_request.h"

/* ---- Words -------------------------------------------------------------------------------------------------- */

void kerf_study_time_write(int64_t seconds, char text[KERF_STUDY_TIME_SIZE]) {
    time_t time = (time_t)seconds;
    struct tm parts;
    if (gmtime_r(&time, &parts) == NULL || strftime(text, KERF_STUDY_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text[0] = 0;
}

/* as kerf_study_time_write has it; 0 where it is not such a text */
static int64_t study_time_read(const char *text) {
    struct tm parts = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts) : NULL;
    return end && *end == 0 ? (int64_t)timegm(&parts) : 0;
}

static const char *const outcomes[] = {
    [KERF_TUNE_VALUE] = "value", [KERF_TUNE_CENSORED] = "censored", [KERF_TUNE_FAILED] = "failed"};

const char *kerf_study_outcome_word(int32_t outcome) { return outcomes[outcome]; }

/* -1: not a word of them */
static int32_t study_outcome_of(const char *word) {
    for (size_t i = 0; word && i < sizeof outcomes / sizeof *outcomes; i++)
        if (strcmp(outcomes[i], word) == 0) return (int32_t)i;
    return -1;
}

/* -1: not a word of them; of no word none */
static int32_t study_failure_of(const char *word) {
    for (int32_t i = 0; word && i < KERF_TUNE_FAILURE_COUNT; i++)
        if (strcmp(kerf_tune_failure_word(i), word) == 0) return i;
    return word ? -1 : KERF_TUNE_FAILURE_NONE;
}

/* ---- The folder ---------------------------------------------------------------------------------------------- */

int32_t kerf_study_folder(char path[KERF_STUDY_PATH_SIZE], struct kerf_error *err) {
    const char *own = getenv("KERF_STUDIES"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (own && *own)
        length = snprintf(path, KERF_STUDY_PATH_SIZE, "%s", own);
    else if (state && *state == '/')
        length = snprintf(path, KERF_STUDY_PATH_SIZE, "%s/kerf/studies", state);
    else if (home && *home)
        length = snprintf(path, KERF_STUDY_PATH_SIZE, "%s/.local/state/kerf/studies", home);
    if (length < 0)
        return kerf_error_set(
            err, KERF_EINVALID,
            "studies are kept under $HOME, which is not set; set $KERF_STUDIES, or give --no-journal");
    if (length >= KERF_STUDY_PATH_SIZE)
        return kerf_error_set(err, KERF_EINVALID, "the path of the folder of studies is too long");
    return KERF_OK;
}

static const char ENDING[] = ".jsonl";

/* Whether a study is named by its journal: with a slash, or by the ending. */
static int is_path(const char *study) {
    size_t length = strlen(study);
    return strchr(study, '/') || (length >= sizeof ENDING && strcmp(study + length - (sizeof ENDING - 1), ENDING) == 0);
}

/* When the study of a journal began; 0: it does not say. */
static int64_t began_of(int folder, const char *name) {
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has no head */
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *line = NULL;
    size_t size = 0;
    int64_t began_s = 0;
    if (file && getline(&line, &size, file) > 0) {
        json_t *head = json_loads(line, 0, NULL);
        began_s = study_time_read(json_string_value(json_object_get(head, "began")));
        json_decref(head);
    }
    free(line);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return began_s;
}

struct dated {
    char *id;
    int64_t began_s;
};

static int newest_first(const void *a, const void *b) {
    const struct dated *x = a, *y = b;
    return x->began_s != y->began_s ? (x->began_s < y->began_s) - (x->began_s > y->began_s) : strcmp(y->id, x->id);
}

/* The studies of a folder in any order; "20261121-213002-5f1c.jsonl" is one. 0: no memory. */
static int list_dated(DIR *folder, struct dated **ret_items, size_t *ret_count) {
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || !is_path(entry->d_name)) continue;
        struct dated *more = realloc(*ret_items, (*ret_count + 1) * sizeof *more);
        if (more == NULL) return 0;
        *ret_items = more;
        char *id = strndup(entry->d_name, strlen(entry->d_name) - (sizeof ENDING - 1));
        if (id == NULL) return 0;
        more[(*ret_count)++] = (struct dated){id, began_of(dirfd(folder), entry->d_name)};
    }
    return 1;
}

int32_t kerf_study_ids(struct kerf_study_strings *ret_ids, struct kerf_error *err) {
    char path[KERF_STUDY_PATH_SIZE];
    struct dated *items = NULL;
    size_t count = 0;
    int32_t code = kerf_study_folder(path, err);
    if (code != KERF_OK) return code;
    DIR *folder = opendir(path);
    if (folder == NULL && errno != ENOENT) return kerf_error_set(err, KERF_EIO, "%.200s: %s", path, strerror(errno));
    int is_listed = folder == NULL || list_dated(folder, &items, &count);
    if (folder) closedir(folder);
    if (count > 1) qsort(items, count, sizeof *items, newest_first);
    struct kerf_study_strings ids = {is_listed && count ? calloc(count, sizeof *ids.items) : NULL, 0};
    if (!is_listed || (count && ids.items == NULL)) code = error_no_memory(err, "the list of studies");
    for (size_t i = 0; i < count; i++)
        if (code == KERF_OK)
            ids.items[ids.count++] = items[i].id;
        else
            free(items[i].id);
    free(items);
    if (code == KERF_OK) *ret_ids = ids;
    return code;
}

void kerf_study_ids_free(struct kerf_study_strings *ids) {
    for (int32_t i = 0; i < ids->count; i++) free((char *)(uintptr_t)ids->items[i]);
    free(ids->items);
    *ids = (struct kerf_study_strings){0};
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

struct study_journal {
    int fd;
    int32_t num_entries;
    char path[KERF_STUDY_PATH_SIZE];
};

static int32_t fail(const struct study_journal *journal, const char *what, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EIO, "the journal %.200s cannot be %s: %s; --no-journal runs without one",
                          journal->path, what, strerror(errno));
}

/* Writes a whole line to the disk; after an error the journal is as long as before. */
static int32_t append(struct study_journal *journal, struct kerf_text *line, struct kerf_error *err) {
    kerf_text_add(line, "\n");
    if (line->failed) return error_no_memory(err, "a line of the journal");
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

static void make_id(char id[KERF_STUDY_ID_SIZE]) {
    unsigned char random[2];
    time_t now = (time_t)clock_now_s();
    struct tm parts;
    char date[32] = "study";
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) random[0] = random[1] = (unsigned char)getpid();
    if (gmtime_r(&now, &parts)) strftime(date, sizeof date, "%Y%m%d-%H%M%S", &parts);
    snprintf(id, KERF_STUDY_ID_SIZE, "%s-%02x%02x", date, random[0], random[1]);
}

static int32_t check_id(const char *id, struct kerf_error *err) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (id[0] == 0 || id[0] == '.' || id[0] == '-' || id[strspn(id, allowed)] || strlen(id) + 1 > KERF_STUDY_ID_SIZE)
        return kerf_error_set(err, KERF_EINVALID,
                              "a study's name is made of letters, digits, '-', '_' and '.', not '%.64s'", id);
    if (is_path(id)) return kerf_error_set(err, KERF_EINVALID, "a study's name does not end in .jsonl: '%.64s'", id);
    return KERF_OK;
}

static int32_t open_locked(struct study_journal *journal, int flags, struct kerf_error *err) {
    journal->fd = open(journal->path, flags | O_RDWR | O_CLOEXEC, 0666);
    if (journal->fd < 0 && errno == EEXIST)
        return kerf_error_set(err, KERF_EINVALID, "the study %.200s exists already; --resume continues it",
                              journal->path);
    if (journal->fd < 0) return fail(journal, "opened", err);
    if (flock(journal->fd, LOCK_EX | LOCK_NB) == 0) return KERF_OK;
    return errno == EWOULDBLOCK
               ? kerf_error_set(err, KERF_EINVALID, "another kerf runs the study %.200s", journal->path)
               : fail(journal, "locked", err);
}

static void put_now(struct kerf_json *json, const char *key) {
    char text[KERF_STUDY_TIME_SIZE];
    kerf_study_time_write((int64_t)clock_now_s(), text);
    kerf_json_string(json, key, text);
}

static int32_t write_head(struct study_journal *journal, const struct kerf_study_request *request, const char *id,
                          struct kerf_error *err) {
    struct kerf_text line = {0};
    struct kerf_json json = {0};
    char key[KERF_STUDY_KEY_SIZE];
    study_key(request, key);
    kerf_json_begin(&json, &line);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_integer(&json, "journal", 1);
    kerf_json_string(&json, "study", id);
    kerf_json_string(&json, "key", key);
    put_now(&json, "began");
    kerf_json_open(&json, "request", '{');
    kerf_study_request_write(request, &json);
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
    return append_and_free(journal, &line, err);
}

int32_t study_journal_create(const struct kerf_study_request *request, char id[KERF_STUDY_ID_SIZE],
                             struct study_journal **ret_journal, struct kerf_error *err) {
    char folder[KERF_STUDY_PATH_SIZE];
    int32_t code = id[0] ? check_id(id, err) : KERF_OK;
    if (code == KERF_OK) code = kerf_study_folder(folder, err);
    if (code != KERF_OK) return code;
    struct study_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) return error_no_memory(err, "a journal");
    if (id[0] == 0) make_id(id);
    journal->fd = -1;
    if ((size_t)snprintf(journal->path, sizeof journal->path, "%s/%s.jsonl", folder, id) >= sizeof journal->path)
        code = kerf_error_set(err, KERF_EINVALID, "the path of the folder of studies is too long");
    else if (make_folders(folder) != 0)
        code = fail(journal, "made", err);
    else
        code = open_locked(journal, O_CREAT | O_EXCL, err);
    int is_made = code == KERF_OK;
    if (is_made) code = write_head(journal, request, id, err);
    if (is_made && code != KERF_OK) unlink(journal->path); /* a study that never began */
    if (code != KERF_OK)
        study_journal_close(journal);
    else
        *ret_journal = journal;
    return code;
}

int32_t study_journal_resume(const struct kerf_study_record *record, struct study_journal **ret_journal,
                             struct kerf_error *err) {
    struct study_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL) return error_no_memory(err, "a journal");
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

void kerf_study_entry_members(struct kerf_json *json, const struct kerf_study_entry *entry) {
    const struct kerf_trial_result *result = &entry->result;
    const struct kerf_tune_observation *seen = &result->observation;
    kerf_json_string(json, "outcome", kerf_study_outcome_word(seen->outcome));
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

int32_t study_journal_sizes(struct study_journal *journal, const struct study_sizes *sizes, struct kerf_error *err) {
    struct kerf_text line = {0};
    struct kerf_json json = {0};
    kerf_json_begin(&json, &line);
    kerf_json_open(&json, NULL, '{');
    kerf_json_open(&json, "sizes", '[');
    for (int32_t i = 0; i < sizes->count; i++) kerf_json_integer(&json, NULL, sizes->items[i]);
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    return append_and_free(journal, &line, err);
}

int32_t study_journal_add(struct study_journal *journal, const struct kerf_tune_space *space,
                          const struct kerf_study_entry *entry, double second, struct kerf_error *err) {
    struct kerf_text line = {0}, setting = {0};
    struct kerf_json json = {0};
    kerf_tune_setting_write(space, entry->result.observation.setting, &setting);
    kerf_json_begin(&json, &line);
    kerf_json_open(&json, NULL, '{');
    kerf_json_integer(&json, "n", ++journal->num_entries);
    kerf_json_string(&json, "setting", setting.data);
    kerf_study_entry_members(&json, entry);
    if (!isnan(second)) kerf_json_number(&json, "second", second);
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

/* ---- Reading ------------------------------------------------------------------------------------------------- */

struct whole_record {
    struct kerf_study_record record; /* first: the caller's pointer is this one's */
    json_t *document;                /* of the first line; the request points into it */
    json_t *skipped_document;        /* of the line that says what was skipped; NULL: there is none */
    struct study_sizes sizes;
};

static struct whole_record *whole_of(struct kerf_study_record *record) { return (struct whole_record *)record; }

const struct study_sizes *study_record_sizes(const struct kerf_study_record *record) {
    return &((const struct whole_record *)record)->sizes;
}

struct kerf_study_record *kerf_study_record_free(struct kerf_study_record *record) {
    if (record == NULL) return NULL;
    study_request_free(&record->request);
    kerf_tune_space_free(record->space);
    json_decref(whole_of(record)->document);
    json_decref(whole_of(record)->skipped_document);
    free(record->skipped);
    free(record->entries);
    free(record->seconds);
    free(record);
    return NULL;
}

static int32_t path_of(const char *study, char path[KERF_STUDY_PATH_SIZE], struct kerf_error *err) {
    char folder[KERF_STUDY_PATH_SIZE];
    int32_t code = is_path(study) ? KERF_OK : kerf_study_folder(folder, err);
    if (code != KERF_OK) return code;
    int written = is_path(study) ? snprintf(path, KERF_STUDY_PATH_SIZE, "%s", study)
                                 : snprintf(path, KERF_STUDY_PATH_SIZE, "%s/%s.jsonl", folder, study);
    return written < KERF_STUDY_PATH_SIZE
               ? KERF_OK
               : kerf_error_set(err, KERF_EINVALID, "the name '%.64s...' is too long", study);
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

static int32_t read_head(struct kerf_study_record *record, json_t *line, struct kerf_error *err) {
    if (json_integer_value(json_object_get(line, "journal")) != 1)
        return kerf_error_set(err, KERF_EUNSUPPORTED,
                              "the first line must be that of a study's journal of version 1, with \"journal\":1");
    whole_of(record)->document = json_incref(line);
    copy(record->id, sizeof record->id, json_object_get(line, "study"));
    copy(record->key, sizeof record->key, json_object_get(line, "key"));
    record->began_s = study_time_read(json_string_value(json_object_get(line, "began")));
    int32_t code = study_request_read(json_object_get(line, "request"), &record->request, err);
    return code == KERF_OK ? kerf_study_request_space(&record->request, &record->space, err) : code;
}

/* Measurements are numbered 1, 2, .. without a gap and without a double. */
static int32_t check_number(const struct kerf_study_record *record, const json_t *number, struct kerf_error *err) {
    int64_t n = json_is_integer(number) ? json_integer_value(number) : -1, next = (int64_t)record->num_entries + 1;
    if (n == next) return KERF_OK;
    if (n < 1)
        return kerf_error_set(err, KERF_ESYNTAX, "\"n\" must be the measurement's number, which is %" PRId64, next);
    if (n < next) return kerf_error_set(err, KERF_EINVALID, "measurement %" PRId64 " appears twice", n);
    return kerf_error_set(err, KERF_EINVALID,
                          "measurement %" PRId64 " follows measurement %" PRId64 ": lines are missing", n, next - 1);
}

/* The entry's number of the second objective, where the study has one. */
static int32_t read_second(struct kerf_study_record *record, const json_t *line, int32_t outcome,
                           struct kerf_error *err) {
    char name[KERF_STUDY_NAME_SIZE];
    int32_t maximize;
    if (!kerf_study_request_second(&record->request, name, &maximize)) return KERF_OK;
    double *more = realloc(record->seconds, ((size_t)record->num_entries + 1) * sizeof *more);
    if (more == NULL) return error_no_memory(err, "a study");
    record->seconds = more;
    more[record->num_entries] = real_or(line, "second", NAN);
    if (outcome == KERF_TUNE_FAILED || isfinite(more[record->num_entries])) return KERF_OK;
    return kerf_error_set(err, KERF_ESYNTAX, "\"second\" must be the number of %s, the second objective", name);
}

/* Members may be missing, in an older journal, but are not of another type. */
static int32_t check_types(const json_t *line, struct kerf_error *err) {
    static const char *const numbers[] = {"start_s",  "end_s",      "slot",   "load_s",         "wall_s",
                                          "cpu_s",    "peak_bytes", "others", "others_between", "steal",
                                          "pressure", "frequency",  "loads"};
    static const char *const switches[] = {"warmup", "disturbed"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *value = json_object_get(line, numbers[i]);
        if (value && !json_is_number(value) && !json_is_null(value))
            return kerf_error_set(err, KERF_ESYNTAX, "\"%s\" must be a number", numbers[i]);
    }
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        const json_t *value = json_object_get(line, switches[i]);
        if (value && !json_is_boolean(value))
            return kerf_error_set(err, KERF_ESYNTAX, "\"%s\" must be true or false", switches[i]);
    }
    return KERF_OK;
}

static int32_t read_entry(struct kerf_study_record *record, const json_t *line, struct kerf_error *err) {
    struct kerf_study_entry entry = {.result = {.id = record->num_entries, .status = -1}};
    struct kerf_trial_result *result = &entry.result;
    struct kerf_tune_observation *seen = &result->observation;
    const char *setting = json_string_value(json_object_get(line, "setting"));
    int32_t code = check_number(record, json_object_get(line, "n"), err);
    if (code == KERF_OK) code = check_types(line, err);
    if (code == KERF_OK) code = kerf_tune_setting_read(record->space, setting ? setting : "", &seen->setting, err);
    if (code != KERF_OK) return code;
    seen->outcome = study_outcome_of(json_string_value(json_object_get(line, "outcome")));
    if (seen->outcome < 0) return kerf_error_set(err, KERF_ESYNTAX, "\"outcome\" must be value, censored or failed");
    seen->failure = study_failure_of(json_string_value(json_object_get(line, "failure")));
    if (seen->failure < 0) return kerf_error_set(err, KERF_ESYNTAX, "\"failure\" is not a kind of failure");
    seen->value = real_or(line, "value", seen->outcome == KERF_TUNE_FAILED ? 0 : NAN);
    if (isnan(seen->value))
        return kerf_error_set(err, KERF_ESYNTAX, "\"value\" must be the number that the run took or printed");
    seen->start_s = real_or(line, "start_s", 0);
    seen->end_s = real_or(line, "end_s", 0);
    if (seen->end_s < seen->start_s)
        return kerf_error_set(err, KERF_EINVALID, "\"end_s\" %g is before \"start_s\" %g", seen->end_s, seen->start_s);
    json_int_t slot = json_integer_value(json_object_get(line, "slot"));
    if (slot < 0 || slot >= record->request.slots)
        return kerf_error_set(err, KERF_EINVALID, "\"slot\" must be 0 to %d", record->request.slots - 1);
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
    if ((code = read_second(record, line, seen->outcome, err)) != KERF_OK) return code;
    struct kerf_study_entry *more = realloc(record->entries, ((size_t)record->num_entries + 1) * sizeof *more);
    if (more == NULL) return error_no_memory(err, "a study");
    record->entries = more;
    record->entries[record->num_entries++] = entry;
    const json_t *loads = json_object_get(line, "loads"); /* which an older journal does not tell */
    int is_start = result->load_s > 0 || strcmp(record->request.protocol, "worker") != 0;
    record->loads = json_is_integer(loads) ? json_integer_value(loads) : record->loads + is_start;
    record->entries[record->num_entries - 1].loads = record->loads;
    return KERF_OK;
}

static int32_t read_skipped(struct kerf_study_record *record, json_t *line, struct kerf_error *err) {
    const json_t *list = json_object_get(line, "skipped");
    if (record->skipped) return kerf_error_set(err, KERF_ESYNTAX, "a second line with \"skipped\"; a journal has one");
    if (!json_is_array(list)) return kerf_error_set(err, KERF_ESYNTAX, "\"skipped\" must be an array");
    record->skipped = calloc((size_t)kerf_tune_space_capacity(record->space), sizeof *record->skipped);
    if (record->skipped == NULL) return error_no_memory(err, "a study");
    whole_of(record)->skipped_document = json_incref(line);
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

static int32_t read_sizes(struct kerf_study_record *record, const json_t *list, struct kerf_error *err) {
    struct study_sizes *sizes = &whole_of(record)->sizes;
    if (sizes->count > 0) return kerf_error_set(err, KERF_ESYNTAX, "a second line with \"sizes\"; a journal has one");
    if (json_array_size(list) < 1 || json_array_size(list) > KERF_TRIAL_SIZES_MAX)
        return kerf_error_set(err, KERF_ESYNTAX, "\"sizes\" must be 1 to %d numbers", KERF_TRIAL_SIZES_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_integer(item)) return kerf_error_set(err, KERF_ESYNTAX, "\"sizes\" must be integers");
        sizes->items[sizes->count++] = json_integer_value(item);
    }
    return KERF_OK;
}

static int32_t read_line(struct kerf_study_record *record, json_t *line, struct kerf_error *err) {
    if (whole_of(record)->document == NULL) return read_head(record, line, err);
    if (json_object_get(line, "journal"))
        return kerf_error_set(err, KERF_EINVALID, "a second header line: were two journals joined?");
    if (json_object_get(line, "n")) {
        record->stopped[0] = 0;
        return read_entry(record, line, err);
    }
    if (json_object_get(line, "resumed")) record->stopped[0] = 0;
    if (json_object_get(line, "skipped")) return read_skipped(record, line, err);
    if (json_object_get(line, "sizes")) return read_sizes(record, json_object_get(line, "sizes"), err);
    if (json_object_get(line, "stopped")) {
        copy(record->stopped, sizeof record->stopped, json_object_get(line, "stopped"));
        copy(record->reason, sizeof record->reason, json_object_get(line, "reason"));
        record->elapsed_s = real_or(line, "elapsed_s", record->elapsed_s);
        record->loads = json_integer_value(json_object_get(line, "loads"));
    }
    return KERF_OK;
}

/* ---- The file ----------------------------------------------------------------------------------------------- */

static int32_t read_lines(struct kerf_study_record *record, FILE *file, int peek, struct kerf_error *err) {
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    int32_t code = KERF_OK;
    for (int32_t number = 1; code == KERF_OK && (length = getline(&text, &size, file)) > 0; number++) {
        if (text[length - 1] != '\n') break; /* cut off by a crash */
        json_error_t fault;
        json_t *line = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &fault);
        code = line == NULL ? kerf_error_set(err, KERF_ESYNTAX, "not valid JSON: %s", fault.text)
               : json_is_object(line)
                   ? read_line(record, line, err)
                   : kerf_error_set(err, KERF_ESYNTAX, "each line of a journal must be a JSON object");
        json_decref(line);
        if (code != KERF_OK && err) {
            err->line = number;
            err->column = 1;
            error_set_file(err, record->path);
        }
        record->whole_bytes += length;
        if (peek) break;
    }
    free(text);
    if (code == KERF_OK && ferror(file))
        code = kerf_error_set(err, KERF_EIO, "%.200s: %s", record->path, strerror(errno));
    if (code == KERF_OK && whole_of(record)->document == NULL)
        code = kerf_error_set(err, KERF_ESYNTAX, "%.200s has no header line, so it is not the journal of a study",
                              record->path);
    return code;
}

/* Of a study that crashed. Times are by kerf's clock, but those of a single worker, whose trials add up. */
static double least_elapsed_s(const struct kerf_study_record *record) {
    double sum_s = 0, last_s = 0;
    for (int32_t i = 0; i < record->num_entries; i++) {
        const struct kerf_trial_result *result = &record->entries[i].result;
        sum_s += result->wall_s + result->load_s;
        last_s = fmax(last_s, result->observation.end_s);
    }
    return record->request.slots == 1 && strcmp(record->request.protocol, "worker") == 0 ? sum_s : last_s;
}

static int32_t open_and_read(const char *study, int peek, struct kerf_study_record **ret_record,
                             struct kerf_error *err) {
    struct whole_record *whole = calloc(1, sizeof *whole);
    if (whole == NULL) return error_no_memory(err, "a study");
    struct kerf_study_record *record = &whole->record;
    int32_t code = path_of(study, record->path, err);
    FILE *file = code == KERF_OK ? fopen(record->path, "re") : NULL;
    if (code == KERF_OK && file == NULL)
        code = errno == ENOENT
                   ? kerf_error_set(err, KERF_EUNKNOWN, "there is no study '%.200s'; `kerf studies` lists them", study)
                   : kerf_error_set(err, KERF_EIO, "%.200s: %s", record->path, strerror(errno));
    struct stat status;
    if (code == KERF_OK && fstat(fileno(file), &status) == 0 && S_ISCHR(status.st_mode)) /* whose line may never end */
        code = kerf_error_set(err, KERF_EINVALID, "%.200s: a device, not the journal of a study", record->path);
    if (code == KERF_OK) code = read_lines(record, file, peek, err);
    if (code == KERF_OK && !is_path(study)) /* a journal that was renamed is found by its new name */
        snprintf(record->id, sizeof record->id, "%s", study);
    if (file) fclose(file);
    if (code != KERF_OK) {
        kerf_study_record_free(record);
        return code;
    }
    if (record->stopped[0] == 0) record->elapsed_s = fmax(record->elapsed_s, least_elapsed_s(record));
    *ret_record = record;
    return KERF_OK;
}

int32_t kerf_study_record_read(const char *study, struct kerf_study_record **ret_record, struct kerf_error *err) {
    return open_and_read(study, 0, ret_record, err);
}

int32_t study_record_peek(const char *study, struct kerf_study_record **ret_record, struct kerf_error *err) {
    return open_and_read(study, 1, ret_record, err);
}
