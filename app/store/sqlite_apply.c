/* SPDX-License-Identifier: Apache-2.0 */
/* What one decision changed, as statements inside the writer's transaction. */
#include <math.h>
#include "store/job_row.h"
#include "store/sqlite_parts.h"

static void bind_optional(sqlite3_stmt *statement, int at, int there, double value) {
    if (there)
        sqlite3_bind_double(statement, at, value); /* a NaN becomes NULL */
    else
        sqlite3_bind_null(statement, at);
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text) {
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

/* ---- Jobs -------------------------------------------------------------------------------------------------- */

static void bind_spec(sqlite3_stmt *statement, const struct kerf_job_spec *spec, double now_s) {
    bind_text(statement, 1, spec->job_id);
    sqlite3_bind_double(statement, 2, now_s);
    sqlite3_bind_double(statement, 3, spec->max_power);
    sqlite3_bind_int64(statement, 4, spec->number_of_gpus);
    bind_text(statement, 5, spec->gpu_model);
    bind_text(statement, 6, spec->job_id_prefix);
    sqlite3_bind_int64(statement, 8, spec->default_batch_size);
    sqlite3_bind_double(statement, 9, spec->eta_knob);
    bind_optional(statement, 10, spec->has_beta_knob, spec->beta_knob);
    sqlite3_bind_double(statement, 11, spec->target_metric);
    sqlite3_bind_int64(statement, 12, spec->higher_is_better_metric);
    sqlite3_bind_int64(statement, 13, spec->max_epochs);
    sqlite3_bind_int64(statement, 14, spec->num_pruning_rounds);
    sqlite3_bind_int64(statement, 15, spec->window_size);
    sqlite3_bind_double(statement, 16, spec->mab_prior_mean);
    sqlite3_bind_double(statement, 17, spec->mab_prior_precision);
    sqlite3_bind_int64(statement, 18, spec->mab_num_explorations);
    if (spec->has_mab_seed)
        sqlite3_bind_int64(statement, 19, spec->mab_seed);
    else
        sqlite3_bind_null(statement, 19);
    bind_text(statement, 20, spec->policy);
    sqlite3_bind_double(statement, 21, spec->lease_s);
}

static int32_t put_state(struct sqlite_session *session, enum sqlite_statement which, struct kerf_text *room,
                         const struct store_write *write, struct kerf_error *err) {
    const struct kerf_job_row *row = kerf_job_row_of(write->of);
    sqlite3_stmt *statement = sqlite_statement(session, which, err);
    if (statement == NULL) return KERF_EIO;
    kerf_text_clear(room);
    if (row->has_random) kerf_job_random_write(&row->random, room);
    if (room->failed) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a job's state");
    sqlite3_bind_int64(statement, 1, write->version);
    sqlite3_bind_int(statement, 2, row->stage);
    bind_optional(statement, 3, row->has_min_cost, row->min_cost);
    sqlite3_bind_int64(statement, 4, row->min_cost_batch_size);
    sqlite3_bind_int64(statement, 5, row->last_trial_number);
    sqlite3_bind_int64(statement, 6, row->trials_ended);
    sqlite3_bind_double(statement, 7, row->longest_gap_s);
    bind_text(statement, 8, row->has_random ? room->data : NULL);
    sqlite3_bind_int64(statement, 9, write->job);
    return sqlite_finish(session, statement, err);
}

static int32_t create_job(struct sqlite_session *session, struct kerf_text *room, struct store_write *write,
                          struct kerf_error *err) {
    const struct kerf_job_spec *spec = kerf_job_spec_of(write->of);
    sqlite3_stmt *statement = sqlite_statement(session, SQL_INSERT_JOB, err);
    if (statement == NULL) return KERF_EIO;
    kerf_text_clear(room);
    job_row_write_sizes(spec, room);
    if (room->failed) return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a job");
    bind_spec(statement, spec, write->now_s);
    bind_text(statement, 7, room->data);
    int32_t code = sqlite_finish(session, statement, err);
    if (code != KERF_OK) return code;
    write->job = sqlite3_changes(session->db) ? sqlite3_last_insert_rowid(session->db) : 0;
    return write->job ? put_state(session, SQL_INSERT_STATE, room, write, err) : KERF_OK;
}

/* All but its trials, of which there may be many: they are removed later (sqlite_purge.c). */
static int32_t delete_job(struct sqlite_session *session, const struct store_write *write, struct kerf_error *err) {
    static const enum sqlite_statement statements[] = {SQL_DELETE_JOB, SQL_DELETE_STATE, SQL_DELETE_ARMS};
    int32_t code = KERF_OK;
    for (size_t i = 0; i < sizeof statements / sizeof *statements && code == KERF_OK; i++) {
        sqlite3_stmt *statement = sqlite_statement(session, statements[i], err);
        if (statement == NULL) return KERF_EIO;
        sqlite3_bind_int64(statement, 1, write->job);
        code = sqlite_finish(session, statement, err);
    }
    return code;
}

/* ---- Trials ------------------------------------------------------------------------------------------------ */

static void bind_trial_key(sqlite3_stmt *statement, const struct store_write *write, const struct kerf_trial *trial) {
    sqlite3_bind_int64(statement, 1, write->job);
    sqlite3_bind_int64(statement, 2, trial->number);
}

/* From column `at`: converged, lease_ended, time_s, energy_j. */
static void bind_result(sqlite3_stmt *statement, int at, const struct kerf_trial *trial) {
    int ended = trial->status == KERF_TRIAL_SUCCEEDED;
    if (trial->converged < 0)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_int(statement, at, trial->converged);
    sqlite3_bind_int(statement, at + 1, trial->lease_ended);
    bind_optional(statement, at + 2, ended, trial->time_s);
    bind_optional(statement, at + 3, ended, trial->energy_j);
}

static int32_t insert_trial(struct sqlite_session *session, const struct store_write *write, struct kerf_error *err) {
    const struct kerf_trial *trial = write->trial;
    sqlite3_stmt *statement = sqlite_statement(session, SQL_INSERT_TRIAL, err);
    if (statement == NULL) return KERF_EIO;
    bind_trial_key(statement, write, trial);
    sqlite3_bind_int64(statement, 3, trial->batch_size);
    sqlite3_bind_int(statement, 4, trial->type);
    sqlite3_bind_int(statement, 5, trial->status);
    bind_result(statement, 6, trial);
    sqlite3_bind_double(statement, 10, trial->dispatched_s);
    sqlite3_bind_double(statement, 11, trial->seen_s);
    bind_text(statement, 12, write->reason);
    return sqlite_finish(session, statement, err);
}

static int32_t update_trial(struct sqlite_session *session, const struct store_write *write, struct kerf_error *err) {
    const struct kerf_trial *trial = write->trial;
    int whole = (write->changes & KERF_JOB_CHANGED_TRIAL) != 0;
    sqlite3_stmt *statement = sqlite_statement(session, whole ? SQL_UPDATE_TRIAL : SQL_SEEN_TRIAL, err);
    if (statement == NULL) return KERF_EIO;
    bind_trial_key(statement, write, trial);
    if (whole) {
        sqlite3_bind_int(statement, 3, trial->status);
        bind_result(statement, 4, trial);
        sqlite3_bind_double(statement, 8, trial->seen_s);
    } else {
        sqlite3_bind_double(statement, 3, trial->seen_s);
    }
    return sqlite_finish(session, statement, err);
}

static int32_t expire_trials(struct sqlite_session *session, const struct store_write *write, struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < write->num_expired && code == KERF_OK; i++) {
        sqlite3_stmt *statement = sqlite_statement(session, SQL_EXPIRE_TRIAL, err);
        if (statement == NULL) return KERF_EIO;
        bind_trial_key(statement, write, &write->expired[i]);
        sqlite3_bind_int(statement, 3, write->expired[i].status);
        sqlite3_bind_int(statement, 4, write->expired[i].lease_ended);
        code = sqlite_finish(session, statement, err);
    }
    return code;
}

/* ---- Arms -------------------------------------------------------------------------------------------------- */

static int32_t put_arm(struct sqlite_session *session, const struct store_write *write, const struct kerf_arm *arm,
                       struct kerf_error *err) {
    sqlite3_stmt *statement = sqlite_statement(session, SQL_PUT_ARM, err);
    if (statement == NULL) return KERF_EIO;
    sqlite3_bind_int64(statement, 1, write->job);
    sqlite3_bind_int64(statement, 2, arm->batch_size);
    sqlite3_bind_double(statement, 3, arm->param_mean);
    sqlite3_bind_double(statement, 4, arm->param_precision);
    sqlite3_bind_double(statement, 5, arm->reward_precision);
    sqlite3_bind_int64(statement, 6, arm->num_observations);
    return sqlite_finish(session, statement, err);
}

static int32_t put_arms(struct sqlite_session *session, const struct store_write *write, struct kerf_error *err) {
    int32_t count, code = KERF_OK, all = (write->changes & KERF_JOB_CHANGED_ARMS) != 0;
    const struct kerf_arm *arms = kerf_job_arms(write->of, &count);
    if (all) {
        sqlite3_stmt *statement = sqlite_statement(session, SQL_DELETE_ARMS, err);
        if (statement == NULL) return KERF_EIO;
        sqlite3_bind_int64(statement, 1, write->job);
        code = sqlite_finish(session, statement, err);
    }
    for (int32_t i = 0; i < count && code == KERF_OK; i++)
        if (all || (write->trial && arms[i].batch_size == write->trial->batch_size))
            code = put_arm(session, write, &arms[i], err);
    return code;
}

static int32_t decide(struct sqlite_session *session, struct kerf_text *room, const struct store_write *write,
                      struct kerf_error *err) {
    const int32_t trial = KERF_JOB_CHANGED_TRIAL | KERF_JOB_CHANGED_SEEN,
                  arms = KERF_JOB_CHANGED_ARMS | KERF_JOB_CHANGED_ARM;
    int32_t code = put_state(session, SQL_UPDATE_STATE, room, write, err);
    if (code == KERF_OK && sqlite3_changes(session->db) != 1)
        return kerf_error_set(err, KERF_EUNKNOWN, "the store does not have this job any more");
    if (code == KERF_OK) code = expire_trials(session, write, err);
    if (code == KERF_OK && write->trial && write->changes & trial)
        code = write->trial_is_new ? insert_trial(session, write, err) : update_trial(session, write, err);
    if (code == KERF_OK && write->changes & arms) code = put_arms(session, write, err);
    return code;
}

/* A job with its whole history. */
static int32_t import_job(struct sqlite_session *session, struct kerf_text *room, struct store_write *write,
                          struct kerf_error *err) {
    int32_t code = create_job(session, room, write, err);
    if (code == KERF_OK && write->job) code = put_arms(session, write, err);
    for (int64_t i = 0; i < write->num_trials && code == KERF_OK && write->job; i++) {
        struct store_write one = *write;
        one.trial = &write->trials[i];
        code = insert_trial(session, &one, err);
    }
    return code;
}

static int32_t forget_trials(struct sqlite_session *session, const struct store_write *write, struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < write->num_forgotten; i++) {
        const struct store_forgotten *forgotten = &write->forgotten[i];
        for (int step = !forgotten->keeps_cost; step < 2 && code == KERF_OK; step++) {
            sqlite3_stmt *statement = sqlite_statement(session, step == 0 ? SQL_KEEP_COST : SQL_FORGET_TRIAL, err);
            if (statement == NULL) return KERF_EIO;
            sqlite3_bind_int64(statement, 1, write->job);
            sqlite3_bind_int64(statement, 2, forgotten->number);
            code = sqlite_finish(session, statement, err);
        }
    }
    return code;
}

int32_t sqlite_apply(struct sqlite_session *session, struct kerf_text *room, struct store_write *write,
                     struct kerf_error *err) {
    switch (write->kind) {
    case STORE_CREATE: return create_job(session, room, write, err);
    case STORE_IMPORT: return import_job(session, room, write, err);
    case STORE_DELETE: return delete_job(session, write, err);
    case STORE_FORGET: return forget_trials(session, write, err);
    default: return decide(session, room, write, err);
    }
}
