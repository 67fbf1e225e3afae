/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A study's measurements in their order, and the decision that follows from them. The same request and the same
 * measurements give the same state, whether they come one by one from programs that run or all at once from a journal:
 * that is how a study goes on and how it is replayed.
 */
#include "study/study_state.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "study/study_journal.h"
#include "study/study_request.h"

struct kerf_study_own {
    struct study_origin origin;
    struct kerf_study_request request;     /* the origin's, with the earlier studies */
    struct kerf_study_strings earlier_ids; /* those that were found */
    struct study_earlier earlier;
    struct kerf_tune_space *space; /* NULL: it is the origin's */
    struct kerf_study_entry *entries;
    double *seconds;
    int32_t has_second;
    const char *const *skipped;
    struct study_sizes sizes;
};

const char *kerf_study_stop_word(int32_t stop) {
    static const char *const words[KERF_STUDY_STOPS] = {"confident", "budget", "interrupted", "too_noisy", "failed"};
    assert(0 <= stop && stop < KERF_STUDY_STOPS);
    return words[stop];
}

void study_state_stop(struct kerf_study_state *state, int32_t stop, const char *format, ...) {
    va_list arguments;
    state->stop = stop;
    va_start(arguments, format);
    vsnprintf(state->reason, sizeof state->reason, format, arguments);
    va_end(arguments);
}

const char *const *study_state_skipped(const struct kerf_study_state *state) { return state->own->skipped; }

/* ---- Making one ---------------------------------------------------------------------------------------------- */

static int policy_uses_earlier(const char *name) {
    const struct kerf_tune_policy *policy;
    for (size_t i = 0; (policy = kerf_tune_policy_at(i)); i++)
        if (name == NULL || strcmp(policy->name, name) == 0) return policy->uses_earlier;
    return 0;
}

static int32_t find_earlier(struct kerf_study_state *state, struct kerf_error *err) {
    struct kerf_study_own *own = state->own;
    int32_t code = KERF_OK;
    if (own->origin.find_earlier && !own->has_second && policy_uses_earlier(own->request.policy)) {
        code = study_earlier_ids(&own->request, &own->earlier_ids, err);
        own->request.earlier = own->earlier_ids;
    }
    if (code == KERF_OK)
        code = study_earlier_load(&own->request.earlier, own->origin.key, state->space, own->request.maximize,
                                  &own->earlier, err);
    state->num_studies = own->earlier.studies;
    state->missing = own->earlier.missing;
    return code;
}

/* The decision, which knows of no measurement yet. */
static int32_t make_study(struct kerf_study_state *state, struct kerf_error *err) {
    const struct kerf_study_own *own = state->own;
    struct kerf_tune_question question;
    if (own->skipped && own->origin.space == NULL && state->space->has_unused == KERF_TUNE_GROWS)
        return kerf_error_set(err, KERF_EINVALID, "settings of a grid that is not listed cannot be skipped by number");
    char second[KERF_STUDY_NAME_SIZE];
    int32_t maximize;
    study_request_question(&own->request, state->space, &question);
    if (own->origin.policy) question.policy = own->origin.policy;
    question.earlier = own->earlier.items;
    question.num_earlier = own->earlier.count;
    question.prior_log = own->origin.prior_log;
    int32_t code = kerf_tune_study_create(&question, &state->study, err);
    if (code == KERF_OK) code = kerf_tune_study_sizes(state->study, own->sizes.items, own->sizes.count, err);
    if (code == KERF_OK && kerf_study_request_second(&own->request, second, &maximize))
        code = kerf_tune_study_trade(state->study, maximize, err);
    for (int32_t i = 0; code == KERF_OK && own->skipped && i < state->space->num_settings; i++)
        if (own->skipped[i]) kerf_tune_study_skip(state->study, i, own->skipped[i]);
    return code;
}

static int32_t fill(struct kerf_study_state *state, const struct study_origin *origin, struct kerf_error *err) {
    struct kerf_study_own *own = state->own;
    const struct kerf_study_record *record = origin->record;
    own->origin = *origin;
    own->request = *origin->request;
    own->skipped = record && record->skipped ? record->skipped : origin->skipped;
    if (record)
        own->sizes = *study_record_sizes(record);
    else if (origin->sizes)
        own->sizes = *origin->sizes;
    char second[KERF_STUDY_NAME_SIZE];
    int32_t maximize;
    own->has_second = kerf_study_request_second(&own->request, second, &maximize);
    state->request = &own->request;
    state->measuring = "";
    int32_t code = KERF_OK;
    if (origin->space == NULL) code = kerf_study_request_space(origin->request, &own->space, err);
    state->space = origin->space ? origin->space : own->space;
    if (code == KERF_OK) code = study_key_check(origin->request, err);
    if (code == KERF_OK) code = find_earlier(state, err);
    if (code == KERF_OK) code = make_study(state, err);
    for (int32_t i = 0; code == KERF_OK && record && i < record->num_entries; i++) {
        code = study_state_add(state, &record->entries[i], record->seconds ? record->seconds[i] : NAN, err);
        if (code != KERF_OK && err) error_set_file(err, record->path);
    }
    return code;
}

int32_t study_state_create(const struct study_origin *origin, struct kerf_study_state **ret_state,
                           struct kerf_error *err) {
    struct kerf_study_state *state = calloc(1, sizeof *state);
    if (state) state->own = calloc(1, sizeof *state->own);
    int32_t code = state && state->own ? fill(state, origin, err) : error_no_memory(err, "a study");
    if (code != KERF_OK) {
        kerf_study_state_free(state);
        return code;
    }
    *ret_state = state;
    return KERF_OK;
}

const char *kerf_study_reason(const struct kerf_study_state *state, const struct kerf_tune_estimate *estimates,
                              int32_t setting) {
    for (int32_t i = state->num_entries; i-- > 0;) {
        const struct kerf_trial_result *result = &state->entries[i].result;
        if (result->observation.setting != setting || result->observation.outcome != KERF_TUNE_FAILED) continue;
        if (result->observation.failure == KERF_TUNE_FAILURE_LIMIT) return result->message;
        break;
    }
    return estimates[setting].reason;
}

void kerf_study_missing_write(const struct kerf_study_state *state, struct kerf_text *out) {
    const struct kerf_study_strings *missing = &state->missing;
    if (missing->count == 0) return;
    kerf_text_printf(out, "%d earlier stud%s of this program %s gone or cannot be read (", missing->count,
                     missing->count == 1 ? "y" : "ies", missing->count == 1 ? "is" : "are");
    for (int32_t i = 0; i < missing->count; i++) kerf_text_printf(out, "%s%s", i ? ", " : "", missing->items[i]);
    kerf_text_add(out, "): the answer is without these measurements");
}

struct kerf_study_state *kerf_study_state_free(struct kerf_study_state *state) {
    if (state == NULL) return NULL;
    kerf_tune_study_free(state->study);
    if (state->own) {
        study_earlier_free(&state->own->earlier);
        kerf_study_ids_free(&state->own->earlier_ids);
        kerf_tune_space_free(state->own->space);
        free(state->own->entries);
        free(state->own->seconds);
    }
    free(state->own);
    free(state);
    return NULL;
}

/* ---- Measurements -------------------------------------------------------------------------------------------- */

/* Whether this slot's last measurement but one was disturbed: then the last one repeats it. */
static int was_disturbed(const struct kerf_study_state *state, int32_t slot) {
    for (int32_t i = state->num_entries - 2; i >= 0; i--)
        if (state->entries[i].result.observation.slot == slot) return state->entries[i].result.observation.disturbed;
    return 0;
}

static int32_t observe(struct kerf_study_state *state, const struct kerf_tune_observation *seen, double second,
                       struct kerf_error *err) {
    return state->own->has_second ? kerf_tune_study_observe_both(state->study, seen, second, err)
                                  : kerf_tune_study_observe(state->study, seen, err);
}

static int keep_second(struct kerf_study_state *state, double second) {
    struct kerf_study_own *own = state->own;
    if (!own->has_second) return 1;
    double *more = realloc(own->seconds, ((size_t)state->num_entries + 1) * sizeof *more);
    if (more == NULL) return 0;
    state->seconds = own->seconds = more;
    more[state->num_entries] = second;
    return 1;
}

int32_t study_state_add(struct kerf_study_state *state, const struct kerf_study_entry *entry, double second,
                        struct kerf_error *err) {
    assert(state && state->own);
    struct kerf_study_own *own = state->own;
    const struct kerf_tune_observation *seen = &entry->result.observation;
    struct kerf_study_entry *more = realloc(own->entries, ((size_t)state->num_entries + 1) * sizeof *more);
    if (more == NULL || !keep_second(state, second)) {
        if (more) state->entries = own->entries = more;
        return error_no_memory(err, "a study");
    }
    state->entries = own->entries = more;
    more[state->num_entries++] = *entry;
    state->remeasured += was_disturbed(state, seen->slot);
    state->num_disturbed += seen->disturbed;
    assert(state->remeasured <= state->num_disturbed);
    return observe(state, seen, second, err);
}

int32_t study_state_count_disturbed(struct kerf_study_state *state, struct kerf_error *err) {
    int32_t disturbed = 0;
    for (int32_t i = 0; i < state->num_entries; i++) {
        const struct kerf_tune_observation *seen = &state->entries[i].result.observation;
        if (seen->warmup || seen->outcome == KERF_TUNE_FAILED) continue;
        if (!seen->disturbed) return KERF_OK;
        disturbed++;
    }
    if (disturbed == 0) return KERF_OK;
    state->study = kerf_tune_study_free(state->study);
    int32_t code = make_study(state, err);
    for (int32_t i = 0; i < state->num_entries && code == KERF_OK; i++) {
        struct kerf_tune_observation seen = state->entries[i].result.observation;
        seen.disturbed = 0;
        code = observe(state, &seen, state->seconds ? state->seconds[i] : NAN, err);
    }
    state->disturbed_counts = 1;
    if (state->stop == KERF_STUDY_NOTHING) state->stop = KERF_STUDY_TOO_NOISY; /* there is an answer, then */
    return code;
}

/* ---- Replay -------------------------------------------------------------------------------------------------- */

int32_t kerf_study_replay(const struct kerf_study_record *record, const char *policy,
                          struct kerf_study_state **ret_state, struct kerf_error *err) {
    const struct study_origin origin = {
        .request = &record->request, .space = record->space, .record = record, .key = record->key, .policy = policy};
    struct kerf_study_state *state;
    int32_t code = study_state_create(&origin, &state, err);
    if (code != KERF_OK) return code;
    code = study_state_count_disturbed(state, err);
    memcpy(state->id, record->id, sizeof state->id);
    state->elapsed_s = record->elapsed_s;
    state->loads = record->loads;
    state->stop = KERF_STUDY_INTERRUPTED;
    for (int32_t stop = 0; stop < KERF_STUDY_STOPS; stop++)
        if (strcmp(kerf_study_stop_word(stop), record->stopped) == 0)
            study_state_stop(state, stop, "%s", record->reason);
    if (code != KERF_OK)
        kerf_study_state_free(state);
    else
        *ret_state = state;
    return code;
}

/* The entries in the order in which they began; they are in the order in which they ended. */
static int compare_starts(const void *a, const void *b, void *context) {
    const struct kerf_study_record *record = *(const struct kerf_study_record *const *)context;
    const int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    double left_s = record->entries[left].result.observation.start_s,
           right_s = record->entries[right].result.observation.start_s;
    return left_s != right_s ? (left_s > right_s) - (left_s < right_s) : (left > right) - (left < right);
}

/* Adds the entries that had ended when entry `next` began; of one slot all before it. */
static int32_t add_ended(const struct kerf_study_record *record, int32_t next, struct kerf_study_state *state,
                         struct kerf_error *err) {
    int32_t code = KERF_OK;
    for (int32_t i = state->num_entries; code == KERF_OK && i < record->num_entries; i++) {
        int is_later = record->request.slots == 1
                           ? i >= next
                           : next < record->num_entries && record->entries[i].result.observation.end_s >
                                                               record->entries[next].result.observation.start_s;
        if (is_later) break;
        code = study_state_add(state, &record->entries[i], record->seconds ? record->seconds[i] : NAN, err);
    }
    return code;
}

/* Each decision with what was known then, while the other slots' trials ran. */
static int32_t decide_again(const struct kerf_study_record *record, struct kerf_study_state *state,
                            struct kerf_tune_decision *ret_decisions, struct kerf_error *err) {
    int32_t count = record->num_entries, slots = record->request.slots;
    int32_t running[KERF_STUDY_SLOTS_MAX], pending[KERF_STUDY_SLOTS_MAX], code = KERF_OK;
    int32_t *order = calloc((size_t)count + 1, sizeof *order);
    if (order == NULL) return error_no_memory(err, "a replay");
    for (int32_t i = 0; i <= count; i++) order[i] = i;
    for (int32_t s = 0; s < slots; s++) running[s] = -1;
    if (slots > 1) qsort_r(order, (size_t)count, sizeof *order, compare_starts, &record);
    for (int32_t i = 0; code == KERF_OK && i <= count; i++) {
        int32_t next = order[i], slot = next < count ? record->entries[next].result.observation.slot : 0, num = 0;
        code = add_ended(record, next, state, err);
        for (int32_t s = 0; s < slots; s++)
            if (running[s] >= state->num_entries)
                pending[num++] = record->entries[running[s]].result.observation.setting;
        if (code == KERF_OK) code = kerf_tune_study_next(state->study, pending, num, slot, &ret_decisions[next], err);
        running[slot] = next;
    }
    free(order);
    return code;
}

int32_t kerf_study_decisions(const struct kerf_study_record *record, const char *policy,
                             struct kerf_tune_decision *ret_decisions, struct kerf_error *err) {
    struct kerf_study_request request = record->request;
    const struct study_origin origin = {
        .request = &request, .space = record->space, .key = record->key, .policy = policy, .skipped = record->skipped};
    struct kerf_study_state *state = NULL;
    if (request.max_observations && request.max_observations < record->num_entries)
        request.max_observations = record->num_entries; /* it was resumed with more */
    int32_t code = study_state_create(&origin, &state, err);
    if (code != KERF_OK) return code;
    assert(state);
    code = decide_again(record, state, ret_decisions, err);
    kerf_study_state_free(state);
    return code;
}
