/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables in SQLite. The file says its version in PRAGMA user_version; each step below takes it one further, in a
 * transaction of its own. A step that was released is never changed.
 *
 * job_state, which every decision changes, is apart from job, which never changes, so that the states of many jobs
 * share a page. A job whose job_id is NULL was deleted (sqlite_writer.c). Trials lie together by job, in the order of
 * their numbers. What an infinity or a NaN is: SQLite keeps infinities and makes a NaN NULL, which is read back as NaN
 * (arms) or as "not known" (min_cost), as in Zeus.
 */
#include "store/sqlite_schema.h"

#include <stdio.h>
#include "store/sqlite_session.h"

static const char *const steps[] = {
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE job ("
    " job INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT UNIQUE, created_s REAL NOT NULL,"
    " max_power REAL NOT NULL, number_of_gpus INTEGER NOT NULL, gpu_model TEXT NOT NULL, job_id_prefix TEXT NOT NULL,"
    " batch_sizes TEXT NOT NULL, default_batch_size INTEGER NOT NULL, eta_knob REAL NOT NULL, beta_knob REAL,"
    " target_metric REAL NOT NULL, higher_is_better_metric INTEGER NOT NULL, max_epochs INTEGER NOT NULL,"
    " num_pruning_rounds INTEGER NOT NULL, window_size INTEGER NOT NULL, mab_prior_mean REAL NOT NULL,"
    " mab_prior_precision REAL NOT NULL, mab_num_explorations INTEGER NOT NULL, mab_seed INTEGER, policy TEXT,"
    " lease_s REAL NOT NULL) STRICT;"
    "CREATE TABLE job_state ("
    " job INTEGER PRIMARY KEY REFERENCES job ON DELETE CASCADE, version INTEGER NOT NULL, stage INTEGER NOT NULL,"
    " min_cost REAL, min_cost_batch_size INTEGER NOT NULL, last_trial_number INTEGER NOT NULL,"
    " trials_ended INTEGER NOT NULL, longest_gap_s REAL NOT NULL, random TEXT) STRICT;"
    "CREATE TABLE trial ("
    " job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, number INTEGER NOT NULL CHECK (number > 0),"
    " batch_size INTEGER NOT NULL, type INTEGER NOT NULL, status INTEGER NOT NULL, converged INTEGER,"
    " lease_ended INTEGER NOT NULL, time_s REAL, energy_j REAL, dispatched_s REAL NOT NULL, seen_s REAL NOT NULL,"
    " reason TEXT, PRIMARY KEY (job, number)) STRICT, WITHOUT ROWID;"
    /* 1: KERF_TRIAL_SUCCEEDED. The newest costs of a size are at the end of its part. */
    "CREATE INDEX trial_cost ON trial (job, batch_size, number) WHERE status = 1;"
    /* 0: KERF_TRIAL_EXPLORATION. What a job that explores is restored from, whatever else ran meanwhile. */
    "CREATE INDEX trial_exploration ON trial (job, number) WHERE type = 0;"
    "CREATE TABLE arm ("
    " job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, batch_size INTEGER NOT NULL, param_mean REAL,"
    " param_precision REAL, reward_precision REAL, num_observations INTEGER NOT NULL,"
    " PRIMARY KEY (job, batch_size)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE token ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, hash BLOB NOT NULL UNIQUE,"
    " created_s REAL NOT NULL, expires_s REAL NOT NULL) STRICT;",
    /* Of trials that were forgotten. */
    "CREATE TABLE cost ("
    " job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE, batch_size INTEGER NOT NULL, number INTEGER NOT NULL,"
    " energy_j REAL, time_s REAL, PRIMARY KEY (job, batch_size, number)) STRICT, WITHOUT ROWID;",
};
enum { VERSION = sizeof steps / sizeof *steps, APPLICATION = 0x6b657266 /* "kerf" */ };

static int32_t ask_number(sqlite3 *db, const char *sql, int64_t *ret_number, struct kerf_error *err) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) return sqlite_fail(db, err);
    int step = sqlite3_step(statement);
    if (step == SQLITE_ROW) *ret_number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return step == SQLITE_ROW ? KERF_OK : sqlite_fail(db, err);
}

int32_t sqlite_check(sqlite3 *db, const char *path, struct kerf_error *err) {
    int64_t application = 0, tables = 0, version = 0;
    int32_t code = ask_number(db, "PRAGMA application_id", &application, err);
    if (code == KERF_OK) code = ask_number(db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (code == KERF_OK) code = ask_number(db, "PRAGMA user_version", &version, err);
    if (code != KERF_OK) return code;
    if (tables > 0 && application != APPLICATION)
        return kerf_error_set(err, KERF_EINVALID, "%.200s is a database of another program", path);
    if (version > VERSION)
        return kerf_error_set(err, KERF_EINVALID,
                              "%.200s was written by a newer kerf (its tables are version %lld, this kerf knows %d)",
                              path, (long long)version, (int)VERSION);
    return KERF_OK;
}

int32_t sqlite_migrate(sqlite3 *db, const char *path, struct kerf_error *err) {
    int64_t version = 0;
    int32_t code = sqlite_run(db, "BEGIN IMMEDIATE", err);
    if (code != KERF_OK) return code;
    code = ask_number(db, "PRAGMA user_version", &version, err);
    if (code == KERF_OK) code = sqlite_check(db, path, err);
    while (code == KERF_OK && version < VERSION) {
        char mark[96];
        code = sqlite_run(db, steps[version++], err);
        snprintf(mark, sizeof mark, "PRAGMA user_version=%d; PRAGMA application_id=%d", (int)version, (int)APPLICATION);
        if (code == KERF_OK) code = sqlite_run(db, mark, err);
    }
    if (code == KERF_OK) code = sqlite_run(db, "COMMIT", err);
    if (code != KERF_OK) sqlite_run(db, "ROLLBACK", NULL);
    return code;
}
