/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions: the lock on a job, and what a decision changed, sent together with its COMMIT. */
#include "store/job_row.h"
#include "store/postgresql_parts.h"

/* ---- The turn ---------------------------------------------------------------------------------------------- */

/* A job that is made while this waits for the lock is not seen; what creates it then finds its job_id taken. */
static int32_t lock_job(struct pg_session *session, const char *job_id, struct store_turn *ret_turn,
                        struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *results[2];
    pg_add_wanted(&values, job_id);
    pg_send(session, PG_BEGIN, NULL);
    pg_send(session, PG_TURN, &values);
    int32_t code = pg_collect(session, results, 2, err);
    *ret_turn = (struct store_turn){.session = session};
    if (code == KERF_OK && pq.ntuples(results[1]) > 0) {
        ret_turn->job = pg_integer(results[1], 0, 0);
        ret_turn->version = pg_integer(results[1], 0, 1);
    }
    pg_clear(results, 2);
    return code;
}

int32_t pg_begin(struct store *base, const char *job_id, const struct store_turn *known, struct store_turn *ret_turn,
                 struct kerf_error *err) {
    struct pg_store *store = (struct pg_store *)base;
    int again = 0;
    int32_t code = KERF_OK;
    if (known->job && store->batches) { /* most often no other server changed it */
        *ret_turn = (struct store_turn){.job = known->job, .version = known->version, .is_assumed = 1};
        return KERF_OK;
    }
    do {
        struct pg_session *session;
        struct store_turn turn;
        code = pg_take(store, &session, err);
        if (code != KERF_OK) return code;
        code = lock_job(session, job_id, &turn, err);
        again = code != KERF_OK && session->is_broken && session->is_used;
        if (code == KERF_OK)
            *ret_turn = turn;
        else
            pg_give_back(store, session);
    } while (again);
    return code;
}

int32_t pg_confirm(struct store *base, const struct store_turn *turn, int32_t *ret_is_stale, struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *result;
    pg_add_integer(&values, turn->job);
    int32_t code = pg_ask((struct pg_store *)base, NULL, PG_VERSION, &values, &result, err);
    if (code != KERF_OK) return code;
    *ret_is_stale = pq.ntuples(result) == 0 || pg_integer(result, 0, 0) != turn->version;
    pq.clear(result);
    return KERF_OK;
}

void pg_cancel(struct store *base, struct store_turn *turn) {
    pg_give_back((struct pg_store *)base, turn->session);
    turn->session = NULL;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------- */

static void add_optional(struct pg_values *values, int there, double value) {
    if (there)
        pg_add_real(values, value);
    else
        pg_add_null(values);
}

static void add_spec(struct pg_values *values, const struct kerf_job_spec *spec, const char *sizes, double now_s) {
    pg_add_text(values, spec->job_id);
    pg_add_real(values, now_s);
    pg_add_real(values, spec->max_power);
    pg_add_integer(values, spec->number_of_gpus);
    pg_add_text(values, spec->gpu_model);
    pg_add_text(values, spec->job_id_prefix);
    pg_add_text(values, sizes);
    pg_add_integer(values, spec->default_batch_size);
    pg_add_real(values, spec->eta_knob);
    add_optional(values, spec->has_beta_knob, spec->beta_knob);
    pg_add_real(values, spec->target_metric);
    pg_add_integer(values, spec->higher_is_better_metric);
    pg_add_integer(values, spec->max_epochs);
    pg_add_integer(values, spec->num_pruning_rounds);
    pg_add_integer(values, spec->window_size);
    pg_add_real(values, spec->mab_prior_mean);
    pg_add_real(values, spec->mab_prior_precision);
    pg_add_integer(values, spec->mab_num_explorations);
    if (spec->has_mab_seed)
        pg_add_integer(values, spec->mab_seed);
    else
        pg_add_null(values);
    pg_add_text(values, spec->policy);
    pg_add_real(values, spec->lease_s);
}

static void add_state(struct pg_values *values, const struct store_write *write, const char *random) {
    const struct kerf_job_row *row = kerf_job_row_of(write->of);
    pg_add_integer(values, write->version);
    pg_add_integer(values, row->stage);
    add_optional(values, row->has_min_cost, row->min_cost);
    pg_add_integer(values, row->min_cost_batch_size);
    pg_add_integer(values, row->last_trial_number);
    pg_add_integer(values, row->trials_ended);
    pg_add_real(values, row->longest_gap_s);
    pg_add_text(values, row->has_random ? random : NULL);
}

static void send_create(struct pg_session *session, const struct store_write *write, struct kerf_text *room) {
    const struct kerf_job_spec *spec = kerf_job_spec_of(write->of);
    const struct kerf_job_row *row = kerf_job_row_of(write->of);
    struct kerf_text sizes = {0};
    struct pg_values values = {0};
    job_row_write_sizes(spec, &sizes);
    if (row->has_random) kerf_job_random_write(&row->random, room);
    room->failed |= sizes.failed;
    if (!room->failed) {
        add_spec(&values, spec, sizes.data, write->now_s);
        add_state(&values, write, room->data);
        pg_send(session, PG_INSERT_JOB, &values);
    }
    kerf_text_free(&sizes);
}

/* All that PG_UPDATE_STATE takes. */
static void add_changed_state(struct pg_values *values, const struct store_write *write, struct kerf_text *room) {
    const struct kerf_job_row *row = kerf_job_row_of(write->of);
    if (row->has_random) kerf_job_random_write(&row->random, room);
    if (room->failed) return;
    add_state(values, write, room->data);
    pg_add_integer(values, write->job);
}

static void send_state(struct pg_session *session, const struct store_write *write, struct kerf_text *room) {
    struct pg_values values = {0};
    add_changed_state(&values, write, room);
    if (!room->failed) pg_send(session, PG_UPDATE_STATE, &values);
}

static void send_delete(struct pg_session *session, const struct store_write *write) {
    struct pg_values values = {0};
    pg_add_integer(&values, write->job);
    pg_send(session, PG_DELETE_TRIALS, &values);
    pg_send(session, PG_DELETE_COSTS, &values);
    pg_send(session, PG_DELETE_ARMS, &values);
    pg_send(session, PG_DELETE_JOB, &values); /* with its state */
}

static void send_forgotten(struct pg_session *session, const struct store_write *write) {
    for (int32_t i = 0; i < write->num_forgotten; i++) {
        struct pg_values values = {0};
        pg_add_integer(&values, write->job);
        pg_add_integer(&values, write->forgotten[i].number);
        pg_send(session, write->forgotten[i].keeps_cost ? PG_KEEP_COST : PG_FORGET_TRIAL, &values);
    }
}

/* ---- Trials and arms --------------------------------------------------------------------------------------- */

static void add_result(struct pg_values *values, const struct kerf_trial *trial) {
    int ended = trial->status == KERF_TRIAL_SUCCEEDED;
    if (trial->converged < 0)
        pg_add_null(values);
    else
        pg_add_integer(values, trial->converged);
    pg_add_integer(values, trial->lease_ended);
    add_optional(values, ended, trial->time_s);
    add_optional(values, ended, trial->energy_j);
}

static void add_new_trial(struct pg_values *values, const struct store_write *write, const struct kerf_trial *trial) {
    pg_add_integer(values, trial->number);
    pg_add_integer(values, trial->batch_size);
    pg_add_integer(values, trial->type);
    pg_add_integer(values, trial->status);
    add_result(values, trial);
    pg_add_real(values, trial->dispatched_s);
    pg_add_real(values, trial->seen_s);
    pg_add_text(values, write->reason);
}

static void send_new_trial(struct pg_session *session, const struct store_write *write,
                           const struct kerf_trial *trial) {
    struct pg_values values = {0};
    pg_add_integer(&values, write->job);
    add_new_trial(&values, write, trial);
    pg_send(session, PG_INSERT_TRIAL, &values);
}

/* Its number, and what changed; that is less when it was only seen. */
static void add_changed_trial(struct pg_values *values, const struct store_write *write, int is_whole) {
    const struct kerf_trial *trial = write->trial;
    pg_add_integer(values, trial->number);
    if (is_whole) {
        pg_add_integer(values, trial->status);
        add_result(values, trial);
    }
    pg_add_real(values, trial->seen_s);
}

static void send_trial(struct pg_session *session, const struct store_write *write) {
    int is_whole = (write->changes & KERF_JOB_CHANGED_TRIAL) != 0;
    struct pg_values values = {0};
    pg_add_integer(&values, write->job);
    add_changed_trial(&values, write, is_whole);
    pg_send(session, is_whole ? PG_UPDATE_TRIAL : PG_SEEN_TRIAL, &values);
}

static void send_expired(struct pg_session *session, const struct store_write *write) {
    for (int32_t i = 0; i < write->num_expired; i++) {
        struct pg_values values = {0};
        pg_add_integer(&values, write->job);
        pg_add_integer(&values, write->expired[i].number);
        pg_add_integer(&values, write->expired[i].status);
        pg_add_integer(&values, write->expired[i].lease_ended);
        pg_send(session, PG_EXPIRE_TRIAL, &values);
    }
}

static void add_arm(struct pg_values *values, const struct kerf_arm *arm) {
    pg_add_integer(values, arm->batch_size);
    pg_add_real(values, arm->param_mean);
    pg_add_real(values, arm->param_precision);
    pg_add_real(values, arm->reward_precision);
    pg_add_integer(values, arm->num_observations);
}

static const struct kerf_arm *arm_of(const struct store_write *write) {
    int32_t count;
    const struct kerf_arm *arms = kerf_job_arms(write->of, &count);
    for (int32_t i = 0; i < count; i++)
        if (arms[i].batch_size == write->trial->batch_size) return &arms[i];
    return NULL;
}

static void send_arms(struct pg_session *session, const struct store_write *write) {
    int32_t count, all = (write->changes & KERF_JOB_CHANGED_ARMS) != 0;
    const struct kerf_arm *arms = kerf_job_arms(write->of, &count);
    if (all) {
        struct pg_values values = {0};
        pg_add_integer(&values, write->job);
        pg_send(session, PG_DELETE_ARMS, &values);
    }
    for (int32_t i = 0; i < count; i++) {
        struct pg_values values = {0};
        if (!all && (write->trial == NULL || arms[i].batch_size != write->trial->batch_size)) continue;
        pg_add_integer(&values, write->job);
        add_arm(&values, &arms[i]);
        pg_send(session, PG_PUT_ARM, &values);
    }
}

static void send_decision(struct pg_session *session, const struct store_write *write, struct kerf_text *room) {
    send_state(session, write, room);
    send_expired(session, write);
    if (write->trial && write->changes & (KERF_JOB_CHANGED_TRIAL | KERF_JOB_CHANGED_SEEN)) {
        if (write->trial_is_new)
            send_new_trial(session, write, write->trial);
        else
            send_trial(session, write);
    }
    if (write->changes & (KERF_JOB_CHANGED_ARMS | KERF_JOB_CHANGED_ARM)) send_arms(session, write);
}

/* A job with its whole history; nothing more when its job_id was taken meanwhile. */
static int32_t import_job(struct pg_session *session, struct store_write *write, struct kerf_text *room,
                          struct kerf_error *err) {
    PGresult *made;
    send_create(session, write, room);
    int32_t code = pg_collect(session, &made, 1, err);
    write->job = code == KERF_OK && made && pq.ntuples(made) > 0 ? pg_integer(made, 0, 0) : 0;
    pg_clear(&made, 1);
    if (write->job == 0) return code;
    send_arms(session, write);
    for (int64_t i = 0; i < write->num_trials; i++) send_new_trial(session, write, &write->trials[i]);
    return code;
}

/* ---- Commits ----------------------------------------------------------------------------------------------- */

/* Of one trial, and of the arm of its size at most. */
static int is_one_statement(const struct store_write *write) {
    const int32_t trial = KERF_JOB_CHANGED_TRIAL, arm = KERF_JOB_CHANGED_ARM;
    if (write->kind != STORE_DECIDE || write->num_expired > 0 || write->trial == NULL) return 0;
    if (write->changes & KERF_JOB_CHANGED_ARMS || !(write->changes & (trial | KERF_JOB_CHANGED_SEEN))) return 0;
    return !(write->changes & arm) || (write->changes & trial && !write->trial_is_new);
}

int32_t pg_send_if_so(struct pg_session *session, const struct store_write *write, struct kerf_error *err) {
    const struct kerf_arm *arm = write->changes & KERF_JOB_CHANGED_ARM ? arm_of(write) : NULL;
    struct kerf_text room = {0};
    struct pg_values values = {0};
    enum pg_statement which = arm                                       ? PG_TRIAL_AND_ARM_IF_SO
                              : write->changes & KERF_JOB_CHANGED_TRIAL ? PG_TRIAL_IF_SO
                                                                        : PG_SEEN_IF_SO;
    add_changed_state(&values, write, &room);
    if (room.failed) {
        kerf_text_free(&room);
        return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a job's state");
    }
    if (write->trial_is_new) {
        which = PG_NEW_TRIAL_IF_SO;
        add_new_trial(&values, write, write->trial);
    } else {
        add_changed_trial(&values, write, which != PG_SEEN_IF_SO);
    }
    if (arm) add_arm(&values, arm);
    pg_send(session, which, &values);
    kerf_text_free(&room);
    return KERF_OK;
}

/* Without a lock from begin, as by an import or of an assumed turn: it is taken here. */
static int32_t lock_for(struct pg_session *session, const struct store_turn *turn, struct store_write *write,
                        struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *results[2];
    pg_add_integer(&values, write->job);
    pg_send(session, PG_BEGIN, NULL);
    pg_send(session, PG_LOCK_JOB, &values);
    int32_t code = pg_collect(session, results, 2, err);
    int is_there = code == KERF_OK && pq.ntuples(results[1]) > 0;
    if (turn->is_assumed && code == KERF_OK)
        write->is_stale = !is_there || pg_integer(results[1], 0, 0) != turn->version;
    else if (code == KERF_OK && write->kind == STORE_DECIDE && !is_there)
        code = kerf_error_set(err, KERF_EUNKNOWN, "the store does not have this job any more");
    pg_clear(results, 2);
    return code;
}

/* When the database goes away during COMMIT nobody knows whether it was done. That is an error too: the client asks
 * again, and finds what is stored. */
static int32_t commit(struct pg_session *session, struct store_write *write, struct kerf_error *err) {
    struct kerf_text room = {0};
    PGresult *first;
    int32_t code = KERF_OK;
    switch (write->kind) {
    case STORE_CREATE: send_create(session, write, &room); break;
    case STORE_IMPORT: code = import_job(session, write, &room, err); break;
    case STORE_DELETE: send_delete(session, write); break;
    case STORE_FORGET: send_forgotten(session, write); break;
    default: send_decision(session, write, &room);
    }
    if (room.failed)
        code = kerf_error_set(err, KERF_ENOMEM, "not enough memory for a job's state");
    else if (code == KERF_OK)
        pg_send(session, PG_COMMIT, NULL);
    int32_t failed = pg_collect(session, &first, 1, code == KERF_OK ? err : NULL);
    if (code == KERF_OK) code = failed;
    if (code == KERF_OK && write->kind == STORE_CREATE)
        write->job = pq.ntuples(first) > 0 ? pg_integer(first, 0, 0) : 0;
    pg_clear(&first, 1);
    kerf_text_free(&room);
    return code;
}

void pg_submit(struct store *base, struct store_turn *turn, struct store_write *write) {
    struct pg_store *store = (struct pg_store *)base;
    struct pg_session *session = turn->session;
    struct kerf_error err = {.code = KERF_OK};
    double begin_s = pg_clock_s();
    int32_t code = KERF_OK;
    pg_note_queued(store);
    if (turn->is_assumed && is_one_statement(write)) {
        pg_batch_add(store, write);
        return;
    }
    if (session == NULL) code = pg_take(store, &session, &err);
    if (code == KERF_OK && turn->session == NULL) code = lock_for(session, turn, write, &err);
    if (code == KERF_OK && !write->is_stale) code = commit(session, write, &err);
    pg_note_done(store, 1, code != KERF_OK, pg_clock_s() - begin_s);
    turn->session = NULL;
    pg_give_back(store, session); /* before done, which ends the life of the turn */
    write->done(write, code, &err);
}
