/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of Zeus's database becomes one of kerf's, in one transaction: its spec and state, its trials with their
 * numbers, its arms, and its random generator between the same two draws. So the next decision is the one that Zeus's
 * server would have made.
 *
 * Zeus keeps times as local time without a zone; the zone of this machine is assumed. Leases are learnt from the time
 * between a run's start and its end. That is longer than the gaps between its reports, which Zeus does not store.
 *
 * CMake sets KERF_HAS_POSTGRESQL and KERF_HAS_MARIADB for this file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "zeus/import_sources.h"

#ifndef KERF_HAS_POSTGRESQL
static int32_t cannot_open_postgresql(const char *where, struct import_source **ret_source, struct kerf_error *err) {
    (void)where, (void)ret_source;
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "this kerf was built without PostgreSQL: it needs libpq-dev (14 or newer)");
}

const struct import_methods import_postgresql = {.scheme = "postgresql", .open = cannot_open_postgresql};
#endif

#ifndef KERF_HAS_MARIADB
static int32_t cannot_open_mysql(const char *where, struct import_source **ret_source, struct kerf_error *err) {
    (void)where, (void)ret_source;
    return kerf_error_set(err, KERF_EUNSUPPORTED, "this kerf was built without MySQL: it needs libmariadb-dev");
}

const struct import_methods import_mysql = {.scheme = "mysql", .open = cannot_open_mysql};
#endif

static const struct import_methods *const sources[] = {&import_postgresql, &import_mysql, &import_sqlite};

/* ---- What is read of a job ----------------------------------------------------------------------------------- */

static const char ids_sql[] = "SELECT job_id FROM \"Job\" ORDER BY job_id";
static const char job_sql[] =
    "SELECT job_id_prefix, default_batch_size, higher_is_better_metric, eta_knob, beta_knob, target_metric, max_epochs,"
    " num_pruning_rounds, window_size, max_power, number_of_gpus, gpu_model, mab_prior_mean, mab_prior_precision,"
    " mab_num_explorations, mab_seed, mab_random_generator_state, stage, min_cost, min_cost_batch_size"
    " FROM \"Job\" WHERE job_id=?";
static const char sizes_sql[] = "SELECT batch_size FROM \"BatchSize\" WHERE job_id=? ORDER BY batch_size";
static const char trials_sql[] =
    "SELECT trial_number, batch_size, type, status, converged, time, energy, start_timestamp, end_timestamp"
    " FROM \"Trial\" WHERE job_id=? ORDER BY trial_number";
static const char arms_sql[] =
    "SELECT batch_size, param_mean, param_precision, reward_precision, num_observations FROM \"GaussianTsArmState\""
    " WHERE job_id=? ORDER BY batch_size";

struct list { /* grows */
    void *items;
    size_t count, room;
};

static void *list_add(struct list *list, size_t size) {
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        void *items = realloc(list->items, room * size);
        if (items == NULL) return NULL;
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + size * list->count++;
}

struct zeus_job {
    struct kerf_job_spec spec;
    struct kerf_job_row row;
    char *texts[2]; /* the spec's own */
    struct list sizes, trials, arms;
    double first_s;   /* when its first trial began; 0: it has none */
    const char *what; /* what is wrong with it, or NULL */
};

static void free_job(struct zeus_job *job) {
    free(job->texts[0]);
    free(job->texts[1]);
    free(job->sizes.items);
    free(job->trials.items);
    free(job->arms.items);
}

/* 0 .. count - 1, or -1. */
static int find_name(const char *(*name)(int32_t), int count, const char *text) {
    for (int i = 0; text && i < count; i++)
        if (strcmp(name(i), text) == 0) return i;
    return -1;
}

/* "2026-11-01 12:00:00.123456", with a T in the middle or not. NAN: something else. */
static double read_time(const struct import_value *value) {
    struct tm when = {.tm_isdst = -1};
    int length = 0;
    if (value->is_null || value->text == NULL) return NAN;
    if (sscanf(value->text, "%4d-%2d-%2d%*[ T]%2d:%2d:%2d%n", &when.tm_year, &when.tm_mon, &when.tm_mday, &when.tm_hour,
               &when.tm_min, &when.tm_sec, &length) != 6)
        return NAN;
    when.tm_year -= 1900;
    when.tm_mon--;
    time_t seconds = mktime(&when);
    double part = value->text[length] == '.' ? strtod(value->text + length, NULL) : 0;
    return seconds == (time_t)-1 ? NAN : (double)seconds + part;
}

static int32_t visit_job(void *context, const struct import_value *v, struct kerf_error *err) {
    struct zeus_job *job = context;
    job->texts[0] = strdup(v[0].text ? v[0].text : "");
    job->texts[1] = strdup(v[11].text ? v[11].text : "");
    if (job->texts[0] == NULL || job->texts[1] == NULL) return error_no_memory(err, "an import");
    job->spec = (struct kerf_job_spec){
        .job_id = job->spec.job_id,
        .job_id_prefix = job->texts[0],
        .default_batch_size = v[1].integer,
        .higher_is_better_metric = v[2].integer != 0,
        .eta_knob = v[3].real,
        .has_beta_knob = !v[4].is_null,
        .beta_knob = v[4].real,
        .target_metric = v[5].real,
        .max_epochs = v[6].integer,
        .num_pruning_rounds = v[7].integer,
        .window_size = v[8].integer,
        .max_power = v[9].real,
        .number_of_gpus = v[10].integer,
        .gpu_model = job->texts[1],
        .mab_prior_mean = v[12].real,
        .mab_prior_precision = v[13].real,
        .mab_num_explorations = v[14].integer,
        .has_mab_seed = !v[15].is_null,
        .mab_seed = v[15].integer,
    };
    job->row = (struct kerf_job_row){.stage = find_name(kerf_job_stage_name, KERF_JOB_STAGES, v[17].text),
                                     .has_min_cost = !v[18].is_null,
                                     .min_cost = v[18].real,
                                     .min_cost_batch_size = v[19].integer};
    job->row.has_random =
        !v[16].is_null && v[16].text && kerf_job_random_read(v[16].text, &job->row.random, NULL) == KERF_OK;
    return KERF_OK;
}

static int32_t visit_size(void *context, const struct import_value *v, struct kerf_error *err) {
    int64_t *size = list_add(&((struct zeus_job *)context)->sizes, sizeof *size);
    if (size == NULL) return error_no_memory(err, "an import");
    *size = v[0].integer;
    return KERF_OK;
}

static int32_t visit_arm(void *context, const struct import_value *v, struct kerf_error *err) {
    struct kerf_arm *arm = list_add(&((struct zeus_job *)context)->arms, sizeof *arm);
    if (arm == NULL) return error_no_memory(err, "an import");
    *arm = (struct kerf_arm){.batch_size = v[0].integer,
                             .param_mean = v[1].is_null ? NAN : v[1].real,
                             .param_precision = v[2].is_null ? NAN : v[2].real,
                             .reward_precision = v[3].is_null ? NAN : v[3].real,
                             .num_observations = v[4].integer};
    return KERF_OK;
}

/* What leases are learnt from, and the number of the last trial. */
static void note_trial(struct zeus_job *job, const struct kerf_trial *trial, double end_s) {
    struct kerf_job_row *row = &job->row;
    if (job->first_s == 0) job->first_s = trial->dispatched_s;
    row->last_trial_number = trial->number;
    if (trial->status == KERF_TRIAL_DISPATCHED) return;
    row->trials_ended++;
    if (end_s - trial->dispatched_s > row->longest_gap_s) row->longest_gap_s = end_s - trial->dispatched_s;
}

static int32_t visit_trial(void *context, const struct import_value *v, struct kerf_error *err) {
    struct zeus_job *job = context;
    struct kerf_trial *trial = list_add(&job->trials, sizeof *trial);
    if (trial == NULL) return error_no_memory(err, "an import");
    double start_s = read_time(&v[7]), end_s = read_time(&v[8]);
    *trial = (struct kerf_trial){.number = v[0].integer,
                                 .batch_size = v[1].integer,
                                 .type = find_name(kerf_trial_type_name, KERF_TRIAL_TYPES, v[2].text),
                                 .status = find_name(kerf_trial_status_name, KERF_TRIAL_STATUSES, v[3].text),
                                 .converged = v[4].is_null ? -1 : v[4].integer != 0,
                                 .time_s = v[5].is_null ? NAN : v[5].real,
                                 .energy_j = v[6].is_null ? NAN : v[6].real,
                                 .dispatched_s = isnan(start_s) ? 0 : start_s,
                                 .seen_s = isnan(end_s) ? (isnan(start_s) ? 0 : start_s) : end_s};
    if (trial->number <= job->row.last_trial_number)
        job->what = "its trial numbers are not all different and 1 or more";
    if (trial->type < 0 || trial->status < 0) job->what = "a trial has a type or status that Zeus does not know";
    note_trial(job, trial, end_s);
    return KERF_OK;
}

static int32_t read_job(struct import_source *from, const char *job_id, struct zeus_job *job, struct kerf_error *err) {
    int32_t (*read)(struct import_source *, const char *, const char *, int, import_visit, void *,
                    struct kerf_error *) = from->methods->read;
    job->spec.job_id = job_id;
    int32_t code = read(from, job_sql, job_id, 20, visit_job, job, err);
    if (code == KERF_OK) code = read(from, sizes_sql, job_id, 1, visit_size, job, err);
    if (code == KERF_OK) code = read(from, trials_sql, job_id, 9, visit_trial, job, err);
    if (code == KERF_OK) code = read(from, arms_sql, job_id, 5, visit_arm, job, err);
    job->spec.batch_sizes = job->sizes.items;
    job->spec.num_batch_sizes = (int32_t)job->sizes.count;
    return code;
}

/* ---- What is written ----------------------------------------------------------------------------------------- */

static int32_t write_job(struct store *to, const struct zeus_job *zeus, const struct kerf_job *job, int64_t *ret_key,
                         struct kerf_error *err) {
    const struct store_history history = {.trials = zeus->trials.items, .num_trials = (int64_t)zeus->trials.count};
    struct store_write write = {.kind = STORE_IMPORT,
                                .version = 1,
                                .of = job,
                                .history = &history,
                                .now_s = zeus->first_s > 0 ? zeus->first_s : clock_now_s()};
    int32_t code = store_write_now(to, &write, err);
    *ret_key = write.job;
    return code;
}

/* The job in memory, as kerf would have it; NULL: it cannot be taken over, and err says why. */
static struct kerf_job *make_job(const struct zeus_job *zeus, int32_t flags, struct kerf_error *err) {
    struct kerf_job *job = NULL;
    const struct kerf_arm *arms = zeus->arms.items;
    int32_t code = zeus->what ? kerf_error_set(err, KERF_EINVALID, "%s", zeus->what) : KERF_OK;
    if (code == KERF_OK && zeus->spec.num_batch_sizes == 0)
        code = kerf_error_set(err, KERF_EINVALID, "it has no batch sizes");
    if (code == KERF_OK) code = kerf_job_restore(&zeus->spec, &zeus->row, flags, &job, err);
    for (size_t i = 0; i < zeus->arms.count && code == KERF_OK && zeus->row.stage == KERF_JOB_MAB; i++)
        code = kerf_job_restore_arm(job, &arms[i], err);
    return code == KERF_OK ? job : kerf_job_free(job);
}

struct import {
    struct import_source *from;
    struct store *to;
    int32_t flags;
    import_note note;
    void *context;
    struct kerf_text job_ids; /* one behind the other, each with its NUL */
};

static int32_t import_job(struct import *import, const char *job_id, struct kerf_error *err) {
    struct zeus_job zeus = {.what = NULL};
    struct kerf_error why = {.code = KERF_OK};
    struct store_turn found;
    int64_t key = 0;
    int32_t code = store_find_job(import->to, job_id, &found, NULL, err);
    if (code == KERF_OK) import->note(import->context, IMPORT_KNOWN, job_id, 0, NULL);
    if (code != KERF_EUNKNOWN) return code;
    code = read_job(import->from, job_id, &zeus, err);
    struct kerf_job *job = code == KERF_OK ? make_job(&zeus, import->flags, &why) : NULL;
    if (job) code = write_job(import->to, &zeus, job, &key, err);
    if (code == KERF_OK)
        import->note(import->context,
                     job == NULL ? IMPORT_REFUSED
                     : key       ? IMPORT_TAKEN
                                 : IMPORT_KNOWN,
                     job_id, (int64_t)zeus.trials.count, job ? NULL : why.message);
    kerf_job_free(job);
    free_job(&zeus);
    return code;
}

/* ---- The whole ----------------------------------------------------------------------------------------------- */

static int32_t visit_id(void *context, const struct import_value *v, struct kerf_error *err) {
    struct kerf_text *job_ids = &((struct import *)context)->job_ids;
    if (v[0].text) kerf_text_write(job_ids, v[0].text, strlen(v[0].text) + 1);
    return job_ids->failed ? error_no_memory(err, "an import") : KERF_OK;
}

/* Zeus's URLs name a driver, too: "mysql+asyncmy://...", "sqlite+aiosqlite:////var/zeus.db". */
static int32_t open_source(const char *where, struct import_source **ret_source, struct kerf_error *err) {
    const char *rest = strstr(where, "://");
    size_t length = rest ? strcspn(where, "+:") : 0;
    if (rest == NULL) return import_sqlite.open(where, ret_source, err);
    if (length == 6 && strncmp(where, "sqlite", 6) == 0)
        return import_sqlite.open(rest + (rest[3] == '/' ? 4 : 3), ret_source, err);
    if (length == 8 && strncmp(where, "postgres", 8) == 0) length = 10, where = "postgresql";
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const char *scheme = sources[i]->scheme;
        if (scheme == NULL || strlen(scheme) != length || strncmp(where, scheme, length) != 0) continue;
        struct kerf_text url = {0};
        kerf_text_printf(&url, "%s%s", scheme, rest);
        int32_t code = url.failed ? error_no_memory(err, "an import") : sources[i]->open(url.data, ret_source, err);
        kerf_text_free(&url);
        return code;
    }
    return kerf_error_set(err, KERF_EUNSUPPORTED,
                          "Zeus's database must be a SQLite file, postgresql://... or mysql://..., not %.*s://...",
                          (int)(rest - where), where);
}

int32_t import_zeus(const char *where, struct store *to, int32_t job_flags, import_note note, void *context,
                    struct kerf_error *err) {
    struct import import = {.to = to, .flags = job_flags, .note = note, .context = context};
    int32_t code = open_source(where, &import.from, err);
    if (code != KERF_OK) return code;
    code = import.from->methods->read(import.from, ids_sql, NULL, 1, visit_id, &import, err);
    for (size_t at = 0; code == KERF_OK && at < import.job_ids.length; at += strlen(import.job_ids.data + at) + 1)
        code = import_job(&import, import.job_ids.data + at, err);
    kerf_text_free(&import.job_ids);
    import.from->methods->close(import.from);
    return code;
}
