/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decision, from the turn to the durable answer:
 *
 *     turn -> begin -> load what is not cached -> decide (the route) -> submit -> committed -> answer
 *
 * Where servers share a store, begin may take what is in memory to be what is stored. When it is not, that is found out
 * before anything is written or answered, and the way begins again with what is stored, under a lock.
 *
 * Until it is committed nobody else sees the job. When the commit fails, what is in memory is forgotten, so that the
 * next request begins with what is stored.
 */
#include "server/decisions.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "server/service.h"

void decision_free(struct decision *decision) {
    kerf_text_free(&decision->message);
    kerf_text_free(&decision->reason);
}

static struct decision *of_turn(struct job_turn *turn) {
    return (struct decision *)((char *)turn - offsetof(struct decision, turn));
}

static void turn_waits(struct job_turn *turn) { exchange_wait(of_turn(turn)->exchange); }
static void turn_granted(struct job_turn *turn) { exchange_wake(of_turn(turn)->exchange); }

static struct service *service_of(const struct decision *decision) { return decision->exchange->service; }

void decision_take_turn(struct decision *decision, const char *job_id, exchange_step step) {
    struct kerf_error err;
    decision->turn = (struct job_turn){.waits = turn_waits, .granted = turn_granted};
    decision->exchange->step = decision->again = step;
    int taken = job_turn_take(service_of(decision)->jobs, job_id, &decision->turn);
    if (taken > 0) step(decision->exchange);
    if (taken >= 0) return;
    exchange_fail(decision->exchange, error_no_memory(&err, "a job"), &err);
}

static void release(struct decision *decision) { job_turn_release(service_of(decision)->jobs, &decision->turn); }

static void end_turn(struct decision *decision) {
    struct store *store = service_of(decision)->store;
    store->methods->cancel(store, &decision->held);
    release(decision);
}

void decision_fail(struct decision *decision, int32_t code, const struct kerf_error *err) {
    job_entry_forget(decision->turn.entry);
    exchange_fail(decision->exchange, code, err);
    end_turn(decision);
}

/* The turn stays; with nothing in memory, the job is locked this time. */
static void prepare_again(struct decision *decision) {
    job_entry_forget(decision->turn.entry);
    kerf_text_clear(&decision->message);
    kerf_text_clear(&decision->reason);
    decision->exchange->step = decision->again;
}

int decision_finish(struct decision *decision) {
    struct store *store = service_of(decision)->store;
    struct kerf_error err = {.code = KERF_OK};
    int32_t is_stale = 0, code = KERF_OK;
    if (decision->held.is_assumed) code = store->methods->confirm(store, &decision->held, &is_stale, &err);
    if (code != KERF_OK) {
        decision_fail(decision, code, &err);
    } else if (is_stale) {
        prepare_again(decision);
        decision->exchange->step(decision->exchange);
        return 0;
    } else {
        end_turn(decision);
    }
    return 1;
}

/* ---- What is stored ---------------------------------------------------------------------------------------- */

static int32_t load(struct decision *decision, const char *job_id, struct kerf_error *err) {
    struct job_entry *entry = decision->turn.entry;
    struct store *store = service_of(decision)->store;
    assert(entry && entry->is_taken);
    struct store_turn known = {.job = entry->key, .version = entry->version}, *held = &decision->held;
    *held = (struct store_turn){0};
    int32_t code = store->methods->begin(store, job_id, &known, held, err);
    if (code != KERF_OK) return code;
    if (held->job != entry->key || held->version != entry->version) job_entry_forget(entry);
    if (held->job == 0 || entry->job) return KERF_OK;
    code = store_load_job(store, held, service_of(decision)->job_flags, &entry->job, err);
    if (code != KERF_OK) return code;
    entry->key = held->job;
    entry->version = held->version;
    return KERF_OK;
}

int decision_open(struct decision *decision, const char *job_id) {
    struct kerf_error err = {.code = KERF_OK};
    int32_t code = load(decision, job_id, &err);
    if (code != KERF_OK) decision_fail(decision, code, &err);
    return code == KERF_OK;
}

int decision_load_trial(struct decision *decision, int64_t batch_size, int64_t number) {
    struct job_entry *entry = decision->turn.entry;
    struct store *store = service_of(decision)->store;
    struct kerf_error err = {.code = KERF_OK};
    const struct kerf_trial *kept = job_entry_trial(entry, number);
    decision->is_forgotten = 0;
    if (kept == NULL) {
        int64_t last = kerf_job_row_of(entry->job)->last_trial_number;
        int32_t code = number > 0 && number <= last
                           ? store_load_trial(store, &decision->held, number, &decision->trial, &err)
                           : KERF_EUNKNOWN;
        decision->is_forgotten = code == KERF_EUNKNOWN && number > 0 && number <= last;
        if (code == KERF_EUNKNOWN) return 0;
        if (code != KERF_OK) {
            decision_fail(decision, code, &err);
            return -1;
        }
        int is_open = decision->trial.status == KERF_TRIAL_DISPATCHED || decision->trial.lease_ended;
        if (is_open && decision->trial.status != KERF_TRIAL_SUCCEEDED) job_entry_keep_trial(entry, &decision->trial);
    } else {
        decision->trial = *kept;
    }
    return decision->trial.batch_size == batch_size;
}

int decision_load_costs(struct decision *decision, int64_t batch_size) {
    struct kerf_job *job = decision->turn.entry->job;
    struct store *store = service_of(decision)->store;
    int64_t wanted = kerf_job_costs_wanted(job, batch_size);
    struct kerf_error err = {.code = KERF_OK};
    struct store_costs costs = {0};
    if (wanted == 0) return 1;
    int32_t code = store_load_costs(store, &decision->held, kerf_job_spec_of(job), batch_size, wanted, &costs, &err);
    if (code == KERF_OK) code = kerf_job_restore_costs(job, batch_size, costs.numbers, costs.costs, costs.count, &err);
    store_costs_free(&costs);
    if (code != KERF_OK) decision_fail(decision, code, &err);
    return code == KERF_OK;
}

/* ---- The commit -------------------------------------------------------------------------------------------- */

/* Trials that may still be reported stay in memory. */
static void keep(struct job_entry *entry, const struct store_write *write) {
    for (int32_t i = 0; i < write->num_expired; i++) job_entry_drop_trial(entry, write->expired[i].number);
    if (write->trial == NULL) return;
    if (write->trial->status == KERF_TRIAL_DISPATCHED)
        job_entry_keep_trial(entry, write->trial);
    else
        job_entry_drop_trial(entry, write->trial->number);
}

static void committed(struct store_write *write, int32_t code, const struct kerf_error *err) {
    struct decision *decision = write->context;
    struct job_entry *entry = decision->turn.entry;
    int taken = write->kind == STORE_CREATE && write->job == 0; /* by another server */
    if (code == KERF_OK && (taken || write->is_stale)) {
        prepare_again(decision);
        exchange_wake(decision->exchange);
        return;
    }
    if (code == KERF_OK && write->kind != STORE_DELETE) {
        entry->key = write->job;
        entry->version = write->version;
        keep(entry, write);
        if (isnan(kerf_job_row_of(entry->job)->min_cost)) job_entry_forget(entry); /* stored as not known */
    } else {
        job_entry_forget(entry);
    }
    if (code != KERF_OK) exchange_fail(decision->exchange, code, err);
    decision->exchange->step = NULL;
    release(decision);
    exchange_wake(decision->exchange);
}

void decision_submit(struct decision *decision) {
    struct store *store = service_of(decision)->store;
    struct store_write *write = &decision->write;
    assert(decision->turn.entry && decision->exchange->status > 0);     /* our turn, and an answer */
    assert((write->kind == STORE_CREATE) == (decision->held.job == 0)); /* what is there is not made again */
    assert(write->kind == STORE_DELETE || decision->turn.entry->job != NULL);
    assert(write->trial == NULL || write->trial == &decision->trial); /* lives until it is written */
    write->job = decision->held.job;
    write->version = decision->held.version + 1;
    write->of = decision->turn.entry->job;
    write->now_s = clock_now_s();
    write->done = committed;
    write->context = decision;
    exchange_wait(decision->exchange);
    store->methods->submit(store, &decision->held, write);
}
