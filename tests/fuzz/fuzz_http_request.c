/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a request: its first byte says the route, whether it is mended and its Content-Type; then comes the body
 * or the query. What is taken keeps the bounds of its model, a job reads again from its own echo; what is not has an
 * answer that is JSON. */
#include "invariants.h"

#include <math.h>
#include <string.h>
#include "kerf/jobs.h"
#include "zeus/python_values.h"
#include "zeus/request.h"

static const char *const types[] = {NULL, "application/json", "application/x+json; a", "text/plain"};

static void check_refusal(const struct request_refusal *refusal, int32_t code) {
    CHECK(code == KERF_EINVALID);
    CHECK(refusal->status == 422 || refusal->status == 400 || refusal->status == 500);
    if (refusal->plain) {
        CHECK(refusal->status == 500 && strcmp(refusal->document.data, "Internal Server Error") == 0);
        return;
    }
    json_error_t error; /* strict: UTF-8, and no NUL where strings cannot have it */
    json_t *root = json_loadb(refusal->document.data, refusal->document.length, JSON_ALLOW_NUL, &error);
    int has_surrogate = strstr(refusal->document.data, "\\ud") != NULL; /* which jansson does not take */
    int has_large_number = strstr(refusal->document.data, "9223372036854775807") != NULL;
    CHECK(root != NULL || has_surrogate || has_large_number);
    if (root) CHECK(json_object_get(root, refusal->status == 500 ? "message" : "detail") != NULL);
    json_decref(root);
}

static void check_job(const struct kerf_job_spec *spec, int32_t flags) {
    CHECK(spec->max_power > 0 && spec->number_of_gpus > 0 && spec->default_batch_size > 0 && spec->max_epochs > 0);
    CHECK(spec->gpu_model[0] && spec->num_pruning_rounds >= 0 && spec->mab_num_explorations >= 0);
    CHECK(!spec->has_beta_knob || spec->beta_knob > 0);
    CHECK(!(spec->eta_knob < 0 || spec->eta_knob > 1));
    CHECK(spec->job_id == NULL || strncmp(spec->job_id, spec->job_id_prefix, strlen(spec->job_id_prefix)) == 0);
    int found = 0;
    for (int32_t i = 0; i < spec->num_batch_sizes; i++) {
        CHECK(i == 0 || spec->batch_sizes[i - 1] <= spec->batch_sizes[i]);
        found |= spec->batch_sizes[i] == spec->default_batch_size;
    }
    CHECK(found);
    struct kerf_error err;
    if (flags & REQUEST_MENDED) CHECK(kerf_job_spec_check(spec, NULL, &err) == KERF_OK);
    if (!(flags & REQUEST_MENDED)) CHECK(spec->policy == NULL && spec->lease_s == 0);
}

static void parse_job(const struct request_body *body, int32_t flags, struct arena *arena,
                      struct request_refusal *refusal) {
    struct kerf_job_spec spec, again;
    struct kerf_text echo = {0};
    poison(&spec, sizeof spec);
    int32_t code = request_parse_job(body, flags, arena, &spec, refusal);
    if (code != KERF_OK) {
        CHECK(is_poisoned(&spec, sizeof spec));
        check_refusal(refusal, code);
        return;
    }
    check_job(&spec, flags);
    code = request_write_job(&spec, &echo);
    CHECK(code == KERF_OK || !(flags & REQUEST_MENDED));
    if (code == KERF_OK) {
        struct request_body second = {echo.data, echo.length, NULL};
        CHECK(request_parse_job(&second, flags, arena, &again, refusal) == KERF_OK);
        CHECK(kerf_job_spec_same(&spec, &again));
    }
    kerf_text_free(&echo);
}

static void parse_report(const struct request_body *body, int32_t flags, struct arena *arena,
                         struct request_refusal *refusal) {
    struct request_report report;
    int32_t code = request_parse_report(body, flags, arena, &report, refusal);
    if (code != KERF_OK) {
        check_refusal(refusal, code);
        return;
    }
    CHECK(report.job_id != NULL);
    if (!(flags & REQUEST_MENDED)) return;
    CHECK(isfinite(report.report.time_s) && report.report.time_s >= 0);
    CHECK(isfinite(report.report.energy_j) && report.report.energy_j >= 0);
    CHECK(isfinite(report.report.metric));
}

static void parse_trial(const struct request_body *body, int32_t flags, struct arena *arena,
                        struct request_refusal *refusal) {
    struct request_trial trial;
    int32_t code = request_parse_trial(body, flags, arena, &trial, refusal);
    if (code != KERF_OK)
        check_refusal(refusal, code);
    else
        CHECK(trial.job_id != NULL);
}

static void parse_query(const struct request_body *body, struct arena *arena, struct request_refusal *refusal) {
    const char *job_id;
    int32_t code = request_parse_query(body->bytes, body->length, arena, &job_id, refusal);
    if (code != KERF_OK) {
        check_refusal(refusal, code);
        return;
    }
    struct kerf_text out = {0};
    request_write_message(job_id, &out);
    json_t *root = json_loadb(out.data, out.length, JSON_ALLOW_NUL, NULL);
    CHECK(root != NULL);
    json_decref(root);
    kerf_text_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {NULL};
    struct request_refusal refusal = {0};
    if (size == 0) return 0;
    int32_t flags = data[0] >> 2 & 1;
    struct request_body body = {(const char *)data + 1, size - 1, types[data[0] >> 3 & 3]};
    switch (data[0] & 3) {
    case 0: parse_job(&body, flags, &arena, &refusal); break;
    case 1: parse_report(&body, flags, &arena, &refusal); break;
    case 2: parse_trial(&body, flags, &arena, &refusal); break;
    default: parse_query(&body, &arena, &refusal);
    }
    request_refusal_free(&refusal);
    arena_free(&arena);
    return 0;
}
