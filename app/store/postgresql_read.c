/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs, trials and costs: inside a decision's transaction, or outside as they are committed. */
#include <math.h>
#include "store/job_row.h"
#include "store/postgresql_parts.h"

static struct pg_store *of(struct store *base) { return (struct pg_store *)base; }

/* ---- Jobs -------------------------------------------------------------------------------------------------- */

static void read_spec(const PGresult *result, int at, struct kerf_job_spec *ret_spec) {
    *ret_spec = (struct kerf_job_spec){
        .job_id = pg_text(result, at, 1),
        .max_power = pg_real(result, at, 3, 0),
        .number_of_gpus = pg_integer(result, at, 4),
        .gpu_model = pg_text(result, at, 5),
        .job_id_prefix = pg_text(result, at, 6),
        .default_batch_size = pg_integer(result, at, 8),
        .eta_knob = pg_real(result, at, 9, 0),
        .has_beta_knob = !pg_is_null(result, at, 10),
        .beta_knob = pg_real(result, at, 10, 0),
        .target_metric = pg_real(result, at, 11, 0),
        .higher_is_better_metric = (int32_t)pg_integer(result, at, 12),
        .max_epochs = pg_integer(result, at, 13),
        .num_pruning_rounds = pg_integer(result, at, 14),
        .window_size = pg_integer(result, at, 15),
        .mab_prior_mean = pg_real(result, at, 16, 0),
        .mab_prior_precision = pg_real(result, at, 17, 0),
        .mab_num_explorations = pg_integer(result, at, 18),
        .has_mab_seed = !pg_is_null(result, at, 19),
        .mab_seed = pg_integer(result, at, 19),
        .policy = pg_text(result, at, 20),
        .lease_s = pg_real(result, at, 21, 0),
    };
}

static int32_t read_job(const PGresult *result, int at, struct job_row *ret_row, struct kerf_error *err) {
    ret_row->job = pg_integer(result, at, 0);
    ret_row->created_s = pg_real(result, at, 2, 0);
    read_spec(result, at, &ret_row->spec);
    ret_row->row = (struct kerf_job_row){
        .stage = (int32_t)pg_integer(result, at, 22),
        .has_min_cost = !pg_is_null(result, at, 23),
        .min_cost = pg_real(result, at, 23, 0),
        .min_cost_batch_size = pg_integer(result, at, 24),
        .last_trial_number = pg_integer(result, at, 25),
        .trials_ended = pg_integer(result, at, 26),
        .longest_gap_s = pg_real(result, at, 27, 0),
        .has_random = !pg_is_null(result, at, 28),
    };
    int32_t code = KERF_OK;
    if (ret_row->row.has_random) code = kerf_job_random_read(pg_text(result, at, 28), &ret_row->row.random, err);
    return code == KERF_OK ? job_row_read_sizes(ret_row, pg_text(result, at, 7), err) : code;
}

int32_t pg_find_job(struct store *base, const char *job_id, struct store_turn *ret_turn, double *ret_created_s,
                    struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *result;
    pg_add_wanted(&values, job_id);
    int32_t code = pg_ask(of(base), NULL, PG_FIND_JOB, &values, &result, err);
    if (code != KERF_OK) return code;
    if (pq.ntuples(result) == 0) {
        code = kerf_error_set(err, KERF_EUNKNOWN, "the store has no such job");
    } else {
        *ret_turn = (struct store_turn){.job = pg_integer(result, 0, 0), .version = pg_integer(result, 0, 1)};
        if (ret_created_s) *ret_created_s = pg_real(result, 0, 2, 0);
    }
    pq.clear(result);
    return code;
}

int32_t pg_list_jobs(struct store *base, const struct store_page *page, store_visit_job visit, void *context,
                     struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *result;
    pg_add_wanted(&values, page->after_job_id ? page->after_job_id : "");
    pg_add_integer(&values, page->limit);
    int32_t code = pg_ask(of(base), NULL, PG_LIST_JOBS, &values, &result, err);
    if (code != KERF_OK) return code;
    for (int i = 0, count = pq.ntuples(result); i < count && code == KERF_OK; i++) {
        struct job_row row = {0};
        code = read_job(result, i, &row, err);
        struct store_job job = {row.job, row.created_s, &row.spec, &row.row};
        if (code == KERF_OK) code = visit(context, &job);
        job_row_free(&row);
    }
    pq.clear(result);
    return code;
}

int32_t pg_count_jobs(struct store *base, int64_t *ret_count, struct kerf_error *err) {
    PGresult *result;
    int32_t code = pg_ask(of(base), NULL, PG_COUNT_JOBS, NULL, &result, err);
    if (code != KERF_OK) return code;
    *ret_count = pg_integer(result, 0, 0);
    pq.clear(result);
    return code;
}

/* ---- Trials ------------------------------------------------------------------------------------------------ */

static struct kerf_trial read_trial(const PGresult *result, int at) {
    return (struct kerf_trial){
        .number = pg_integer(result, at, 0),
        .batch_size = pg_integer(result, at, 1),
        .type = (int32_t)pg_integer(result, at, 2),
        .status = (int32_t)pg_integer(result, at, 3),
        .converged = pg_is_null(result, at, 4) ? -1 : (int32_t)pg_integer(result, at, 4),
        .lease_ended = (int32_t)pg_integer(result, at, 5),
        .time_s = pg_real(result, at, 6, 0),
        .energy_j = pg_real(result, at, 7, 0),
        .dispatched_s = pg_real(result, at, 8, 0),
        .seen_s = pg_real(result, at, 9, 0),
    };
}

int32_t pg_load_trial(struct store *base, struct store_turn *turn, int64_t number, struct kerf_trial *ret_trial,
                      struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *result;
    pg_add_integer(&values, turn->job);
    pg_add_integer(&values, number);
    int32_t code = pg_ask(of(base), turn, PG_LOAD_TRIAL, &values, &result, err);
    if (code != KERF_OK) return code;
    if (pq.ntuples(result) > 0)
        *ret_trial = read_trial(result, 0);
    else
        code = kerf_error_set(err, KERF_EUNKNOWN, "the job has no such trial");
    pq.clear(result);
    return code;
}

int32_t pg_list_trials(struct store *base, int64_t job, const struct store_page *page, store_visit_trial visit,
                       void *context, struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *result;
    pg_add_integer(&values, job);
    pg_add_integer(&values, page->newest_first && page->after_number == 0 ? INT64_MAX : page->after_number);
    pg_add_integer(&values, page->limit);
    int32_t code = pg_ask(of(base), NULL, page->newest_first ? PG_LIST_NEWEST : PG_LIST_TRIALS, &values, &result, err);
    if (code != KERF_OK) return code;
    for (int i = 0, count = pq.ntuples(result); i < count && code == KERF_OK; i++) {
        struct kerf_trial trial = read_trial(result, i);
        code = visit(context, &trial, pg_text(result, i, 10));
    }
    pq.clear(result);
    return code;
}

int32_t pg_load_costs(struct store *base, struct store_turn *turn, const struct kerf_job_spec *spec, int64_t batch_size,
                      int64_t most, struct store_costs *ret_costs, struct kerf_error *err) {
    struct store_costs costs = {0};
    struct pg_values values = {0};
    PGresult *result;
    pg_add_integer(&values, turn->job);
    pg_add_integer(&values, batch_size);
    pg_add_integer(&values, most);
    int32_t code = pg_ask(of(base), turn, PG_LOAD_COSTS, &values, &result, err);
    if (code != KERF_OK) return code;
    for (int i = 0, count = pq.ntuples(result); i < count && code == KERF_OK; i++) {
        double energy_j = pg_real(result, i, 1, NAN), time_s = pg_real(result, i, 2, NAN);
        code = store_costs_add(&costs, pg_integer(result, i, 0), kerf_job_cost(spec, energy_j, time_s));
        if (code != KERF_OK) kerf_error_set(err, code, "not enough memory for the costs of a job");
    }
    pq.clear(result);
    if (code == KERF_OK)
        *ret_costs = costs;
    else
        store_costs_free(&costs);
    return code;
}

/* ---- Whole jobs -------------------------------------------------------------------------------------------- */

enum { JOB, EXPLORATIONS, ARMS, PARTS };

static int32_t restore_parts(PGresult *const *parts, struct kerf_job *job, struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int i = 0, count = pq.ntuples(parts[EXPLORATIONS]); i < count && code == KERF_OK; i++) {
        struct kerf_trial trial = read_trial(parts[EXPLORATIONS], i);
        code = kerf_job_restore_exploration(job, &trial, err);
    }
    for (int i = 0, count = pq.ntuples(parts[ARMS]); i < count && code == KERF_OK; i++) {
        struct kerf_arm arm = {.batch_size = pg_integer(parts[ARMS], i, 0),
                               .param_mean = pg_real(parts[ARMS], i, 1, NAN),
                               .param_precision = pg_real(parts[ARMS], i, 2, NAN),
                               .reward_precision = pg_real(parts[ARMS], i, 3, NAN),
                               .num_observations = pg_integer(parts[ARMS], i, 4)};
        code = kerf_job_restore_arm(job, &arm, err);
    }
    return code;
}

static int32_t restore_job(PGresult *const *parts, int32_t flags, struct kerf_job **ret_job, struct kerf_error *err) {
    struct job_row row = {0};
    struct kerf_job *job = NULL;
    if (pq.ntuples(parts[JOB]) == 0) return kerf_error_set(err, KERF_EUNKNOWN, "the store has no such job");
    int32_t code = read_job(parts[JOB], 0, &row, err);
    if (code == KERF_OK) code = kerf_job_restore(&row.spec, &row.row, flags, &job, err);
    if (code == KERF_OK) code = restore_parts(parts, job, err);
    job_row_free(&row);
    if (code == KERF_OK)
        *ret_job = job;
    else
        kerf_job_free(job);
    return code;
}

/* All parts as they were at one moment: inside of a decision nobody else changes them. */
static int32_t ask_parts(struct pg_session *session, int64_t key, int is_decision, PGresult **ret_parts,
                         struct kerf_error *err) {
    struct pg_values values = {0};
    PGresult *results[PARTS + 1];
    int first = is_decision ? 0 : 1;
    pg_add_integer(&values, key);
    if (!is_decision) pg_send(session, PG_BEGIN_READING, NULL);
    pg_send(session, PG_LOAD_JOB, &values);
    pg_send(session, PG_LOAD_EXPLORATIONS, &values);
    pg_send(session, PG_LOAD_ARMS, &values);
    if (!is_decision) pg_send(session, PG_COMMIT, NULL);
    int32_t code = pg_collect(session, results, first + PARTS, err);
    if (first || code != KERF_OK) pg_clear(results, code == KERF_OK ? 1 : first + PARTS);
    for (int i = 0; i < PARTS; i++) ret_parts[i] = code == KERF_OK ? results[first + i] : NULL;
    return code;
}

int32_t pg_load_job(struct store *base, struct store_turn *turn, int32_t flags, struct kerf_job **ret_job,
                    struct kerf_error *err) {
    struct pg_store *store = of(base);
    struct pg_session *session = turn->session;
    PGresult *parts[PARTS];
    int again = 0;
    int32_t code = KERF_OK;
    do {
        if (turn->session == NULL) code = pg_take(store, &session, err);
        if (code != KERF_OK) return code;
        code = ask_parts(session, turn->job, turn->session != NULL, parts, err);
        again = turn->session == NULL && session->is_broken && session->is_used;
        if (again) pg_clear(parts, PARTS);
        if (turn->session == NULL) pg_give_back(store, session);
    } while (again);
    if (code == KERF_OK) code = restore_job(parts, flags, ret_job, err);
    pg_clear(parts, PARTS);
    return code;
}
