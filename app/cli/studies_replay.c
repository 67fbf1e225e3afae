/* SPDX-License-Identifier: Apache-2.0 */
/* kerf studies replay: the decisions of a study once more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "cli/flat_cells.h"
#include "cli/studies_print.h"
#include "cli/terminal.h"

/* What the decision chose by itself: not a warm-up, not a slot's anchor, and not the repeat of what was disturbed. */
static int was_decided(const struct kerf_study_record *record, int32_t index) {
    const struct kerf_tune_observation *seen = &record->entries[index].result.observation;
    int32_t before = index - 1;
    while (before >= 0 && record->entries[before].result.observation.slot != seen->slot) before--;
    return !seen->warmup &&
           strncmp(record->entries[index].why, KERF_STUDY_ANCHOR_REASON, strlen(KERF_STUDY_ANCHOR_REASON)) != 0 &&
           (before < 0 || !record->entries[before].result.observation.disturbed);
}

int32_t studies_replay_make(struct studies_replay *replay, struct kerf_error *err) {
    const struct kerf_study_record *record = replay->record;
    replay->decisions = calloc((size_t)record->num_entries + 1, sizeof *replay->decisions);
    if (replay->decisions == NULL) return error_no_memory(err, "a replay");
    int32_t code = kerf_study_decisions(record, replay->policy, replay->decisions, err);
    for (int32_t i = 0; i < record->num_entries && code == KERF_OK; i++) {
        const struct kerf_tune_decision *decision = &replay->decisions[i];
        if (!was_decided(record, i)) continue;
        replay->asked++;
        replay->same +=
            decision->action == KERF_TUNE_MEASURE && decision->setting == record->entries[i].result.observation.setting;
    }
    return code;
}

void studies_replay_free(struct studies_replay *replay) {
    free(replay->decisions);
    replay->decisions = NULL;
}

/* ---- Printing ------------------------------------------------------------------------------------------------ */

static const char *const stops[] = {[KERF_TUNE_CONFIDENT] = "stop: confident",
                                    [KERF_TUNE_TOO_NOISY] = "stop: too noisy",
                                    [KERF_TUNE_NOTHING_LEFT] = "stop: nothing left"};

static void put_decision(struct kerf_text *out, const struct studies_replay *replay, int32_t index) {
    const struct kerf_tune_decision *decision = &replay->decisions[index];
    if (decision->action == KERF_TUNE_STOP)
        kerf_text_add(out, stops[decision->stop]);
    else
        kerf_tune_setting_write(replay->record->space, decision->setting, out);
}

static void rows(struct kerf_text *cells, const struct studies_replay *replay) {
    const struct kerf_study_record *record = replay->record;
    kerf_text_add(cells, "n\tmeasured\tvalue\tdecided\treason\n");
    for (int32_t i = 0; i <= record->num_entries; i++) {
        const struct kerf_trial_result *result = i < record->num_entries ? &record->entries[i].result : NULL;
        kerf_text_printf(cells, "%d\t", i + 1);
        if (result) kerf_tune_setting_write(record->space, result->observation.setting, cells);
        kerf_text_add(cells, "\t");
        if (result && result->observation.outcome != KERF_TUNE_FAILED)
            words_objective(cells, &record->request, result->observation.value);
        kerf_text_add(cells, "\t");
        if (result == NULL || was_decided(record, i)) put_decision(cells, replay, i);
        kerf_text_printf(cells, "\t%s\n", replay->decisions[i].reason);
    }
}

static void csv_setting(struct kerf_text *out, const struct studies_replay *replay, int32_t setting) {
    struct kerf_text text = {0};
    kerf_tune_setting_write(replay->record->space, setting, &text);
    csv_text(out, text.data ? text.data : "");
    if (text.failed) out->failed = 1;
    kerf_text_free(&text);
}

static void replay_csv(struct kerf_text *out, const struct studies_replay *replay) {
    const struct kerf_study_record *record = replay->record;
    kerf_text_add(out, "n,measured,value,decided,reason\n");
    for (int32_t i = 0; i <= record->num_entries; i++) {
        const struct kerf_tune_observation *seen =
            i < record->num_entries ? &record->entries[i].result.observation : NULL;
        const struct kerf_tune_decision *decision = &replay->decisions[i];
        kerf_text_printf(out, "%d,", i + 1);
        if (seen) csv_setting(out, replay, seen->setting);
        csv_number(out, seen && seen->outcome != KERF_TUNE_FAILED ? seen->value : NAN);
        kerf_text_add(out, ",");
        if ((seen == NULL || was_decided(record, i)) && decision->action == KERF_TUNE_STOP)
            csv_text(out, stops[decision->stop]);
        else if (seen == NULL || was_decided(record, i))
            csv_setting(out, replay, decision->setting);
        kerf_text_add(out, ",");
        csv_text(out, decision->reason);
        kerf_text_add(out, "\n");
    }
}

static void replay_json(struct kerf_text *out, const struct studies_replay *replay) {
    const struct kerf_study_record *record = replay->record;
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_string(&json, "study", record->id);
    kerf_json_string(&json, "policy", replay->policy);
    kerf_json_integer(&json, "decided", replay->asked);
    kerf_json_integer(&json, "same", replay->same);
    kerf_json_open(&json, "decisions", '[');
    for (int32_t i = 0; i <= record->num_entries; i++) {
        const struct kerf_tune_decision *decision = &replay->decisions[i];
        kerf_json_open(&json, NULL, '{');
        if (i < record->num_entries)
            kerf_tune_setting_json(&json, "measured", record->space, record->entries[i].result.observation.setting);
        if (decision->action == KERF_TUNE_MEASURE)
            kerf_tune_setting_json(&json, "decided", record->space, decision->setting);
        else
            kerf_json_string(&json, "decided", stops[decision->stop]);
        kerf_json_string(&json, "reason", decision->reason);
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

int32_t print_study_replay(void *context, struct kerf_text *out, const struct render_format *format,
                           const struct render_style *style, struct kerf_error *err) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{1, 0}, {0, 0}, {1, 1}, {0, 0}, {0, 2}};
    const struct studies_replay *replay = context;
    struct kerf_text cells = {0};
    (void)err;
    if (strcmp(format->name, "json") == 0) {
        replay_json(out, replay);
        return KERF_OK;
    }
    if (strcmp(format->name, "csv") == 0) {
        replay_csv(out, replay);
        return KERF_OK;
    }
    rows(&cells, replay);
    kerf_text_printf(out, "%s decides as then in %d of %d measurement%s.\n\n", replay->policy, replay->same,
                     replay->asked, replay->asked == 1 ? "" : "s");
    if (strcmp(format->name, "markdown") == 0)
        markdown_table(out, &cells);
    else
        terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    if (cells.failed) out->failed = 1;
    kerf_text_free(&cells);
    return KERF_OK;
}
