/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs, trials and costs as they are committed. Each function takes a reader, asks, and gives it back. */
#include <math.h>
#include "store/job_row.h"
#include "store/sqlite_parts.h"

struct question { /* a reader with a statement that is being read */
    struct sqlite_store *store;
    struct sqlite_session *reader;
    sqlite3_stmt *statement;
};

static int32_t ask(struct store *base, enum sqlite_statement which, struct question *ret_question,
                   struct kerf_error *err) {
    struct question question = {.store = (struct sqlite_store *)base};
    question.reader = sqlite_reader(question.store, err);
    if (question.reader) question.statement = sqlite_statement(question.reader, which, err);
    if (question.statement == NULL) {
        sqlite_give_back(question.store, question.reader);
        return KERF_EIO;
    }
    *ret_question = question;
    return KERF_OK;
}

static void finish(struct question *question) {
    sqlite3_reset(question->statement);
    sqlite_give_back(question->store, question->reader);
}

/* 1: a row; 0: no more, or code says why. */
static int next(struct question *question, int32_t *code, struct kerf_error *err) {
    if (*code != KERF_OK) return 0;
    int step = sqlite3_step(question->statement);
    if (step != SQLITE_ROW && step != SQLITE_DONE) *code = sqlite_fail(question->reader->db, err);
    return step == SQLITE_ROW;
}

static double real(sqlite3_stmt *statement, int column, double otherwise) {
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? otherwise : sqlite3_column_double(statement, column);
}

static const char *text(sqlite3_stmt *statement, int column) {
    return (const char *)sqlite3_column_text(statement, column);
}

/* ---- Jobs -------------------------------------------------------------------------------------------------- */

static void read_spec(sqlite3_stmt *statement, struct kerf_job_spec *ret_spec) {
    *ret_spec = (struct kerf_job_spec){
        .job_id = text(statement, 1),
        .max_power = sqlite3_column_double(statement, 3),
        .number_of_gpus = sqlite3_column_int64(statement, 4),
        .gpu_model = text(statement, 5),
        .job_id_prefix = text(statement, 6),
        .default_batch_size = sqlite3_column_int64(statement, 8),
        .eta_knob = sqlite3_column_double(statement, 9),
        .has_beta_knob = sqlite3_column_type(statement, 10) != SQLITE_NULL,
        .beta_knob = sqlite3_column_double(statement, 10),
        .target_metric = sqlite3_column_double(statement, 11),
        .higher_is_better_metric = sqlite3_column_int(statement, 12),
        .max_epochs = sqlite3_column_int64(statement, 13),
        .num_pruning_rounds = sqlite3_column_int64(statement, 14),
        .window_size = sqlite3_column_int64(statement, 15),
        .mab_prior_mean = sqlite3_column_double(statement, 16),
        .mab_prior_precision = sqlite3_column_double(statement, 17),
        .mab_num_explorations = sqlite3_column_int64(statement, 18),
        .has_mab_seed = sqlite3_column_type(statement, 19) != SQLITE_NULL,
        .mab_seed = sqlite3_column_int64(statement, 19),
        .policy = text(statement, 20),
        .lease_s = sqlite3_column_double(statement, 21),
    };
}

static int32_t read_job(sqlite3_stmt *statement, struct job_row *ret_row, struct kerf_error *err) {
    ret_row->job = sqlite3_column_int64(statement, 0);
    ret_row->created_s = sqlite3_column_double(statement, 2);
    read_spec(statement, &ret_row->spec);
    ret_row->row = (struct kerf_job_row){
        .stage = sqlite3_column_int(statement, 22),
        .has_min_cost = sqlite3_column_type(statement, 23) != SQLITE_NULL,
        .min_cost = sqlite3_column_double(statement, 23),
        .min_cost_batch_size = sqlite3_column_int64(statement, 24),
        .last_trial_number = sqlite3_column_int64(statement, 25),
        .trials_ended = sqlite3_column_int64(statement, 26),
        .longest_gap_s = sqlite3_column_double(statement, 27),
        .has_random = sqlite3_column_type(statement, 28) != SQLITE_NULL,
    };
    int32_t code = ret_row->row.has_random ? kerf_job_random_read(text(statement, 28), &ret_row->row.random, err) : 0;
    return code == KERF_OK ? job_row_read_sizes(ret_row, text(statement, 7), err) : code;
}

/* ---- Trials ------------------------------------------------------------------------------------------------ */

static struct kerf_trial read_trial(sqlite3_stmt *statement) {
    return (struct kerf_trial){
        .number = sqlite3_column_int64(statement, 0),
        .batch_size = sqlite3_column_int64(statement, 1),
        .type = sqlite3_column_int(statement, 2),
        .status = sqlite3_column_int(statement, 3),
        .converged = sqlite3_column_type(statement, 4) == SQLITE_NULL ? -1 : sqlite3_column_int(statement, 4),
        .lease_ended = sqlite3_column_int(statement, 5),
        .time_s = sqlite3_column_double(statement, 6),
        .energy_j = sqlite3_column_double(statement, 7),
        .dispatched_s = sqlite3_column_double(statement, 8),
        .seen_s = sqlite3_column_double(statement, 9),
    };
}

int32_t sqlite_load_trial(struct store *store, struct store_turn *turn, int64_t number, struct kerf_trial *ret_trial,
                          struct kerf_error *err) {
    struct question question;
    int32_t code = ask(store, SQL_LOAD_TRIAL, &question, err);
    if (code != KERF_OK) return code;
    sqlite3_bind_int64(question.statement, 1, turn->job);
    sqlite3_bind_int64(question.statement, 2, number);
    if (next(&question, &code, err))
        *ret_trial = read_trial(question.statement);
    else if (code == KERF_OK)
        code = kerf_error_set(err, KERF_EUNKNOWN, "the job has no such trial");
    finish(&question);
    return code;
}

int32_t sqlite_list_trials(struct store *store, int64_t job, const struct store_page *page, store_visit_trial visit,
                           void *context, struct kerf_error *err) {
    struct question question;
    int64_t after = page->newest_first && page->after_number == 0 ? INT64_MAX : page->after_number;
    int32_t code = ask(store, page->newest_first ? SQL_LIST_NEWEST : SQL_LIST_TRIALS, &question, err);
    if (code != KERF_OK) return code;
    sqlite3_bind_int64(question.statement, 1, job);
    sqlite3_bind_int64(question.statement, 2, after);
    sqlite3_bind_int(question.statement, 3, page->limit);
    while (next(&question, &code, err)) {
        struct kerf_trial trial = read_trial(question.statement);
        code = visit(context, &trial, text(question.statement, 10));
    }
    finish(&question);
    return code;
}

int32_t sqlite_load_costs(struct store *store, struct store_turn *turn, const struct kerf_job_spec *spec,
                          int64_t batch_size, int64_t most, struct store_costs *ret_costs, struct kerf_error *err) {
    struct question question;
    struct store_costs costs = {0};
    int32_t code = ask(store, SQL_LOAD_COSTS, &question, err);
    if (code != KERF_OK) return code;
    sqlite3_bind_int64(question.statement, 1, turn->job);
    sqlite3_bind_int64(question.statement, 2, batch_size);
    sqlite3_bind_int64(question.statement, 3, most);
    while (next(&question, &code, err)) {
        double energy_j = real(question.statement, 1, NAN), time_s = real(question.statement, 2, NAN);
        code =
            store_costs_add(&costs, sqlite3_column_int64(question.statement, 0), kerf_job_cost(spec, energy_j, time_s));
        if (code != KERF_OK) kerf_error_set(err, code, "not enough memory for the costs of a job");
    }
    finish(&question);
    if (code == KERF_OK)
        *ret_costs = costs;
    else
        store_costs_free(&costs);
    return code;
}

/* ---- Whole jobs -------------------------------------------------------------------------------------------- */

static int32_t restore_explorations(struct store *store, int64_t key, struct kerf_job *job, struct kerf_error *err) {
    struct question question;
    int32_t code = ask(store, SQL_LOAD_EXPLORATIONS, &question, err);
    if (code != KERF_OK) return code;
    sqlite3_bind_int64(question.statement, 1, key);
    while (next(&question, &code, err)) {
        struct kerf_trial trial = read_trial(question.statement);
        code = kerf_job_restore_exploration(job, &trial, err);
    }
    finish(&question);
    return code;
}

static int32_t restore_arms(struct store *store, int64_t key, struct kerf_job *job, struct kerf_error *err) {
    struct question question;
    int32_t code = ask(store, SQL_LOAD_ARMS, &question, err);
    if (code != KERF_OK) return code;
    sqlite3_bind_int64(question.statement, 1, key);
    while (next(&question, &code, err)) {
        struct kerf_arm arm = {.batch_size = sqlite3_column_int64(question.statement, 0),
                               .param_mean = real(question.statement, 1, NAN),
                               .param_precision = real(question.statement, 2, NAN),
                               .reward_precision = real(question.statement, 3, NAN),
                               .num_observations = sqlite3_column_int64(question.statement, 4)};
        code = kerf_job_restore_arm(job, &arm, err);
    }
    finish(&question);
    return code;
}

int32_t sqlite_load_job(struct store *store, struct store_turn *turn, int32_t flags, struct kerf_job **ret_job,
                        struct kerf_error *err) {
    struct question question;
    struct job_row row = {0};
    struct kerf_job *job = NULL;
    int32_t code = ask(store, SQL_LOAD_JOB, &question, err);
    if (code != KERF_OK) return code;
    sqlite3_bind_int64(question.statement, 1, turn->job);
    if (next(&question, &code, err)) {
        code = read_job(question.statement, &row, err);
        if (code == KERF_OK) code = kerf_job_restore(&row.spec, &row.row, flags, &job, err);
        job_row_free(&row);
    } else if (code == KERF_OK) {
        code = kerf_error_set(err, KERF_EUNKNOWN, "the store has no such job");
    }
    finish(&question);
    if (code == KERF_OK)
        code = row.row.stage == KERF_JOB_PRUNING ? restore_explorations(store, turn->job, job, err)
                                                 : restore_arms(store, turn->job, job, err);
    if (code == KERF_OK)
        *ret_job = job;
    else
        kerf_job_free(job);
    return code;
}

int32_t sqlite_find_job(struct store *store, const char *job_id, struct store_turn *ret_turn, double *ret_created_s,
                        struct kerf_error *err) {
    struct question question;
    int32_t code = ask(store, SQL_FIND_JOB, &question, err);
    if (code != KERF_OK) return code;
    sqlite3_bind_text(question.statement, 1, job_id, -1, SQLITE_STATIC);
    if (next(&question, &code, err)) {
        *ret_turn = (struct store_turn){.job = sqlite3_column_int64(question.statement, 0),
                                        .version = sqlite3_column_int64(question.statement, 1)};
        if (ret_created_s) *ret_created_s = sqlite3_column_double(question.statement, 2);
    } else if (code == KERF_OK) {
        code = kerf_error_set(err, KERF_EUNKNOWN, "the store has no such job");
    }
    finish(&question);
    return code;
}

int32_t sqlite_list_jobs(struct store *store, const struct store_page *page, store_visit_job visit, void *context,
                         struct kerf_error *err) {
    struct question question;
    int32_t code = ask(store, SQL_LIST_JOBS, &question, err);
    if (code != KERF_OK) return code;
    sqlite3_bind_text(question.statement, 1, page->after_job_id ? page->after_job_id : "", -1, SQLITE_STATIC);
    sqlite3_bind_int(question.statement, 2, page->limit);
    while (next(&question, &code, err)) {
        struct job_row row = {0};
        code = read_job(question.statement, &row, err);
        struct store_job job = {row.job, row.created_s, &row.spec, &row.row};
        if (code == KERF_OK) code = visit(context, &job);
        job_row_free(&row);
    }
    finish(&question);
    return code;
}

int32_t sqlite_count_jobs(struct store *store, int64_t *ret_count, struct kerf_error *err) {
    struct question question;
    int32_t code = ask(store, SQL_COUNT_JOBS, &question, err);
    if (code != KERF_OK) return code;
    if (next(&question, &code, err)) *ret_count = sqlite3_column_int64(question.statement, 0);
    finish(&question);
    return code;
}
