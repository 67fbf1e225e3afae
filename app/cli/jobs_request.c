/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/jobs_request.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/error_fill.h"

int jobs_fail(const struct kerf_error *err) {
    int status = cli_fail(err);
    return err->code == KERF_EIO ? EXIT_FAILED : status;
}

const char *jobs_name(const struct jobs_request *request, struct kerf_error *err) {
    const struct string_list *words = &request->options->words;
    if (words->count > 1 && words->items[1][0]) return words->items[1];
    kerf_error_set(err, KERF_EINVALID, "the job is missing, such as `kerf jobs %s JOB`", words->items[0]);
    return NULL;
}

/* ---- Values ------------------------------------------------------------------------------------------------- */

void jobs_cell(struct kerf_text *out, const char *text) {
    for (; *text; text++) kerf_text_write(out, (unsigned char)*text < ' ' || *text == 127 ? " " : text, 1);
}

double jobs_real(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    if (json_is_number(value)) return json_number_value(value);
    if (text == NULL || strcmp(text, "nan") == 0) return NAN;
    return text[0] == '-' ? -INFINITY : INFINITY;
}

int64_t jobs_integer(const json_t *object, const char *key) { return json_integer_value(json_object_get(object, key)); }

const char *jobs_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static int add_bytes(const char *bytes, size_t length, void *out) {
    kerf_text_write(out, bytes, length);
    return 0;
}

/* The shortest digits that read back to the number, with a point or an exponent, so that it stays a real number:
 * 200.0. */
static void put_number(struct kerf_text *out, double value) {
    size_t begin = out->length;
    kerf_text_number(out, value);
    if (!out->failed && strpbrk(out->data + begin, ".e") == NULL) kerf_text_add(out, ".0");
}

static void put_value(struct kerf_text *out, const json_t *value) {
    const int flags = JSON_COMPACT | JSON_ENCODE_ANY;
    if (json_is_real(value))
        put_number(out, json_real_value(value));
    else if (json_dump_callback(value, add_bytes, out, flags) != 0)
        out->failed = 1;
}

void jobs_put_json(struct kerf_text *out, const json_t *json) {
    const char *comma = "", *key;
    json_t *value;
    size_t at;
    if (json_is_object(json)) {
        kerf_text_add(out, "{");
        json_object_foreach((json_t *)json, key, value) {
            json_t *name = json_string(key);
            kerf_text_add(out, comma);
            put_value(out, name);
            kerf_text_add(out, ":");
            jobs_put_json(out, value);
            json_decref(name);
            comma = ",";
        }
        kerf_text_add(out, "}");
    } else if (json_is_array(json)) {
        kerf_text_add(out, "[");
        json_array_foreach(json, at, value) {
            kerf_text_add(out, comma);
            jobs_put_json(out, value);
            comma = ",";
        }
        kerf_text_add(out, "]");
    } else {
        put_value(out, json);
    }
}

void jobs_target(struct kerf_text *out, const char *job_id, const char *rest) {
    kerf_text_add(out, "/api/v1/jobs/");
    service_escape(out, job_id);
    kerf_text_add(out, rest);
}

/* ---- Pages -------------------------------------------------------------------------------------------------- */

enum { PAGE = 1000 };

/* Where the next page begins; 0: this was the last. */
static int take_next(const json_t *page, struct kerf_text *after) {
    const json_t *next = json_object_get(page, "next");
    kerf_text_clear(after);
    if (json_is_integer(next))
        kerf_text_printf(after, "%" JSON_INTEGER_FORMAT, json_integer_value(next));
    else if (json_is_string(next))
        service_escape(after, json_string_value(next));
    return json_is_integer(next) || json_is_string(next);
}

int32_t jobs_each(struct jobs_request *request, const char *target, const char *key, jobs_visit visit, void *context,
                  struct kerf_error *err) {
    struct kerf_text after = {0}, whole = {0};
    int64_t limit = request->options->limit > 0 ? request->options->limit : PAGE;
    int32_t code = KERF_OK;
    for (int more = 1; code == KERF_OK && more;) {
        json_t *page = NULL, *row;
        size_t i;
        kerf_text_clear(&whole);
        kerf_text_printf(&whole, "%s?limit=%" PRId64, target, limit);
        if (after.length) kerf_text_printf(&whole, "&after=%s", after.data);
        code = whole.failed || after.failed
                   ? error_no_memory(err, "a request")
                   : service_ask(request->client, "GET", whole.data, NULL, &request->answer, &page, err);
        json_array_foreach(json_object_get(page, key), i, row) {
            if (code == KERF_OK) code = visit(context, row, err);
        }
        more = take_next(page, &after);
        json_decref(page);
    }
    kerf_text_free(&after);
    kerf_text_free(&whole);
    return code;
}
