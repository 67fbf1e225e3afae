/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ask_server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/error_fill.h"
#include "kerf/json.h"

void service_escape(struct kerf_text *out, const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text; text++)
        if (strchr(plain, *text))
            kerf_text_write(out, text, 1);
        else
            kerf_text_printf(out, "%%%02X", (unsigned char)*text);
}

/* Text of the server as one line: no control characters, one blank in the place of many. */
static void flatten(char *to, size_t size, const char *text) {
    size_t length = 0;
    for (; *text && length + 1 < size; text++) {
        int is_blank = (unsigned char)*text <= ' ' || *text == 127;
        if (!is_blank)
            to[length++] = *text;
        else if (length > 0 && to[length - 1] != ' ')
            to[length++] = ' ';
    }
    while (length > 0 && to[length - 1] == ' ') length--;
    to[length] = 0;
}

/* ---- What is wrong ------------------------------------------------------------------------------------------ */

/* [{"loc":["body","max_power"],"msg":"field required"}, ...]: "max_power: field required; ..." */
static void list_faults(struct kerf_text *out, const json_t *faults) {
    size_t i, k;
    json_t *fault, *part;
    json_array_foreach(faults, i, fault) {
        if (i > 0) kerf_text_add(out, "; ");
        json_array_foreach(json_object_get(fault, "loc"), k, part) {
            if (k == 0) continue; /* "body", "query" */
            if (json_is_string(part))
                kerf_text_printf(out, "%s%s", k > 1 ? "." : "", json_string_value(part));
            else if (json_is_integer(part))
                kerf_text_printf(out, "[%" JSON_INTEGER_FORMAT "]", json_integer_value(part));
        }
        const char *message = json_string_value(json_object_get(fault, "msg"));
        kerf_text_printf(out, ": %s", message ? message : "?");
    }
}

/* The server's words, from whichever of its shapes. */
static void words_of(struct kerf_text *out, const json_t *json, const struct kerf_text *body) {
    const json_t *message = json_object_get(json, "message"), *detail = json_object_get(json, "detail");
    if (json_is_string(message))
        kerf_text_add(out, json_string_value(message));
    else if (json_is_string(detail))
        kerf_text_add(out, json_string_value(detail));
    else if (json_is_array(detail))
        list_faults(out, detail);
    else if (body->data)
        kerf_text_add(out, body->data);
}

static int32_t refuse(struct http_client *client, const struct http_answer *answer, const json_t *json,
                      struct kerf_error *err) {
    int passes = answer->status / 100 != 4 || answer->status == 408 || answer->status == 429; /* it may go next time */
    int32_t code = passes ? KERF_EIO : answer->status == 404 ? KERF_EUNKNOWN : KERF_EINVALID;
    struct kerf_text words = {0};
    char line[320];
    words_of(&words, json, &answer->body);
    flatten(line, sizeof line, words.data ? words.data : "");
    kerf_text_free(&words);
    if (answer->status == 401)
        return kerf_error_set(err, code, "%.100s requires a token: give --token or $KERF_TOKEN (%s)",
                              http_server(client), line);
    return kerf_error_set(err, code, "%.100s answered %ld: %s", http_server(client), answer->status, line);
}

int32_t service_ask(struct http_client *client, const char *method, const char *target, const char *body,
                    struct http_answer *answer, json_t **ret_json, struct kerf_error *err) {
    int32_t code = http_ask(client, method, target, body, answer, err);
    if (code != KERF_OK) return code;
    json_t *json = json_loadb(answer->body.data ? answer->body.data : "", answer->body.length, JSON_DECODE_ANY, NULL);
    if (answer->status / 100 != 2)
        code = refuse(client, answer, json, err);
    else if (json == NULL)
        code = kerf_error_set(err, KERF_EIO, "%.100s gave an answer that is not JSON; is it `kerf serve`?",
                              http_server(client));
    if (code == KERF_OK && ret_json)
        *ret_json = json;
    else
        json_decref(json);
    return code;
}

/* ---- Questions ---------------------------------------------------------------------------------------------- */

static int32_t unexpected(struct http_client *client, struct kerf_error *err) {
    return kerf_error_set(err, KERF_EIO, "%.100s gave an answer that kerf does not understand; is it `kerf serve`?",
                          http_server(client));
}

int32_t service_next(struct http_client *client, const char *job_id, struct http_answer *answer,
                     struct service_trial *ret_trial, struct kerf_error *err) {
    struct kerf_text target = {0};
    json_t *json = NULL;
    kerf_text_add(&target, "/jobs/batch_size?job_id=");
    service_escape(&target, job_id);
    int32_t code = target.failed ? error_no_memory(err, "a request")
                                 : service_ask(client, "GET", target.data, NULL, answer, &json, err);
    kerf_text_free(&target);
    if (code != KERF_OK) return code;
    const json_t *size = json_object_get(json, "batch_size"), *number = json_object_get(json, "trial_number");
    if (json_is_integer(size) && json_is_integer(number))
        *ret_trial = (struct service_trial){json_integer_value(size), json_integer_value(number)};
    else
        code = unexpected(client, err);
    json_decref(json);
    return code;
}

static void put_trial(struct kerf_json *json, const char *job_id, const struct service_trial *trial) {
    kerf_json_string(json, "job_id", job_id);
    kerf_json_integer(json, "batch_size", trial->batch_size);
    kerf_json_integer(json, "trial_number", trial->number);
}

int32_t service_report(struct http_client *client, const char *job_id, const struct service_report *report,
                       struct http_answer *answer, struct service_verdict *ret_verdict, struct kerf_error *err) {
    struct kerf_text body = {0};
    struct kerf_json out;
    json_t *json = NULL;
    kerf_json_begin(&out, &body);
    kerf_json_open(&out, NULL, '{');
    put_trial(&out, job_id, &report->trial);
    kerf_json_number(&out, "time", report->time_s);
    kerf_json_number(&out, "energy", report->energy_j);
    kerf_json_number(&out, "metric", report->metric);
    kerf_json_integer(&out, "current_epoch", report->epoch);
    kerf_json_close(&out, '}');
    int32_t code = body.failed ? error_no_memory(err, "a request")
                               : service_ask(client, "POST", "/report", body.data, answer, &json, err);
    kerf_text_free(&body);
    if (code != KERF_OK) return code;
    const json_t *stop = json_object_get(json, "stop_train");
    const char *message = json_string_value(json_object_get(json, "message"));
    if (json_is_boolean(stop)) {
        ret_verdict->stop = json_is_true(stop);
        ret_verdict->converged = json_is_true(json_object_get(json, "converged"));
        flatten(ret_verdict->message, sizeof ret_verdict->message, message ? message : "");
    } else {
        code = unexpected(client, err);
    }
    json_decref(json);
    return code;
}

int32_t service_end(struct http_client *client, const char *job_id, const struct service_trial *trial,
                    struct kerf_error *err) {
    struct http_answer answer = {0};
    struct kerf_text body = {0};
    struct kerf_json out;
    kerf_json_begin(&out, &body);
    kerf_json_open(&out, NULL, '{');
    put_trial(&out, job_id, trial);
    kerf_json_close(&out, '}');
    int32_t code = body.failed ? error_no_memory(err, "a request")
                               : service_ask(client, "PATCH", "/trials", body.data, &answer, NULL, err);
    kerf_text_free(&body);
    kerf_text_free(&answer.body);
    return code;
}
