/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables in PostgreSQL. kerf_meta says their version; each step below takes it one further. All steps are one
 * transaction under a lock, so that two servers that start at once make them once. A released step is never changed.
 *
 * Trials and arms don't refer to their job: each insertion would lock and write the job's row. They are written and
 * deleted under the lock on the job's state, and a key is never used again. job_id is ordered by its bytes, in every
 * locale. Half of a page of job states is left for their next versions, which then stay off the indexes.
 */
#include "store/postgresql_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include "store/postgresql_session.h"

static const char *const steps[] = {
    "CREATE TABLE kerf_job ("
    " job bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job_id text COLLATE \"C\" NOT NULL UNIQUE,"
    " created_s float8 NOT NULL, max_power float8 NOT NULL, number_of_gpus bigint NOT NULL, gpu_model text NOT NULL,"
    " job_id_prefix text NOT NULL, batch_sizes text NOT NULL, default_batch_size bigint NOT NULL,"
    " eta_knob float8 NOT NULL, beta_knob float8, target_metric float8 NOT NULL,"
    " higher_is_better_metric bigint NOT NULL, max_epochs bigint NOT NULL, num_pruning_rounds bigint NOT NULL,"
    " window_size bigint NOT NULL, mab_prior_mean float8 NOT NULL, mab_prior_precision float8 NOT NULL,"
    " mab_num_explorations bigint NOT NULL, mab_seed bigint, policy text, lease_s float8 NOT NULL);"
    "CREATE TABLE kerf_job_state ("
    " job bigint PRIMARY KEY REFERENCES kerf_job ON DELETE CASCADE, version bigint NOT NULL, stage bigint NOT NULL,"
    " min_cost float8, min_cost_batch_size bigint NOT NULL, last_trial_number bigint NOT NULL,"
    " trials_ended bigint NOT NULL, longest_gap_s float8 NOT NULL, random text) WITH (fillfactor=50);"
    "CREATE TABLE kerf_trial ("
    " job bigint NOT NULL, number bigint NOT NULL CHECK (number > 0), batch_size bigint NOT NULL, type bigint NOT NULL,"
    " status bigint NOT NULL, converged bigint, lease_ended bigint NOT NULL, time_s float8, energy_j float8,"
    " dispatched_s float8 NOT NULL, seen_s float8 NOT NULL, reason text, PRIMARY KEY (job, number));"
    /* 1: KERF_TRIAL_SUCCEEDED; 0: KERF_TRIAL_EXPLORATION */
    "CREATE INDEX kerf_trial_cost ON kerf_trial (job, batch_size, number) WHERE status=1;"
    "CREATE INDEX kerf_trial_exploration ON kerf_trial (job, number) WHERE type=0;"
    "CREATE TABLE kerf_arm ("
    " job bigint NOT NULL, batch_size bigint NOT NULL, param_mean float8, param_precision float8,"
    " reward_precision float8, num_observations bigint NOT NULL, PRIMARY KEY (job, batch_size)) WITH (fillfactor=50);"
    "CREATE TABLE kerf_token ("
    " id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE \"C\" NOT NULL UNIQUE, role text NOT NULL,"
    " hash bytea NOT NULL UNIQUE, created_s float8 NOT NULL, expires_s float8 NOT NULL)",
    /* of trials that were forgotten */
    "CREATE TABLE kerf_cost ("
    " job bigint NOT NULL, batch_size bigint NOT NULL, number bigint NOT NULL, energy_j float8, time_s float8,"
    " PRIMARY KEY (job, batch_size, number))",
};
enum { VERSION = sizeof steps / sizeof *steps };

/* The lock's key is "kerf". */
static const char begin_sql[] = "BEGIN; SELECT pg_advisory_xact_lock(1801810534)";
static const char version_sql[] = "SELECT value FROM kerf_meta WHERE key='schema_version'";
static const char meta_sql[] = "CREATE TABLE kerf_meta (key text PRIMARY KEY, value text NOT NULL)";

static int32_t run(PGconn *connection, const char *sql, struct kerf_error *err) {
    PGresult *result = pq.exec(connection, sql);
    ExecStatusType status = pq.resultStatus(result);
    int32_t code = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? KERF_OK : pg_fail(connection, result, err);
    pq.clear(result);
    return code;
}

/* The first value of the first row, as a number; 0 where there is none. */
static int32_t ask(PGconn *connection, const char *sql, int64_t *ret_number, struct kerf_error *err) {
    PGresult *result = pq.exec(connection, sql);
    int32_t code = pq.resultStatus(result) == PGRES_TUPLES_OK ? KERF_OK : pg_fail(connection, result, err);
    if (code == KERF_OK) *ret_number = pq.ntuples(result) ? strtoll(pq.getvalue(result, 0, 0), NULL, 10) : 0;
    pq.clear(result);
    return code;
}

static int32_t migrate(PGconn *connection, int creates, struct kerf_error *err) {
    int64_t version = 0, has_meta = 0;
    int32_t code = ask(connection, "SELECT count(to_regclass('kerf_meta'))", &has_meta, err);
    if (code == KERF_OK && !has_meta && !creates)
        return kerf_error_set(
            err, KERF_EINVALID,
            "there is no store in this database: --store names the server's, --create makes a new one");
    if (code == KERF_OK) code = has_meta ? ask(connection, version_sql, &version, err) : run(connection, meta_sql, err);
    if (code == KERF_OK && version > VERSION)
        return kerf_error_set(err, KERF_EINVALID,
                              "the database was written by a newer kerf (its tables are version %lld, this kerf knows "
                              "%d)",
                              (long long)version, (int)VERSION);
    if (code != KERF_OK || version == VERSION) return code;
    while (code == KERF_OK && version < VERSION) code = run(connection, steps[version++], err);
    char mark[160];
    snprintf(mark, sizeof mark,
             "INSERT INTO kerf_meta (key, value) VALUES ('schema_version', '%d') ON CONFLICT (key) DO UPDATE SET "
             "value=excluded.value",
             (int)VERSION);
    return code == KERF_OK ? run(connection, mark, err) : code;
}

int32_t pg_migrate(PGconn *connection, int creates, struct kerf_error *err) {
    int32_t code = run(connection, begin_sql, err);
    if (code == KERF_OK) code = migrate(connection, creates, err);
    if (code == KERF_OK) code = run(connection, "COMMIT", err);
    if (code != KERF_OK) run(connection, "ROLLBACK", NULL);
    return code;
}
