/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study_run.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "study/study_earlier.h"

enum {
    DISTURBED_MAX = 6,     /* in a row, with longer and longer waits between them: the machine is too noisy */
    HOPELESS_FAILURES = 5, /* for each slot, before anything was measured: the program does not run at all */
    START_FAILURES = 5,    /* of a slot in a row, to load or to be started at all: it runs there no more */
    NEVER_READY = 2, /* load time-outs for each slot, before anything was measured: it does not speak the protocol */
    ANCHOR_TRIES = 2 /* of a slot: where the anchor fails there twice it goes on without */
};
static const double PATIENCE_S = 31; /* 1, 2, 4, 8, 16 */

/* A place that runs trials, and what it is about. */
struct slot {
    int32_t busy, setting, warmup;
    int32_t warmups_left, anchor_tries;
    int32_t anchored;       /* the anchor was measured there */
    int32_t again;          /* 1: the trial was disturbed, and is to be made once more */
    int32_t disturbed;      /* times in a row */
    int32_t start_failures; /* in a row, to load or to be started at all */
    double not_before_s;
    double limit;
    char why[200];
};

struct study_run {
    struct study_state state;
    const struct study_plan *plan;
    const char *const *skipped;     /* [num_settings] or NULL: as the journal has it, else as the plan */
    struct study_request request;   /* the plan's, with the earlier studies */
    struct string_list earlier_ids; /* owned */
    struct kerf_tune_space *space;
    struct study_earlier earlier;
    struct kerf_trial_command command; /* as long as the runner */
    struct kerf_trial_runner *runner;
    struct study_journal *journal;
    int32_t journal_failed; /* its last line may be half there */
    struct study_entry *entries;
    struct slot *slots;
    struct timespec began;
    double elapsed_before_s;
    double clock_offset_s; /* from the runner's clock to the study's */
    int32_t begins_anew;   /* no time was told since the study was taken up */
    int64_t loads_before;
    int32_t decided; /* the decision says stop, what runs may end */
    int32_t anchor;  /* what every slot measures first, so that slots can be compared; -1: not chosen */
    int32_t anchors; /* measured */
    int32_t measured;
    int32_t failed;   /* but for want of memory */
    double longest_s; /* of the trials that ended by themselves */
    struct kerf_text measuring;
};

const char *study_stop_word(int32_t stop) {
    static const char *const words[] = {"confident", "budget", "interrupted", "too_noisy", "failed"};
    return words[stop];
}

static int32_t no_memory(struct kerf_error *err) {
    return kerf_error_set(err, KERF_ENOMEM, "not enough memory for a study");
}

static double seconds_since(const struct timespec *then) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static double run_s(const struct study_run *run) { return seconds_since(&run->began); }

static void stop(struct study_run *run, int32_t why, const char *reason) {
    run->state.stop = why;
    snprintf(run->state.reason, sizeof run->state.reason, "%.399s", reason);
}

/* ---- What was seen ------------------------------------------------------------------------------------------ */

static int32_t keep_entry(struct study_run *run, const struct study_entry *entry, struct kerf_error *err) {
    struct study_entry *more = realloc(run->entries, ((size_t)run->state.num_entries + 1) * sizeof *more);
    if (more == NULL) return no_memory(err);
    run->state.entries = run->entries = more;
    run->entries[run->state.num_entries++] = *entry;
    return KERF_OK;
}

/* Whether the slots differ is known by the anchor: the default, or the first setting that was decided. One that fails
 * before it was measured anywhere is none. What says nothing of a setting says nothing of this one, either. */
static void note_anchor(struct study_run *run, struct slot *slot, const struct kerf_tune_observation *seen) {
    if (seen->warmup || seen->disturbed) return;
    if (run->anchor < 0 && seen->outcome == KERF_TUNE_VALUE) run->anchor = seen->setting;
    if (seen->setting != run->anchor || slot->anchored) return;
    if (seen->outcome == KERF_TUNE_VALUE)
        run->anchors += slot->anchored = 1;
    else if (run->anchors == 0)
        run->anchor = -1;
    else
        slot->anchored = ++slot->anchor_tries >= ANCHOR_TRIES;
}

static void note_start(struct slot *slot, const struct kerf_trial_result *result) {
    const struct kerf_tune_observation *seen = &result->observation;
    int is_failed = seen->outcome == KERF_TUNE_FAILED;
    int is_start = seen->failure == KERF_TUNE_FAILURE_LOAD || isnan(result->cpu_s) || result->is_of_no_setting;
    slot->start_failures = is_failed && is_start ? slot->start_failures + 1 : 0;
}

/* Whether what the slot did before its last entry was disturbed: then that was it, made again. */
static int was_disturbed(const struct study_run *run, int32_t slot) {
    for (int32_t i = run->state.num_entries - 2; i >= 0; i--)
        if (run->entries[i].result.observation.slot == slot) return run->entries[i].result.observation.disturbed;
    return 0;
}

/* Counts it and tells the decision. */
static int32_t learn(struct study_run *run, const struct study_entry *entry, struct kerf_error *err) {
    const struct kerf_tune_observation *seen = &entry->result.observation;
    int32_t code = keep_entry(run, entry, err);
    if (code == KERF_OK) code = kerf_tune_study_observe(run->state.study, seen, err);
    run->state.remeasured += was_disturbed(run, seen->slot);
    run->state.num_disturbed += seen->disturbed;
    if (run->slots) note_anchor(run, &run->slots[seen->slot], seen);
    if (run->slots) note_start(&run->slots[seen->slot], &entry->result);
    if (seen->outcome == KERF_TUNE_FAILED) {
        run->failed += seen->failure != KERF_TUNE_FAILURE_MEMORY;
    } else {
        run->measured++;
        run->longest_s = fmax(run->longest_s, entry->result.wall_s);
    }
    return code;
}

/* Before what was disturbed so many times in a row is measured again: a neighbour may go away. All waits together are
 * the patience, and each is twice the one before. */
static double wait_s(const struct study_run *run, int32_t times) {
    double all_s = run->plan->patience_s > 0 ? run->plan->patience_s : PATIENCE_S;
    return all_s * ldexp(1, times - 1) / (ldexp(1, DISTURBED_MAX - 1) - 1);
}

static void note_disturbance(struct study_run *run, struct slot *slot, struct study_entry *entry) {
    char reason[200];
    struct kerf_tune_observation *seen = &entry->result.observation;
    slot->again = 0;
    if (run->request.ignore_interference || seen->outcome == KERF_TUNE_FAILED || seen->warmup ||
        !kerf_trial_disturbed(&entry->result, reason, sizeof reason)) {
        slot->disturbed = 0;
        return;
    }
    seen->disturbed = 1;
    snprintf(entry->result.message, sizeof entry->result.message, "%s", reason);
    slot->again = 1;
    slot->not_before_s = run_s(run) + wait_s(run, ++slot->disturbed);
    if (slot->disturbed >= DISTURBED_MAX) {
        stop(run, STUDY_TOO_NOISY, "");
        snprintf(run->state.reason, sizeof run->state.reason,
                 "%d measurements in a row were disturbed: %s. --interference ignore counts them all the same",
                 slot->disturbed, reason);
        run->decided = 1;
    }
}

/* Without its journal a study ends, and still tells what it knows. */
static void keep_in_journal(struct study_run *run, const struct study_entry *entry) {
    struct kerf_error why;
    if (run->journal == NULL || study_journal_add(run->journal, run->space, entry, &why) == KERF_OK) return;
    stop(run, STUDY_INTERRUPTED, why.message);
    run->journal_failed = run->state.broke_off = run->decided = 1;
}

/* The first time of a study that goes on: it lies behind the last one by itself where it is of a worker's clock that
 * went on, else behind it with this offset. */
static void begin_clock(struct study_run *run, const struct kerf_tune_observation *first) {
    run->begins_anew = 0;
    if (run->request.slots == 1 && strcmp(run->request.protocol, "worker") == 0 &&
        first->start_s >= run->clock_offset_s)
        run->clock_offset_s = 0;
}

static int is_retired(const struct slot *slot) { return slot->start_failures >= START_FAILURES; }

static int is_hopeless(const struct study_run *run, const struct kerf_trial_result *last) {
    int32_t start_failures = 0, retired = 0, slots = run->request.slots;
    for (int32_t i = 0; i < slots; i++) {
        start_failures += run->slots[i].start_failures;
        retired += is_retired(&run->slots[i]);
    }
    int is_never_ready = last->observation.failure == KERF_TUNE_FAILURE_LOAD && start_failures >= NEVER_READY * slots;
    if (run->measured == 0 && (run->failed >= HOPELESS_FAILURES * slots || is_never_ready)) return 1;
    return retired == slots;
}

static int32_t take_result(struct study_run *run, const struct kerf_trial_result *result, struct kerf_error *err) {
    struct slot *slot = &run->slots[result->observation.slot];
    struct study_entry entry = {.result = *result};
    slot->busy = 0;
    snprintf(entry.why, sizeof entry.why, "%s", slot->why);
    entry.loads = run->loads_before + kerf_trial_loads(run->runner);
    entry.result.observation.warmup = slot->warmup || result->is_of_no_setting;
    if (run->begins_anew) begin_clock(run, &entry.result.observation);
    entry.result.observation.start_s += run->clock_offset_s;
    entry.result.observation.end_s += run->clock_offset_s;
    note_disturbance(run, slot, &entry);
    keep_in_journal(run, &entry);
    int32_t code = learn(run, &entry, err);
    if (code != KERF_OK) return code;
    if (is_hopeless(run, result)) {
        stop(run, run->measured ? STUDY_BUDGET : STUDY_NOTHING, "");
        snprintf(run->state.reason, sizeof run->state.reason, "the last %d trials%s failed: %s",
                 run->measured ? START_FAILURES : run->state.num_entries,
                 run->measured && run->request.slots > 1 ? " of every slot" : "", result->message);
        run->decided = 1;
    }
    return KERF_OK;
}

/* ---- What is next ------------------------------------------------------------------------------------------- */

/* The decision has come to its end. */
static int32_t conclude(struct study_run *run, const struct kerf_tune_decision *decision, struct kerf_error *err) {
    struct kerf_tune_answer answer;
    int32_t code = kerf_tune_study_answer(run->state.study, &answer, err);
    if (code != KERF_OK) return code;
    int64_t most = run->request.max_observations;
    int is_spent = most > 0 && run->state.num_entries - run->state.num_disturbed >= most;
    int is_sure = answer.best >= 0 && answer.settings[answer.best].probability_within >= run->request.confidence;
    int32_t why = answer.best < 0                                      ? STUDY_NOTHING
                  : decision->stop == KERF_TUNE_CONFIDENT || is_sure   ? STUDY_CONFIDENT
                  : decision->stop == KERF_TUNE_TOO_NOISY && !is_spent ? STUDY_TOO_NOISY
                                                                       : STUDY_BUDGET;
    stop(run, why, why == STUDY_CONFIDENT && decision->stop != KERF_TUNE_CONFIDENT ? answer.reason : decision->reason);
    run->decided = 1;
    if (run->state.num_entries == 0) return KERF_OK;
    const struct kerf_trial_result *last = &run->entries[run->state.num_entries - 1].result;
    if (last->observation.outcome != KERF_TUNE_FAILED || last->message[0] == 0) return KERF_OK;
    if (why == STUDY_NOTHING)
        snprintf(run->state.reason, sizeof run->state.reason, "%d trial%s failed, the last one: %s", answer.failed,
                 answer.failed == 1 ? "" : "s", last->message);
    else if (answer.open == 0)
        snprintf(run->state.reason, sizeof run->state.reason, "%.170s; the last trial failed: %s", decision->reason,
                 last->message);
    return KERF_OK;
}

/* Of several slots each measures the anchor before what was decided. */
static void begin_anchor(struct study_run *run, int32_t index, struct kerf_tune_decision *decision) {
    if (run->request.slots == 1 || run->slots[index].anchored) return;
    int32_t first = run->space->default_setting;
    int is_first = run->state.num_entries == 0 && first >= 0 && !(run->skipped && run->skipped[first]);
    if (run->anchor < 0) run->anchor = is_first ? first : decision->setting;
    decision->setting = run->anchor;
    decision->limit = 0;
    snprintf(decision->reason, sizeof decision->reason, STUDY_ANCHOR_REASON "%d", index);
}

/* What to do on a slot while others measure; *ret_waits is 1 when these have to tell first. */
static int32_t ask(struct study_run *run, int32_t index, struct kerf_tune_decision *ret_decision, int *ret_waits,
                   struct kerf_error *err) {
    struct kerf_tune_study *study = run->state.study;
    int32_t *pending = calloc((size_t)run->request.slots, sizeof *pending), num_pending = 0, code = KERF_OK;
    if (pending == NULL) return no_memory(err);
    for (int32_t i = 0; i < run->request.slots; i++)
        if (run->slots[i].busy || run->slots[i].again) pending[num_pending++] = run->slots[i].setting;
    int64_t most = run->request.max_observations,
            begun = run->state.num_entries - run->state.num_disturbed + num_pending;
    *ret_waits = most > 0 && num_pending > 0 && begun >= most;
    if (!*ret_waits) code = kerf_tune_study_next(study, pending, num_pending, index, ret_decision, err);
    free(pending);
    if (code != KERF_OK || *ret_waits || ret_decision->action != KERF_TUNE_STOP || num_pending == 0) return code;
    /* it counted on what is pending: only what was seen ends a study */
    if (ret_decision->stop == KERF_TUNE_CONFIDENT)
        code = kerf_tune_study_next(study, NULL, 0, index, ret_decision, err);
    *ret_waits = ret_decision->action != KERF_TUNE_STOP || ret_decision->stop != KERF_TUNE_CONFIDENT;
    return code;
}

static int32_t decide(struct study_run *run, int32_t index, struct kerf_error *err) {
    struct slot *slot = &run->slots[index];
    struct kerf_tune_decision decision;
    int waits = 0;
    int32_t code = ask(run, index, &decision, &waits, err);
    if (code != KERF_OK || waits) return code;
    if (decision.action == KERF_TUNE_STOP) return conclude(run, &decision, err);
    begin_anchor(run, index, &decision);
    slot->setting = decision.setting;
    slot->limit = decision.limit;
    slot->warmup = slot->warmups_left > 0;
    if (slot->warmup) {
        slot->limit = 0;
        slot->warmups_left--;
    }
    snprintf(slot->why, sizeof slot->why, "%s", slot->warmup ? "warm-up" : decision.reason);
    slot->again = 1; /* to be started */
    return KERF_OK;
}

static void tell_measuring(struct study_run *run) {
    kerf_text_clear(&run->measuring);
    for (int32_t i = 0; i < run->request.slots; i++) {
        const struct slot *slot = &run->slots[i];
        if (!slot->busy && !slot->again) continue;
        if (run->measuring.length) kerf_text_add(&run->measuring, "; ");
        kerf_tune_setting_write(run->space, slot->setting, &run->measuring);
        if (!slot->busy)
            kerf_text_add(&run->measuring, " waits for a quiet machine");
        else if (slot->why[0])
            kerf_text_printf(&run->measuring, " (%s)", slot->why);
    }
    run->state.measuring = run->measuring.data ? run->measuring.data : "";
}

/* Without --trial-timeout: what takes ten times as long as anything before it hangs. */
static double usual_timeout_s(const struct study_run *run) {
    static const double first_s = 3600, least_s = 60;
    return run->longest_s > 0 ? fmax(10 * run->longest_s, least_s) : first_s;
}

/* Puts free slots to work. */
static int32_t fill_slots(struct study_run *run, struct kerf_error *err) {
    for (int32_t i = 0; i < run->request.slots && !run->decided; i++) {
        struct slot *slot = &run->slots[i];
        if (slot->busy || is_retired(slot)) continue;
        int32_t code = slot->again ? KERF_OK : decide(run, i, err);
        if (code != KERF_OK) return code;
        if (run->decided || !slot->again || slot->not_before_s > run_s(run)) continue;
        if (run->request.trial_timeout_s == 0) kerf_trial_timeout(run->runner, usual_timeout_s(run));
        code = kerf_trial_start(run->runner, i, run->state.num_entries + i + 1, slot->setting, slot->limit, err);
        if (code != KERF_OK) return code;
        slot->busy = 1;
        slot->again = 0;
    }
    return KERF_OK;
}

static int num_busy(const struct study_run *run) {
    int busy = 0;
    for (int32_t i = 0; i < run->request.slots; i++) busy += run->slots[i].busy;
    return busy;
}

/* Until when nothing can happen but the end of a trial: the budget's end, a slot that may try again, the next second
 * of a live table. Negative: for ever. */
static double sleep_s(const struct study_run *run) {
    double until = INFINITY, now = run_s(run);
    if (run->plan->budget_s > 0) until = run->plan->budget_s;
    if (run->plan->show) until = fmin(until, now + 1);
    for (int32_t i = 0; i < run->request.slots; i++)
        if (run->slots[i].again) until = fmin(until, run->slots[i].not_before_s);
    return isfinite(until) ? fmax(until - now, 0) : -1;
}

static void show(struct study_run *run) {
    run->state.run_s = run_s(run);
    run->state.elapsed_s = run->elapsed_before_s + run->state.run_s;
    if (run->runner) run->state.loads = run->loads_before + kerf_trial_loads(run->runner);
    if (run->plan->show == NULL) return;
    tell_measuring(run);
    run->plan->show(run->plan->show_context, &run->state);
}

static int is_over(struct study_run *run) {
    if (run->plan->interrupted && run->plan->interrupted())
        stop(run, STUDY_INTERRUPTED, "it was interrupted");
    else if (run->decided)
        return 1;
    else if (run->plan->budget_s > 0 && run_s(run) >= run->plan->budget_s)
        stop(run, STUDY_BUDGET, "its time is spent");
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
        if (num_busy(run) > 0) {
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

/* ---- From the beginning to the end ---------------------------------------------------------------------------- */

static int32_t make_study(struct study_run *run, const char *policy, struct kerf_error *err) {
    struct kerf_tune_question question;
    study_request_question(&run->request, run->space, &question);
    if (policy) question.policy = policy;
    question.earlier = run->earlier.items;
    question.num_earlier = run->earlier.count;
    question.prior_log = run->plan ? run->plan->prior_log : NULL;
    return kerf_tune_study_create(&question, &run->state.study, err);
}

/* Leaves out what must not be measured. */
static void skip(struct study_run *run, const struct study_record *record) {
    run->skipped = record && record->skipped ? record->skipped : run->plan ? run->plan->skipped : NULL;
    for (int32_t i = 0; run->skipped && i < run->space->num_settings; i++)
        if (run->skipped[i]) kerf_tune_study_skip(run->state.study, i, run->skipped[i]);
}

static int32_t learn_record(struct study_run *run, const struct study_record *record, struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int32_t i = 0; i < record->num_entries && code == KERF_OK; i++) {
        code = learn(run, &record->entries[i], err);
        const struct kerf_tune_observation *seen = &record->entries[i].result.observation;
        run->clock_offset_s = fmax(run->clock_offset_s, seen->end_s);
        if (run->slots) run->slots[seen->slot].warmups_left -= seen->warmup;
    }
    run->begins_anew = 1;
    for (int32_t i = 0; run->slots && i < run->request.slots; i++)
        run->slots[i].start_failures = 0; /* what was wrong may be mended */
    run->elapsed_before_s = record->elapsed_s;
    run->loads_before = record->loads;
    return code;
}

/* Where nothing was measured but on a busy machine, that is what is known. */
static int32_t count_disturbed(struct study_run *run, const char *policy, const struct study_record *record,
                               struct kerf_error *err) {
    int32_t disturbed = 0;
    for (int32_t i = 0; i < run->state.num_entries; i++) {
        const struct kerf_tune_observation *seen = &run->entries[i].result.observation;
        if (seen->warmup || seen->outcome == KERF_TUNE_FAILED) continue;
        if (!seen->disturbed) return KERF_OK;
        disturbed++;
    }
    if (disturbed == 0) return KERF_OK;
    run->state.study = kerf_tune_study_free(run->state.study);
    int32_t code = make_study(run, policy, err);
    if (code == KERF_OK) skip(run, record);
    for (int32_t i = 0; i < run->state.num_entries && code == KERF_OK; i++) {
        struct kerf_tune_observation seen = run->entries[i].result.observation;
        seen.disturbed = 0;
        code = kerf_tune_study_observe(run->state.study, &seen, err);
    }
    run->state.disturbed_counts = 1;
    if (run->state.stop == STUDY_NOTHING) run->state.stop = STUDY_TOO_NOISY; /* there is an answer, then */
    return code;
}

static int policy_uses_earlier(const char *name) {
    const struct kerf_tune_policy *policy;
    for (size_t i = 0; (policy = kerf_tune_policy_at(i)); i++)
        if (name == NULL || strcmp(policy->name, name) == 0) return policy->uses_earlier;
    return 0;
}

static int32_t find_earlier(struct study_run *run, struct kerf_error *err) {
    int32_t code = KERF_OK;
    int is_new = run->plan && run->plan->resumed == NULL;
    if (is_new && run->plan->use_earlier && policy_uses_earlier(run->request.policy)) {
        code = study_earlier_ids(&run->request, &run->earlier_ids, err);
        run->request.earlier = run->earlier_ids;
    }
    if (code == KERF_OK) code = study_earlier_load(&run->request.earlier, run->space, &run->earlier, err);
    run->state.num_earlier = run->earlier.count;
    run->state.num_studies = run->earlier.studies;
    return code;
}

static int32_t open_journal(struct study_run *run, struct kerf_error *err) {
    const struct study_plan *plan = run->plan;
    memcpy(run->state.id, plan->resumed ? plan->resumed->id : plan->id, sizeof run->state.id);
    int32_t code = plan->resumed        ? study_journal_resume(plan->resumed, &run->journal, err)
                   : plan->keep_journal ? study_journal_create(&run->request, run->state.id, &run->journal, err)
                                        : KERF_OK;
    int is_said = plan->resumed && plan->resumed->skipped;
    if (code == KERF_OK && run->journal && run->skipped && !is_said)
        code = study_journal_skip(run->journal, run->space, run->skipped, err);
    return code;
}

static int32_t begin(struct study_run *run, const struct study_request *request, struct kerf_error *err) {
    run->request = *request;
    run->state.request = &run->request;
    run->state.measuring = "";
    run->anchor = -1;
    int32_t code = study_request_space(request, &run->space, err);
    run->state.space = run->space;
    return code == KERF_OK ? find_earlier(run, err) : code;
}

static void warn(const struct study_run *run) {
    const struct study_request *request = &run->request;
    int is_local = strcmp(request->objective, "cpu") == 0 || strcmp(request->objective, "memory") == 0;
    const struct study_record *resumed = run->plan->resumed;
    char line[200], key[STUDY_KEY_SIZE];
    if (run->plan->warn == NULL) return;
    study_request_key(request, key);
    if (resumed && strcmp(key, resumed->key) != 0)
        run->plan->warn(
            run->plan->show_context,
            "the program, a file that it is given or the machine has changed since the study began: what was "
            "measured then counts as if measured now. Without --resume a study begins anew");
    if (request->launcher && is_local) {
        snprintf(line, sizeof line,
                 "--objective %s with --launcher is that of the launcher's processes on this machine",
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

static int32_t prepare(struct study_run *run, struct kerf_error *err) {
    const struct study_plan *plan = run->plan;
    int32_t code = begin(run, plan->request, err);
    if (code == KERF_OK) code = study_request_command(&run->request, &run->command, err);
    run->command.warn = plan->warn;
    run->command.warn_context = plan->show_context;
    if (code == KERF_OK) code = make_study(run, NULL, err);
    if (code != KERF_OK) return code;
    run->slots = calloc((size_t)run->request.slots, sizeof *run->slots);
    if (run->slots == NULL) return no_memory(err);
    for (int32_t i = 0; i < run->request.slots; i++) run->slots[i].warmups_left = run->request.warmups;
    skip(run, plan->resumed);
    if (plan->resumed) code = learn_record(run, plan->resumed, err);
    if (code == KERF_OK) code = kerf_trial_runner_create(run->space, &run->command, &run->runner, err);
    if (code == KERF_OK) warn(run);
    return code == KERF_OK ? open_journal(run, err) : code;
}

int32_t study_run(const struct study_plan *plan, struct study_run **ret_run, struct kerf_error *err) {
    struct study_run *run = calloc(1, sizeof *run);
    if (run == NULL) return no_memory(err);
    run->plan = plan;
    clock_gettime(CLOCK_MONOTONIC, &run->began);
    int32_t code = prepare(run, err);
    int is_begun = code == KERF_OK;
    if (is_begun) code = work(run, err);
    if (is_begun && code != KERF_OK && run->state.num_entries > 0) { /* what is known is not lost */
        stop(run, STUDY_INTERRUPTED, err->message);
        run->state.broke_off = 1;
        code = KERF_OK;
    }
    run->runner = kerf_trial_runner_free(run->runner); /* what still runs is ended */
    if (code == KERF_OK) code = count_disturbed(run, NULL, plan->resumed, err);
    if (code == KERF_OK && run->journal && !run->journal_failed) {
        struct kerf_error why;
        if (study_journal_stop(run->journal, study_stop_word(run->state.stop), run->state.reason, run->state.elapsed_s,
                               run->state.loads, &why) != KERF_OK)
            run->state.broke_off = 1;
    }
    run->journal = study_journal_close(run->journal);
    run->plan = NULL;
    if (code != KERF_OK)
        study_run_free(run);
    else
        *ret_run = run;
    return code;
}

int32_t study_replay(const struct study_record *record, const char *policy, struct study_run **ret_run,
                     struct kerf_error *err) {
    struct study_run *run = calloc(1, sizeof *run);
    if (run == NULL) return no_memory(err);
    int32_t code = begin(run, &record->request, err);
    if (code == KERF_OK) code = make_study(run, policy, err);
    if (code == KERF_OK) skip(run, record);
    if (code == KERF_OK) code = learn_record(run, record, err);
    if (code == KERF_OK) code = count_disturbed(run, policy, record, err);
    memcpy(run->state.id, record->id, sizeof run->state.id);
    run->state.elapsed_s = record->elapsed_s;
    run->state.loads = record->loads;
    run->state.stop = STUDY_INTERRUPTED;
    for (int32_t stop_code = 0; stop_code <= STUDY_NOTHING; stop_code++)
        if (strcmp(study_stop_word(stop_code), record->stopped) == 0) stop(run, stop_code, record->reason);
    if (code != KERF_OK)
        study_run_free(run);
    else
        *ret_run = run;
    return code;
}

struct study_state *study_run_state(struct study_run *run) {
    return &run->state;
}

struct study_run *study_run_free(struct study_run *run) {
    if (run == NULL) return NULL;
    kerf_trial_runner_free(run->runner);
    study_journal_close(run->journal);
    kerf_tune_study_free(run->state.study);
    study_earlier_free(&run->earlier);
    study_ids_free(&run->earlier_ids);
    kerf_tune_space_free(run->space);
    kerf_text_free(&run->measuring);
    free(run->entries);
    free(run->slots);
    free(run);
    return NULL;
}
