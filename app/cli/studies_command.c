/* SPDX-License-Identifier: Apache-2.0 */
/* kerf studies: what `kerf tune` measured and kept: the list of studies, all measurements of one, its decisions
 * again. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error_fill.h"
#include "base/quantity.h"
#include "cli/cells.h"
#include "cli/command.h"
#include "cli/llama_question.h"
#include "cli/tune_print.h"

struct studies_list {
    struct kerf_study_record **records; /* [count] */
    int32_t count;
};

/* What a policy would have measured before each measurement that was made. */
struct studies_replay {
    const struct kerf_study_record *record;
    const char *policy;
    struct kerf_tune_decision *decisions; /* [record->num_entries + 1] the last one comes after all of them */
    int32_t same; /* decisions that agree with the measured setting, without warm-ups and repeats */
    int32_t asked;
};

/* ---- list and export ------------------------------------------------------------------------------------------- */

static const struct render_format studies_list_formats[] = {{.name = "table", .ending = "txt"},
                                                            {.name = "json", .ending = "json"},
                                                            {.name = "csv", .ending = "csv"},
                                                            {.name = "markdown", .ending = "md"},
                                                            {.name = NULL}};
static const struct render_format studies_export_formats[] = {
    {.name = "json", .ending = "json"}, {.name = "csv", .ending = "csv"}, {.name = NULL}};

static const char *stopped(const struct kerf_study_record *record) {
    return record->stopped[0] ? record->stopped : "unfinished";
}

/* The words of the command as one, with a mark in the place of what could break a line. */
static void command_words(struct kerf_text *out, const struct kerf_study_record *record, const char *bad) {
    for (int32_t i = 0; i < record->request.words.count; i++) {
        if (i) kerf_text_add(out, " ");
        for (const char *c = record->request.words.items[i]; *c; c++)
            kerf_text_write(out, strchr(bad, *c) ? "?" : c, 1);
    }
}

/* ---- The list ------------------------------------------------------------------------------------------------ */

static void list_rows(const struct studies_list *list, struct kerf_text *cells) {
    kerf_text_add(cells, "study\tbegan\tended\truns\ttime\tcommand\n");
    for (int32_t i = 0; i < list->count; i++) {
        const struct kerf_study_record *record = list->records[i];
        char began[KERF_STUDY_TIME_SIZE];
        kerf_study_time_write(record->began_s, began);
        kerf_text_printf(cells, "%s\t%s\t%s\t%d\t", record->id, began, stopped(record), record->num_entries);
        quantity_seconds(cells, record->elapsed_s);
        kerf_text_add(cells, "\t");
        command_words(cells, record, "\t\n\r\033");
        kerf_text_add(cells, "\n");
    }
}

/* style NULL: as Markdown */
static void list_table(const struct studies_list *list, struct kerf_text *out, const struct render_style *style) {
    static const struct table_column columns[TABLE_COLUMNS_MAX] = {{0, 0}, {0, 2}, {0, 0}, {1, 1}, {1, 3}, {0, 0}};
    struct kerf_text cells = {0};
    if (list->count == 0) {
        kerf_text_add(out, "No studies yet; `kerf help tune` explains how to make one.\n");
        return;
    }
    list_rows(list, &cells);
    if (style)
        terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    else
        markdown_table(out, &cells);
    if (cells.failed) out->failed = 1;
    kerf_text_free(&cells);
}

static void list_json(const struct studies_list *list, struct kerf_text *out) {
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_open(&json, "studies", '[');
    for (int32_t i = 0; i < list->count; i++) {
        const struct kerf_study_record *record = list->records[i];
        char began[KERF_STUDY_TIME_SIZE];
        kerf_study_time_write(record->began_s, began);
        kerf_json_open(&json, NULL, '{');
        kerf_json_string(&json, "study", record->id);
        kerf_json_string(&json, "key", record->key);
        kerf_json_string(&json, "began", began);
        kerf_json_string(&json, "stopped", record->stopped[0] ? record->stopped : NULL);
        kerf_json_integer(&json, "observations", record->num_entries);
        kerf_json_number(&json, "elapsed_s", record->elapsed_s);
        kerf_json_open(&json, "request", '{');
        kerf_study_request_write(&record->request, &json);
        kerf_json_close(&json, '}');
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

static void list_csv(const struct studies_list *list, struct kerf_text *out) {
    struct kerf_text command = {0};
    kerf_text_add(out, "study,began,stopped,observations,elapsed_s,command\n");
    for (int32_t i = 0; i < list->count; i++) {
        const struct kerf_study_record *record = list->records[i];
        char began[KERF_STUDY_TIME_SIZE];
        kerf_study_time_write(record->began_s, began);
        kerf_text_printf(out, "%s,%s,%s,%d,", record->id, began, stopped(record), record->num_entries);
        kerf_text_number(out, record->elapsed_s);
        kerf_text_add(out, ",");
        kerf_text_clear(&command);
        command_words(&command, record, "");
        csv_text(out, command.data ? command.data : "");
        kerf_text_add(out, "\n");
    }
    if (command.failed) out->failed = 1;
    kerf_text_free(&command);
}

/* Writers as struct render has them; what their context is stands behind them. */
static int32_t print_studies_list(void *context, struct kerf_text *out, const struct render_format *format,
                                  const struct render_style *style, struct kerf_error *err) {
    (void)err;
    if (strcmp(format->name, "json") == 0)
        list_json(context, out);
    else if (strcmp(format->name, "csv") == 0)
        list_csv(context, out);
    else
        list_table(context, out, strcmp(format->name, "markdown") == 0 ? NULL : style);
    return KERF_OK;
}

/* ---- Every measurement --------------------------------------------------------------------------------------- */

static void export_json(const struct kerf_study_record *record, struct kerf_text *out) {
    struct kerf_json json = {0};
    kerf_json_begin(&json, out);
    kerf_json_open(&json, NULL, '{');
    kerf_json_string(&json, "kerf", kerf_version());
    kerf_json_string(&json, "study", record->id);
    kerf_json_string(&json, "stopped", record->stopped[0] ? record->stopped : NULL);
    kerf_json_open(&json, "request", '{');
    kerf_study_request_write(&record->request, &json);
    kerf_json_close(&json, '}');
    kerf_json_open(&json, "observations", '[');
    for (int32_t i = 0; i < record->num_entries; i++) {
        kerf_json_open(&json, NULL, '{');
        kerf_json_integer(&json, "n", i + 1);
        kerf_tune_setting_json(&json, "setting", record->space, record->entries[i].result.observation.setting);
        kerf_study_entry_members(&json, &record->entries[i]);
        if (record->seconds) kerf_json_number(&json, "second", record->seconds[i]);
        kerf_json_close(&json, '}');
    }
    kerf_json_close(&json, ']');
    kerf_json_close(&json, '}');
    kerf_text_add(out, "\n");
}

static void export_csv(const struct kerf_study_record *record, struct kerf_text *out) {
    const struct kerf_tune_space *space = record->space;
#define TITLES                                                                                                         \
    "n,outcome,failure,value,start_s,end_s,slot,warmup,disturbed,load_s,wall_s,cpu_s,peak_bytes,others,steal,"         \
    "pressure,frequency,others_between"
    const char *titles = record->seconds ? TITLES ",second" : TITLES;
    kerf_text_add(out, "n,");
    csv_params(out, space, titles);
    kerf_text_printf(out, "%s\n", titles + strlen("n,"));
    for (int32_t i = 0; i < record->num_entries; i++) {
        const struct kerf_trial_result *result = &record->entries[i].result;
        const struct kerf_tune_observation *seen = &result->observation;
        kerf_text_printf(out, "%d", i + 1);
        for (int32_t p = 0; p < space->num_params; p++) {
            kerf_text_add(out, ",");
            csv_text(out, kerf_tune_setting_word(space, seen->setting, p));
        }
        kerf_text_printf(out, ",%s,%s", kerf_study_outcome_word(seen->outcome), kerf_tune_failure_word(seen->failure));
        csv_number(out, seen->outcome == KERF_TUNE_FAILED ? NAN : seen->value);
        csv_number(out, seen->start_s);
        csv_number(out, seen->end_s);
        kerf_text_printf(out, ",%d,%d,%d", seen->slot, seen->warmup, seen->disturbed);
        csv_number(out, result->load_s);
        csv_number(out, result->wall_s);
        csv_number(out, result->cpu_s);
        csv_number(out, result->peak_bytes ? (double)result->peak_bytes : NAN);
        csv_number(out, result->machine.others);
        csv_number(out, result->machine.steal);
        csv_number(out, result->machine.pressure);
        csv_number(out, result->machine.frequency);
        csv_number(out, result->machine.between);
        if (record->seconds) csv_number(out, record->seconds[i]);
        kerf_text_add(out, "\n");
    }
}

/* struct kerf_study_record * */
static int32_t print_study_export(void *context, struct kerf_text *out, const struct render_format *format,
                                  const struct render_style *style, struct kerf_error *err) {
    (void)style;
    (void)err;
    if (strcmp(format->name, "csv") == 0)
        export_csv(context, out);
    else
        export_json(context, out);
    return KERF_OK;
}

/* ---- replay ---------------------------------------------------------------------------------------------------- */

/* Whether the decision chose it: not a warm-up, not a slot's anchor, and not the repeat of a disturbed run. */
static int was_decided(const struct kerf_study_record *record, int32_t index) {
    const struct kerf_tune_observation *seen = &record->entries[index].result.observation;
    int32_t before = index - 1;
    while (before >= 0 && record->entries[before].result.observation.slot != seen->slot) before--;
    return !seen->warmup &&
           strncmp(record->entries[index].why, KERF_STUDY_ANCHOR_REASON, strlen(KERF_STUDY_ANCHOR_REASON)) != 0 &&
           (before < 0 || !record->entries[before].result.observation.disturbed);
}

static int32_t studies_replay_make(struct studies_replay *replay, struct kerf_error *err) {
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

static void studies_replay_free(struct studies_replay *replay) {
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

/* struct studies_replay * */
static int32_t print_study_replay(void *context, struct kerf_text *out, const struct render_format *format,
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
    kerf_text_printf(out, "%s decides as before in %d of %d measurement%s.\n\n", replay->policy, replay->same,
                     replay->asked, replay->asked == 1 ? "" : "s");
    if (style->is_terminal) terminal_wrap(out, 0, style->columns);
    if (strcmp(format->name, "markdown") == 0)
        markdown_table(out, &cells);
    else
        terminal_table(out, &cells, columns, style->columns, style->colour, -1);
    if (cells.failed) out->failed = 1;
    kerf_text_free(&cells);
    return KERF_OK;
}

struct studies_options {
    struct string_list words, outputs;
    const char *format, *policy, *slice;
};

#define AT(field) .offset = offsetof(struct studies_options, field)
static const struct option options[] = {
    {.name = "policy",
     .type = OPTION_CHOICE,
     AT(policy),
     .value = "NAME",
     .choices = "kerf,race,exhaustive,random,halving,best_bub,null",
     .uses = "replay",
     .help = "The policy that decides (default: the study's own)."},
    {.name = "format",
     .letter = 'f',
     .type = OPTION_CHOICE,
     AT(format),
     .value = "FORM",
     .choices = "table,json,csv,markdown",
     .help = "What is printed (default: table). `export` takes csv and json (default: json)."},
    {.name = "slice",
     .type = OPTION_STRING,
     AT(slice),
     .value = "NAME=VALUE[,...]",
     .uses = "show",
     .help =
         "Draw the surface where these parameters have these values, over the first two others (default: the values "
         "of the recommended setting)."},
    {.name = "output",
     .letter = 'o',
     .type = OPTION_STRINGS,
     AT(outputs),
     .value = "FILE",
     .help =
         "Write FILE too, in the format of its name; `show` draws .svg .png .pdf .html. May be given several times."},
    {.name = NULL},
};

static const char *const examples[] = {
    "All studies",
    "kerf studies",
    "What one of them found",
    "kerf studies show 20261121-213002-5f1c",
    "Every measurement of it, for another program",
    "kerf studies export 20261121-213002-5f1c --format csv",
    "Whether today's kerf decides as kerf did then",
    "kerf studies replay 20261121-213002-5f1c",
    NULL,
};

static const struct command_use uses[] = {
    {"list", "[list]"}, {"show", "show STUDY"}, {"export", "export STUDY"}, {"replay", "replay STUDY"}, {NULL, NULL}};

static const struct command_exit exits[] = {
    {"0", "answered"}, {"2", "bad usage, or there is no such study"}, {"3", "failed while running"}, {NULL, NULL}};

static const struct command table = {
    .name = "studies",
    .summary = "what kerf tune measured, and what it found",
    .description =
        "`kerf tune` keeps each study as a file of JSON lines in $KERF_STUDIES, else in $XDG_STATE_HOME/kerf/studies, "
        "else in ~/.local/state/kerf/studies; to delete a study, delete its file. STUDY is its name, or the path "
        "of such a file.\n\n"
        "`show` prints what the study found, as `kerf tune` did. `export` prints every measurement. `replay` gives the "
        "policy the measurements again, one after the other, and prints what it would measure next beside what was "
        "measured.",
    .options = options,
    .examples = examples,
    .arguments_offset = offsetof(struct studies_options, words),
    .uses = uses,
    .exits = exits,
};

/* ---- list ---------------------------------------------------------------------------------------------------- */

static int32_t list(const struct render *asked, struct kerf_error *err) {
    struct studies_list found = {0};
    struct kerf_study_strings ids;
    struct render render = *asked;
    int32_t code = kerf_study_ids(&ids, err);
    if (code != KERF_OK) return code;
    found.records = calloc((size_t)ids.count + 1, sizeof(void *));
    if (found.records == NULL) code = kerf_error_set(err, KERF_ENOMEM, "not enough memory");
    for (int32_t i = 0; i < ids.count && code == KERF_OK; i++) {
        struct kerf_error why;
        char line[sizeof why.file + sizeof why.message + 32];
        if (kerf_study_record_read(ids.items[i], &found.records[found.count], &why) == KERF_OK) {
            found.count++;
            continue;
        }
        kerf_error_format(&why, line, sizeof line);
        fprintf(stderr, "kerf: %s\n", line);
    }
    render.formats = studies_list_formats;
    render.write = print_studies_list;
    render.context = &found;
    if (code == KERF_OK) code = render_check(&render, err);
    if (code == KERF_OK) code = render_all(&render, err);
    for (int32_t i = 0; i < found.count; i++) kerf_study_record_free(found.records[i]);
    free(found.records);
    kerf_study_ids_free(&ids);
    return code;
}

/* ---- One study ------------------------------------------------------------------------------------------------ */

static void warn_missing(const struct kerf_study_state *state) {
    struct kerf_text line = {0};
    kerf_study_missing_write(state, &line);
    if (line.length > 0 && !line.failed) fprintf(stderr, "kerf: %s\n", line.data);
    kerf_text_free(&line);
}

static int32_t show(const struct render *asked, const struct kerf_study_record *record, const char *name,
                    const char *slice_text, struct kerf_error *err) {
    struct tune_report report = {0};
    struct llama_preset llama = {0};
    struct kerf_study_state *state = NULL;
    struct render render = *asked;
    render.formats = tune_formats;
    render.write = print_tune;
    render.context = &report;
    char second[KERF_STUDY_NAME_SIZE];
    int32_t maximize, *slice = NULL, code = render_check(&render, err);
    if (code == KERF_OK && slice_text && kerf_study_request_second(&record->request, second, &maximize))
        return kerf_error_set(err, KERF_EINVALID, "--slice is for studies of one objective: a Pareto front has none");
    if (code == KERF_OK && slice_text) code = tune_slice_read(slice_text, record->space, &render, &slice, err);
    if (code == KERF_OK) code = kerf_study_replay(record, NULL, &state, err);
    if (code == KERF_OK) warn_missing(state);
    if (code == KERF_OK && record->stopped[0] == 0)
        snprintf(state->reason, sizeof state->reason, "it was killed, or still runs");
    if (code == KERF_OK) code = tune_report_make(state, &report, err);
    if (code == KERF_OK) code = tune_report_weigh(&report, err);
    if (record->request.preset && llama_preset_recall(&record->request, &llama, NULL) == KERF_OK) report.llama = &llama;
    if (strchr(name, '/')) report.journal = name;
    report.slice = slice;
    if (code == KERF_OK) code = render_all(&render, err);
    kerf_study_state_free(state);
    free(slice);
    llama_preset_free(&llama);
    return code;
}

static int32_t export(const struct render *asked, const struct kerf_study_record *record, struct kerf_error *err) {
    struct render render = *asked;
    render.formats = studies_export_formats;
    render.write = print_study_export;
    render.context = (void *)(uintptr_t)record;
    int32_t code = render_check(&render, err);
    return code == KERF_OK ? render_all(&render, err) : code;
}

static int32_t replay(const struct render *asked, const struct kerf_study_record *record, const char *policy,
                      struct kerf_error *err) {
    struct studies_replay steps = {.record = record, .policy = policy ? policy : record->request.policy};
    struct kerf_study_state *state = NULL;
    struct render render = *asked;
    render.formats = studies_list_formats;
    render.write = print_study_replay;
    render.context = &steps;
    int32_t code = render_check(&render, err);
    if (code == KERF_OK && record->request.earlier.count > 0)
        code = kerf_study_replay(record, steps.policy, &state, err);
    if (state) warn_missing(state);
    kerf_study_state_free(state);
    if (code == KERF_OK) code = studies_replay_make(&steps, err);
    if (code == KERF_OK) code = render_all(&render, err);
    studies_replay_free(&steps);
    return code;
}

static int32_t answer(const struct studies_options *values, struct kerf_error *err) {
    const struct string_list *words = &values->words;
    struct render render = {.format = values->format, .outputs = &values->outputs};
    const char *verb = words->count ? words->items[0] : "list";
    struct kerf_study_record *record = NULL;
    int is_show = strcmp(verb, "show") == 0, is_export = strcmp(verb, "export") == 0;
    if (strcmp(verb, "list") == 0) {
        if (words->count > 1)
            return kerf_error_set(err, KERF_EINVALID, "`kerf studies list` takes no '%.64s'; `kerf studies show` does",
                                  words->items[1]);
        return list(&render, err);
    }
    if (!is_show && !is_export && strcmp(verb, "replay") != 0)
        return kerf_error_set(err, KERF_EUNKNOWN,
                              "kerf studies does not know '%.64s'; write list, show, export or replay", verb);
    if (words->count != 2)
        return kerf_error_set(err, KERF_EINVALID, "name one study: kerf studies %s STUDY; `kerf studies` lists them",
                              verb);
    int32_t code = kerf_study_record_read(words->items[1], &record, err);
    if (code == KERF_OK)
        code = is_show     ? show(&render, record, words->items[1], values->slice, err)
               : is_export ? export(&render, record, err)
                           : replay(&render, record, values->policy, err);
    kerf_study_record_free(record);
    return code;
}

static int run(int argc, char **argv) {
    struct studies_options values = {.format = render_usual};
    struct kerf_error err;
    int status = cli_parse(&studies_cli, argc, argv, &values);
    if (status >= 0) return status;
    int32_t code = answer(&values, &err);
    options_free(&table, &values);
    return code == KERF_OK ? EXIT_ANSWERED : cli_fail(&err);
}

const struct cli_command studies_cli = {&table, run};
