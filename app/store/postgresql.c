/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs in a PostgreSQL database, which several servers share. Each change of a job takes its version one further. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "store/postgresql_store.h"

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

/*
 * kerf_meta says the version of the tables; each step below takes it one further. All steps are one
 * transaction under a lock, so that two servers that start at once make them once. A released step is never changed.
 *
 * Trials and arms don't refer to their job: each insertion would lock and write the job's row. They are written and
 * deleted under the lock on the job's state, and a key is never used again. job_id is ordered by its bytes, in every
 * locale. Half of a page of job states is left for their next versions, which then stay off the indexes.
 */

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

static int32_t take_steps(PGconn *connection, int creates, struct kerf_error *err) {
    int64_t version = 0, has_meta = 0;
    int32_t code = ask(connection, "SELECT count(to_regclass('kerf_meta'))", &has_meta, err);
    if (code == KERF_OK && !has_meta && !creates)
        return kerf_error_set(
            err, KERF_EINVALID,
            "this database has no store: name the server's with --store, or make a new one with --create");
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

/* Makes what is missing. KERF_EINVALID: there are no tables and creates is 0, or a newer kerf made them. */
static int32_t pg_migrate(PGconn *connection, int creates, struct kerf_error *err) {
    int32_t code = run(connection, begin_sql, err);
    if (code == KERF_OK) code = take_steps(connection, creates, err);
    if (code == KERF_OK) code = run(connection, "COMMIT", err);
    if (code != KERF_OK) run(connection, "ROLLBACK", NULL);
    return code;
}

/* ---- The store ------------------------------------------------------------------------------------------------- */

struct pg_store {
    struct store store;
    struct pg_pool pool;
    struct pg_writer writer;
};

static struct pg_store *of(struct store *store) { return (struct pg_store *)store; }

/* ---- Open and close ----------------------------------------------------------------------------------------- */

static void pg_close(struct store *base) {
    struct pg_store *store = of(base);
    pg_writer_stop(&store->writer);
    while (store->pool.idle) {
        struct pg_session *session = store->pool.idle;
        store->pool.idle = session->next;
        pg_disconnect(session);
    }
    pthread_mutex_destroy(&store->pool.lock);
    free(store->pool.url);
    free(store);
}

static int32_t migrate_database(const char *url, int creates, struct kerf_error *err) {
    struct pg_session *session;
    int32_t code = pg_connect(url, 0, &session, err);
    if (code != KERF_OK) return code;
    code = pg_migrate(session->connection, creates, err);
    pg_disconnect(session);
    return code;
}

static int32_t pg_open(const char *where, int32_t flags, struct store **ret_store, struct kerf_error *err) {
    struct pg_session *first;
    if (libpq_open(err) != KERF_OK) return KERF_EUNSUPPORTED;
    struct pg_store *store = calloc(1, sizeof *store);
    if (store == NULL) return error_no_memory(err, "the store");
    store->store.methods = &store_postgresql;
    pthread_mutex_init(&store->pool.lock, NULL);
    pg_writer_open(&store->writer, &store->pool);
    store->pool.url = strdup(where);
    int32_t code = store->pool.url ? KERF_OK : error_no_memory(err, "the store");
    if (code == KERF_OK) code = migrate_database(where, (flags & STORE_MAY_CREATE) != 0, err);
    if (code == KERF_OK) code = pg_connect(where, 1, &first, err);
    if (code == KERF_OK) pg_give_back(&store->pool, first);
    if (code == KERF_OK && flags & STORE_SERVE) code = pg_writer_start(&store->writer, err);
    if (code == KERF_OK)
        *ret_store = &store->store;
    else
        pg_close(&store->store);
    return code;
}

/* ---- Questions ---------------------------------------------------------------------------------------------- */

enum { QUESTIONS_MAX = 4 };

/* Reads as of one moment: inside of a decision no other changes the rows. The answers go to ret_answers. */
static int32_t ask_in(struct pg_session *session, int is_decision, const struct store_question *questions,
                      int32_t count, PGresult **ret_answers, struct kerf_error *err) {
    PGresult *results[QUESTIONS_MAX + 1];
    int first = !is_decision && count > 1;
    if (first) pg_send(session, PG_BEGIN_READING, NULL);
    for (int32_t i = 0; i < count; i++) pg_send(session, (int)questions[i].which, questions[i].values);
    if (first) pg_send(session, PG_COMMIT, NULL);
    int32_t code = pg_collect(session, results, first + count, err);
    if (first) pg_clear(results, 1);
    for (int32_t i = 0; i < count; i++) ret_answers[i] = results[first + i];
    return code;
}

static int32_t show(const struct store_question *question, const PGresult *answer, struct kerf_error *err) {
    struct row row = {0};
    int32_t code = KERF_OK;
    for (int i = 0, count = question->visit ? pq.ntuples(answer) : 0; i < count && code == KERF_OK; i++) {
        pg_read_row(answer, i, &row);
        code = question->visit(question->context, &row, err);
    }
    return code;
}

static int32_t pg_ask_all(struct store *base, const struct store_turn *turn, const struct store_question *questions,
                          int32_t count, struct kerf_error *err) {
    struct pg_pool *pool = &of(base)->pool;
    struct pg_session *own = turn ? turn->session : NULL, *session = own;
    PGresult *answers[QUESTIONS_MAX];
    int again = 0;
    int32_t code = KERF_OK;
    assert(count <= QUESTIONS_MAX);
    do {
        if (own == NULL) code = pg_take(pool, &session, err);
        if (code != KERF_OK) return code;
        code = ask_in(session, own != NULL, questions, count, answers, err);
        again = own == NULL && session->is_broken && session->is_used;
        if (again) pg_clear(answers, count);
        if (own == NULL) pg_give_back(pool, session);
    } while (again);
    for (int32_t i = 0; i < count && code == KERF_OK; i++) code = show(&questions[i], answers[i], err);
    pg_clear(answers, count);
    return code;
}

static int32_t pg_tell(struct store *base, const struct store_question *question, struct kerf_error *err) {
    PGresult *answer;
    int32_t code = pg_ask(&of(base)->pool, (int)question->which, question->values, &answer, err);
    if (code != KERF_OK) return code;
    code = show(question, answer, err);
    pg_clear(&answer, 1);
    return code;
}

/* ---- Decisions ---------------------------------------------------------------------------------------------- */

static int32_t pg_begin(struct store *store, const char *job_id, const struct store_turn *known,
                        struct store_turn *ret_turn, struct kerf_error *err) {
    return pg_writer_begin(&of(store)->writer, job_id, known, ret_turn, err);
}

static int32_t pg_confirm(struct store *store, const struct store_turn *turn, int32_t *ret_is_stale,
                          struct kerf_error *err) {
    return pg_writer_confirm(&of(store)->writer, turn, ret_is_stale, err);
}

static void pg_cancel(struct store *store, struct store_turn *turn) {
    pg_give_back(&of(store)->pool, turn->session);
    turn->session = NULL;
}

static void pg_submit(struct store *store, struct store_turn *turn, struct store_write *write) {
    pg_writer_submit(&of(store)->writer, turn, write);
}

static void pg_count(struct store *store, struct store_counts *ret_counts) {
    pg_writer_count(&of(store)->writer, ret_counts);
}

const struct store_methods store_postgresql = {
    .name = "postgresql",
    .scheme = "postgresql://",
    .blocks = 1,
    .open = pg_open,
    .close = pg_close,
    .count = pg_count,
    .begin = pg_begin,
    .confirm = pg_confirm,
    .cancel = pg_cancel,
    .submit = pg_submit,
    .ask = pg_ask_all,
    .tell = pg_tell,
};
