/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a study. One thread: it plans a trial for each free slot, sleeps until one has ended, and writes its
 * result into the journal before anything else begins. An error, a signal or a full disk loses no result.
 */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/error_fill.h"
#include "study/study_journal.h"
#include "study/study_request.h"
#include "study/study_state.h"

struct study_run {
    const struct kerf_study_plan *plan;
    struct kerf_study_state *state;
    const struct kerf_study_request *request;
    struct study_slots slots;
    struct kerf_trial_command command; /* as long as the runner */
    struct kerf_trial_runner *runner;
    struct study_journal *journal;
    int32_t journal_failed; /* its last line may be half there */
    double began_s;
    double clock_offset_s; /* from the runner's clock to the study's */
    int32_t begins_anew;   /* no time was told since the study was taken up */
    int32_t decided;       /* the decision says stop, what runs may end */
    struct kerf_text measuring;
    struct arena arena; /* of the command */
    struct study_sizes sizes;
};

static double run_s(const struct study_run *run) { return clock_ticks_s() - run->began_s; }

static double elapsed_before_s(const struct study_run *run) {
    return run->plan->resumed ? run->plan->resumed->elapsed_s : 0;
}

/* Starts of the program since the study began. */
static int64_t loads(const struct study_run *run) {
    return (run->plan->resumed ? run->plan->resumed->loads : 0) + kerf_trial_loads(run->runner);
}

/* ---- A result -------------------------------------------------------------------------------------------------- */

/* A study that cannot write its journal ends, and still reports its results. */
static void keep_in_journal(struct study_run *run, const struct kerf_study_entry *entry, double second) {
    struct kerf_error why;
    if (run->journal == NULL || study_journal_add(run->journal, run->state->space, entry, second, &why) == KERF_OK)
        return;
    study_state_stop(run->state, KERF_STUDY_INTERRUPTED, "%s", why.message);
    run->journal_failed = run->state->broke_off = run->decided = 1;
}

/* The first time of a resumed study: a worker's clock that kept running is past the last time already, any other clock
 * needs this offset. */
static void begin_clock(struct study_run *run, const struct kerf_tune_observation *first) {
    run->begins_anew = 0;
    if (run->slots.count == 1 && strcmp(run->request->protocol, "worker") == 0 && first->start_s >= run->clock_offset_s)
        run->clock_offset_s = 0;
}

static void judge_disturbance(struct study_run *run, struct slot *slot, struct kerf_study_entry *entry) {
    slot->planned = 0;
    if (run->request->ignore_interference) return;
    if (!study_slots_judge(slot, entry, run_s(run), run->plan->patience_s)) return;
    study_state_stop(run->state, KERF_STUDY_TOO_NOISY,
                     "%d measurements in a row were disturbed: %s. --interference ignore would count them",
                     slot->disturbed, entry->result.message);
    run->decided = 1;
}

static void give_up(struct study_run *run, const struct kerf_trial_result *last) {
    if (run->slots.measured)
        study_state_stop(run->state, KERF_STUDY_BUDGET, "the last %d trials%s failed: %s", SLOT_START_FAILURES,
                         run->slots.count > 1 ? " of every slot" : "", last->message);
    else
        study_state_stop(run->state, KERF_STUDY_NOTHING, "the last %d trials failed: %s", run->state->num_entries,
                         last->message);
    run->decided = 1;
}

static int32_t take_result(struct study_run *run, const struct kerf_trial_result *result, struct kerf_error *err) {
    struct slot *slot = &run->slots.items[result->observation.slot];
    struct kerf_study_entry entry = {.result = *result, .loads = loads(run)};
    struct kerf_tune_observation *seen = &entry.result.observation;
    double second = kerf_trial_told(run->runner);
    slot->busy = 0;
    snprintf(entry.why, sizeof entry.why, "%s", slot->why);
    seen->warmup =
        slot->warmup || result->is_of_no_setting || study_slots_is_own_failure(&run->slots, run->state, seen);
    if (run->begins_anew) begin_clock(run, seen);
    seen->start_s += run->clock_offset_s;
    seen->end_s += run->clock_offset_s;
    judge_disturbance(run, slot, &entry);
    keep_in_journal(run, &entry, second);
    study_slots_note(&run->slots, &entry);
    int32_t code = study_state_add(run->state, &entry, second, err);
    if (code == KERF_OK && study_slots_are_hopeless(&run->slots, result)) give_up(run, result);
    return code;
}

/* ---- What is next ---------------------------------------------------------------------------------------------- */

/* Whether as many measurements as were asked for have been made, these included. */
static int is_spent(const struct study_run *run, int32_t num_pending) {
    int64_t bound = run->request->max_observations;
    return bound > 0 && run->state->num_entries - run->state->num_disturbed + num_pending >= bound;
}

/* The decision has come to its end. */
static int32_t conclude(struct study_run *run, const struct kerf_tune_decision *decision, struct kerf_error *err) {
    struct kerf_study_state *state = run->state;
    struct kerf_tune_answer answer;
    int32_t code = kerf_tune_study_answer(state->study, &answer, err);
    if (code != KERF_OK) return code;
    int is_sure = answer.best >= 0 && answer.settings[answer.best].probability_within >= run->request->confidence;
    if (state->seconds) {
        struct kerf_tune_front front = {.size = sizeof front};
        if ((code = kerf_tune_study_front(state->study, &front, err)) != KERF_OK) return code;
        is_sure = front.probability >= run->request->confidence;
    }
    int is_confident = decision->stop == KERF_TUNE_CONFIDENT;
    is_sure &= decision->stop == KERF_TUNE_NOTHING_LEFT; /* all that the policy has was run */
    int32_t why = answer.best < 0                                              ? KERF_STUDY_NOTHING
                  : is_confident || is_sure                                    ? KERF_STUDY_CONFIDENT
                  : decision->stop == KERF_TUNE_TOO_NOISY && !is_spent(run, 0) ? KERF_STUDY_TOO_NOISY
                                                                               : KERF_STUDY_BUDGET;
    study_state_stop(state, why, "%s",
                     why == KERF_STUDY_CONFIDENT && !is_confident && !state->seconds ? answer.reason
                                                                                     : decision->reason);
    run->decided = 1;
    if (state->num_entries == 0) return KERF_OK;
    const struct kerf_trial_result *last = &state->entries[state->num_entries - 1].result;
    if (last->observation.outcome != KERF_TUNE_FAILED || last->message[0] == 0) return KERF_OK;
    if (why == KERF_STUDY_NOTHING)
        study_state_stop(state, why, "%d trial%s failed, the last one: %s", answer.failed,
                         answer.failed == 1 ? "" : "s", last->message);
    else if (answer.open == 0)
        study_state_stop(state, why, "%.170s; the last trial failed: %s", decision->reason, last->message);
    return KERF_OK;
}

/* What to do on a slot while others measure; *ret_waits is 1 when their results are needed first. */
static int32_t ask(struct study_run *run, int32_t index, struct kerf_tune_decision *ret_decision, int *ret_waits,
                   struct kerf_error *err) {
    struct kerf_tune_study *study = run->state->study;
    int32_t *pending = calloc((size_t)run->slots.count, sizeof *pending), code = KERF_OK;
    if (pending == NULL) return error_no_memory(err, "a study");
    int32_t num_pending = study_slots_pending(&run->slots, pending);
    *ret_waits = num_pending > 0 && is_spent(run, num_pending);
    if (!*ret_waits) code = kerf_tune_study_next(study, pending, num_pending, index, ret_decision, err);
    free(pending);
    if (code != KERF_OK || *ret_waits || ret_decision->action != KERF_TUNE_STOP || num_pending == 0) return code;
    /* the decision counted on pending trials; only observed ones end a study */
    if (ret_decision->stop == KERF_TUNE_CONFIDENT)
        code = kerf_tune_study_next(study, NULL, 0, index, ret_decision, err);
    *ret_waits = ret_decision->action != KERF_TUNE_STOP || ret_decision->stop != KERF_TUNE_CONFIDENT;
    return code;
}

static int32_t decide(struct study_run *run, int32_t index, struct kerf_error *err) {
    struct kerf_tune_decision decision;
    int waits = 0;
    int32_t code = ask(run, index, &decision, &waits, err);
    if (code != KERF_OK || waits) return code;
    if (decision.action == KERF_TUNE_STOP) return conclude(run, &decision, err);
    study_slots_plan(&run->slots, run->state, index, &decision);
    return KERF_OK;
}

/* Puts free slots to work. */
static int32_t fill_slots(struct study_run *run, struct kerf_error *err) {
    for (int32_t i = 0; i < run->slots.count && !run->decided; i++) {
        struct slot *slot = &run->slots.items[i];
        if (slot->busy || study_slots_is_retired(slot) || study_slots_must_wait(&run->slots, i)) continue;
        int32_t code = slot->planned ? KERF_OK : decide(run, i, err);
        if (code != KERF_OK) return code;
        if (run->decided || !slot->planned || slot->not_before_s > run_s(run)) continue;
        if (run->request->trial_timeout_s == 0) kerf_trial_timeout(run->runner, study_slots_timeout_s(&run->slots));
        int32_t id = run->state->num_entries + i + 1;
        code = kerf_trial_start(run->runner, i, id, slot->setting, slot->limit, err);
        if (code != KERF_OK) return code;
        slot->busy = 1;
        slot->planned = 0;
    }
    return KERF_OK;
}

/* ---- The loop -------------------------------------------------------------------------------------------------- */

static void tell_measuring(struct study_run *run) {
    kerf_text_clear(&run->measuring);
    for (int32_t i = 0; i < run->slots.count; i++) {
        const struct slot *slot = &run->slots.items[i];
        if (!slot->busy && !slot->planned) continue;
        if (run->measuring.length) kerf_text_add(&run->measuring, "; ");
        kerf_tune_setting_write(run->state->space, slot->setting, &run->measuring);
        if (!slot->busy)
            kerf_text_add(&run->measuring, " waits for a quiet machine");
        else if (slot->why[0])
            kerf_text_printf(&run->measuring, " (%s)", slot->why);
    }
    run->state->measuring = run->measuring.data ? run->measuring.data : "";
}

static void show(struct study_run *run) {
    struct kerf_study_state *state = run->state;
    state->run_s = run_s(run);
    state->elapsed_s = elapsed_before_s(run) + state->run_s;
    state->loads = loads(run);
    if (run->plan->show == NULL) return;
    tell_measuring(run);
    run->plan->show(run->plan->show_context, state);
}

/* How long only the end of a trial can matter: until the budget's end, until a slot may try again, until the next
 * second of a live table. Negative: for ever. */
static double sleep_s(const struct study_run *run) {
    double until = INFINITY, now = run_s(run);
    if (run->plan->budget_s > 0) until = run->plan->budget_s;
    if (run->plan->show) until = fmin(until, now + 1);
    for (int32_t i = 0; i < run->slots.count; i++)
        if (run->slots.items[i].planned) until = fmin(until, run->slots.items[i].not_before_s);
    return isfinite(until) ? fmax(until - now, 0) : -1;
}

static int is_over(struct study_run *run) {
    if (run->plan->interrupted && run->plan->interrupted())
        study_state_stop(run->state, KERF_STUDY_INTERRUPTED, "it was interrupted");
    else if (run->decided)
        return 1;
    else if (run->plan->budget_s > 0 && run_s(run) >= run->plan->budget_s)
        study_state_stop(run->state, KERF_STUDY_BUDGET, "its time is spent");
    else
        return 0;
    return 1;
}

static int32_t work(struct study_run *run, struct kerf_error *err) {
    while (!is_over(run)) {
        struct kerf_trial_result result;
        int32_t ended = 0;
        int32_t code = fill_slots(run, err);
        if (code != KERF_OK) return code;
        show(run);
        if (run->decided) continue;
        double timeout_s = sleep_s(run);
        if (study_slots_busy(&run->slots) > 0) {
            code = kerf_trial_wait(run->runner, timeout_s, run->plan->wake_fd, &result, &ended, err);
            if (code == KERF_EINTERRUPTED) continue;
            if (code == KERF_OK && ended) code = take_result(run, &result, err);
            if (code != KERF_OK) return code;
        } else {
            struct pollfd bell = {.fd = run->plan->wake_fd, .events = POLLIN};
            poll(&bell, 1, (int)ceil(1000 * fmin(fmax(timeout_s, 0), 1000)));
        }
    }
    show(run);
    return KERF_OK;
}

/* ---- From the beginning to the end ------------------------------------------------------------------------------ */

static void warn_missing(const struct study_run *run) {
    struct kerf_text line = {0};
    kerf_study_missing_write(run->state, &line);
    if (line.length > 0 && !line.failed) run->plan->warn(run->plan->show_context, line.data);
    kerf_text_free(&line);
}

static void warn(const struct study_run *run) {
    const struct kerf_study_request *request = run->request;
    int is_local = study_request_is_local(request);
    const struct kerf_study_record *resumed = run->plan->resumed;
    char line[200], key[KERF_STUDY_KEY_SIZE];
    if (run->plan->warn == NULL) return;
    warn_missing(run);
    study_key(request, key);
    if (resumed && strcmp(key, resumed->key) != 0)
        run->plan->warn(
            run->plan->show_context,
            "the program, a file named in its command, its environment or the machine has changed since the study "
            "began. The earlier measurements count as if they were made now. Without --resume a new study begins");
    if (request->launcher && is_local) {
        snprintf(line, sizeof line, "--objective %s with --launcher measures the launcher's processes on this machine",
                 request->objective);
        run->plan->warn(run->plan->show_context, line);
    }
    if (request->slots > 1 && request->launcher == NULL && kerf_trial_processors(run->runner) == 0) {
        snprintf(line, sizeof line,
                 "%d slots share this machine's processors and disturb each other; fewer slots, or a --launcher, "
                 "measure better",
                 request->slots);
        run->plan->warn(run->plan->show_context, line);
    }
}

/* Resuming a study: what its slots did, and its clock. */
static void take_up(struct study_run *run) {
    const struct kerf_study_record *record = run->plan->resumed;
    for (int32_t i = 0; i < record->num_entries; i++) {
        const struct kerf_tune_observation *seen = &record->entries[i].result.observation;
        study_slots_note(&run->slots, &record->entries[i]);
        run->clock_offset_s = fmax(run->clock_offset_s, seen->end_s);
        run->slots.items[seen->slot].warmups_left -= seen->warmup;
    }
    run->begins_anew = 1;
    for (int32_t i = 0; i < run->slots.count; i++)
        run->slots.items[i].start_failures = 0; /* what was wrong may be mended */
}

static int32_t open_journal(struct study_run *run, struct kerf_error *err) {
    const struct kerf_study_plan *plan = run->plan;
    struct kerf_study_state *state = run->state;
    const char *const *skipped = study_state_skipped(state);
    memcpy(state->id, plan->resumed ? plan->resumed->id : plan->id, sizeof state->id);
    int32_t code = KERF_OK;
    if (plan->resumed)
        code = study_journal_resume(plan->resumed, &run->journal, err);
    else if (plan->keep_journal)
        code = study_journal_create(run->request, state->id, &run->journal, err);
    int is_said = plan->resumed && plan->resumed->skipped;
    if (code == KERF_OK && run->journal && skipped && !is_said)
        code = study_journal_skip(run->journal, state->space, skipped, err);
    if (code == KERF_OK && run->journal && plan->resumed == NULL && run->sizes.count > 0)
        code = study_journal_sizes(run->journal, &run->sizes, err);
    return code;
}

static int32_t prepare(struct study_run *run, struct kerf_error *err) {
    const struct kerf_study_plan *plan = run->plan;
    const struct study_origin origin = {.request = plan->request,
                                        .space = plan->resumed ? plan->resumed->space : NULL,
                                        .record = plan->resumed,
                                        .key = plan->resumed ? plan->resumed->key : NULL,
                                        .prior_log = plan->prior_log,
                                        .skipped = plan->skipped,
                                        .sizes = &run->sizes,
                                        .find_earlier = plan->resumed == NULL && plan->use_earlier};
    if (plan->request->launcher == NULL) /* else programs run on other machines */
        run->sizes.count = kerf_trial_machine_sizes(getenv("KERF_FSROOT"), run->sizes.items);
    int32_t code = study_state_create(&origin, &run->state, err);
    if (code != KERF_OK) return code;
    run->request = run->state->request;
    code = study_request_command(run->request, &run->arena, &run->command, err);
    run->command.warn = plan->warn;
    run->command.warn_context = plan->show_context;
    if (code == KERF_OK) code = study_slots_create(run->request->slots, run->request->warmups, &run->slots, err);
    if (code != KERF_OK) return code;
    if (plan->resumed) take_up(run);
    code = kerf_trial_runner_create(run->state->space, &run->command, &run->runner, err);
    if (code == KERF_OK) code = study_request_limit(run->request, run->runner, err);
    if (code == KERF_OK) warn(run);
    return code == KERF_OK ? open_journal(run, err) : code;
}

static int32_t finish(struct study_run *run, int32_t code, struct kerf_error *err) {
    struct kerf_study_state *state = run->state;
    struct kerf_error why;
    if (code != KERF_OK && state->num_entries > 0) { /* what is known is not lost */
        study_state_stop(state, KERF_STUDY_INTERRUPTED, "%s", err ? err->message : "");
        state->broke_off = 1;
        code = KERF_OK;
    }
    run->runner = kerf_trial_runner_free(run->runner); /* what still runs is ended */
    if (code == KERF_OK) code = study_state_count_disturbed(state, err);
    if (code == KERF_OK && run->journal && !run->journal_failed &&
        study_journal_stop(run->journal, kerf_study_stop_word(state->stop), state->reason, state->elapsed_s,
                           state->loads, &why) != KERF_OK) {
        study_state_stop(state, state->stop, "%s", why.message);
        state->broke_off = 1;
    }
    state->measuring = "";
    return code;
}

int32_t kerf_study_run(const struct kerf_study_plan *plan, struct kerf_study_state **ret_state,
                       struct kerf_error *err) {
    struct study_run run = {.plan = plan, .began_s = clock_ticks_s()};
    int32_t code = prepare(&run, err);
    if (code == KERF_OK) code = finish(&run, work(&run, err), err);
    kerf_trial_runner_free(run.runner);
    study_journal_close(run.journal);
    study_slots_free(&run.slots);
    kerf_text_free(&run.measuring);
    arena_free(&run.arena);
    if (code != KERF_OK)
        kerf_study_state_free(run.state);
    else
        *ret_state = run.state;
    return code;
}
