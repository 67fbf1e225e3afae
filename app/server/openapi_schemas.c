/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that requests and answers are made of (zeus_routes.c, api_routes.c), and what each route takes. */
#include <stdio.h>
#include <string.h>
#include "server/openapi.h"

enum { REQUIRED = OPENAPI_REQUIRED, NULL_TOO = OPENAPI_REQUIRED | OPENAPI_NULL, OPTIONAL = OPENAPI_NULL };

#define STAGES "Pruning,MAB"

/* ---- Objects ------------------------------------------------------------------------------------------------ */

static const struct openapi_field job[] = {{"max_power", "number", REQUIRED, NULL},
                                           {"number_of_gpus", "integer", REQUIRED, NULL},
                                           {"gpu_model", "string", REQUIRED, NULL},
                                           {"job_id", "string", OPTIONAL, NULL},
                                           {"job_id_prefix", "string", REQUIRED, NULL},
                                           {"batch_sizes", "[integer]", REQUIRED, NULL},
                                           {"default_batch_size", "integer", REQUIRED, NULL},
                                           {"eta_knob", "number", 0, NULL},
                                           {"beta_knob", "number", OPTIONAL, NULL},
                                           {"target_metric", "number", 0, NULL},
                                           {"higher_is_better_metric", "boolean", 0, NULL},
                                           {"max_epochs", "integer", 0, NULL},
                                           {"num_pruning_rounds", "integer", 0, NULL},
                                           {"window_size", "integer", 0, NULL},
                                           {"mab_prior_mean", "number", 0, NULL},
                                           {"mab_prior_precision", "number", 0, NULL},
                                           {"mab_num_explorations", "integer", 0, NULL},
                                           {"mab_seed", "integer", OPTIONAL, NULL},
                                           {"policy", "string", 0, "zeus,kerf"},
                                           {"lease_s", "number", 0, NULL},
                                           {0}};
static const struct openapi_field trial_id[] = {{"job_id", "string", REQUIRED, NULL},
                                                {"batch_size", "integer", REQUIRED, NULL},
                                                {"trial_number", "integer", REQUIRED, NULL},
                                                {0}};
static const struct openapi_field report[] = {
    {"job_id", "string", REQUIRED, NULL},         {"batch_size", "integer", REQUIRED, NULL},
    {"trial_number", "integer", REQUIRED, NULL},  {"time", "number", REQUIRED, NULL},
    {"energy", "number", REQUIRED, NULL},         {"metric", "number", REQUIRED, NULL},
    {"current_epoch", "integer", REQUIRED, NULL}, {0}};
static const struct openapi_field verdict[] = {{"stop_train", "boolean", REQUIRED, NULL},
                                               {"converged", "boolean", REQUIRED, NULL},
                                               {"message", "string", REQUIRED, NULL},
                                               {0}};
static const struct openapi_field arm[] = {
    {"batch_size", "integer", REQUIRED, NULL},       {"param_mean", "real", REQUIRED, NULL},
    {"param_precision", "real", REQUIRED, NULL},     {"reward_precision", "real", REQUIRED, NULL},
    {"num_observations", "integer", REQUIRED, NULL}, {0}};
static const struct openapi_field spec[] = {{"max_power", "real", REQUIRED, NULL},
                                            {"number_of_gpus", "integer", REQUIRED, NULL},
                                            {"gpu_model", "string", REQUIRED, NULL},
                                            {"job_id_prefix", "string", REQUIRED, NULL},
                                            {"batch_sizes", "[integer]", REQUIRED, NULL},
                                            {"default_batch_size", "integer", REQUIRED, NULL},
                                            {"eta_knob", "real", REQUIRED, NULL},
                                            {"beta_knob", "real", NULL_TOO, NULL},
                                            {"target_metric", "real", REQUIRED, NULL},
                                            {"higher_is_better_metric", "boolean", REQUIRED, NULL},
                                            {"max_epochs", "integer", REQUIRED, NULL},
                                            {"num_pruning_rounds", "integer", REQUIRED, NULL},
                                            {"window_size", "integer", REQUIRED, NULL},
                                            {"mab_prior_mean", "real", REQUIRED, NULL},
                                            {"mab_prior_precision", "real", REQUIRED, NULL},
                                            {"mab_num_explorations", "integer", REQUIRED, NULL},
                                            {"mab_seed", "integer", NULL_TOO, NULL},
                                            {"policy", "string", REQUIRED, NULL},
                                            {"lease_s", "real", NULL_TOO, NULL},
                                            {0}};
static const struct openapi_field stored_job[] = {{"job_id", "string", REQUIRED, NULL},
                                                  {"created_s", "number", REQUIRED, NULL},
                                                  {"stage", "string", REQUIRED, STAGES},
                                                  {"min_cost", "real", NULL_TOO, NULL},
                                                  {"min_cost_batch_size", "integer", REQUIRED, NULL},
                                                  {"last_trial_number", "integer", REQUIRED, NULL},
                                                  {"trials_ended", "integer", REQUIRED, NULL},
                                                  {"spec", "Spec", REQUIRED, NULL},
                                                  {0}};
static const struct openapi_field whole_job[] = {{"job_id", "string", REQUIRED, NULL},
                                                 {"created_s", "number", REQUIRED, NULL},
                                                 {"stage", "string", REQUIRED, STAGES},
                                                 {"min_cost", "real", NULL_TOO, NULL},
                                                 {"min_cost_batch_size", "integer", REQUIRED, NULL},
                                                 {"last_trial_number", "integer", REQUIRED, NULL},
                                                 {"trials_ended", "integer", REQUIRED, NULL},
                                                 {"spec", "Spec", REQUIRED, NULL},
                                                 {"current_lease_s", "real", NULL_TOO, NULL},
                                                 {"arms", "[Arm]", REQUIRED, NULL},
                                                 {0}};
static const struct openapi_field state[] = {{"stage", "string", REQUIRED, STAGES},
                                             {"min_cost", "real", NULL_TOO, NULL},
                                             {"min_cost_batch_size", "integer", REQUIRED, NULL},
                                             {"arms", "[Arm]", REQUIRED, NULL},
                                             {0}};
static const struct openapi_field arms[] = {{"arms", "[Arm]", REQUIRED, NULL}, {0}};
static const struct openapi_field trial[] = {{"trial_number", "integer", REQUIRED, NULL},
                                             {"batch_size", "integer", REQUIRED, NULL},
                                             {"type", "string", REQUIRED, "Exploration,Concurrent,MAB"},
                                             {"status", "string", REQUIRED, "Dispatched,Succeeded,Failed"},
                                             {"converged", "boolean", NULL_TOO, NULL},
                                             {"lease_ended", "boolean", REQUIRED, NULL},
                                             {"time_s", "real", NULL_TOO, NULL},
                                             {"energy_j", "real", NULL_TOO, NULL},
                                             {"dispatched_s", "number", REQUIRED, NULL},
                                             {"seen_s", "number", REQUIRED, NULL},
                                             {"reason", "string", NULL_TOO, NULL},
                                             {0}};
static const struct openapi_field jobs[] = {
    {"jobs", "[StoredJob]", REQUIRED, NULL}, {"next", "string", NULL_TOO, NULL}, {0}};
static const struct openapi_field trials[] = {
    {"trials", "[Trial]", REQUIRED, NULL}, {"next", "integer", NULL_TOO, NULL}, {0}};
static const struct openapi_field policy[] = {{"name", "string", REQUIRED, NULL},
                                              {"summary", "string", REQUIRED, NULL},
                                              {"source", "string", REQUIRED, NULL},
                                              {0}};
static const struct openapi_field policies[] = {{"policies", "[Policy]", REQUIRED, NULL}, {0}};
static const struct openapi_field health[] = {{"status", "string", REQUIRED, NULL}, {0}};
static const struct openapi_field document[] = {{"openapi", "string", REQUIRED, NULL}, {0}};
static const struct openapi_field message[] = {{"message", "string", REQUIRED, NULL}, {0}};
static const struct openapi_field detail[] = {{"detail", "string", REQUIRED, NULL}, {0}};
static const struct openapi_field mistake[] = {{"loc", "[any]", REQUIRED, NULL},   {"msg", "string", REQUIRED, NULL},
                                               {"type", "string", REQUIRED, NULL}, {"ctx", "any", 0, NULL},
                                               {"input", "any", 0, NULL},          {0}};
static const struct openapi_field mistakes[] = {{"detail", "[Mistake]", REQUIRED, NULL}, {0}};

static const struct schema {
    const char *name;
    const struct openapi_field *fields;
} schemas[] = {{"Job", job},           {"TrialId", trial_id}, {"Report", report},        {"Verdict", verdict},
               {"Arm", arm},           {"Spec", spec},        {"StoredJob", stored_job}, {"WholeJob", whole_job},
               {"State", state},       {"Arms", arms},        {"Trial", trial},          {"JobList", jobs},
               {"TrialList", trials},  {"Policy", policy},    {"Policies", policies},    {"Health", health},
               {"Document", document}, {"Message", message},  {"Detail", detail},        {"Mistake", mistake},
               {"Mistakes", mistakes}};

/* ---- Routes ------------------------------------------------------------------------------------------------- */

static const struct openapi_field ask_job[] = {{"job_id", "string", REQUIRED, NULL}, {0}};
static const struct openapi_field ask_home[] = {{"after", "string", 0, NULL}, {0}};
static const struct openapi_field ask_jobs[] = {{"limit", "integer", 0, NULL}, {"after", "string", 0, NULL}, {0}};
static const struct openapi_field ask_trials[] = {
    {"limit", "integer", 0, NULL}, {"after", "integer", 0, NULL}, {"order", "string", 0, "asc,desc"}, {0}};

#define HTML "text/html; charset=utf-8"
#define BODY "413 Detail,422 Mistakes"
static const struct openapi_operation operations[] = {
    {zeus_register, NULL, "Job", "Job", "201 Job,400 Detail,409 Message," BODY},
    {zeus_delete, ask_job, NULL, "null", "404 Message,422 Mistakes"},
    {zeus_predict, ask_job, NULL, "TrialId", "400 Message,422 Mistakes"},
    {zeus_report, NULL, "Report", "Verdict", "400 Message|Detail," BODY},
    {zeus_end, NULL, "TrialId", "null", "400 Detail,404 Message," BODY},
    {page_home, ask_home, NULL, HTML, ""},
    {page_healthz, NULL, NULL, "Health", ""},
    {page_readyz, NULL, NULL, "Health", "503 Message"},
    {page_metrics, NULL, NULL, "text/plain; version=0.0.4; charset=utf-8", ""},
    {page_docs, NULL, NULL, HTML, ""},
    {api_openapi, NULL, NULL, "Document", ""},
    {api_policies, NULL, NULL, "Policies", ""},
    {api_list_jobs, ask_jobs, NULL, "JobList", "400 Detail"},
    {api_job, NULL, NULL, "WholeJob", "404 Detail"},
    {api_state, NULL, NULL, "State", "404 Detail"},
    {api_arms, NULL, NULL, "Arms", "404 Detail"},
    {api_trials, ask_trials, NULL, "TrialList", "400 Detail,404 Detail"},
    {api_trial, NULL, NULL, "Trial", "404 Detail"},
};

const struct openapi_operation *openapi_operation(exchange_step step) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].step == step) return &operations[i];
    return NULL;
}

/* ---- As JSON ------------------------------------------------------------------------------------------------ */

static void put_words(struct kerf_json *json, const char *words, int or_null) {
    char word[32];
    kerf_json_open(json, "enum", '[');
    for (size_t length; *words; words += length + (words[length] == ',')) {
        length = strcspn(words, ",");
        if (length < sizeof word) kerf_json_string(json, NULL, memcpy(memset(word, 0, sizeof word), words, length));
    }
    if (or_null) kerf_json_null(json, NULL);
    kerf_json_close(json, ']');
}

static void put_simple(struct kerf_json *json, const char *type, int or_null) {
    int is_real = strcmp(type, "real") == 0;
    if (is_real || or_null) kerf_json_open(json, "type", '[');
    kerf_json_string(json, is_real || or_null ? NULL : "type", is_real ? "number" : type);
    if (is_real) kerf_json_string(json, NULL, "string");
    if (or_null) kerf_json_string(json, NULL, "null");
    if (is_real || or_null) kerf_json_close(json, ']');
}

void openapi_put_type(struct kerf_json *json, const char *key, const struct openapi_field *field) {
    char name[32] = "", reference[64];
    int is_list = field->type[0] == '[';
    memcpy(name, field->type + is_list, strcspn(field->type + is_list, "]"));
    kerf_json_open(json, key, '{');
    if (is_list) kerf_json_string(json, "type", "array");
    if (is_list) kerf_json_open(json, "items", '{');
    if (name[0] >= 'A' && name[0] <= 'Z') {
        snprintf(reference, sizeof reference, "#/components/schemas/%s", name);
        kerf_json_string(json, "$ref", reference);
    } else if (strcmp(name, "any") != 0) {
        put_simple(json, name, !is_list && field->flags & OPENAPI_NULL);
    }
    if (is_list) kerf_json_close(json, '}');
    if (field->words) put_words(json, field->words, field->flags & OPENAPI_NULL);
    kerf_json_close(json, '}');
}

static void put_schema(struct kerf_json *json, const struct schema *schema) {
    kerf_json_open(json, schema->name, '{');
    kerf_json_string(json, "type", "object");
    kerf_json_open(json, "required", '[');
    for (const struct openapi_field *field = schema->fields; field->name; field++)
        if (field->flags & OPENAPI_REQUIRED) kerf_json_string(json, NULL, field->name);
    kerf_json_close(json, ']');
    kerf_json_open(json, "properties", '{');
    for (const struct openapi_field *field = schema->fields; field->name; field++)
        openapi_put_type(json, field->name, field);
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

void openapi_put_schemas(struct kerf_json *json) {
    kerf_json_open(json, "schemas", '{');
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) put_schema(json, &schemas[i]);
    kerf_json_close(json, '}');
}
