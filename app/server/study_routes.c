/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /api/v1/studies: what kerf tune measured on this machine, from its journals, while it runs too. A journal without an
 * end has no "stopped".
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kerf/study.h"
#include "server/exchange.h"
#include "server/service.h"

enum { STUDIES_MAX = 200, SETTINGS_MAX = 4096 };

static void put_record(struct kerf_json *json, const struct kerf_study_record *record) {
    char began[KERF_STUDY_TIME_SIZE];
    kerf_study_time_write(record->began_s, began);
    kerf_json_string(json, "study", record->id);
    kerf_json_string(json, "key", record->key);
    kerf_json_string(json, "began", began);
    kerf_json_string(json, "stopped", record->stopped[0] ? record->stopped : NULL);
    kerf_json_string(json, "reason", record->reason[0] ? record->reason : NULL);
    kerf_json_integer(json, "observations", record->num_entries);
    kerf_json_number(json, "elapsed_s", record->elapsed_s);
    kerf_json_string(json, "unit", kerf_study_request_unit(&record->request));
    kerf_json_open(json, "request", '{');
    kerf_study_request_write(&record->request, json);
    kerf_json_close(json, '}');
}

static void answer_list(struct exchange *exchange) {
    struct kerf_study_strings ids;
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_json json;
    int32_t code = kerf_study_ids(&ids, &err);
    if (code != KERF_OK) {
        exchange_fail(exchange, code, &err);
        return;
    }
    kerf_text_clear(&exchange->answer);
    kerf_json_begin(&json, &exchange->answer);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_open(&json, "studies", '[');
    for (int32_t i = 0; i < ids.count && i < STUDIES_MAX; i++) {
        struct kerf_study_record *record = NULL;
        kerf_json_open(&json, NULL, '{');
        if (kerf_study_record_read(ids.items[i], &record, &err) == KERF_OK) {
            put_record(&json, record);
        } else {
            kerf_json_string(&json, "study", ids.items[i]);
            kerf_json_string(&json, "invalid", err.message);
        }
        kerf_json_close(&json, '}');
        kerf_study_record_free(record);
    }
    kerf_json_close(&json, ']');
    kerf_json_integer(&json, "more", ids.count > STUDIES_MAX ? ids.count - STUDIES_MAX : 0);
    kerf_json_close(&json, '}');
    kerf_study_ids_free(&ids);
    exchange_answer(exchange, 200);
}

/* ---- One study ----------------------------------------------------------------------------------------------- */

static void put_params(struct kerf_json *json, const struct kerf_tune_space *space) {
    kerf_json_open(json, "params", '[');
    for (int32_t p = 0; p < space->num_params; p++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_string(json, "name", space->params[p].name);
        kerf_json_open(json, "values", '[');
        for (int32_t v = 0; v < space->params[p].num_values; v++)
            kerf_json_string(json, NULL, kerf_tune_value_word(&space->params[p], v));
        kerf_json_close(json, ']');
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

static void put_setting(struct kerf_json *json, const char *key, const struct kerf_tune_space *space, int32_t setting) {
    if (setting < 0)
        kerf_json_null(json, key);
    else
        kerf_tune_setting_json(json, key, space, setting);
}

/* What a study knows of its answer, and of the front of two objectives; front->second NULL: there is one. */
struct study_answer {
    struct kerf_tune_answer answer;
    struct kerf_tune_importance importance;
    struct kerf_tune_front front;
    struct kerf_tune_modes modes;
};

/* "pareto": null, or the second objective and which settings no other beats in both. */
static void put_front(struct kerf_json *json, const struct kerf_study_state *state, const struct study_answer *known) {
    const struct kerf_tune_front *front = &known->front;
    char name[KERF_STUDY_NAME_SIZE];
    int32_t maximize;
    if (!kerf_study_request_second(state->request, name, &maximize)) {
        kerf_json_null(json, "pareto");
        return;
    }
    kerf_json_open(json, "pareto", '{');
    kerf_json_string(json, "objective", name);
    kerf_json_string(json, "unit", kerf_study_second_unit(name));
    kerf_json_boolean(json, "maximize", maximize);
    kerf_json_number(json, "probability", front->probability);
    kerf_json_open(json, "front", '[');
    for (int32_t m = 0; m < front->num; m++) {
        kerf_json_open(json, NULL, '{');
        kerf_tune_setting_json(json, "setting", state->space, front->settings[m]);
        kerf_json_number(json, "mean", known->answer.settings[front->settings[m]].mean);
        kerf_json_number(json, "second", front->second[front->settings[m]].mean);
        kerf_json_number(json, "unbeaten", front->unbeaten[m]);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_close(json, '}');
}

static void put_estimates(struct kerf_json *json, const struct kerf_study_state *state,
                          const struct study_answer *known) {
    const struct kerf_tune_answer *answer = &known->answer;
    const struct kerf_tune_estimate *second = known->front.second;
    int32_t left = SETTINGS_MAX, left_out = 0;
    kerf_json_open(json, "settings", '[');
    for (int32_t i = 0; i < state->space->num_settings; i++) {
        const struct kerf_tune_estimate *estimate = &answer->settings[i];
        int is_told = i == answer->best || i == answer->recommended;
        if (!is_told && estimate->status == KERF_TUNE_NOT_MEASURED && !isfinite(estimate->mean)) continue;
        if (!is_told && left-- <= 0) {
            left_out++;
            continue;
        }
        kerf_json_open(json, NULL, '{');
        kerf_tune_setting_json(json, "setting", state->space, i);
        kerf_json_string(json, "status", kerf_tune_status_word(estimate->status));
        kerf_json_integer(json, "observations", estimate->observations);
        kerf_json_number(json, "observed_mean", estimate->observed_mean);
        kerf_json_number(json, "mean", estimate->mean);
        kerf_json_number(json, "low", estimate->interval[0]);
        kerf_json_number(json, "high", estimate->interval[1]);
        if (second) {
            kerf_json_number(json, "second", second[i].mean);
            kerf_json_number(json, "second_low", second[i].interval[0]);
            kerf_json_number(json, "second_high", second[i].interval[1]);
        }
        kerf_json_number(json, "bound", estimate->bound);
        kerf_json_number(json, "probability_within", estimate->probability_within);
        kerf_json_string(json, "reason", kerf_study_reason(state, answer->settings, i));
        kerf_json_boolean(json, "best", i == answer->best);
        kerf_json_boolean(json, "recommended", i == answer->recommended);
        kerf_json_boolean(json, "default", i == state->space->default_setting);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
    kerf_json_integer(json, "settings_left_out", left_out);
}

static void put_state(struct kerf_json *json, const struct kerf_study_state *state, const struct study_answer *known) {
    const struct kerf_tune_answer *answer = &known->answer;
    put_params(json, state->space);
    put_setting(json, "best", state->space, answer->best);
    put_setting(json, "recommended", state->space, answer->recommended);
    kerf_json_string(json, "recommendation", answer->reason);
    kerf_json_integer(json, "open", answer->open);
    kerf_json_integer(json, "looked_at", answer->looked_at);
    kerf_json_number(json, "settings_in_all", kerf_tune_space_size(state->space));
    kerf_json_number(json, "chance_unseen", answer->chance_unseen);
    kerf_json_number(json, "chance_isolated", answer->chance_isolated);
    kerf_json_integer(json, "predictions", answer->predictions);
    kerf_json_number(json, "noise", answer->noise);
    kerf_json_number(json, "default_gain", answer->default_gain);
    kerf_tune_importance_write(&known->importance, state->space, json);
    put_front(json, state, known);
    if (known->modes.share > 0) {
        kerf_json_open(json, "modes", '{');
        kerf_json_number(json, "share", known->modes.share);
        kerf_json_number(json, "slower", known->modes.slower);
        kerf_json_close(json, '}');
    } else {
        kerf_json_null(json, "modes");
    }
    put_estimates(json, state, known);
    kerf_json_open(json, "entries", '[');
    for (int32_t i = 0; i < state->num_entries; i++) {
        kerf_json_open(json, NULL, '{');
        kerf_json_integer(json, "n", i + 1);
        kerf_tune_setting_json(json, "setting", state->space, state->entries[i].result.observation.setting);
        kerf_study_entry_members(json, &state->entries[i]);
        if (state->seconds) kerf_json_number(json, "second", state->seconds[i]);
        kerf_json_close(json, '}');
    }
    kerf_json_close(json, ']');
}

/* The journal's folder alone: a name with a slash would be any file's path. */
static void answer_study(struct exchange *exchange) {
    struct kerf_study_record *record = NULL;
    struct kerf_study_state *state = NULL;
    struct study_answer known = {.importance = {.size = sizeof known.importance},
                                 .front = {.size = sizeof known.front},
                                 .modes = {.size = sizeof known.modes}};
    struct kerf_error err = {.code = KERF_OK};
    struct kerf_json json;
    const char *name = exchange->parameters[0];
    size_t length = strlen(name);
    int is_name = strchr(name, '/') == NULL && name[0] != '.' && length > 0 &&
                  !(length > 6 && strcmp(name + length - 6, ".jsonl") == 0);
    int32_t code = is_name ? kerf_study_record_read(name, &record, &err) : KERF_EUNKNOWN;
    if (code == KERF_OK) code = kerf_study_replay(record, NULL, &state, &err);
    if (code == KERF_OK) code = kerf_tune_study_answer(state->study, &known.answer, &err);
    if (code == KERF_OK) code = kerf_tune_study_importance(state->study, &known.importance, &err);
    if (code == KERF_OK) code = kerf_tune_study_modes(state->study, &known.modes, &err);
    if (code == KERF_OK && state->seconds) code = kerf_tune_study_front(state->study, &known.front, &err);
    if (code == KERF_OK) {
        kerf_text_clear(&exchange->answer);
        kerf_json_begin(&json, &exchange->answer);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "kerf", kerf_version());
        put_record(&json, record);
        put_state(&json, state, &known);
        kerf_json_close(&json, '}');
        exchange_answer(exchange, 200);
    } else {
        exchange_detail(exchange, code == KERF_EUNKNOWN ? 404 : 422, is_name ? err.message : "There is no such study");
    }
    kerf_study_state_free(state);
    kerf_study_record_free(record);
}

/* ---- Routes -------------------------------------------------------------------------------------------------- */

/* of a journal that can be read; of another one, "study" and "invalid" */
#define RECORD(required)                                                                                               \
    {"study", "string", SCHEMA_REQUIRED, NULL}, {"key", "string", (required), NULL},                                   \
        {"began", "string", (required), NULL}, {"stopped", "string", (required) | SCHEMA_NULL, NULL},                  \
        {"reason", "string", (required) | SCHEMA_NULL, NULL}, {"observations", "integer", (required), NULL},           \
        {"elapsed_s", "number", (required), NULL}, {"unit", "string", (required), NULL}, {                             \
        "request", "any", (required), NULL                                                                             \
    }

static const struct schema_field study[] = {RECORD(0), {"invalid", "string", 0, NULL}, {0}};
static const struct schema_field list[] = {{"kerf", "string", SCHEMA_REQUIRED, NULL},
                                           {"studies", "[Study]", SCHEMA_REQUIRED, NULL},
                                           {"more", "integer", SCHEMA_REQUIRED, NULL},
                                           {0}};
static const struct schema_field whole[] = {{"kerf", "string", SCHEMA_REQUIRED, NULL},
                                            RECORD(SCHEMA_REQUIRED),
                                            {"params", "[any]", SCHEMA_REQUIRED, NULL},
                                            {"best", "any", SCHEMA_NULLABLE, NULL},
                                            {"recommended", "any", SCHEMA_NULLABLE, NULL},
                                            {"recommendation", "string", SCHEMA_REQUIRED, NULL},
                                            {"open", "integer", SCHEMA_REQUIRED, NULL},
                                            {"looked_at", "integer", SCHEMA_REQUIRED, NULL},
                                            {"settings_in_all", "number", SCHEMA_REQUIRED, NULL},
                                            {"chance_unseen", "number", SCHEMA_NULLABLE, NULL},
                                            {"chance_isolated", "number", SCHEMA_NULLABLE, NULL},
                                            {"predictions", "integer", SCHEMA_REQUIRED, NULL},
                                            {"noise", "number", SCHEMA_NULLABLE, NULL},
                                            {"default_gain", "number", SCHEMA_NULLABLE, NULL},
                                            {"importance", "[any]", SCHEMA_REQUIRED, NULL},
                                            {"importance_of", "any", SCHEMA_REQUIRED, NULL},
                                            {"pareto", "any", SCHEMA_NULLABLE, NULL},
                                            {"modes", "any", SCHEMA_NULLABLE, NULL},
                                            {"settings", "[any]", SCHEMA_REQUIRED, NULL},
                                            {"settings_left_out", "integer", SCHEMA_REQUIRED, NULL},
                                            {"entries", "[any]", SCHEMA_REQUIRED, NULL},
                                            {0}};
static const struct schema schemas[] = {{"Study", study}, {"StudyList", list}, {"WholeStudy", whole}};

#define ROUTE(path, make, what, gives, others)                                                                         \
    {                                                                                                                  \
        .method = "GET", .pattern = (path), .step = (make), .needs = TOKEN_READ, .flags = ROUTE_HEAD | ROUTE_COMPUTES, \
        .summary = (what), .answer = (gives), .statuses = (others)                                                     \
    }
static const struct route routes[] = {
    ROUTE("/api/v1/studies", answer_list, "Studies of kerf tune on this machine, the newest first", "StudyList", ""),
    ROUTE("/api/v1/studies/{study}", answer_study, "What a study has measured and found so far", "WholeStudy",
          "404 Detail,422 Detail"),
};

const struct api studies_api = API(routes, schemas);
