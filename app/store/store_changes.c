/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decision (enum kerf_job_changes) as rows: always the job's state, whose version goes up; the trials whose lease it
 * found ended; its own trial, new, with its result, or no more than seen; all arms once the stage MAB begins, or the one
 * arm that a result teaches.
 */
#include "store/store.h"

#include <assert.h>

struct changes {
    const struct store_write *write;
    struct row *row;
    store_put put;
    void *context;
    struct kerf_error *err;
};

static int32_t put(const struct changes *changes, enum store_statement which) {
    return changes->put(changes->context, which, changes->row, changes->err);
}

/* ---- Trials ------------------------------------------------------------------------------------------------- */

static int32_t put_new_trial(const struct changes *changes, const struct kerf_trial *trial, const char *reason) {
    row_clear(changes->row);
    row_add_integer(changes->row, changes->write->job);
    row_add_text(changes->row, reason);
    row_add_trial(changes->row, trial);
    return put(changes, SQL_INSERT_TRIAL);
}

static int32_t put_trial(const struct changes *changes, const struct kerf_trial *trial) {
    int is_whole = (changes->write->changes & KERF_JOB_CHANGED_TRIAL) != 0;
    row_clear(changes->row);
    if (is_whole)
        row_add_trial_changes(changes->row, trial);
    else
        row_add_real(changes->row, trial->seen_s);
    row_add_integer(changes->row, changes->write->job);
    row_add_integer(changes->row, trial->number);
    return put(changes, is_whole ? SQL_UPDATE_TRIAL : SQL_SEE_TRIAL);
}

static int32_t put_expired(const struct changes *changes) {
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < changes->write->num_expired && code == KERF_OK; i++) {
        const struct kerf_trial *trial = &changes->write->expired[i];
        assert(trial->status == KERF_TRIAL_FAILED && trial->lease_ended);
        row_clear(changes->row);
        row_add_integer(changes->row, trial->status);
        row_add_integer(changes->row, trial->lease_ended);
        row_add_integer(changes->row, changes->write->job);
        row_add_integer(changes->row, trial->number);
        code = put(changes, SQL_EXPIRE_TRIAL);
    }
    return code;
}

/* ---- Arms --------------------------------------------------------------------------------------------------- */

static int32_t put_arm(const struct changes *changes, const struct kerf_arm *arm) {
    row_clear(changes->row);
    row_add_integer(changes->row, changes->write->job);
    row_add_arm(changes->row, arm);
    return put(changes, SQL_PUT_ARM);
}

static int32_t put_all_arms(const struct changes *changes) {
    int32_t count, code;
    const struct kerf_arm *arms = kerf_job_arms(changes->write->of, &count);
    row_clear(changes->row);
    row_add_integer(changes->row, changes->write->job);
    code = put(changes, SQL_DELETE_ARMS);
    for (int32_t i = 0; i < count && code == KERF_OK; i++) code = put_arm(changes, &arms[i]);
    return code;
}

const struct kerf_arm *store_changed_arm(const struct store_write *write) {
    int32_t count;
    if (!(write->changes & KERF_JOB_CHANGED_ARM) || write->trial == NULL) return NULL;
    const struct kerf_arm *arms = kerf_job_arms(write->of, &count);
    for (int32_t i = 0; i < count; i++)
        if (arms[i].batch_size == write->trial->batch_size) return &arms[i];
    return NULL;
}

/* ---- Writes ------------------------------------------------------------------------------------------------- */

static int32_t put_decision(const struct changes *changes) {
    const struct store_write *write = changes->write;
    const int32_t of_trial = KERF_JOB_CHANGED_TRIAL | KERF_JOB_CHANGED_SEEN;
    const struct kerf_arm *arm = store_changed_arm(write);
    assert(write->version > 0);
    row_clear(changes->row);
    int32_t code = row_add_state(changes->row, write->of, write->version, changes->err);
    row_add_integer(changes->row, write->job);
    if (code == KERF_OK) code = put(changes, SQL_UPDATE_STATE);
    if (code == KERF_OK) code = put_expired(changes);
    if (code == KERF_OK && write->trial && write->changes & of_trial)
        code = write->trial_is_new ? put_new_trial(changes, write->trial, write->reason)
                                   : put_trial(changes, write->trial);
    if (code == KERF_OK && write->changes & KERF_JOB_CHANGED_ARMS) return put_all_arms(changes);
    return code == KERF_OK && arm ? put_arm(changes, arm) : code;
}

static int32_t put_history(const struct changes *changes) {
    const struct store_history *history = changes->write->history;
    int32_t code = put_all_arms(changes);
    for (int64_t i = 0; i < history->num_trials && code == KERF_OK; i++)
        code = put_new_trial(changes, &history->trials[i], history->reasons ? history->reasons[i] : NULL);
    for (int64_t i = 0; i < history->num_costs && code == KERF_OK; i++) {
        const struct store_cost *cost = &history->costs[i];
        row_clear(changes->row);
        row_add_integer(changes->row, changes->write->job);
        row_add_integer(changes->row, cost->number);
        row_add_integer(changes->row, cost->batch_size);
        row_add_real(changes->row, cost->energy_j);
        row_add_real(changes->row, cost->time_s);
        code = put(changes, SQL_INSERT_COST);
    }
    return code;
}

static int32_t put_forgotten(const struct changes *changes) {
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < changes->write->num_forgotten && code == KERF_OK; i++) {
        const struct store_forgotten *forgotten = &changes->write->forgotten[i];
        row_clear(changes->row);
        row_add_integer(changes->row, changes->write->job);
        row_add_integer(changes->row, forgotten->number);
        if (forgotten->keeps_cost) code = put(changes, SQL_KEEP_COST);
        if (code == KERF_OK) code = put(changes, SQL_FORGET_TRIAL);
    }
    return code;
}

int32_t store_put_changes(const struct store_write *write, struct row *room, store_put to, void *context,
                          struct kerf_error *err) {
    const struct changes changes = {write, room, to, context, err};
    assert(write->job != 0);
    switch (write->kind) {
    case STORE_DECIDE: return put_decision(&changes);
    case STORE_IMPORT: return put_history(&changes);
    case STORE_FORGET: return put_forgotten(&changes);
    case STORE_CREATE:
    case STORE_DELETE: break; /* which each database does in its own way */
    }
    assert(0);
    return KERF_OK;
}
