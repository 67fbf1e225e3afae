/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study's journal: one file of JSON lines, to which every observation is appended, and flushed to the disk, before
 * the next one begins. What is in it is all that a study needs to go on after a kill -9.
 *
 *     {"kerf":"0.2.0","journal":1,"study":"20261121-213002-5f1c","key":"...","began":"2026-11-21T21:30:02Z","request":{...}}
 *     {"skipped":[{"setting":"batch=4096,ubatch=4096","reason":"needs 31 GiB, of 24 GiB"}]}
 *     {"sizes":[2,32768,2097152]}
 *     {"n":1,"setting":"batch=512,ubatch=128","outcome":"value","value":0.47,"start_s":0,"end_s":0.47,...,"loads":1,"why":"..."}
 *     {"resumed":"2026-11-21T22:10:00Z"}
 *     {"stopped":"confident","elapsed_s":41.2,"loads":1,"reason":"..."}
 *
 * With a second objective a measurement has its number as "second", too.
 *
 * What was skipped is what a memory model ruled out when the study began. It stays skipped, however much memory is free
 * later; the sizes are those of the machine that it began on, as of kerf_trial_machine_sizes. Older journals have no such
 * lines.
 *
 * A line that was cut off by a crash is the last one, and is taken away when the study goes on. While a study runs it
 * holds a lock on the file, so that two never write to one.
 */
#ifndef KERF_STUDY_STUDY_JOURNAL_H
#define KERF_STUDY_STUDY_JOURNAL_H

#include "kerf/study.h"

/* ---- Reading ------------------------------------------------------------------------------------------------- */

/* The first line of it alone: no entries. */
int32_t study_record_peek(const char *study, struct kerf_study_record **ret_record, struct kerf_error *err);

/* Sizes of the machine that the study began on. */
struct study_sizes {
    int64_t items[KERF_TRIAL_SIZES_MAX]; /* [count] */
    int32_t count;
};
const struct study_sizes *study_record_sizes(const struct kerf_study_record *record);

/* ---- Writing ------------------------------------------------------------------------------------------------ */

struct study_journal;

/* A new journal; id is "" or the name it shall have, and is filled in. KERF_EINVALID where it is there already. */
int32_t study_journal_create(const struct kerf_study_request *request, char id[KERF_STUDY_ID_SIZE],
                             struct study_journal **ret_journal, struct kerf_error *err);

/* Goes on with the journal that was read. KERF_EINVALID while another kerf writes to it. */
int32_t study_journal_resume(const struct kerf_study_record *record, struct study_journal **ret_journal,
                             struct kerf_error *err);

/* skipped: [num_settings] why a setting must not be measured, NULL: it may. Once for each journal. */
int32_t study_journal_skip(struct study_journal *journal, const struct kerf_tune_space *space,
                           const char *const *skipped, struct kerf_error *err);
int32_t study_journal_sizes(struct study_journal *journal, const struct study_sizes *sizes, struct kerf_error *err);
/* second: of the second objective; NAN: there is none, or the run failed. */
int32_t study_journal_add(struct study_journal *journal, const struct kerf_tune_space *space,
                          const struct kerf_study_entry *entry, double second, struct kerf_error *err);
int32_t study_journal_stop(struct study_journal *journal, const char *stopped, const char *reason, double elapsed_s,
                           int64_t loads, struct kerf_error *err);
struct study_journal *study_journal_close(struct study_journal *journal);

/* ---- What earlier studies of the same command, files and machine measured (study_earlier.c) -------------------- */

/* The newest of them, a few; to be given back with study_ids_free. None where there is no folder of studies. Journals
 * that cannot be read are passed over. */
int32_t study_earlier_ids(const struct kerf_study_request *request, struct kerf_study_strings *ret_ids,
                          struct kerf_error *err);

struct study_earlier {
    struct kerf_tune_observation *items; /* [count] settings of the space that was asked for; slot: 0, 1, .. by study */
    int32_t count, studies;
    struct kerf_study_strings missing; /* those of the ids that are gone or cannot be read; the strings are the ids' */
};

/* Their observations of settings that are in the space. key: NULL, or what the studies had; a study of another key is as
 * good as gone. Where more is better (maximize), runs that were stopped say nothing, and are left out. */
int32_t study_earlier_load(const struct kerf_study_strings *ids, const char *key, const struct kerf_tune_space *space,
                           int32_t maximize, struct study_earlier *ret_earlier, struct kerf_error *err);
void study_earlier_free(struct study_earlier *earlier);

#endif
