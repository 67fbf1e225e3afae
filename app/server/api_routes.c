/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /api/v1/...: what is stored, for reading. Answers show what is committed and wait for no turn. A list goes by a key:
 * `after` is the last key that the client has, `next` in the answer is the key for the next page, or null.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "kerf/jobs.h"
#include "kerf/json.h"
#include "server/exchange.h"
#include "server/service.h"
#include "store/store.h"

enum { LIMIT_MAX = 1000, LIMIT = 100 };

/* ---- Rows as JSON -------------------------------------------------------------------------------------------- */

/* With a point or an exponent, so that every reader takes it for a float and not for an integer, which may have other
 * digits: "200.0". JSON has no infinities: they are strings. */
static void put_real(struct kerf_json *json, const char *key, double value) {
    if (!isfinite(value)) {
        kerf_json_string(json, key, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    size_t key_bytes = json->out->length;
    kerf_json_number(json, key, value);
    const char *digits = json->out->data ? strrchr(json->out->data + key_bytes, ':') : NULL;
    if (digits && strpbrk(digits, ".e") == NULL) kerf_text_add(json->out, ".0");
}

static void put_optional(struct kerf_json *json, const char *key, int there, double value) {
    if (there)
        put_real(json, key, value);
    else
        kerf_json_null(json, key);
}

static void put_arms(struct kerf_json *json, const struct kerf_job *job) {
    int32_t count;
    const struct kerf_arm *arms = kerf_job_arms(job, &count);
    kerf_json_open(json, "arms", '[');
    for (int32_t i = 0; i < count; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_integer(json, "batch_size", arms[i].batch_size);
        put_real(json, "param_mean", arms[i].param_mean);
        put_real(json, "param_precision", arms[i].param_precision);
        put_real(json, "reward_precision", arms[i].reward_precision);
        kerf_json_integer(json, "num_observations", arms[i].num_observations);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

static void put_spec(struct kerf_json *json, const struct kerf_job_spec *spec) {
    kerf_json_open(json, "spec", '{');
    put_real(json, "max_power", spec->max_power);
    kerf_json_integer(json, "number_of_gpus", spec->number_of_gpus);
    kerf_json_string(json, "gpu_model", spec->gpu_model);
    kerf_json_string(json, "job_id_prefix", spec->job_id_prefix);
    kerf_json_open(json, "batch_sizes", '[');
    for (int32_t i = 0; i < spec->num_batch_sizes; i++) kerf_json_integer(json, NULL, spec->batch_sizes[i]);
    kerf_json_close(json, ']');
    kerf_json_integer(json, "default_batch_size", spec->default_batch_size);
    put_real(json, "eta_knob", spec->eta_knob);
    put_optional(json, "beta_knob", spec->has_beta_knob, spec->beta_knob);
    put_real(json, "target_metric", spec->target_metric);
    kerf_json_boolean(json, "higher_is_better_metric", spec->higher_is_better_metric);
    kerf_json_integer(json, "max_epochs", spec->max_epochs);
    kerf_json_integer(json, "num_pruning_rounds", spec->num_pruning_rounds);
    kerf_json_integer(json, "window_size", spec->window_size);
    put_real(json, "mab_prior_mean", spec->mab_prior_mean);
    put_real(json, "mab_prior_precision", spec->mab_prior_precision);
    kerf_json_integer(json, "mab_num_explorations", spec->mab_num_explorations);
    if (spec->has_mab_seed)
        kerf_json_integer(json, "mab_seed", spec->mab_seed);
    else
        kerf_json_null(json, "mab_seed");
    kerf_json_string(json, "policy", spec->policy ? spec->policy : kerf_job_policy_at(0)->name);
    put_optional(json, "lease_s", spec->lease_s > 0, spec->lease_s);
    kerf_json_close(json, '}');
}

static void put_job(struct kerf_json *json, const struct kerf_job_spec *spec, const struct kerf_job_row *row,
                    double created_s) {
    kerf_json_string(json, "job_id", spec->job_id);
    kerf_json_number(json, "created_s", created_s);
    kerf_json_string(json, "stage", kerf_job_stage_name(row->stage));
    put_optional(json, "min_cost", row->has_min_cost, row->min_cost);
    kerf_json_integer(json, "min_cost_batch_size", row->min_cost_batch_size);
    kerf_json_integer(json, "last_trial_number", row->last_trial_number);
    kerf_json_integer(json, "trials_ended", row->trials_ended);
    put_spec(json, spec);
}

static void put_trial(struct kerf_json *json, const struct kerf_trial *trial, const char *reason) {
    int ended = trial->status == KERF_TRIAL_SUCCEEDED;
    kerf_json_open(json, NULL, '{');
    kerf_json_integer(json, "trial_number", trial->number);
    kerf_json_integer(json, "batch_size", trial->batch_size);
    kerf_json_string(json, "type", kerf_trial_type_name(trial->type));
    kerf_json_string(json, "status", kerf_trial_status_name(trial->status));
    if (trial->converged < 0)
        kerf_json_null(json, "converged");
    else
        kerf_json_boolean(json, "converged", trial->converged);
    kerf_json_boolean(json, "lease_ended", trial->lease_ended);
    put_optional(json, "time_s", ended, trial->time_s);
    put_optional(json, "energy_j", ended, trial->energy_j);
    kerf_json_number(json, "dispatched_s", trial->dispatched_s);
    kerf_json_number(json, "seen_s", trial->seen_s);
    kerf_json_string(json, "reason", reason);
    kerf_json_close(json, '}');
}

/* ---- The query ----------------------------------------------------------------------------------------------- */

static int parse_number(const char *text, int64_t least, int64_t most, int64_t *ret_number) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < least || number > most) return 0;
    *ret_number = number;
    return 1;
}

/* Reads the number, or `otherwise` where it is missing. 0: the request was answered with 400. */
static int ask_number(struct exchange *exchange, const char *name, int64_t least, int64_t most, int64_t otherwise,
                      int64_t *ret_number) {
    const char *text = target_query(&exchange->arena, exchange->query, name);
    char why[96];
    *ret_number = otherwise;
    if (text == NULL || parse_number(text, least, most, ret_number)) return 1;
    snprintf(why, sizeof why, "%s must be a whole number from %" PRId64 " to %" PRId64, name, least, most);
    exchange_detail(exchange, 400, why);
    return 0;
}

/* ---- One job ------------------------------------------------------------------------------------------------- */

static void begin_object(struct exchange *exchange, struct kerf_json *json) {
    kerf_text_clear(&exchange->answer);
    kerf_json_begin(json, &exchange->answer);
    kerf_json_open(json, NULL, '{');
}

static void end_object(struct exchange *exchange, struct kerf_json *json) {
    kerf_json_close(json, '}');
    exchange_answer(exchange, 200);
}

/* A copy of the job, as it is committed; NULL after an answer. */
static struct kerf_job *load_job(struct exchange *exchange, struct store_turn *ret_found, double *ret_created_s) {
    struct service *service = exchange->service;
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_job *job = NULL;
    exchange->job_id = exchange->parameters[0];
    int32_t code = store_find_job(service->store, exchange->parameters[0], ret_found, ret_created_s, &err);
    if (code == KERF_OK) code = store_load_job(service->store, ret_found, service->job_flags, &job, &err);
    if (code == KERF_EUNKNOWN)
        exchange_detail(exchange, 404, "There is no such job");
    else if (code != KERF_OK)
        exchange_fail(exchange, code, &err);
    return code == KERF_OK ? job : NULL;
}

/* The state of the job's generator, for an import that goes on with the same draws. */
static void put_random(struct kerf_json *json, const struct kerf_job_row *row) {
    struct kerf_text random = {0};
    if (row->has_random) kerf_job_random_write(&row->random, &random);
    if (random.failed) json->out->failed = 1;
    kerf_json_string(json, "random", random.data);
    kerf_text_free(&random);
}

/* What the next run would be given if it began now; the copy of the job that decides is thrown away. */
static void put_next(struct kerf_json *json, struct kerf_job *job) {
    struct kerf_decision decision;
    struct kerf_text reason = {0};
    struct kerf_error err;
    if (kerf_job_predict(job, clock_now_s(), &decision, &err) != KERF_OK || decision.status != KERF_JOB_ANSWERED) {
        kerf_json_null(json, "next");
        return;
    }
    kerf_job_reason_text(&decision.reason, &reason);
    kerf_json_open(json, "next", '{');
    kerf_json_integer(json, "batch_size", decision.trial.batch_size);
    kerf_json_string(json, "type", kerf_trial_type_name(decision.trial.type));
    kerf_json_string(json, "reason", reason.data);
    kerf_json_close(json, '}');
    kerf_text_free(&reason);
}

static void api_job(struct exchange *exchange) {
    struct store_turn found;
    double created_s;
    struct kerf_json json;
    struct kerf_job *job = load_job(exchange, &found, &created_s);
    if (job == NULL) return;
    begin_object(exchange, &json);
    put_job(&json, kerf_job_spec_of(job), kerf_job_row_of(job), created_s);
    put_optional(&json, "current_lease_s", isfinite(kerf_job_lease_s(job)), kerf_job_lease_s(job));
    put_real(&json, "longest_gap_s", kerf_job_row_of(job)->longest_gap_s);
    put_random(&json, kerf_job_row_of(job));
    put_arms(&json, job);
    put_next(&json, job);
    end_object(exchange, &json);
    kerf_job_free(job);
}

static void api_state(struct exchange *exchange) {
    struct store_turn found;
    double created_s;
    struct kerf_json json;
    struct kerf_job *job = load_job(exchange, &found, &created_s);
    if (job == NULL) return;
    const struct kerf_job_row *row = kerf_job_row_of(job);
    begin_object(exchange, &json);
    kerf_json_string(&json, "stage", kerf_job_stage_name(row->stage));
    put_optional(&json, "min_cost", row->has_min_cost, row->min_cost);
    kerf_json_integer(&json, "min_cost_batch_size", row->min_cost_batch_size);
    put_arms(&json, job);
    end_object(exchange, &json);
    kerf_job_free(job);
}

static void api_arms(struct exchange *exchange) {
    struct store_turn found;
    double created_s;
    struct kerf_json json;
    struct kerf_job *job = load_job(exchange, &found, &created_s);
    if (job == NULL) return;
    begin_object(exchange, &json);
    put_arms(&json, job);
    end_object(exchange, &json);
    kerf_job_free(job);
}

/* ---- Lists --------------------------------------------------------------------------------------------------- */

struct list {
    struct exchange *exchange;
    struct kerf_json json;
    struct kerf_job *job; /* whose leases trials have */
    double now_s;
    int64_t left, last_number;
    const char *last_job_id;
    int more;
};

/* The store was asked for one row more than the client wants, to know whether there are more. */
static int is_one_more(struct list *list) {
    list->more = list->left == 0;
    return list->left-- == 0;
}

static int32_t visit_job(void *context, const struct store_job *job) {
    struct list *list = context;
    if (is_one_more(list)) return KERF_OK;
    kerf_json_open(&list->json, NULL, '{');
    put_job(&list->json, job->spec, job->row, job->created_s);
    kerf_json_close(&list->json, '}');
    list->last_job_id = arena_copy(&list->exchange->arena, job->spec->job_id, strlen(job->spec->job_id));
    return KERF_OK;
}

static void api_list_jobs(struct exchange *exchange) {
    struct store *store = exchange->service->store;
    struct list list = {.exchange = exchange};
    struct kerf_error err = {.code = KERF_OK};
    if (!ask_number(exchange, "limit", 1, LIMIT_MAX, LIMIT, &list.left)) return;
    const struct store_page page = {.after_job_id = target_query(&exchange->arena, exchange->query, "after"),
                                    .limit = (int32_t)list.left + 1};
    begin_object(exchange, &list.json);
    kerf_json_open(&list.json, "jobs", '[');
    int32_t code = store_list_jobs(store, &page, visit_job, &list, &err);
    kerf_json_close(&list.json, ']');
    kerf_json_string(&list.json, "next", list.more ? list.last_job_id : NULL);
    if (code == KERF_OK)
        end_object(exchange, &list.json);
    else
        exchange_fail(exchange, code, &err);
}

static int32_t visit_trial(void *context, const struct kerf_trial *stored, const char *reason) {
    struct list *list = context;
    struct kerf_trial trial = *stored;
    if (is_one_more(list)) return KERF_OK;
    kerf_job_expire(list->job, &trial, list->now_s); /* as the next decision will find it */
    put_trial(&list->json, &trial, reason);
    list->last_number = trial.number;
    return KERF_OK;
}

static void api_trials(struct exchange *exchange) {
    struct store *store = exchange->service->store;
    struct list list = {.exchange = exchange, .now_s = clock_now_s()};
    struct kerf_error err = {.code = KERF_OK};
    struct store_turn found;
    struct store_page page = {0};
    double created_s;
    const char *order = target_query(&exchange->arena, exchange->query, "order");
    if (!ask_number(exchange, "limit", 1, LIMIT_MAX, LIMIT, &list.left)) return;
    if (!ask_number(exchange, "after", 0, INT64_MAX, 0, &page.after_number)) return;
    page.limit = (int32_t)list.left + 1;
    page.newest_first = order && strcmp(order, "desc") == 0;
    if (order && !page.newest_first && strcmp(order, "asc") != 0) {
        exchange_detail(exchange, 400, "order must be asc or desc");
        return;
    }
    list.job = load_job(exchange, &found, &created_s);
    if (list.job == NULL) return;
    begin_object(exchange, &list.json);
    kerf_json_open(&list.json, "trials", '[');
    int32_t code = store_list_trials(store, found.job, &page, visit_trial, &list, &err);
    kerf_json_close(&list.json, ']');
    if (list.more)
        kerf_json_integer(&list.json, "next", list.last_number);
    else
        kerf_json_null(&list.json, "next");
    if (code == KERF_OK)
        end_object(exchange, &list.json);
    else
        exchange_fail(exchange, code, &err);
    kerf_job_free(list.job);
}

static int32_t visit_cost(void *context, const struct store_cost *cost) {
    struct list *list = context;
    if (is_one_more(list)) return KERF_OK;
    kerf_json_open(&list->json, NULL, '{');
    kerf_json_integer(&list->json, "trial_number", cost->number);
    kerf_json_integer(&list->json, "batch_size", cost->batch_size);
    put_real(&list->json, "time_s", cost->time_s);
    put_real(&list->json, "energy_j", cost->energy_j);
    kerf_json_close(&list->json, '}');
    list->last_number = cost->number;
    return KERF_OK;
}

static void api_costs(struct exchange *exchange) {
    struct store *store = exchange->service->store;
    struct list list = {.exchange = exchange};
    struct kerf_error err = {.code = KERF_OK};
    struct store_turn found;
    struct store_page page = {0};
    if (!ask_number(exchange, "limit", 1, LIMIT_MAX, LIMIT, &list.left)) return;
    if (!ask_number(exchange, "after", 0, INT64_MAX, 0, &page.after_number)) return;
    page.limit = (int32_t)list.left + 1;
    int32_t code = store_find_job(store, exchange->parameters[0], &found, NULL, &err);
    if (code == KERF_EUNKNOWN) {
        exchange_detail(exchange, 404, "There is no such job");
        return;
    }
    begin_object(exchange, &list.json);
    kerf_json_open(&list.json, "costs", '[');
    if (code == KERF_OK) code = store_list_costs(store, found.job, &page, visit_cost, &list, &err);
    kerf_json_close(&list.json, ']');
    if (list.more)
        kerf_json_integer(&list.json, "next", list.last_number);
    else
        kerf_json_null(&list.json, "next");
    if (code == KERF_OK)
        end_object(exchange, &list.json);
    else
        exchange_fail(exchange, code, &err);
}

static void api_trial(struct exchange *exchange) {
    struct store *store = exchange->service->store;
    struct list list = {.exchange = exchange, .now_s = clock_now_s(), .left = 1};
    struct kerf_error err = {.code = KERF_OK};
    struct store_turn found;
    double created_s;
    int64_t number;
    if (!parse_number(exchange->parameters[1], 1, INT64_MAX, &number)) {
        exchange_detail(exchange, 404, "There is no such trial");
        return;
    }
    exchange->trial = number;
    list.job = load_job(exchange, &found, &created_s);
    if (list.job == NULL) return;
    const struct store_page page = {.after_number = number - 1, .limit = 1};
    kerf_text_clear(&exchange->answer);
    kerf_json_begin(&list.json, &exchange->answer);
    int32_t code = store_list_trials(store, found.job, &page, visit_trial, &list, &err);
    kerf_job_free(list.job);
    if (code != KERF_OK)
        exchange_fail(exchange, code, &err);
    else if (list.last_number != number)
        exchange_detail(exchange, 404, "There is no such trial");
    else
        exchange_answer(exchange, 200);
}

static void api_policies(struct exchange *exchange) {
    struct kerf_json json;
    const struct kerf_job_policy *policy;
    begin_object(exchange, &json);
    kerf_json_open(&json, "policies", '[');
    for (size_t i = 0; (policy = kerf_job_policy_at(i)) != NULL; i++) {
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "name", policy->name);
        kerf_json_string(&json, "summary", policy->summary);
        kerf_json_string(&json, "source", policy->source);
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    end_object(exchange, &json);
}

/* ---- Routes -------------------------------------------------------------------------------------------------- */

#define STAGES "Pruning,MAB"

static const struct schema_field arm[] = {
    {"batch_size", "integer", SCHEMA_REQUIRED, NULL},       {"param_mean", "real", SCHEMA_REQUIRED, NULL},
    {"param_precision", "real", SCHEMA_REQUIRED, NULL},     {"reward_precision", "real", SCHEMA_REQUIRED, NULL},
    {"num_observations", "integer", SCHEMA_REQUIRED, NULL}, {0}};
static const struct schema_field spec[] = {{"max_power", "real", SCHEMA_REQUIRED, NULL},
                                           {"number_of_gpus", "integer", SCHEMA_REQUIRED, NULL},
                                           {"gpu_model", "string", SCHEMA_REQUIRED, NULL},
                                           {"job_id_prefix", "string", SCHEMA_REQUIRED, NULL},
                                           {"batch_sizes", "[integer]", SCHEMA_REQUIRED, NULL},
                                           {"default_batch_size", "integer", SCHEMA_REQUIRED, NULL},
                                           {"eta_knob", "real", SCHEMA_REQUIRED, NULL},
                                           {"beta_knob", "real", SCHEMA_NULLABLE, NULL},
                                           {"target_metric", "real", SCHEMA_REQUIRED, NULL},
                                           {"higher_is_better_metric", "boolean", SCHEMA_REQUIRED, NULL},
                                           {"max_epochs", "integer", SCHEMA_REQUIRED, NULL},
                                           {"num_pruning_rounds", "integer", SCHEMA_REQUIRED, NULL},
                                           {"window_size", "integer", SCHEMA_REQUIRED, NULL},
                                           {"mab_prior_mean", "real", SCHEMA_REQUIRED, NULL},
                                           {"mab_prior_precision", "real", SCHEMA_REQUIRED, NULL},
                                           {"mab_num_explorations", "integer", SCHEMA_REQUIRED, NULL},
                                           {"mab_seed", "integer", SCHEMA_NULLABLE, NULL},
                                           {"policy", "string", SCHEMA_REQUIRED, NULL},
                                           {"lease_s", "real", SCHEMA_NULLABLE, NULL},
                                           {0}};
#define JOB_MEMBERS                                                                                                    \
    {"job_id", "string", SCHEMA_REQUIRED, NULL}, {"created_s", "number", SCHEMA_REQUIRED, NULL},                       \
        {"stage", "string", SCHEMA_REQUIRED, STAGES}, {"min_cost", "real", SCHEMA_NULLABLE, NULL},                     \
        {"min_cost_batch_size", "integer", SCHEMA_REQUIRED, NULL},                                                     \
        {"last_trial_number", "integer", SCHEMA_REQUIRED, NULL}, {"trials_ended", "integer", SCHEMA_REQUIRED, NULL}, { \
        "spec", "Spec", SCHEMA_REQUIRED, NULL                                                                          \
    }

static const struct schema_field stored_job[] = {JOB_MEMBERS, {0}};
static const struct schema_field whole_job[] = {JOB_MEMBERS,
                                                {"current_lease_s", "real", SCHEMA_NULLABLE, NULL},
                                                {"longest_gap_s", "real", SCHEMA_REQUIRED, NULL},
                                                {"random", "string", SCHEMA_NULLABLE, NULL},
                                                {"arms", "[Arm]", SCHEMA_REQUIRED, NULL},
                                                {"next", "any", SCHEMA_NULLABLE, NULL},
                                                {0}};
static const struct schema_field state[] = {{"stage", "string", SCHEMA_REQUIRED, STAGES},
                                            {"min_cost", "real", SCHEMA_NULLABLE, NULL},
                                            {"min_cost_batch_size", "integer", SCHEMA_REQUIRED, NULL},
                                            {"arms", "[Arm]", SCHEMA_REQUIRED, NULL},
                                            {0}};
static const struct schema_field arms[] = {{"arms", "[Arm]", SCHEMA_REQUIRED, NULL}, {0}};
static const struct schema_field trial[] = {{"trial_number", "integer", SCHEMA_REQUIRED, NULL},
                                            {"batch_size", "integer", SCHEMA_REQUIRED, NULL},
                                            {"type", "string", SCHEMA_REQUIRED, "Exploration,Concurrent,MAB"},
                                            {"status", "string", SCHEMA_REQUIRED, "Dispatched,Succeeded,Failed"},
                                            {"converged", "boolean", SCHEMA_NULLABLE, NULL},
                                            {"lease_ended", "boolean", SCHEMA_REQUIRED, NULL},
                                            {"time_s", "real", SCHEMA_NULLABLE, NULL},
                                            {"energy_j", "real", SCHEMA_NULLABLE, NULL},
                                            {"dispatched_s", "number", SCHEMA_REQUIRED, NULL},
                                            {"seen_s", "number", SCHEMA_REQUIRED, NULL},
                                            {"reason", "string", SCHEMA_NULLABLE, NULL},
                                            {0}};
static const struct schema_field jobs[] = {
    {"jobs", "[StoredJob]", SCHEMA_REQUIRED, NULL}, {"next", "string", SCHEMA_NULLABLE, NULL}, {0}};
static const struct schema_field trials[] = {
    {"trials", "[Trial]", SCHEMA_REQUIRED, NULL}, {"next", "integer", SCHEMA_NULLABLE, NULL}, {0}};
static const struct schema_field cost[] = {{"trial_number", "integer", SCHEMA_REQUIRED, NULL},
                                           {"batch_size", "integer", SCHEMA_REQUIRED, NULL},
                                           {"time_s", "real", SCHEMA_REQUIRED, NULL},
                                           {"energy_j", "real", SCHEMA_REQUIRED, NULL},
                                           {0}};
static const struct schema_field costs[] = {
    {"costs", "[Cost]", SCHEMA_REQUIRED, NULL}, {"next", "integer", SCHEMA_NULLABLE, NULL}, {0}};
static const struct schema_field policy[] = {{"name", "string", SCHEMA_REQUIRED, NULL},
                                             {"summary", "string", SCHEMA_REQUIRED, NULL},
                                             {"source", "string", SCHEMA_REQUIRED, NULL},
                                             {0}};
static const struct schema_field policies[] = {{"policies", "[Policy]", SCHEMA_REQUIRED, NULL}, {0}};

static const struct schema schemas[] = {
    {"Arm", arm},           {"Spec", spec},   {"StoredJob", stored_job}, {"WholeJob", whole_job}, {"State", state},
    {"Arms", arms},         {"Trial", trial}, {"JobList", jobs},         {"TrialList", trials},   {"Policy", policy},
    {"Policies", policies}, {"Cost", cost},   {"CostList", costs}};

static const struct schema_field ask_jobs[] = {{"limit", "integer", 0, NULL}, {"after", "string", 0, NULL}, {0}};
static const struct schema_field ask_trials[] = {
    {"limit", "integer", 0, NULL}, {"after", "integer", 0, NULL}, {"order", "string", 0, "asc,desc"}, {0}};

static const struct schema_field ask_costs[] = {{"limit", "integer", 0, NULL}, {"after", "integer", 0, NULL}, {0}};

#define ROUTE(path, make, more_flags, what, asks, gives, others)                                                       \
    {                                                                                                                  \
        .method = "GET", .pattern = (path), .step = (make), .needs = TOKEN_READ, .flags = ROUTE_HEAD | (more_flags),   \
        .summary = (what), .query = (asks), .answer = (gives), .statuses = (others)                                    \
    }

static const struct route routes[] = {
    ROUTE("/api/v1/policies", api_policies, ROUTE_QUICK, "The policies of jobs", NULL, "Policies", ""),
    ROUTE("/api/v1/jobs", api_list_jobs, 0, "Jobs by job_id", ask_jobs, "JobList", "400 Detail"),
    ROUTE("/api/v1/jobs/{job_id}", api_job, 0, "One job", NULL, "WholeJob", "404 Detail"),
    ROUTE("/api/v1/jobs/{job_id}/state", api_state, 0, "Stage, cheapest run and arms, as they are stored", NULL,
          "State", "404 Detail"),
    ROUTE("/api/v1/jobs/{job_id}/arms", api_arms, 0, "The batch sizes that the job picks from", NULL, "Arms",
          "404 Detail"),
    ROUTE("/api/v1/jobs/{job_id}/trials", api_trials, 0, "Trials by number, each with the reason for its batch size",
          ask_trials, "TrialList", "400 Detail,404 Detail"),
    ROUTE("/api/v1/jobs/{job_id}/costs", api_costs, 0, "Time and energy of trials that were removed, by number",
          ask_costs, "CostList", "400 Detail,404 Detail"),
    ROUTE("/api/v1/jobs/{job_id}/trials/{trial_number}", api_trial, 0, "One trial", NULL, "Trial", "404 Detail"),
};

const struct api jobs_api = API(routes, schemas);
