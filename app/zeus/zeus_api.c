/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The five routes of Zeus's server (zeus/optimizer/batch_size/server/router.py), to the letter, and their objects:
 *
 *     POST /jobs   DELETE /jobs   GET /jobs/batch_size   POST /report   PATCH /trials
 *
 * And the import of its database.
 */
#include "zeus/zeus.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <sys/random.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "server/decisions.h"
#include "server/log.h"
#include "server/route.h"
#include "server/service.h"
#include "zeus/import_sources.h"
#include "zeus/python_values.h"
#include "zeus/request.h"

/* How old the stored time of a trial's last sign of life may become: a part of its lease, and at most so many
 * seconds. */
static const double SEEN_PART = 1.0 / 8, SEEN_MAX_S = 60;

struct zeus {                 /* a request */
    struct decision decision; /* the first, of which a pointer is one of this */
    struct kerf_job_spec spec;
    struct request_report report;
    struct request_trial ended;
    struct kerf_decision predicted;
    const char *late; /* request.h; NULL: nothing */
    int is_chosen;    /* the job_id is the server's choice */
};

static void release(struct exchange *exchange) {
    struct zeus *zeus = exchange->own;
    assert(zeus->decision.turn.entry == NULL); /* the turn is over */
    decision_free(&zeus->decision);
}

/* NULL after an answer. */
static struct zeus *begin(struct exchange *exchange) {
    struct zeus *zeus = arena_alloc(&exchange->arena, 1, sizeof *zeus);
    struct kerf_error err;
    if (zeus == NULL) {
        exchange_fail(exchange, error_no_memory(&err, "a request"), &err);
        return NULL;
    }
    zeus->decision.exchange = exchange;
    exchange->own = zeus;
    exchange->release = release;
    return zeus;
}

static struct request_body body_of(const struct exchange *exchange) {
    return (struct request_body){exchange->body.data ? exchange->body.data : "", exchange->body.length,
                                 exchange->head.content_type};
}

static int32_t request_flags(const struct exchange *exchange) { return exchange->service->compat ? 0 : REQUEST_MENDED; }

static void answer_refusal(struct exchange *exchange, struct request_refusal *refusal) {
    kerf_text_free(&exchange->answer);
    exchange->answer = refusal->document;
    refusal->document = (struct kerf_text){0};
    exchange_answer(exchange, refusal->status);
    if (refusal->plain) exchange->content_type = "text/plain; charset=utf-8";
    request_refusal_free(refusal);
}

static const char *said(const struct kerf_text *text) { return text->data ? text->data : ""; }

static void answer_words(struct exchange *exchange, int status, const char *message) {
    kerf_text_clear(&exchange->answer);
    request_write_message(message, &exchange->answer);
    exchange_answer(exchange, status);
}

static void answer_message(const struct zeus *zeus, int status) {
    answer_words(zeus->decision.exchange, status, said(&zeus->decision.message));
}

static void answer_null(struct exchange *exchange) {
    kerf_text_clear(&exchange->answer);
    kerf_text_add(&exchange->answer, "null");
    exchange_answer(exchange, 200);
}

/* ---- POST /jobs -------------------------------------------------------------------------------------------- */

static int choose_job_id(struct exchange *exchange, struct kerf_job_spec *spec) {
    unsigned char random[4];
    if (getrandom(random, sizeof random, 0) != sizeof random) return 0;
    spec->job_id = arena_printf(&exchange->arena, "%s-%02x%02x%02x%02x", spec->job_id_prefix, random[0], random[1],
                                random[2], random[3]);
    return spec->job_id != NULL;
}

static void answer_job(struct zeus *zeus, int status) {
    struct exchange *exchange = zeus->decision.exchange;
    kerf_text_clear(&exchange->answer);
    if (request_write_job(&zeus->spec, &exchange->answer) == KERF_OK)
        exchange_answer(exchange, status);
    else
        exchange_answer_text(exchange, 500, "Internal Server Error"); /* after the job was stored, as the reference */
}

/* What the reference's database says to numbers and texts that it does not take. */
static void answer_late(struct zeus *zeus) {
    answer_words(zeus->decision.exchange, 500, zeus->late);
    decision_finish(&zeus->decision);
}

static void create(struct zeus *zeus) {
    struct decision *decision = &zeus->decision;
    struct kerf_error err = {.code = KERF_OK};
    int32_t code =
        kerf_job_create(&zeus->spec, decision->exchange->service->job_flags, &decision->turn.entry->job, &err);
    if (code == KERF_EINVALID) {
        int is_seed = zeus->spec.has_mab_seed && zeus->spec.mab_seed < 0;
        answer_words(decision->exchange, 500,
                     is_seed      ? "expected non-negative integer"
                     : zeus->late ? zeus->late
                                  : err.message);
        decision_finish(decision);
    } else if (code == KERF_OK && zeus->late) {
        job_entry_forget(decision->turn.entry);
        answer_late(zeus);
    } else if (code != KERF_OK) {
        decision_fail(decision, code, &err);
    } else {
        answer_job(zeus, 201);
        decision->write = (struct store_write){.kind = STORE_CREATE};
        decision_submit(decision);
    }
}

static void register_again(struct exchange *exchange);

static void register_in_turn(struct exchange *exchange) {
    struct zeus *zeus = exchange->own;
    struct decision *decision = &zeus->decision;
    if (!decision_open(decision, zeus->spec.job_id)) return;
    if (decision->held.job == 0) {
        create(zeus);
    } else if (zeus->is_chosen) { /* a job has that one already */
        if (decision_finish(decision)) register_again(exchange);
    } else {
        if (zeus->late == NULL && kerf_job_spec_same(kerf_job_spec_of(decision->turn.entry->job), &zeus->spec))
            answer_job(zeus, 200);
        else
            answer_words(exchange, 409,
                         "JobSpec doesn't match with existing jobSpec. Use a new job_id for different configuration");
        decision_finish(decision);
    }
}

static void register_again(struct exchange *exchange) {
    struct zeus *zeus = exchange->own;
    struct kerf_error err;
    if (zeus->is_chosen && !choose_job_id(exchange, &zeus->spec)) {
        exchange_fail(exchange, error_no_memory(&err, "a job_id"), &err);
        return;
    }
    exchange->job_id = zeus->spec.job_id;
    decision_take_turn(&zeus->decision, zeus->spec.job_id, register_in_turn);
}

/* POST /jobs */
static void zeus_register(struct exchange *exchange) {
    struct request_refusal refusal = {0};
    struct request_body body = body_of(exchange);
    struct zeus *zeus = begin(exchange);
    if (zeus == NULL) return;
    if (request_parse_job(&body, request_flags(exchange), &exchange->arena, &zeus->spec, &refusal) != KERF_OK) {
        answer_refusal(exchange, &refusal);
        return;
    }
    zeus->late = refusal.late;
    zeus->is_chosen = zeus->spec.job_id == NULL;
    register_again(exchange);
}

/* ---- DELETE /jobs, GET /jobs/batch_size ---------------------------------------------------------------------- */

static void parse_query_and(struct exchange *exchange, exchange_step step) {
    struct request_refusal refusal = {0};
    const char *job_id;
    struct zeus *zeus = begin(exchange);
    if (zeus == NULL) return;
    if (request_parse_query(exchange->query.bytes, exchange->query.length, &exchange->arena, &job_id, &refusal) !=
        KERF_OK) {
        answer_refusal(exchange, &refusal);
        return;
    }
    exchange->job_id = job_id;
    decision_take_turn(&zeus->decision, job_id, step);
}

static void delete_in_turn(struct exchange *exchange) {
    struct zeus *zeus = exchange->own;
    struct decision *decision = &zeus->decision;
    if (!decision_open(decision, exchange->job_id)) return;
    if (decision->held.job == 0) {
        answer_words(exchange, 404, "No job was deleted.");
        decision_finish(decision);
        return;
    }
    answer_null(exchange);
    decision->write = (struct store_write){.kind = STORE_DELETE};
    decision_submit(decision);
}

/* DELETE /jobs */
static void zeus_delete(struct exchange *exchange) { parse_query_and(exchange, delete_in_turn); }

static void answer_trial(struct exchange *exchange, const struct kerf_trial *trial) {
    struct kerf_text *answer = &exchange->answer;
    kerf_text_clear(answer);
    kerf_text_add(answer, "{\"job_id\":");
    python_string_quote(exchange->job_id, answer);
    kerf_text_printf(answer, ",\"batch_size\":%" PRId64 ",\"trial_number\":%" PRId64 "}", trial->batch_size,
                     trial->number);
    exchange_answer(exchange, 200);
}

/* The reference takes a size below 1 at POST /jobs, and fails for ever once it is to be explored. */
static int refuses_size(struct zeus *zeus) {
    const struct kerf_decision *predicted = &zeus->predicted;
    struct exchange *exchange = zeus->decision.exchange;
    if (!exchange->service->compat || predicted->status != KERF_JOB_ANSWERED || predicted->trial.batch_size > 0)
        return 0;
    answer_words(exchange, 500,
                 "1 validation error for CreateExplorationTrial\nbatch_size\n  ensure this value is greater than 0 "
                 "(type=value_error.number.not_gt; limit_value=0)");
    job_entry_forget(zeus->decision.turn.entry);
    decision_finish(&zeus->decision);
    return 1;
}

/* The trial that a run is to begin with. */
static void hand_out(struct zeus *zeus) {
    struct decision *decision = &zeus->decision;
    assert(zeus->predicted.trial.number > 0);
    decision->trial = zeus->predicted.trial;
    kerf_job_reason_text(&zeus->predicted.reason, &decision->reason);
    decision->write.trial = &decision->trial;
    decision->write.trial_is_new = 1;
    decision->write.reason = said(&decision->reason);
    decision->exchange->trial = decision->trial.number;
    answer_trial(decision->exchange, &decision->trial);
}

static void refuse_prediction(struct zeus *zeus) {
    struct decision *decision = &zeus->decision;
    zeus_say_decision(decision->turn.entry->job, &zeus->predicted, &decision->message);
    answer_message(zeus, 500);
}

static void predict_in_turn(struct exchange *exchange) {
    struct zeus *zeus = exchange->own;
    struct decision *decision = &zeus->decision;
    struct kerf_decision *predicted = &zeus->predicted;
    struct kerf_error err = {.code = KERF_OK};
    if (!decision_open(decision, exchange->job_id)) return;
    if (decision->held.job == 0) {
        zeus_say_no_job_to_predict(exchange->job_id, &decision->message);
        answer_message(zeus, 400);
        decision_finish(decision);
        return;
    }
    int32_t code = kerf_job_predict(decision->turn.entry->job, clock_now_s(), predicted, &err);
    if (code != KERF_OK) {
        decision_fail(decision, code, &err);
        return;
    }
    if (refuses_size(zeus)) return;
    decision->write = (struct store_write){.kind = STORE_DECIDE,
                                           .changes = predicted->changes,
                                           .expired = predicted->expired,
                                           .num_expired = predicted->num_expired};
    if (predicted->status == KERF_JOB_ANSWERED)
        hand_out(zeus);
    else
        refuse_prediction(zeus);
    if (predicted->changes || predicted->num_expired)
        decision_submit(decision);
    else
        decision_finish(decision);
}

/* GET /jobs/batch_size */
static void zeus_predict(struct exchange *exchange) { parse_query_and(exchange, predict_in_turn); }

/* ---- POST /report ------------------------------------------------------------------------------------------ */

/* The reference's words for a size or a number below 1; 0: there is nothing to say. */
static int say_not_positive(struct zeus *zeus, int64_t batch_size, int64_t trial_number) {
    struct kerf_text *message = &zeus->decision.message;
    int count = (batch_size <= 0) + (trial_number <= 0);
    if (count == 0 || !zeus->decision.exchange->service->compat) return 0;
    kerf_text_printf(message, "%d validation error%s for ReadTrial", count, count > 1 ? "s" : "");
    for (int i = 0; i < 2; i++)
        if ((i == 0 ? batch_size : trial_number) <= 0)
            kerf_text_printf(message,
                             "\n%s\n  ensure this value is greater than 0 (type=value_error.number.not_gt; "
                             "limit_value=0)",
                             i == 0 ? "batch_size" : "trial_number");
    answer_message(zeus, 500);
    return 1;
}

static void answer_report(struct zeus *zeus, const struct kerf_answer *result) {
    struct exchange *exchange = zeus->decision.exchange;
    struct kerf_text *answer = &exchange->answer;
    if (result->status != KERF_JOB_ANSWERED) {
        int is_500 = result->status == KERF_JOB_INVALID_RESULT || result->status == KERF_JOB_NOTHING_CONVERGED ||
                     result->status == KERF_JOB_WEDGED;
        answer_message(zeus, is_500 ? 500 : 400);
        return;
    }
    kerf_text_clear(answer);
    kerf_text_printf(answer, "{\"stop_train\":%s,\"converged\":%s,\"message\":", result->stop_train ? "true" : "false",
                     result->converged ? "true" : "false");
    python_string_quote(said(&zeus->decision.message), answer);
    kerf_text_add(answer, "}");
    exchange_answer(exchange, 200);
}

/* 1: the stored time of the trial's last sign of life is too old. */
static int is_to_be_stored(const struct job_entry *entry, const struct kerf_trial *trial) {
    double most_s = fmin(SEEN_PART * kerf_job_lease_s(entry->job), SEEN_MAX_S);
    for (int32_t i = 0; i < entry->num_trials; i++)
        if (entry->trials[i].number == trial->number) return !(fabs(trial->seen_s - entry->stored_seen_s[i]) < most_s);
    return 1;
}

/* The answer is complete; `changes` says what the decision changed. */
static void finish_with(struct decision *decision, int32_t changes) {
    struct job_entry *entry = decision->turn.entry;
    struct kerf_trial *kept = job_entry_trial(entry, decision->trial.number);
    if (decision->exchange->service->compat) changes &= ~KERF_JOB_CHANGED_SEEN; /* there are no leases */
    if (changes == KERF_JOB_CHANGED_SEEN && kept && !is_to_be_stored(entry, &decision->trial)) {
        kept->seen_s = decision->trial.seen_s;
        changes = 0;
    }
    if (changes == 0) {
        decision_finish(decision);
        return;
    }
    decision->write = (struct store_write){.kind = STORE_DECIDE, .changes = changes, .trial = &decision->trial};
    decision_submit(decision);
}

static void report_in_turn(struct exchange *exchange) {
    struct zeus *zeus = exchange->own;
    struct decision *decision = &zeus->decision;
    const struct kerf_report *report = &zeus->report.report;
    struct kerf_answer result;
    struct kerf_error err = {.code = KERF_OK};
    if (!decision_open(decision, exchange->job_id)) return;
    if (decision->held.job == 0) {
        zeus_say_no_job_to_report(exchange->job_id, &decision->message);
        answer_message(zeus, 400);
        decision_finish(decision);
        return;
    }
    if (say_not_positive(zeus, report->batch_size, report->trial_number)) {
        decision_finish(decision);
        return;
    }
    if (zeus->late) {
        answer_late(zeus);
        return;
    }
    int there = decision_load_trial(decision, report->batch_size, report->trial_number);
    if (there < 0 || (there && !decision_load_costs(decision, report->batch_size))) return;
    if (decision->is_forgotten) {
        kerf_text_printf(&decision->message, "Trial(%" PRId64 ") ended, and is not kept any longer.",
                         report->trial_number);
        answer_message(zeus, 400);
        decision_finish(decision);
        return;
    }
    int32_t code = kerf_job_report(decision->turn.entry->job, there ? &decision->trial : NULL, report, clock_now_s(),
                                   &result, &err);
    if (code != KERF_OK) {
        decision_fail(decision, code, &err);
        return;
    }
    zeus_say_answer(decision->turn.entry->job, report, &result, &decision->message);
    answer_report(zeus, &result);
    finish_with(decision, result.changes);
}

/* POST /report */
static void zeus_report(struct exchange *exchange) {
    struct request_refusal refusal = {0};
    struct request_body body = body_of(exchange);
    struct zeus *zeus = begin(exchange);
    if (zeus == NULL) return;
    if (request_parse_report(&body, request_flags(exchange), &exchange->arena, &zeus->report, &refusal) != KERF_OK) {
        answer_refusal(exchange, &refusal);
        return;
    }
    zeus->late = refusal.late;
    exchange->job_id = zeus->report.job_id;
    exchange->trial = zeus->report.report.trial_number;
    decision_take_turn(&zeus->decision, exchange->job_id, report_in_turn);
}

/* ---- PATCH /trials ------------------------------------------------------------------------------------------ */

static void end_in_turn(struct exchange *exchange) {
    struct zeus *zeus = exchange->own;
    struct decision *decision = &zeus->decision;
    const struct request_trial *asked = &zeus->ended;
    if (!decision_open(decision, asked->job_id)) return;
    if (decision->held.job == 0) {
        zeus_say_no_trial(asked->job_id, asked->batch_size, asked->trial_number, &decision->message);
        answer_message(zeus, 404);
        decision_finish(decision);
        return;
    }
    int there = decision_load_trial(decision, asked->batch_size, asked->trial_number);
    if (there < 0) return;
    if (decision->is_forgotten) { /* it ended, so there is nothing to do */
        answer_null(exchange);
        decision_finish(decision);
        return;
    }
    const struct kerf_answer result =
        kerf_job_end(decision->turn.entry->job, there ? &decision->trial : NULL, clock_now_s());
    if (!there) zeus_say_no_trial(asked->job_id, asked->batch_size, asked->trial_number, &decision->message);
    if (result.status == KERF_JOB_ANSWERED)
        answer_null(exchange);
    else
        answer_message(zeus, 404);
    finish_with(decision, result.changes);
}

/* PATCH /trials */
static void zeus_end(struct exchange *exchange) {
    struct request_refusal refusal = {0};
    struct request_body body = body_of(exchange);
    struct zeus *zeus = begin(exchange);
    if (zeus == NULL) return;
    if (request_parse_trial(&body, request_flags(exchange), &exchange->arena, &zeus->ended, &refusal) != KERF_OK) {
        answer_refusal(exchange, &refusal);
        return;
    }
    exchange->job_id = zeus->ended.job_id;
    exchange->trial = zeus->ended.trial_number;
    if (say_not_positive(zeus, zeus->ended.batch_size, zeus->ended.trial_number)) return;
    if (refusal.late)
        answer_words(exchange, 500, refusal.late);
    else
        decision_take_turn(&zeus->decision, exchange->job_id, end_in_turn);
}

/* ---- Objects ------------------------------------------------------------------------------------------------ */

static const struct schema_field job[] = {{"max_power", "number", SCHEMA_REQUIRED, NULL},
                                          {"number_of_gpus", "integer", SCHEMA_REQUIRED, NULL},
                                          {"gpu_model", "string", SCHEMA_REQUIRED, NULL},
                                          {"job_id", "string", SCHEMA_NULL, NULL},
                                          {"job_id_prefix", "string", SCHEMA_REQUIRED, NULL},
                                          {"batch_sizes", "[integer]", SCHEMA_REQUIRED, NULL},
                                          {"default_batch_size", "integer", SCHEMA_REQUIRED, NULL},
                                          {"eta_knob", "number", 0, NULL},
                                          {"beta_knob", "number", SCHEMA_NULL, NULL},
                                          {"target_metric", "number", 0, NULL},
                                          {"higher_is_better_metric", "boolean", 0, NULL},
                                          {"max_epochs", "integer", 0, NULL},
                                          {"num_pruning_rounds", "integer", 0, NULL},
                                          {"window_size", "integer", 0, NULL},
                                          {"mab_prior_mean", "number", 0, NULL},
                                          {"mab_prior_precision", "number", 0, NULL},
                                          {"mab_num_explorations", "integer", 0, NULL},
                                          {"mab_seed", "integer", SCHEMA_NULL, NULL},
                                          {"policy", "string", 0, "zeus,kerf"},
                                          {"lease_s", "number", 0, NULL},
                                          {0}};
static const struct schema_field trial_id[] = {{"job_id", "string", SCHEMA_REQUIRED, NULL},
                                               {"batch_size", "integer", SCHEMA_REQUIRED, NULL},
                                               {"trial_number", "integer", SCHEMA_REQUIRED, NULL},
                                               {0}};
static const struct schema_field report[] = {
    {"job_id", "string", SCHEMA_REQUIRED, NULL},         {"batch_size", "integer", SCHEMA_REQUIRED, NULL},
    {"trial_number", "integer", SCHEMA_REQUIRED, NULL},  {"time", "number", SCHEMA_REQUIRED, NULL},
    {"energy", "number", SCHEMA_REQUIRED, NULL},         {"metric", "number", SCHEMA_REQUIRED, NULL},
    {"current_epoch", "integer", SCHEMA_REQUIRED, NULL}, {0}};
static const struct schema_field verdict[] = {{"stop_train", "boolean", SCHEMA_REQUIRED, NULL},
                                              {"converged", "boolean", SCHEMA_REQUIRED, NULL},
                                              {"message", "string", SCHEMA_REQUIRED, NULL},
                                              {0}};
static const struct schema_field mistake[] = {{"loc", "[any]", SCHEMA_REQUIRED, NULL},
                                              {"msg", "string", SCHEMA_REQUIRED, NULL},
                                              {"type", "string", SCHEMA_REQUIRED, NULL},
                                              {"ctx", "any", 0, NULL},
                                              {"input", "any", 0, NULL},
                                              {0}};
static const struct schema_field mistakes[] = {{"detail", "[Mistake]", SCHEMA_REQUIRED, NULL}, {0}};
static const struct schema_field ask_job[] = {{"job_id", "string", SCHEMA_REQUIRED, NULL}, {0}};

static const struct schema schemas[] = {{"Job", job},         {"TrialId", trial_id}, {"Report", report},
                                        {"Verdict", verdict}, {"Mistake", mistake},  {"Mistakes", mistakes}};

/* ---- Routes ------------------------------------------------------------------------------------------------- */

#define BODY "413 Detail,422 Mistakes"

/* In the order in which Zeus's server has them. */
static const struct route routes[] = {
    {.method = "POST",
     .pattern = "/jobs",
     .step = zeus_register,
     .needs = TOKEN_WRITE,
     .flags = ROUTE_CHANGES,
     .summary = "Register a job, unless it is registered already",
     .body = "Job",
     .answer = "Job",
     .statuses = "201 Job,400 Detail,409 Message," BODY},
    {.method = "DELETE",
     .pattern = "/jobs",
     .step = zeus_delete,
     .needs = TOKEN_ADMIN,
     .flags = ROUTE_CHANGES,
     .summary = "Delete a job with all its trials",
     .query = ask_job,
     .answer = "null",
     .statuses = "404 Message,422 Mistakes"},
    {.method = "GET",
     .pattern = "/jobs/batch_size",
     .step = zeus_predict,
     .needs = TOKEN_WRITE,
     .flags = ROUTE_CHANGES,
     .summary = "The batch size for the job's next run",
     .query = ask_job,
     .answer = "TrialId",
     .statuses = "400 Message,422 Mistakes"},
    {.method = "POST",
     .pattern = "/report",
     .step = zeus_report,
     .needs = TOKEN_WRITE,
     .flags = ROUTE_CHANGES,
     .summary = "Report time, energy and metric of a run so far; the answer says whether it is to continue",
     .body = "Report",
     .answer = "Verdict",
     .statuses = "400 Message|Detail," BODY},
    {.method = "PATCH",
     .pattern = "/trials",
     .step = zeus_end,
     .needs = TOKEN_WRITE,
     .flags = ROUTE_CHANGES,
     .summary = "Give a run up",
     .body = "TrialId",
     .answer = "null",
     .statuses = "400 Detail,404 Message," BODY},
};

static const struct api api = API(routes, schemas);

/* ---- Its database ------------------------------------------------------------------------------------------- */

struct taking_over {
    const struct log *log;
    int64_t counts[IMPORT_OUTCOMES];
};

static void note(void *context, enum import_outcome outcome, const char *job_id, int64_t trials, const char *why) {
    struct taking_over *all = context;
    all->counts[outcome]++;
    if (outcome == IMPORT_TAKEN)
        log_info(all->log, "imported", "job %s with %" PRId64 " trials", job_id, trials);
    else if (outcome == IMPORT_KNOWN)
        log_info(all->log, "imported", "job %s exists already and stays unchanged", job_id);
    else
        log_error(all->log, "import", "job %s is left out: %s", job_id, why);
}

static int32_t take_over(const char *where, struct store *to, int32_t job_flags, const struct log *log,
                         struct kerf_error *err) {
    struct taking_over all = {.log = log};
    int32_t code = import_zeus(where, to, job_flags, note, &all, err);
    if (code == KERF_OK)
        log_info(log, "imported", "%" PRId64 " jobs imported, %" PRId64 " existed already, %" PRId64 " left out",
                 all.counts[IMPORT_TAKEN], all.counts[IMPORT_KNOWN], all.counts[IMPORT_REFUSED]);
    return code;
}

const struct server_addition zeus_api = {.api = &api, .import = take_over};
