/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study_state.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"

enum {
    HOPELESS_FAILURES = 5, /* for each slot, before anything was measured: the program does not run at all */
    NEVER_READY = 2, /* load time-outs for each slot, before anything was measured: it does not speak the protocol */
    ANCHOR_TRIES = 2 /* of a slot: where the anchor fails there twice it goes on without */
};
static const double PATIENCE_S = 31; /* 1, 2, 4, 8, 16 */

int32_t study_slots_create(int32_t count, int32_t warmups, struct study_slots *ret_slots, struct kerf_error *err) {
    assert(count > 0);
    struct study_slots slots = {.items = calloc((size_t)count, sizeof *slots.items), .count = count, .anchor = -1};
    if (slots.items == NULL) return error_no_memory(err, "a study");
    for (int32_t i = 0; i < count; i++) slots.items[i].warmups_left = warmups;
    *ret_slots = slots;
    return KERF_OK;
}

void study_slots_free(struct study_slots *slots) {
    free(slots->items);
    slots->items = NULL;
}

/* ---- What was measured --------------------------------------------------------------------------------------- */

/* The anchor, which every slot measures, shows how much slots differ: it is the default, or the first setting that was
 * decided. A setting that fails before it was measured anywhere cannot be the anchor. */
static void note_anchor(struct study_slots *slots, struct slot *slot, const struct kerf_tune_observation *seen) {
    if (seen->warmup || seen->disturbed) return;
    if (seen->failure == KERF_TUNE_FAILURE_MEMORY && seen->setting == slots->anchor) slot->has_worked = 1;
    if (slots->anchor < 0 && seen->outcome == KERF_TUNE_VALUE) slots->anchor = seen->setting;
    if (seen->setting != slots->anchor || slot->anchored) return;
    if (seen->outcome == KERF_TUNE_VALUE)
        slots->anchored += slot->anchored = 1;
    else if (slots->anchored == 0)
        slots->anchor = -1;
    else
        slot->anchored = ++slot->anchor_tries >= ANCHOR_TRIES && slot->has_worked;
    assert(slots->anchored <= slots->count);
}

static void note_start(struct slot *slot, const struct kerf_trial_result *result) {
    const struct kerf_tune_observation *seen = &result->observation;
    int is_failed = seen->outcome == KERF_TUNE_FAILED;
    int is_start = seen->failure == KERF_TUNE_FAILURE_LOAD || isnan(result->cpu_s) || result->is_of_no_setting ||
                   (seen->warmup && !slot->has_worked);
    slot->start_failures = is_failed && is_start ? slot->start_failures + 1 : 0;
}

void study_slots_note(struct study_slots *slots, const struct kerf_study_entry *entry) {
    const struct kerf_tune_observation *seen = &entry->result.observation;
    assert(seen->slot < slots->count);
    slots->items[seen->slot].has_worked |= seen->outcome != KERF_TUNE_FAILED;
    note_anchor(slots, &slots->items[seen->slot], seen);
    note_start(&slots->items[seen->slot], &entry->result);
    if (seen->outcome == KERF_TUNE_FAILED) {
        slots->items[seen->slot].failures++;
        slots->failed += seen->failure != KERF_TUNE_FAILURE_MEMORY && seen->failure != KERF_TUNE_FAILURE_LIMIT;
    } else {
        slots->measured++;
        slots->longest_s = fmax(slots->longest_s, entry->result.wall_s);
    }
}

int study_slots_is_own_failure(const struct study_slots *slots, const struct kerf_study_state *state,
                               const struct kerf_tune_observation *seen) {
    int is_failed = seen->outcome == KERF_TUNE_FAILED && seen->failure != KERF_TUNE_FAILURE_MEMORY;
    if (slots->count == 1 || !is_failed || slots->items[seen->slot].has_worked) return 0;
    for (int32_t i = 0; i < state->num_entries; i++) {
        const struct kerf_tune_observation *other = &state->entries[i].result.observation;
        if (other->setting == seen->setting && other->outcome == KERF_TUNE_VALUE) return 1;
    }
    return 0;
}

int study_slots_must_wait(const struct study_slots *slots, int32_t index) {
    const struct slot *slot = &slots->items[index];
    return slots->measured == 0 && slot->failures > 0 && study_slots_busy(slots) > 0;
}

int study_slots_is_retired(const struct slot *slot) { return slot->start_failures >= SLOT_START_FAILURES; }

int study_slots_are_hopeless(const struct study_slots *slots, const struct kerf_trial_result *last) {
    int32_t start_failures = 0, retired = 0;
    for (int32_t i = 0; i < slots->count; i++) {
        start_failures += slots->items[i].start_failures;
        retired += study_slots_is_retired(&slots->items[i]);
    }
    int is_never_ready =
        last->observation.failure == KERF_TUNE_FAILURE_LOAD && start_failures >= NEVER_READY * slots->count;
    if (slots->measured == 0 && (slots->failed >= HOPELESS_FAILURES * slots->count || is_never_ready)) return 1;
    return retired == slots->count;
}

double study_slots_timeout_s(const struct study_slots *slots) {
    static const double first_s = 3600, least_s = 60;
    return slots->longest_s > 0 ? fmax(10 * slots->longest_s, least_s) : first_s;
}

/* ---- Disturbances -------------------------------------------------------------------------------------------- */

/* Each wait is twice the one before, as a neighbour may go away. */
static double wait_s(double patience_s, int32_t times) {
    double all_s = patience_s > 0 ? patience_s : PATIENCE_S;
    return all_s * ldexp(1, times - 1) / (ldexp(1, SLOT_DISTURBED_MAX - 1) - 1);
}

int study_slots_judge(struct slot *slot, struct kerf_study_entry *entry, double now_s, double patience_s) {
    char reason[sizeof entry->result.message];
    struct kerf_tune_observation *seen = &entry->result.observation;
    slot->planned = 0;
    if (seen->outcome == KERF_TUNE_FAILED || seen->warmup ||
        !kerf_trial_disturbed(&entry->result, reason, sizeof reason)) {
        slot->disturbed = 0;
        return 0;
    }
    seen->disturbed = 1;
    snprintf(entry->result.message, sizeof entry->result.message, "%s", reason);
    slot->planned = 1;
    slot->not_before_s = now_s + wait_s(patience_s, ++slot->disturbed);
    return slot->disturbed >= SLOT_DISTURBED_MAX;
}

/* ---- What is next --------------------------------------------------------------------------------------------- */

/* With several slots, each measures the anchor before the decided setting. */
static void put_anchor_first(struct study_slots *slots, const struct kerf_study_state *state, int32_t index,
                             struct kerf_tune_decision *decision) {
    if (slots->count == 1 || slots->items[index].anchored) return;
    int32_t first = state->space->default_setting;
    const char *const *skipped = study_state_skipped(state);
    int is_first = state->num_entries == 0 && first >= 0 && !(skipped && skipped[first]);
    if (slots->anchor < 0) slots->anchor = is_first ? first : decision->setting;
    decision->setting = slots->anchor;
    decision->limit = 0;
    snprintf(decision->reason, sizeof decision->reason, KERF_STUDY_ANCHOR_REASON "%d", index);
}

void study_slots_plan(struct study_slots *slots, const struct kerf_study_state *state, int32_t index,
                      const struct kerf_tune_decision *decided) {
    struct slot *slot = &slots->items[index];
    struct kerf_tune_decision decision = *decided;
    assert(!slot->busy && !slot->planned && decision.action == KERF_TUNE_MEASURE);
    put_anchor_first(slots, state, index, &decision);
    slot->setting = decision.setting;
    slot->limit = decision.limit;
    slot->warmup = slot->warmups_left > 0;
    if (slot->warmup) {
        slot->limit = 0;
        slot->warmups_left--;
    }
    snprintf(slot->why, sizeof slot->why, "%s", slot->warmup ? "warm-up" : decision.reason);
    slot->planned = 1;
}

int32_t study_slots_pending(const struct study_slots *slots, int32_t *pending) {
    int32_t count = 0;
    for (int32_t i = 0; i < slots->count; i++)
        if (slots->items[i].busy || slots->items[i].planned) pending[count++] = slots->items[i].setting;
    return count;
}

int32_t study_slots_busy(const struct study_slots *slots) {
    int32_t busy = 0;
    for (int32_t i = 0; i < slots->count; i++) busy += slots->items[i].busy;
    return busy;
}
