/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a store, in any database: statements with their values, and what their rows mean. */
#include "store/store.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

void store_close(struct store *store) {
    if (store) store->methods->close(store);
}

static int32_t ask(struct store *store, const struct store_turn *turn, enum store_statement which,
                   const struct row *values, store_visit_row visit, void *context, struct kerf_error *err) {
    const struct store_question question = {which, values, visit, context};
    return store->methods->ask(store, turn, &question, 1, err);
}

/* ---- Writes ------------------------------------------------------------------------------------------------- */

struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int is_done;
    int32_t code;
    struct kerf_error err;
};

static void note_written(struct store_write *write, int32_t code, const struct kerf_error *err) {
    struct waiting *waiting = write->context;
    pthread_mutex_lock(&waiting->lock);
    waiting->code = code;
    if (code != KERF_OK) waiting->err = *err;
    waiting->is_done = 1;
    pthread_cond_signal(&waiting->done);
    pthread_mutex_unlock(&waiting->lock);
}

int32_t store_write_now(struct store *store, struct store_write *write, struct kerf_error *err) {
    struct waiting waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
    struct store_turn turn = {0};
    assert(write->kind == STORE_CREATE || write->kind == STORE_IMPORT || write->kind == STORE_FORGET);
    write->done = note_written;
    write->context = &waiting;
    store->methods->submit(store, &turn, write);
    pthread_mutex_lock(&waiting.lock);
    while (!waiting.is_done) pthread_cond_wait(&waiting.done, &waiting.lock);
    pthread_mutex_unlock(&waiting.lock);
    if (waiting.code != KERF_OK && err) *err = waiting.err;
    return waiting.code;
}

/* ---- Jobs --------------------------------------------------------------------------------------------------- */

static int32_t no_such_job(struct kerf_error *err) {
    return kerf_error_set(err, KERF_EUNKNOWN, "the store has no such job");
}

struct found {
    struct store_turn turn;
    double created_s;
};

static int32_t visit_found(void *context, const struct row *row, struct kerf_error *err) {
    (void)err;
    *(struct found *)context = (struct found){.turn = {.job = row_integer(row, 0), .version = row_integer(row, 1)},
                                              .created_s = row_real(row, 2, 0)};
    return KERF_OK;
}

int32_t store_find_job(struct store *store, const char *job_id, struct store_turn *ret_turn, double *ret_created_s,
                       struct kerf_error *err) {
    struct row values = {0};
    struct found found = {.created_s = 0};
    row_add_wanted(&values, job_id);
    int32_t code = ask(store, NULL, SQL_FIND_JOB, &values, visit_found, &found, err);
    if (code == KERF_OK && found.turn.job == 0) return no_such_job(err);
    if (code != KERF_OK) return code;
    *ret_turn = found.turn;
    if (ret_created_s) *ret_created_s = found.created_s;
    return KERF_OK;
}

struct loading {
    struct kerf_job *job;
    int32_t flags;
};

static int32_t visit_job(void *context, const struct row *row, struct kerf_error *err) {
    struct loading *loading = context;
    struct job_row job = {0};
    int32_t code = job_row_read(row, &job, err);
    if (code == KERF_OK) code = kerf_job_restore(&job.spec, &job.state, loading->flags, &loading->job, err);
    job_row_free(&job);
    return code;
}

static int32_t visit_exploration(void *context, const struct row *row, struct kerf_error *err) {
    struct loading *loading = context;
    const struct kerf_trial trial = row_trial(row, 1);
    return loading->job ? kerf_job_restore_exploration(loading->job, &trial, err) : KERF_OK;
}

static int32_t visit_arm(void *context, const struct row *row, struct kerf_error *err) {
    struct loading *loading = context;
    const struct kerf_arm arm = row_arm(row);
    return loading->job ? kerf_job_restore_arm(loading->job, &arm, err) : KERF_OK;
}

int32_t store_load_job(struct store *store, const struct store_turn *turn, int32_t flags, struct kerf_job **ret_job,
                       struct kerf_error *err) {
    struct loading loading = {.flags = flags};
    struct row key = {0};
    row_add_integer(&key, turn->job);
    const struct store_question questions[] = {{SQL_LOAD_JOB, &key, visit_job, &loading},
                                               {SQL_LOAD_EXPLORATIONS, &key, visit_exploration, &loading},
                                               {SQL_LOAD_ARMS, &key, visit_arm, &loading}};
    int32_t code = store->methods->ask(store, turn, questions, sizeof questions / sizeof *questions, err);
    if (code == KERF_OK && loading.job == NULL) return no_such_job(err);
    if (code != KERF_OK)
        kerf_job_free(loading.job);
    else
        *ret_job = loading.job;
    return code;
}

struct job_list {
    store_visit_job visit;
    void *context;
};

static int32_t visit_listed_job(void *context, const struct row *row, struct kerf_error *err) {
    const struct job_list *list = context;
    struct job_row job = {0};
    int32_t code = job_row_read(row, &job, err);
    const struct store_job listed = {job.job, job.created_s, &job.spec, &job.state};
    if (code == KERF_OK) code = list->visit(list->context, &listed);
    job_row_free(&job);
    return code;
}

int32_t store_list_jobs(struct store *store, const struct store_page *page, store_visit_job visit, void *context,
                        struct kerf_error *err) {
    struct job_list list = {visit, context};
    struct row values = {0};
    row_add_wanted(&values, page->after_job_id ? page->after_job_id : "");
    row_add_integer(&values, page->limit);
    return ask(store, NULL, SQL_LIST_JOBS, &values, visit_listed_job, &list, err);
}

static int32_t visit_count(void *context, const struct row *row, struct kerf_error *err) {
    (void)err;
    *(int64_t *)context = row_integer(row, 0);
    return KERF_OK;
}

int32_t store_count_jobs(struct store *store, int64_t *ret_count, struct kerf_error *err) {
    const struct row none = {0};
    return ask(store, NULL, SQL_COUNT_JOBS, &none, visit_count, ret_count, err);
}

int32_t store_ping(struct store *store, struct kerf_error *err) {
    const struct row none = {0};
    return ask(store, NULL, SQL_PING, &none, NULL, NULL, err);
}

/* ---- Trials and costs --------------------------------------------------------------------------------------- */

static int32_t visit_trial(void *context, const struct row *row, struct kerf_error *err) {
    (void)err;
    *(struct kerf_trial *)context = row_trial(row, 1);
    return KERF_OK;
}

int32_t store_load_trial(struct store *store, const struct store_turn *turn, int64_t number,
                         struct kerf_trial *ret_trial, struct kerf_error *err) {
    struct kerf_trial trial = {.number = 0};
    struct row values = {0};
    row_add_integer(&values, turn->job);
    row_add_integer(&values, number);
    int32_t code = ask(store, turn, SQL_LOAD_TRIAL, &values, visit_trial, &trial, err);
    if (code != KERF_OK) return code;
    if (trial.number == 0) return kerf_error_set(err, KERF_EUNKNOWN, "the job has no such trial");
    *ret_trial = trial;
    return KERF_OK;
}

struct trial_list {
    store_visit_trial visit;
    void *context;
};

static int32_t visit_listed_trial(void *context, const struct row *row, struct kerf_error *err) {
    const struct trial_list *list = context;
    const struct kerf_trial trial = row_trial(row, 1);
    (void)err;
    return list->visit(list->context, &trial, row_text(row, 0));
}

/* A page of a list that goes by number. */
static void add_page(struct row *values, int64_t job, const struct store_page *page) {
    row_add_integer(values, job);
    row_add_integer(values, page->newest_first && page->after_number == 0 ? INT64_MAX : page->after_number);
    row_add_integer(values, page->limit);
}

int32_t store_list_trials(struct store *store, int64_t job, const struct store_page *page, store_visit_trial visit,
                          void *context, struct kerf_error *err) {
    struct trial_list list = {visit, context};
    struct row values = {0};
    add_page(&values, job, page);
    return ask(store, NULL, page->newest_first ? SQL_LIST_NEWEST_TRIALS : SQL_LIST_TRIALS, &values, visit_listed_trial,
               &list, err);
}

struct cost_list {
    store_visit_cost visit;
    void *context;
};

static int32_t visit_listed_cost(void *context, const struct row *row, struct kerf_error *err) {
    const struct cost_list *list = context;
    const struct store_cost cost = {row_integer(row, 0), row_integer(row, 1), row_real(row, 2, NAN),
                                    row_real(row, 3, NAN)};
    (void)err;
    return list->visit(list->context, &cost);
}

int32_t store_list_costs(struct store *store, int64_t job, const struct store_page *page, store_visit_cost visit,
                         void *context, struct kerf_error *err) {
    struct cost_list list = {visit, context};
    struct row values = {0};
    assert(!page->newest_first);
    add_page(&values, job, page);
    return ask(store, NULL, SQL_LIST_COSTS, &values, visit_listed_cost, &list, err);
}

struct cost_loading {
    const struct kerf_job_spec *spec;
    struct store_costs costs;
};

static int32_t visit_cost(void *context, const struct row *row, struct kerf_error *err) {
    struct cost_loading *loading = context;
    struct store_costs *costs = &loading->costs;
    if (costs->count == costs->room) {
        int64_t room = costs->room ? 2 * costs->room : 64;
        int64_t *numbers = realloc(costs->numbers, (size_t)room * sizeof *numbers);
        if (numbers) costs->numbers = numbers;
        double *values = numbers ? realloc(costs->costs, (size_t)room * sizeof *values) : NULL;
        if (values == NULL) return error_no_memory(err, "the costs of a job");
        costs->costs = values;
        costs->room = room;
    }
    costs->numbers[costs->count] = row_integer(row, 0);
    costs->costs[costs->count++] = kerf_job_cost(loading->spec, row_real(row, 1, NAN), row_real(row, 2, NAN));
    return KERF_OK;
}

int32_t store_load_costs(struct store *store, const struct store_turn *turn, const struct kerf_job_spec *spec,
                         int64_t batch_size, int64_t most, struct store_costs *ret_costs, struct kerf_error *err) {
    struct cost_loading loading = {.spec = spec};
    struct row values = {0};
    row_add_integer(&values, turn->job);
    row_add_integer(&values, batch_size);
    row_add_integer(&values, most);
    int32_t code = ask(store, turn, SQL_LOAD_COSTS, &values, visit_cost, &loading, err);
    if (code == KERF_OK)
        *ret_costs = loading.costs;
    else
        store_costs_free(&loading.costs);
    return code;
}

void store_costs_free(struct store_costs *costs) {
    free(costs->numbers);
    free(costs->costs);
    *costs = (struct store_costs){0};
}

/* ---- Tokens and metadata ------------------------------------------------------------------------------------ */

static int32_t count_row(void *context, const struct row *row, struct kerf_error *err) {
    (void)row, (void)err;
    ++*(int *)context;
    return KERF_OK;
}

int32_t store_add_token(struct store *store, const struct store_token *token, struct kerf_error *err) {
    struct row values = {0};
    int rows = 0;
    row_add_text(&values, token->name);
    row_add_text(&values, token->role);
    row_add_bytes(&values, token->hash, STORE_TOKEN_HASH);
    row_add_real(&values, token->created_s);
    row_add_real(&values, token->expires_s);
    const struct store_question question = {SQL_ADD_TOKEN, &values, count_row, &rows};
    int32_t code = store->methods->tell(store, &question, err);
    if (code == KERF_OK && rows == 0)
        code = kerf_error_set(err, KERF_EINVALID, "the token '%.100s' exists already", token->name);
    return code;
}

int32_t store_revoke_token(struct store *store, const char *name, struct kerf_error *err) {
    struct row values = {0};
    int rows = 0;
    row_add_wanted(&values, name);
    const struct store_question question = {SQL_REVOKE_TOKEN, &values, count_row, &rows};
    int32_t code = store->methods->tell(store, &question, err);
    if (code == KERF_OK && rows == 0) code = kerf_error_set(err, KERF_EUNKNOWN, "there is no token '%.100s'", name);
    return code;
}

struct token_list {
    store_visit_token visit;
    void *context;
};

static int32_t visit_token(void *context, const struct row *row, struct kerf_error *err) {
    const struct token_list *list = context;
    struct store_token token = {.name = row_text(row, 0),
                                .role = row_text(row, 1),
                                .created_s = row_real(row, 3, 0),
                                .expires_s = row_real(row, 4, 0)};
    const struct value *hash = &row->values[2];
    (void)err;
    if (hash->kind == VALUE_BYTES && hash->length == STORE_TOKEN_HASH)
        memcpy(token.hash, hash->text, sizeof token.hash);
    return list->visit(list->context, &token);
}

int32_t store_list_tokens(struct store *store, store_visit_token visit, void *context, struct kerf_error *err) {
    const struct row none = {0};
    struct token_list list = {visit, context};
    return ask(store, NULL, SQL_LIST_TOKENS, &none, visit_token, &list, err);
}

struct found_text {
    struct kerf_text *out;
    int is_there;
};

static int32_t visit_meta(void *context, const struct row *row, struct kerf_error *err) {
    struct found_text *found = context;
    (void)err;
    found->is_there = 1;
    kerf_text_add(found->out, row_text(row, 0));
    return KERF_OK;
}

int32_t store_get_meta(struct store *store, const char *key, struct kerf_text *out, struct kerf_error *err) {
    struct row values = {0};
    struct found_text found = {.out = out};
    row_add_text(&values, key);
    int32_t code = ask(store, NULL, SQL_GET_META, &values, visit_meta, &found, err);
    if (code == KERF_OK && !found.is_there)
        code = kerf_error_set(err, KERF_EUNKNOWN, "the store does not say '%.100s'", key);
    return code;
}

int32_t store_set_meta(struct store *store, const char *key, const char *value, struct kerf_error *err) {
    struct row values = {0};
    row_add_text(&values, key);
    row_add_text(&values, value);
    const struct store_question question = {.which = SQL_SET_META, .values = &values};
    return store->methods->tell(store, &question, err);
}
