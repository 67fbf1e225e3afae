/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study's journal: one file of JSON lines, to which every observation is appended, and flushed to the disk, before
 * the next one begins. What is in it is all that a study needs to go on after a kill -9.
 *
 *     {"kerf":"0.1.0","journal":1,"study":"20261121-213002-5f1c","key":"...","began":"2026-11-21T21:30:02Z","request":{...}}
 *     {"skipped":[{"setting":"batch=4096,ubatch=4096","reason":"needs 31 GiB, of 24 GiB"}]}
 *     {"n":1,"setting":"batch=512,ubatch=128","outcome":"value","value":0.47,"start_s":0,"end_s":0.47,...,"loads":1,"why":"..."}
 *     {"resumed":"2026-11-21T22:10:00Z"}
 *     {"stopped":"confident","elapsed_s":41.2,"loads":1,"reason":"..."}
 *
 * What was skipped is what a memory model ruled out when the study began. It counts ever after, whatever memory is free
 * by then; older journals have no such line.
 *
 * A line that was cut off by a crash is the last one, and is taken away when the study goes on. While a study runs it
 * holds a lock on the file, so that two never write to one.
 */
#ifndef KERF_STUDY_STUDY_JOURNAL_H
#define KERF_STUDY_STUDY_JOURNAL_H

#include "study/study_key.h"

enum { STUDY_ID_SIZE = 64, STUDY_PATH_SIZE = 4096, STUDY_TIME_SIZE = 32 };

/* One line of an observation. */
struct study_entry {
    struct kerf_trial_result result;
    char why[200]; /* the decision's reason */
    int64_t loads; /* starts of the program since the study began */
};

/* A journal as it was read; everything is its own. */
struct study_record {
    char id[STUDY_ID_SIZE], key[STUDY_KEY_SIZE], path[STUDY_PATH_SIZE];
    json_t *document; /* of the first line; the request points into it */
    struct study_request request;
    struct kerf_tune_space *space;
    struct study_entry *entries; /* [num_entries] */
    int32_t num_entries;
    json_t *skipped_document; /* of the line that says what was skipped; NULL: there is none */
    const char **skipped;     /* [num_settings] why, in that document, NULL: it was not; NULL without such a line */
    int64_t began_s;          /* since 1970 */
    int64_t loads;            /* starts of the program, in all */
    double elapsed_s;
    char stopped[16]; /* "confident", ...; "" while it runs or after a crash */
    char reason[400];
    int64_t whole_bytes; /* up to the end of the last whole line */
};

/* ---- Words --------------------------------------------------------------------------------------------------- */

/* "2026-11-21T21:30:02Z" and back; 0 where it is not such a text. */
void study_time_write(int64_t seconds, char text[STUDY_TIME_SIZE]);
int64_t study_time_read(const char *text);

const char *study_outcome_word(int32_t outcome); /* "value", "censored", "failed" */
int32_t study_outcome_of(const char *word);      /* -1: none of them */
int32_t study_failure_of(const char *word);

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* study is an id in the folder of journals, or the path of a file (with a slash or ending in .jsonl). Measurements that
 * are missing or there twice are errors, with the file and the line. */
int32_t study_record_read(const char *study, struct study_record **ret_record, struct kerf_error *err);

/* The first line of it alone: no entries. */
int32_t study_record_peek(const char *study, struct study_record **ret_record, struct kerf_error *err);
struct study_record *study_record_free(struct study_record *record);

/* All studies in the folder, the newest first: ids, to be given back with study_ids_free. */
int32_t study_ids(struct string_list *ret_ids, struct kerf_error *err);
void study_ids_free(struct string_list *ids);

/* $KERF_STUDIES, else $XDG_STATE_HOME/kerf/studies, else ~/.local/state/kerf/studies. */
int32_t study_folder(char path[STUDY_PATH_SIZE], struct kerf_error *err);

/* ---- Writing ------------------------------------------------------------------------------------------------ */

struct study_journal;

/* A new journal; id is "" or the name it shall have, and is filled in. KERF_EINVALID where it is there already. */
int32_t study_journal_create(const struct study_request *request, char id[STUDY_ID_SIZE],
                             struct study_journal **ret_journal, struct kerf_error *err);

/* Goes on with the journal that was read. KERF_EINVALID while another kerf writes to it. */
int32_t study_journal_resume(const struct study_record *record, struct study_journal **ret_journal,
                             struct kerf_error *err);

/* skipped: [num_settings] why a setting must not be measured, NULL: it may. Once for each journal. */
int32_t study_journal_skip(struct study_journal *journal, const struct kerf_tune_space *space,
                           const char *const *skipped, struct kerf_error *err);
int32_t study_journal_add(struct study_journal *journal, const struct kerf_tune_space *space,
                          const struct study_entry *entry, struct kerf_error *err);
int32_t study_journal_stop(struct study_journal *journal, const char *stopped, const char *reason, double elapsed_s,
                           int64_t loads, struct kerf_error *err);
struct study_journal *study_journal_close(struct study_journal *journal);

/* What an observation's line says beside its number and its setting, into an object that is open. */
void study_entry_members(struct kerf_json *json, const struct study_entry *entry);

#endif
