/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The five routes of Zeus's server (zeus/optimizer/batch_size/server/router.py), to the letter:
 *
 *     POST /jobs   DELETE /jobs   GET /jobs/batch_size   POST /report   PATCH /trials
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include "base/error.h"
#include "server/decisions.h"
#include "zeus/python_text.h"
#include "zeus/zeus_words.h"

/* How old what is stored of a trial's last sign of life may be, as a part of its lease, and at most. */
static const double SEEN_PART = 1.0 / 8, SEEN_MOST_S = 60;

static struct request_body body_of(const struct exchange *exchange) {
    return (struct request_body){exchange->body.data ? exchange->body.data : "", exchange->body.length,
                                 exchange->body_type};
}

static const char *said(const struct kerf_text *text) { return text->data ? text->data : ""; }

static void answer_message(struct exchange *exchange, int status) {
    exchange_message(exchange, status, said(&exchange->message));
}

static void answer_null(struct exchange *exchange) {
    kerf_text_clear(&exchange->answer);
    kerf_text_add(&exchange->answer, "null");
    exchange_answer(exchange, 200);
}

/* ---- POST /jobs -------------------------------------------------------------------------------------------- */

static int choose_job_id(struct exchange *exchange) {
    unsigned char random[4];
    char *job_id = arena_take(&exchange->arena, strlen(exchange->spec.job_id_prefix) + 10, 1);
    if (job_id == NULL || getrandom(random, sizeof random, 0) != sizeof random) return 0;
    sprintf(job_id, "%s-%02x%02x%02x%02x", exchange->spec.job_id_prefix, random[0], random[1], random[2], random[3]);
    exchange->spec.job_id = job_id;
    return 1;
}

static void answer_job(struct exchange *exchange, int status) {
    kerf_text_clear(&exchange->answer);
    if (request_write_job(&exchange->spec, &exchange->answer) == KERF_OK) {
        exchange_answer(exchange, status);
        return;
    }
    kerf_text_clear(&exchange->answer);
    kerf_text_add(&exchange->answer, "Internal Server Error"); /* after the job was stored, as the reference */
    exchange_answer(exchange, 500);
    exchange->content_type = "text/plain; charset=utf-8";
}

/* What the reference's database says to numbers and texts that it does not take. */
static void answer_late(struct exchange *exchange) {
    exchange_message(exchange, 500, exchange->late);
    decision_finish(exchange);
}

static void register_in_turn(struct exchange *exchange);

static void create(struct exchange *exchange) {
    struct kerf_error err = {.code = KERF_OK};
    int32_t flags = server_job_flags(exchange->server);
    int32_t code = kerf_job_create(&exchange->spec, flags, &exchange->turn.entry->job, &err);
    if (code == KERF_EINVALID) {
        int is_seed = exchange->spec.has_mab_seed && exchange->spec.mab_seed < 0;
        exchange_message(exchange, 500,
                         is_seed          ? "expected non-negative integer"
                         : exchange->late ? exchange->late
                                          : err.message);
        decision_finish(exchange);
    } else if (code == KERF_OK && exchange->late) {
        job_entry_forget(exchange->turn.entry);
        answer_late(exchange);
    } else if (code != KERF_OK) {
        decision_fail(exchange, code, &err);
    } else {
        answer_job(exchange, 201);
        exchange->write = (struct store_write){.kind = STORE_CREATE};
        decision_submit(exchange);
    }
}

static void register_in_turn(struct exchange *exchange) {
    if (!decision_open(exchange, exchange->spec.job_id)) return;
    if (exchange->held.job == 0) {
        create(exchange);
        return;
    }
    if (exchange->is_chosen) { /* somebody has that one */
        if (decision_finish(exchange)) zeus_register(exchange);
        return;
    }
    if (exchange->late == NULL && kerf_job_spec_same(kerf_job_spec_of(exchange->turn.entry->job), &exchange->spec))
        answer_job(exchange, 200);
    else
        exchange_message(exchange, 409,
                         "JobSpec doesn't match with existing jobSpec. Use a new job_id for different configuration");
    decision_finish(exchange);
}

void zeus_register(struct exchange *exchange) {
    struct request_refusal refusal = {0};
    struct request_body body = body_of(exchange);
    int32_t code =
        request_parse_job(&body, server_request_flags(exchange->server), &exchange->arena, &exchange->spec, &refusal);
    if (code != KERF_OK) {
        exchange_refuse(exchange, &refusal);
        return;
    }
    exchange->late = refusal.late;
    exchange->is_chosen = exchange->spec.job_id == NULL;
    if (exchange->is_chosen && !choose_job_id(exchange)) {
        struct kerf_error err;
        exchange_fail(exchange, error_no_memory(&err, "a job_id"), &err);
        return;
    }
    decision_take_turn(exchange, exchange->spec.job_id, register_in_turn);
}

/* ---- DELETE /jobs, GET /jobs/batch_size ---------------------------------------------------------------------- */

static void parse_query_and(struct exchange *exchange, exchange_step step) {
    struct request_refusal refusal = {0};
    int32_t code = request_parse_query(exchange->query.bytes, exchange->query.length, &exchange->arena,
                                       &exchange->report.job_id, &refusal);
    if (code != KERF_OK)
        exchange_refuse(exchange, &refusal);
    else
        decision_take_turn(exchange, exchange->report.job_id, step);
}

static void delete_in_turn(struct exchange *exchange) {
    if (!decision_open(exchange, exchange->report.job_id)) return;
    if (exchange->held.job == 0) {
        exchange_message(exchange, 404, "No job was deleted.");
        decision_finish(exchange);
        return;
    }
    answer_null(exchange);
    exchange->write = (struct store_write){.kind = STORE_DELETE};
    decision_submit(exchange);
}

void zeus_delete(struct exchange *exchange) { parse_query_and(exchange, delete_in_turn); }

static void answer_trial(struct exchange *exchange, const char *job_id) {
    struct kerf_text *answer = &exchange->answer;
    kerf_text_clear(answer);
    kerf_text_add(answer, "{\"job_id\":");
    python_string_quote(job_id, answer);
    kerf_text_printf(answer, ",\"batch_size\":%" PRId64 ",\"trial_number\":%" PRId64 "}", exchange->trial.batch_size,
                     exchange->trial.number);
    exchange_answer(exchange, 200);
}

/* The reference takes a size below 1 at POST /jobs, and fails for ever once it is to be explored. */
static int refuses_size(struct exchange *exchange, const struct kerf_decision *decision) {
    if (!exchange->server->options.compat || decision->status != KERF_JOB_ANSWERED || decision->trial.batch_size > 0)
        return 0;
    exchange_message(exchange, 500,
                     "1 validation error for CreateExplorationTrial\nbatch_size\n  ensure this value is greater than 0 "
                     "(type=value_error.number.not_gt; limit_value=0)");
    job_entry_forget(exchange->turn.entry);
    decision_finish(exchange);
    return 1;
}

static void predict_in_turn(struct exchange *exchange) {
    struct kerf_decision *decision = &exchange->decision;
    struct kerf_error err = {.code = KERF_OK};
    const char *job_id = exchange->report.job_id;
    if (!decision_open(exchange, job_id)) return;
    if (exchange->held.job == 0) {
        zeus_say_no_job_to_predict(job_id, &exchange->message);
        answer_message(exchange, 400);
        decision_finish(exchange);
        return;
    }
    int32_t code = kerf_job_predict(exchange->turn.entry->job, clock_now_s(), decision, &err);
    if (code != KERF_OK) {
        decision_fail(exchange, code, &err);
        return;
    }
    if (refuses_size(exchange, decision)) return;
    exchange->write = (struct store_write){.kind = STORE_DECIDE,
                                           .changes = decision->changes,
                                           .expired = decision->expired,
                                           .num_expired = decision->num_expired};
    if (decision->status == KERF_JOB_ANSWERED) {
        exchange->trial = decision->trial;
        kerf_job_reason_text(&decision->reason, &exchange->reason);
        exchange->write.trial = &exchange->trial;
        exchange->write.trial_is_new = 1;
        exchange->write.reason = said(&exchange->reason);
        answer_trial(exchange, job_id);
    } else {
        zeus_say_decision(exchange->turn.entry->job, decision, &exchange->message);
        answer_message(exchange, 500);
    }
    if (decision->changes || decision->num_expired)
        decision_submit(exchange);
    else
        decision_finish(exchange);
}

void zeus_predict(struct exchange *exchange) { parse_query_and(exchange, predict_in_turn); }

/* ---- POST /report ------------------------------------------------------------------------------------------ */

/* The reference's words for a size or a number below 1; 0: there is nothing to say. */
static int say_not_positive(struct exchange *exchange, int64_t batch_size, int64_t trial_number) {
    int count = (batch_size <= 0) + (trial_number <= 0);
    if (count == 0 || !exchange->server->options.compat) return 0;
    kerf_text_printf(&exchange->message, "%d validation error%s for ReadTrial", count, count > 1 ? "s" : "");
    for (int i = 0; i < 2; i++)
        if ((i == 0 ? batch_size : trial_number) <= 0)
            kerf_text_printf(&exchange->message,
                             "\n%s\n  ensure this value is greater than 0 (type=value_error.number.not_gt; "
                             "limit_value=0)",
                             i == 0 ? "batch_size" : "trial_number");
    answer_message(exchange, 500);
    return 1;
}

static void answer_report(struct exchange *exchange, const struct kerf_answer *result) {
    struct kerf_text *answer = &exchange->answer;
    if (result->status != KERF_JOB_ANSWERED) {
        int is_500 = result->status == KERF_JOB_INVALID_RESULT || result->status == KERF_JOB_NOTHING_CONVERGED ||
                     result->status == KERF_JOB_WEDGED;
        answer_message(exchange, is_500 ? 500 : 400);
        return;
    }
    kerf_text_clear(answer);
    kerf_text_printf(answer, "{\"stop_train\":%s,\"converged\":%s,\"message\":", result->stop_train ? "true" : "false",
                     result->converged ? "true" : "false");
    python_string_quote(said(&exchange->message), answer);
    kerf_text_add(answer, "}");
    exchange_answer(exchange, 200);
}

/* 1: what is stored of the trial's last sign of life gets too old. */
static int is_to_be_stored(const struct job_entry *entry, const struct kerf_trial *trial) {
    double most_s = fmin(SEEN_PART * kerf_job_lease_s(entry->job), SEEN_MOST_S);
    for (int32_t i = 0; i < entry->num_trials; i++)
        if (entry->trials[i].number == trial->number) return !(fabs(trial->seen_s - entry->stored_seen_s[i]) < most_s);
    return 1;
}

/* The answer stands; the decision changed this. */
static void finish_with(struct exchange *exchange, int32_t changes) {
    struct job_entry *entry = exchange->turn.entry;
    struct kerf_trial *kept = job_entry_trial(entry, exchange->trial.number);
    if (exchange->server->options.compat) changes &= ~KERF_JOB_CHANGED_SEEN; /* no leases: nobody asks */
    if (changes == KERF_JOB_CHANGED_SEEN && kept && !is_to_be_stored(entry, &exchange->trial)) {
        kept->seen_s = exchange->trial.seen_s;
        changes = 0;
    }
    if (changes == 0) {
        decision_finish(exchange);
        return;
    }
    exchange->write = (struct store_write){.kind = STORE_DECIDE, .changes = changes, .trial = &exchange->trial};
    decision_submit(exchange);
}

static void report_in_turn(struct exchange *exchange) {
    const struct request_report *asked = &exchange->report;
    const struct kerf_report *report = &asked->report;
    struct kerf_answer result;
    struct kerf_error err = {.code = KERF_OK};
    if (!decision_open(exchange, asked->job_id)) return;
    if (exchange->held.job == 0) {
        zeus_say_no_job_to_report(asked->job_id, &exchange->message);
        answer_message(exchange, 400);
        decision_finish(exchange);
        return;
    }
    if (say_not_positive(exchange, report->batch_size, report->trial_number)) {
        decision_finish(exchange);
        return;
    }
    if (exchange->late) {
        answer_late(exchange);
        return;
    }
    int there = decision_load_trial(exchange, report->batch_size, report->trial_number);
    if (there < 0 || (there && !decision_load_costs(exchange, report->batch_size))) return;
    if (exchange->is_forgotten) {
        kerf_text_printf(&exchange->message, "Trial(%" PRId64 ") ended, and is not kept any longer.",
                         report->trial_number);
        answer_message(exchange, 400);
        decision_finish(exchange);
        return;
    }
    int32_t code = kerf_job_report(exchange->turn.entry->job, there ? &exchange->trial : NULL, report, clock_now_s(),
                                   &result, &err);
    if (code != KERF_OK) {
        decision_fail(exchange, code, &err);
        return;
    }
    zeus_say_answer(exchange->turn.entry->job, report, &result, &exchange->message);
    answer_report(exchange, &result);
    finish_with(exchange, result.changes);
}

void zeus_report(struct exchange *exchange) {
    struct request_refusal refusal = {0};
    struct request_body body = body_of(exchange);
    int32_t code = request_parse_report(&body, server_request_flags(exchange->server), &exchange->arena,
                                        &exchange->report, &refusal);
    exchange->late = refusal.late;
    if (code != KERF_OK)
        exchange_refuse(exchange, &refusal);
    else
        decision_take_turn(exchange, exchange->report.job_id, report_in_turn);
}

/* ---- PATCH /trials ------------------------------------------------------------------------------------------ */

static void end_in_turn(struct exchange *exchange) {
    const struct request_trial *asked = &exchange->ended;
    struct kerf_answer result = {.status = KERF_JOB_UNKNOWN_TRIAL};
    if (!decision_open(exchange, asked->job_id)) return;
    if (exchange->held.job == 0) {
        zeus_say_no_trial(asked->job_id, asked->batch_size, asked->trial_number, &exchange->message);
    } else {
        int there = decision_load_trial(exchange, asked->batch_size, asked->trial_number);
        if (there < 0) return;
        if (exchange->is_forgotten) { /* it ended, so there is nothing to do */
            answer_null(exchange);
            decision_finish(exchange);
            return;
        }
        result = kerf_job_end(exchange->turn.entry->job, there ? &exchange->trial : NULL, clock_now_s());
        if (!there) zeus_say_no_trial(asked->job_id, asked->batch_size, asked->trial_number, &exchange->message);
    }
    if (result.status == KERF_JOB_ANSWERED)
        answer_null(exchange);
    else
        answer_message(exchange, 404);
    if (exchange->held.job == 0)
        decision_finish(exchange);
    else
        finish_with(exchange, result.changes);
}

void zeus_end(struct exchange *exchange) {
    struct request_refusal refusal = {0};
    struct request_body body = body_of(exchange);
    int32_t code = request_parse_trial(&body, server_request_flags(exchange->server), &exchange->arena,
                                       &exchange->ended, &refusal);
    if (code != KERF_OK)
        exchange_refuse(exchange, &refusal);
    else if (say_not_positive(exchange, exchange->ended.batch_size, exchange->ended.trial_number))
        return;
    else if (refusal.late)
        exchange_message(exchange, 500, refusal.late);
    else
        decision_take_turn(exchange, exchange->ended.job_id, end_in_turn);
}
