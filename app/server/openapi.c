/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI document, made from the table of routes. */
#include <string.h>
#include "kerf/json.h"
#include "server/server_parts.h"

static void put_parameter(struct kerf_json *json, const char *name, size_t length, const char *in, int is_required,
                          const char *type) {
    char copy[64];
    if (length >= sizeof copy) return;
    memcpy(copy, name, length);
    copy[length] = 0;
    kerf_json_open(json, NULL, '{');
    kerf_json_string(json, "name", copy);
    kerf_json_string(json, "in", in);
    kerf_json_boolean(json, "required", is_required);
    kerf_json_open(json, "schema", '{');
    kerf_json_string(json, "type", type);
    kerf_json_close(json, '}');
    kerf_json_close(json, '}');
}

static void put_parameters(struct kerf_json *json, const struct route *route) {
    kerf_json_open(json, "parameters", '[');
    for (const char *open = route->pattern; (open = strchr(open, '{')) != NULL; open++) {
        size_t length = strcspn(open + 1, "}");
        put_parameter(json, open + 1, length, "path", 1, strncmp(open + 1, "trial", 5) == 0 ? "integer" : "string");
    }
    if (route->step == zeus_predict || route->step == zeus_delete)
        put_parameter(json, "job_id", strlen("job_id"), "query", 1, "string");
    if (route->step == api_list_jobs || route->step == api_trials) {
        put_parameter(json, "limit", strlen("limit"), "query", 0, "integer");
        put_parameter(json, "after", strlen("after"), "query", 0, route->step == api_trials ? "integer" : "string");
    }
    if (route->step == api_trials) put_parameter(json, "order", strlen("order"), "query", 0, "string");
    kerf_json_close(json, ']');
}

struct field {
    const char *name, *type;
    int is_required;
};

static const struct field job_fields[] = {{"max_power", "number", 1},
                                          {"number_of_gpus", "integer", 1},
                                          {"gpu_model", "string", 1},
                                          {"job_id", "string", 0},
                                          {"job_id_prefix", "string", 1},
                                          {"batch_sizes", "array", 1},
                                          {"default_batch_size", "integer", 1},
                                          {"eta_knob", "number", 0},
                                          {"beta_knob", "number", 0},
                                          {"target_metric", "number", 0},
                                          {"higher_is_better_metric", "boolean", 0},
                                          {"max_epochs", "integer", 0},
                                          {"num_pruning_rounds", "integer", 0},
                                          {"window_size", "integer", 0},
                                          {"mab_prior_mean", "number", 0},
                                          {"mab_prior_precision", "number", 0},
                                          {"mab_num_explorations", "integer", 0},
                                          {"mab_seed", "integer", 0},
                                          {"policy", "string", 0},
                                          {"lease_s", "number", 0},
                                          {0}};
static const struct field trial_fields[] = {
    {"job_id", "string", 1}, {"batch_size", "integer", 1}, {"trial_number", "integer", 1}, {0}};
static const struct field report_fields[] = {
    {"job_id", "string", 1}, {"batch_size", "integer", 1}, {"trial_number", "integer", 1},  {"time", "number", 1},
    {"energy", "number", 1}, {"metric", "number", 1},      {"current_epoch", "integer", 1}, {0}};

static const struct field *fields_of(const struct route *route) {
    if (route->step == zeus_register) return job_fields;
    if (route->step == zeus_report) return report_fields;
    return route->step == zeus_end ? trial_fields : NULL;
}

static void put_body(struct kerf_json *json, const struct field *fields) {
    kerf_json_open(json, "requestBody", '{');
    kerf_json_boolean(json, "required", 1);
    kerf_json_open(json, "content", '{');
    kerf_json_open(json, "application/json", '{');
    kerf_json_open(json, "schema", '{');
    kerf_json_string(json, "type", "object");
    kerf_json_open(json, "required", '[');
    for (const struct field *field = fields; field->name; field++)
        if (field->is_required) kerf_json_string(json, NULL, field->name);
    kerf_json_close(json, ']');
    kerf_json_open(json, "properties", '{');
    for (const struct field *field = fields; field->name; field++) {
        kerf_json_open(json, field->name, '{');
        kerf_json_string(json, "type", field->type);
        if (strcmp(field->type, "array") == 0) {
            kerf_json_open(json, "items", '{');
            kerf_json_string(json, "type", "integer");
            kerf_json_close(json, '}');
        }
        kerf_json_close(json, '}');
    }
    for (int i = 0; i < 5; i++) kerf_json_close(json, '}');
}

static void put_route(struct kerf_json *json, const struct route *route) {
    char method[16] = "";
    for (size_t i = 0; i < sizeof method - 1 && route->method[i]; i++) method[i] = (char)(route->method[i] | 32);
    kerf_json_open(json, method, '{');
    kerf_json_string(json, "summary", route->summary);
    put_parameters(json, route);
    if (fields_of(route)) put_body(json, fields_of(route));
    kerf_json_open(json, "responses", '{');
    kerf_json_open(json, "200", '{');
    kerf_json_string(json, "description", route->flags & ROUTE_TEXT ? "Text" : "JSON");
    for (int i = 0; i < 3; i++) kerf_json_close(json, '}');
}

void api_openapi(struct exchange *exchange) {
    struct kerf_json json;
    int32_t count;
    const struct route *routes = router_routes(&count);
    kerf_text_clear(&exchange->answer);
    kerf_json_begin(&json, &exchange->answer);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "openapi", "3.1.0");
    kerf_json_open(&json, "info", '{');
    kerf_json_string(&json, "title", "kerf serve");
    kerf_json_string(&json, "description", "Which batch size the next run of a recurring training job uses");
    kerf_json_string(&json, "version", kerf_version());
    kerf_json_close(&json, '}');
    kerf_json_open(&json, "paths", '{');
    for (int32_t i = 0; i < count; i++) {
        int same = i > 0 && strcmp(routes[i].pattern, routes[i - 1].pattern) == 0;
        if (!same) kerf_json_open(&json, routes[i].pattern, '{');
        put_route(&json, &routes[i]);
        int goes_on = i + 1 < count && strcmp(routes[i].pattern, routes[i + 1].pattern) == 0;
        if (!goes_on) kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, '}');
    kerf_json_close(&json, '}');
    exchange_answer(exchange, 200);
}
