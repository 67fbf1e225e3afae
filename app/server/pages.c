/* SPDX-License-Identifier: Apache-2.0 */
/* /healthz, /readyz, and the list of jobs for people at /. */
#include <inttypes.h>
#include <string.h>
#include "server/api_query.h"
#include "server/server_parts.h"

enum { ROWS = 200 };

void page_healthz(struct exchange *exchange) {
    kerf_text_clear(&exchange->answer);
    kerf_text_add(&exchange->answer, "{\"status\":\"ok\"}");
    exchange_answer(exchange, 200);
}

void page_readyz(struct exchange *exchange) {
    struct server *server = exchange->server;
    struct kerf_error err = {.code = KERF_OK};
    int32_t code = store_ping(server->store, &err);
    if (code != KERF_OK) {
        exchange_message(exchange, 503, err.message);
    } else if (server->is_stopping) {
        exchange_message(exchange, 503, "the server stops");
    } else {
        kerf_text_clear(&exchange->answer);
        kerf_text_add(&exchange->answer, "{\"status\":\"ready\"}");
        exchange_answer(exchange, 200);
    }
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

static void escape(struct kerf_text *out, const char *text) {
    for (; *text; text++) switch (*text) {
        case '<': kerf_text_add(out, "&lt;"); break;
        case '>': kerf_text_add(out, "&gt;"); break;
        case '&': kerf_text_add(out, "&amp;"); break;
        case '"': kerf_text_add(out, "&quot;"); break;
        default: kerf_text_write(out, text, 1);
        }
}

static void escape_url(struct kerf_text *out, const char *text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text; text++)
        if (strchr(plain, *text))
            kerf_text_write(out, text, 1);
        else
            kerf_text_printf(out, "%%%02X", (unsigned char)*text);
}

struct rows {
    struct exchange *exchange;
    int32_t count;
    const char *last;
};

static int32_t visit(void *context, const struct store_job *job) {
    struct rows *rows = context;
    struct kerf_text *out = &rows->exchange->answer;
    if (rows->count++ == ROWS) return KERF_OK;
    kerf_text_add(out, "<tr><td><a href=\"/api/v1/jobs/");
    escape_url(out, job->spec->job_id);
    kerf_text_add(out, "\">");
    escape(out, job->spec->job_id);
    kerf_text_add(out, "</a><td>");
    escape(out, job->spec->gpu_model);
    kerf_text_printf(out, "<td>%s<td>%" PRId64 "<td>", kerf_job_stage_name(job->row->stage),
                     job->row->last_trial_number);
    if (job->row->has_min_cost) {
        kerf_text_printf(out, "%.6g<td>%" PRId64, job->row->min_cost, job->row->min_cost_batch_size);
    } else {
        kerf_text_add(out, "<td>");
    }
    kerf_text_add(out, "\n");
    rows->last = arena_copy(&rows->exchange->arena, job->spec->job_id, strlen(job->spec->job_id));
    return KERF_OK;
}

void page_home(struct exchange *exchange) {
    struct store *store = exchange->server->store;
    struct kerf_text *out = &exchange->answer;
    struct rows rows = {.exchange = exchange};
    struct kerf_error err = {.code = KERF_OK};
    const struct store_page page = {.after_job_id = query_text(exchange, "after"), .limit = ROWS + 1};
    kerf_text_clear(out);
    kerf_text_add(out, "<!doctype html><meta charset=utf-8><title>kerf: jobs</title>"
                       "<style>body{font:14px sans-serif;margin:2em}td,th{text-align:left;padding:.2em 1em .2em 0}"
                       "</style><h1>Jobs</h1>\n<table><tr><th>job<th>GPU<th>stage<th>trials<th>least cost (J)"
                       "<th>with batch size\n");
    int32_t code = store_list_jobs(store, &page, visit, &rows, &err);
    kerf_text_add(out, "</table>\n");
    if (rows.count > ROWS && rows.last) {
        kerf_text_add(out, "<p><a href=\"/?after=");
        escape_url(out, rows.last);
        kerf_text_add(out, "\">more</a>\n");
    }
    if (code != KERF_OK) {
        exchange_fail(exchange, code, &err);
        return;
    }
    exchange_answer(exchange, 200);
    exchange->content_type = "text/html; charset=utf-8";
}
